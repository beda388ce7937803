"""Inertia of trees: spatial inertias, motion axes, M, its factor, and the products and solves others need.

Spatial vectors are rotation first, about the centre of mass of the tree's root body (`subtree_com[body_rootid]`), in
world axes. A spatial inertia is Ixx Iyy Izz Ixy Ixz Iyz, mass * offset, mass. A dof's row of M lists its ancestors in
the tree and ends with itself; the rows of the ancestors are prefixes of it, so L of M = L' D L has no fill-in.
"""

from ..constants import BALL, FREE, SLIDE
from ..types import (
    FP,
    MINVAL,
    func,
    kernel,
    ti,
    vec3,
    vec6,
)
from .kinematics import BLOCK

vec10 = ti.types.vector(10, FP)


@ti.func
def spatial_inertia(inertia, mat, offset, mass):
    """Inertia of a body whose centre of mass lies at `offset`; inertia: principal moments, mat: their frame."""
    x = vec3(mat[0, 0], mat[0, 1], mat[0, 2])
    y = vec3(mat[1, 0], mat[1, 1], mat[1, 2])
    z = vec3(mat[2, 0], mat[2, 1], mat[2, 2])
    ix, iy, iz = inertia * x, inertia * y, inertia * z
    n = mass * offset
    o2 = n.dot(offset)
    return vec10(
        ix.dot(x) + o2 - n[0] * offset[0],
        iy.dot(y) + o2 - n[1] * offset[1],
        iz.dot(z) + o2 - n[2] * offset[2],
        ix.dot(y) - n[0] * offset[1],
        ix.dot(z) - n[0] * offset[2],
        iy.dot(z) - n[1] * offset[2],
        n[0],
        n[1],
        n[2],
        mass,
    )


@ti.func
def mul_inertia(a: ti.template(), e, v):
    """Momentum of the spatial inertia a[e] at velocity v."""
    ang, lin = vec3(v[0], v[1], v[2]), vec3(v[3], v[4], v[5])
    mc = vec3(a[e][6], a[e][7], a[e][8])
    r = mc.cross(lin)
    f = a[e][9] * lin - mc.cross(ang)
    return vec6(
        a[e][0] * ang[0] + a[e][3] * ang[1] + a[e][4] * ang[2] + r[0],
        a[e][3] * ang[0] + a[e][1] * ang[1] + a[e][5] * ang[2] + r[1],
        a[e][4] * ang[0] + a[e][5] * ang[1] + a[e][2] * ang[2] + r[2],
        f[0],
        f[1],
        f[2],
    )


@func
def factor_tree(m, d, da, dn, Lo, Do, L: ti.template(), Dinv: ti.template()):
    """M = L' D L in place for the dofs da..da+dn of one tree. L holds M at offset Lo = w*nC, Do = w*nv."""
    for kk in range(dn):
        k = da + dn - 1 - kk
        row = Lo + m.M_rowadr[k]
        n = m.M_rownnz[k] - 1
        inv = 1.0 / ti.max(L[row + n], MINVAL)
        Dinv[Do + k] = inv
        for p in range(n):
            scaled = L[row + p] * inv
            j = m.M_colind[row - Lo + p]
            above = Lo + m.M_rowadr[j]
            for q in range(p + 1):
                L[above + q] = L[above + q] - scaled * L[row + q]
        for p in range(n):
            L[row + p] = L[row + p] * inv


@func
def solve_tree(m, d, da, dn, Lo, Do, L: ti.template(), Dinv: ti.template(), x: ti.template()):
    """x = M^-1 x in place for the dofs da..da+dn of one tree; Lo = w*nC, Do = w*nv (the offset of x too)."""
    for kk in range(dn):
        k = da + dn - 1 - kk
        xk = x[Do + k]
        for p in range(m.M_rowadr[k], m.M_rowadr[k] + m.M_rownnz[k] - 1):
            i = Do + m.M_colind[p]
            x[i] = x[i] - L[Lo + p] * xk
    for k in range(da, da + dn):
        xk = x[Do + k] * Dinv[Do + k]
        for p in range(m.M_rowadr[k], m.M_rowadr[k] + m.M_rownnz[k] - 1):
            xk -= L[Lo + p] * x[Do + m.M_colind[p]]
        x[Do + k] = xk


@func
def add_wrench(m, d, b, Do, arm, force, torque, y: ti.template()):
    """y += J' (force, torque) for body b, at an arm from the centre of its tree."""
    moment = torque + arm.cross(force)
    f = vec6(moment[0], moment[1], moment[2], force[0], force[1], force[2])
    up = b
    while m.body_dofnum[up] == 0:
        up = m.body_parentid[up]
    k = m.body_dofadr[up] + m.body_dofnum[up] - 1
    while k >= 0:
        y[Do + k] = y[Do + k] + f.dot(d.cdof[Do + k])
        k = m.dof_parentid[k]


