"""Each line of tisim/MIGRATION.md's tables runs in both engines, from top to bottom, and gives the same."""

import json
import os
import pathlib
import re
import subprocess
import sys

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


def rows(pictures=False):
    """Cells of all tables, theirs and ours; those of pictures or the others."""
    begin, middle, end = re.split("## Pictures|## What differs", PAGE.read_text(encoding="utf-8"))
    lines = (middle if pictures else begin + end).splitlines()
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


DRAWN = """
import json, sys, mujoco, numpy as np
import test_migration_page_is_true as t
m = mujoco.MjModel.from_xml_string(t.TEXT)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
mujoco.Renderer(m, 8, 8).close()
print("it draws", file=sys.stderr)
print(json.dumps(t.left_behind([left for left, _ in t.rows(pictures=True)], dict(mujoco=mujoco, np=np, m=m, d=d))))
"""


def left_behind(lines, names):
    """What each line gives, and the variables that are compared behind it, as numbers in lists."""
    out = []
    for line in lines:
        given = run(line, names)
        of = {name: np.asarray(names[name], float).tolist() for name in sorted(RESULTS & set(names))}
        if isinstance(given, tuple):
            given = [np.asarray(x, float).tolist() for x in given]
        out.append((given, of))
    return out


def test_every_line_of_pictures_gives_what_mujoco_gives():
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(TEXT)
    d = tisim.Data(m)
    tisim.forward(m, d)
    found = rows(pictures=True)
    ours = left_behind([right for _, right in found], dict(tisim=tisim, np=np, m=m, d=d))
    assert len(found) > 10 and ours[-1][1]["x"] == 1.0, "the geom that was added is seen"
    paths = os.pathsep.join((os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")))
    done = subprocess.run([sys.executable, "-c", DRAWN], capture_output=True, text=True,
                          env=dict(os.environ, MUJOCO_GL="osmesa", PYTHONPATH=paths))  # fmt: skip
    assert done.returncode == 0 or "it draws" not in done.stderr, done.stderr
    if done.returncode:
        pytest.skip(f"mujoco.Renderer does not work here (apt-get install libosmesa6): {done.stderr[-200:]}")
    for (line, _), (given, names), (theirs, others) in zip(found, ours, json.loads(done.stdout)):
        assert given is None or equal(given, theirs), (line, given, theirs)
        assert names.keys() == others.keys() and all(equal(names[k], others[k]) for k in names), (line, names, others)


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
    with pytest.raises(tisim.Error, match="frictionloss"):
        tisim.Model.from_xml_string(
            '<mujoco><worldbody><body><joint frictionloss="-1"/><geom size="1"/></body></worldbody></mujoco>'
        )
