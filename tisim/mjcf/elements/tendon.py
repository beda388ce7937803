"""Tendons: from merged attributes to model arrays, and their lengths in the reference pose.

The rules for paths are those of MuJoCo's compiler (3.4.0, Apache-2.0); seed 004, "Tendons".
"""

import numpy as np

from tisim.enums import mjtGeom, mjtObj, mjtSleepPolicy, mjtWrap
from tisim.errors import each

from ..format.names import nearest
from ..scene.items import column, first, limits, unique_names, user_data
from .materials import material_ids
from .object_names import Names

WRAPS = {mjtGeom.mjGEOM_SPHERE: mjtWrap.mjWRAP_SPHERE, mjtGeom.mjGEOM_CYLINDER: mjtWrap.mjWRAP_CYLINDER}
KINDS = {"joint": mjtObj.mjOBJ_JOINT, "geom": mjtObj.mjOBJ_GEOM, "site": mjtObj.mjOBJ_SITE}


def compile_tendons(a, items, materials, width, out):
    """Arrays tendon_* and wrap_* of the tendons and their names; out.names has joints, geoms and sites already.

    A spatial tendon with armature makes the inertia matrix depend on the pose: `body_simple` of the bodies that it
    passes must be 0. Returns the ids of these bodies.
    """
    out.names[mjtObj.mjOBJ_TENDON] = unique_names(items, mjtObj.mjOBJ_TENDON)
    ids = Names(out.names)
    paths = each(lambda item: _path(a, item, ids), items)
    wraps = [wrap for path in paths for wrap in path]
    spatial = np.array([item.node.tag == "spatial" for item in items], bool)
    armature, thickness = column(items, "armature"), column(items, "width")
    first(items, spatial & (armature < 0), "'armature' cannot be negative")
    loss = column(items, "frictionloss")
    first(items, loss < 0, "'frictionloss' cannot be negative: it would push")
    first(items, spatial & (thickness <= 0), "'width' must be positive")
    ranges, force = column(items, "range", 2), column(items, "actuatorfrcrange", 2)
    limited = limits(items, "limited", column(items, "limited", dtype=np.int32), ranges)
    first(items, (limited > 0) & (ranges[:, 0] >= ranges[:, 1]), "range[0] must be smaller than range[1]")
    flags = column(items, "actuatorfrclimited", dtype=np.int32)
    force_limited = limits(items, "actuatorfrclimited", flags, force)
    bad = (force_limited > 0) & ((force[:, 0] >= force[:, 1]) | (force[:, 0] > 0) | (force[:, 1] < 0))
    first(items, bad, "actuatorfrcrange[0] must be smaller than actuatorfrcrange[1], and 0 between them")
    # one number of springlength stands for both
    spring = [item.attrib["springlength"] for item in items]
    spring = np.array([[s[0], s[-1]] for s in spring], float).reshape(len(items), 2)
    first(items, spring[:, 0] > spring[:, 1], "springlength[0] cannot be larger than springlength[1]")

    num = np.array([len(path) for path in paths], np.int32)
    kind, objid, prm = (np.array([w[i] for w in wraps], t) for i, t in ((0, np.int32), (1, np.int32), (2, float)))
    a.update(
        tendon_adr=(np.cumsum(num) - num).astype(np.int32), tendon_num=num, tendon_matid=material_ids(items, materials),
        tendon_group=column(items, "group", dtype=np.int32), tendon_limited=limited, tendon_actfrclimited=force_limited,
        tendon_width=thickness, tendon_solref_lim=column(items, "solreflimit", 2),
        tendon_solimp_lim=column(items, "solimplimit", 5), tendon_solref_fri=column(items, "solreffriction", 2),
        tendon_solimp_fri=column(items, "solimpfriction", 5), tendon_range=ranges, tendon_actfrcrange=force,
        tendon_margin=column(items, "margin"), tendon_stiffness=column(items, "stiffness"),
        tendon_damping=column(items, "damping"), tendon_armature=armature,
        tendon_frictionloss=loss, tendon_lengthspring=spring,
        tendon_user=user_data(items, width, "tendon"), tendon_rgba=column(items, "rgba", 4, np.float32),
        wrap_type=kind, wrap_objid=objid, wrap_prm=prm,
    )  # fmt: skip
    a["tendon_treenum"], a["tendon_treeid"] = _trees(a)
    heavy = np.repeat(spatial & (armature > 0), num)
    return a["site_bodyid"][objid[heavy & (kind == mjtWrap.mjWRAP_SITE)]]


