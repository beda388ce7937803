"""Under the second dynamics meshes and boxes that lie on each other have all corners of their faces as contacts, each
as deep as they are there (kernels/convex/manifold.py): they rest as boxes do.
"""

import itertools

import numpy as np
import pytest

import tisim

R = 0.05  # half an edge of the bricks


def brick(*size):
    return " ".join(f"{x:g}" for corner in itertools.product((-1, 1), repeat=3) for x in np.multiply(corner, size))


def prism(n):
    """Corners of a prism over a regular polygon."""
    angles = 2 * np.pi * np.arange(n) / n
    return " ".join(f"{R * np.cos(a):.9f} {R * np.sin(a):.9f} {z}" for z in (-R, R) for a in angles)


ASSETS = (
    f'<asset><mesh name="m" vertex="{brick(R, R, R)}"/><mesh name="floor" vertex="{brick(1, 1, 0.1)}"/>'
    f'<mesh name="p" vertex="{prism(24)}"/></asset>'
)
FLOORS = dict(
    plane='<geom type="plane" size="2 2 .1"/>',
    box='<geom type="box" size="1 1 .1" pos="0 0 -.1"/>',
    mesh='<geom type="mesh" mesh="floor" pos="0 0 -.1"/>',
)
BODIES = dict(
    b=f'<geom type="box" size="{R} {R} {R}"/>', m='<geom type="mesh" mesh="m"/>', p='<geom type="mesh" mesh="p"/>'
)


def hard(bodies, floor="mesh", option="", walls=""):
    """(model, its Data): (pose as attributes, kind of brick) of each body."""
    lines = "".join(f"<body {pose}><freejoint/>{BODIES[kind]}</body>" for pose, kind in bodies)
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep=".005">{option}</option>{ASSETS}'
        f"<worldbody>{FLOORS[floor]}{walls}{lines}</worldbody></mujoco>"
    )
    m.opt.dynamics = "lcp"
    return m, tisim.Data(m)


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("kinds", ("mmmmm", "bmbmb", "mbmbm", "mppmp", "ppmpm"))
@pytest.mark.parametrize("turn", (0, 10))
def test_towers_stand_and_lie_still(floor, kinds, turn):
    tower = [(f'pos="0 0 {R + (2 * R + 1e-3) * i}" euler="0 0 {turn * i}"', kind) for i, kind in enumerate(kinds)]
    m, d = hard(tower, floor)
    tisim.step(m, d, 400)
    before = np.array(d.qpos).reshape(-1, 7)
    tisim.step(m, d, 600)
    q = np.array(d.qpos).reshape(-1, 7)
    assert np.abs(q[:, 2] - R * np.arange(1, 11, 2)).max() < 1e-3
    assert np.abs(q - before)[:, :3].max() < 5e-3 and np.abs(np.array(d.qvel).reshape(-1, 6)[:, :3]).max() < 0.02
    assert d.contact.dist.min() > -1e-3


@pytest.mark.parametrize("option", ("", '<flag multiccd="enable"/>'))
@pytest.mark.parametrize("pair", ("mesh m", "mesh b", "box m"))
@pytest.mark.parametrize("tilt", (0.0, 1e-4, 5e-4, 2e-3, 0.02))
@pytest.mark.parametrize("height", (4e-4, 0, -1e-3))
def test_each_corner_is_as_deep_as_it_is(option, pair, tilt, height):
    floor, kind = pair.split()
    angle = np.rad2deg(tilt)
    m, d = hard([(f'pos="0 0 {R + height}" euler="0 {angle} 0"', kind)], floor, option)
    m.lcp.gap = 5e-3
    tisim.forward(m, d)
    depth = {sign: R + height - R * np.cos(tilt) - sign * R * np.sin(tilt) for sign in (1, -1)}
    place = {sign: sign * R * np.cos(tilt) - R * np.sin(tilt) for sign in (1, -1)}
    assert d.ncon == 4
    for dist, pos, frame in zip(d.contact.dist, d.contact.pos, d.contact.frame.reshape(-1, 9)):
        sign = 1 if pos[0] > 0 else -1
        assert abs(dist - depth[sign]) < 1e-6 and abs(pos[0] - place[sign]) < 1e-5
        assert abs(abs(pos[1]) - R) < 1e-6 and np.allclose(np.abs(frame[:3]), [0, 0, 1], atol=1e-5)


def test_of_many_corners_those_that_span_most_and_the_deepest_stay():
    m, d = hard([(f'pos="0 0 {R}" euler="0 .1 7.5"', "p")])
    m.lcp.gap = 5e-3
    tisim.forward(m, d)
    corner = np.deg2rad(0.1)
    assert 4 <= d.ncon <= 5
    assert abs(d.contact.dist.min() - R * (1 - np.cos(corner) - np.cos(np.deg2rad(7.5)) * np.sin(corner))) < 1e-6


def test_piles_of_meshes_come_to_rest():
    rng = np.random.default_rng(2)
    walls = "".join(
        f'<geom type="box" size=".05 .3 .5" pos="{x} {y} .5" euler="0 0 {90 * (x == 0)}"/>'
        for x, y in ((0.25, 0), (-0.25, 0), (0, 0.25), (0, -0.25))
    )
    pile = []
    for i in range(24):
        x, y = rng.uniform(-0.1, 0.1, 2)
        quat = " ".join(map(str, rng.normal(size=4)))
        pile.append((f'pos="{x} {y} {0.1 + 0.1 * i}" quat="{quat}"', "mpb"[i % 3]))
    m, d = hard(pile, walls=walls)
    tisim.step(m, d, 1000)
    linear = np.array(d.qvel).reshape(-1, 6)[:, :3]
    assert np.abs(linear).mean() < 2e-3 and np.minimum(d.contact.dist, 0).mean() > -5e-5


def test_the_convex_dynamics_has_mujocos_contacts_still():
    m, d = hard([(f'pos="0 0 {R - 1e-4}"', "m")])
    m.opt.dynamics = "convex"
    tisim.forward(m, d)
    assert d.ncon == 1
    m.opt.dynamics = "lcp"
    tisim.forward(m, d)
    assert d.ncon == 4
