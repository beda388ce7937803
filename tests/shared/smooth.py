"""What tests of smooth dynamics share: the models, constraints off, and a state given to both engines."""

import pathlib

import numpy as np

from tisim import set_state
from tisim.enums import mjtDisableBit

MODELS = sorted((pathlib.Path(__file__).parent.parent / "testdata" / "dynamics").glob("*.xml"))
STATE = 8191  # mjSTATE_INTEGRATION


def without_constraints(m):
    """The model with the constraint flag off, so that step() and forward() are smooth dynamics alone."""
    m.opt.disableflags = int(m.opt.disableflags) | int(mjtDisableBit.mjDSBL_CONSTRAINT)
    return m


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
