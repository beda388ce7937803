"""The acceleration of continuous time that an acceleration between two steps stands for, for inverse dynamics.

A step that is implicit in velocity solves (M - timestep D) a' = forces = M a; a' is what velocities before and behind
the step show. Seed 000, "Inverse dynamics".
"""

from ..types import SERIAL, func, kernel, ti
from .implicit import implicit_matrix, symmetric_matrix
from .inertia import solve_tree


@kernel
def same_acceleration(m, d):
    """qacc_inverse = qacc; parallel over dofs."""
    ti.loop_config(serialize=SERIAL)
    for i in range(d.nworld * m.nv):
        d.qacc_inverse[i] = d.qacc[i]


@kernel
def discrete_euler(m, d):
    """Of steps with implicit damping of joints; parallel over worlds and trees."""
    ti.loop_config(serialize=SERIAL)
    for wt in range(d.nworld * m.ntree):
        w = wt // m.ntree
        t = wt - w * m.ntree
        times_symmetric(m, d, w, t, d.M)
        for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
            i = w * m.nv + k
            d.qacc_inverse[i] = d.qacc_inverse[i] + m.opt.timestep * m.dof_damping[w, k] * d.qacc[i]
        solve_tree(m, d, w, t, d.qLD, d.qLDiagInv, d.qacc_inverse)


@kernel
def discrete_implicitfast(m, d):
    """Of steps of implicitfast; parallel over worlds and trees."""
    ti.loop_config(serialize=SERIAL)
    for wt in range(d.nworld * m.ntree):
        w = wt // m.ntree
        t = wt - w * m.ntree
        symmetric_matrix(m, d, w, t)
        times_symmetric(m, d, w, t, d.qH)
        solve_tree(m, d, w, t, d.qLD, d.qLDiagInv, d.qacc_inverse)


@kernel
def discrete_implicit(m, d):
    """Of steps of implicit; parallel over worlds and trees."""
    ti.loop_config(serialize=SERIAL)
    for wt in range(d.nworld * m.ntree):
        w = wt // m.ntree
        t = wt - w * m.ntree
        implicit_matrix(m, d, w, t)
        times_unsymmetric(m, d, w, t)
        solve_tree(m, d, w, t, d.qLD, d.qLDiagInv, d.qacc_inverse)


@func
def times_symmetric(m, d, w, t, A: ti.template()):
    """qacc_inverse = A qacc on tree t, for a symmetric matrix in the places of M."""
    for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        i = w * m.nv + k
        last = w * m.nC + m.M_rowadr[k] + m.M_rownnz[k] - 1
        y = A[last] * d.qacc[i]
        for p in range(w * m.nC + m.M_rowadr[k], last):
            j = w * m.nv + m.M_colind[p - w * m.nC]
            y += A[p] * d.qacc[j]
            d.qacc_inverse[j] = d.qacc_inverse[j] + A[p] * d.qacc[i]
        d.qacc_inverse[i] = y


@func
def times_unsymmetric(m, d, w, t):
    """qacc_inverse = qLU qacc on tree t, before qLU is factored."""
    for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        i = w * m.nv + k
        p = w * m.nM + m.dof_Madr[k]
        y = d.qLU_row[p] * d.qacc[i]
        a = m.dof_parentid[k]
        while a >= 0:
            p += 1
            j = w * m.nv + a
            y += d.qLU_row[p] * d.qacc[j]
            d.qacc_inverse[j] = d.qacc_inverse[j] + d.qLU_col[p] * d.qacc[i]
            a = m.dof_parentid[a]
        d.qacc_inverse[i] = y
