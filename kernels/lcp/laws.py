"""Forces of joints as rows of the second dynamics: springs, dampers, friction loss, limits, motors.

Each is an impulse that falls with the velocity u of a dof, within bounds: clamp(k (v - u), lo, hi). A spring with a
damper has k = h (h kp + kd) and no bounds (seed 002: erp = h kp / (h kp + kd), cfm = 1 / (h kp + kd)), friction loss
and limits have k = h / cfm, a limit one bound 0. Their sum over a dof is one row of the joint: where some are between
their bounds it is J u + p / K = V, K the sum of their k; where none is, p is constant and the system has no such row.
Which are between them is asked anew behind each solution, by where u - gamma p = s meets the sum (primal-dual active
sets); where that turns in a circle, descent.py tells.
"""

from ..actuation.force import input_of, is_off
from ..constants import (
    BALL,
    BIAS_AFFINE,
    BIAS_NONE,
    DSBL_ACTUATION,
    DSBL_CONSTRAINT,
    DSBL_DAMPER,
    DSBL_FRICTIONLOSS,
    DSBL_LIMIT,
    DSBL_SPRING,
    FREE,
    GAIN_AFFINE,
    GAIN_FIXED,
    SLIDE,
)
from ..rotation import conj_quat, mul_quat, normalize_quat, quat_to_rotvec, rotate
from ..types import FP, func, narrow, ti, vec3
from .bodies import BODY_SIZE, TWIST_SIZE
from .joints import (
    BIAS,
    CHILD,
    IMPULSE,
    JOINT_SIZE,
    PARENT,
    ROW,
    SOFT,
    across,
    dof_row,
    now_at,
    put_row,
    reference_of,
)
from .motions import anchor_of, dual_axis, is_mixed, part_of

# numbers of a body in lcp_law, of each of its rows; in that: how many, which are at which bound, gamma, then by fours
LAW_SIZE, LAW, COUNT, MODE, GAMMA, FIRST = 192, 64, 0, 1, 2, 4
MOST = 15
NEVER = 1e30  # a bound that is none
STIFF = 1e12  # greatest k by the row's own 1 / (J M^-1 J')
OFF = -1.0  # softness of a row that is none of the system


@func
def law_rows(m, d, w, b):
    """Rows of what acts along the motions of body b's joint, behind those that hold it: lcp_law. Returns how many."""
    n = 0
    d.lcp_nlaw[w * m.nbody + b] = 0
    if m.body_jntnum[b] > 0:
        j = m.body_jntadr[b]
        if m.jnt_type[j] == BALL:
            n = ball_laws(m, d, w, b, j)
        elif m.jnt_type[j] != FREE:
            n = m.body_jntnum[b]
            for e in range(n):
                axis_laws(m, d, w, b, j + e, e)
    return n


@func
def spring_of(m, w, j):
    """(stiffness, damping) of joint j, as far as they are not switched off."""
    kp, kd = m.jnt_stiffness[w, j], m.dof_damping[w, m.jnt_dofadr[j]]
    if m.opt.disableflags & DSBL_SPRING != 0:
        kp = 0.0 * kp
    if m.opt.disableflags & DSBL_DAMPER != 0:
        kd = 0.0 * kd
    return kp, kd


@func
def axis_laws(m, d, w, b, j, e):
    """The row of a hinge or slide, number e of its body."""
    wb, r = w * m.nbody + b, d.lcp_nrow[w * m.nbody + b] + e
    lin_p, ang_p, lin_c, ang_c = dof_row(m, d, w, b, j, 0, 1)
    open_row(m, d, w, b, r, -lin_c, ang_p, ang_c)
    L = LAW_SIZE * wb + LAW * e
    q = m.jnt_qposadr[j]
    x = coordinate_of(m, d, w, b, j)
    kp, kd = spring_of(m, w, j)
    add_spring(m, d, L, kp, kd, m.qpos_spring[w, q] - x)
    loss = m.dof_frictionloss[w, m.jnt_dofadr[j]]
    h = m.opt.timestep / d.lcp_substeps
    if loss > 0.0 and m.opt.disableflags & (DSBL_FRICTIONLOSS | DSBL_CONSTRAINT) == 0:
        add_law(m, d, L, 0.0, stiffest(m, d, L), -h * loss, h * loss)
    if m.jnt_limited[j] != 0 and m.opt.disableflags & (DSBL_LIMIT | DSBL_CONSTRAINT) == 0:
        add_law(m, d, L, limit_velocity(m, d, x - m.jnt_range[w, j][0]), stiffest(m, d, L), 0.0, FP(NEVER))
        add_law(m, d, L, -limit_velocity(m, d, m.jnt_range[w, j][1] - x), stiffest(m, d, L), -FP(NEVER), 0.0)
    for k in range(m.servo_adr[j], m.servo_adr[j + 1]):
        add_servo(m, d, L, w, m.servo[k], x - narrow(d.qpos[w * m.nq + q]))


