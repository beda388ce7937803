"""Attributes of MjSpec that MJCF says in other words: orientations, joints of free bodies, numbers of equalities."""

import mujoco
import numpy as np
import pytest

import tisim

XML = """<mujoco><default><joint armature=".5" damping=".7"/></default><worldbody>
  <body name="a"><freejoint name="free"/><geom name="g" type="box" size=".1 .2 .3"/></body>
  <body name="b" pos="1 0 0"><joint name="slide" type="slide"/><geom size=".1"/></body></worldbody>
  <tendon><fixed name="t"><joint joint="slide" coef="2"/></fixed></tendon></mujoco>"""


def both(text=XML):
    return ((mujoco, mujoco.MjSpec.from_string(text)), (tisim, tisim.Spec.from_string(text)))


def equal(values):
    theirs, ours = values
    assert len(theirs) == len(ours) > 0
    for a, b in zip(theirs, ours):
        np.testing.assert_allclose(np.asarray(b, float), np.asarray(a, float), atol=1e-12)


ANGLES = dict(euler=[10, 20, 30], axisangle=[0, 1, 0, 30], xyaxes=[0, 1, 0, -1, 0, 0.1], zaxis=[0, 1, 1])


@pytest.mark.parametrize("name", ANGLES)
def test_type_of_alt_is_that_of_the_orientation(name):
    """Not of the geom, which stays a box."""
    found = []
    for module, spec in both():
        kind = getattr(module.mjtOrientation, f"mjORIENTATION_{name.upper()}")
        first, behind = spec.geom("g").alt, spec.body("a").alt
        first.type = kind
        setattr(first, name, ANGLES[name])
        setattr(behind, name, ANGLES[name])
        behind.type = kind
        m = spec.compile()
        found.append([m.geom_quat, m.body_quat, m.geom_type, int(first.type), int(behind.type), getattr(first, name)])
    equal(found)


def test_alt_is_written_by_parts_and_given_up():
    found = []
    for module, spec in both():
        alt = spec.body("a").alt
        alt.type = module.mjtOrientation.mjORIENTATION_EULER
        alt.euler[2] = 90
        quats = [spec.compile().body_quat]
        alt.type = module.mjtOrientation.mjORIENTATION_QUAT
        found.append([*quats, spec.compile().body_quat])
    equal(found)
    spec = both()[1][1]
    for alt in (spec.body("a").alt, spec.body("a").ialt):
        assert alt.type == tisim.mjtOrientation.mjORIENTATION_QUAT and alt.zaxis.tolist() == [0, 0, 0]
        with pytest.raises(tisim.Error, match="it has .*euler"):
            alt.eular = [1, 2, 3]
        with pytest.raises(tisim.Error, match="expected an mjtOrientation"):
            alt.type = "euler"
    with pytest.raises(tisim.Error, match="'joint' has no attribute 'euler'"):
        spec.joint("slide").alt.euler = [1, 2, 3]


def test_free_joints_are_joints():
    """They have MuJoCo's defaults, not their class's, also once they are written to."""
    found = []
    for module, spec in both():
        joints, other = spec.joints, spec.joint("free")
        read = [[j.armature, j.stiffness, *j.range, *j.solref_limit, j.margin, int(j.type)] for j in joints]
        joints[0].type = module.mjtJoint.mjJNT_FREE
        before = "freejoint" in spec.to_xml() or module is mujoco
        for j in joints:
            j.armature = 0.1
        m = spec.compile()
        again = mujoco.MjModel.from_xml_string(spec.to_xml())
        values = [read, before, m.dof_armature, m.dof_damping, other.armature, other.damping, again.dof_armature]
        other.type, other.damping = module.mjtJoint.mjJNT_BALL, 0.3
        m = spec.compile()
        found.append([*values, again.dof_damping, m.dof_armature, m.dof_damping, m.jnt_type])
    equal(found)


