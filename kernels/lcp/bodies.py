"""Bodies of the second dynamics: scaled velocities before a step, poses and velocities behind it.

A body's velocity is sqrt(m) v of its centre of mass and sqrt(I) w along its principal axes when the step begins, so
that its mass is 1 (lcp_body, with the way since then, scaled alike); 0 for what does not move. The ways to turn one are
in tisim/LCP.md, "Rotation".
"""

from ..rotation import at3, conj_quat, mul_quat, normalize_quat, quat_to_mat
from ..sleep.awake import is_body_asleep
from ..smooth.gravity import gravity_of
from ..types import func, mat3, narrow, ti, vec3
from .turns import turned

# numbers of a body in lcp_body, its way behind its velocity; in lcp_from and lcp_push; in lcp_scale
BODY_SIZE, WAY, TWIST_SIZE, SCALE_SIZE = 16, 8, 8, 4
# and in lcp_arm, for the records of its contacts: principal axes and mass, scaled so, then its centre of mass
ARM_SIZE, ARM_MASS, ARM_PLACE = 16, 9, 10
MIDPOINT, FINITE, INFINITESIMAL, AXLE = 0, 1, 2, 3  # m.lcp.rotation


@func
def begin_body(m, d, wb):
    """lcp_body, lcp_from, lcp_push, lcp_scale, lcp_arm of body wb of all worlds before a step."""
    w = wb // m.nbody
    b = wb - w * m.nbody
    clear_body(m, d, wb)
    if m.body_dofnum[b] > 0 and not is_body_asleep(m, d, w, b):
        v, turn = velocity_of(m, d, w, b)
        force, torque = applied(m, d, w, b)
        scale_body(m, d, wb, v, turn, force, torque)
    elif is_body_asleep(m, d, w, b):
        still_dofs(m, d, w, b)


@func
def velocity_of(m, d, w, b):
    """World velocity of the centre of mass of a body with a free joint, and angular velocity."""
    i = w * m.nv + m.body_dofadr[b]
    wb = w * m.nbody + b
    turn = d.xmat[wb] @ at3(d.qvel, i + 3)
    return at3(d.qvel, i) + turn.cross(d.xipos[wb] - narrow(d.xpos[wb])), turn


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
    for c in ti.static(range(ARM_PLACE)):
        d.lcp_arm[ARM_SIZE * wb + c] = 0.0


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
    per_mass = 1.0 / mass
    d.lcp_scale[SCALE_SIZE * wb] = per_mass
    d.lcp_arm[ARM_SIZE * wb + ARM_MASS] = per_mass
    for c in ti.static(range(3)):
        root = ti.sqrt(inertia[c])
        per_root = 1.0 / root
        d.lcp_scale[SCALE_SIZE * wb + 1 + c] = per_root
        for e in ti.static(range(c, ARM_MASS, 3)):
            d.lcp_arm[ARM_SIZE * wb + e] = per_root * R[e // 3, c]
        d.lcp_arm[ARM_SIZE * wb + ARM_PLACE + c] = d.xipos[wb][c]
        push, spin = h * force[c] * per_mass, h * twisting[c] * per_root
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
