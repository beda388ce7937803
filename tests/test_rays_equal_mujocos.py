"""A ray meets the geom that MuJoCo 3.4.0's mj_ray says, at the same distance; so do lists of rays, in several worlds.

f64, 1e-9 relative, over all types of geoms, with and without the tree of boxes: from outside, inside, on the surface,
tangent and axis-parallel. mj_multiRay finds the same but for rays that its coarser bounds lose. A mesh is hit where a
ray runs exactly along the side of one of its triangles, where mj_ray finds nothing: its box test is open there.
"""

import mujoco
import numpy as np
import pytest

import tisim
from tisim.stages import sorting

SHAPES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
RNG = np.random.default_rng(0)
HILLS = " ".join(f"{x:.3f}" for x in RNG.uniform(0, 1, 7 * 11))
STEPS = " ".join(str(x) for x in RNG.integers(0, 3, 25) / 2)
BALL = RNG.normal(size=(60, 3))
BALL *= [[0.3, 0.2, 0.1]] / np.linalg.norm(BALL, axis=1, keepdims=True)
CUBE = np.array(list(np.ndindex(2, 2, 2))) * 0.5 - 0.25
ASSETS = f"""<asset><material name="gone" rgba="1 1 1 0"/><material name="seen" rgba="1 1 1 1"/>
<mesh name="mesh" vertex="{" ".join(f"{x:.5f}" for x in BALL.ravel())}"/>
<mesh name="cube" vertex="{" ".join(map(str, CUBE.ravel()))}"/>
<hfield name="hfield" nrow="7" ncol="11" size=".5 .3 .3 .1" elevation="{HILLS}"/>
<hfield name="steps" nrow="5" ncol="5" size=".5 .5 .25 .25" elevation="{STEPS}"/></asset>"""


def geom(shape, size, more=""):
    """A geom that touches nothing."""
    typed = {"cube": "mesh", "steps": "hfield"}.get(shape, shape)
    form = f'size="{" ".join(f"{x:.4f}" for x in size)}"'
    if typed in ("mesh", "hfield"):
        form = f'{typed}="{shape}"'
    return f'<geom type="{typed}" {form} contype="0" conaffinity="0" {more}/>'


def scattered(rng, count, shapes=SHAPES, extent=2.0):
    """Geoms of random shape, size, pose, group and visibility; half of those that may be move freely."""
    text = ""
    for _ in range(count):
        shape = shapes[rng.integers(len(shapes))]
        size = 10 ** rng.uniform(-2, -0.3, 3)
        if shape == "plane":
            size = [rng.choice([0, 0.7]), rng.choice([0, 0.5]), 1]
        look = f'group="{rng.integers(6)}" rgba="1 1 1 {rng.choice([0, 1, 1, 1])}" '
        look += rng.choice(["", "", 'material="gone"', 'material="seen"'])
        free = shape not in ("plane", "hfield", "steps") and rng.integers(2)
        joint = '<freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>' if free else ""
        pos, quat = rng.uniform(-extent, extent, 3), rng.normal(size=4)
        pose = f'pos="{" ".join(f"{x:.4f}" for x in pos)}" quat="{" ".join(f"{x:.4f}" for x in quat)}"'
        text += f"<body {pose}>{joint}{geom(shape, size, look)}</body>"
    return f"<mujoco>{ASSETS}<worldbody>{text}</worldbody></mujoco>"


def on_lattice(rng, count, shapes):
    """Axis-parallel geoms whose sides lie on a lattice of 1/4."""
    text = ""
    for _ in range(count):
        pos = " ".join(str(x / 4) for x in rng.integers(-8, 9, 3))
        text += f'<body pos="{pos}">{geom(shapes[rng.integers(len(shapes))], rng.choice([0.25, 0.5], 3))}</body>'
    return f"<mujoco>{ASSETS}<worldbody>{text}</worldbody></mujoco>"


def both(xml, nworld=1):
    """Model and computed data of either engine."""
    mm, m = mujoco.MjModel.from_xml_string(xml), tisim.Model.from_xml_string(xml)
    dd, d = mujoco.MjData(mm), tisim.Data(m, nworld=nworld)
    mujoco.mj_forward(mm, dd)
    tisim.forward(m, d)
    return mm, dd, m, d


