"""Makers of constraint rows that the engine does not have, written as a user of kernels/constraint/row.py would.

Fixed tendons (equality, friction loss, limits), equalities of joints, and connect and weld of bodies in different
trees, as sparse rows. `install` puts them into the list of makers. Import this module after `tisim.init`.
"""

import dataclasses

from tisim.kernels.constants import EQUALITY, FRICTION_TENDON
from tisim.kernels.constraint.row import finish_row, fits, start_row
from tisim.kernels.rotation import conj_quat, mul_quat
from tisim.kernels.spatial import cross, head, tail
from tisim.kernels.types import FP, func, kernel, ti, vec3, vec4

from tisim.enums import mjtConstraint, mjtDisableBit, mjtEq
from tisim.stages import constraint

LIMIT_TENDON = int(mjtConstraint.mjCNSTR_LIMIT_TENDON)
CONNECT = int(mjtEq.mjEQ_CONNECT)
# first equality of each type in the model at hand and their number, and its tendons: `install` sets them
BODY_FIRST = BODY_NUMBER = JOINT_FIRST = JOINT_NUMBER = TENDON_FIRST = TENDON_NUMBER = NTENDON = 0


@dataclasses.dataclass(frozen=True)
class TestMaker(constraint.RowMaker):
    """A maker whose kernel is here."""

    made: object = None
    __test__ = False

    def acts(self, m):
        return not m.disabled(self.flag)

    def function(self):
        return self.made


def install(monkeypatch, m):
    """Adds the makers for what model m has, in MuJoCo's order; its equalities are sorted: bodies, joints, tendons."""
    for name, types in dict(BODY=(0, 1), JOINT=(2,), TENDON=(3,)).items():
        ids = [i for i in range(m.neq) if m.eq_type[i] in types]
        globals()[f"{name}_FIRST"], globals()[f"{name}_NUMBER"] = min(ids, default=0), len(ids)
    globals()["NTENDON"] = m.ntendon
    ours = dict(EQUALITY=(body_rows, joint_rows, tendon_rows), FRICTIONLOSS=(tendon_friction,), LIMIT=(tendon_limits,))
    makers = []
    for name, functions in ours.items():
        flag = getattr(mjtDisableBit, f"mjDSBL_{name}")
        makers += [maker for maker in constraint.MAKERS if maker.flag == flag]
        makers += [TestMaker("", "", flag, function) for function in functions]
    assert set(constraint.MAKERS) <= set(makers), "rows of a kind whose place is not known here"
    monkeypatch.setattr(constraint, "MAKERS", makers)