@func
def add_servo(m, d, L, w, i, way):
    """Actuator i of a hinge or slide, which has come this way since the step began: by what its force loses with the
    velocity behind the substep, within its range; as a force that stays where it loses nothing."""
    k = w * m.nu + i
    h = m.opt.timestep / d.lcp_substeps
    gear = m.actuator_gear[i][0]
    slope, force = FP(0.0), d.actuator_force[k]
    if is_affine(m, i) and is_off(m, i) == 0 and m.opt.disableflags & DSBL_ACTUATION == 0:
        value = input_of(m, d, k, i, w * m.na + m.actuator_actadr[i])
        gain, bias = m.actuator_gainprm[w, i], 0.0 * m.actuator_biasprm[w, i]
        if m.actuator_biastype[i] == BIAS_AFFINE:
            bias = m.actuator_biasprm[w, i]
        stiff, damp = bias[1], bias[2]
        if m.actuator_gaintype[i] == GAIN_AFFINE:
            stiff += gain[1] * value
            damp += gain[2] * value
        slope = -h * gear * gear * (damp + h * stiff)
        if slope > 0.0:
            force = gain[0] * value + bias[0] + stiff * (d.actuator_length[k] + gear * way)
    if slope > 0.0:
        lo, hi = -FP(NEVER), FP(NEVER)
        if m.actuator_forcelimited[i] != 0:
            a, b = h * gear * m.actuator_forcerange[w, i][0], h * gear * m.actuator_forcerange[w, i][1]
            lo, hi = ti.min(a, b), ti.max(a, b)
        add_law(m, d, L, h * gear * force / slope, slope, lo, hi)
    elif force != 0.0:
        add_law(m, d, L, FP(0.0), 1.0 / d.lcp_law[L + GAMMA], h * gear * force, h * gear * force)


@func
def is_affine(m, i):
    """Whether the force of actuator i is linear in length and velocity."""
    gain, bias = m.actuator_gaintype[i], m.actuator_biastype[i]
    return (gain == GAIN_FIXED or gain == GAIN_AFFINE) and (bias == BIAS_NONE or bias == BIAS_AFFINE)


@func
def ball_laws(m, d, w, b, j):
    """Rows of a ball: about the axis by which it is turned, where its limit is, and across, where its spring is.
    Returns how many."""
    wb, r = w * m.nbody + b, d.lcp_nrow[w * m.nbody + b]
    xp, qp = now_at(m, d, w, m.body_parentid[b])
    xc, qc = now_at(m, d, w, b)
    x, turn = reference_of(m, w, b, xp, qp)
    rest = normalize_quat(mul_quat(conj_quat(turn), qc))
    bend = quat_to_rotvec(rest)
    angle = bend.norm()
    kp, kd = spring_of(m, w, j)
    spring = normalize_quat(at4_world(m, w, m.jnt_qposadr[j]))
    stretch = quat_to_rotvec(mul_quat(conj_quat(spring), rest))
    limited = m.jnt_limited[j] != 0 and m.opt.disableflags & (DSBL_LIMIT | DSBL_CONSTRAINT) == 0
    n = 0
    if limited:
        n = 1
    if kp > 0.0 or kd > 0.0:
        n = 3
    axis = vec3(1.0, 0.0, 0.0)
    if angle > 1e-9:
        axis = bend / angle
    for e in range(n):
        if e == 1:
            axis = across(axis)
        elif e == 2:
            axis = first_of(bend, angle).cross(axis)
        s = rotate(qc, axis)
        open_row(m, d, w, b, r + e, vec3(0.0), -s, s)
        L = LAW_SIZE * wb + LAW * e
        add_spring(m, d, L, kp, kd, -axis.dot(stretch))
        if e == 0 and limited:
            room = ti.max(m.jnt_range[w, j][0], m.jnt_range[w, j][1]) - angle
            add_law(m, d, L, -limit_velocity(m, d, room), stiffest(m, d, L), -FP(NEVER), 0.0)
    return n


