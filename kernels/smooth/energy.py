"""Potential and kinetic energy."""

from ..constants import DSBL_GRAVITY, DSBL_SPRING
from ..types import FP, kernel, ti, vec3
from .kinematics import BLOCK
from .passive import spring_stretch


@kernel
def block_energy(m, d):
    """Energies of fixed blocks of bodies; parallel over worlds and blocks."""
    nblock = (m.nbody + BLOCK - 1) // BLOCK
    gravity = vec3(m.opt.gravity)
    if m.opt.disableflags & DSBL_GRAVITY != 0:
        gravity = vec3(0.0, 0.0, 0.0)
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wk in range(d.nworld * nblock):
        w = wk // nblock
        first = (wk - w * nblock) * BLOCK
        potential = ti.cast(0.0, FP)
        kinetic = ti.cast(0.0, FP)
        for i in range(ti.max(first, 1), ti.min(first + BLOCK, m.nbody)):
            potential -= m.body_mass[i] * gravity.dot(d.xipos[w * m.nbody + i])
            for j in range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i]):
                if m.jnt_stiffness[j] != 0.0 and m.opt.disableflags & DSBL_SPRING == 0:
                    q = m.jnt_qposadr[j]
                    s = spring_stretch(m, d, m.jnt_type[j], w * m.nq + q, q)
                    potential += 0.5 * m.jnt_stiffness[j] * s.dot(s)
            for k in range(m.body_dofadr[i], m.body_dofadr[i] + m.body_dofnum[i]):
                last = m.M_rowadr[k] + m.M_rownnz[k] - 1
                momentum = 0.5 * d.M[w * m.nC + last] * d.qvel[w * m.nv + k]
                for p in range(m.M_rowadr[k], last):
                    momentum += d.M[w * m.nC + p] * d.qvel[w * m.nv + m.M_colind[p]]
                kinetic += momentum * d.qvel[w * m.nv + k]
        d.body_block[w * m.nbody + first // BLOCK][0] = potential
        d.body_block[w * m.nbody + first // BLOCK][1] = kinetic


@kernel
def world_energy(m, d):
    """Sum of the blocks' energies; parallel over worlds."""
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for w in range(d.nworld):
        potential = ti.cast(0.0, FP)
        kinetic = ti.cast(0.0, FP)
        for k in range(w * m.nbody, w * m.nbody + (m.nbody + BLOCK - 1) // BLOCK):
            potential += d.body_block[k][0]
            kinetic += d.body_block[k][1]
        d.energy[w][0] = potential
        d.energy[w][1] = kinetic
