"""compiler/fusestatic: bodies that cannot move are joined with their parents.

After MuJoCo's compiler (Apache-2.0) for what is joined, in which order, and how inertias are added. A body stays if it
has joints, is a mocap body, is named by another element, or has a name and a site with a force or torque sensor.
Cameras and lights move to the parent with everything else; MuJoCo 3.4.0 itself crashes there.
"""

import numpy as np

from tisim.enums import mjtObj

from .. import rotations, tree
from ..elements.bodies import inertia_about
from ..numbers import EPS, MINVAL
from ..scene.items import first
from ..scene.usage import lookup, referenced
from ..scene.world import compose


def fuse_static(a, scene, items):
    """Joins the static bodies of a compiled tree with their parents, in place.

    a  dict of arrays body_*, geom_*, site_*, jnt_bodyid, poses in their bodies;  scene  World;  items  sections.Lists.
    Afterwards tree.link has to renew what follows from the tree.
    """
    keep = _kept(a, scene, items)
    if keep.all():
        return
    parent = a["body_parentid"]
    target = np.arange(len(keep))  # the body that takes up what a body holds
    for i in np.flatnonzero(~keep).tolist():
        target[i] = target[parent[i]]
    pos, quat = a["body_pos"], a["body_quat"]
    for level in tree.levels(parent):
        moved = level[~keep[parent[level]]]
        if len(moved):
            up = parent[moved]
            pos[moved], quat[moved] = rotations.into_parent(pos[up], quat[up], pos[moved], quat[moved])
    for kind in ("geom", "site"):
        owner = a[f"{kind}_bodyid"]
        rows = np.flatnonzero(~keep[owner])
        place, turn = a[f"{kind}_pos"], a[f"{kind}_quat"]
        up = owner[rows]
        place[rows], turn[rows] = rotations.into_parent(pos[up], quat[up], place[rows], turn[rows])
    for item in scene.cameras + scene.lights:
        if not keep[item.body]:
            item.frame = compose((pos[item.body].tolist(), quat[item.body].tolist()), item.frame or _NO_TURN)
    _join_inertia(a, scene, keep, target)
    before = {kind: list(getattr(scene, name)) for kind, name in _ORDERED.items()}
    _renumber(a, scene, keep, target)
    for kind, name in _ORDERED.items():
        _check_order(items, kind, before[kind], getattr(scene, name))


_ORDERED = {mjtObj.mjOBJ_GEOM: "geoms", mjtObj.mjOBJ_SITE: "sites"}
_NO_TURN = [0.0] * 3, [1.0, 0.0, 0.0, 0.0]


def _kept(a, scene, items):
    """(nbody,) bool: which bodies stay.

    MuJoCo looks names up under the ids they had before anything was joined. While an id is too large for the bodies
    that are left, that look-up fails, and no body with a name is joined.
    """
    bodies = scene.bodies
    ids = {item.name: i for i, item in enumerate(bodies) if item.name}
    used = set(referenced(items, mjtObj.mjOBJ_BODY, ids))
    looking = [item for item in scene.cameras + scene.lights if item.attrib["target"]]
    used |= {lookup(item, ids, item.attrib["target"], mjtObj.mjOBJ_BODY) for item in looking}
    fixed = a["body_mocapid"] >= 0
    fixed[0] = True
    fixed[a["jnt_bodyid"]] = True
    sites = {item.name: i for i, item in enumerate(scene.sites) if item.name}
    for item in items["sensor"]:
        if item.node.tag in ("force", "torque"):
            site = lookup(item, sites, item.attrib["site"], mjtObj.mjOBJ_SITE)
            if site is not None and bodies[scene.sites[site].body].name:
                fixed[scene.sites[site].body] = True
    used = sorted(used - {None})
    last = used[-1] if used else -1
    fixed[used] = True
    keep, joined = fixed.copy(), 0
    for i in np.flatnonzero(~fixed).tolist():
        keep[i] = bool(bodies[i].name) and i < last and last > len(bodies) - 1 - joined
        joined += not keep[i]
    return keep


def _check_order(items, kind, before, after):
    """Refuses names of elements that have new ids: MuJoCo 3.4.0 takes the element that has the old id instead."""
    ids = {item.name: i for i, item in enumerate(before) if item.name}
    for i, user in referenced(items, kind, ids).items():
        if after[i] is not before[i]:
            what = kind.name[6:].lower()
            message = f"fusestatic gives {what} '{before[i].name}' a new id, and MuJoCo refers to another {what} here"
            message += '; set fusestatic="false", or let the static bodies stand before their moving siblings'
            raise user.node.unsupported(message, "fusestatic")


def _join_inertia(a, scene, keep, target):
    """Adds mass and inertia of joined bodies to those that take them up, one after the other as MuJoCo does."""
    mass, inertia, ipos, iquat = (a[f"body_{name}"] for name in ("mass", "inertia", "ipos", "iquat"))
    heavy = np.flatnonzero(~keep & (target > 0) & (mass >= MINVAL))
    order = heavy[np.argsort(target[heavy], kind="stable")]
    start = np.flatnonzero(np.diff(target[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(start, np.diff(np.append(start, len(order))))
    for turn in range(int(rank.max(initial=-1)) + 1):
        rows = order[rank == turn]
        into = target[rows]
        # the pose of the body is given in its inertial frame here, and that frame's turn is not composed: MuJoCo's way
        place = ipos[rows] + rotations.rotate(iquat[rows], a["body_pos"][rows])
        total = mass[into] + mass[rows]
        com = (mass[into, None] * ipos[into] + mass[rows, None] * place) / total[:, None]
        full = inertia_about(com, mass[into], ipos[into], iquat[into], inertia[into])
        full += inertia_about(com, mass[rows], place, iquat[rows], inertia[rows])
        inertia[into], iquat[into] = rotations.principal_axes(full)
        mass[into], ipos[into] = total, com
        bad = np.zeros(len(keep), bool)
        bad[rows] = inertia[into].min(1) < EPS
        first(scene.bodies, bad, "the inertia of this body and its parent, joined by fusestatic, must be positive")


def _renumber(a, scene, keep, target):
    """Drops the joined bodies; what they held follows what the body that takes it up had before."""
    new = (np.cumsum(keep) - 1)[target].astype(np.int32)
    a["body_parentid"] = new[a["body_parentid"]]
    for name in [name for name in a if name.startswith("body_") and len(a[name]) == len(keep)]:
        a[name] = a[name][keep]
    for kind in ("geom", "site", "jnt"):
        owner = new[a[f"{kind}_bodyid"]]
        order = np.argsort(owner, kind="stable")
        for name in [name for name in a if name.startswith(kind + "_") and len(a[name]) == len(owner)]:
            a[name] = a[name][order]
        a[f"{kind}_bodyid"] = owner[order]
    for name in ("bodies", "joints", "geoms", "sites", "cameras", "lights"):
        items = getattr(scene, name)
        for item in items:
            item.body = int(new[item.body]) if item.body >= 0 else -1
        if name == "bodies":
            scene.bodies = [item for item, stays in zip(items, keep) if stays]
        else:
            items.sort(key=lambda item: item.body)
    scene.inertials = {int(new[i]): node for i, node in scene.inertials.items() if keep[i]}
