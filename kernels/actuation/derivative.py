"""Derivatives of the forces of tendons' dampers and of actuators by velocity, added to those of derivative.py.

What acts along a sparse row r with a force that changes by k with the velocity r qvel adds k r_i r_j for each pair of
dofs; as in MuJoCo, those of which one is the other's ancestor. Seed 000, "Numerical integration".
"""

from ..constants import BIAS_AFFINE, DSBL_ACTUATION, DSBL_DAMPER, GAIN_AFFINE, GAIN_MUSCLE, TASK_ACTUATOR, TASK_TENDON
from ..sleep.awake import is_awake
from ..types import FP, MINVAL, SERIAL, func, kernel, ti
from .adhesion import press
from .force import is_off
from .muscle import bump, normal_length, peak_force


@kernel
def joined_derivative(m, d):
    """Adds to qDeriv_row and qDeriv_col; parallel over worlds."""
    ti.loop_config(serialize=SERIAL)
    for w in range(d.nworld):
        if m.opt.disableflags & DSBL_DAMPER == 0:
            for t in range(m.ntendon):
                if m.tendon_damping[t] != 0.0 and is_awake(m, d, TASK_TENDON, w, t):
                    first = m.tendon_Jadr[t]
                    o = w * m.ntendonJ
                    add_row(m, d, w, -m.tendon_damping[t], first, m.tendon_Jnum[t], m.tendon_Jdof, d.ten_J, o)
        if m.opt.disableflags & DSBL_ACTUATION == 0:
            for i in range(m.nu):
                k = force_rate(m, d, w, i)
                if k != 0.0 and is_awake(m, d, TASK_ACTUATOR, w, i):
                    add_row(m, d, w, k, m.moment_adr[i], m.moment_num[i], m.moment_dof, d.moment, w * m.nmoment)


@kernel
def body_derivative(m, d):
    """Adds what actuators of bodies do, whose row is the mean over their contacts; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        if m.opt.disableflags & DSBL_ACTUATION == 0:
            for x in range(d.nworld * m.nadhesion):
                w = x // m.nadhesion
                i = m.adhesion[x % m.nadhesion]
                n = ti.cast(d.adhesion_ncon[x], FP)
                k = force_rate(m, d, w, i)
                if k != 0.0 and n > 0.0 and is_awake(m, d, TASK_ACTUATOR, w, i):
                    sum_row(m, d, w, m.actuator_trnid[i][0])
                    add_whole_row(m, d, w, k / (n * n))


@func
def sum_row(m, d, w, b):
    """adhesion_row: by qvel it gives the sum of the velocities at which the contacts of body b close."""
    for i in range(m.nv):
        d.adhesion_row[w * m.nv + i] = 0.0
    for c in range(d.ncon):
        if d.contact_worldid[c] == w and d.contact_exclude[c] <= 1:
            g = d.contact_geom[c]
            if m.geom_bodyid[g[0]] == b or m.geom_bodyid[g[1]] == b:
                press(m, d, c, FP(1.0), d.adhesion_row)


@func
def add_whole_row(m, d, w, k):
    """Adds k r' r, where r is adhesion_row."""
    o = w * m.nv
    for low in range(m.nv):
        if d.adhesion_row[o + low] != 0.0:
            p = w * m.nM + m.dof_Madr[low]
            a = low
            while a >= 0:
                change = k * d.adhesion_row[o + low] * d.adhesion_row[o + a]
                d.qDeriv_row[p] = d.qDeriv_row[p] + change
                d.qDeriv_col[p] = d.qDeriv_col[p] + change
                a = m.dof_parentid[a]
                p += 1


@func
def add_row(m, d, w, k, first, num, dof: ti.template(), row: ti.template(), o):
    """Adds k r' r, where r has `num` entries row[o + first ...] at the dofs dof[first ...]."""
    for e in range(first, first + num):
        low = dof[e]
        p = w * m.nM + m.dof_Madr[low]
        a = low
        while a >= 0:
            for f in range(first, first + num):
                if dof[f] == a:
                    change = k * row[o + e] * row[o + f]
                    d.qDeriv_row[p] = d.qDeriv_row[p] + change
                    d.qDeriv_col[p] = d.qDeriv_col[p] + change
            a = m.dof_parentid[a]
            p += 1


@func
def force_rate(m, d, w, i):
    """Change of the force of actuator i with its velocity; as in 3.4.0 also where the force is at a limit, and with
    neither clamped controls nor next activations.
    """
    k = w * m.nu + i
    rate = FP(0.0)
    if is_off(m, i) == 0:
        gain = FP(0.0)
        if m.actuator_biastype[i] == BIAS_AFFINE:
            rate = m.actuator_biasprm[w, i][2]
        if m.actuator_gaintype[i] == GAIN_AFFINE:
            gain = m.actuator_gainprm[w, i][2]
        elif m.actuator_gaintype[i] == GAIN_MUSCLE:
            gain = muscle_rate(m, d, w, k, i)
        if gain != 0.0:
            value = d.ctrl[k]
            if m.actuator_actadr[i] >= 0:
                value = d.act[w * m.na + m.actuator_actadr[i] + m.actuator_actnum[i] - 1]
            rate += gain * value
    return rate


@func
def muscle_rate(m, d, w, k, i):
    """Change of a muscle's gain with its velocity."""
    low, high = m.actuator_lengthrange[i][0], m.actuator_lengthrange[i][1]
    length, optimal = normal_length(m.actuator_gainprm, w, i, d.actuator_length[k], low, high)
    fastest = ti.max(MINVAL, optimal * m.actuator_gainprm[w, i][6])
    velocity = d.actuator_velocity[k] / fastest
    most = m.actuator_gainprm[w, i][8] - 1.0
    slope = FP(0.0)
    if velocity <= -1.0:
        slope = 0.0
    elif velocity <= 0.0:
        slope = 2.0 * velocity + 2.0
    elif velocity <= most:
        slope = 2.0 * (most - velocity) / ti.max(MINVAL, most)
    force = peak_force(m.actuator_gainprm, w, i, m.actuator_acc0[w, i])
    force *= bump(length, m.actuator_gainprm[w, i][4], m.actuator_gainprm[w, i][5])
    return -force * slope / fastest
