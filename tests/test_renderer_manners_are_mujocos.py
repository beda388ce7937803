"""What mujoco's users write to make pictures runs on a tisim model with `mujoco` replaced by `tisim`, and gives the
same numbers: Renderer, options, cameras, depth, segmentation, camera matrices, films frame by frame, geoms that are
added to a scene, its flags, cameras that move. Models are read by `Model` and `Data`; steps drop their mj_."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tisim

XML = """<mujoco><visual><quality numslices="200" numstacks="100"/></visual>
  <asset><texture name="grid" type="2d" builtin="checker" rgb1=".1 .2 .3" rgb2=".2 .3 .4" width="300"
    height="300"/><material name="grid" texture="grid" texrepeat="8 8" reflectance=".2"/></asset>
  <worldbody><light name="top" pos="0 0 1"/>
    <geom name="floor" type="plane" size="2 2 .01" pos="0 0 -.6" material="grid"/>
    <camera name="closeup" pos="0 -.9 .3" xyaxes="1 0 0 0 .3 1"/>
    <body name="box_and_sphere" euler="0 0 -30"><joint name="swing" type="hinge" axis="1 -1 0" pos="-.2 -.2 -.2"/>
      <geom name="red_box" type="box" size=".2 .2 .2" rgba="1 0 0 1"/>
      <geom name="green_sphere" pos=".2 .2 .2" size=".1" rgba="0 1 0 1"/></body></worldbody></mujoco>"""
LINES = """
try:
  model.geom()
except KeyError as error:
  names = str(error)
renderer = mujoco.Renderer(model)
black = renderer.render()
ngeom = [renderer.scene.ngeom]
mujoco.mj_forward(model, data)
renderer.update_scene(data)
first = renderer.render()
model.geom('red_box').rgba[:3] = (0.2, 0.3, 0.9)
renderer.update_scene(data)
blue = renderer.render()

scene_option = mujoco.MjvOption()
mujoco.mjv_defaultOption(scene_option)
scene_option.flags[mujoco.mjtVisFlag.mjVIS_JOINT] = True
frames = []
mujoco.mj_resetData(model, data)
while data.time < duration:
  mujoco.mj_step(model, data)
  if len(frames) < data.time * framerate:
    renderer.update_scene(data, scene_option=scene_option)
    pixels = renderer.render()
    frames.append(pixels)

scene_option.frame = mujoco.mjtFrame.mjFRAME_GEOM
scene_option.flags[mujoco.mjtVisFlag.mjVIS_TRANSPARENT] = True
scene_option.flags[mujoco.mjtVisFlag.mjVIS_CONTACTPOINT] = True
scene_option.flags[mujoco.mjtVisFlag.mjVIS_CONTACTFORCE] = True
model.vis.scale.contactwidth = 0.1
model.vis.scale.contactheight = 0.03
model.vis.scale.forcewidth = 0.05
model.vis.map.force = 0.3
renderer.update_scene(data, "closeup", scene_option)
closeup = renderer.render()

camera = mujoco.MjvCamera()
mujoco.mjv_defaultFreeCamera(model, camera)
camera.distance = 2.3
camera.lookat = data.body('box_and_sphere').subtree_com
renderer.update_scene(data, camera)
tracked = renderer.render()

renderer.enable_depth_rendering()
renderer.update_scene(data)
depth = renderer.render()
metres = depth.copy()
depth -= depth.min()
depth = depth / (2 * depth[depth <= 1].mean())
depth_pixels = 255 * np.clip(depth, 0, 1)
renderer.disable_depth_rendering()

renderer.enable_segmentation_rendering()
renderer.update_scene(data)
seg = renderer.render()
geom_ids = seg[:, :, 0]
geom_ids = geom_ids.astype(np.float64) + 1
geom_ids = geom_ids / geom_ids.max()
seg_pixels = 255 * geom_ids
renderer.disable_segmentation_rendering()

