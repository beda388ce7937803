"""Where sensors' values stand, when they are made and what limits them is as in MuJoCo 3.4.0.

Contract: cutoffs limit numbers to both sides, positive ones above, axes never; the flag `sensor` and skipsensor leave
values as they are; a skipped stage's sensors are not made again; each world has its own; noise is stored and not added;
energies that sensors ask for stay in d.energy as there; models without sensors make no array and no kernel for them.
"""

import mujoco
import numpy as np
import pytest
from shared.reference import Pair
from shared.sensors import world

import tisim
from tisim.stages import needs

TOY = """<mujoco><option {option}/><worldbody><body><joint name="j" axis="0 1 0" stiffness="2"/><site name="s"/>
<geom size=".1" pos=".3 0 0"/></body></worldbody><actuator><motor name="m" joint="j"/></actuator>
<sensor>{sensors}</sensor></mujoco>"""
EACH = """<jointpos joint="j"/><jointvel joint="j"/><actuatorfrc actuator="m"/><accelerometer site="s"/><clock/>
<user dim="2"/><user dim="1" needstage="pos"/>"""


def toy(sensors, option=""):
    pair = Pair(TOY.format(sensors=sensors, option=option))
    pair.md.qpos[:], pair.md.qvel[:], pair.md.ctrl[:] = 0.7, -3.0, 5.0
    return pair


def test_cutoffs_limit():
    """Numbers to both sides; a cutoff can be written later."""
    pair = toy("""<jointpos joint="j" cutoff=".2"/><jointvel joint="j" cutoff="1"/>
      <actuatorfrc actuator="m" cutoff="9"/><accelerometer site="s" cutoff="1"/>
      <framequat objtype="site" objname="s"/><clock cutoff=".1"/>""")
    pair.md.time = 4
    pair.forward()
    assert pair.error("sensordata") < 1e-12
    assert pair.d.sensor(0).data == 0.2 and pair.d.sensor(1).data == -1 and pair.d.sensor(2).data == 5
    assert pair.d.sensor(5).data == 0.1
    pair.m.sensor_cutoff[0] = pair.mm.sensor_cutoff[0] = 0.5
    pair.m.sensor_cutoff[1] = pair.mm.sensor_cutoff[1] = 0
    pair.forward()
    assert pair.error("sensordata") < 1e-12 and pair.d.sensor(1).data == -3


def test_values_are_found_by_name():
    pair = toy('<jointpos name="angle" joint="j"/><framequat name="turn" objtype="site" objname="s"/>')
    pair.forward()
    assert pair.d.sensordata.shape == (5,) and pair.d.sensor("angle").data.tolist() == [0.7]
    assert np.allclose(pair.d.sensor("turn").data, pair.md.sensor("turn").data)
    with pytest.raises(tisim.Error):
        pair.d.sensor("nobody")


@pytest.mark.parametrize("flag", [False, True])
def test_the_flag_leaves_values_as_they_are(flag):
    pair = toy(EACH)
    for opt in (pair.m.opt, pair.mm.opt):
        opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_SENSOR) * flag
    pair.forward()
    assert pair.error("sensordata") < 1e-12
    assert np.all(pair.d.sensordata == 0) == flag


STAGES = [tisim.mjtStage.mjSTAGE_NONE, tisim.mjtStage.mjSTAGE_POS, tisim.mjtStage.mjSTAGE_VEL]


@pytest.mark.parametrize("inverse", [False, True], ids=["forward", "inverse"])
@pytest.mark.parametrize("skipsensor", [False, True])
@pytest.mark.parametrize("skip", STAGES)
def test_skipped_stages_make_no_sensors(skip, skipsensor, inverse):
    """The state is written, and what is left over shows who was made again."""
    pair = toy(EACH + "<e_potential/><e_kinetic/>")
    pair.forward()
    for d in (pair.d, pair.md):
        d.qpos[:], d.qvel[:], d.ctrl[:], d.time = 0.2, 1.0, 2.0, 5.0
    if inverse:
        mujoco.mj_inverseSkip(pair.mm, pair.md, int(skip), int(skipsensor))
        tisim.inverse_skip(pair.m, pair.d, skip, skipsensor)
    else:
        mujoco.mj_forwardSkip(pair.mm, pair.md, int(skip), int(skipsensor))
        tisim.forward_skip(pair.m, pair.d, skip, skipsensor)
    assert pair.error("sensordata") < 1e-12, (pair.d.sensordata, pair.md.sensordata)


