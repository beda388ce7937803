"""The preconditioner of conjugate gradients: each tree's own Hessian, the inverse of a single body's.

The Hessian of an island also couples trees that touch each other; where none does, the preconditioner is exact. A tree
that is one free body is solved in twists (free_body.py), so that its vectors here are wrenches and twists.
"""

from ..types import FP, at6, called, func, put6, ti
from .articulated import body_hessians
from .free_body import invert_twist
from .isle import Isle
from .lanes import LANES, WIDE, are_lanes, factor_lanes
from .row_hessian import each_pose
from .tree_hessian import add_pose, body_hessian, factor_tree, solve_factored, sym6_times, tree_hessian


@called("jointed")
def factor_hessians(m, d, isle: Isle, first: ti.i32, last: ti.i32, in_dofs: ti.u1, raw: ti.u1, again: ti.u1):
    """factor_hessian of a stretch of the trees of an island; those that are alike are factored side by side. again: as
    in body_hessians."""
    w = isle.world
    n = first
    while n < last:
        lanes = 0
        if ti.static(m.has.jointed and WIDE):
            if isle.dense < 0 and isle.factor < 0 and isle.part < 0:
                lanes = ti.select(are_lanes(m, d, n, last), LANES, 0)
        for e in range(n, n + ti.max(lanes, 1)):
            t = d.island_tree[e] - w * m.ntree
            if isle.bodies == 0:
                make_hessian(m, d, w, t, in_dofs, raw, lanes > 0)
            elif ti.static(m.has.jointed and not m.has.heavy):
                body_hessians(m, d, w, t, again)
        if ti.static(m.has.jointed and WIDE):
            if lanes > 0:
                factor_lanes(m, d, w, d.island_tree[n] - w * m.ntree)
        n += ti.max(lanes, 1)


@func
def factor_hessian(m, d, w, t, in_dofs, raw):
    """body_hess of a single body inverted, else tree_hess of tree t factored; not factored, and in dofs, if in_dofs;
    nothing is inverted or factored if `raw`."""
    make_hessian(m, d, w, t, in_dofs, raw, False)


@func
def make_hessian(m, d, w, t, in_dofs, raw, later):
    """The same; later: tree_hess is factored by lanes.py."""
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        body_hessian(m, d, w * m.nbody + b)
    b = w * m.nbody + m.tree_bodyadr[t]
    inverts = not raw
    if d.tree_single[w * m.ntree + t] == 0 or in_dofs:
        inverts = False
        if ti.static(m.has.dense):
            if ti.static(m.has.rows):
                if raw:
                    each_pose(m, d, w, t, add_pose)
            tree_hessian(m, d, w, t, not (in_dofs or raw), raw)
            if not (in_dofs or raw):
                if m.tree_free[t] == 1:
                    inverts = True
                    hessian_of_dofs(m, d, w, t, b)
                elif not later:
                    factor_tree(m, d, w, t)
    if inverts:
        invert_twist(b, d.body_hess)


@func
def hessian_of_dofs(m, d, w, t, b):
    """body_hess of a free body that rows act on becomes tree_hess, of its dofs."""
    for r in range(6):
        for q in range(r + 1):
            at = w * m.nM + m.dof_Madr[m.tree_dofadr[t] + r] + r - q
            d.body_hess[b][r * (r + 1) // 2 + q] = d.tree_hess[at]


@func
def precondition_tree(m, d, w, t, r: ti.template(), z: ti.template()):
    """z = r through the preconditioner of tree t; returns r'z."""
    s = FP(0.0)
    if d.tree_single[w * m.ntree + t] == 1:
        i0 = w * m.nv + m.tree_dofadr[t]
        b = at6(r, i0)
        x = sym6_times(w * m.nbody + m.tree_bodyadr[t], b, d.body_hess)
        put6(z, i0, x)
        s = b.dot(x)
    elif ti.static(m.has.jointed):
        s = precondition_dofs(m, d, w, t, r, z)
    return s


@func
def precondition_dofs(m, d, w, t, r: ti.template(), z: ti.template()):
    """The same for a tree that is no single body."""
    i0 = w * m.nv + m.tree_dofadr[t]
    s = FP(0.0)
    if m.tree_free[t] == 1:
        x = sym6_times(w * m.nbody + m.tree_bodyadr[t], at6(r, i0), d.body_hess)
        put6(z, i0, x)
        s = at6(r, i0).dot(x)
    else:
        for i in range(i0, i0 + m.tree_dofnum[t]):
            z[i] = r[i]
        solve_factored(m, d, w, t, z)
        for i in range(i0, i0 + m.tree_dofnum[t]):
            s += r[i] * z[i]
    return s
