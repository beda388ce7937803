"""What loops over tendons, actuators and equalities go over, kind by kind, and the trees by which each is awake.

A task is one round of such a loop: a tendon, an actuator, an equality, or a dof or tree that these act on. It is left
out where trees belong to it and all of them sleep. Seed 003, "Sleeping islands"; the rules are those of MuJoCo 3.4.0.
"""

import numpy as np

from tisim.enums import mjtEq, mjtObj, mjtTrn

from . import actuation, tendon
from .declare import Table, declared

MOCAP = -1  # among the trees of an equality: it ties something to a mocap body, which is always awake
TENDON, ACTUATOR, EQUALITY, DOF, DRIVEN, TREE = range(6)  # what a kind of tasks consists of
# kinds of tasks: name of the table that lists them (None: all there are) and what they are
KINDS = dict(
    fixed=("fixed_tendon", TENDON), spatial=("spatial_tendon", TENDON), tendon=(None, TENDON),
    springy=("springy_tendon", TENDON), pulled=("pulled_dof", DOF), heavy_tree=("heavy_tree", TREE),
    heavy=("heavy_list", TENDON), heavy_dof=("heavy_dof", DOF), ten_friction=("friction_tendon", TENDON),
    ten_limit=("limited_tendon", TENDON), joint_act=("joint_actuator", ACTUATOR),
    tendon_act=("tendon_actuator", ACTUATOR), site_act=("site_actuator", ACTUATOR),
    crank_act=("crank_actuator", ACTUATOR), shaped=("shaped_actuator", ACTUATOR), actuator=(None, ACTUATOR),
    force_tendon=("force_tendon", TENDON), driven=("driven_dof", DRIVEN), clamped=("clamped_dof", DRIVEN),
    equality=(None, EQUALITY), eq_pose=("eq_pose", EQUALITY), eq_joint=("eq_joint", EQUALITY),
    eq_tendon=("eq_tendon", EQUALITY),
)  # fmt: skip
NUMBER = {name: k for k, name in enumerate(KINDS)}