@func
def at4_world(m, w, q):
    """The quaternion of qpos_spring from q on."""
    return ti.Vector([m.qpos_spring[w, q], m.qpos_spring[w, q + 1], m.qpos_spring[w, q + 2], m.qpos_spring[w, q + 3]])


@ti.func
def first_of(bend, angle):
    """The axis by which a ball is turned."""
    axis = vec3(1.0, 0.0, 0.0)
    if angle > 1e-9:
        axis = bend / angle
    return axis


@func
def coordinate_of(m, d, w, b, j):
    """qpos of hinge or slide j of body b in the middle of a step."""
    xp, qp = now_at(m, d, w, m.body_parentid[b])
    xc, qc = now_at(m, d, w, b)
    x, turn = reference_of(m, w, b, xp - rotate(qp, m.body_ipos[w, m.body_parentid[b]]), qp)
    q = m.jnt_qposadr[j]
    value = FP(0.0)
    if m.jnt_type[j] == SLIDE:
        value = slid(m, d, w, b, j, x, turn, xc - rotate(qc, m.body_ipos[w, b]), qc)
    else:
        rest = mul_quat(conj_quat(turn), qc)
        near = narrow(d.qpos[w * m.nq + q]) - narrow(m.qpos0[q])
        value = hinge_angle(part_of(m, d, w, b, j, rest), narrow(m.jnt_axis[j]), near)
    return narrow(m.qpos0[q]) + value


@func
def slid(m, d, w, b, j, x, turn, at, qc):
    """How far slide j of body b is from its reference; x, turn: frame that the parent has the body in at that; at, qc:
    its own."""
    off = at - x
    if is_mixed(m, b):
        anchor = anchor_of(m, w, b)
        off += rotate(qc, anchor) - rotate(turn, anchor)
    return dual_axis(m, d, w, b, j, turn, qc).dot(off)


@ti.func
def hinge_angle(rest, axis, expected):
    """Angle [rad] about an axis of a quaternion, with as many turns as brings it nearest to the expected one."""
    turns = 2.0 * ti.math.pi
    angle = 2.0 * ti.atan2(axis.dot(vec3(rest[1], rest[2], rest[3])), rest[0])
    return angle + turns * ti.round((expected - angle) / turns)


@func
def limit_velocity(m, d, room):
    """Least velocity away from a limit: what uses up the room before it, or takes back a part of what is beyond."""
    h = m.opt.timestep / d.lcp_substeps
    v = -room / h
    if room < 0.0:
        v = -d.lcp_part / h * room
    return v


@func
def open_row(m, d, w, b, r, lin, ang_p, ang_c):
    """Row r of body b without anything that acts along it."""
    wb = w * m.nbody + b
    L = LAW_SIZE * wb + LAW * (r - d.lcp_nrow[wb])
    put_row(m, d, w, b, r, lin, ang_p, ang_c)
    o = JOINT_SIZE * wb + ROW * r
    gamma = FP(0.0)
    for e in range(6):
        gamma += d.lcp_joint[o + PARENT + e] ** 2 + d.lcp_joint[o + CHILD + e] ** 2
    d.lcp_law[L + GAMMA] = gamma
    d.lcp_law[L + COUNT] = 0.0


