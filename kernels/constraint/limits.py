"""Maker of rows: active joint limits. Seed 000, "Limits"."""

from ..constants import BALL, LIMIT_JOINT
from ..rotation import quat_to_rotvec
from ..sleep.awake import limited_at, limited_count
from ..types import FP, MINVAL, SERIAL, func, kernel, narrow, ti, vec3, vec4
from .places import place_rows
from .row import finish_row, fits, start_row


@func
def ball_angle(m, d, q):
    """Rotation vector of the ball joint at qpos[q:], its quaternion normalised first."""
    x = vec4(d.qpos[q], d.qpos[q + 1], d.qpos[q + 2], d.qpos[q + 3])
    return quat_to_rotvec(x / ti.max(MINVAL, x.norm()))


@kernel
def limit_rows(m, d):
    """Count, scan, fill; parallel over (world, limited joint)."""
    total = limited_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for at in range(total):
        k = limited_at(m, d, at)
        w = k // m.nlimited
        j = m.limited_joint[k % m.nlimited]
        lo = m.jnt_range[w, j][0]
        hi = m.jnt_range[w, j][1]
        q = w * m.nq + m.jnt_qposadr[j]
        n = 0
        if m.jnt_type[j] == BALL:
            a = ball_angle(m, d, q).norm()
            n = ti.cast(ti.max(lo, hi) - a < m.jnt_margin[j], ti.i32)
        else:
            x = narrow(d.qpos[q])
            n = ti.cast(x - lo < m.jnt_margin[j], ti.i32) + ti.cast(hi - x < m.jnt_margin[j], ti.i32)
        d.limit_row[k] = n
    place_rows(m, d, total, SERIAL, limit_need, d.limit_row, d.limit_adr)
    ti.loop_config(serialize=SERIAL)
    for at in range(total):
        k = limited_at(m, d, at)
        r = d.limit_row[k]
        if r >= 0:  # few are at their limits
            add_limit(m, d, k, r)


@func
def limit_need(m, d, place):
    """What limited joint k at a place has: its number of rows stands in limit_row before it has its place."""
    k = limited_at(m, d, place)
    return k, d.limit_row[k], ti.select(m.jnt_type[m.limited_joint[k % m.nlimited]] == BALL, 3, 1)


@func
def add_limit(m, d, k, r):
    """The one or two rows, from r on, of limited joint k of all worlds."""
    w = k // m.nlimited
    j = m.limited_joint[k % m.nlimited]
    adr = d.limit_adr[k]
    q = w * m.nq + m.jnt_qposadr[j]
    i = m.jnt_dofadr[j]
    for side in range(2):
        pos = FP(0.0)
        axis = vec3(0.0)
        ball = m.jnt_type[j] == BALL
        if ball:
            axis = ball_angle(m, d, q)
            a = axis.norm()
            pos = ti.max(m.jnt_range[w, j][0], m.jnt_range[w, j][1]) - a
            axis = ti.select(a < MINVAL, vec3(-1.0, 0.0, 0.0), -axis / ti.max(MINVAL, a))  # as MuJoCo normalises zero
        else:
            sign = ti.cast(1 - 2 * side, FP)
            axis[0] = sign
            pos = sign * (narrow(d.qpos[q]) - m.jnt_range[w, j][side])
        margin = m.jnt_margin[j]
        num = ti.select(ball, 3, 1)
        if pos < margin and (not (ball and side == 1)) and fits(m, d, r, adr, num):
            start_row(m, d, r, LIMIT_JOINT, j, adr, num)
            for c in ti.static(range(3)):
                if c < num:
                    d.J_dof[adr + c] = w * m.nv + i + c
                    d.J[adr + c] = axis[c]
            finish_row(m, d, r, pos, margin, pos - margin, m.dof_invweight0[w, i], m.jnt_solref[j], m.jnt_solimp[j])
            r += 1
            adr += num
