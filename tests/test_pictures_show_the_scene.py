"""A picture shows what is in the scene, where the camera projects it, in its colour, without a window; contacts and
islands can be shown. Where Vulkan is missing the error says which packages to install."""

import numpy as np
import pytest

import tisim
from tisim.viewer import Camera, render, save_png, vulkan
from tisim.viewer.drawing import Drawing, contact_marks, island_of_geom, poses

needs_vulkan = pytest.mark.skipif(vulkan.missing() is not None, reason=str(vulkan.missing()))

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


@needs_vulkan
def test_bodies_are_where_the_camera_projects_them(scene):
    m, d = scene
    picture = render(m, d, 320, 240, CAMERA, samples=1).astype(int)
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


@needs_vulkan
def test_bodies_throw_shadows(scene):
    m, d = scene
    lit = render(m, d, 160, 120, CAMERA, samples=1, shadows=False).astype(int)
    shadowed = render(m, d, 160, 120, CAMERA, samples=1).astype(int)
    darker = (lit - shadowed).sum(2) > 60
    assert 0.005 < darker.mean() < 0.5


@needs_vulkan
def test_pictures_of_equal_states_are_equal_and_any_size_works(scene, tmp_path):
    m, d = scene
    first, other, again = (render(m, d, w, h, CAMERA, samples=1) for w, h in ((160, 120), (120, 90), (160, 120)))
    assert (first == again).all() and other.shape == (90, 120, 3)
    save_png(tmp_path / "new" / "a.png", first)
    from PIL import Image

    assert (np.asarray(Image.open(tmp_path / "new" / "a.png")) == first).all()


@needs_vulkan
def test_contacts_are_marked(scene):
    m, d = scene
    plain = render(m, d, 160, 120, CAMERA, samples=1)
    marked = render(m, d, 160, 120, CAMERA, samples=1, show_contacts=True).astype(int)
    orange = (marked[..., 0] > marked[..., 1] + 60) & (marked[..., 1] > marked[..., 2] + 30)
    assert d.ncon > 0 and orange.sum() > 5 and (plain != marked).any()


def test_islands_have_colours_of_their_own(scene):
    m, d = scene
    labels = island_of_geom(m, d)
    assert labels[0] == -1 and len(set(labels[1:])) == 4
    drawing = Drawing(m, poses(m, d)[0])
    drawing.paint_islands(labels)
    assert len({tuple(drawing.vertices[b.start, 8:11]) for b in drawing.batches if len(b.geoms)}) >= 3


def test_vertices_lie_on_the_shapes(scene):
    m, d = scene
    positions, rotations = poses(m, d)
    drawing = Drawing(m, positions)
    drawing.place(positions, rotations)
    for batch in drawing.batches:
        kind = m.geom_type[batch.geoms[0]]
        points = drawing.vertices[batch.start : batch.stop, :3].reshape(len(batch.geoms), -1, 3)
        normals = drawing.vertices[batch.start : batch.stop, 3:6]
        assert np.allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-5)
        local = points - positions[batch.geoms][:, None]
        if kind == tisim.mjtGeom.mjGEOM_SPHERE:
            assert np.allclose(np.linalg.norm(local, axis=2), 0.3, atol=1e-5)
        elif kind == tisim.mjtGeom.mjGEOM_BOX:
            assert np.allclose(np.abs(local), [0.25, 0.25, 0.3], atol=1e-5)
        elif kind == tisim.mjtGeom.mjGEOM_CAPSULE:
            axis = local - np.clip(local, -0.3, 0.3) * [0, 0, 1]
            assert np.allclose(np.linalg.norm(axis, axis=2), 0.15, atol=1e-5)
        # triangles are counter-clockwise seen from outside
        indices = drawing.indices.reshape(-1, 3)
        mine = indices[(indices >= batch.start).all(1) & (indices < batch.stop).all(1)]
        a, b, c = (drawing.vertices[mine[:, k], :3] for k in range(3))
        outward = (np.cross(b - a, c - a) * drawing.vertices[mine[:, 0], 3:6]).sum(1)
        assert (outward > -1e-9).all()


def test_contact_marks_point_along_the_normal():
    positions, normals = np.float32([[1, 2, 3]]), np.float32([[0, 0.6, 0.8]])
    vertices, indices = contact_marks(positions, normals, 0.5)
    tip = ((vertices[:, :3] - positions) @ normals[0]).max()
    assert np.isclose(tip, 0.5) and indices.max() < len(vertices)


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