renderer.update_scene(data)
pos = np.mean([camera.pos for camera in renderer.scene.camera], axis=0)
z = -np.mean([camera.forward for camera in renderer.scene.camera], axis=0)
y = np.mean([camera.up for camera in renderer.scene.camera], axis=0)
rot = np.vstack((np.cross(y, z), y, z))
fov = model.vis.global_.fovy
translation = np.eye(4)
translation[0:3, 3] = -pos
rotation = np.eye(4)
rotation[0:3, 0:3] = rot
focal_scaling = (1. / np.tan(np.deg2rad(fov) / 2)) * renderer.height / 2.0
focal = np.diag([-focal_scaling, focal_scaling, 1.0, 0])[0:3, :]
image = np.eye(3)
image[0, 2] = (renderer.width - 1) / 2.0
image[1, 2] = (renderer.height - 1) / 2.0
matrix = image @ focal @ rotation @ translation
box_pos = data.geom_xpos[model.geom('red_box').id]
corners = box_pos + 0.2 * np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) @ data.geom_xmat[
    model.geom('red_box').id].reshape(3, 3).T
xs, ys, s = matrix @ np.vstack((corners.T, np.ones(8)))
x, y = xs / s, ys / s

def add(scene, kind, size, pos, rgba, objid):
  if scene.ngeom >= scene.maxgeom:
    return None
  scene.ngeom += 1
  geom = scene.geoms[scene.ngeom - 1]
  mujoco.mjv_initGeom(geom, kind, np.array(size), np.array(pos), np.eye(3).ravel(), np.array(rgba, np.float32))
  geom.objtype, geom.objid, geom.segid = mujoco.mjtObj.mjOBJ_SITE, objid, scene.ngeom - 1
  return geom

def draw(scene):
  for i in range(len(path) - 1):
    rgba = np.array((np.clip(speeds[i] / 3, 0, 1), np.clip(1 - speeds[i] / 3, 0, 1), 0.5, 1.0))
    geom = add(scene, mujoco.mjtGeom.mjGEOM_CAPSULE, [0, 0, 0], [0, 0, 0], rgba, 100)
    mujoco.mjv_connector(geom, mujoco.mjtGeom.mjGEOM_CAPSULE, 0.02 * (1 + speeds[i]), path[i], path[i + 1])
  add(scene, mujoco.mjtGeom.mjGEOM_SPHERE, [0.12, 0.12, 0.12], [-0.5, 0.3, 0.2], [1, 1, 0, 1], 101)
  add(scene, mujoco.mjtGeom.mjGEOM_BOX, [0.1, 0.2, 0.1], [0.5, 0.2, -0.3], [0, 1, 1, 1], 102)
  add(scene, mujoco.mjtGeom.mjGEOM_ELLIPSOID, [0.1, 0.2, 0.3], [0.7, 0.5, 0.1], [0, 1, 1, 1], 103)
  for k, kind in enumerate(("CYLINDER", "ARROW", "ARROW1", "ARROW2", "LINE")):
    width = 4 if kind == "LINE" else 0.06
    kind = getattr(mujoco.mjtGeom, "mjGEOM_" + kind)
    geom = add(scene, kind, [0, 0, 0], [0, 0, 0], [1, 0.5, 0, 1], 104 + k)
    mujoco.mjv_connector(geom, kind, width, np.array([-0.7, 0.3 * k - 0.5, -0.5]), np.array([-0.8, 0.3 * k - 0.5, 0.3]))

path, speeds = [], []
mujoco.mj_resetData(model, data)
mujoco.mj_forward(model, data)
while data.time < duration:
  path.append(data.geom_xpos[data.geom("green_sphere").id].copy())
  speeds.append(np.linalg.norm(data.qvel))
  for i in range(10):
    mujoco.mj_step(model, data)
