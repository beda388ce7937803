"""MjvOption, MjvCamera and MjvPerturb have mujoco's attributes, types and defaults, and refuse what is none of them."""

import copy

import mujoco
import numpy as np
import pytest

import tisim


def attributes(thing):
    return {name: getattr(thing, name) for name in dir(thing) if not name.startswith("_")}


@pytest.mark.parametrize("name", ["MjvOption", "MjvCamera", "MjvPerturb"])
def test_attributes_and_defaults_are_mujocos(name):
    ours, theirs = attributes(getattr(tisim, name)()), attributes(getattr(mujoco, name)())
    assert set(ours) == set(theirs)
    for key, value in theirs.items():
        if isinstance(value, np.ndarray):
            assert ours[key].dtype == value.dtype and (ours[key] == value).all(), key
        else:
            assert type(ours[key]) is type(value) and ours[key] == value, key


def test_what_is_set_stays_and_what_is_wrong_is_told():
    option, camera = tisim.MjvOption(), tisim.MjvCamera()
    option.flags[tisim.mjtVisFlag.mjVIS_CONTACTPOINT] = True
    option.frame = tisim.mjtFrame.mjFRAME_GEOM
    option.geomgroup = [1, 0, 0, 0, 0, 1]
    camera.lookat = 1, 2, 3
    camera.distance, camera.type = 4, tisim.mjtCamera.mjCAMERA_TRACKING
    other = copy.copy(option)
    other.flags[0], other.frame = 1, 0
    assert option.flags.sum() == 9 and option.flags[0] == 0 and option.frame == 2 and option.geomgroup[5] == 1
    assert camera.lookat.tolist() == [1, 2, 3] and camera.distance == 4.0 and camera.type == 1
    assert "frame: 2" in repr(option)
    for thing, key, value in ((option, "flag", 1), (option, "geomgroup", 3 * [1]), (camera, "distance", "far"),
                              (camera, "lookat", [1, 2])):  # fmt: skip
        with pytest.raises(tisim.Error, match=key):
            setattr(thing, key, value)
    with pytest.raises(tisim.Error, match="no field 'lookatt'; it has .*lookat"):
        camera.lookatt
