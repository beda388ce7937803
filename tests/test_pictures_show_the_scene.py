"""A picture shows what is in the scene, where the camera projects it, in its colour, without a window; contacts and
islands can be shown. The camera frames all that moves, or is the model's own. No Vulkan is needed."""

import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import tisim
from tisim.mjcf import rotations
from tisim.viewer import Camera, render, save_png, vulkan
from tisim.viewer import camera as cameras
from tisim.viewer.drawing import poses
from tisim.viewer.measures import color_bytes
from tisim.viewer.raster import Raster

SCENE = """<mujoco><worldbody>
  <geom type="plane" size="5 5 .1" rgba=".8 .8 .8 1"/>
  <body pos="-.6 0 .3"><freejoint/><geom type="sphere" size=".3" rgba=".9 .05 .05 1"/></body>
  <body pos=".6 0 .3"><freejoint/><geom type="box" size=".25 .25 .3" rgba=".05 .8 .05 1"/></body>
  <body pos="0 .8 .5"><freejoint/><geom type="capsule" size=".15 .3" rgba=".05 .05 .9 1"/></body>
  <body pos="0 -3 .5"><freejoint/><geom type="sphere" size=".2" rgba="1 1 0 1" group="3"/></body>
</worldbody></mujoco>"""
CAMERA = Camera(azimuth=90, elevation=-25, distance=4, lookat=(0, 0.2, 0.3))


@pytest.fixture(scope="module")
def scene():
    m = tisim.Model.from_xml_string(SCENE)
    d = tisim.Data(m)
    tisim.forward(m, d)
    return m, d


def test_bodies_are_where_the_camera_projects_them(scene):
    m, d = scene
    picture = render(m, d, 320, 240, CAMERA).astype(int)
    assert picture.shape == (240, 320, 3)
    pixels, depth = CAMERA.project(np.asarray(d.geom_xpos), 320, 240)
    assert (depth[1:] > 0).all()
    for geom, channel in ((1, 0), (2, 1), (3, 2)):
        column, row = pixels[geom].round().astype(int)
        colour = picture[row, column]
        assert colour[channel] > 100 and colour[channel] > 1.5 * np.delete(colour, channel).max(), (geom, colour)
        # the picture of the body is centred there
        mine = picture[..., channel] > 1.5 * np.delete(picture, channel, axis=2).max(2)
        rows, columns = np.nonzero(mine)
        assert abs(columns.mean() - pixels[geom, 0]) < 8 and abs(rows.mean() - pixels[geom, 1]) < 20
    floor = picture[235, 160]
    assert floor.max() - floor.min() < 25, "the floor is grey"
    yellow = (picture[..., 0] > 150) & (picture[..., 1] > 150) & (picture[..., 2] < 60)
    assert not yellow.any(), "group 3 is hidden"


def test_bodies_throw_shadows(scene):
    m, d = scene
    lit = render(m, d, 160, 120, CAMERA, quality="plain").astype(int)
    shadowed = render(m, d, 160, 120, CAMERA).astype(int)
    darker = (lit - shadowed).sum(2) > 60
    assert 0.005 < darker.mean() < 0.5


def test_pictures_of_equal_states_are_equal_and_any_size_works(scene, tmp_path):
    m, d = scene
    first, other, again = (render(m, d, w, h, CAMERA) for w, h in ((160, 120), (120, 90), (160, 120)))
    assert (first == again).all() and other.shape == (90, 120, 3)
    save_png(tmp_path / "new" / "a.png", first)
    from PIL import Image

    assert (np.asarray(Image.open(tmp_path / "new" / "a.png")) == first).all()


def test_contacts_are_marked(scene):
    m, d = scene
    plain = render(m, d, 160, 120, CAMERA)
    marked = render(m, d, 160, 120, CAMERA, show_contacts=True).astype(int)
    orange = (marked[..., 0] > marked[..., 1] + 60) & (marked[..., 1] > marked[..., 2] + 30)
    assert d.ncon > 0 and orange.sum() > 5 and (plain != marked).any()


def test_islands_have_colours_of_their_own(scene):
    m, d = scene
    rgba = color_bytes(m, d, 0, "island")
    assert np.array_equal(rgba[0], color_bytes(m, d, 0, "geom")[0]) and len(np.unique(rgba[1:], axis=0)) == 4
    raster = Raster(m)
    raster.paint_state(d, 0, "island")
    assert len({int(word) for b in raster.batches for word in b.throws[:, 11].view(np.uint32)}) >= 3


def things(batch):
    """Geoms of a batch that throw shadows."""
    return batch.members[batch.floors : batch.opaque]


def vertices(batch):
    """What the window's shader makes of a batch but floors: points and normals (n, v, 3) each."""
    r = batch.throws.astype(float)
    half = r[:, 3, None, None] * batch.vertices[:, 6:7] * [0, 0, 1]
    at = r[:, None, 8:11] * batch.vertices[:, :3] + half
    normals = batch.vertices[:, 3:6] / np.maximum(r[:, None, 8:11], 1e-9)
    turn = rotations.matrix(r[:, 4:8])
    points = np.einsum("nij,nvj->nvi", turn, at) + r[:, None, :3]
    normals = np.einsum("nij,nvj->nvi", turn, normals / np.linalg.norm(normals, axis=2, keepdims=True))
    return points, normals