@kernel
def tree_inertia(m, d):
    """Centres of mass, cinert, cdof, crb, M and its factor; parallel over worlds and trees, a static body being a
    tree. Seed 000, stages 3, 10 and 11.
    """
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wb in range(d.nworld * m.nbody):
        w = wb // m.nbody
        b = wb - w * m.nbody
        tree = m.body_treeid[b]
        Bo = w * m.nbody
        Do = w * m.nv
        n = 0
        if tree < 0:
            n = 1
        elif m.tree_bodyadr[tree] == b:
            n = m.tree_bodynum[tree]
            for i in range(Bo + b, Bo + b + n):
                d.subtree_com[i] = m.body_mass[i - Bo] * d.xipos[i]
            for ii in range(n):
                i = b + n - 1 - ii
                com = d.subtree_com[Bo + i]
                if i > b:
                    up = Bo + m.body_parentid[i]
                    d.subtree_com[up] = d.subtree_com[up] + com
                if m.body_subtreemass[i] >= MINVAL:
                    d.subtree_com[Bo + i] = com / m.body_subtreemass[i]
                else:
                    d.subtree_com[Bo + i] = d.xipos[Bo + i]
        if b == 0:
            com = vec3(0.0, 0.0, 0.0)
            for k in range((m.nbody + BLOCK - 1) // BLOCK):
                com += d.body_block[Bo + k]
            d.subtree_com[Bo] = com / ti.max(m.body_subtreemass[0], MINVAL)
            n = 0
        if n > 0:
            com = d.subtree_com[Bo + m.body_rootid[b]]
            last = b + n
            if tree < 0:  # a static body's crb counts the trees below it
                while last < m.nbody:
                    if m.body_parentid[last] < b:
                        break
                    last += 1
            for i in range(b, last):
                e = Bo + i
                up = e  # where this body's inertia is added first
                if i >= b + n:
                    up = Bo + b
                else:
                    for c in range(10):
                        d.crb[e][c] = 0.0
                s = spatial_inertia(m.body_inertia[i], d.ximat[e], d.xipos[e] - com, m.body_mass[i])
                for c in ti.static(range(10)):
                    d.crb[up][c] = d.crb[up][c] + s[c]
                if i < b + n:
                    for c in range(10):
                        d.cinert[e][c] = d.crb[e][c]
                    for j in range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i]):
                        kind = m.jnt_type[j]
                        k = Do + m.jnt_dofadr[j]
                        axis = d.xaxis[w * m.njnt + j]
                        if kind == FREE:
                            for c in ti.static(range(3)):
                                unit = vec6(0.0)
                                unit[3 + c] = 1.0
                                d.cdof[k + c] = unit
                            k += 3
                        if kind == SLIDE:
                            d.cdof[k] = vec6(0.0, 0.0, 0.0, axis[0], axis[1], axis[2])
                        else:
                            offset = com - d.xanchor[w * m.njnt + j]
                            num = 3 if kind == FREE or kind == BALL else 1
                            for c in range(num):
                                if num == 3:
                                    axis = vec3(d.xmat[e][0, c], d.xmat[e][1, c], d.xmat[e][2, c])
                                lin = axis.cross(offset)
                                d.cdof[k + c] = vec6(axis[0], axis[1], axis[2], lin[0], lin[1], lin[2])
        if tree >= 0 and n > 0:
            for ii in range(n - 1):
                i = b + n - 1 - ii
                for c in range(10):
                    d.crb[Bo + m.body_parentid[i]][c] = d.crb[Bo + m.body_parentid[i]][c] + d.crb[Bo + i][c]
            da = m.tree_dofadr[tree]
            dn = m.tree_dofnum[tree]
            for k in range(da, da + dn):
                adr = m.M_rowadr[k]
                end = adr + m.M_rownnz[k] - 1
                if m.dof_simplenum[k] > 0:
                    d.M[w * m.nC + end] = m.dof_M0[k]
                    d.qLD[w * m.nC + end] = m.dof_M0[k]
                else:
                    f = mul_inertia(d.crb, Bo + m.dof_bodyid[k], d.cdof[Do + k])
                    for p in range(adr, end + 1):
                        v = f.dot(d.cdof[Do + m.M_colind[p]])
                        if p == end:
                            v += m.dof_armature[k]
                        d.M[w * m.nC + p] = v
                        d.qLD[w * m.nC + p] = v
            factor_tree(m, d, da, dn, w * m.nC, Do, d.qLD, d.qLDiagInv)