def _path(a, item, ids):
    """[(mjtWrap, object id, parameter)] of a tendon, checked."""
    nodes, path = item.children, []
    if not nodes:
        raise item.node.error(f"'{item.node.tag}' has an empty path")
    spatial = item.node.tag == "spatial"
    if spatial and len(nodes) < 2:
        raise item.node.error("the path of a spatial tendon needs at least two objects")
    for node in nodes:
        attrib = node.attrib
        if node.tag == "joint":
            path.append((mjtWrap.mjWRAP_JOINT, _find(item, node, ids, "joint", "joint"), attrib["coef"]))
        elif node.tag == "site":
            path.append((mjtWrap.mjWRAP_SITE, _find(item, node, ids, "site", "site"), 0.0))
        elif node.tag == "pulley":
            if attrib["divisor"] <= 0:
                raise node.error("'divisor' of a pulley must be positive")
            path.append((mjtWrap.mjWRAP_PULLEY, -1, attrib["divisor"]))
        else:
            geom = _find(item, node, ids, "geom", "geom")
            kind = WRAPS.get(int(a["geom_type"][geom]))
            if kind is None:
                raise node.error(f"geom '{attrib['geom']}' is neither a sphere nor a cylinder: nothing wraps round it")
            if item.attrib["armature"] > 0:
                raise node.error("a tendon with armature cannot wrap round geoms")
            side = _find(item, node, ids, "site", "sidesite") if attrib.get("sidesite") else -1
            path.append((kind, geom, float(side)))
    if spatial:
        _check_path(nodes, path)
    return path


def _find(item, node, ids, what, attribute):
    """The id of what an element of a path names."""
    name, known = node.attrib[attribute], ids.of(KINDS[what])
    found = item.space.find(known, name)
    if found is None:
        raise node.error(f"{what} '{name}' is not defined{nearest(name, known)}")
    return found


def _check_path(nodes, path):
    """The order of a spatial path: branches between pulleys, geoms between sites."""
    site, pulley = mjtWrap.mjWRAP_SITE, mjtWrap.mjWRAP_PULLEY
    ends = (None, -1, 0.0)
    for node, before, this, after in zip(nodes, [ends, *path[:-1]], path, [*path[1:], ends]):
        if this[0] == pulley:
            if before[0] == pulley:
                raise node.error("a pulley cannot follow a pulley")
            if after is ends:
                raise node.error("a path cannot end with a pulley")
        elif this[0] == site:
            if before[0] in (None, pulley) and after[0] in (None, pulley):
                raise node.error("a site needs a neighbour that is not a pulley")
            if after[0] == site and after[1] == this[1]:
                raise node.error("a site cannot follow itself")
        elif before[0] != site or after[0] != site:
            raise node.error("a geom must stand between two sites")


def wrap_trees(a):
    """(nwrap,) the tree of each object of a path, -1 for what is static."""
    kind, ids = a["wrap_type"], a["wrap_objid"]
    body = np.zeros(len(kind), np.int64)
    for what, kinds in (("jnt", [mjtWrap.mjWRAP_JOINT]), ("site", [mjtWrap.mjWRAP_SITE]), ("geom", [*WRAPS.values()])):
        rows = np.isin(kind, [int(k) for k in kinds])
        body[rows] = a[f"{what}_bodyid"][ids[rows]]
    return a["body_treeid"][body].astype(np.int64)


def _trees(a):
    """(treenum (ntendon,), treeid (ntendon, 2)): the number of trees on each path, and the first two of them."""
    tree = wrap_trees(a)
    owner = np.repeat(np.arange(len(a["tendon_num"])), a["tendon_num"])
    rows = np.flatnonzero(tree >= 0)
    # the first time that a tree occurs in a tendon
    _, place = np.unique(owner[rows] * np.int64(len(a["tree_bodyadr"]) + 1) + tree[rows], return_index=True)
    rows = rows[np.sort(place)]
    number = np.bincount(owner[rows], minlength=len(a["tendon_num"]))
    order = np.arange(len(rows)) - np.repeat(np.cumsum(number) - number, number)
    treeid = np.full((len(number), 2), -1, np.int32)
    early = order < 2
    treeid[owner[rows[early]], order[early]] = tree[rows[early]]
    return number.astype(np.int32), treeid


def keep_awake(a, items=None):
    """Trees joined by a tendon do not fall asleep on their own where it joins more than two, or pulls at them.

    MjcfError at the tendon, of these items, of a tree that is to sleep all the same.
    """
    pulls = (a["tendon_stiffness"] != 0) | (a["tendon_damping"] != 0)
    many = (a["tendon_treenum"] > 2) | ((a["tendon_treenum"] == 2) & pulls)
    wrap = np.repeat(many, a["tendon_num"])
    tree = wrap_trees(a)[wrap]
    policy = a["tree_sleep_policy"]
    owner = np.repeat(np.arange(len(many)), a["tendon_num"])[wrap][tree >= 0]
    tree = tree[tree >= 0]
    bad = np.zeros(len(many), bool)
    bad[owner[np.isin(policy[tree], [mjtSleepPolicy.mjSLEEP_ALLOWED, mjtSleepPolicy.mjSLEEP_INIT])]] = True
    if items is not None:
        first(items, bad, "'sleep' excludes a tendon that pulls at two trees or joins more than two")
    tree = tree[policy[tree] == mjtSleepPolicy.mjSLEEP_AUTO_ALLOWED]
    policy[tree] = mjtSleepPolicy.mjSLEEP_AUTO_NEVER
