"""After the same edits of a model set_const gives the arrays, statistics and sizes of MuJoCo 3.4.0's mj_setConst to
1e-10; what was not edited stays; edits that the inertia matrix has no room for are refused and change nothing."""

import pathlib
import warnings

import mujoco
import numpy as np
import pytest
from shared.smooth import MODELS, without_constraints

import tisim

XML = """<mujoco><asset><hfield name="hills" nrow="3" ncol="3" size="1 1 .5 .1"/></asset><worldbody>
<light pos="0 0 3" mode="trackcom"/><camera pos="1 1 1" mode="trackcom"/>
<camera pos="1 1 1" mode="targetbody" target="c"/>
<geom type="plane" size="1 1 .1"/><geom type="hfield" hfield="hills" pos="4 0 0"/>
<body name="a" pos="0 0 1"><freejoint/><geom size=".1"/><site name="sa"/></body>
<body name="m" mocap="true" pos="1 0 0"><geom size=".1" contype="0" conaffinity="0"/></body>
<body name="b" pos="0 1 1"><joint name="h" axis="0 1 0" range="-1 1" limited="true"/>
  <geom type="capsule" size=".05" fromto="0 0 0 0 0 -.4"/><site name="s1" pos="0 .1 0"/>
  <body name="c" pos="0 0 -.4"><joint type="ball"/><geom type="capsule" size=".05" fromto="0 0 0 .3 0 0"/>
    <site name="s2" pos=".1 0 0"/><camera pos="0 .1 .2"/><light pos="0 0 1" mode="targetbodycom" target="a"/>
    <body name="e" pos=".3 0 0"><joint name="sl" type="slide"/><geom type="box" size=".1 .2 .1"/></body></body></body>
</worldbody>
<equality><connect body1="a" body2="b" anchor="0 0 .1"/><weld body1="c" body2="a"/><joint joint1="h" joint2="sl"/>
<connect site1="sa" site2="s1"/></equality>
<tendon><spatial name="t" limited="true" range="0 1"><site site="s1"/><site site="s2"/></spatial>
<fixed name="f"><joint joint="h" coef="2"/></fixed>
<spatial name="u"><site site="s1"/><site site="sa"/></spatial></tendon>
<actuator><motor joint="h"/><position joint="sl" kp="10" dampratio="1"/><motor tendon="t"/></actuator>
</mujoco>"""
STAT = "meaninertia meanmass meansize extent center".split()


def scale(name, factor):
    return lambda m: getattr(m, name).__setitem__(..., np.asarray(getattr(m, name)) * factor)


def move(name, by=0.1):
    return lambda m: getattr(m, name).__setitem__(..., np.asarray(getattr(m, name)) + by)


def put(name, index, value):
    return lambda m: getattr(m, name).__setitem__(index, value)


def turn(name):
    def edit(m):
        quat = np.array(getattr(m, name)) + 0.3 * np.random.default_rng(1).normal(size=getattr(m, name).shape)
        quat /= np.linalg.norm(quat, axis=1, keepdims=True)
        if name == "body_quat":
            quat[0] = 1, 0, 0, 0
        if name == "body_iquat":
            quat = np.where((m.body_sameframe == 0)[:, None], quat, m.body_iquat)
        getattr(m, name)[...] = quat

    return edit


def pose(m):
    m.qpos0[...] = np.asarray(m.qpos0) + 0.3 * np.random.default_rng(0).normal(size=m.nq)


def inertial_frames(m):
    """Of bodies whose inertial frame is not their own: MuJoCo passes over the others."""
    own = m.body_sameframe != 0
    m.body_ipos[...] = np.where(own[:, None], m.body_ipos, np.asarray(m.body_ipos) + 0.1)


def everything(m):
    for edit in (scale("body_mass", 2), scale("body_inertia", 3), inertial_frames, pose, turn("body_iquat"),
                 move("dof_armature"), scale("actuator_gear", 2.5), put("eq_data", (1, slice(6, 10)), 0)):  # fmt: skip
        edit(m)


EDITS = dict(
    nothing=lambda m: None, mass=scale("body_mass", 1.7), massless=put("body_mass", 2, 0), pose=pose,
    inertia=scale("body_inertia", 1.7), armature=move("dof_armature"), places=move("body_pos"),
    inertial_frames=inertial_frames, turned=turn("body_quat"), inertia_turned=turn("body_iquat"),
    gravcomp=move("body_gravcomp"), sites=move("site_pos"), cameras=move("cam_pos"), camera_turned=turn("cam_quat"),
    lights=move("light_pos"), springs=move("qpos_spring"), joint=put("jnt_pos", (1, slice(None)), 0.1),
    axis=put("jnt_axis", 1, (0, 0.6, 0.8)), gear=scale("actuator_gear", 2.5), hills=scale("hfield_size", 2),
    ratio=put("actuator_biasprm", (1, 2), 1.3), rest=put("tendon_lengthspring", 0, (-1, -1)),
    tendon_armature=move("tendon_armature"), weld=put("eq_data", (1, slice(6, 10)), 0),
    anchor=put("eq_data", (0, slice(0, 3)), 0.3), everything=everything,
)  # fmt: skip