def _pairs(n, owner, tree):
    """(first of each of n owners and the end, trees by owner), each tree of an owner once, none below MOCAP."""
    owner, tree = np.asarray(owner, np.int64), np.asarray(tree, np.int64)
    base = int(tree.max(initial=0)) + 2
    key = np.unique((owner * base + tree - MOCAP)[tree >= MOCAP], return_index=True)[0]
    return np.searchsorted(key // base, np.arange(n + 1)), key % base + MOCAP


def _of_tendons(m):
    """(owner, tree) of tendons, by the dofs that move them."""
    e = tendon.entries(m)
    return np.repeat(np.arange(m.ntendon), e["tendon_Jnum"]), np.asarray(m.dof_treeid)[e["tendon_Jdof"]]


def _tree_of_body(m, body):
    """Tree of each body; MOCAP for mocap bodies and what they carry, MOCAP - 1 for what is static."""
    tree = np.array(np.asarray(m.body_treeid)[body], np.int64)
    carried = np.asarray(m.body_mocapid)[np.asarray(m.body_rootid)[body]] >= 0
    return np.where(tree >= 0, tree, np.where(carried, MOCAP, MOCAP - 1))


def _body_of(m, kind, ids):
    """Body of bodies, joints or sites."""
    owner = dict(body=None, jnt="jnt_bodyid", site="site_bodyid")[kind]
    return ids if owner is None else np.asarray(getattr(m, owner))[ids]


def _stretches(adr, ids):
    """(number, places) of the stretches `ids` of a list in which stretch k begins at adr[k]."""
    number = adr[ids + 1] - adr[ids]
    return number, np.repeat(adr[ids] - (np.cumsum(number) - number), number) + np.arange(number.sum())


def _through_tendons(m, rows, tendons):
    """(owner, tree) of rows that act through these tendons."""
    adr, tree = _pairs(m.ntendon, *_of_tendons(m))
    number, at = _stretches(adr, tendons)
    return np.repeat(rows, number), tree[at]


def _of_driven(m, adr, tree):
    """(owner, tree) of dofs that actuators act on: their own, and those of the actuators, MOCAP where one never sleeps.

    adr, tree  those of the actuators, by these.
    """
    e = actuation.entries(m)
    number, at = _stretches(adr, e["moment_owner"])
    alone = e["moment_dof"][number == 0]
    owner = np.concatenate([np.arange(m.nv), np.repeat(e["moment_dof"], number), alone])
    return owner, np.concatenate([np.asarray(m.dof_treeid), tree[at], np.full(len(alone), MOCAP)])


def _of_actuators(m):
    """(owner, tree) of actuators: of the joint, body or tendon, of a site without its reference, of both of a crank.

    One with something that is awake without a tree has none; so it is always awake.
    """
    kind, target = np.asarray(m.actuator_trntype), np.asarray(m.actuator_trnid)
    found = []
    for what, kinds, sides in (
        ("jnt", (mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT), (0,)), ("site", (mjtTrn.mjTRN_SITE,), (0,)),
        ("site", (mjtTrn.mjTRN_SLIDERCRANK,), (0, 1)), ("body", (mjtTrn.mjTRN_BODY,), (0,)),
    ):  # fmt: skip
        rows = np.flatnonzero(np.isin(kind, kinds))
        for side in sides:
            found.append((rows, _tree_of_body(m, _body_of(m, what, target[rows, side]))))
    rows = np.flatnonzero(kind == mjtTrn.mjTRN_TENDON)
    found.append(_through_tendons(m, rows, target[rows, 0]))
    return tuple(np.concatenate(x) for x in zip(*found))


def _of_equalities(m):
    """(owner, tree) of equalities: of both their objects."""
    kind, by_site = np.asarray(m.eq_type), np.asarray(m.eq_objtype) == mjtObj.mjOBJ_SITE
    poses, found = np.isin(kind, (mjtEq.mjEQ_CONNECT, mjtEq.mjEQ_WELD)), []
    for name in ("eq_obj1id", "eq_obj2id"):
        obj = np.asarray(getattr(m, name))
        for what, mine in (("body", poses & ~by_site), ("site", poses & by_site), ("jnt", kind == mjtEq.mjEQ_JOINT)):
            rows = np.flatnonzero(mine & (obj >= 0))
            found.append((rows, _tree_of_body(m, _body_of(m, what, obj[rows]))))
        rows = np.flatnonzero((kind == mjtEq.mjEQ_TENDON) & (obj >= 0))
        found.append(_through_tendons(m, rows, obj[rows]))
    return tuple(np.concatenate(x) for x in zip(*found))


def tendon_trees(m):
    """(first of each tendon in the trees and the end, the trees)."""
    return _pairs(m.ntendon, *_of_tendons(m))


def actuator_trees(m):
    """(first of each actuator in the trees and the end, the trees), MOCAP among them."""
    return _pairs(m.nu, *_of_actuators(m))


def equality_trees(m):
    """(first of each equality in the trees and the end, the trees), MOCAP among them."""
    return _pairs(m.neq, *_of_equalities(m))


def _always_awake(n, owner, tree):
    """The same without owners that a mocap body keeps awake."""
    free = np.ones(n, bool)
    free[owner[tree == MOCAP]] = False
    kept = free[owner] & (tree > MOCAP)
    return _pairs(n, owner[kept], tree[kept])


def tasks(m):
    """(first task of each kind and the end, first of each task in the trees and the end, the trees)."""
    actuators = _always_awake(m.nu, *_of_actuators(m))
    trees = {
        TENDON: _pairs(m.ntendon, *_of_tendons(m)), ACTUATOR: actuators,
        EQUALITY: _always_awake(m.neq, *_of_equalities(m)), DOF: (np.arange(m.nv + 1), np.asarray(m.dof_treeid)),
        DRIVEN: _always_awake(m.nv, *_of_driven(m, *actuators)), TREE: (np.arange(m.ntree + 1), np.arange(m.ntree)),
    }  # fmt: skip
    first, number, found = [0], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for table, what in KINDS.values():
        adr, tree = trees[what]
        ids = np.arange(len(adr) - 1) if table is None else np.asarray(m.derived(table), np.int64)
        size, at = _stretches(adr, ids)
        first.append(first[-1] + len(ids))
        number.append(size)
        found.append(tree[at])
    return np.array(first), np.concatenate([[0], np.cumsum(np.concatenate(number))]), np.concatenate(found)


def _ties(m):
    """Tendons of two trees that can bind these: by a limit, or by friction."""
    binds = np.asarray(m.tendon_limited, bool) | (np.asarray(m.tendon_frictionloss) > 0)
    return np.flatnonzero(binds & (np.asarray(m.tendon_treenum) == 2))


def _part(make, k):
    return lambda m: make(m)[k]


READS = (
    "tendon_stiffness", "tendon_damping", "tendon_armature", "tendon_frictionloss", "tendon_limited",
    "tendon_actfrclimited", "jnt_actgravcomp", "jnt_actfrclimited", "body_gravcomp",
)  # fmt: skip
TABLES = declared(
    Table("task_adr", "i", ("ntaskkindend",), _part(tasks, 0), READS, "first task of each kind, and the end"),
    Table("task_treeadr", "i", ("ntaskend",), _part(tasks, 1), READS, "first of each task in task_tree, and the end"),
    Table("task_tree", "i", ("ntasktree",), _part(tasks, 2), READS, "trees of each task; without any it never sleeps"),
    Table("eq_treeadr", "i", ("neqend",), _part(equality_trees, 0), (), "first of each equality in eq_tree, the end"),
    Table("eq_tree", "i", ("neqtree",), _part(equality_trees, 1), (), "trees that it ties, -1: to a mocap body"),
    Table("tie_tendon", "i", ("ntie",), _ties, ("tendon_limited", "tendon_frictionloss"),
          "tendons of two trees that have limits or friction"),
)  # fmt: skip
# numbers that are the length of a table
COUNTED = dict(
    ntaskkindend="task_adr", ntaskend="task_treeadr", ntasktree="task_tree", neqend="eq_treeadr", neqtree="eq_tree",
    ntie="tie_tendon",
)  # fmt: skip
