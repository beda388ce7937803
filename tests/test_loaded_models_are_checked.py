"""A saved model with wrong numbers in it is refused with a tisim.Error, or steps as one that is merely another; and so
is one whose arrays were written at run time."""

import os
import pathlib
import re
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


# every kind of pair, row and joint that a step can have, in contact from the start
TOUCHING = """<mujoco><option><flag energy="enable"/></option><asset>
<mesh name="gem" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2"/>
<hfield name="hills" nrow="3" ncol="3" size="1 1 .1 .1" elevation="0 1 0 1 0 1 0 1 0"/></asset><worldbody>
<geom name="floor" type="plane" size="5 5 .1"/><geom type="hfield" hfield="hills" pos="2 0 0"/>
<body name="one" pos="0 0 .09"><freejoint/><geom name="ball" size=".1"/></body>
<body name="two" pos=".15 0 .09"><freejoint/><geom size=".1 .1 .1" type="box" condim="6"/></body>
<body pos="2 0 .1"><joint axis="0 1 0" range="-1 1" limited="true" frictionloss=".1"/><geom type="mesh" mesh="gem"/>
<body pos=".1 0 0"><joint type="ball"/><geom type="capsule" size=".05 .1" condim="1"/></body></body></worldbody>
<contact><pair geom1="floor" geom2="ball"/><exclude body1="one" body2="two"/></contact></mujoco>"""


def stepped(m, folder, first, last, debug=False, timeout=600):
    """How many mutants of these seeds step, in a process of their own: a crash is seen, with its mutant."""
    m.save(folder / "model.npz")
    command = [sys.executable, mutate_models.__file__, str(folder / "model.npz"), str(first), str(last)]
    env = os.environ | ({"TISIM_DEBUG": "1"} if debug else {})
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=env)
    told = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, (told, done.stderr[-2000:])
    refused, steps = re.fullmatch(r"refused (\d+) stepped (\d+)", told[0]).groups()
    assert int(refused) + int(steps) == last - first
    return int(steps)


@pytest.mark.parametrize("name", MODELS)
def test_mutants_are_refused_or_step(name, tmp_path):
    assert stepped(tisim.Model.from_xml_path(MODELS[name]), tmp_path, 0, 250) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [None, *MODELS])
def test_no_mutant_of_700_reaches_out_of_an_array(name, tmp_path):
    """With the bounds of every array access checked; most of the time goes into compiling that."""
    m = tisim.Model.from_xml_path(MODELS[name]) if name else tisim.Model.from_xml_string(TOUCHING)
    assert stepped(m, tmp_path, 0, 700, debug=True, timeout=3000) > (55 if name is None else 0)


def test_what_is_mutated_touches():
    m = tisim.Model.from_xml_string(TOUCHING)
    d = tisim.Data(m)
    tisim.step(m, d)
    kinds = {tuple(sorted(int(m.geom_type[g]) for g in pair)) for pair in d.contact.geom}
    assert len(kinds) >= 4 and d.nefc > d.ncon > 5


@pytest.mark.parametrize("path", MODELS.values(), ids=MODELS)
def test_good_models_are_good(path):
    tisim.Model.from_xml_path(path).validate()


def test_time_grows_with_the_file():
    """Ten times the bodies take about ten times as long."""
    took = []
    for n in (1000, 10000):
        m = tisim.Model.from_xml_string(scenes.build("pile", n=n))
        took.append(min(seconds(m.validate) for _ in range(5)))
    assert took[1] < 0.5 and took[1] < 40 * took[0]


def seconds(function):
    """Processor time of a call."""
    began = time.process_time()
    function()
    return time.process_time() - began


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
    ("geom_matid", 3), ("cam_mode", 9), ("jnt_axis", 0), ("body_pos", np.inf), ("dof_frictionloss", -1),
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


def test_armature_below_0_is_loaded_and_written_as_it_is_compiled(tmp_path):
    m = tisim.Model.from_xml_string(TEXT.replace('axis="0 1 0"', 'axis="0 1 0" armature="-.001"'))
    m.save(tmp_path / "m.npz")
    loaded = tisim.Model.load(tmp_path / "m.npz")
    assert loaded.dof_armature[-1] == -0.001
    written = tisim.Model.from_xml_string(TEXT)
    written.dof_armature[-1] = -0.001
    ends = []
    for each in (m, loaded, written):
        d = tisim.Data(each)
        tisim.step(each, d, 5)
        ends.append(np.array(d.qpos))
    assert np.array_equal(ends[0], ends[1]) and np.array_equal(ends[0], ends[2])


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
    pytest.param(lambda m: m.geom_condim.__setitem__(1, 6), marks=pytest.mark.slow),
    lambda m: m.pair_dim.__setitem__(0, 1), lambda m: m.geom_contype.__setitem__(1, 2),
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
