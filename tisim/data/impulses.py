"""What steps of the second dynamics go on from besides qpos and qvel: the impulses of the last step's contacts,
connects and welds; poses and twists of the bodies of trees, and what was measured of them.
"""

import numpy as np

from tisim.device import memory, session

from .arrays import DATA

LISTS = ("lcp_geom", "lcp_pos", "lcp_impulse")
SLEPT = {name: name.replace("lcp", "lcp_slept") for name in LISTS}  # where those of sleepers wait
NAMES = (*LISTS, "lcp_warm")
BODIES = ("lcp_pose", "lcp_twist", "lcp_qpos", "lcp_qvel")  # where bodies have joints
LOOPS = ("lcp_eq_impulse",)  # where there are connects or welds
REST = "lcp_rest"  # where trees of joints sleep
WORLDS = (*BODIES, *LOOPS, REST)
# in the notes of a Data: whether there may be some; whether the last step or forward was one of this dynamics
HELD, LAST = "impulses", "hard"


def kept(d):
    """{name: array} of a Data, the lists by contact, of sleepers, too, sorted by pair; empty where it was never stepped
    by that dynamics."""
    if "lcp_warm" not in d._device:
        return {}
    lists = {name: d.host(name)[: d.count("nlcp")] for name in LISTS}
    if n := d.count("nlcpslept"):
        lists = {name: np.concatenate([a, d.host(SLEPT[name])[:n]]) for name, a in lists.items()}
        order = np.lexsort(lists["lcp_geom"].T[::-1])
        lists = {name: a[order] for name, a in lists.items()}
    bodies = {name: d.host(name).reshape(d.nworld, -1) for name in WORLDS if name in d._device}
    return lists | dict(lcp_warm=d.host("lcp_warm")[:, 0]) | bodies


def problem(m, nworld, arrays):
    """Why these cannot be impulses of so many worlds of a model, or None."""
    n = len(np.atleast_1d(arrays["lcp_geom"]))
    for name, width in zip(NAMES, (2, 3, 3, None)):
        a = arrays[name]
        shape = (nworld,) if width is None else (n, width)
        if a.shape != shape or a.dtype.kind not in ("f" if name in LISTS[1:] else "iu") or not np.isfinite(a).all():
            return f"{name} does not fit"
    for name in [name for name in WORLDS if name in arrays]:
        widths = dict(lcp_qpos=m.nq, lcp_qvel=m.nv, lcp_eq_impulse=6 * m.neq)
        a, width = arrays[name], widths.get(name, 8 * m.nbody)
        if a.shape != (nworld, width) or a.dtype.kind != "f" or not np.isfinite(a).all():
            return f"{name} does not fit"
    geoms = arrays["lcp_geom"]
    if n and (geoms.min() < 0 or geoms[:, 0].max() >= nworld * m.ngeom or geoms[:, 1].max() >= m.ngeom):
        return "lcp_geom does not fit"
    return None


def give(d, arrays):
    """Writes what `kept` gave into a Data with as many worlds."""
    d._info[HELD] = True
    n = len(arrays["lcp_geom"])
    if n > d.capacity("nlcpmax"):
        d.grow("nlcpmax", n)
    for name in [name for name in (*NAMES, *WORLDS) if name in arrays]:
        a = d.device(name)
        values = memory.download(a)
        given = np.asarray(arrays[name]).reshape(-1)
        values[: given.size] = given
        memory.upload(a, values.astype(np.int32 if values.dtype.kind == "i" else session.numpy_float()))
    d.set_counts(nlcp=n, nlcpslept=0, nlcpstale=1)


def unite(d):
    """Contacts of sleepers are among those of the last step again."""
    if "lcp_warm" in d._device and d.count("nlcpslept"):
        give(d, kept(d))


def clear(d, worlds=None):
    """The next step begins without, in worlds of these indices; None: in all."""
    if "lcp_warm" not in d._device:
        return
    d.set_counts(nlcpstale=1)
    a = d.device("lcp_warm")
    values = memory.download(a)
    values.reshape(d.nworld, -1)[slice(None) if worlds is None else worlds] = 0
    memory.upload(a, values)


def forget(m, d, trees):
    """The next step begins without those of these trees, a mask (nworld, ntree)."""
    if "lcp_warm" not in d._device:
        return
    unite(d)
    trees = np.append(trees, np.zeros((d.nworld, 1), bool), axis=1)  # tree -1: what does not move
    geoms = d.host("lcp_geom")[: d.count("nlcp")]
    of_geom = np.asarray(m.body_treeid)[np.asarray(m.geom_bodyid)]
    world, first = np.divmod(geoms[:, 0], max(m.ngeom, 1))
    _zero(d, "lcp_impulse", trees[world, of_geom[first]] | trees[world, of_geom[geoms[:, 1]]])
    if LOOPS[0] in d._device:
        ends, of = m.derived("eq_treeadr"), m.derived("eq_tree")
        tied = [trees[:, of[a:b]].any(axis=1) for a, b in zip(ends, ends[1:])]
        _zero(d, LOOPS[0], np.transpose(tied).reshape(-1))


def _zero(d, name, rows):
    """Rows of an array become 0."""
    whole = memory.download(d.device(name))
    width = DATA[name].shape[-1]
    whole[: len(rows) * width].reshape(-1, width)[rows] = 0
    memory.upload(d.device(name), whole)


def outdate(d):
    """A step of the convex dynamics leaves none: those of an earlier one are not of the last step any more."""
    if d._info.pop(HELD, False):
        clear(d)