mujoco.mj_forward(model, data)
renderer.update_scene(data)
ngeom.append(renderer.scene.ngeom)
without = renderer.render()
renderer.enable_segmentation_rendering()
plain = renderer.render()
renderer.disable_segmentation_rendering()
draw(renderer.scene)
ngeom.append(renderer.scene.ngeom)
colors = renderer.render()
renderer.enable_segmentation_rendering()
things = renderer.render()
renderer.enable_depth_rendering()
reach = renderer.render()
renderer.disable_depth_rendering()
renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
flat = renderer.render()
renderer.update_scene(data)
ngeom.append(renderer.scene.ngeom)
again = renderer.render()
renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = True
renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = True
flags = renderer.scene.flags.copy()
eyes = [(*eye.pos, *eye.forward, *eye.up) for eye in renderer.scene.camera]
frusta = [(eye.frustum_near, eye.frustum_far, eye.frustum_top, eye.frustum_bottom) for eye in renderer.scene.camera]

cam = mujoco.MjvCamera()
cam.distance = 7
mujoco.mjv_defaultCamera(cam)
orbit = [cam.distance, cam.azimuth, cam.elevation]
renderer.enable_segmentation_rendering()
around = []
for k in range(4):
  cam.distance, cam.azimuth, cam.elevation = 2 - 0.2 * k, 140 + 30 * k, -30
  cam.lookat = data.geom('red_box').xpos.copy()
  renderer.update_scene(data, cam)
  around.append(renderer.render())
renderer.disable_segmentation_rendering()
renderer.close()
size = [renderer.height, renderer.width]

with mujoco.Renderer(model, 60, 80) as renderer:
  renderer.update_scene(data, camera="closeup")
  small = renderer.render()
"""
NAMES = dict(mj_step="step", mj_forward="forward", mj_resetData="reset")
GIVEN = dict(np=np, duration=0.2, framerate=30)
THEIRS = """
import sys, mujoco, numpy as np
import test_renderer_manners_are_mujocos as t
model = mujoco.MjModel.from_xml_string(t.XML)
mujoco.Renderer(model).close()
print("it draws")
found = dict(t.GIVEN, mujoco=mujoco, model=model, data=mujoco.MjData(model))
exec(t.LINES, found)
np.savez(sys.argv[1], **{name: found[name] for name in t.COMPARED})
"""
NUMBERS = "ngeom path speeds x y orbit size flags eyes frusta black".split()
PICTURES = dict(first="seg", blue="seg", without="plain", colors="things", flat="things", again="plain")
COMPARED = [*NUMBERS, *PICTURES, "seg", "plain", "things", "around", "metres", "reach"]
ROUND = 104  # ids of added geoms from here on are arrows and lines, whose heads are discs here, and facets there


@pytest.fixture(scope="module")
def found():
    """What the lines leave behind with tisim."""
    tisim.init(arch="cpu", precision="f64")
    model = tisim.Model.from_xml_string(XML)
    lines = LINES.replace("mujoco.", "tisim.")
    for theirs, ours in NAMES.items():
        lines = lines.replace(theirs, ours)
    found = dict(GIVEN, tisim=tisim, model=model, data=tisim.Data(model))
    exec(lines, found)
    return found


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """And with mujoco."""
    path = tmp_path_factory.mktemp("manners") / "theirs.npz"
    here = os.pathsep.join((os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")))
    done = subprocess.run([sys.executable, "-c", THEIRS, str(path)], capture_output=True, text=True,
                          env=dict(os.environ, MUJOCO_GL="osmesa", PYTHONPATH=here))  # fmt: skip
    assert done.returncode == 0 or "it draws" not in done.stdout, done.stderr
    if done.returncode:
        pytest.skip(f"mujoco.Renderer does not work here (apt-get install libosmesa6): {done.stderr[-200:]}")
    return np.load(path)


def test_the_lines_of_a_tutorial_run(found):
    model = found["model"]
    assert all(name in found["names"] for name in ("floor", "red_box", "green_sphere"))
    assert found["first"].shape == (240, 320, 3) and found["small"].shape == (60, 80, 3)
    assert len(found["frames"]) in (6, 7) and (found["frames"][0] != found["frames"][-1]).any()
    assert (found["closeup"] != found["tracked"]).mean() > 0.2
    assert 0 <= found["depth_pixels"].min() < found["depth_pixels"].max() <= 255
    assert len(np.unique(found["seg_pixels"])) == 4, "nothing, the floor, box and sphere"
    # the box's corners, projected by the matrix, lie around its pixels
    rows, columns = np.nonzero(found["seg"][:, :, 0] == model.geom("red_box").id)
    x, y = found["x"], found["y"]
    assert x.min() - 1 <= columns.min() and columns.max() <= x.max() + 1
    assert y.min() - 1 <= rows.min() and rows.max() <= y.max() + 1
    assert columns.max() - columns.min() > 0.8 * np.ptp(x)


def test_numbers_are_mujocos(found, theirs):
    for name in NUMBERS:
        ours, other = np.asarray(found[name], float), theirs[name].astype(float)
        if name == "eyes":  # the two are apart by the distance of eyes there
            ours, other = ours.mean(0), other.mean(0)
        assert ours.shape == other.shape and np.allclose(ours, other, rtol=1e-5, atol=1e-5), name
    assert found["ngeom"] == [0, 3, 3 + 17, 3] and not found["black"].any()


def test_segmentation_and_depth_are_mujocos_with_what_was_added(found, theirs):
    for name, least in (("seg", 0.999), ("plain", 0.999), ("around", 0.999), ("things", 0.997)):
        same = (np.asarray(found[name]) == theirs[name]).all(-1)
        assert same.mean() >= least, (name, same.mean())
    for ids, depth in (("seg", "metres"), ("things", "reach")):
        ours, other = found[ids], theirs[ids]
        near = (ours == other).all(-1) & (ours[..., 0] >= 0) & (ours[..., 0] < ROUND)
        assert (np.abs(found[depth] - theirs[depth])[near] <= 1e-3).mean() >= 0.99, depth
    for k in range(100, ROUND + 5):
        ours, other = found["things"][..., 0] == k, theirs["things"][..., 0] == k
        assert (ours & other).sum() > 0.9 * (ours | other).sum() > 0, k


def test_colours_are_mujocos_with_what_was_added(found, theirs):
    """Where something is: behind it mujoco's picture is black."""
    for name, ids in PICTURES.items():
        there = (theirs[ids][..., 0] >= 0) & (found[ids] == theirs[ids]).all(-1) & (theirs[ids][..., 0] < ROUND)
        apart = np.abs(found[name].astype(int) - theirs[name].astype(int)).max(2)[there]
        assert np.median(apart) <= 5 and (apart > 20).mean() < 0.03, (name, np.median(apart), (apart > 20).mean())
    assert (found["colors"] != found["without"]).any(2).mean() > 0.1 and (found["flat"] != found["colors"]).any()


