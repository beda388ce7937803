"""Steps that are implicit in velocity: (M - timestep D) qacc = forces, with D of derivative.py.

`implicit` takes all of D, which is not symmetric: elimination from the leaves on, U L = M - timestep D, has no fill-in
since all ancestors of a dof lie on one branch. `implicitfast` takes D without Coriolis forces, symmetric, in the places
of M. Seed 000, "Numerical integration".
"""

from ..sleep.awake import mover_at, mover_count
from ..types import SERIAL, func, kernel, ti
from .inertia import factor_tree, solve_tree
from .integrate import advance_position


@kernel
def tree_implicit(m, d):
    """A step with all of D; parallel over worlds and trees."""
    n = mover_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        w, t = mover_at(m, d, k)
        if 0 <= t and t < m.ntree:
            start_implicit(m, d, w, t)
            implicit_matrix(m, d, w, t)
            factor_unsymmetric(m, d, w, t)
            solve_unsymmetric(m, d, w, t, d.qacc_euler)
        if t >= 0:
            end_implicit(m, d, w, t)


@kernel
def tree_implicitfast(m, d):
    """A step with the symmetric D without Coriolis forces; parallel over worlds and trees."""
    n = mover_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        w, t = mover_at(m, d, k)
        if 0 <= t and t < m.ntree:
            start_implicit(m, d, w, t)
            symmetric_matrix(m, d, w, t)
            factor_tree(m, d, w, t, d.qH, d.qHDiagInv)
            solve_tree(m, d, w, t, d.qH, d.qHDiagInv, d.qacc_euler)
        if t >= 0:
            end_implicit(m, d, w, t)


@func
def start_implicit(m, d, w, t):
    """The right side, and qacc_warmstart."""
    for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
        d.qacc_warmstart[i] = d.qacc[i]
        d.qacc_euler[i] = d.qfrc_smooth[i] + d.qfrc_constraint[i]


@func
def end_implicit(m, d, w, t):
    """Velocity and position of tree t, or the time of the world."""
    if t < m.ntree:
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.qvel[i] = d.qvel[i] + m.opt.timestep * d.qacc_euler[i]
    advance_position(m, d, w, t)


@func
def implicit_matrix(m, d, w, t):
    """qLU_row and qLU_col, laid out as qDeriv: M - timestep D."""
    for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        p = w * m.nM + m.dof_Madr[k]
        last = w * m.nC + m.M_rowadr[k] + m.M_rownnz[k] - 1
        a = k
        n = 0
        while a >= 0:
            inertia = 0.0 * m.opt.timestep
            if n < m.M_rownnz[k]:
                inertia = d.M[last - n]
            d.qLU_row[p + n] = inertia - m.opt.timestep * d.qDeriv_row[p + n]
            d.qLU_col[p + n] = inertia - m.opt.timestep * d.qDeriv_col[p + n]
            a = m.dof_parentid[a]
            n += 1


@func
def symmetric_matrix(m, d, w, t):
    """qH: M - timestep (D + D') / 2 in the places of M; where a row of M is diagonal, MuJoCo's is too."""
    for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        p = w * m.nM + m.dof_Madr[k]
        last = w * m.nC + m.M_rowadr[k] + m.M_rownnz[k] - 1
        for n in range(m.M_rownnz[k]):
            mean = 0.5 * (d.qDeriv_row[p + n] + d.qDeriv_col[p + n])
            d.qH[last - n] = d.M[last - n] - m.opt.timestep * mean


@func
def factor_unsymmetric(m, d, w, t):
    """qLU = U L in place, from the last dof on; U has ones on its diagonal."""
    for e in range(m.tree_dofnum[t]):
        k = m.tree_dofadr[t] + m.tree_dofnum[t] - 1 - e
        p = w * m.nM + m.dof_Madr[k]
        inverse = 1.0 / d.qLU_row[p]
        n = 1
        i = m.dof_parentid[k]
        while i >= 0:
            scaled = d.qLU_col[p + n] * inverse
            d.qLU_col[p + n] = scaled
            own = w * m.nM + m.dof_Madr[i]
            q = n  # row i with its ancestors j, and with itself
            j = i
            while j >= 0:
                d.qLU_row[own + q - n] = d.qLU_row[own + q - n] - scaled * d.qLU_row[p + q]
                j = m.dof_parentid[j]
                q += 1
            j = m.dof_parentid[k]  # row i with the dofs j between it and k
            q = 1
            while q < n:
                above = w * m.nM + m.dof_Madr[j] + n - q
                d.qLU_col[above] = d.qLU_col[above] - scaled * d.qLU_row[p + q]
                j = m.dof_parentid[j]
                q += 1
            i = m.dof_parentid[i]
            n += 1


@func
def solve_unsymmetric(m, d, w, t, x: ti.template()):
    """x = (U L)^-1 x in place."""
    o = w * m.nv
    for e in range(m.tree_dofnum[t]):
        k = m.tree_dofadr[t] + m.tree_dofnum[t] - 1 - e
        p = w * m.nM + m.dof_Madr[k] + 1
        i = m.dof_parentid[k]
        while i >= 0:
            x[o + i] = x[o + i] - d.qLU_col[p] * x[o + k]
            i = m.dof_parentid[i]
            p += 1
    for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        p = w * m.nM + m.dof_Madr[k]
        xk = x[o + k]
        n = 1
        i = m.dof_parentid[k]
        while i >= 0:
            xk -= d.qLU_row[p + n] * x[o + i]
            i = m.dof_parentid[i]
            n += 1
        x[o + k] = xk / d.qLU_row[p]