@func
def close_rows(m, d, w, b, r, n, first):
    """Rows r to r + n of body b are there, if something acts along them. first: 1 where a step begins; then they begin
    by the velocities at hand, else at the bounds of the last substep."""
    wb = w * m.nbody + b
    acting = FP(0.0)
    for e in range(n):
        acting += d.lcp_law[LAW_SIZE * wb + LAW * e + COUNT]
    if acting > 0.0:
        d.lcp_nlaw[wb] = n
        for e in range(n):
            d.lcp_joint[JOINT_SIZE * wb + IMPULSE + r + e] = 0.0
            if first == 1:
                d.lcp_law[LAW_SIZE * wb + LAW * e + MODE] = -1.0
                settle_row(m, d, w, b, r + e)
            else:
                bind_row(m, d, w, b, r + e, d.lcp_law[LAW_SIZE * wb + LAW * e + MODE])


@func
def stiffest(m, d, L):
    """k of what is to be exact: by the model's softness."""
    h = m.opt.timestep / d.lcp_substeps
    return 1.0 / ti.max(d.lcp_cfm / h, d.lcp_law[L + GAMMA] / STIFF)


@func
def add_spring(m, d, L, kp, kd, stretch):
    """A spring and damper, which pulls over a stretch."""
    h = m.opt.timestep / d.lcp_substeps
    k = h * kp + kd
    if k > 0.0:
        add_law(m, d, L, kp * stretch / k, h * k, -FP(NEVER), FP(NEVER))


@func
def add_law(m, d, L, v, k, lo, hi):
    """One more that acts along a row."""
    n = ti.cast(d.lcp_law[L + COUNT], ti.i32)
    if n < MOST:
        at = L + FIRST + 4 * n
        d.lcp_law[at] = v
        d.lcp_law[at + 1] = k
        d.lcp_law[at + 2] = lo
        d.lcp_law[at + 3] = hi
        d.lcp_law[L + COUNT] = n + 1.0


@func
def impulse_at(m, d, L, u):
    """Sum of the impulses along a row at velocity u."""
    p = FP(0.0)
    for n in range(ti.cast(d.lcp_law[L + COUNT], ti.i32)):
        at = L + FIRST + 4 * n
        p += ti.min(ti.max(d.lcp_law[at + 1] * (d.lcp_law[at] - u), d.lcp_law[at + 2]), d.lcp_law[at + 3])
    return p


