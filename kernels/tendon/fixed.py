"""Fixed tendons: lengths that are linear in joints. Seed 000, "Tendons"; seed 001, "fixed"."""

from ..constants import JAC_AUTO, JAC_DENSE, SPARSE_NV, TASK_FIXED
from ..sleep.awake import task_at, task_count
from ..types import FP, SERIAL, kernel, narrow, ti


@kernel
def fixed_tendons(m, d):
    """Length, Jacobian and velocity of each fixed tendon; parallel over (world, fixed tendon)."""
    n_task = task_count(m, d, TASK_FIXED, m.nfixed)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_FIXED, place)
        w = x // m.nfixed
        t = m.fixed_tendon[x % m.nfixed]
        length = FP(0.0)
        velocity = FP(0.0)
        for a in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
            i = m.tendon_Jdof[a]
            entry = m.tendon_coef[a]
            length += entry * narrow(d.qpos[w * m.nq + m.jnt_qposadr[m.dof_jntid[i]]])
            # a dense Jacobian has the last coefficient of a joint that is named twice, in MuJoCo
            if m.opt.jacobian == JAC_DENSE or (m.opt.jacobian == JAC_AUTO and m.nv < SPARSE_NV):
                entry = m.tendon_last[a]
            d.ten_J[w * m.ntendonJ + a] = entry
            velocity += entry * d.qvel[w * m.nv + i]
        d.ten_length[w * m.ntendon + t] = length
        d.ten_velocity[w * m.ntendon + t] = velocity
