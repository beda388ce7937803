"""Bodies of the second dynamics: scaled velocities before a step, poses and velocities behind it.

A body's velocity is sqrt(m) v of its centre of mass and sqrt(I) w along its principal axes when the step begins, so
that its mass is 1 (lcp_body, with the way since then, scaled alike); 0 for what does not move. The ways to turn one are
in tisim/LCP.md, "Rotation".
"""

from ..rotation import at3, at4, axis_angle_to_quat, conj_quat, mul_quat, normalize_quat, quat_to_mat, rotate
from ..sleep.awake import is_body_asleep
from ..smooth.gravity import gravity_of
from ..types import func, mat3, narrow, ti, vec3, vec4

# numbers of a body in lcp_body, its way behind its velocity; in lcp_from and lcp_push; in lcp_scale
BODY_SIZE, WAY, TWIST_SIZE, SCALE_SIZE = 16, 8, 8, 4
MIDPOINT, FINITE, INFINITESIMAL, AXLE = 0, 1, 2, 3  # m.lcp.rotation
SMALL = 0.0625  # square of half an angle, below which seven terms of a series are exact


@func
def begin_body(m, d, wb):
    """lcp_body, lcp_from, lcp_push, lcp_scale of body wb of all worlds before a step."""
    w = wb // m.nbody
    b = wb - w * m.nbody
    clear_body(m, d, wb)
    if m.body_dofnum[b] > 0 and not is_body_asleep(m, d, w, b):
        i = w * m.nv + m.body_dofadr[b]
        arm = d.xipos[wb] - narrow(d.xpos[wb])
        turn = d.xmat[wb] @ at3(d.qvel, i + 3)
        v = at3(d.qvel, i) + turn.cross(arm)
        force, torque = applied(m, d, w, b)
        scale_body(m, d, wb, v, turn, force, torque)
    elif is_body_asleep(m, d, w, b):
        still_dofs(m, d, w, b)


@func
def still_dofs(m, d, w, b):
    """Dofs of a body that has fallen asleep: no acceleration."""
    for i in range(m.body_dofadr[b], m.body_dofadr[b] + m.body_dofnum[b]):
        d.qacc[w * m.nv + i] = 0.0


@func
def clear_body(m, d, wb):
    """Body wb of all worlds as one that does not move."""
    for c in ti.static(range(16)):
        d.lcp_body[BODY_SIZE * wb + c] = 0.0
    for c in ti.static(range(4)):
        d.lcp_scale[SCALE_SIZE * wb + c] = 0.0


@func
def scale_body(m, d, wb, v, turn, force, torque):
    """What a step begins with, of a body with these world velocities of its centre of mass and forces on that."""
    w = wb // m.nbody
    b = wb - w * m.nbody
    h = m.opt.timestep / d.lcp_substeps
    inertia = m.body_inertia[w, b]
    R = d.ximat[wb]
    spinning = R.transpose() @ turn
    if d.lcp_rotation != MIDPOINT:
        spinning = gyroscopic(inertia, spinning, m.opt.timestep)
    twisting = R.transpose() @ torque
    mass = ti.sqrt(m.body_mass[w, b])
    d.lcp_scale[SCALE_SIZE * wb] = 1.0 / mass
    for c in ti.static(range(3)):
        root = ti.sqrt(inertia[c])
        d.lcp_scale[SCALE_SIZE * wb + 1 + c] = 1.0 / root
        push, spin = h * force[c] / mass, h * twisting[c] / root
        d.lcp_push[TWIST_SIZE * wb + c] = push
        d.lcp_push[TWIST_SIZE * wb + 3 + c] = spin
        d.lcp_body[BODY_SIZE * wb + c] = mass * v[c] + push
        d.lcp_body[BODY_SIZE * wb + 3 + c] = root * spinning[c] + spin
        d.lcp_from[TWIST_SIZE * wb + c] = mass * v[c] + push
        d.lcp_from[TWIST_SIZE * wb + 3 + c] = root * spinning[c] + spin


@func
def applied(m, d, w, b):
    """World force on body b at its centre of mass, and torque: gravity, passive and applied forces."""
    i = w * m.nv + m.body_dofadr[b]
    wb = w * m.nbody + b
    f = d.xfrc_applied[wb]
    force, torque = vec3(f[0], f[1], f[2]), vec3(f[3], f[4], f[5])
    given = at3(d.qfrc_applied, i) + at3(d.qfrc_passive, i)
    torque += d.xmat[wb] @ (at3(d.qfrc_applied, i + 3) + at3(d.qfrc_passive, i + 3))
    torque -= (d.xipos[wb] - narrow(d.xpos[wb])).cross(given)
    force += given
    force += m.body_mass[w, b] * gravity_of(m, w)
    return force, torque


