"""Potential and kinetic energy."""

from ..constants import DSBL_SPRING
from ..sleep.awake import is_body_asleep, is_body_gone
from ..types import FP, SERIAL, func, kernel, ti
from .gravity import gravity_of
from .kinematics import BLOCK
from .passive import spring_stretch


@kernel
def block_energy(m, d):
    """Energies of fixed blocks of bodies, as in MuJoCo without sleeping springs; parallel over worlds and blocks."""
    nblock = (m.nbody + BLOCK - 1) // BLOCK
    ti.loop_config(serialize=SERIAL)
    for wk in range(d.nworld * nblock):
        w = wk // nblock
        gravity = gravity_of(m, w)
        first = (wk - w * nblock) * BLOCK
        potential = FP(0.0)
        kinetic = FP(0.0)
        for b in range(ti.max(first, 1), ti.min(first + BLOCK, m.nbody)):
            if not is_body_gone(m, d, w, b):
                potential -= m.body_mass[w, b] * gravity.dot(d.xipos[w * m.nbody + b])
                if m.opt.disableflags & DSBL_SPRING == 0 and not is_body_asleep(m, d, w, b):
                    for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
                        potential += spring_energy(m, d, w, j)
                for k in range(m.body_dofadr[b], m.body_dofadr[b] + m.body_dofnum[b]):
                    kinetic += kinetic_energy(m, d, w, k)
        d.body_block[w * m.nbody + first // BLOCK][0] = potential
        d.body_block[w * m.nbody + first // BLOCK][1] = kinetic


@kernel
def no_energy(m, d):
    """Energies of 0, where they were computed for sensors alone; parallel over worlds."""
    ti.loop_config(serialize=SERIAL)
    for w in range(d.nworld):
        d.energy[w][0] = 0.0
        d.energy[w][1] = 0.0


@func
def spring_energy(m, d, w, j):
    """Energy in the spring of joint j."""
    e = FP(0.0)
    if m.jnt_stiffness[w, j] != 0.0:
        s = spring_stretch(m, d, w, j)
        e = 0.5 * m.jnt_stiffness[w, j] * s.dot(s)
    return e


@func
def kinetic_energy(m, d, w, k):
    """What row k of M, which ends at the diagonal, adds to qvel' M qvel / 2."""
    last = w * m.nC + m.M_rowadr[k] + m.M_rownnz[k] - 1
    s = 0.5 * d.M[last] * d.qvel[w * m.nv + k]
    for p in range(m.M_rowadr[k], m.M_rowadr[k] + m.M_rownnz[k] - 1):
        s += d.M[w * m.nC + p] * d.qvel[w * m.nv + m.M_colind[p]]
    return s * d.qvel[w * m.nv + k]


@kernel
def world_energy(m, d):
    """Sum of the blocks' energies; parallel over worlds."""
    ti.loop_config(serialize=SERIAL)
    for w in range(d.nworld):
        potential = FP(0.0)
        kinetic = FP(0.0)
        for k in range(w * m.nbody, w * m.nbody + (m.nbody + BLOCK - 1) // BLOCK):
            potential += d.body_block[k][0]
            kinetic += d.body_block[k][1]
        d.energy[w][0] = potential
        d.energy[w][1] = kinetic