@kernel
def joint_rows(m, d):
    """Joint 1 follows a polynomial of joint 2; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        r = d.nrow
        adr = d.nJ
        for k in range(d.nworld * JOINT_NUMBER):
            w = k // JOINT_NUMBER
            e = JOINT_FIRST + k % JOINT_NUMBER
            j1 = m.eq_obj1id[e]
            j2 = m.eq_obj2id[e]
            if fits(m, d, r, adr, 2):
                x = d.qpos[w * m.nq + m.jnt_qposadr[j2]] - m.qpos0[m.jnt_qposadr[j2]]
                y = d.qpos[w * m.nq + m.jnt_qposadr[j1]] - m.qpos0[m.jnt_qposadr[j1]]
                slope = FP(0.0)
                for c in range(4):
                    p = 4 - c
                    slope = slope * x + ti.cast(p, FP) * m.eq_data[e][p]
                    y -= m.eq_data[e][p] * ti.pow(x, ti.cast(p, FP))
                y -= m.eq_data[e][0]
                i1 = m.jnt_dofadr[j1]
                i2 = m.jnt_dofadr[j2]
                first = ti.cast(i1 < i2, ti.i32)
                start_row(m, d, r, EQUALITY, e, adr, 2)
                d.J_dof[adr + 1 - first] = w * m.nv + i1
                d.J[adr + 1 - first] = 1.0
                d.J_dof[adr + first] = w * m.nv + i2
                d.J[adr + first] = -slope
                diag = m.dof_invweight0[i1] + m.dof_invweight0[i2]
                finish_row(m, d, r, y, FP(0.0), y, diag, m.eq_solref[e], m.eq_solimp[e])
            r += 1
            adr += 2
        d.nrow = r
        d.nJ = adr


@func
def tendon_entries(m, d, w, t, adr, sign):
    """Jacobian of fixed tendon t, whose joints are in the order of their dofs; returns its length."""
    length = FP(0.0)
    for n in range(m.tendon_num[t]):
        p = m.tendon_adr[t] + n
        j = m.wrap_objid[p]
        d.J_dof[adr + n] = w * m.nv + m.jnt_dofadr[j]
        d.J[adr + n] = sign * m.wrap_prm[p]
        length += m.wrap_prm[p] * d.qpos[w * m.nq + m.jnt_qposadr[j]]
    return length


@kernel
def tendon_rows(m, d):
    """Fixed tendons of constant length; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        r = d.nrow
        adr = d.nJ
        for k in range(d.nworld * TENDON_NUMBER):
            e = TENDON_FIRST + k % TENDON_NUMBER
            t = m.eq_obj1id[e]
            num = m.tendon_num[t]
            if fits(m, d, r, adr, num):
                start_row(m, d, r, EQUALITY, e, adr, num)
                length = tendon_entries(m, d, k // TENDON_NUMBER, t, adr, FP(1.0))
                pos = length - m.tendon_length0[t] - m.eq_data[e][0]
                finish_row(m, d, r, pos, FP(0.0), pos, m.tendon_invweight0[t], m.eq_solref[e], m.eq_solimp[e])
            r += 1
            adr += num
        d.nrow = r
        d.nJ = adr


@kernel
def tendon_friction(m, d):
    """Friction loss of fixed tendons; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        r = d.nrow
        adr = d.nJ
        for k in range(d.nworld * NTENDON):
            t = k % NTENDON
            num = m.tendon_num[t]
            if m.tendon_frictionloss[t] > 0.0:
                if fits(m, d, r, adr, num):
                    zero = FP(0.0)
                    start_row(m, d, r, FRICTION_TENDON, t, adr, num)
                    d.row_floss[r] = m.tendon_frictionloss[t]
                    tendon_entries(m, d, k // NTENDON, t, adr, FP(1.0))
                    diag = m.tendon_invweight0[t]
                    finish_row(m, d, r, zero, zero, zero, diag, m.tendon_solref_fri[t], m.tendon_solimp_fri[t])
                r += 1
                adr += num
        d.nrow = r
        d.nJ = adr


@kernel
def tendon_limits(m, d):
    """Limits of fixed tendons, of which there is room for both; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        r = d.nrow
        adr = d.nJ
        for k in range(d.nworld * NTENDON * 2):
            side = k % 2
            t = k // 2 % NTENDON
            num = m.tendon_num[t]
            sign = ti.cast(1 - 2 * side, FP)
            length = FP(0.0)
            for n in range(num):
                p = m.tendon_adr[t] + n
                length += m.wrap_prm[p] * d.qpos[k // 2 // NTENDON * m.nq + m.jnt_qposadr[m.wrap_objid[p]]]
            pos = sign * (length - m.tendon_range[t][side])
            margin = m.tendon_margin[t]
            if m.tendon_limited[t] != 0 and pos < margin:
                if fits(m, d, r, adr, num):
                    start_row(m, d, r, LIMIT_TENDON, t, adr, num)
                    tendon_entries(m, d, k // 2 // NTENDON, t, adr, sign)
                    at = pos - margin
                    diag = m.tendon_invweight0[t]
                    finish_row(m, d, r, pos, margin, at, diag, m.tendon_solref_lim[t], m.tendon_solimp_lim[t])
                r += 1
                adr += num
        d.nrow = r
        d.nJ = adr


@func
def last_dof(m, d, b):
    """Last dof that moves body b, -1 if none does."""
    a = b
    while a > 0 and m.body_dofnum[a] == 0:
        a = m.body_parentid[a]
    return m.body_dofadr[a] + m.body_dofnum[a] - 1


@func
def depth(m, d, b):
    """Number of dofs that move body b."""
    n = 0
    i = last_dof(m, d, b)
    while i >= 0:
        n += 1
        i = m.dof_parentid[i]
    return n


@func
def body_entries(m, d, w, b, r, number, place, sign, point, before, after):
    """Entries of body b, from `place` in each of `number` rows: its velocity at a point, and, in rows 3 to 5, the
    vector part of before * angular velocity * after."""
    i = last_dof(m, d, b)
    n = place + depth(m, d, b)
    arm = point - d.subtree_com[w * m.nbody + m.body_rootid[b]]
    while i >= 0:
        n -= 1
        v = d.cdof[w * m.nv + i]
        a = head(v)
        u = tail(v) + cross(a, arm)
        turn = mul_quat(mul_quat(before, vec4(0.0, a[0], a[1], a[2])), after)
        for c in range(number):
            e = d.row_adr[r + c] + n
            x = FP(0.0)
            for q in ti.static(range(3)):
                if c == q:
                    x = u[q]
                if c == q + 3:
                    x = turn[q + 1]
            d.J_dof[e] = w * m.nv + i
            d.J[e] = sign * x
        i = m.dof_parentid[i]


@kernel
def body_rows(m, d):
    """Connect and weld of bodies in different trees; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        r = d.nrow
        adr = d.nJ
        for k in range(d.nworld * BODY_NUMBER):
            w = k // BODY_NUMBER
            e = BODY_FIRST + k % BODY_NUMBER
            b1 = m.eq_obj1id[e]
            b2 = m.eq_obj2id[e]
            weld = m.eq_type[e] != CONNECT
            number = ti.select(weld, 6, 3)
            num = depth(m, d, b1) + depth(m, d, b2)
            if fits(m, d, r + number - 1, adr + (number - 1) * num, num):
                data = m.eq_data[e]
                p1 = vec3(data[0], data[1], data[2])
                p2 = vec3(data[3], data[4], data[5])
                if weld:
                    p1, p2 = p2, p1
                g1 = w * m.nbody + b1
                g2 = w * m.nbody + b2
                p1 = d.xpos[g1] + d.xmat[g1] @ p1
                p2 = d.xpos[g2] + d.xmat[g2] @ p2
                before = 0.5 * data[10] * conj_quat(d.xquat[g2])
                after = mul_quat(d.xquat[g1], vec4(data[6], data[7], data[8], data[9]))
                turn = 2.0 * mul_quat(before, after)
                gap = p1 - p2
                at = gap.dot(gap)
                for c in range(number):
                    start_row(m, d, r + c, EQUALITY, e, adr + c * num, num)
                    if c > 2:
                        at += component(turn, c - 2) * component(turn, c - 2)
                at = ti.sqrt(at)
                first = ti.select(b1 < b2, 0, depth(m, d, b2))
                second = ti.select(b1 < b2, depth(m, d, b1), 0)
                for side in range(2):  # one call: functions are inlined
                    body = ti.select(side == 0, b1, b2)
                    place = ti.select(side == 0, first, second)
                    point = ti.select(side == 0, p1, p2)
                    sign = ti.cast(1 - 2 * side, FP)
                    body_entries(m, d, w, body, r, number, place, sign, point, before, after)
                for c in range(number):
                    kind = ti.cast(c > 2, ti.i32)
                    pos = ti.select(c > 2, component(turn, c - 2), component(vec4(gap[0], gap[1], gap[2], 0.0), c))
                    diag = m.body_invweight0[b1][kind] + m.body_invweight0[b2][kind]
                    finish_row(m, d, r + c, pos, FP(0.0), at, diag, m.eq_solref[e], m.eq_solimp[e])
            r += number
            adr += number * num
        d.nrow = r
        d.nJ = adr


@ti.func
def component(v, k):
    """v[k] of four numbers for a k that the run decides."""
    x = FP(0.0)
    for c in ti.static(range(4)):
        if c == k:
            x = v[c]
    return x
