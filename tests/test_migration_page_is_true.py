"""Each line of tisim/MIGRATION.md's tables runs in both engines, from top to bottom, and gives the same."""

import pathlib
import re

import mujoco
import numpy as np
import pytest

import tisim

PAGE = pathlib.Path(__file__).resolve().parent.parent / "tisim" / "MIGRATION.md"
TEXT = """<mujoco><option><flag energy="enable"/></option><worldbody><light pos="0 0 3"/>
  <geom name="floor" type="plane" size="5 5 .1"/>
  <body name="arm" pos="0 0 1"><joint name="hinge" axis="0 1 0" damping=".2"/>
    <geom name="rod" type="capsule" fromto="0 0 0 0 0 -.4" size=".04"/><site name="tip" pos="0 0 -.4"/></body>
  <body name="thing" pos=".5 0 .2"><freejoint/><geom name="ball" size=".1"/></body></worldbody>
  <actuator><motor joint="hinge"/></actuator><sensor><jointpos name="angle" joint="hinge"/></sensor>
  <keyframe><key name="bent" qpos=".4 .5 0 .1 1 0 0 0"/></keyframe></mujoco>"""

RESULTS = set("A B J M f g s v x".split())  # variables that are compared


def rows():
    """Cells of all tables, theirs and ours."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    found = [re.fullmatch(r"\| `(.+)` \| `(.+)` \|", line) for line in lines]
    return [match.groups() for match in found if match]


def push(m, d):
    d.ctrl[0] = 0.1 + 0.05 * d.time


def run(line, names):
    """Runs a cell; the value of an expression, None of assignments and calls."""
    try:
        return eval(compile(line, line, "eval"), names)
    except SyntaxError:
        exec(line, names)


def equal(ours, theirs):
    """Whether values, or all in two sequences, agree to rounding."""
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(equal, ours, theirs))
    return np.allclose(np.asarray(ours, float), np.asarray(theirs, float), rtol=1e-6, atol=1e-8)


def test_every_line_gives_what_mujoco_gives():
    tisim.init(arch="cpu", precision="f64")
    theirs = dict(mujoco=mujoco, np=np, text=TEXT, push=push)
    ours = dict(tisim=tisim, np=np, text=TEXT, push=push)
    found = rows()
    assert len(found) > 40
    try:
        for left, right in found:
            given, made = run(left, theirs), run(right, ours)
            assert given is None or made is None or equal(made, given), (left, given, made)
            for name in RESULTS & set(ours) & set(theirs):
                assert equal(ours[name], theirs[name]), (left, name, ours[name], theirs[name])
            if "d" in ours:
                mine, other = np.asarray(ours["d"].qpos, float), theirs["d"].qpos
                assert np.allclose(mine, other, rtol=1e-6, atol=1e-8), (left, mine, other)
    finally:
        mujoco.set_mjcb_control(None)


def test_what_is_said_to_differ_does():
    m = tisim.Model.from_xml_string(TEXT)
    d = tisim.Data(m, nworld=3)
    tisim.step(m, d, 10)
    assert d.qpos.shape == (3, m.nq) and d.contact.pos.shape == (d.ncon.sum() if np.ndim(d.ncon) else d.ncon, 3)
    one = tisim.Data(m)
    one.qvel[:3] += [1, 2, 3]
    assert np.asarray(one.qvel)[:3].tolist() == [1, 2, 3]
    with pytest.raises(tisim.Error):
        one.xpos[1] = 0
    with pytest.raises(AttributeError, match="step"):
        tisim.mj_step
    with pytest.raises(tisim.Error, match="sdf"):
        tisim.step(*[m2 := tisim.Model.from_xml_string(
            '<mujoco><worldbody><body><freejoint/><geom type="sdf" size="1"/></body></worldbody></mujoco>'
        ), tisim.Data(m2)])  # fmt: skip