def test_vertices_of_the_window_lie_on_the_shapes(scene):
    m, d = scene
    positions = poses(m, d)[0]
    raster = Raster(m)
    raster.place(d, 0, CAMERA)
    assert sum(len(b.members) for b in raster.batches) == 4  # that of group 3 is not shown
    for batch in raster.batches:
        points, normals = vertices(batch)
        assert np.allclose(np.linalg.norm(normals, axis=2), 1, atol=1e-5)
        for geom, local in zip(things(batch), points - positions[things(batch)][:, None]):
            kind = m.geom_type[geom]
            if kind == tisim.mjtGeom.mjGEOM_SPHERE:
                assert np.allclose(np.linalg.norm(local, axis=1), 0.3, atol=1e-5)
            elif kind == tisim.mjtGeom.mjGEOM_BOX:
                assert np.allclose(np.abs(local), [0.25, 0.25, 0.3], atol=1e-5)
            elif kind == tisim.mjtGeom.mjGEOM_CAPSULE:
                axis = local - np.clip(local, -0.3, 0.3) * [0, 0, 1]
                assert np.allclose(np.linalg.norm(axis, axis=1), 0.15, atol=1e-5)
        # triangles are counter-clockwise seen from outside
        for points_, normals_ in zip(points, normals):
            a, b, c = (points_[batch.indices.reshape(-1, 3)[:, k]] for k in range(3))
            assert ((np.cross(b - a, c - a) * normals_[batch.indices.reshape(-1, 3)[:, 0]]).sum(1) > -1e-9).all()


FLAT = """<mujoco><worldbody>
  <geom type="box" size=".1 1 1" pos="2 0 1" rgba="1 1 1 .3"/>
  <geom type="sphere" size=".1" pos="0 0 2" rgba="1 1 1 .5"/>
  <geom type="plane" size="3 3 .1"/><geom type="sphere" size=".2" pos="0 0 1"/>
  <body pos="0 0 .5"><freejoint/><geom type="box" size=".2 .2 .2"/></body>
  <body pos="0 1 .5"><freejoint/><geom type="box" size=".3 .3 .3" rgba="0 1 0 .5"/></body>
  </worldbody></mujoco>"""


def test_a_window_draws_floors_boxes_and_panes_at_once():
    m = tisim.Model.from_xml_string(FLAT)
    raster = Raster(m)
    kind = np.asarray(m.geom_type)
    balls, boxes, *panes = raster.batches
    assert [kind[g] for g in boxes.members[:3]] == [0, 6, 6] and (boxes.floors, boxes.opaque) == (1, 2)
    assert boxes.records[:, 10].tolist() == [-1, *np.float32([0.2, 0.3])]  # a floor's third size is negative
    assert len(boxes.throws) == 1 and [m.geom_rgba[g][3] for g in boxes.members[2:]] == [np.float32(0.5)]
    assert (balls.floors, balls.opaque, len(balls.members)) == (0, 1, 1)
    assert [(b.opaque, len(b.members)) for b in panes] == [(0, 1), (0, 1)]  # what stands still, behind what moves


@pytest.mark.parametrize("name", ["shapes", "bowl", "ragdolls"])
def test_the_window_turns_geoms_as_they_are_turned(name):
    m = tisim.Model.from_scene(name)
    d = tisim.Data(m)
    tisim.step(m, d, 30)
    tisim.forward(m, d)
    raster = Raster(m)
    raster.place(d, 0, CAMERA)
    for b in raster.batches:
        turn = rotations.matrix(b.records[:, 4:8].astype(float))
        np.testing.assert_allclose(turn, np.asarray(d.geom_xmat).reshape(-1, 3, 3)[b.members], atol=1e-5)
        np.testing.assert_allclose(b.records[:, :3], np.asarray(d.geom_xpos)[b.members], atol=1e-5)


def test_shaders_are_what_their_sources_compile_to(tmp_path):
    compiler = shutil.which("glslangValidator")
    if compiler is None:
        pytest.skip("glslangValidator is not installed")
    folder = pathlib.Path(tisim.viewer.__file__).parent / "shaders"
    for kind in ("vert", "frag"):
        out = tmp_path / f"{kind}.spv"
        subprocess.run([compiler, "-V", str(folder / f"mesh.{kind}"), "-o", str(out)], check=True, capture_output=True)
        made, kept = out.read_bytes(), (folder / f"Mesh_vk_{kind}.spv").read_bytes()
        if made[8:12] != kept[8:12]:
            pytest.skip("another version of glslangValidator")
        assert made == kept
        if shutil.which("spirv-val"):
            subprocess.run(["spirv-val", str(out)], check=True)


