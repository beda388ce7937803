"""tisim.Spec builds, edits and compiles models as mujoco.MjSpec does: the same calls give the same arrays."""

import pathlib

import mujoco
import numpy as np
import pytest
from shared.compiled import bit_differences, differences
from shared.specs import ROBOT, agree

import tisim
from tisim.mjcf import compile_file
from tisim.mjcf.compile import compile_scope

FILES = sorted((pathlib.Path(__file__).parent / "testdata").glob("compile/*.xml"))

# building from nothing


def _settings(e, spec):
    spec.modelname = "settings"
    spec.option.timestep, spec.option.gravity = 0.01, [0, 0, -5]
    spec.option.integrator = 3
    spec.option.disableflags = int(e.mjtDisableBit.mjDSBL_CONTACT | e.mjtDisableBit.mjDSBL_LIMIT)
    spec.option.enableflags = int(e.mjtEnableBit.mjENBL_ENERGY)
    spec.option.wind[1] = 2
    spec.visual.global_.fovy, spec.visual.map.znear, spec.visual.rgba.fog = 30, 0.02, [1, 0.5, 0, 1]
    spec.visual.headlight.ambient = [0.3, 0.2, 0.1]
    spec.stat.extent, spec.stat.center = 3, [1, 2, 3]
    spec.compiler.degree = False
    spec.nuserdata = 4
    body = spec.worldbody.add_body(name="b", euler=[0.1, 0.2, 0.3])
    body.add_joint(name="j", range=[-0.5, 0.7], userdata=[1, 2])
    body.add_geom(size=[0.1, 0, 0])
    body.add_camera(
        name="c", axisangle=[0, 0, 1, 0.5], resolution=[10, 20], sensor_size=[0.1, 0.2], focal_length=[1, 2]
    )


def _bodies(e, spec):
    world = spec.worldbody
    world.add_geom(name="floor", type=e.mjtGeom.mjGEOM_PLANE, size=[1, 1, 0.1], rgba=[0.5, 0.6, 0.7, 1])
    world.add_light(name="l", pos=[0, 0, 3], dir=[0, 1, -1], type=e.mjtLightType.mjLIGHT_POINT, diffuse=[1, 0, 0])
    world.add_camera(
        name="eye", pos=[1, 0, 0], euler=[0, 90, 0], mode=e.mjtCamLight.mjCAMLIGHT_TARGETBODY, targetbody="b"
    )
    box = world.add_body(name="b", pos=[0, 0, 1], euler=[10, 20, 30], gravcomp=0.5, userdata=[7])
    box.add_freejoint(name="free")
    box.add_geom(name="box", type=e.mjtGeom.mjGEOM_BOX, size=[0.1, 0.2, 0.3], friction=[1, 0.1, 0.01], condim=4)
    box.add_geom(type=e.mjtGeom.mjGEOM_CAPSULE, fromto=[0, 0, 0, 0, 0, 1], size=[0.05, 0, 0], mass=2, contype=3)
    arm = world.add_body(name="arm", pos=np.array([1.0, 0, 0]), sleep=e.mjtSleepPolicy.mjSLEEP_NEVER)
    arm.add_joint(
        name="hinge", axis=[0, 1, 0], range=[-10, 20], solref_limit=[0.03, 1], actfrcrange=[-1, 1], armature=0.1,
        solimp_friction=[0.8, 0.9, 0.01, 0.5, 2], springdamper=[0.1, 1], margin=0.01, group=2,
    )  # fmt: skip
    arm.add_geom(quat=[1, 1, 0, 0], size=[0.2, 0, 0], density=500, fluid_ellipsoid=1, solmix=0.5)
    arm.add_site(name="s", type=e.mjtGeom.mjGEOM_BOX, size=[0.01, 0.02, 0.03], pos=[0, 0, 0.1])
    frame = arm.add_frame(pos=[0, 0, 1], euler=[0, 0, 90])
    frame.add_geom(name="tip", pos=[0.1, 0, 0], size=[0.1, 0, 0])
    hand = frame.add_body(name="hand")
    hand.add_joint(type=e.mjtJoint.mjJNT_BALL, damping=0.3)
    hand.add_geom(size=[0.1, 0, 0])
    ghost = world.add_body(name="ghost", mocap=True, pos=[3, 0, 0])
    ghost.add_site(size=[0.1, 0.1, 0.1])
    heavy = world.add_body(name="heavy", mass=2, ipos=[0, 0, 0.1], inertia=[1, 1, 1.5], iquat=[1, 0, 0, 0])
    heavy.add_joint(name="slide", type=e.mjtJoint.mjJNT_SLIDE, ref=0.2, frictionloss=0.1)
    spec.add_key(name="k", qpos=[0, 0, 1, 1, 0, 0, 0, 0.1, 1, 0, 0, 0, 0.2], time=3)