def theirs(mm, dd, pnt, vec, group=None, static=1, exclude=-1):
    """MuJoCo's distances and geoms, ray by ray."""
    group = None if group is None else np.array(group, np.uint8)
    dist, geomid, one = np.zeros(len(vec)), np.zeros(len(vec), int), np.zeros(1, np.int32)
    for i in range(len(vec)):
        dist[i] = mujoco.mj_ray(mm, dd, pnt[i], vec[i], group, static, exclude, one)
        geomid[i] = one[0]
    return dist, geomid


def random_rays(rng, count, dd):
    """Rays from anywhere, from inside geoms and along axes, half of them aimed at a geom; vectors of 0.1 to 10 m."""
    pnt, vec = rng.uniform(-3, 3, (count, 3)), rng.normal(size=(count, 3)) * 10 ** rng.uniform(-1, 1, (count, 1))
    near = dd.geom_xpos[rng.integers(len(dd.geom_xpos), size=count)] + rng.normal(size=(count, 3)) * 0.1
    vec[::2] = (near - pnt)[::2]
    pnt[::7] = near[::7]
    vec[5::11] = np.eye(3)[rng.integers(3, size=len(vec[5::11]))]
    return pnt, vec


def assert_equal(mine, other):
    assert np.array_equal(mine[1], other[1])
    assert np.all(np.abs(mine[0] - other[0]) <= 1e-9 * np.maximum(1, np.abs(other[0])))


@pytest.mark.parametrize("count", [6, 80], ids=["few", "tree"])
@pytest.mark.parametrize("shapes", [*((s,) for s in SHAPES), SHAPES], ids=lambda s: s[0] if len(s) == 1 else "all")
def test_random_rays(shapes, count):
    rng = np.random.default_rng(5)
    mm, dd, m, d = both(scattered(rng, count, shapes))
    pnt, vec = random_rays(rng, 2000 if len(shapes) > 1 else 400, dd)
    dist, geomid = theirs(mm, dd, pnt, vec)
    assert (geomid >= 0).sum() > 20
    assert_equal(tisim.ray(m, d, pnt, vec), (dist, geomid))
    some = ([1, 0, 1, 0, 1, 0], 0, 2)
    assert_equal(tisim.ray(m, d, pnt, vec, *some), theirs(mm, dd, pnt, vec, *some))


@pytest.mark.parametrize("shape", ["plane", "steps", "sphere", "capsule", "ellipsoid", "cylinder", "box"])
def test_touching_rays(shape):
    """On a lattice: through corners, along edges and sides, tangent, from the surface."""
    rng = np.random.default_rng(3)
    mm, dd, m, d = both(on_lattice(rng, 40, (shape,)))
    pnt, vec = rng.integers(-16, 17, (1500, 3)) / 8.0, rng.integers(-2, 3, (1500, 3)).astype(float)
    vec[(vec == 0).all(1)] = [0, 0, 1]
    pnt[::3] = dd.geom_xpos[rng.integers(40, size=500)] + rng.integers(-2, 3, (500, 3)) / 4
    dist, geomid = theirs(mm, dd, pnt, vec)
    assert (geomid >= 0).sum() > 100
    assert_equal(tisim.ray(m, d, pnt, vec), (dist, geomid))


def test_a_mesh_is_hit_as_the_box_of_its_shape():
    """Also along the diagonals and edges of its triangles; what only touches it is left to rounding."""
    rng = np.random.default_rng(3)
    xml = on_lattice(rng, 40, ("cube",))
    mm, dd, m, d = both(xml)
    pnt, vec = rng.integers(-16, 17, (20000, 3)) / 8.0, rng.integers(-2, 3, (20000, 3)).astype(float)
    vec[(vec == 0).all(1)] = [0, 0, 1]
    mine = tisim.ray(m, d, pnt, vec)
    boxes = [both(xml.replace('type="mesh" mesh="cube"', f'type="box" size="{s} {s} {s}"'))[2:] for s in (0.25, 0.249)]
    outer, inner = (tisim.ray(*box, pnt, vec) for box in boxes)
    through = outer[1] == inner[1]
    assert (through & (outer[1] >= 0)).sum() > 3000
    assert_equal([x[through] for x in mine], [x[through] for x in outer])
    dist, geomid = theirs(mm, dd, pnt[:3000], vec[:3000])
    hit = geomid >= 0  # MuJoCo finds nothing nearer
    assert hit.sum() > 300 and np.all(mine[0][:3000][hit] <= dist[hit] + 1e-9)