@ti.func
def gyroscopic(inertia, w, h):
    """Angular velocity behind the gyroscopic torque, as ODE has it: (I - h [I w]x) w' = I w, along principal axes."""
    H = inertia * w
    A = mat3(
        inertia[0], h * H[2], -h * H[1],
        -h * H[2], inertia[1], h * H[0],
        h * H[1], -h * H[0], inertia[2],
    )  # fmt: skip
    return A.inverse() @ H


@func
def next_substep(m, d, wb, last):
    """Way of a body in a substep; then, but for the last one, its velocity at the beginning of the next: with forces,
    and with what contacts changed in this one, where the next begins its search for impulses."""
    if d.lcp_scale[SCALE_SIZE * wb] > 0.0:  # it moves
        h = m.opt.timestep / d.lcp_substeps
        b, t = BODY_SIZE * wb, TWIST_SIZE * wb
        v = [d.lcp_body[b + c] for c in ti.static(range(6))]  # all is read before anything is written, as in visits.py
        way = [d.lcp_body[b + WAY + c] + h * v[c] for c in ti.static(range(6))]
        if not last:
            start = [v[c] + d.lcp_push[t + c] for c in ti.static(range(6))]
            carried = [start[c] + (v[c] - d.lcp_from[t + c]) for c in ti.static(range(6))]
            for c in ti.static(range(6)):
                d.lcp_body[b + c] = carried[c]
            for c in ti.static(range(6)):
                d.lcp_from[t + c] = start[c]
        for c in ti.static(range(6)):
            d.lcp_body[b + WAY + c] = way[c]


@func
def turn_body(m, d, wb, quat, last):
    """next_substep of a body whose inertia turns in each substep: by the midpoint's angular velocity for the angular
    momentum that it carries; what is given along its axes goes on along the new ones. Returns its frame's new
    quaternion for the old one."""
    w = wb // m.nbody
    b = wb - w * m.nbody
    h = m.opt.timestep / d.lcp_substeps
    inertia, local = m.body_inertia[w, b], m.body_iquat[w, b]
    roots = at3(d.lcp_scale, SCALE_SIZE * wb + 1)
    speed = at3(d.lcp_body, BODY_SIZE * wb + 3)
    turn = roots * speed
    H = inertia * turn
    half = quat_to_mat(turned(0.5 * h * turn))
    rotation = turned(h * (half @ ((half.transpose() @ H) / inertia)))
    back = quat_to_mat(rotation).transpose()
    way = (back @ (roots * at3(d.lcp_body, BODY_SIZE * wb + WAY + 3) + h * turn)) / roots
    start = ((back @ H) / inertia) / roots
    carried = roots * (back @ ((speed - at3(d.lcp_from, TWIST_SIZE * wb + 3)) / roots))
    push = roots * (back @ (at3(d.lcp_push, TWIST_SIZE * wb + 3) / roots))
    for c in ti.static(range(3)):
        v = d.lcp_body[BODY_SIZE * wb + c]
        d.lcp_body[BODY_SIZE * wb + WAY + c] = d.lcp_body[BODY_SIZE * wb + WAY + c] + h * v
        d.lcp_body[BODY_SIZE * wb + WAY + 3 + c] = way[c]
        d.lcp_body[BODY_SIZE * wb + 3 + c] = start[c]
        if not last:
            first = v + d.lcp_push[TWIST_SIZE * wb + c]
            d.lcp_body[BODY_SIZE * wb + c] = first + (v - d.lcp_from[TWIST_SIZE * wb + c])
            d.lcp_from[TWIST_SIZE * wb + c] = first
            d.lcp_push[TWIST_SIZE * wb + 3 + c] = push[c]
            d.lcp_body[BODY_SIZE * wb + 3 + c] = start[c] + push[c] + carried[c]
            d.lcp_from[TWIST_SIZE * wb + 3 + c] = start[c] + push[c]
    return normalize_quat(mul_quat(mul_quat(mul_quat(quat, local), rotation), conj_quat(local)))


