"""Fields, settings and named elements of a Model read and write the same numbers; wrong names get a hint."""

import mujoco
import numpy as np
import pytest

from tisim import Model
from tisim.enums import mjtObj
from tisim.errors import Error

TEXT = """
<mujoco model="names">
  <custom><numeric name="gains" data="1 2 3"/><text name="note" data="hello"/></custom>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="arm" pos="0 0 1"><joint name="elbow" damping=".5" ref="90"/>
      <geom name="rod" type="capsule" size=".1 .2"/>
      <body name="hand" pos="0 0 .5"><joint name="wrist" type="ball"/>
        <geom size=".1" pos="0 0 .1"/><site name="tip"/></body></body>
  </worldbody>
  <keyframe><key name="home" qpos="1"/></keyframe>
</mujoco>
"""


@pytest.fixture
def m():
    return Model.from_xml_string(TEXT)


def test_named_access_reads_and_writes_through(m):
    assert m.geom("rod").id == 1 and m.geom(1).name == "rod"
    assert m.geom("rod").size.tolist() == [0.1, 0.2, 0]
    m.geom("rod").friction = [2, 0.1, 0.2]
    m.geom("floor").friction[0] = 3
    assert m.geom_friction[:2, 0].tolist() == [3, 2]
    m.body("arm").mass = 7
    assert m.body_mass[1] == 7
    assert m.joint("elbow").damping[0] == 0.5 and m.joint("wrist").M0.shape == (3,)
    assert m.joint("elbow").qpos0[0] == pytest.approx(np.pi / 2)
    assert m.jnt("wrist").qpos0.tolist() == [1, 0, 0, 0]
    assert m.key("home").qpos[0] == 1 and m.site("tip").bodyid[0] == 2
    assert m.numeric("gains").data.tolist() == [1, 2, 3] and m.texts == {"note": "hello"}


@pytest.mark.parametrize("word, name", [("geom", "rod"), ("body", "arm"), ("joint", "elbow"), ("site", "tip")])
def test_elements_print_a_line_for_each_field_as_mujocos(m, word, name):
    theirs = str(getattr(mujoco.MjModel.from_xml_string(TEXT), word)(name)).splitlines()
    assert set(theirs[1:]) <= set(str(getattr(m, word)(name)).splitlines())


def test_options_print_a_line_for_each(m):
    theirs = str(mujoco.MjModel.from_xml_string(TEXT).opt).splitlines()
    assert set(theirs[1:]) <= set(str(m.opt).splitlines())
    assert "  substeps: 10" in str(m.lcp).splitlines() and "    azimuth: 90.0" in str(m.vis).splitlines()


def test_whole_arrays_are_written_in_place(m):
    view = m.geom_margin
    m.geom_margin = 0.25
    assert (view == 0.25).all()
    with pytest.raises(ValueError):
        m.geom_margin = [1, 2]
    m.actuator_gainprm[:, 0] *= 2  # there are none


def test_sizes_and_groups_cannot_be_replaced(m):
    for name in ("nbody", "opt", "stat"):
        with pytest.raises(AttributeError):
            setattr(m, name, 3)


def test_ids_and_names(m):
    assert m.name2id("geom", "rod") == m.name2id(mjtObj.mjOBJ_GEOM, "rod") == 1
    assert m.id2name("body", 0) == "world" and m.id2name("geom", 2) == ""
    with pytest.raises(IndexError):
        m.geom(3)


@pytest.mark.parametrize(
    ("use", "hint"),
    [
        (lambda m: m.geom("flor"), "floor"),
        (lambda m: m.name2id("joint", "elbo"), "elbow"),
        (lambda m: m.geom_frictions, "geom_friction"),
        (lambda m: m.geom("floor").frictions, "friction"),
        (lambda m: m.joint("elbow").qpos_sprin, "qpos_spring"),
        (lambda m: m.opt.timesteps, "timestep"),
        (lambda m: setattr(m.opt, "gravty", 0), "gravity"),
        (lambda m: setattr(m, "geom_frictio", 0), "geom_friction"),
        (lambda m: m.name2id("geoms", "x"), "geom"),
    ],
)
def test_wrong_names_are_refused_with_a_near_one(m, use, hint):
    with pytest.raises((Error, AttributeError), match=hint):
        use(m)


def test_options_are_checked_when_written(m):
    for number in (np.array(0.5), np.float32(0.5), 0.5):
        m.opt.timestep, m.opt.iterations = number, np.array(7)
        assert (m.opt.timestep, m.opt.iterations) == (0.5, 7)
    m.opt.timestep = 0.01
    m.opt.gravity = (0, 0, -1)
    m.opt.gravity[0] = 2
    m.opt.iterations = np.int64(7)
    m.opt.solver = 1
    assert m.opt.gravity.tolist() == [2, 0, -1] and m.opt.iterations == 7 and isinstance(m.opt.iterations, int)
    for name, value in [
        ("timestep", "fast"), ("timestep", float("nan")), ("gravity", 3), ("gravity", [0, 0]), ("iterations", 1.5),
        ("solver", 9), ("cone", -1), ("wind", [0, 0, float("inf")]),
    ]:  # fmt: skip
        with pytest.raises(Error, match=f"opt.{name}"):
            setattr(m.opt, name, value)
    m.vis.map.znear = 0.1
    assert m.vis.map.znear == 0.1