def test_halves_of_a_step_make_their_sensors():
    pair = toy(EACH)
    pair.copy_state()
    mujoco.mj_step1(pair.mm, pair.md)
    tisim.step1(pair.m, pair.d)
    assert pair.error("sensordata") < 1e-12
    mujoco.mj_step2(pair.mm, pair.md)
    tisim.step2(pair.m, pair.d)
    assert pair.error("sensordata") < 1e-12


def test_worlds_have_their_own():
    """The same bits as each world alone."""
    text, _ = world("arm")
    m = tisim.Model.from_xml_string(text)
    many = tisim.Data(m, 3)
    rng = np.random.default_rng(5)
    speeds = rng.normal(size=(3, m.nv))
    many.qvel[...] = speeds
    many.ctrl[...] = [[0.1 * k] * m.nu for k in range(3)]
    tisim.step(m, many, 20)
    for k in range(3):
        alone = tisim.Data(m)
        alone.qvel[:], alone.ctrl[:] = speeds[k], 0.1 * k
        tisim.step(m, alone, 20)
        assert np.array_equal(many.sensordata[k], alone.sensordata)
    assert many.sensor(3).data.shape == (3, m.sensor_dim[3])


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("sensors", ["<e_potential/>", "<e_kinetic/>", "<e_potential/><e_kinetic/>", "<clock/>"])
def test_energies_stay_as_in_mujoco(sensors, flag):
    """Without the flag `energy` only where a sensor asks for the potential one; skipsensor does not skip them."""
    pair = toy(sensors)
    for opt in (pair.m.opt, pair.mm.opt):
        opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY) * flag
    pair.forward()
    assert pair.error("sensordata") < 1e-12 and pair.error("energy") < 1e-12
    for d in (pair.d, pair.md):
        d.qpos[:] = 0.1
    mujoco.mj_forwardSkip(pair.mm, pair.md, 0, 1)
    tisim.forward_skip(pair.m, pair.d, 0, True)
    assert pair.error("sensordata") < 1e-12 and pair.error("energy") < 1e-12


def test_noise_is_stored_and_not_added():
    pair = toy('<jointpos joint="j" noise="5"/>')
    pair.forward()
    assert pair.m.sensor_noise.tolist() == [5] and pair.d.sensordata[0] == 0.7


def test_nothing_is_made_without_sensors():
    pair = toy("")
    pair.forward()
    assert not {"sensordata", "cam_xpos", "subtree_linvel", "cacc"} & set(pair.d.memory())
    assert not [k for k in needs.kernels_of(pair.m, pair.d) if "sensor" in k.path]
    some = toy('<gyro site="s"/>')
    some.forward()
    assert not {"cam_xpos", "subtree_linvel", "cacc", "cfrc_int"} & set(some.d.memory()) - {"cam_xpos"}


def test_cameras_and_momenta_are_there_when_they_are_read():
    """cam_xpos, cam_xmat, subtree_linvel, subtree_angmom need no sensor."""
    for name in ("arm", "walker", "crowd"):
        pair = Pair(world(name, ())[0])
        pair.md.qvel[:] = np.random.default_rng(0).normal(size=pair.mm.nv)
        pair.forward()
        mujoco.mj_subtreeVel(pair.mm, pair.md)
        for field in ("cam_xpos", "cam_xmat", "subtree_linvel", "subtree_angmom"):
            assert pair.error(field) < 1e-12, field
        camera = pair.mm.camera(0).name
        assert np.allclose(pair.d.camera(camera).xpos, pair.md.camera(camera).xpos)
