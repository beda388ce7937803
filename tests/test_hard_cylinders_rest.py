"""Under the second dynamics cylinders, and capsules on meshes and cylinders, have contacts all around the cap they
stand on, or at both ends of the line they lie on, each as deep as it is there (kernels/convex/manifold.py), be it on a
face or along an edge: they come to rest.
"""

import itertools

import numpy as np
import pytest

import tisim

R, HALF = 0.05, 0.1
SLAB = " ".join(f"{x} {y} {z}" for x, y, z in itertools.product((-1, 1), (-1, 1), (-0.1, 0.1)))
FLOORS = dict(
    plane='<geom type="plane" size="2 2 .1"/>',
    box='<geom type="box" size="1 1 .1" pos="0 0 -.1"/>',
    mesh='<geom type="mesh" mesh="slab" pos="0 0 -.1"/>',
    cylinder='<geom type="cylinder" size="1 .1" pos="0 0 -.1"/>',
)
SHAPES = dict(
    cylinder=f'<geom type="cylinder" size="{R} {R}"/>',
    coin=f'<geom type="cylinder" size="{R} {0.3 * R}"/>',
    rod=f'<geom type="cylinder" size="{R} {HALF}"/>',
    capsule=f'<geom type="capsule" size="{R} {HALF}"/>',
)


def hard(bodies, floor, fixed=""):
    """(model, its Data): (place and attitude, shape) of each body."""
    lines = "".join(
        f'<body pos="{pos}" euler="{euler}"><freejoint/>{SHAPES[shape]}</body>' for pos, euler, shape in bodies
    )
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep=".005"/><asset><mesh name="slab" vertex="{SLAB}"/></asset>'
        f"<worldbody>{FLOORS.get(floor, '')}{fixed}{lines}</worldbody></mujoco>"
    )
    m.opt.dynamics = "lcp"
    return m, tisim.Data(m)


def assert_rest(m, d, seconds, spin=1e-2, depth=7e-4):
    tisim.step(m, d, round(seconds / m.opt.timestep))
    for _ in range(100):
        tisim.step(m, d)
        assert np.abs(np.array(d.qvel).reshape(-1, 6)[:, 3:]).max() < spin
        assert d.contact.dist.min() > -depth


@pytest.mark.parametrize("floor", FLOORS)
def test_those_that_fall_come_to_rest(floor):
    """Upright, on their sides, on a rim; on what rolls there is nothing that would stop it soon."""
    attitudes = ("3 2 7", "0 40 0", "5 85 0", "90 0 30")
    places = [f"{0.3 * x - 0.45} {0.3 * y - 0.45} .16" for x in range(4) for y in range(4)]
    bodies = [(place, euler, shape) for place, (shape, euler) in zip(places, itertools.product(SHAPES, attitudes))]
    assert_rest(*hard(bodies, floor), 3, spin=0.03)


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("shape, half", (("cylinder", R), ("coin", 0.3 * R)))
@pytest.mark.parametrize("turn", (0, 7, 30))
def test_towers_stand_and_lie_still(floor, shape, half, turn):
    tower = [(f"0 0 {half + (2 * half + 1e-3) * i}", f"0 0 {turn * i}", shape) for i in range(6)]
    m, d = hard(tower, floor)
    assert_rest(m, d, 2)
    v, q = np.array(d.qvel).reshape(-1, 6), np.array(d.qpos).reshape(-1, 7)
    assert np.abs(v).max() < 6e-3 and np.abs(q[:, :2]).max() < 1e-3
    assert np.abs(q[:, 2] - half * np.arange(1, 12, 2)).max() < 1e-3


def contacts_of(m, d):
    tisim.forward(m, d)
    frame, x, dist = d.contact.frame.reshape(-1, 9)[:, :3], d.contact.pos.reshape(-1, 3), np.array(d.contact.dist)
    return dist, x - 0.5 * dist[:, None] * frame, x + 0.5 * dist[:, None] * frame


