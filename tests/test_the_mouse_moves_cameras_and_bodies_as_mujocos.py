"""A window's camera turns, moves and zooms, and a body in the mouse's hand is pulled, turned and put somewhere, as
MuJoCo's mjv_moveCamera, mjv_initPerturb, mjv_movePerturb, mjv_applyPerturbForce and mjv_applyPerturbPose have it; what
the user applies to bodies is added to and given back."""

import mujoco
import numpy as np
import pytest

import tisim
from tisim.viewer import moving, perturb

XML = """<mujoco><visual><map stiffness="120" stiffnessrot="500"/></visual>
<worldbody><camera name="side" pos="0 -3 1" xyaxes="1 0 0 0 .3 1"/><camera name="top" pos="0 0 4"/>
  <geom type="plane" size="3 3 .1" pos="0 0 -2"/>
  <body name="box" pos="0 0 1" euler="20 30 40"><freejoint/><geom type="box" size=".2 .15 .1" pos=".05 .02 0"
    euler="10 20 30"/>
    <body name="rod" pos=".4 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 .1 0" size=".03"/></body>
  </body>
  <body name="target" mocap="true" pos="1 0 1"><geom size=".1" contype="0" conaffinity="0" pos=".1 0 0"/></body>
</worldbody></mujoco>"""
ACTIONS = dict(ROTATE_V=("orbit", 0), ROTATE_H=("orbit", 1), MOVE_V=("pan", 0), MOVE_H=("pan", 1), ZOOM=("zoom", 0))


@pytest.fixture(scope="module")
def pair():
    """The same model and state in both: (m, d), (their m, d, scene)."""
    tisim.init(precision="f64")
    m, theirs = tisim.Model.from_xml_string(XML), mujoco.MjModel.from_xml_string(XML)
    d, data = tisim.Data(m), mujoco.MjData(theirs)
    data.qvel[:] = np.random.default_rng(0).normal(size=m.nv)
    d.qvel[:] = data.qvel
    tisim.forward(m, d)
    mujoco.mj_forward(theirs, data)
    return m, d, theirs, data, mujoco.MjvScene(theirs, 100)


def cameras(m, d, theirs, data, scene, **values):
    """The same camera in both, after their scene has seen it: ours as MjvCamera and Camera, theirs."""
    cam = moving.default_free(m)
    other = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(theirs, other)
    for name, value in values.items():
        setattr(cam, name, value)
        setattr(other, name, value)
    mujoco.mjv_updateCamera(theirs, data, other, scene)
    return cam, moving.camera_of(m, d, cam), other


def same(ours, theirs, names=("azimuth", "elevation", "distance", "lookat")):
    for name in names:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-6, err_msg=name)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_camera_moves_as_mujocos(pair, action):
    m, d, theirs, data, scene = pair
    for dx, dy in ((0.1, 0.05), (-0.3, 0.2), (0.2, -0.9), (0.0, 2.0)):
        cam, camera, other = cameras(*pair, azimuth=70.0, elevation=-20.0, distance=3.0)
        mujoco.mjv_moveCamera(theirs, getattr(mujoco.mjtMouse, f"mjMOUSE_{action}"), dx, dy, scene, other)
        how, level = ACTIONS[action]
        eye = moving.Eye(m, camera)
        eye.take(cam)
        eye.dragged(d, 0, how, dx, dy, level)
        same(eye.cam, other)


def test_tracking_and_fixed_cameras_see_what_mujocos_see(pair):
    m, d, theirs, data, scene = pair
    for values in (dict(type=1, trackbodyid=2), dict(type=2, fixedcamid=0), dict(type=2, fixedcamid=1)):
        cam, camera, other = cameras(*pair, **values)
        both = scene.camera
        position = 0.5 * (np.array(both[0].pos) + both[1].pos)
        np.testing.assert_allclose(camera.position, position, atol=1e-6)
        np.testing.assert_allclose(camera.forward, both[0].forward, atol=1e-6)
        np.testing.assert_allclose(camera.axes[1], both[0].up, atol=1e-6)
        same(cam, other, ("lookat",))


