"""A world with a value that is not finite or beyond 1e10 is reset and the warning counted; the others go on."""

import numpy as np
import pytest
from shared.smooth import without_constraints

import tisim
from tisim.enums import mjtWarning

XML = """<mujoco><worldbody><body><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
<body><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></body></worldbody></mujoco>"""
KINDS = dict(
    qpos=mjtWarning.mjWARN_BADQPOS, qvel=mjtWarning.mjWARN_BADQVEL, qfrc_applied=mjtWarning.mjWARN_BADQACC
)  # fmt: skip
AUTORESET = 65536


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -1e18])
def test_reset_and_count(name, value):
    m = without_constraints(tisim.Model.from_xml_string(XML))
    d = tisim.Data(m, nworld=2)
    good = tisim.Data(m)
    tisim.step(m, d, 3)
    tisim.step(m, good, 3)
    getattr(d, name)[1, 1] = value
    tisim.step(m, d)
    tisim.step(m, good)
    warning = d.warning[KINDS[name]]
    assert warning.number.tolist() == [0, 1]
    assert name == "qfrc_applied" or warning.lastinfo.tolist() == [0, 1]
    assert sum(d.warning[k].number.sum() for k in range(len(d.warning))) == 1
    assert np.array_equal(np.asarray(d.qpos)[0], good.qpos)
    fresh = tisim.Data(m)
    tisim.step(m, fresh)
    assert np.array_equal(np.asarray(d.qpos)[1], fresh.qpos) and d.time[1] == fresh.time


def test_no_reset_when_disabled():
    m = without_constraints(tisim.Model.from_xml_string(XML))
    m.opt.disableflags = AUTORESET
    d = tisim.Data(m)
    d.qpos[0] = np.nan
    tisim.step(m, d)
    assert np.isnan(d.qpos[0])
    assert d.warning[mjtWarning.mjWARN_BADQPOS].number == 1 and d.warning[mjtWarning.mjWARN_BADQPOS].lastinfo == 0


NAMED = """<mujoco><worldbody><body name="arm"><joint name="hip" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
<body name="hand"><joint name="knee" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("name", KINDS)
def test_a_reset_is_told_once_with_its_cause(name):
    m = without_constraints(tisim.Model.from_xml_string(NAMED))
    d = tisim.Data(m, nworld=2)
    tisim.step(m, d, 3)
    with pytest.warns(tisim.DivergedWarning) as told:
        for _ in range(5):
            getattr(d, name)[1, 1] = np.nan
            tisim.step(m, d)
    assert len(told) == 1
    words = str(told[0].message)
    joint = "hip of body arm" if name == "qfrc_applied" else "knee of body hand"
    assert joint in words and "time 0.006 in world 1" in words and "reset" in words
    assert told[0].filename == __file__
    with pytest.warns(tisim.DivergedWarning, match="hip of body arm"):
        d.qvel[0, 0] = np.inf
        tisim.step(m, d)


def test_warnings_print_as_a_table():
    m = without_constraints(tisim.Model.from_xml_string(NAMED))
    d = tisim.Data(m)
    assert repr(d.warning).count("\n") == len(d.warning)
    d.qvel[1] = np.nan
    with pytest.warns(tisim.DivergedWarning):
        tisim.step(m, d)
    (line,) = [line for line in repr(d.warning).splitlines() if "BADQVEL" in line]
    assert line.split() == ["mjWARN_BADQVEL", "1", "1"]
