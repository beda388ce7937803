"""From the same state, every quantity of smooth dynamics and one Euler step are MuJoCo 3.4.0's.

f64 on the CPU, error relative to the largest value of the quantity: 1e-10 for the stages, 1e-12 for the step. The
random states have quaternions that are not unit, wrenches on bodies and moved mocap bodies.
"""

import mujoco
import numpy as np
import pytest
from shared.smooth import MODELS, copy_state, random_state, without_constraints

import tisim
from tisim.stages import integrators

STAGES = """xpos xquat xmat xipos ximat xanchor xaxis geom_xpos geom_xmat site_xpos site_xmat subtree_com cinert cdof
crb M qLD qLDiagInv cvel cdof_dot qfrc_bias qfrc_spring qfrc_damper qfrc_gravcomp qfrc_passive qfrc_smooth qacc_smooth
energy""".split()
NO_CONSTRAINT, SPRING, DAMPER, GRAVITY, EULERDAMP, ENERGY = 1, 32, 64, 128, 32768, 2


def error(mine, theirs):
    mine, theirs = np.ravel(np.asarray(mine)), np.ravel(np.asarray(theirs))
    return np.max(np.abs(mine - theirs), initial=0) / max(1, np.max(np.abs(theirs), initial=0))


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
@pytest.mark.parametrize("disable", [0, SPRING, DAMPER, SPRING | DAMPER, GRAVITY, EULERDAMP])
def test_stages_and_euler_step(path, disable):
    mm = mujoco.MjModel.from_xml_path(str(path))
    m = tisim.Model.from_xml_path(path)
    for opt in (mm.opt, m.opt):
        opt.disableflags = disable | NO_CONSTRAINT
        opt.enableflags = ENERGY
    dd, d = mujoco.MjData(mm), tisim.Data(m)
    rng = np.random.default_rng(1)
    for _ in range(3):
        random_state(mm, dd, rng)
        copy_state(mm, dd, m, d)
        mujoco.mj_forward(mm, dd)
        tisim.forward(m, d)
        for name in STAGES:
            assert error(getattr(d, name), getattr(dd, name)) < 1e-10, name
        d.qacc = dd.qacc
        integrators.integrate(m, d)
        mujoco.mj_Euler(mm, dd)
        for name in ("qpos", "qvel", "time"):
            assert error(getattr(d, name), getattr(dd, name)) < 1e-12, name
        assert np.array_equal(d.qacc_warmstart, dd.qacc)


def test_the_product_and_the_solve_with_M_are_inverse():
    """M qacc_smooth = qfrc_smooth, with M expanded from its sparse rows."""
    for path in MODELS:
        m = without_constraints(tisim.Model.from_xml_path(path))
        d = tisim.Data(m)
        d.qvel = np.random.default_rng(0).normal(size=m.nv)
        tisim.forward(m, d)
        full = np.zeros((m.nv, m.nv))
        for i in range(m.nv):
            row = slice(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i])
            full[i, m.M_colind[row]] = full[m.M_colind[row], i] = d.M[row]
        assert error(full @ np.asarray(d.qacc_smooth), d.qfrc_smooth) < 1e-12, path.stem


@pytest.mark.parametrize("given", [(-1, 0), (-1, 0.5), (0, 0.25)], ids=str)
def test_weights_are_compensated_where_one_is_lifted(given):
    """MuJoCo takes no compensation at all where none of the model's is above 0."""
    text = '<mujoco><worldbody><body gravcomp="{}"><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
    text = text.replace(
        "</worldbody>", '<body pos="1 0 0" gravcomp="{}"><joint/><geom size=".1" pos=".2 0 0"/></body></worldbody>'
    )
    text = text.format(*given)
    mm, m = mujoco.MjModel.from_xml_string(text), tisim.Model.from_xml_string(text)
    dd, d = mujoco.MjData(mm), tisim.Data(m)
    mujoco.mj_forward(mm, dd)
    tisim.forward(m, d)
    assert error(d.qfrc_passive, dd.qfrc_passive) < 1e-12 and error(d.qacc, dd.qacc) < 1e-12


def test_energy_is_zero_unless_enabled():
    m = without_constraints(tisim.Model.from_xml_path(MODELS[0]))
    d = tisim.Data(m)
    m.opt.enableflags = ENERGY
    tisim.forward(m, d)
    assert np.any(np.asarray(d.energy))
    m.opt.enableflags = 0
    tisim.forward(m, d)
    assert not np.any(np.asarray(d.energy))