def differences(m, mm):
    """Names in which the models differ, with how much."""
    out = {}
    for name, a in m._arrays.items():
        b = getattr(mm, name, None)
        if b is None or not np.issubdtype(a.dtype, np.number) or name.startswith(("tex_", "text_")):
            continue
        a, b = np.ravel(a).astype(float), np.ravel(b).astype(float)
        out[name] = np.abs(a - b).max(initial=0) / max(1, np.abs(b).max(initial=0)) if a.size == b.size else np.inf
    out |= {name: np.abs(getattr(m.stat, name) - getattr(mm.stat, name)).max() for name in STAT}
    out["ngravcomp"] = abs(m.ngravcomp - mm.ngravcomp)
    assert len(out) > 200
    return {name: e for name, e in out.items() if not e < 1e-10}


@pytest.mark.parametrize("name", EDITS)
def test_constants_after_edits(name):
    mm, m = mujoco.MjModel.from_xml_string(XML), tisim.Model.from_xml_string(XML)
    for model in (mm, m):
        EDITS[name](model)
    before = m.__copy__()
    mujoco.mj_setConst(mm, mujoco.MjData(mm))
    tisim.set_const(m)
    assert differences(m, mm) == {}
    assert m._differences(before) or name in ("nothing", "gravcomp", "springs", "hills"), "the edit is no test"


FILES = sorted((pathlib.Path(__file__).parent / "testdata" / "compile").glob("*.xml"))


@pytest.mark.parametrize("path", FILES[::3], ids=lambda p: p.stem)
def test_constants_of_a_compiled_model_are_as_they_were(path):
    try:
        mm = mujoco.MjModel.from_xml_path(str(path))
        m = tisim.Model.from_xml_path(path)
    except (ValueError, tisim.Error):
        pytest.skip("a part of another file")
    before, arrays = differences(m, mm), {name: np.array(x) for name, x in m._arrays.items()}
    mujoco.mj_setConst(mm, mujoco.MjData(mm))
    tisim.set_const(m, tisim.Data(m))
    assert set(differences(m, mm)) <= set(before)
    assert [name for name, x in arrays.items() if x.tobytes() != m._arrays[name].tobytes()] == [], "to the last bit"


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_simulations_follow(path):
    """From edited models both engines compute the same accelerations."""
    mm, m = mujoco.MjModel.from_xml_path(str(path)), without_constraints(tisim.Model.from_xml_path(path))
    mm.opt.disableflags = m.opt.disableflags
    d = tisim.Data(m)
    tisim.step(m, d)  # what is on the device already follows, too
    for model in (mm, m):
        for edit in (scale("body_mass", 1.5), scale("body_inertia", 2), move("dof_armature", 0.01)):
            edit(model)
    mujoco.mj_setConst(mm, dd := mujoco.MjData(mm))
    tisim.set_const(m, d)
    mujoco.mj_resetData(mm, dd)
    dd.qvel = np.random.default_rng(0).normal(size=mm.nv)
    tisim.reset(m, d)
    d.qvel = dd.qvel
    mujoco.mj_forward(mm, dd)
    tisim.forward(m, d)
    for name in ("M", "qacc_smooth", "qfrc_bias"):
        theirs = getattr(dd, name)
        assert np.abs(np.asarray(getattr(d, name)) - theirs).max() < 1e-10 * max(1, np.abs(theirs).max()), name


def test_what_has_no_room_is_refused_and_changes_nothing():
    for edit in (put("body_ipos", 1, 0.1), put("body_iquat", 1, (0.6, 0.8, 0, 0)), put("body_pos", (1, 0), np.nan)):
        m = tisim.Model.from_xml_string(XML)
        m.body_mass[2] = 5
        edit(m)
        before = m.__copy__()
        with pytest.raises(tisim.Error, match="body a: .*compile|body_pos"):
            tisim.set_const(m)
        assert not m._differences(before)


def test_masses_that_m_does_not_follow_are_told():
    m = tisim.Model.from_xml_string(XML)
    d = tisim.Data(m)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.body_mass[3:] *= 2  # of trees with joints M is made of the masses as they are
        tisim.forward(m, d)
        m.body_mass[1] *= 2
        tisim.set_const(m)
        tisim.forward(m, d)
    m.body_mass[1] *= 2
    with pytest.warns(UserWarning, match="body a was written.*tisim.set_const"):
        tisim.forward(m, d)


def test_inertial_frames_of_what_does_not_move_may_be_written():
    mm, m = mujoco.MjModel.from_xml_string(XML), tisim.Model.from_xml_string(XML)
    for model in (mm, m):
        model.body_ipos[2] = [0.1, 0.2, 0.3]
    mujoco.mj_setConst(mm, mujoco.MjData(mm))
    tisim.set_const(m)
    assert np.allclose(m.body_invweight0, mm.body_invweight0, atol=1e-12) and m.body_ipos[2, 1] == 0.2


def test_a_tendon_that_pulls_at_two_trees_keeps_them_awake():
    """As seed 003 says; MuJoCo 3.4.0 leaves the policies as they were compiled."""
    text = XML[: XML.index("<actuator>")] + "</mujoco>"
    stiff = text.replace('name="u"', 'name="u" stiffness="3"')
    for start, end in ((text, stiff), (stiff, text)):
        m, wanted = tisim.Model.from_xml_string(start), tisim.Model.from_xml_string(end)
        assert m.tree_sleep_policy.tolist() != wanted.tree_sleep_policy.tolist()
        m.tendon_stiffness[...] = wanted.tendon_stiffness
        tisim.set_const(m)
        assert m.tree_sleep_policy.tolist() == wanted.tree_sleep_policy.tolist()
