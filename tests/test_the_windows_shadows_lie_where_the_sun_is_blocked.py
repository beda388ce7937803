"""The shadow map of the window that is drawn by Vulkan: of the floor and of all bodies' sides that look at the sun,
what it says is dark is where `tisim.ray` meets something on the way to the sun. What can be seen through throws no
shadow, and the map is only made anew when something has moved. No Vulkan is needed: the shader's law is told here."""

import numpy as np
import pytest

import tisim
from tisim.mjcf import rotations
from tisim.viewer import shadows
from tisim.viewer.camera import choose
from tisim.viewer.far import sun_of
from tisim.viewer.raster import Raster, ready
from tisim.viewer.scene import Look

LOOK = Look(tendons=False, textures=False)


def free(shadow, points, normals, sun):
    """Whether the window's shader finds nothing between points (n, 3) of surfaces and the sun, by the nearest texel."""
    right = np.cross([0, 0, 1.0], sun)
    right /= np.linalg.norm(right)
    near, far, lift = shadow.depths
    p = points + lift * normals - shadow.eye
    depth = -p @ sun
    scale = 0.5 * shadows.SIDE / (depth * shadow.spread)
    column = np.round(p @ right * scale + 0.5 * shadows.SIDE - 0.5).astype(int)
    row = np.round(-p @ np.cross(sun, right) * scale + 0.5 * shadows.SIDE - 0.5).astype(int)
    inside = (np.minimum(column, row) >= 0) & (np.maximum(column, row) < shadows.SIDE)
    texel = shadow.words.view(np.uint16)[np.where(inside, row * shadows.SIDE + column, 0)]
    return ~inside | (texel == shadows.FREE) | ((depth - lift - near) / (far - near) * (shadows.FREE - 1) <= texel)


def sides(batch):
    """Middles and normals (n, 3) of all triangles of what throws shadows in a batch."""
    r = batch.throws[:, :11].astype(float)
    at = r[:, None, 8:11] * batch.vertices[:, :3] + r[:, 3, None, None] * batch.vertices[:, 6:7] * [0, 0, 1]
    points = np.einsum("nij,nvj->nvi", rotations.matrix(r[:, 4:8]), at) + r[:, None, :3]
    a, b, c = (points[:, batch.indices.reshape(-1, 3)[:, k]].reshape(-1, 3) for k in range(3))
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=1)
    return ((a + b + c) / 3)[size > 0], normal[size > 0] / size[size > 0, None]


def drawn(xml_or_scene, steps):
    m = tisim.Model.from_xml_string(xml_or_scene) if "<" in xml_or_scene else tisim.Model.from_scene(xml_or_scene)
    d = tisim.Data(m)
    tisim.step(m, d, steps)
    tisim.forward(m, d)
    camera = choose(None, m, d)
    return m, d, camera, ready(m, d, camera)