def test_far_and_stray_geoms():
    """The tree finds what trying all geoms finds, also with bodies of 100 m and at 1e6 m."""
    rng = np.random.default_rng(4)
    xml = scattered(rng, 700, SHAPES[2:], 8.0)
    more = '<body pos="1e6 -1e6 3"><freejoint/><geom size="3"/></body><geom type="box" size="90 .1 90" pos="0 -9 0"/>'
    mm, dd, m, d = both(xml.replace("<worldbody>", "<worldbody>" + more))
    pnt, vec = random_rays(rng, 2000, dd)
    mine = tisim.ray(m, d, pnt, vec)
    assert d.memory()["ray_leaf"] >= 4 * 700
    assert_equal(mine, theirs(mm, dd, pnt, vec))


def test_the_tree_built_as_on_a_gpu(monkeypatch):
    """Sorted by blocks of keys, joined level by level; several worlds."""
    rng = np.random.default_rng(8)
    mm, dd, m, d = both(scattered(rng, 300, SHAPES[2:], 4.0), nworld=3)
    pnt, vec = random_rays(rng, 500, dd)
    serial = tisim.ray(m, d, np.tile(pnt, (3, 1, 1)), vec)
    monkeypatch.setattr(sorting, "shared", lambda: True)
    blocks = tisim.ray(m, d, np.tile(pnt, (3, 1, 1)), vec)
    assert np.array_equal(serial[0], blocks[0]) and np.array_equal(serial[1], blocks[1])
    assert_equal((blocks[0][2], blocks[1][2]), theirs(mm, dd, pnt, vec))


def test_what_is_invisible_or_left_out():
    _, _, m, d = both(
        '<mujoco><worldbody><geom size=".1" pos="0 0 1"/><geom size=".1" group="2" pos="0 0 2"/>'
        '<body pos="0 0 3"><joint/><geom size=".1"/></body></worldbody></mujoco>'
    )
    up = ([0, 0, 0], [0, 0, 2.0])
    assert tisim.ray(m, d, *up) == (pytest.approx(0.45), 0)
    assert tisim.ray(m, d, *up, geomgroup=[0, 0, 1, 0, 0, 0])[1] == 1
    assert tisim.ray(m, d, *up, flg_static=0)[1] == 2
    assert tisim.ray(m, d, *up, bodyexclude=0)[1] == 2
    assert tisim.ray(m, d, *up, np.zeros(6)) == (-1.0, -1)
    m.geom_rgba[0, 3] = 0
    assert tisim.ray(m, d, *up)[1] == 1
    m.geom_group[1] = 99  # counts as the last group
    assert tisim.ray(m, d, *up, geomgroup=[0, 0, 0, 0, 0, 1])[1] == 1


def test_shapes_of_the_arguments_and_several_worlds():
    rng = np.random.default_rng(6)
    xml = scattered(rng, 60, SHAPES[2:])
    mm, dd, m, d = both(xml)
    pnt, vec = random_rays(rng, 30, dd)
    dist, geomid = theirs(mm, dd, pnt, vec)
    one = tisim.ray(m, d, pnt[0], vec[0])
    assert isinstance(one[0], float) and isinstance(one[1], int)
    assert one[1] == geomid[0] and one[0] == pytest.approx(dist[0], rel=1e-12)
    assert_equal(tisim.ray(m, d, pnt[0], vec), theirs(mm, dd, [pnt[0]] * 30, vec))
    assert tisim.ray(m, d, np.zeros((0, 3)), [0, 0, 1])[0].shape == (0,)
    worlds = tisim.Data(m, nworld=3)
    found = []
    for w in range(3):
        dd.qpos[:] = mm.qpos0 + rng.normal(size=mm.nq) * 0.3
        mujoco.mj_forward(mm, dd)
        worlds.qpos[w] = dd.qpos
        found.append(theirs(mm, dd, pnt, vec))
    tisim.forward(m, worlds)
    mine = tisim.ray(m, worlds, np.tile(pnt, (3, 1, 1)), vec)
    assert mine[0].shape == (3, 30) and len({tuple(g) for g in mine[1]}) == 3
    for w in range(3):
        assert_equal((mine[0][w], mine[1][w]), found[w])
    each = tisim.ray(m, worlds, pnt[:3], vec[0])
    assert each[1].tolist() == [tisim.ray(m, worlds, pnt[w], vec[0])[1][w] for w in range(3)]
    several = tisim.multi_ray(m, worlds, pnt[:3], vec)
    assert several[0].shape == (3, 30)
    assert several[1][1].tolist() == tisim.ray(m, worlds, pnt[1], np.tile(vec, (3, 1, 1)))[1][1].tolist()


