"""Which bodies have sensors of contacts, and which contacts such a sensor matches: ranges of geoms and bodies."""

import numpy as np

from tisim.enums import mjtObj, mjtSensor
from tisim.mjcf.reference.setconst import subtree_sum

from .declare import Table, declared

SUBTREE = mjtObj.mjOBJ_XBODY  # what an xbody stands for here


def subtree_ends(m):
    """(nbody,) behind the last body of each body's subtree; bodies are numbered in depth first order."""
    size = subtree_sum(dict(body_parentid=np.asarray(m.body_parentid)), np.ones(m.nbody))
    return np.arange(m.nbody) + size.astype(np.int64)


def _ends(m):
    """Of each contact sensor's two objects: whether it is a geom, the first of its geoms or bodies, behind the last.

    (n, 2, 3). Without an object, or with a site, all bodies are meant: 0 to nbody.
    """
    rows = np.flatnonzero(np.asarray(m.sensor_type) == mjtSensor.mjSENS_CONTACT)
    found = np.zeros((len(rows), 2, 3), np.int64)
    found[..., 2] = m.nbody
    subtree = subtree_ends(m) if len(rows) else None
    for side, word in enumerate(("obj", "ref")):
        kind, of = (np.asarray(getattr(m, f"sensor_{word}{part}"))[rows] for part in ("type", "id"))
        for k in np.flatnonzero(np.isin(kind, (mjtObj.mjOBJ_GEOM, mjtObj.mjOBJ_BODY, SUBTREE))):
            end = subtree[of[k]] if kind[k] == SUBTREE else of[k] + 1
            found[k, side] = kind[k] == mjtObj.mjOBJ_GEOM, of[k], end
    return found


def _searched(m):
    """(n, 2): bodies, from and to, whose contacts a contact sensor looks through; 0, 0: all contacts of the world.

    It is that object of the two which has fewer bodies, static ones counting as many.
    """
    ends, static = _ends(m), np.asarray(m.body_treeid) < 0
    geom_body = np.asarray(m.geom_bodyid)
    found = np.zeros((len(ends), 2), np.int64)
    for k, sides in enumerate(ends):
        ranges = [(geom_body[a], geom_body[a] + 1) if is_geom else (a, b) for is_geom, a, b in sides]
        cost = [b - a + (m.nbody if b == a + 1 and static[a] else 0) for a, b in ranges]
        if min(cost) < m.nbody:
            found[k] = ranges[int(np.argmin(cost))]
    return found


def _tactile(m):
    """(bodies to which tactile sensors' bodies are welded, each once; for each sensor which of them is its own)."""
    rows = np.flatnonzero(np.asarray(m.sensor_type) == mjtSensor.mjSENS_TACTILE)
    weld = np.asarray(m.body_weldid)[np.asarray(m.geom_bodyid)[np.asarray(m.sensor_refid)[rows]]]
    return np.unique(weld, return_inverse=True)


def _sensed_body(m):
    """Bodies whose contacts are listed."""
    wanted = np.zeros(m.nbody, bool)
    touch = np.asarray(m.sensor_type) == mjtSensor.mjSENS_TOUCH
    wanted[np.asarray(m.site_bodyid)[np.asarray(m.sensor_objid)[touch]]] = True
    for first, last in _searched(m):
        wanted[first:last] = True
    wanted |= np.isin(np.asarray(m.body_weldid), _tactile(m)[0])
    some = np.zeros(m.nbody, bool)
    some[np.asarray(m.geom_bodyid)] = True
    return np.flatnonzero(wanted & some)


def _body_sensed(m):
    place = np.full(m.nbody, -1)
    place[_sensed_body(m)] = np.arange(len(_sensed_body(m)))
    return place


def _lists(m):
    """(n, 2): from and to in sensed_body of what a contact sensor looks through, -1, -1: all contacts of the world."""
    found = _searched(m)
    return np.where((found[:, 1] == 0)[:, None], -1, np.searchsorted(_sensed_body(m), found))


def _pressed_places(m):
    """(n, 2): from and to in sensed_body of what is welded to a body with tactile sensors, and perhaps others."""
    welds, weld = _tactile(m)[0], np.asarray(m.body_weldid)[_sensed_body(m)]
    places = [np.flatnonzero(weld == body) for body in welds]
    return np.array([(at[0], at[-1] + 1) if len(at) else (0, 0) for at in places], np.int64).reshape(-1, 2)


def _listed_pairs(m):
    """(pairs of geoms that the model lists, lower first, each once and sorted; the first place of each in the list)."""
    both = np.sort(np.stack([m.pair_geom1, m.pair_geom2], 1).astype(int), 1)
    pairs, place = np.unique(both, axis=0, return_index=True)
    return pairs.reshape(-1, 2), place


def _vertices(m):
    """(sensor, number of the vertex) of each vertex of the meshes of tactile sensors."""
    rows = np.flatnonzero(np.asarray(m.sensor_type) == mjtSensor.mjSENS_TACTILE)
    number = np.asarray(m.mesh_vertnum)[np.asarray(m.sensor_objid)[rows]].astype(np.int64)
    return np.repeat(np.arange(len(rows)), number), np.arange(number.sum()) - np.repeat(
        np.cumsum(number) - number, number
    )


def _part(make, k):
    return lambda m: make(m)[k]


TABLES = declared(
    Table("sensed_body", "i", ("nsensed",), _sensed_body, (), "bodies whose contacts are listed for sensors"),
    Table("body_sensed", "i", ("nbody",), _body_sensed, (), "place of a body among them, -1: it is none"),
    Table("match_ends", "i", ("ncontacts", 2, 3), _ends, (),
          "of both objects of a contact sensor: 1: it is a geom; first geom or body, and behind the last"),
    Table("match_lists", "i", ("ncontacts", 2), _lists, (),
          "places in sensed_body, from and to, of what a contact sensor looks through; -1: all contacts"),
    Table("ranked_geom1", "i", ("nranked",), lambda m: _listed_pairs(m)[0][:, 0], (), "pairs that the model lists"),
    Table("ranked_geom2", "i", ("nranked",), lambda m: _listed_pairs(m)[0][:, 1], (), "sorted, their higher geoms"),
    Table("pair_rank", "i", ("nranked",), _part(_listed_pairs, 1), (), "where the model lists them first"),
    Table("pressed_body", "i", ("npressed",), _part(_tactile, 0), (), "bodies to which tactile sensors' are welded"),
    Table("pressed_places", "i", ("npressed", 2), _pressed_places, (), "places in sensed_body, from and to, of these"),
    Table("tactile_group", "i", ("ntactile",), _part(_tactile, 1), (), "which of these bodies is a tactile sensor's"),
    Table("tactile_of", "i", ("ntactilevert",), _part(_vertices, 0), (), "tactile sensor of each vertex of the meshes"),
    Table("tactile_vert", "i", ("ntactilevert",), _part(_vertices, 1), (), "number of this vertex in its mesh"),
)  # fmt: skip
COUNTED = dict(nsensed="sensed_body", nranked="ranked_geom1", ntactilevert="tactile_of", npressed="pressed_body")
