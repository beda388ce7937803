"""Controls, activations and forces of actuators, and their sum at each dof. Seed 000, "Actuation model"."""

from ..constants import (
    BIAS_AFFINE,
    BIAS_NONE,
    DSBL_ACTUATION,
    DSBL_CLAMPCTRL,
    DSBL_GRAVITY,
    DYN_FILTER,
    DYN_FILTEREXACT,
    DYN_INTEGRATOR,
    GAIN_AFFINE,
    GAIN_FIXED,
    SLIDE,
    TASK_ACTUATOR,
    TASK_CLAMPED,
    TASK_DRIVEN,
    TASK_FORCE_TENDON,
    TRN_TENDON,
    WARN_BADCTRL,
)
from ..sleep.awake import task_at, task_count
from ..types import FP, MINVAL, SERIAL, func, kernel, ti
from .muscle import clip

LAST_INFO = 8  # where the last infos begin in a row of warnings
MAXVAL = 1e10  # mjMAXVAL: a larger control counts as wrong


@func
def is_off(m, i):
    """1 if the group of actuator i is switched off."""
    group = m.actuator_group[i]
    off = 0
    if group >= 0 and group < 31:
        off = m.opt.disableactuator >> group & 1
    return off


@kernel
def clamp_controls(m, d):
    """Controls within their ranges, and the first of each world that is not finite or huge; parallel over (world,
    actuator)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nu):
        w = k // m.nu
        i = k - w * m.nu
        u = d.ctrl[k]
        if m.actuator_ctrllimited[i] != 0 and m.opt.disableflags & DSBL_CLAMPCTRL == 0:
            u = clip(u, m.actuator_ctrlrange[w, i][0], m.actuator_ctrlrange[w, i][1])
        d.actuator_ctrl[k] = u
        if not ti.abs(u) <= MAXVAL:
            if m.opt.disableflags & DSBL_ACTUATION == 0:
                ti.atomic_max(d.bad_ctrl[w], m.nu - i)


@kernel
def drop_controls(m, d):
    """All controls of a world are 0 where one is wrong, which is counted; parallel over worlds."""
    ti.loop_config(serialize=SERIAL)
    for w in range(d.nworld):
        if d.bad_ctrl[w] > 0:
            for i in range(m.nu):
                d.actuator_ctrl[w * m.nu + i] = 0.0
            d.warning[w][WARN_BADCTRL] = d.warning[w][WARN_BADCTRL] + 1
            d.warning[w][LAST_INFO + WARN_BADCTRL] = m.nu - d.bad_ctrl[w]
            d.bad[w][3] = d.bad_ctrl[w]
            d.bad_ctrl[w] = 0


@func
def next_activation(m, d, i, a, rate):
    """Element a of act of actuator i one timestep on, at this rate."""
    act = d.act[a]
    if m.actuator_dyntype[i] == DYN_FILTEREXACT:
        tau = ti.max(MINVAL, m.actuator_dynprm[i][0])
        act += rate * tau * (1.0 - ti.exp(-m.opt.timestep / tau))
    else:
        act += rate * m.opt.timestep
    if m.actuator_actlimited[i] != 0:
        act = clip(act, m.actuator_actrange[i][0], m.actuator_actrange[i][1])
    return act


@func
def input_of(m, d, k, i, adr):
    """What the gain of actuator i multiplies: its control, or the last of its activations; writes the rate of the
    latter, unless it is a muscle's or the user's."""
    value = d.actuator_ctrl[k]
    if m.actuator_actadr[i] >= 0:
        a = adr + m.actuator_actnum[i] - 1
        kind = m.actuator_dyntype[i]
        if kind == DYN_INTEGRATOR:
            d.act_dot[a] = value
        elif kind == DYN_FILTER or kind == DYN_FILTEREXACT:
            d.act_dot[a] = (value - d.act[a]) / ti.max(MINVAL, m.actuator_dynprm[i][0])
        value = d.act[a]
        if m.actuator_actearly[i] != 0:
            value = next_activation(m, d, i, a, d.act_dot[a])
    return value


@func
def limited_force(m, w, i, force):
    """A force of actuator i of world w within its range."""
    f = force
    if m.actuator_forcelimited[i] != 0:
        f = clip(force, m.actuator_forcerange[w, i][0], m.actuator_forcerange[w, i][1])
    return f


@kernel
def actuator_forces(m, d):
    """Rates of activations, and forces: gain times input plus bias; parallel over (world, actuator)."""
    n_task = task_count(m, d, TASK_ACTUATOR, m.nu)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        k = task_at(m, d, TASK_ACTUATOR, place)
        w = k // m.nu
        i = k % m.nu
        force = FP(0.0)
        if m.opt.disableflags & DSBL_ACTUATION == 0:
            value = input_of(m, d, k, i, w * m.na + m.actuator_actadr[i])
            if is_off(m, i) == 0:
                length = d.actuator_length[k]
                velocity = d.actuator_velocity[k]
                gain = m.actuator_gainprm[w, i][0]
                if m.actuator_gaintype[i] == GAIN_AFFINE:
                    gain += m.actuator_gainprm[w, i][1] * length + m.actuator_gainprm[w, i][2] * velocity
                elif m.actuator_gaintype[i] != GAIN_FIXED:
                    gain = d.actuator_gain[k]
                bias = FP(0.0)
                if m.actuator_biastype[i] == BIAS_AFFINE:
                    prm = m.actuator_biasprm[w, i]
                    bias = prm[0] + prm[1] * length + prm[2] * velocity
                elif m.actuator_biastype[i] != BIAS_NONE:
                    bias = d.actuator_bias[k]
                force = gain * value + bias
            shared = 0
            if m.actuator_trntype[i] == TRN_TENDON:
                shared = ti.cast(m.tendon_actfrclimited[m.actuator_trnid[i][0]], ti.i32)
            if shared == 0:
                force = limited_force(m, w, i, force)
        d.actuator_force[k] = force


@kernel
def limit_tendon_forces(m, d):
    """Forces of actuators of a tendon whose total is limited are scaled together, then clipped; parallel over (world,
    such tendon)."""
    n_task = task_count(m, d, TASK_FORCE_TENDON, m.nforcetendon)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_FORCE_TENDON, place)
        w = x // m.nforcetendon
        n = x % m.nforcetendon
        t = m.force_tendon[n]
        total = FP(0.0)
        for e in range(m.puller_adr[n], m.puller_adr[n + 1]):
            total += d.actuator_force[w * m.nu + m.puller[e]]
        scale = FP(1.0)
        if total < m.tendon_actfrcrange[t][0]:
            scale = m.tendon_actfrcrange[t][0] / total
        elif total > m.tendon_actfrcrange[t][1]:
            scale = m.tendon_actfrcrange[t][1] / total
        if m.opt.disableflags & DSBL_ACTUATION == 0:
            for e in range(m.puller_adr[n], m.puller_adr[n + 1]):
                k = w * m.nu + m.puller[e]
                d.actuator_force[k] = limited_force(m, w, m.puller[e], scale * d.actuator_force[k])


@kernel
def driven_forces(m, d):
    """qfrc_actuator: what the actuators do at each dof, in their order; parallel over (world, dof)."""
    n_task = task_count(m, d, TASK_DRIVEN, m.ndriven)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_DRIVEN, place)
        w = x // m.ndriven
        n = x % m.ndriven
        force = FP(0.0)
        for e in range(m.drive_adr[n], m.drive_adr[n + 1]):
            force += d.moment[w * m.nmoment + m.drive_entry[e]] * d.actuator_force[w * m.nu + m.drive_actuator[e]]
        d.qfrc_actuator[w * m.nv + m.driven_dof[n]] = force


@kernel
def clamp_joint_forces(m, d):
    """Gravity compensation by actuators, and limits of the total force at a joint; parallel over (world, dof)."""
    n_task = task_count(m, d, TASK_CLAMPED, m.nclamped)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_CLAMPED, place)
        k = m.clamped_dof[x % m.nclamped]
        i = x // m.nclamped * m.nv + k
        j = m.dof_jntid[k]
        if m.opt.disableflags & DSBL_ACTUATION == 0:
            force = d.qfrc_actuator[i]
            if m.jnt_actgravcomp[j] != 0 and m.opt.disableflags & DSBL_GRAVITY == 0:
                force += d.qfrc_gravcomp[i]
            if m.jnt_actfrclimited[j] != 0 and m.jnt_type[j] >= SLIDE:
                force = clip(force, m.jnt_actfrcrange[j][0], m.jnt_actfrcrange[j][1])
            d.qfrc_actuator[i] = force


@kernel
def advance_activations(m, d):
    """Activations one timestep on; those of a group that is switched off do not change, but are clamped. Parallel over
    (world, actuator), those of sleepers, too, as in MuJoCo. Where trees fell asleep it is done (`settle` of
    tisim/stages/sleep.py): d.nacted is 1 then, and rk_act has what comes out."""
    n = d.nworld * m.nu
    done = 0
    if ti.static(m.has.sleep):
        done = d.nacted
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        i = k % m.nu
        if m.actuator_actadr[i] >= 0 and m.opt.disableflags & DSBL_ACTUATION == 0:
            adr = k // m.nu * m.na + m.actuator_actadr[i]
            on = ti.cast(1 - is_off(m, i), FP)
            for a in range(adr, adr + m.actuator_actnum[i]):
                if done == 0:
                    d.act[a] = next_activation(m, d, i, a, on * d.act_dot[a])
                if ti.static(m.has.sleep):
                    if done == 1:
                        d.act[a] = d.rk_act[a]
    if ti.static(m.has.sleep):
        ti.loop_config(serialize=True)
        for _ in range(1):
            d.nacted = 0