@pytest.mark.parametrize("scene", ["wall", "shapes", "bowl"])
def test_shadows_lie_where_the_suns_rays_are_blocked(scene):
    m, d, camera, raster = drawn(scene, 100)
    sun = sun_of(camera)
    low, high = raster._corners(2)
    x, y = (v.ravel() for v in np.meshgrid(*np.linspace(low[:2] - 0.5, high[:2] + 0.5, 40).T))
    floor = np.column_stack([x, y, 0 * x])
    found = [(floor, np.tile([0, 0, 1.0], (len(floor), 1))), *map(sides, raster.batches)]
    same = []
    for points, normals in found:
        facing = np.flatnonzero(normals @ sun > 0.3)[:: max(1, len(normals) // 2000)]
        points, normals = points[facing], normals[facing]
        lift = 2e-3 * np.abs(high - low).max()
        blocked = np.array([tisim.ray(m, d, p + lift * n, sun)[1] >= 0 for p, n in zip(points, normals)])
        same.append(free(raster._map, points, normals, sun) == ~blocked)
        assert len(points) < 500 or same[-1].mean() > 0.95
    assert np.concatenate(same).mean() > 0.96


GLASS = """<mujoco><worldbody><geom type="plane" size="3 3 .1"/>
  <body pos="0 0 .5"><geom type="box" size=".2 .2 .2" rgba=".2 .4 .8 {}"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("alpha, dark", [(1, True), (0.4, False)])
def test_what_can_be_seen_through_throws_no_shadow(alpha, dark):
    m, d, camera, raster = drawn(GLASS.format(alpha), 1)
    below = np.array([0, 0, 0.5]) - sun_of(camera) * 0.5 / sun_of(camera)[2]
    if raster._map is not None:
        assert free(raster._map, below[None], np.array([[0, 0, 1.0]]), sun_of(camera))[0] != dark


BLUE = """<mujoco><worldbody><geom type="plane" size="3 3 .1"/>
  <body pos="0 0 .5"><freejoint/><geom type="box" size=".2 .2 .2" rgba=".2 .4 .8 1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("scene", ["wall", BLUE])  # as f32, the four bytes of a colour with much blue are no number
def test_the_map_is_made_anew_only_where_something_moved(scene):
    m, d, camera, raster = drawn(scene, 10)
    before = raster._map.words
    for _ in range(2):
        raster.place(d, 0, camera)
        raster.shade(d, 0, LOOK, camera)
        assert raster._map.words is before
    tisim.step(m, d)
    tisim.forward(m, d)
    raster.place(d, 0, camera)
    raster.place(d, 0, camera)  # and it is still known at a second look
    raster.shade(d, 0, LOOK, camera)
    assert raster._map.words is not before
    for b in raster.batches:
        assert (b.map == raster._map.words).all()


def test_boxes_around_what_is_drawn_are_found_where_it_is_placed():
    """In more than one block of 512, with a floor, something transparent, and something that flew away."""
    bodies = "".join(
        f'<body><freejoint/><geom size=".1" rgba="1 0 0 {1 - 0.5 * (k % 3 == 0)}"/></body>' for k in range(1200)
    )
    xml = f'<mujoco><worldbody><geom type="plane" size="3 3 .1" pos="-5 -6 -7"/>{bodies}</worldbody></mujoco>'
    m = tisim.Model.from_xml_string(xml)
    d = tisim.Data(m)
    rng, raster = np.random.default_rng(0), Raster(m)
    for _ in range(3):
        d.qpos[:] = rng.normal(scale=20, size=m.nq)
        d.qpos[7 * 701 + 2] = 1e12
        tisim.forward(m, d)
        camera = choose(None, m, d)
        raster.place(d, 0, camera)
        x = np.asarray(d.geom_xpos)
        there, solid = np.abs(x).max(1) < 1e9, np.arange(m.ngeom) > 0
        solid &= np.asarray(m.geom_rgba)[:, 3] == 1
        for k, which in ((0, there), (2, there & solid)):
            expected = x[which].min(0), x[which].max(0)
            np.testing.assert_allclose(raster._corners(k), expected, rtol=1e-6)
    only = Raster(m, np.arange(m.ngeom) == 0)
    only.place(d, 0, camera)
    assert not only._corners(2).any() and only._corners(0).tolist() == [[-5, -6, -7]] * 2


def test_a_second_raster_leaves_the_first_ones_shadows_to_be_made_anew():
    m, d, camera, first = drawn("wall", 10)
    before, second = first._map.words, Raster(m)
    tisim.step(m, d, 20)
    tisim.forward(m, d)
    second.place(d, 0, camera)
    first.place(d, 0, camera)
    first.shade(d, 0, LOOK, camera)
    assert first._map.words is not before


def test_two_windows_on_one_simulation_keep_their_records():
    m = tisim.Model.from_scene("wall")
    d = tisim.Data(m)
    tisim.forward(m, d)
    camera, few = choose(None, m, d), np.zeros(m.ngeom, bool)
    few[-5:] = True
    first, second = Raster(m), Raster(m, few)
    expected = [np.concatenate([b.throws.copy() for b in r.batches]) for r in (first, second)]
    for _ in range(2):
        for r, kept in zip((first, second), expected):
            r.place(d, 0, camera)
            now = np.concatenate([b.throws for b in r.batches])
            members = np.concatenate([b.members[b.floors : b.opaque] for b in r.batches])
            assert (now[:, 8:] == kept[:, 8:]).all()
            np.testing.assert_allclose(now[:, :3], np.asarray(d.geom_xpos)[members], atol=1e-6)