def test_added_geoms_are_of_any_number_until_the_next_update():
    model = tisim.Model.from_xml_string(XML)
    data = tisim.Data(model)
    tisim.forward(model, data)
    sphere, decor = tisim.mjtGeom.mjGEOM_SPHERE, tisim.mjtCatBit.mjCAT_DECOR
    with tisim.Renderer(model, 60, 80, max_geom=5) as renderer:
        scene = renderer.scene
        assert scene.maxgeom >= 5 and scene.ngeom == 0
        renderer.update_scene(data)
        first, depth, seg = renderer.render_all()
        for _ in range(2):
            scene.ngeom += 2000  # beyond all room that there was
            for k in range(2000):
                tisim.mjv_initGeom(scene.geoms[3 + k], sphere, [0.01, 0, 0], [k / 1000 - 1, 0, 0.3], None, [1, 0, 0, 1])
            assert renderer.scene is scene and scene.ngeom == 2003 == len(scene.geoms[: scene.ngeom])
            picture, near, things = renderer.render_all()
            changed = (things != seg).any(2)
            assert changed.sum() > 100 and (things[changed] == 0).all(), "id and type that nobody gave"
            assert (near[changed] < depth[changed]).all() and (near == depth)[~changed].all()
            assert picture[changed].astype(int)[:, 0].mean() > 2 * picture[changed].astype(int)[:, 1].mean()
            renderer.update_scene(data)
            assert scene.ngeom == 3 and (renderer.render() == first).all()
        # what has no segid is neither segmented nor measured; a decoration throws no shadow
        scene.ngeom = 4
        tisim.mjv_initGeom(scene.geoms[3], sphere, [0.1, 0, 0], [0.4, -0.2, 0.4], None, [1, 0, 0, 1])
        shaded = renderer.render()
        scene.geoms[3].category, scene.geoms[3].segid = decor, -1
        unshaded = renderer.render()
        assert unshaded.astype(int).sum() > shaded.astype(int).sum() and (unshaded != first).any()
        renderer.enable_segmentation_rendering()
        assert (renderer.render() == seg).all()
        renderer.disable_segmentation_rendering()
        # geoms of the model are read; the rest is told
        assert scene.geoms[1].objid == 1 and np.allclose(scene.geoms[1].rgba, [1, 0, 0, 1])
        assert np.allclose(scene.geoms[2].pos, data.geom_xpos[2]) and np.allclose(scene.geoms[2].size, 0.1)
        with pytest.raises(tisim.Error, match="write the model's"):
            scene.geoms[1].rgba = [0, 1, 0, 1]
        with pytest.raises(ValueError):
            scene.geoms[1].rgba[0] = 0
        with pytest.raises(tisim.Error, match="the first 3 are the model's"):
            scene.ngeom = 2
        with pytest.raises(IndexError, match="room for"):
            scene.geoms[10**6]
        for field, value, words in (("label", "a", "no labels"), ("type", 7, r"scene.geoms\[3\].type mjGEOM_MESH")):
            tisim.mjv_initGeom(scene.geoms[3], sphere, None, None, None, None)
            setattr(scene.geoms[3], field, value)
            with pytest.raises(tisim.UnsupportedError, match=words):
                renderer.render()
        renderer.update_scene(data)
        scene.flags[tisim.mjtRndFlag.mjRND_WIREFRAME] = 1
        with pytest.raises(tisim.UnsupportedError, match="mjRND_WIREFRAME"):
            renderer.render()
    with pytest.raises(tisim.Error, match="max_geom"):
        tisim.Renderer(model, max_geom=-1)