@func
def end_body(m, d, wb):
    """qpos, qvel and qacc of body wb of all worlds behind a step."""
    w = wb // m.nbody
    b = wb - w * m.nbody
    if m.body_dofnum[b] > 0 and not is_body_asleep(m, d, w, b):
        rate = 1.0 / m.opt.timestep
        q, i = w * m.nq + m.jnt_qposadr[m.body_jntadr[b]], w * m.nv + m.body_dofadr[b]
        body, v, turn = moved(m, d, wb, normalize_quat(narrow(at4(d.qpos, q + 3))))
        arm = rotate(body, m.body_ipos[w, b])
        x = d.xipos[wb] + d.lcp_scale[SCALE_SIZE * wb] * at3(d.lcp_body, BODY_SIZE * wb + WAY) - arm
        v -= turn.cross(arm)
        turn = rotate(conj_quat(body), turn)
        for c in ti.static(range(4)):
            d.qpos[q + 3 + c] = body[c]
        for c in ti.static(range(3)):
            d.qpos[q + c] = x[c]
            d.qacc[i + c] = rate * (v[c] - d.qvel[i + c])
            d.qacc[i + 3 + c] = rate * (turn[c] - d.qvel[i + 3 + c])
            d.qvel[i + c] = v[c]
            d.qvel[i + 3 + c] = turn[c]


@func
def moved(m, d, wb, before):
    """(orientation, velocity of the centre of mass, angular velocity) of body wb behind a step, from its orientation
    before; "Rotation" in tisim/LCP.md."""
    w = wb // m.nbody
    b = wb - w * m.nbody
    h = m.opt.timestep
    scale = d.lcp_scale[SCALE_SIZE * wb]
    roots = at3(d.lcp_scale, SCALE_SIZE * wb + 1)
    v = scale * at3(d.lcp_body, BODY_SIZE * wb)
    turn, way = roots * at3(d.lcp_body, BODY_SIZE * wb + 3), roots * at3(d.lcp_body, BODY_SIZE * wb + WAY + 3)
    inertia = m.body_inertia[w, b]
    R = d.ximat[wb]
    local = m.body_iquat[w, b]
    old = mul_quat(before, local)
    new = old
    if d.lcp_rotation == MIDPOINT:
        H = inertia * turn
        half = quat_to_mat(turned(0.5 * way))
        way += h * (half @ ((half.transpose() @ H) / inertia) - turn)
        new = mul_quat(old, turned(way))
        S = quat_to_mat(new)
        turn = S @ ((S.transpose() @ (R @ H)) / inertia)
    else:
        turn = R @ turn
        if d.lcp_rotation == FINITE:
            new = mul_quat(old, turned(way))
        else:
            rest = way
            if d.lcp_rotation == AXLE:
                for c in ti.static(range(3)):
                    if c == axle_of(inertia):
                        rest[c] = 0.0
                new = mul_quat(old, turned(way - rest))
            rest = rotate(old, rest)
            new = normalize_quat(new + 0.5 * mul_quat(vec4(0.0, rest[0], rest[1], rest[2]), new))
    return normalize_quat(mul_quat(new, conj_quat(local))), v, turn


@ti.func
def turned(way):
    """Quaternion of a rotation vector [rad]; of a small one, as most are, by the series of cos and sin."""
    q = 0.25 * way.dot(way)
    turn = vec4(0.0)
    if q < SMALL:
        c = 1.0 - q / 90.0 * (1.0 - q / 132.0)
        c = 1.0 - q / 2.0 * (1.0 - q / 12.0 * (1.0 - q / 30.0 * (1.0 - q / 56.0 * c)))
        s = 1.0 - q / 110.0 * (1.0 - q / 156.0)
        s = 0.5 - q / 12.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0 * (1.0 - q / 72.0 * s)))
        turn = vec4(c, s * way[0], s * way[1], s * way[2])
    else:
        angle = way.norm()
        turn = axis_angle_to_quat(way / angle, angle)
    return turn


@ti.func
def axle_of(inertia):
    """The principal axis whose moment of inertia differs most from the mean of the others: a wheel's axle."""
    mean = (inertia[0] + inertia[1] + inertia[2]) / 3.0
    axis, most = 0, ti.abs(inertia[0] - mean)
    for c in ti.static(range(1, 3)):
        if ti.abs(inertia[c] - mean) > most:
            axis, most = c, ti.abs(inertia[c] - mean)
    return axis