def test_free_joints_that_are_aligned_tell_what_a_file_cannot_say():
    spec = both()[1][1]
    spec.joint("free").align = True
    with pytest.raises(tisim.Error, match="None takes away"):
        spec.joint("free").damping = 1
    assert "freejoint" in spec.to_xml()
    spec.joint("free").align = None
    spec.joint("free").damping = 1
    assert spec.compile().dof_damping[0] == 1


@pytest.mark.parametrize("kind", ["connect", "weld", "joint", "tendon"])
def test_data_of_equalities_are_eleven_numbers_that_are_written_by_parts(kind):
    found = []
    of = dict(connect="body", weld="body").get(kind, kind)
    for module, spec in both():
        eq = spec.add_equality(type=getattr(module.mjtEq, f"mjEQ_{kind.upper()}"),
                               objtype=getattr(module.mjtObj, f"mjOBJ_{of.upper()}"),
                               name1=dict(body="a", joint="slide", tendon="t")[of])  # fmt: skip
        if of == "body":
            eq.data[1] = 0  # MuJoCo's is 1, as of a joint's polynomial
        eq.data[0], eq.data[2] = 0.25, 0.5
        found.append([np.array(eq.data), spec.compile().eq_data])
        eq.data[:3] = [1, 2, 3]
        found[-1] += [np.array(eq.data), spec.compile().eq_data]
    equal(found)
    fresh = both()[1][1].add_equality(type="joint", name1="slide")
    assert fresh.data.tolist() == [0, 1] + [0] * 8 + [1]


MADE = dict(sphere=dict(subdivision=1), hemisphere=dict(resolution=3), cone=dict(nedge=6, radius=0.5),
            supersphere=dict(resolution=6, e=0.8, n=0.9), supertorus=dict(resolution=6, radius=0.4, s=1, t=1),
            wedge=dict(resolution=[5, 5], fov=[30, 30], gamma=0.5), plate=dict(resolution=[4, 4]))  # fmt: skip


@pytest.mark.parametrize("shape", MADE)
def test_meshes_are_made_by_calls(shape):
    found = []
    for module, spec in both():
        mesh = spec.add_mesh(name="made")
        if shape in ("wedge", "plate"):
            mesh.inertia = module.mjtMeshInertia.mjMESH_INERTIA_SHELL
        getattr(mesh, f"make_{shape}")(**MADE[shape])
        spec.worldbody.add_geom(type=module.mjtGeom.mjGEOM_MESH, meshname="made", contype=0, conaffinity=0)
        m = spec.compile()
        found.append([m.mesh_vert, m.mesh_face, m.geom_size])
    for a, b in zip(*found):
        np.testing.assert_allclose(b, a, atol=1e-6)


def test_tuples_are_read():
    for module, spec in both():
        kinds = [module.mjtObj.mjOBJ_BODY, module.mjtObj.mjOBJ_GEOM]
        t = spec.add_tuple(name="t2", objtype=kinds, objname=["a", "g"], objprm=[1, 2.5])
        assert list(map(int, t.objtype)) == list(map(int, kinds)), module
        assert (list(t.objname), list(t.objprm)) == (["a", "g"], [1, 2.5])


def test_what_a_spec_has_not_tells_what_to_use():
    spec = both()[1][1]
    with pytest.raises(AttributeError, match=r"m\.body\(name\)\.id"):
        spec.body("a").id
    with pytest.raises(AttributeError, match="PNG"):
        spec.add_texture(name="t").data = b"123"
    assert not hasattr(spec.body("a"), "id")


def test_defaults_act_on_what_is_there():
    """And elements that are not there are errors: both are told in tisim/MIGRATION.md, as MuJoCo's are not so."""
    for module, spec in both():
        spec.default.joint.damping = 9
        assert spec.compile().dof_damping[6] == (9 if module is tisim else 0.7)
    with pytest.raises(tisim.Error, match="no body named 'c'"):
        spec.body("c")