def outside(shape, x, R3, place):
    """Distance of points to the surface of a cylinder or capsule, negative inside."""
    local = (x - place) @ R3
    r, half = np.linalg.norm(local[:, :2], axis=1), dict(cylinder=R, coin=0.3 * R).get(shape, HALF)
    if shape == "capsule":
        return np.hypot(r, np.maximum(0, np.abs(local[:, 2]) - half)) - R
    return np.maximum(r - R, np.abs(local[:, 2]) - half)


@pytest.mark.parametrize("floor", ("box", "mesh", "cylinder"))
@pytest.mark.parametrize("tilt", (0, 1e-7, 0.01, 0.1, 1, 4))
@pytest.mark.parametrize("shape, side", (("cylinder", 0), ("coin", 0), ("rod", 90), ("capsule", 90)))
def test_contacts_are_on_both_surfaces_and_as_deep_as_they_are(floor, tilt, shape, side):
    tilted = np.radians(tilt)
    half = dict(cylinder=R, coin=0.3 * R).get(shape, HALF)
    height = R * np.sin(tilted) + half * np.cos(tilted)
    if side:
        height = R * (np.cos(tilted) if shape == "rod" else 1) + half * np.sin(tilted)
    m, d = hard([(f"0 0 {height - 1e-5}", f"20 {side + tilt} 0", shape)], floor)
    q = np.radians((20, side + tilt))
    d.qpos[3:] = [  # about z, then about y
        np.cos(q[0] / 2) * np.cos(q[1] / 2), -np.sin(q[0] / 2) * np.sin(q[1] / 2),
        np.cos(q[0] / 2) * np.sin(q[1] / 2), np.sin(q[0] / 2) * np.cos(q[1] / 2),
    ]  # fmt: skip
    m.lcp.gap = 5e-3
    dist, first, second = contacts_of(m, d)
    ours, theirs = (first, second) if d.contact.geom.reshape(-1, 2)[0, 0] == 1 else (second, first)
    place, turn = np.array(d.geom_xpos[1]), np.array(d.geom_xmat[1]).reshape(3, 3)
    assert np.abs(outside(shape, ours, turn, place)).max() < 2e-4 * max(1, tilt)
    assert np.abs(theirs[:, 2]).max() < 1e-6
    assert abs(dist.min() + 1e-5) < 1e-4
    if tilt < 1:
        assert len(dist) >= (2 if side else 4)
        reach = ours[:, :2] - place[:2]
        assert np.linalg.norm(reach.mean(0)) < 0.3 * R


@pytest.mark.parametrize("shape", ("rod", "capsule"))
@pytest.mark.parametrize("angle, shift, n", ((0, 0, 2), (4, 0, 3), (0, 0.1, 2), (0, 0.21, 0), (40, 0, 1)))
def test_sides_touch_at_both_ends_where_they_lie_along_each_other(shape, angle, shift, n):
    """Those that cross a little touch between these, too."""
    fixed = f'<geom type="cylinder" size="{R} {HALF}" euler="0 90 0"/>'
    m, d = hard([(f"{shift} 0 {2 * R - 1e-4}", f"0 90 {angle}", shape)], "", fixed)
    a, b = np.radians(90) / 2, np.radians(angle) / 2
    d.qpos[3:] = np.cos(b) * np.cos(a), -np.sin(b) * np.sin(a), np.cos(b) * np.sin(a), np.sin(b) * np.cos(a)
    m.lcp.gap = 5e-3
    dist, _, _ = contacts_of(m, d)
    if shift < 0.2:
        assert len(dist) == n and abs(dist.min() + 1e-4) < 1e-6
        ends = np.array([max(-HALF, shift - HALF), min(HALF, shift + HALF)])
        x = d.contact.pos.reshape(-1, 3)[:, 0]
        assert n == 1 or (abs(x.min() - ends[0]) < 2e-3 and abs(x.max() - ends[1]) < 2e-3)