def _couplings(e, spec):
    _bodies(e, spec)
    for key in list(spec.keys):
        spec.delete(key)
    obj = e.mjtObj
    spec.add_pair(name="p", geomname1="box", geomname2="floor", condim=1, friction=[1, 1, 0.1, 0.1, 0.1])
    spec.add_exclude(name="x", bodyname1="b", bodyname2="arm")
    spec.add_equality(
        name="e1", type=e.mjtEq.mjEQ_JOINT, name1="hinge", name2="slide", data=[0, 1, 0, 0, 0] + [0] * 5 + [1]
    )
    data = [0, 0, 0.1, 0.5, 0, 0, 1, 0, 0, 0, 1]
    spec.add_equality(name="e2", type=e.mjtEq.mjEQ_WELD, objtype=obj.mjOBJ_BODY, name1="b", name2="arm", data=data)
    spec.add_equality(
        name="e3", type=e.mjtEq.mjEQ_CONNECT, objtype=obj.mjOBJ_BODY, name1="b", name2="arm",
        data=[1, 2, 3] + [0] * 7 + [1], solref=[0.03, 1], active=False,
    )  # fmt: skip
    fixed = spec.add_tendon(name="fixed", range=[0, 1], stiffness=2)
    fixed.wrap_joint("hinge", 2)
    fixed.wrap_joint("slide", -1)
    path = spec.add_tendon(name="path", rgba=[1, 0, 0, 1], width=0.01)
    spec.worldbody.add_site(name="s0", pos=[0, 0, 2], size=[0.1, 0.1, 0.1])
    path.wrap_site("s")
    path.wrap_geom("tip", "")
    path.wrap_site("s0")
    joint, tendon = e.mjtTrn.mjTRN_JOINT, e.mjtTrn.mjTRN_TENDON
    motor = spec.add_actuator(name="a1", target="hinge", trntype=joint, gear=[2, 0, 0, 0, 0, 0])
    motor.set_to_motor()
    spec.add_actuator(name="a2", target="hinge", trntype=joint).set_to_position(kp=10, kv=1)
    spec.add_actuator(name="a3", target="slide", trntype=joint).set_to_velocity(kv=3)
    spec.add_actuator(name="a4", target="fixed", trntype=tendon, ctrlrange=[0, 1]).set_to_damper(kv=3)
    spec.add_actuator(name="a5", target="slide", trntype=joint, actrange=[-1, 1]).set_to_intvelocity(kp=5)
    own = spec.add_actuator(name="a6", target="s", trntype=e.mjtTrn.mjTRN_SITE, refsite="s0", forcerange=[-1, 2])
    own.gainprm[0] = 3
    own.biastype, own.biasprm = e.mjtBias.mjBIAS_AFFINE, [1, 2, -3] + [0] * 7
    own.dyntype, own.dynprm[0] = e.mjtDyn.mjDYN_FILTER, 0.1
    sensor = e.mjtSensor
    spec.add_sensor(name="q", type=sensor.mjSENS_JOINTPOS, objtype=obj.mjOBJ_JOINT, objname="hinge", noise=0.1)
    spec.add_sensor(type=sensor.mjSENS_TOUCH, objtype=obj.mjOBJ_SITE, objname="s", cutoff=2)
    spec.add_sensor(type=sensor.mjSENS_ACTUATORFRC, objtype=obj.mjOBJ_ACTUATOR, objname="a2", userdata=[1, 2])
    spec.add_sensor(type=sensor.mjSENS_SUBTREECOM, objtype=obj.mjOBJ_BODY, objname="arm")
    spec.add_sensor(type=sensor.mjSENS_CLOCK)
    spec.add_sensor(
        type=sensor.mjSENS_FRAMEPOS, objtype=obj.mjOBJ_SITE, objname="s", reftype=obj.mjOBJ_XBODY, refname="b"
    )
    spec.add_sensor(
        type=sensor.mjSENS_GEOMDIST,
        objtype=obj.mjOBJ_GEOM,
        objname="box",
        reftype=obj.mjOBJ_BODY,
        refname="arm",
        cutoff=1,
    )
    spec.add_numeric(name="n", data=[1, 2, 3])
    spec.add_text(name="t", data="hello <&>")
    spec.add_tuple(name="u", objtype=[int(obj.mjOBJ_GEOM), int(obj.mjOBJ_BODY)], objname=["box", "arm"], objprm=[2, 3])


