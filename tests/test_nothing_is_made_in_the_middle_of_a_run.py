"""All kernels that steps of a scene can need are loaded by the first one: later steps never wait for a compiler."""

import numpy as np
import pytest

import tisim
from tisim import pipeline, scenes
from tisim.device import build, launch, native
from tisim.model import features
from tisim.stages import needs, solver

ALL_SHAPES = """<mujoco>
  <option cone="elliptic"><flag energy="enable" multiccd="enable"/></option>
  <asset>
    <hfield name="hills" nrow="3" ncol="3" size="2 2 .1 .1" elevation="0 1 0 1 0 1 0 1 0"/>
    <mesh name="gem" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2 .1 .1 .1"/>
  </asset>
  <worldbody>
    <geom type="plane" size="9 9 .1"/><geom type="hfield" hfield="hills" pos="0 0 .05"/>
    <replicate count="6" offset=".3 0 .2">
      <body pos="-1 0 1"><freejoint/><geom size=".1"/></body>
      <body pos="-1 .3 1"><freejoint/><geom type="capsule" size=".1 .1" condim="6"/></body>
      <body pos="-1 .6 1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
      <body pos="-1 -.3 1"><freejoint/><geom type="cylinder" size=".1 .1"/></body>
      <body pos="-1 -.6 1"><freejoint/><geom type="ellipsoid" size=".1 .2 .1"/></body>
      <body pos="-1 -.9 1"><freejoint/><geom type="mesh" mesh="gem"/></body>
    </replicate>
    <body pos="0 2 1">
      <joint type="hinge" range="-10 10" frictionloss=".1" damping="1"/><geom size=".1" pos=".3 0 0"/>
    </body>
  </worldbody>
</mujoco>"""


def kernels_launched(m, d, steps):
    """Names of the kernels of these steps."""
    names, run = set(), launch.run

    def listen(m, d, kernels, *args, **scalars):
        names.update(k.__name__ for k in kernels)
        run(m, d, kernels, *args, **scalars)

    launch.run = listen
    try:
        tisim.step(m, d, steps)
    finally:
        launch.run = run
    return names


@pytest.mark.parametrize("name, params", [
    ("pile", dict(n=40)), ("dominos", dict(n=20)), ("bowl", dict(n=10)), ("ragdolls", dict(n=3)), ("joints", {}),
    ("cards", {}), ("all shapes", {}),
])  # fmt: skip
def test_from_no_contact_to_many(name, params):
    m = tisim.Model.from_xml_string(ALL_SHAPES if name == "all shapes" else scenes.build(name, **params))
    d = tisim.Data(m)
    start = np.array(d.qpos)
    start[2::7] += 5.0 if name in ("pile", "bowl", "all shapes") else 0.0  # nothing touches at first
    d.qpos[:] = start
    tisim.step(m, d)
    foreseen = {kernel.__name__ for kernel in needs.kernels_of(m, d)}
    road = native.road()
    before = road and (len(road.codes), dict(road.plain))
    d.qpos[:] = m.qpos0
    assert kernels_launched(m, d, 150) <= foreseen
    assert road is None or before == (len(road.codes), {}), "a kernel was made in the middle of a run"


def test_large_scenes_foresee_large_islands(monkeypatch):
    """Where the host queues the phases of large islands, their kernels are there before one grows so large; small
    scenes need none of them. A team of workers needs but the one that puts a pile in order."""
    small, large = (tisim.Model.from_scene("pile", n=n) for n in (5, 4000))
    names = [{k.__name__ for k in needs.kernels_of(m, tisim.Data(m))} for m in (small, large)]
    assert names[1] - names[0] == {"along_curve"} and names[0] < names[1]
    monkeypatch.setattr(solver, "queued", lambda: True)
    names = [{k.__name__ for k in needs.kernels_of(m, tisim.Data(m))} for m in (small, large)]
    assert names[1] - names[0] == {"start_round", "begin_rounds", "project", "search", "move", "start_direction",
                                   "linear_step", "note_bad_acceleration"}  # fmt: skip


def test_models_without_equalities_need_none_of_their_kernels():
    """Only a model with such an equality needs the kernels that make its rows, and solvers with rows of many dofs."""
    free = "<body name='{0}' pos='0 0 {0}'><freejoint/><geom size='.1'/></body>"
    text = "<mujoco><worldbody>" + free.format(1) + free.format(2) + "</worldbody><equality>{}</equality></mujoco>"
    found = {}
    for equality in ("", "<weld body1='1'/>", "<connect body1='1' anchor='0 0 0'/>"):
        m = tisim.Model.from_xml_string(text.format(equality))
        kernels = needs.kernels_of(m, tisim.Data(m))
        found[equality] = {k.__name__ for k in kernels if k.path.startswith("constraint.equality.")}
        assert features.features(m).rows == bool(equality)
    assert found.pop("") == set()
    assert all({"pose_rows", "equality_places"} <= names and "joint_rows" not in names for names in found.values())


def test_progress_is_told(monkeypatch, tmp_path):
    """Whoever prepares a scene is told how many of the new kernels are done, up to all of them."""
    if native.road() is None:
        pytest.skip(f"no machine code here: {native.why}")
    monkeypatch.setenv("TISIM_CACHE", str(tmp_path))
    monkeypatch.setattr(build.threads, "processors", lambda: 1)
    monkeypatch.setattr(native.road(), "codes", {})
    ball = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    m, told = tisim.Model.from_xml_string(ball), []
    pipeline.prepare(m, tisim.Data(m), lambda done, total: told.append((done, total)))
    if native.images.state()[0]:
        pytest.skip("the images of a wheel are there, so that nothing is made")
    total = told[-1][1]
    assert [done for done, _ in told] == list(range(1, total + 1)) and total >= 5
    assert len(list((tmp_path / "images").glob("*.img"))) >= total
