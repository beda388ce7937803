"""Products and solves with the inertia matrix of vectors that a user gives, and inverse dynamics of trees.

The vectors lie world by world, `nvec` of them for each: number v of world w begins at (w * nvec + v) * nv.
"""

from ..smooth.inertia import solve_from, unload
from ..spatial import inertia_times, tree_project, tree_twists
from ..types import SERIAL, func, kernel, six, store, ti


@kernel
def multiply_inertia(m, d):
    """vec_out = M vec_in; parallel over vectors and trees."""
    ti.loop_config(serialize=SERIAL)
    for vt in range(d.nworld * d.nvec * m.ntree):
        v = vt // m.ntree
        t = vt - v * m.ntree
        C = v // d.nvec * m.nC
        o = v * m.nv
        for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
            last = m.M_rowadr[k] + m.M_rownnz[k] - 1
            x = d.vec_in[o + k]
            y = d.M[C + last] * x
            for p in range(m.M_rowadr[k], last):
                i = o + m.M_colind[p]
                y += d.M[C + p] * d.vec_in[i]
                d.vec_out[i] = d.vec_out[i] + d.M[C + p] * x
            d.vec_out[o + k] = y


@kernel
def multiply_root(m, d):
    """vec_out = sqrt(D) L vec_in, where M = L' D L; parallel over vectors and trees."""
    ti.loop_config(serialize=SERIAL)
    for vt in range(d.nworld * d.nvec * m.ntree):
        v = vt // m.ntree
        t = vt - v * m.ntree
        w = v // d.nvec
        o = v * m.nv
        for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
            y = d.vec_in[o + k]
            for p in range(m.M_rowadr[k], m.M_rowadr[k] + m.M_rownnz[k] - 1):
                y += d.qLD[w * m.nC + p] * d.vec_in[o + m.M_colind[p]]
            d.vec_out[o + k] = y / ti.sqrt(d.qLDiagInv[w * m.nv + k])


@kernel
def solve_inertia(m, d):
    """vec_out = M^-1 vec_in; parallel over vectors and trees."""
    ti.loop_config(serialize=SERIAL)
    for vt in range(d.nworld * d.nvec * m.ntree):
        v = vt // m.ntree
        t = vt - v * m.ntree
        take(m, d, v, t)
        solve_from(m, d, v // d.nvec, t, v * m.nv, d.qLD, d.qLDiagInv, d.vec_out)


@kernel
def solve_root(m, d):
    """vec_out = sqrt(D)^-1 L'^-1 vec_in, half of a solve; parallel over vectors and trees."""
    ti.loop_config(serialize=SERIAL)
    for vt in range(d.nworld * d.nvec * m.ntree):
        v = vt // m.ntree
        t = vt - v * m.ntree
        w = v // d.nvec
        take(m, d, v, t)
        unload(m, d, w, t, v * m.nv, d.qLD, d.vec_out)
        for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.vec_out[v * m.nv + k] = d.vec_out[v * m.nv + k] * ti.sqrt(d.qLDiagInv[w * m.nv + k])


@func
def take(m, d, v, t):
    """vec_out = vec_in for the dofs of tree t in vector v."""
    for i in range(v * m.nv + m.tree_dofadr[t], v * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
        d.vec_out[i] = d.vec_in[i]


@kernel
def inertial_forces(m, d):
    """vec_out = the joint forces that give the bodies, without armature, the accelerations qacc; parallel over worlds
    and trees.
    """
    ti.loop_config(serialize=SERIAL)
    for wt in range(d.nworld * m.ntree):
        w = wt // m.ntree
        t = wt - w * m.ntree
        tree_twists(m, d, w, t, d.qacc)
        for b in range(w * m.nbody + m.tree_bodyadr[t], w * m.nbody + m.tree_bodyadr[t] + m.tree_bodynum[t]):
            store(d.wrench, b, inertia_times(m, d, b, six(d.twist[b])))
        tree_project(m, d, w, t, d.vec_out)
