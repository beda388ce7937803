"""Inertia of tendons with armature: J' armature J in the places that M has, and the force J' armature dJ/dt qvel.

Pairs of dofs that M has no place for, on two branches or in two trees, are left out, as in MuJoCo. The pairs of a tree
are a table of the model (tisim/model/tables/heavy.py). Seed 001, "tendon/spatial/armature".
"""

from ..constants import TASK_HEAVY, TASK_HEAVY_DOF, TASK_HEAVY_TREE, WRAP_JOINT, WRAP_PULLEY
from ..sleep.awake import task_at, task_count
from ..smooth.gravity import gravity_of
from ..smooth.inertia import factor_tree
from ..spatial import cross, head, tail
from ..types import FP, MINVAL, SERIAL, func, kernel, ti, vec3


@kernel
def tendon_inertia(m, d):
    """Adds the tendons' armature to M and factors it again; parallel over (world, tree with such a tendon)."""
    n_task = task_count(m, d, TASK_HEAVY_TREE, m.nheavytree)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_HEAVY_TREE, place)
        w = x // m.nheavytree
        t = m.heavy_tree[x % m.nheavytree]
        for p in range(m.heavy_adr[t], m.heavy_adr[t + 1]):
            a = w * m.ntendonJ + m.heavy_entry[p][0]
            b = w * m.ntendonJ + m.heavy_entry[p][1]
            v = m.tendon_armature[m.heavy_tendon[p]] * d.ten_J[a] * d.ten_J[b]
            d.heavy_value[w * m.nheavy + p] = v
            to = w * m.nC + m.heavy_M[p]
            d.M[to] = d.M[to] + v
        for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
            row = w * m.nC + m.M_rowadr[k]
            for p in range(row, row + m.M_rownnz[k]):
                d.qLD[p] = d.M[p]
        factor_tree(m, d, w, t, d.qLD, d.qLDiagInv)


@func
def add_tendon_product(m, d, w, t, x: ti.template(), y: ti.template()):
    """y += what tendons add to M, times x, on tree t."""
    for p in range(m.heavy_adr[t], m.heavy_adr[t + 1]):
        v = d.heavy_value[w * m.nheavy + p]
        i = w * m.nv + m.tendon_Jdof[m.heavy_entry[p][0]]
        j = w * m.nv + m.tendon_Jdof[m.heavy_entry[p][1]]
        y[i] = y[i] + v * x[j]
        if i != j:
            y[j] = y[j] + v * x[i]


@func
def add_tendon_hessian(m, d, w, t):
    """Adds the same to tree_hess of tree t."""
    for p in range(m.heavy_adr[t], m.heavy_adr[t + 1]):
        a = w * m.nM + m.heavy_hess[p]
        d.tree_hess[a] = d.tree_hess[a] + d.heavy_value[w * m.nheavy + p]


@func
def motion_of(m, d, w, site, gravity):
    """Velocity of a site, and its acceleration at qacc = 0."""
    b = m.site_bodyid[site]
    v = vec3(0.0)
    a = vec3(0.0)
    if m.body_treeid[b] >= 0:
        k = w * m.nbody + b
        arm = d.site_xpos[w * m.nsite + site] - d.subtree_com[w * m.nbody + m.body_rootid[b]]
        turn = head(d.cvel[k])
        v = tail(d.cvel[k]) + cross(turn, arm)
        a = tail(d.cacc_bias[k]) + gravity + cross(head(d.cacc_bias[k]), arm) + cross(turn, v)
    return v, a


@func
def length_acceleration(m, d, w, t, gravity):
    """Second derivative of the length of tendon t at qacc = 0: dJ/dt qvel."""
    s = FP(0.0)
    divisor = FP(1.0)
    for k in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t] - 1):
        kind = m.wrap_type[k]
        if kind == WRAP_PULLEY:
            divisor = m.wrap_prm[k]
        elif kind != WRAP_JOINT and m.wrap_type[k + 1] != WRAP_PULLEY:
            s0 = m.wrap_objid[k]
            s1 = m.wrap_objid[k + 1]
            gap = d.site_xpos[w * m.nsite + s1] - d.site_xpos[w * m.nsite + s0]
            size = ti.sqrt(gap.dot(gap))
            if size >= MINVAL and m.site_bodyid[s0] != m.site_bodyid[s1]:
                v = vec3(0.0)
                a = vec3(0.0)
                for side in range(2):
                    v1, a1 = motion_of(m, d, w, ti.select(side == 0, s0, s1), gravity)
                    sign = ti.cast(2 * side - 1, FP)
                    v += sign * v1
                    a += sign * a1
                along = gap.dot(v) / size
                s += ((v.dot(v) - along * along) / size + gap.dot(a) / size) / divisor
    return s


@kernel
def tendon_bias(m, d):
    """Adds to qfrc_bias what tendons with armature need; parallel over (world, such tendon), then (world, dof)."""
    n_task = task_count(m, d, TASK_HEAVY, m.nheavytendon)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_HEAVY, place)
        w = x // m.nheavytendon
        t = m.heavy_list[x % m.nheavytendon]
        d.ten_bias[w * m.ntendon + t] = m.tendon_armature[t] * length_acceleration(m, d, w, t, gravity_of(m, w))
    n_task = task_count(m, d, TASK_HEAVY_DOF, m.nheavydof)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_HEAVY_DOF, place)
        w = x // m.nheavydof
        n = x % m.nheavydof
        s = FP(0.0)
        for e in range(m.heavydof_adr[n], m.heavydof_adr[n + 1]):
            s += d.ten_J[w * m.ntendonJ + m.heavydof_entry[e]] * d.ten_bias[w * m.ntendon + m.heavydof_tendon[e]]
        i = w * m.nv + m.heavy_dof[n]
        d.qfrc_bias[i] = d.qfrc_bias[i] + s