@func
def within(m, d, L, s):
    """A velocity in the same piece of the sum as the one at which u - gamma p = s."""
    gamma = d.lcp_law[L + GAMMA]
    below, above = -FP(NEVER), FP(NEVER)
    for n in range(2 * ti.cast(d.lcp_law[L + COUNT], ti.i32)):
        at = L + FIRST + 4 * (n // 2)
        bound = d.lcp_law[at + 2 + n % 2]
        if ti.abs(bound) < NEVER:
            x = d.lcp_law[at] - bound / d.lcp_law[at + 1]
            if x - gamma * impulse_at(m, d, L, x) <= s:
                below = ti.max(below, x)
            else:
                above = ti.min(above, x)
    u = FP(0.0)
    if below > -NEVER and above < NEVER:
        u = 0.5 * (below + above)
    elif below > -NEVER:
        u = below + 1.0 + ti.abs(below)
    elif above < NEVER:
        u = above - 1.0 - ti.abs(above)
    return u


@func
def pieces_within(m, d, w, b, r):
    """What acts along row r of body b is at these bounds where velocity and impulse tell so, see bind_row."""
    wb = w * m.nbody + b
    L = LAW_SIZE * wb + LAW * (r - d.lcp_nrow[wb])
    p = d.lcp_joint[JOINT_SIZE * wb + IMPULSE + r]
    u = within(m, d, L, velocity_along(m, d, w, b, r) - d.lcp_law[L + GAMMA] * p)
    mode, power = FP(0.0), FP(1.0)
    for n in range(ti.cast(d.lcp_law[L + COUNT], ti.i32)):
        at = L + FIRST + 4 * n
        force = d.lcp_law[at + 1] * (d.lcp_law[at] - u)
        if d.lcp_law[at + 2] != d.lcp_law[at + 3]:
            if force >= d.lcp_law[at + 3]:
                mode += power
            elif force <= d.lcp_law[at + 2]:
                mode += 2.0 * power
        power *= 3.0
    return mode


@func
def settle_row(m, d, w, b, r):
    """1 if what acts along row r of body b is at other bounds now: then the row is another one."""
    return rebind_row(m, d, w, b, r, pieces_within(m, d, w, b, r))


@func
def rebind_row(m, d, w, b, r, mode):
    """1 if these are other bounds than those row r of body b is at; then it is at these."""
    wb = w * m.nbody + b
    L = LAW_SIZE * wb + LAW * (r - d.lcp_nrow[wb])
    changed = 0
    if mode != d.lcp_law[L + MODE]:
        changed = 1
        d.lcp_law[L + MODE] = mode
        bind_row(m, d, w, b, r, mode)
    return changed


@func
def bind_row(m, d, w, b, r, mode):
    """Row r of body b as it is where these are at their bounds: a digit to the base 3 of each, 1 the upper, 2 the lower
    one."""
    wb = w * m.nbody + b
    o, L = JOINT_SIZE * wb, LAW_SIZE * wb + LAW * (r - d.lcp_nrow[wb])
    k, kv, rest, left = FP(0.0), FP(0.0), FP(0.0), mode
    for n in range(ti.cast(d.lcp_law[L + COUNT], ti.i32)):
        at = L + FIRST + 4 * n
        digit = left - 3.0 * ti.floor(left / 3.0)
        left = ti.floor(left / 3.0)
        if digit == 1.0:
            rest += d.lcp_law[at + 3]
        elif digit == 2.0 or d.lcp_law[at + 2] == d.lcp_law[at + 3]:
            rest += d.lcp_law[at + 2]
        else:
            k += d.lcp_law[at + 1]
            kv += d.lcp_law[at + 1] * d.lcp_law[at]
    if k > 0.0:
        d.lcp_joint[o + SOFT + r] = 1.0 / k
        d.lcp_joint[o + BIAS + r] = (kv + rest) / k
    else:
        d.lcp_joint[o + SOFT + r] = OFF
        strike(m, d, w, b, r, rest - d.lcp_joint[o + IMPULSE + r])
        d.lcp_joint[o + IMPULSE + r] = rest


@func
def velocity_along(m, d, w, b, r):
    """J u of row r of body b."""
    wb, wp = w * m.nbody + b, w * m.nbody + m.body_parentid[b]
    o = JOINT_SIZE * wb + ROW * r
    u = FP(0.0)
    for e in range(6):
        u += d.lcp_joint[o + CHILD + e] * d.lcp_body[BODY_SIZE * wb + e]
        u += d.lcp_joint[o + PARENT + e] * d.lcp_body[BODY_SIZE * wp + e]
    return u


@func
def strike(m, d, w, b, r, p):
    """An impulse along row r of body b."""
    wb, wp = w * m.nbody + b, w * m.nbody + m.body_parentid[b]
    o = JOINT_SIZE * wb + ROW * r
    for e in range(6):
        change = d.lcp_joint[o + CHILD + e] * p
        d.lcp_body[BODY_SIZE * wb + e] = d.lcp_body[BODY_SIZE * wb + e] + change
        d.lcp_from[TWIST_SIZE * wb + e] = d.lcp_from[TWIST_SIZE * wb + e] + change
        if m.body_treeid[m.body_parentid[b]] >= 0:
            change = d.lcp_joint[o + PARENT + e] * p
            d.lcp_body[BODY_SIZE * wp + e] = d.lcp_body[BODY_SIZE * wp + e] + change
            d.lcp_from[TWIST_SIZE * wp + e] = d.lcp_from[TWIST_SIZE * wp + e] + change


@func
def settle_tree(m, d, wt):
    """How many rows of a tree are others now."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    first = m.tree_bodyadr[t]
    changed = 0
    for b in range(first, first + m.tree_bodynum[t]):
        wb = w * m.nbody + b
        for e in range(d.lcp_nlaw[wb]):
            changed += settle_row(m, d, w, b, d.lcp_nrow[wb] + e)
    return changed
