"""Lengths and velocities of fixed tendons, and their Jacobians. Seed 000, "Tendons"; seed 001, "fixed"."""

from ..types import FP, SERIAL, kernel, ti


@kernel
def tendon_lengths(m, d):
    """Length and Jacobian of each fixed tendon, linear in its joints; parallel over (world, tendon)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.ntendon):
        w = k // m.ntendon
        t = k % m.ntendon
        length = FP(0.0)
        for a in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
            j = m.dof_jntid[m.tendon_Jdof[a]]
            length += m.tendon_coef[a] * d.qpos[w * m.nq + m.jnt_qposadr[j]]
            d.ten_J[w * m.ntendonJ + a] = m.tendon_coef[a]
        d.ten_length[k] = length


@kernel
def tendon_velocities(m, d):
    """Velocity of each tendon, J qvel; parallel over (world, tendon)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.ntendon):
        w = k // m.ntendon
        t = k % m.ntendon
        s = FP(0.0)
        for a in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
            s += d.ten_J[w * m.ntendonJ + a] * d.qvel[w * m.nv + m.tendon_Jdof[a]]
        d.ten_velocity[k] = s
