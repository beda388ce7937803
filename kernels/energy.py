"""Potential and kinetic energy."""

from tisim.kernels.constants import DSBL_GRAVITY, DSBL_SPRING
from tisim.kernels.kinematics import BLOCK
from tisim.kernels.passive import spring_stretch
from tisim.kernels.types import FP, F, I, kernel, ld3, ti, vec3


@kernel
def block_energy(
    nworld: ti.i32, nbody: ti.i32, nv: ti.i32, nq: ti.i32, nC: ti.i32, disableflags: ti.i32,
    gravity_x: FP, gravity_y: FP, gravity_z: FP,
    qpos: F, qvel: F, qpos_spring: F, body_mass: F, body_jntnum: I, body_jntadr: I, body_dofnum: I, body_dofadr: I,
    jnt_type: I, jnt_qposadr: I, jnt_stiffness: F, M_rownnz: I, M_rowadr: I, M_colind: I, xipos: F, M: F,
    body_block: F,
):  # fmt: skip
    """Energies of fixed blocks of bodies; parallel over worlds and blocks."""
    nblock = (nbody + BLOCK - 1) // BLOCK
    gravity = vec3(gravity_x, gravity_y, gravity_z)
    if (disableflags & DSBL_GRAVITY) != 0:
        gravity = vec3(0.0, 0.0, 0.0)
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wk in range(nworld * nblock):
        w = wk // nblock
        first = (wk - w * nblock) * BLOCK
        potential = ti.cast(0.0, FP)
        kinetic = ti.cast(0.0, FP)
        for i in range(ti.max(first, 1), ti.min(first + BLOCK, nbody)):
            potential -= body_mass[i] * gravity.dot(ld3(xipos, w * nbody + i))
            for j in range(body_jntadr[i], body_jntadr[i] + body_jntnum[i]):
                if jnt_stiffness[j] != 0.0 and (disableflags & DSBL_SPRING) == 0:
                    q = jnt_qposadr[j]
                    s = spring_stretch(jnt_type[j], w * nq + q, q, qpos, qpos_spring)
                    potential += 0.5 * jnt_stiffness[j] * s.dot(s)
            for k in range(body_dofadr[i], body_dofadr[i] + body_dofnum[i]):
                last = M_rowadr[k] + M_rownnz[k] - 1
                momentum = 0.5 * M[w * nC + last] * qvel[w * nv + k]
                for p in range(M_rowadr[k], last):
                    momentum += M[w * nC + p] * qvel[w * nv + M_colind[p]]
                kinetic += momentum * qvel[w * nv + k]
        body_block[3 * (w * nbody + first // BLOCK)] = potential
        body_block[3 * (w * nbody + first // BLOCK) + 1] = kinetic


@kernel
def world_energy(nworld: ti.i32, nbody: ti.i32, body_block: F, energy: F):
    """Sum of the blocks' energies; parallel over worlds."""
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for w in range(nworld):
        potential = ti.cast(0.0, FP)
        kinetic = ti.cast(0.0, FP)
        for k in range(w * nbody, w * nbody + (nbody + BLOCK - 1) // BLOCK):
            potential += body_block[3 * k]
            kinetic += body_block[3 * k + 1]
        energy[2 * w] = potential
        energy[2 * w + 1] = kinetic
