"""Springs with a dead band and dampers of tendons. Seed 000, "Passive forces"; seed 001, "spatial"."""

from ..constants import DSBL_DAMPER, DSBL_SPRING, TASK_PULLED, TASK_SPRINGY, TASK_TENDON
from ..sleep.awake import task_at, task_count
from ..types import FP, SERIAL, func, kernel, ti


@func
def tendon_stretch(m, d, w, t):
    """By how much tendon t of world w is longer or shorter than its spring likes: 0 within the dead band."""
    length = d.ten_length[w * m.ntendon + t]
    low = m.tendon_lengthspring[t][0]
    high = m.tendon_lengthspring[t][1]
    return ti.max(length - high, FP(0.0)) + ti.min(length - low, FP(0.0))


@kernel
def tendon_velocities(m, d):
    """ten_velocity where the Jacobians are known and stand; parallel over (world, tendon)."""
    n_task = task_count(m, d, TASK_TENDON, m.ntendon)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        k = task_at(m, d, TASK_TENDON, place)
        w = k // m.ntendon
        t = k - w * m.ntendon
        velocity = FP(0.0)
        for a in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
            velocity += d.ten_J[w * m.ntendonJ + a] * d.qvel[w * m.nv + m.tendon_Jdof[a]]
        d.ten_velocity[k] = velocity


@kernel
def tendon_passive(m, d):
    """Forces of springs and dampers, then their sum at each dof; parallel over (world, tendon), (world, dof)."""
    has_spring = ti.select(m.opt.disableflags & DSBL_SPRING == 0, FP(1.0), FP(0.0))
    has_damper = ti.select(m.opt.disableflags & DSBL_DAMPER == 0, FP(1.0), FP(0.0))
    n_task = task_count(m, d, TASK_SPRINGY, m.nspringy)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_SPRINGY, place)
        w = x // m.nspringy
        t = m.springy_tendon[x % m.nspringy]
        k = w * m.ntendon + t
        d.ten_spring[k] = -has_spring * m.tendon_stiffness[t] * tendon_stretch(m, d, w, t)
        d.ten_damper[k] = -has_damper * m.tendon_damping[t] * d.ten_velocity[k]
    n_task = task_count(m, d, TASK_PULLED, m.npulled)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_PULLED, place)
        w = x // m.npulled
        n = x % m.npulled
        spring = FP(0.0)
        damper = FP(0.0)
        for e in range(m.pull_adr[n], m.pull_adr[n + 1]):
            k = w * m.ntendon + m.pull_tendon[e]
            entry = d.ten_J[w * m.ntendonJ + m.pull_entry[e]]
            spring += entry * d.ten_spring[k]
            damper += entry * d.ten_damper[k]
        i = w * m.nv + m.pulled_dof[n]
        d.qfrc_spring[i] = d.qfrc_spring[i] + spring
        d.qfrc_damper[i] = d.qfrc_damper[i] + damper
        d.qfrc_passive[i] = d.qfrc_passive[i] + spring + damper


@kernel
def tendon_energy(m, d):
    """Energy in the springs of tendons, added to that of joints and gravity; parallel over worlds."""
    ti.loop_config(serialize=SERIAL)
    for w in range(d.nworld):
        if m.opt.disableflags & DSBL_SPRING == 0:
            e = FP(0.0)
            for x in range(m.nspringy):
                t = m.springy_tendon[x]
                stretch = tendon_stretch(m, d, w, t)
                e += 0.5 * m.tendon_stiffness[t] * stretch * stretch
            d.energy[w][0] = d.energy[w][0] + e