def _assets(e, spec):
    spec.add_texture(
        name="grid", type=e.mjtTexture.mjTEXTURE_2D, builtin=e.mjtBuiltin.mjBUILTIN_CHECKER, width=8, height=8,
        rgb1=[1, 0, 0], rgb2=[0, 1, 0],
    )  # fmt: skip
    paint = spec.add_material(name="paint", rgba=[1, 1, 0, 1], texrepeat=[2, 3], reflectance=0.3)
    paint.textures[e.mjtTextureRole.mjTEXROLE_RGB] = "grid"
    corners = [x for i in range(8) for x in ((i & 1) - 0.5, (i >> 1 & 1) - 0.5, (i >> 2) - 0.5)]
    spec.add_mesh(name="cube", uservert=corners, scale=[1, 2, 3])
    spec.add_hfield(name="hills", size=[1, 2, 0.5, 0.1], nrow=2, ncol=3, userdata=[0, 1, 2, 3, 4, 5])
    spec.worldbody.add_geom(type=e.mjtGeom.mjGEOM_HFIELD, hfieldname="hills", material="paint")
    body = spec.worldbody.add_body(pos=[0, 0, 3])
    body.add_freejoint()
    body.add_geom(type=e.mjtGeom.mjGEOM_MESH, meshname="cube", material="paint")


def _classes(e, spec):
    spec.default.geom.rgba = [0.1, 0.2, 0.3, 1]
    a = spec.add_default("a", spec.default)
    a.geom.size, a.joint.damping, a.site.size = [0.1, 0.2, 0.3], 2, [0.5, 0.5, 0.5]
    b = spec.add_default("b", a)
    b.geom.type = e.mjtGeom.mjGEOM_BOX
    b.joint.range = [-10, 10]
    b.equality.solref = [0.05, 1]
    b.actuator.ctrlrange = [-2, 2]
    body = spec.worldbody.add_body(childclass="a")
    body.add_joint(name="j")
    body.add_geom()
    body.add_geom(b, name="g")
    body.add_site()
    inner = body.add_body(name="inner")
    inner.add_joint(b, name="k", axis=[1, 0, 0])
    inner.add_geom(b, pos=[1, 0, 0])
    spec.add_equality(b, type=e.mjtEq.mjEQ_JOINT, name1="j", name2="k", data=[0, 1] + [0] * 8 + [1])  # fmt: skip
    spec.add_actuator(b, target="j", trntype=e.mjtTrn.mjTRN_JOINT)


@pytest.mark.parametrize("build", [_settings, _bodies, _couplings, _assets, _classes], ids=lambda f: f.__name__[1:])
def test_building(build):
    agree(build)


# editing


@pytest.mark.parametrize("name", ["bb", "b", "free", "ghost"])
def test_a_deleted_body_takes_along_what_refers_to_it(name):
    def edit(e, spec):
        spec.compile()  # without this, MuJoCo keeps the old keyframes
        spec.delete(spec.body(name))

    agree(edit, ROBOT)


@pytest.mark.parametrize("kind, name", [("sensor", "jp"), ("light", "L"), ("numeric", "nu"),
                                        ("tendon", "sp"), ("pair", "pp"), ("equality", "eq")])  # fmt: skip
def test_deleting_other_elements(kind, name):
    agree(lambda e, spec: spec.delete(getattr(spec, kind)(name)), ROBOT)


def test_keyframes_follow_where_the_rest_compiles_later_only():
    """A camera looks at what is deleted: told by compile(), and mended by deleting it, too."""
    text = """<mujoco><worldbody><body name="a"><joint name="j"/><geom size=".1"/></body>
        <body name="b"><freejoint/><geom size=".1"/></body><camera name="c" mode="targetbody" target="a"/></worldbody>
        <actuator><motor joint="j"/></actuator>
        <keyframe><key name="k" qpos="1 2 3 4 1 0 0 0" ctrl="1"/><key name="l" qvel="1 2 3 4 5 6 7"/></keyframe>
        </mujoco>"""
    keys = []
    for Spec in (tisim.Spec, mujoco.MjSpec):
        spec = Spec.from_string(text)
        spec.delete(spec.body("a"))
        if Spec is tisim.Spec:  # MjSpec compiles no more once it could not
            with pytest.raises(tisim.MjcfError, match="'a'"):
                spec.compile()
        spec.delete(spec.camera("c"))
        m = spec.compile()
        keys.append(np.hstack([m.key_qpos, m.key_qvel]))
    assert np.array_equal(*keys) and keys[0][0, :4].tolist() == [2, 3, 4, 1] and m.nu == 0


def test_changing_what_a_file_says():
    def edit(e, spec):
        g = spec.geom("g")
        g.type, g.size, g.name = e.mjtGeom.mjGEOM_BOX, [1, 2, 3], "renamed"
        g.pos[2] = 5
        spec.pair("pp").geomname1 = "renamed"
        spec.joint("j").range[1] = 0.7
        spec.body("b").pos += [0, 0, 1]
        spec.site("s").quat = [1, 0, 0, 1]
        spec.option.timestep *= 2

    agree(edit, ROBOT)