@pytest.mark.parametrize("kind", ('box" size="1 1 .1', 'mesh" mesh="slab'))
@pytest.mark.parametrize("shape", ("rod", "capsule"))
@pytest.mark.parametrize("gap", (2e-3, 8e-3, 0.03, 0.04))
def test_those_that_lie_between_two_edges_touch_them_at_both_ends_and_rest(kind, shape, gap):
    """Off centre, by one contact an edge they rocked without end and sank by up to 3 mm."""
    shores = "".join(f'<geom type="{kind}" pos="{x} 0 -.1"/>' for x in (-1 - gap, 1 + gap))
    height = np.sqrt(R**2 - gap**2)
    m, d = hard([(f"0 .01 {height + 1e-3}", "90 0 0", shape)], "", shores)
    assert_rest(m, d, 2, depth=5e-5)
    assert d.ncon == 4 and abs(d.qpos[2] - height) < 5e-5
    x = d.contact.pos.reshape(-1, 3)
    corners = np.array(list(itertools.product((-gap, gap), (0.01 - HALF, 0.01 + HALF))))
    assert np.abs(x[np.lexsort((x[:, 1], x[:, 0] > 0)), :2] - corners).max() < 1e-3


def test_what_stands_on_a_plane_is_held_at_the_same_places():
    """Turned by what rounding leaves, MuJoCo's triangle of contacts turns as the last digits do."""
    m, d = hard([(f"0 0 {R}", "0 0 0", "cylinder")], "plane")
    places = []
    for tilt in ((1e-9, 0), (0, 1e-9), (-1e-9, 1e-9), (1e-5, -3e-6)):
        d.qpos[3:] = 1, *tilt, 0
        contacts_of(m, d)
        places.append(d.contact.pos.reshape(-1, 3))
    assert np.ptp(places, axis=0).max() < 1e-5 and len(places[0]) == 4


@pytest.mark.parametrize("shape, half", (("rod", HALF), ("coin", 0.3 * R)))
@pytest.mark.parametrize("timestep", (5e-3, 1e-3))
@pytest.mark.parametrize("attitude", ("0 4 0", "0 4 20"))
def test_what_leans_and_rolls_round_on_its_rim_comes_to_stand_on_a_plane(shape, half, timestep, attitude):
    """On one contact it rolled for ever with more and more energy, and fell over."""
    height = half * np.cos(np.radians(4)) + R * np.sin(np.radians(4))
    m, d = hard([(f"0 0 {height}", attitude, shape)], "plane")
    m.opt.timestep = timestep
    d.qvel[3] = 0.5
    assert_rest(m, d, 5)
    assert d.ncon == 4 and abs(d.qpos[2] - half) < 1e-4


def test_the_convex_dynamics_has_mujocos_contact_still():
    m, d = hard([(f"0 0 {R - 1e-4}", "0 0 0", "cylinder")], "box")
    m.opt.dynamics = "convex"
    tisim.forward(m, d)
    assert d.ncon == 1
    m.opt.dynamics, m.lcp.gap = "lcp", 0
    tisim.step(m, d)
    assert d.ncon == 1


def test_normals_point_from_one_shape_to_the_other():
    """A plank of 0.8 mm lies on a roller of 1 mm. EPA has faces as near to the origin across both shapes; MuJoCo's
    normal is turned round in one of nine of these poses, which threw the plank."""
    m = tisim.Model.from_xml_string(
        '<mujoco><worldbody><body><freejoint/><geom type="cylinder" size=".001 .004"/></body>'
        '<body><freejoint/><geom type="box" size=".008 .002 .0004"/></body></worldbody></mujoco>'
    )
    m.opt.dynamics = "lcp"
    m.lcp.gap = 7.94e-5
    many = 1000
    d = tisim.Data(m, nworld=many)
    roller = [0.0041817160007, -1.756e-07, 0.00099608511637, 0.70439253405, 0.70396502808, 0.0642759842, -0.0642883742]
    plank = [0.00036378338662, 5.264e-07, 0.00239612911511, 0.99999996668, -0.00025616719, 2.970952e-05, 1.183614e-05]
    rng = np.random.default_rng(0)
    d.qpos = np.array(roller + plank) + rng.normal(size=(many, 14)) * 1e-8
    tisim.forward(m, d)
    assert np.ravel(d.contact.frame).reshape(-1, 9)[:, 2].min() > 0.99
    assert np.min(d.contact.dist) > -2e-6