def test_many_rays_from_a_point():
    rng = np.random.default_rng(7)
    mm, dd, m, d = both(scattered(rng, 60).replace('contype="0"', 'contype="2"', 60))
    count, lost = 500, 0
    for cutoff in (1e10, 1.0):
        for _ in range(4):
            pnt, vec = rng.uniform(-2, 2, 3), rng.normal(size=(count, 3))
            dist, geomid = np.zeros(count), np.zeros(count, np.int32)
            mujoco.mj_multiRay(mm, dd, pnt, vec.ravel(), None, 1, -1, geomid, dist, count, cutoff)
            mine = tisim.multi_ray(m, d, pnt, vec, cutoff=cutoff)
            if cutoff > 1e9:
                assert_equal(mine, theirs(mm, dd, np.tile(pnt, (count, 1)), vec))
            same = mine[1] == geomid
            lost += (~same).sum()
            assert np.all(np.abs(mine[0] - dist)[same] <= 1e-9 * np.maximum(1, dist[same]))
            assert np.all(same | (mine[1] >= 0) & ((dist < 0) | (mine[0] < dist)))
    assert lost < 0.01 * 8 * count


BAD = [
    ((0, 0, 0), (0, 0, 0), {}, "too small"),
    ((0, 0, 0), (0, 0, 1e-16), {}, "too small"),
    ((0, 0), (0, 0, 1), {}, "three numbers"),
    ("here", (0, 0, 1), {}, "pnt: expected numbers, got 'here'"),
    ((0, 0, np.nan), (0, 0, 1), {}, "not finite"),
    ((0, 0, 0), (0, 0, -np.inf), {}, "not finite"),
    ((0, 0, 0), (0, 0, 1e30), {}, "above 1e"),
    (np.zeros((2, 3)), np.ones((3, 3)), {}, "expected shapes"),
    (np.zeros((2, 2, 3)), np.ones(3), {}, "expected shapes"),
    ((0, 0, 0), (0, 0, 1), dict(geomgroup=[1, 1]), "6 flags"),
    ((0, 0, 0), (0, 0, 1), dict(geomgroup="all"), "geomgroup: expected numbers, got 'all'"),
    ((0, 0, 0), (0, 0, 1), dict(flg_static="yes"), "True or False"),
    ((0, 0, 0), (0, 0, 1), dict(bodyexclude=2), "id of a body"),
    ((0, 0, 0), (0, 0, 1), dict(bodyexclude=-2), "id of a body"),
]


@pytest.mark.parametrize("pnt, vec, more, words", BAD)
def test_wrong_arguments_are_named(pnt, vec, more, words):
    m = tisim.Model.from_xml_string('<mujoco><worldbody><body><geom size="1"/></body></worldbody></mujoco>')
    d = tisim.Data(m)
    with pytest.raises(tisim.Error, match=words):
        tisim.ray(m, d, pnt, vec, **more)


def test_wrong_arguments_of_multi_ray_are_named():
    m = tisim.Model.from_xml_string('<mujoco><worldbody><body><geom size="1"/></body></worldbody></mujoco>')
    d = tisim.Data(m)
    for args, words in (
        (([[0, 0, 0]], [[0, 0, 1]]), "pnt has shape"), (([0, 0, 0], [0, 0, 1]), "vec has shape"),
        (([0, 0, 0], [[0, 0, 1]], None, 1, -1, -1.0), "cutoff"),
    ):  # fmt: skip
        with pytest.raises(tisim.Error, match=words):
            tisim.multi_ray(m, d, *args)
    other = tisim.Model.from_xml_string('<mujoco><worldbody><geom size="1"/></worldbody></mujoco>')
    with pytest.raises(tisim.Error, match="another Model"):
        tisim.ray(other, d, [0, 0, 0], [0, 0, 1])
    empty = tisim.Model.from_xml_string("<mujoco/>")
    assert tisim.ray(empty, tisim.Data(empty), [0, 0, 0], [0, 0, 1]) == (-1.0, -1)