def test_camera_texts():
    cam = Camera.parse("10,,3,,,7", Camera(elevation=-5, lookat=(1, 2, 3)))
    assert (cam.azimuth, cam.elevation, cam.distance, cam.lookat) == (10, -5, 3, (1, 2, 7))
    for wrong in ("a,b", "1,2,3,4,5,6,7", "1,2,-3"):
        with pytest.raises(tisim.Error):
            Camera.parse(wrong)
    pixel, depth = CAMERA.project(np.array(CAMERA.lookat), 320, 240)
    assert np.allclose(pixel, [[160, 120]]) and np.allclose(depth, 4)


def test_missing_vulkan_is_named_with_its_packages(scene, monkeypatch):
    monkeypatch.setattr(vulkan, "_devices", "no Vulkan driver is installed")
    with pytest.raises(tisim.Error, match="apt-get install -y mesa-vulkan-drivers libvulkan1"):
        vulkan.require()


def test_wrong_arguments_are_refused(scene):
    m, d = scene
    for wrong in (dict(color="mass"), dict(width=0), dict(width=20000), dict(world=1)):
        with pytest.raises(tisim.Error):
            render(m, d, **wrong)


@pytest.mark.parametrize("name, n", [("tower", 20), ("tower", 5000), ("pyramid", None), ("pile", 200), ("wall", 60),
                                     ("dominos", 50), ("chain", None), ("ragdolls", 4)])  # fmt: skip
@pytest.mark.parametrize("width, height", [(640, 360), (200, 300)])
def test_all_that_moves_is_in_view_and_fills_it(name, n, width, height):
    m = tisim.Model.from_scene(name, **({} if n is None else dict(n=n)))
    d = tisim.Data(m)
    tisim.forward(m, d)
    cam = cameras.choose(None, m, d, width / height)
    moving = (m.body_weldid[m.geom_bodyid] != 0) & (m.geom_type > 1)
    centres, radius = np.asarray(d.geom_xpos)[moving], m.geom_rbound[moving]
    # the outline of each geom's ball
    around = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    ring = np.stack([np.cos(around), np.sin(around), 0 * around], 1) @ cam.axes
    pixels, depth = cam.project((centres[:, None] + radius[:, None, None] * ring).reshape(-1, 3), width, height)
    assert (depth > cam.clip[0]).all()
    assert (pixels >= 0).all() and (pixels[:, 0] <= width).all() and (pixels[:, 1] <= height).all()
    spread = np.ptp(pixels, axis=0) / (width, height)
    assert spread.max() > 0.75, spread


def test_a_column_thinner_than_a_pixel_is_seen():
    m = tisim.Model.from_scene("tower", n=2000)
    d = tisim.Data(m)
    tisim.forward(m, d)
    picture = render(m, d, 120, 90, quality="plain").astype(int)
    sky = picture[:, 10:11]
    coloured = (np.abs(picture - sky).sum(2) > 20).any(1)
    assert coloured[10:80].all()


def test_a_body_flung_away_moves_no_camera():
    m = tisim.Model.from_scene("pile", n=30)
    d = tisim.Data(m)
    tisim.forward(m, d)
    before = cameras.choose(None, m, d).distance
    d.qpos[0] = 1e5
    tisim.forward(m, d)
    assert cameras.choose(None, m, d).distance < 1.2 * before


CAMERAS = """<mujoco><worldbody>
  <camera name="still" pos="1 2 3" euler="20 30 40"/><camera name="looking" pos="3 -1 2" mode="targetbody" target="b"/>
  <camera name="middle" pos="-3 -1 2" mode="targetbodycom" target="a"/>
  <body name="a" pos="0 .1 .2" euler="10 20 30"><freejoint/><geom size=".1"/><camera name="own" pos=".1 .2 .3"/>
    <camera name="track" pos="-1 0 .5" mode="track" euler="70 0 10"/>
    <camera name="com" pos="-1 0 1" mode="trackcom" euler="60 0 0" fovy="60"/>
    <body name="b" pos=".5 0 0"><joint axis="0 1 0"/><geom type="box" size=".2 .1 .1"/></body></body>
  <camera name="flat" orthographic="true" fovy="2"/>
</worldbody></mujoco>"""


def test_cameras_of_the_model_are_where_mujoco_has_them():
    import mujoco

    m, peer = tisim.Model.from_xml_string(CAMERAS), mujoco.MjModel.from_xml_string(CAMERAS)
    d, data = tisim.Data(m), mujoco.MjData(peer)
    d.qpos[:] = data.qpos[:] = [0.3, -0.2, 0.5, 0.5, 0.5, -0.5, 0.5, 0.7]
    tisim.forward(m, d)
    mujoco.mj_forward(peer, data)
    for name in ("still", "looking", "middle", "own", "track", "com"):
        cam, other = cameras.choose(name, m, d), data.camera(name)
        assert np.allclose(cam.position, other.xpos) and np.allclose(cam.axes.T.ravel(), other.xmat), name
        assert cam.fovy == peer.camera(name).fovy[0]
        free = cam.free()
        assert np.allclose(free.forward, cam.forward) and np.allclose(free.position, cam.position)
    for name, words in (("flat", "orthographic"), ("above", "it has still, looking"), ("1,2,0", "distance")):
        with pytest.raises(tisim.Error, match=words):
            cameras.choose(name, m, d)