def test_moving_an_element_into_a_frame():
    def edit(e, spec):
        frame = spec.worldbody.add_frame(pos=[1, 2, 3], euler=[0.1, 0.2, 0.3])
        spec.geom("w").set_frame(frame)
        spec.body("ghost").set_frame(frame)

    agree(edit, ROBOT)
    spec = tisim.Spec.from_string(ROBOT)
    with pytest.raises(tisim.Error, match="no frame"):
        spec.geom("g").set_frame(spec.worldbody.add_frame())


# compiling again


def test_recompiling_keeps_the_state_of_what_is_still_there():
    states = []
    for e, kind in ((tisim, tisim.Spec), (mujoco, mujoco.MjSpec)):
        spec = kind.from_string(ROBOT[: ROBOT.index("<keyframe>")] + "</mujoco>")
        m = spec.compile()
        d = e.Data(m) if e is tisim else mujoco.MjData(m)
        d.qpos[:], d.qvel[:] = np.arange(m.nq) / 10, np.arange(m.nv) / 20
        d.ctrl[:], d.act[:], d.mocap_pos[:] = [1, 2, 3], [4], [[5, 6, 7]]
        d.time = 3
        body = spec.body("b").add_body(name="new", pos=[0, 0, 9])
        body.add_joint(name="nj", ref=20)
        body.add_geom(size=[0.1, 0, 0])
        m, d = spec.recompile(m, d)
        spec.delete(spec.body("free"))
        m, d = spec.recompile(m, d)
        states.append([np.array(v).ravel() for v in (d.qpos, d.qvel, d.ctrl, d.act, d.mocap_pos, d.mocap_quat, d.time)])
    for ours, theirs in zip(*states):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_recompiling_in_several_worlds_and_from_a_file():
    m = tisim.Model.from_xml_string(ROBOT)
    d = tisim.Data(m, nworld=3)
    d.qpos[:, 0] = [1, 2, 3]
    spec = m.spec()
    spec.worldbody.add_body(name="first").add_geom(size=[1, 0, 0])
    new_m, new_d = spec.recompile(m, d)
    assert new_d.nworld == 3 and np.asarray(new_d.qpos)[:, 0].tolist() == [1, 2, 3]


# the specification of files


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_the_specification_of_a_file_compiles_to_the_same(path):
    spec = tisim.Spec.from_file(path).copy()
    assert bit_differences(compile_scope(spec._scope(spec._root)), compile_file(path)) == []


def test_a_model_gives_its_specification_and_saves_it(tmp_path):
    m = tisim.Model.from_xml_string(ROBOT)
    m.save(tmp_path / "robot.xml")
    assert m.spec().to_xml() == (tmp_path / "robot.xml").read_text()
    assert differences(tisim.Model.from_xml_path(tmp_path / "robot.xml"), mujoco.MjModel.from_xml_string(ROBOT)) == {}


# finding and reading


def test_finding_and_walking():
    for kind in (tisim.Spec, mujoco.MjSpec):
        spec = kind.from_string(ROBOT)
        assert [b.name for b in spec.bodies] == ["world", "b", "bb", "free", "ghost"]
        assert [g.name for g in spec.geoms] == ["w", "g", "gg", "fg"]
        assert [s.name for s in spec.body("b").sites] == ["s", "s2"]
        assert [b.name for b in spec.worldbody.bodies] == ["b", "free", "ghost"]
        assert spec.body("bb").parent == spec.body("b")
        assert [g.name for g in spec.body("b").find_all("geom")] == ["g", "gg"]
        assert spec.worldbody.find_child("bb").name == "bb"
        b = spec.body("b")
        assert b.first_joint().name == "j" and b.next_joint(b.first_joint()).name == "j2"
        assert [t.name for t in spec.tendons] == ["t", "sp"] and spec.actuator("at").target == "t"
        assert spec.geom("g").rgba.tolist() == pytest.approx([1, 0, 0, 1]) and spec.geom("g").friction[0] == 1
        assert spec.geom("g").type == 2 and spec.joint("jj").damping == 3
        assert spec.geom("g").classname.name == "c" and spec.find_default("c").geom.size[0] == 0.3
    assert tisim.Spec.from_string(ROBOT).find("body", "nobody") is None


def test_renaming_a_class_follows_its_users():
    spec = tisim.Spec.from_string(ROBOT)
    spec.find_default("c").name = "new"
    assert spec.body("b").childclass == "new"
    assert differences(spec.compile(), mujoco.MjModel.from_xml_string(ROBOT)) == {}
    with pytest.raises(tisim.Error, match="still used"):
        spec.delete(spec.find_default("new"))
