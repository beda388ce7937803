"""Index arrays of the kinematic tree: parents, addresses, trees, and the sparsity of the inertia matrix."""

import numpy as np

from tisim.enums import mjtJoint, mjtSameFrame

FREE, BALL, SLIDE, HINGE = mjtJoint.mjJNT_FREE, mjtJoint.mjJNT_BALL, mjtJoint.mjJNT_SLIDE, mjtJoint.mjJNT_HINGE
NQ = np.array([7, 4, 1, 1])
NV = np.array([6, 3, 1, 1])


def addresses(owner, count):
    """(adr, num) of each owner's run in a list sorted by owner; adr is -1 where num is 0."""
    num = np.bincount(owner, minlength=count).astype(np.int32)
    adr = np.cumsum(num) - num
    return np.where(num > 0, adr, -1).astype(np.int32), num


def levels(parent):
    """Lists of ids, one per depth below the world, so that a pass over them visits parents first."""
    depth = np.zeros(len(parent), int)
    for i, p in enumerate(parent[1:].tolist(), 1):
        depth[i] = depth[p] + 1
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depth))[:-1])


def link(a):
    """Adds the index arrays that follow from body_parentid, jnt_type, jnt_bodyid and geom_bodyid to the dict a."""
    parent = a["body_parentid"]
    nbody = len(parent)
    kind, owner = a["jnt_type"], a["jnt_bodyid"]
    a["jnt_qposadr"] = (np.cumsum(NQ[kind]) - NQ[kind]).astype(np.int32)
    a["jnt_dofadr"] = (np.cumsum(NV[kind]) - NV[kind]).astype(np.int32)
    a["body_jntadr"], a["body_jntnum"] = addresses(owner, nbody)
    a["body_geomadr"], a["body_geomnum"] = addresses(a["geom_bodyid"], nbody)
    a["dof_jntid"] = np.repeat(np.arange(len(kind)), NV[kind]).astype(np.int32)
    a["dof_bodyid"] = owner[a["dof_jntid"]].astype(np.int32)
    a["body_dofadr"], a["body_dofnum"] = addresses(a["dof_bodyid"], nbody)

    # parents precede children, so one pass in order settles root, weld and the last dof above each body
    num, adr = a["body_dofnum"].tolist(), a["body_dofadr"].tolist()
    root, weld, last = [0] * nbody, [0] * nbody, [-1] * nbody
    for i, p in enumerate(parent[1:].tolist(), 1):
        root[i] = i if p == 0 else root[p]
        weld[i] = i if num[i] else weld[p]
        last[i] = adr[i] + num[i] - 1 if num[i] else last[p]
    a["body_rootid"], a["body_weldid"] = np.array(root, np.int32), np.array(weld, np.int32)
    above = np.array(last, np.int32)[parent]
    dof_parent = np.arange(-1, len(a["dof_bodyid"]) - 1, dtype=np.int32)
    moving = np.flatnonzero(a["body_dofnum"])
    dof_parent[a["body_dofadr"][moving]] = above[moving]
    a["dof_parentid"] = dof_parent

    a["dof_treeid"] = (np.cumsum(dof_parent == -1) - 1).astype(np.int32)
    ntree = int((dof_parent == -1).sum())
    weld_dof = a["body_dofadr"][a["body_weldid"]]
    a["body_treeid"] = np.full(nbody, -1, np.int32)
    a["body_treeid"][weld_dof >= 0] = a["dof_treeid"][weld_dof[weld_dof >= 0]]
    bodies = np.flatnonzero(a["body_treeid"] >= 0)
    first, number = np.unique(a["body_treeid"][bodies], return_index=True, return_counts=True)[1:]
    a["tree_bodyadr"], a["tree_bodynum"] = bodies[first].astype(np.int32), number.astype(np.int32)
    a["tree_dofadr"], a["tree_dofnum"] = addresses(a["dof_treeid"], ntree)
    return ntree


def simplify(a, coupled):
    """Adds body_simple and dof_simplenum: bodies whose block of the inertia matrix is diagonal and constant.

    1: a simple body, 2: one with slides only.  coupled  ids of bodies that tendons with armature make not simple.
    """
    parent = a["body_parentid"]
    fixed_child = (parent == 0) & (a["body_dofnum"] == 0)
    simple = (a["body_sameframe"] == mjtSameFrame.mjSAMEFRAME_BODY) & (
        (a["body_rootid"] == np.arange(len(parent))) | fixed_child[parent]
    )
    simple[0] = True
    simple[parent[parent > 0]] = False

    kind, owner = a["jnt_type"], a["jnt_bodyid"]
    turns = kind != SLIDE
    axis = np.abs(a["jnt_axis"]) > 1e-14
    skew = (axis.sum(1) > 1) & ((kind == SLIDE) | (kind == HINGE))
    offset = np.any(np.abs(a["jnt_pos"]) > 1e-14, 1)  # of slides, too, though it does nothing to them
    # a rotation must be the only one in its body, and its last joint
    first = a["body_jntadr"][owner]
    before = np.cumsum(turns) - turns
    after_turn = (before - before[first]) > 0 if len(kind) else turns
    simple[owner[skew | offset | after_turn]] = False

    simple[coupled] = False
    slides = np.ones(len(parent), bool)
    slides[owner[turns]] = False
    a["body_simple"] = np.where(simple, np.where(slides & (a["body_dofnum"] > 0), 2, 1), 0).astype(np.uint8)
    flag = a["body_simple"][a["dof_bodyid"]] > 0
    n = len(flag)
    stop = np.where(~flag, np.arange(n), n)
    following = np.minimum.accumulate(stop[::-1])[::-1] if n else stop
    a["dof_simplenum"] = np.where(flag, following - np.arange(n), 0).astype(np.int32)


def inertia_sparsity(a):
    """Adds dof_Madr and M_rownnz, M_rowadr, M_colind: row i of M holds the ancestors of dof i, itself last.

    Rows of simple bodies hold the diagonal only. Returns nM (entries with every ancestor) and nC (entries of M).
    """
    parent = a["dof_parentid"].tolist()
    depth = [0] * len(parent)
    for i, p in enumerate(parent):
        depth[i] = depth[p] + 1 if p >= 0 else 1
    depth = np.array(depth, np.int32).reshape(-1)
    a["dof_Madr"] = (np.cumsum(depth) - depth).astype(np.int32)
    length = np.where(a["dof_simplenum"] > 0, 1, depth)
    a["M_rownnz"] = length.astype(np.int32)
    a["M_rowadr"] = (np.cumsum(length) - length).astype(np.int32)
    column = np.empty(int(length.sum()), np.int32)
    end = a["M_rowadr"] + length - 1
    dof, alive = np.arange(len(parent)), length > 0
    above = a["dof_parentid"]
    left = length.copy()
    while alive.any():
        column[end[alive]] = dof[alive]
        left, end = left - alive, end - alive
        dof = np.where(alive, above[dof], dof)
        alive = left > 0
    a["M_colind"] = column
    return int(depth.sum()), int(length.sum())
