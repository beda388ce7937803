"""What mujoco's users write to make pictures runs on a tisim model with `mujoco` replaced by `tisim`: Renderer,
options, cameras, depth, segmentation, camera matrices, films frame by frame. Models are read by `Model` and `Data`."""

import numpy as np
import pytest

import tisim

XML = """<mujoco><asset><texture name="grid" type="2d" builtin="checker" rgb1=".1 .2 .3" rgb2=".2 .3 .4" width="300"
    height="300"/><material name="grid" texture="grid" texrepeat="8 8" reflectance=".2"/></asset>
  <worldbody><light name="top" pos="0 0 1"/>
    <geom name="floor" type="plane" size="2 2 .01" pos="0 0 -.6" material="grid"/>
    <camera name="closeup" pos="0 -.9 .3" xyaxes="1 0 0 0 .3 1"/>
    <body name="box_and_sphere" euler="0 0 -30"><joint name="swing" type="hinge" axis="1 -1 0" pos="-.2 -.2 -.2"/>
      <geom name="red_box" type="box" size=".2 .2 .2" rgba="1 0 0 1"/>
      <geom name="green_sphere" pos=".2 .2 .2" size=".1" rgba="0 1 0 1"/></body></worldbody></mujoco>"""
LINES = """
renderer = mujoco.Renderer(model)
mujoco.mj_forward(model, data)
renderer.update_scene(data)
first = renderer.render()

scene_option = mujoco.MjvOption()
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
depth = depth - depth.min()
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
renderer.close()

with mujoco.Renderer(model, 60, 80) as renderer:
  renderer.update_scene(data, camera="closeup")
  small = renderer.render()
"""
NAMES = dict(mj_step="step", mj_forward="forward", mj_resetData="reset", mjv_defaultFreeCamera="default_free_camera")


def test_the_lines_of_a_tutorial_run():
    tisim.init(arch="cpu", precision="f64")
    model = tisim.Model.from_xml_string(XML)
    data = tisim.Data(model)
    lines = LINES.replace("mujoco.", "tisim.")
    for theirs, ours in NAMES.items():
        lines = lines.replace(theirs, ours)
    found = dict(tisim=tisim, np=np, model=model, data=data, duration=0.2, framerate=30)
    exec(lines, found)
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
