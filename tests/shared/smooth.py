"""What tests of smooth dynamics share: the models, a step without constraints, and a state given to both engines."""

import pathlib

import numpy as np

from tisim import dynamics, set_state

MODELS = sorted((pathlib.Path(__file__).parent.parent / "testdata" / "dynamics").glob("*.xml"))
STATE = 8191  # mjSTATE_INTEGRATION


def smooth_forward(m, d):
    """The stages of forward() that need no contacts and no solver; qacc becomes qacc_smooth."""
    dynamics.fwd_position(m, d)
    dynamics.fwd_velocity(m, d)
    dynamics.energy(m, d)
    dynamics.fwd_acceleration(m, d)
    d.qacc = np.asarray(d.qacc_smooth)


def smooth_step(m, d):
    """step() without constraints."""
    dynamics.check_state(m, d)
    smooth_forward(m, d)
    if dynamics.check_acceleration(m, d):
        smooth_forward(m, d)
    dynamics.euler(m, d)


def random_state(mm, dd, rng):
    """Fills mujoco's data with a random state, forces on dofs and bodies, and moved mocap bodies."""
    import mujoco

    mujoco.mj_resetData(mm, dd)
    dd.qpos[:] += 0.5 * rng.normal(size=mm.nq)
    dd.qvel[:] = rng.normal(size=mm.nv)
    dd.qfrc_applied[:] = rng.normal(size=mm.nv)
    dd.xfrc_applied[:] = rng.normal(size=(mm.nbody, 6)) * (rng.random((mm.nbody, 1)) < 0.5)
    dd.mocap_pos[:] += rng.normal(size=dd.mocap_pos.shape)
    dd.mocap_quat[:] += rng.normal(size=dd.mocap_quat.shape)
    dd.time = rng.random()


def copy_state(mm, dd, m, d):
    """Gives mujoco's state to tisim."""
    import mujoco

    values = np.zeros(mujoco.mj_stateSize(mm, STATE))
    mujoco.mj_getState(mm, dd, values, STATE)
    set_state(m, d, values, STATE)
