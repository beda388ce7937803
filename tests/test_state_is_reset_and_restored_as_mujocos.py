"""reset, keyframes and the state vector give what mujoco's mj_resetData, mj_resetDataKeyframe and mj_getState give."""

import mujoco
import numpy as np
import pytest
from shared.smooth import MODELS, STATE, random_state

import tisim
from tisim.data.state import state_size

KEYED = """<mujoco><worldbody><body mocap="true" pos="1 2 3"/><body><joint/><geom size=".1"/></body></worldbody>
<keyframe><key time="2" qpos=".5" qvel="3" mpos="4 5 6" mquat="0 1 0 0"/><key qpos="1"/></keyframe></mujoco>"""


def mujoco_state(mm, dd, sig):
    values = np.zeros(mujoco.mj_stateSize(mm, sig))
    mujoco.mj_getState(mm, dd, values, sig)
    return values


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_state_vectors(path):
    mm, m = mujoco.MjModel.from_xml_path(str(path)), tisim.Model.from_xml_path(path)
    dd, d = mujoco.MjData(mm), tisim.Data(m)
    assert np.allclose(tisim.get_state(m, d, STATE), mujoco_state(mm, dd, STATE), rtol=0, atol=1e-12)
    random_state(mm, dd, np.random.default_rng(0))
    for sig in (*(1 << b for b in range(13)), 14, 4064, 4111, STATE):
        theirs = mujoco_state(mm, dd, sig)
        assert state_size(m, sig) == theirs.size
        tisim.set_state(m, d, theirs, sig)
        assert np.array_equal(tisim.get_state(m, d, sig), theirs)
    tisim.reset(m, d)
    mujoco.mj_resetData(mm, dd)
    assert np.allclose(tisim.get_state(m, d, STATE), mujoco_state(mm, dd, STATE), rtol=0, atol=1e-12)


def test_keyframes():
    mm, m = mujoco.MjModel.from_xml_string(KEYED), tisim.Model.from_xml_string(KEYED)
    dd, d = mujoco.MjData(mm), tisim.Data(m)
    for key in (0, 1):
        mujoco.mj_resetDataKeyframe(mm, dd, key)
        tisim.reset_keyframe(m, d, key)
        assert np.array_equal(tisim.get_state(m, d, STATE), mujoco_state(mm, dd, STATE))
    with pytest.raises(tisim.Error, match="keyframe 2"):
        tisim.reset_keyframe(m, d, 2)


def test_only_the_named_worlds_are_reset():
    m = tisim.Model.from_xml_string(KEYED)
    d = tisim.Data(m, nworld=3)
    d.qvel = 7
    tisim.reset(m, d, [1])
    assert np.asarray(d.qvel).ravel().tolist() == [7, 0, 7]
    tisim.reset_keyframe(m, d, 0, worlds=2)
    assert np.asarray(d.qvel).ravel().tolist() == [7, 0, 3] and d.time.tolist() == [0, 0, 2]
    with pytest.raises(tisim.Error, match="outside"):
        tisim.reset(m, d, 3)


def test_a_wrong_shape_or_bit_is_refused():
    m = tisim.Model.from_xml_string(KEYED)
    d = tisim.Data(m)
    with pytest.raises(tisim.Error, match="shape"):
        tisim.set_state(m, d, np.zeros(3), STATE)
    with pytest.raises(tisim.Error, match="mjtState"):
        tisim.get_state(m, d, 1 << 13)
