"""A saved model with wrong numbers in it is refused with a tisim.Error, or steps as one that is merely another; and so
is one whose arrays were written at run time."""

import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest
from shared import mutate_models

import tisim
from tisim import scenes
from tisim.model import validate

HERE = pathlib.Path(__file__).parent
MODELS = {
    "everything": HERE / "testdata" / "golden" / "everything.xml",
    "humanoid": HERE / "testdata" / "compile" / "humanoid_like.xml",
}


@pytest.mark.parametrize("name", MODELS)
def test_mutants_are_refused_or_step(name, tmp_path):
    """250 each, in a process of their own: a crash is seen, with the mutant that made it."""
    m = tisim.Model.from_xml_path(MODELS[name])
    m.save(tmp_path / "model.npz")
    command = [sys.executable, mutate_models.__file__, str(tmp_path / "model.npz"), "0", "250"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, (last, done.stderr[-2000:])
    assert last[0].startswith("refused"), last


@pytest.mark.parametrize("path", MODELS.values(), ids=MODELS)
def test_good_models_are_good(path):
    tisim.Model.from_xml_path(path).validate()


def test_time_grows_with_the_file():
    """Ten times the bodies take about ten times as long."""
    took = []
    for n in (1000, 10000):
        m = tisim.Model.from_xml_string(scenes.build("pile", n=n))
        best = min((time.perf_counter(), m.validate(), time.perf_counter())[::2] for _ in range(3))
        took.append(best[1] - best[0])
    assert took[1] < 0.5 and took[1] < 40 * took[0]


TEXT = """<mujoco><asset><mesh name="a" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody>
<geom name="floor" type="plane" size="5 5 .1"/>
<body name="one" pos="0 0 .2"><freejoint/><geom name="ball" size=".1"/></body>
<body name="two" pos="0 0 .5"><freejoint/><geom size=".1 .1 .1" type="box"/></body>
<body pos="2 0 2"><joint axis="0 1 0"/><geom type="mesh" mesh="a"/></body></worldbody>
<contact><pair geom1="floor" geom2="ball"/><exclude body1="one" body2="two"/></contact></mujoco>"""


@pytest.mark.parametrize("name, value", [
    ("geom_condim", 2), ("geom_condim", 7), ("geom_type", 99), ("geom_type", 0), ("geom_dataid", 5),
    ("pair_geom1", -1), ("pair_geom2", 1000), ("pair_dim", 5), ("exclude_signature", 999 << 16),
    ("geom_friction", np.nan), ("geom_size", -1), ("body_mass", np.nan), ("geom_quat", 0), ("body_quat", 5),
    ("geom_matid", 3), ("cam_mode", 9), ("jnt_axis", 0), ("body_pos", np.inf),
])  # fmt: skip
def test_what_is_written_is_checked_before_the_next_step(name, value):
    m = tisim.Model.from_xml_string(TEXT)
    d = tisim.Data(m)
    tisim.step(m, d)
    array = getattr(m, name)
    if not array.size:
        pytest.skip("the model has none")
    before = np.array(array)
    array[-1] = value
    was = np.array(d.qpos)
    for use in (lambda: tisim.step(m, d), lambda: tisim.forward(m, d), lambda: tisim.step1(m, d), m.validate,
                lambda: tisim.ray(m, d, [0, 0, 3], [0, 0, -1]), lambda: tisim.step(m, d)):  # fmt: skip
        with pytest.raises(tisim.Error, match=name):
            use()
    assert np.array_equal(d.qpos, was)
    array[...] = before
    tisim.step(m, d)


@pytest.mark.parametrize("name", ["body_parentid", "geom_bodyid", "jnt_type", "jnt_qposadr", "mesh_graph"])
def test_the_structure_cannot_be_written(name):
    m = tisim.Model.from_xml_string(TEXT)
    with pytest.raises(tisim.Error, match=f"{name} is read-only"):
        getattr(m, name)[-1] = 0
    with pytest.raises(tisim.Error, match=f"{name} is read-only"):
        setattr(m, name, 0)


def fresh(m, state, steps=3):
    """qpos after some steps of a new Data."""
    d = tisim.Data(m)
    tisim.set_state(m, d, state)
    tisim.step(m, d, steps)
    return np.array(d.qpos)


@pytest.mark.parametrize("change", [
    lambda m: m.geom_type.__setitem__(1, 6), lambda m: m.geom_type.__setitem__(2, 2),
    lambda m: m.exclude_signature.__setitem__(0, (1 << 16) + 3), lambda m: m.pair_geom2.__setitem__(0, 2),
    lambda m: m.geom_condim.__setitem__(1, 6), lambda m: m.pair_dim.__setitem__(0, 1),
    lambda m: m.geom_contype.__setitem__(1, 2),
])  # fmt: skip
def test_an_edited_type_pair_or_exclude_is_used(change, tmp_path):
    """As in a model that was never anything else."""
    m = tisim.Model.from_xml_string(TEXT)
    m.geom_size[1:3] = 0.1
    d = tisim.Data(m)
    tisim.step(m, d, 80)
    state = tisim.get_state(m, d)
    change(m)
    m.save(tmp_path / "edited.npz")
    tisim.step(m, d, 3)
    assert np.array_equal(d.qpos, fresh(tisim.Model.load(tmp_path / "edited.npz"), state))


def test_every_declared_index_is_checked():
    m = tisim.Model.from_xml_path(MODELS["everything"])
    for name, field in validate.FIELDS.items():
        if field.index and m._arrays[name].size:
            for bad in (-2, m._sizes[field.index]):
                arrays = dict(m._arrays)
                arrays[name] = np.array(arrays[name])
                arrays[name].flat[-1] = bad
                assert validate.problem(arrays, m._sizes), (name, bad)