def test_cameras_are_cycled_and_a_moved_one_is_free(pair):
    m, d, *_ = pair
    eye = moving.Eye(m, tisim.viewer.Camera.default(m))
    names = []
    for _ in range(5):
        names.append(eye.about())
        eye.cycle(1, body=2)
    assert names == ["free camera", "following rod", "camera side", "camera top", "free camera"]
    eye.cycle(1, body=2)
    assert eye.about() == "camera side"
    before = eye.camera(d, 0)
    eye.dragged(d, 0, "orbit", 0.0, 0.0)
    after = eye.camera(d, 0)
    assert eye.about() == "free camera"
    np.testing.assert_allclose(after.position, before.position, atol=1e-9)
    np.testing.assert_allclose(after.forward, before.forward, atol=1e-9)


def held(pair, body, localpos=(0.1, 0.05, 0.02)):
    """A body in both hands: ours, theirs, our Camera."""
    m, d, theirs, data, scene = pair
    _, camera, _ = cameras(*pair, azimuth=70.0, elevation=-20.0, distance=3.0)
    ours, other = tisim.MjvPerturb(), mujoco.MjvPerturb()
    for p in (ours, other):
        p.select, p.localpos = body, localpos
    perturb.begin(m, d, camera, ours)
    mujoco.mjv_initPerturb(theirs, data, scene, other)
    return ours, other, camera


HELD = "select", "localmass", "scale", "refpos", "refselpos", "refquat"