def test_other_renderers_do_not_take_what_was_added():
    model = tisim.Model.from_xml_string(XML)
    data = tisim.Data(model)
    tisim.forward(model, data)
    with tisim.Renderer(model, 60, 80) as one, tisim.Renderer(model, 60, 80) as other:
        one.update_scene(data)
        one.scene.ngeom += 1
        geom = one.scene.geoms[3]
        tisim.mjv_initGeom(geom, tisim.mjtGeom.mjGEOM_BOX, [0.1, 0.2, 0.1], [0, -0.4, 0], None, [1, 1, 0, 0.5])
        with_box = one.render()
        other.update_scene(data)
        without = other.render()
        assert (one.render() == with_box).all() and (with_box != without).any()
        assert (other.render() == without).all()
        geom.rgba[3] = 0
        assert (one.render() == without).all()


def test_cameras_of_every_kind_see():
    model = tisim.Model.from_xml_string(XML)
    data = tisim.Data(model)
    tisim.forward(model, data)
    camera = tisim.MjvCamera()
    with tisim.Renderer(model, 60, 80) as renderer:
        camera.type, camera.fixedcamid = tisim.mjtCamera.mjCAMERA_FIXED, 0
        renderer.update_scene(data, camera)
        fixed = renderer.render()
        renderer.update_scene(data, "closeup")
        assert (renderer.render() == fixed).all()
        camera.type, camera.trackbodyid = tisim.mjtCamera.mjCAMERA_TRACKING, 1
        renderer.update_scene(data, camera)
        assert (renderer.render() != fixed).any()
        assert np.allclose(renderer.scene.camera[0].pos + 2 * renderer.scene.camera[0].forward, data.subtree_com[1])
        for wrong in (dict(orthographic=1), dict(type=3), dict(trackbodyid=7), dict(type=2, fixedcamid=4)):
            bad = tisim.MjvCamera()
            bad.type, bad.trackbodyid = 1, 1
            for name, value in wrong.items():
                setattr(bad, name, value)
            with pytest.raises(tisim.Error):
                renderer.update_scene(data, bad)