@pytest.mark.parametrize("body", [1, 2])
@pytest.mark.parametrize("action", ["ROTATE_V", "ROTATE_H", "MOVE_V", "MOVE_H"])
def test_a_body_is_taken_moved_and_pulled_as_in_mujoco(pair, body, action):
    m, d, theirs, data, scene = pair
    for dx, dy in ((0.1, 0.05), (0.6, -0.4)):
        ours, other, camera = held(pair, body)
        same(ours, other, HELD)
        ours.active = other.active = 1 if action.startswith("MOVE") else 2
        mujoco.mjv_movePerturb(theirs, data, getattr(mujoco.mjtMouse, f"mjMOUSE_{action}"), dx, dy, scene, other)
        perturb.move(m, d, camera, ours, dx, dy, action.startswith("ROTATE"), action.endswith("H"))
        same(ours, other, HELD)
        for active in (1, 2, 3):
            ours.active = other.active = active
            data.xfrc_applied[:] = 0
            mujoco.mjv_applyPerturbForce(theirs, data, other)
            np.testing.assert_allclose(perturb.force(m, d, ours), data.xfrc_applied[body], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("body", [1, 2, 3])
@pytest.mark.parametrize("paused", [0, 1])
def test_a_body_is_put_where_mujoco_puts_it(pair, body, paused):
    m, d, theirs, data, scene = pair
    ours, other, _ = held(pair, body)
    for p in (ours, other):
        p.active, p.refpos, p.refquat = 1, p.refpos + [0.1, 0.2, 0.3], [0.8, 0.0, 0.6, 0.0]
    before = data.qpos.copy(), data.mocap_pos.copy(), data.mocap_quat.copy()
    try:
        mujoco.mjv_applyPerturbPose(theirs, data, other, paused)
        tisim.mjv_apply_perturb_pose(m, d, ours, paused)
        for name in ("qpos", "mocap_pos", "mocap_quat"):
            np.testing.assert_allclose(getattr(d, name), getattr(data, name), atol=1e-6, err_msg=name)
    finally:
        for name, values in zip(("qpos", "mocap_pos", "mocap_quat"), before):
            getattr(data, name)[:] = values
            getattr(d, name)[:] = values


def test_the_users_forces_are_added_to_and_given_back(pair):
    m, d, *_ = pair
    ours, _, _ = held(pair, 1)
    ours.active, ours.refselpos = 1, ours.refselpos + [0, 0, 0.5]
    own = np.array([0.1, 1 / 3, 0, 0, 0, 0.7])
    d.xfrc_applied[:] = 0
    d.xfrc_applied[1] = own
    hand = perturb.Hand()
    for _ in range(3):
        hand.apply(m, d, ours)
    np.testing.assert_allclose(d.xfrc_applied[1], own + perturb.force(m, d, ours))
    assert perturb.force(m, d, ours)[2] > 10
    other = np.array([5.0, 0, 0, 0, 0, 0])
    d.xfrc_applied[1] = other  # the user has changed it meanwhile
    hand.apply(m, d, ours)
    np.testing.assert_allclose(d.xfrc_applied[1], other + perturb.force(m, d, ours))
    ours.active = 0
    hand.apply(m, d, ours)
    assert (np.asarray(d.xfrc_applied[1]) == other).all() and not np.asarray(d.xfrc_applied[2:]).any()
    d.xfrc_applied[:] = 0


def test_a_ray_through_a_pixel_selects_what_is_seen_there(pair):
    m, d, *_ = pair
    camera = tisim.viewer.Camera.framing(m, np.asarray(d.geom_xpos))
    for geom in (1, 2):
        (x, y), _ = (v[0] for v in camera.project(d.geom_xpos[geom], 640, 360))
        body, at = perturb.select(m, d, *moving.ray_through(camera, x / 640, y / 360, 640 / 360))
        assert body == m.geom_bodyid[geom]
        point = d.xpos[body] + np.asarray(d.xmat[body]).reshape(3, 3) @ at
        np.testing.assert_allclose(camera.project(point, 640, 360)[0][0], (x, y), atol=1e-6)
    assert perturb.select(m, d, np.array([0, 0, 9.0]), np.array([0, 0, 1.0])) == (-1, None)


def test_structures_have_mujocos_defaults_and_refuse_other_names():
    for name in ("MjvCamera", "MjvOption", "MjvPerturb", "MjvGeom"):
        ours, theirs = getattr(tisim, name)(), getattr(mujoco, name)()
        for field in ours._FIELDS:
            value, expected = getattr(ours, field), getattr(theirs, field)
            if (name, field) != ("MjvGeom", "type"):
                assert value == expected if isinstance(value, str) else np.allclose(value, expected, 1e-7), field
    cam = tisim.MjvCamera()
    cam.lookat = [1, 2, 3]
    cam.lookat[2] += 1
    assert cam.lookat.tolist() == [1, 2, 4]
    with pytest.raises(tisim.Error, match="no field 'looakt'"):
        cam.looakt = 3
    with pytest.raises(tisim.Error, match="MjvCamera.lookat: expected numbers of shape"):
        cam.lookat = [1, 2]
    scene = tisim.MjvScene(maxgeom=3)
    scene.ngeom = 3
    with pytest.raises(tisim.Error, match="holds 3"):
        scene.ngeom = 4
    tisim.mjv_init_geom(scene.geoms[2], tisim.mjtGeom.mjGEOM_SPHERE, [0.1, 0, 0], [1, 2, 3], np.eye(3).ravel(), [1] * 4)
    assert scene.geoms[2].pos.tolist() == [1, 2, 3]
    theirs, ours = mujoco.MjvGeom(), tisim.MjvGeom()
    for kind in ("CAPSULE", "CYLINDER", "ARROW", "LINE"):
        kind = getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")
        mujoco.mjv_connector(theirs, kind, 0.02, [1, 2, 3], [2, 2.5, 2])
        tisim.mjv_connector(ours, kind, 0.02, [1, 2, 3], [2, 2.5, 2])
        np.testing.assert_allclose(ours.size, theirs.size, atol=1e-6)
        np.testing.assert_allclose(ours.pos, theirs.pos, atol=1e-6)
        np.testing.assert_allclose(ours.mat[:, 2], theirs.mat[:, 2], atol=1e-6)
