"""Under the second dynamics a mesh on a plane has its lowest vertex and others all around as contacts, each as deep as
it is there (kernels/collision/collide_plane_convex.py): it comes to rest.
"""

import numpy as np
import pytest

import tisim

R = 0.05  # radius and half height
CORNERS = (3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64)


def prism(n, noise=0.0):
    """Corners of a prism over a regular polygon, moved a little by chance."""
    angles = 2 * np.pi * np.arange(n) / n
    corners = np.array([(R * np.cos(a), R * np.sin(a), z) for z in (-R, R) for a in angles])
    return corners + noise * np.random.default_rng(n).normal(size=corners.shape)


def coin(n):
    """Points all over a flat ellipsoid."""
    x = np.random.default_rng(n).normal(size=(n, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True) * (R, R, R / 5)


def hard(shapes, height, euler):
    """(model, its Data): meshes of these points beside each other, at this height and attitude."""
    assets = "".join(f'<mesh name="{i}" vertex="{" ".join(map(str, x.ravel()))}"/>' for i, x in enumerate(shapes))
    bodies = "".join(
        f'<body pos="{0.5 * i} 0 {height}" euler="{euler}"><freejoint/><geom type="mesh" mesh="{i}"/></body>'
        for i in range(len(shapes))
    )
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep=".005"/><asset>{assets}</asset>'
        f'<worldbody><geom type="plane" size="20 2 .1"/>{bodies}</worldbody></mujoco>'
    )
    m.opt.dynamics = "lcp"
    return m, tisim.Data(m)


def assert_rest(m, d, seconds):
    tisim.step(m, d, round(seconds / m.opt.timestep))
    turns = np.abs(np.array(d.qvel).reshape(-1, 6)[:, 3:]).max(1)
    for _ in range(50):
        tisim.step(m, d)
        turns = np.maximum(turns, np.abs(np.array(d.qvel).reshape(-1, 6)[:, 3:]).max(1))
    assert turns.max() < 1e-2, turns
    assert np.minimum(d.contact.dist, 0).mean() > -1e-4 and d.contact.dist.min() > -5e-4


@pytest.mark.parametrize("noise", (0, 1e-5, 1e-4))
@pytest.mark.parametrize("height, euler", ((R, "0 0 7"), (R + 0.01, "5 3 7"), (R + 0.03, "20 13 7")))
def test_prisms_come_to_rest(height, euler, noise):
    m, d = hard([prism(n, noise) for n in CORNERS], height, euler)
    assert_rest(m, d, 3)
    up = np.array(d.xmat).reshape(-1, 9)[1:]
    assert np.abs(up).max(1).min() > 0.99 and d.ncon >= 3 * len(CORNERS)


def test_coins_of_many_points_come_to_rest():
    m, d = hard([coin(n) for n in (20, 60, 300, 1000)], R, "40 25 10")
    assert_rest(m, d, 5)


@pytest.mark.parametrize("euler", ("0 0 0", "0 0 7.5", "0 0.05 3", "0.1 0.07 40", "0.3 0.2 1"))
def test_contacts_are_all_around_and_as_deep_as_they_are(euler):
    m, d = hard([prism(n) for n in CORNERS], R, euler)
    m.lcp.gap = 5e-3
    tisim.forward(m, d)
    for i, n in enumerate(CORNERS):
        geom = 1 + i
        mine = d.contact.geom.reshape(-1, 2)[:, 1] == geom
        dist, pos = d.contact.dist[mine], d.contact.pos.reshape(-1, 3)[mine]
        assert len(dist) == min(n, 4)
        place, turn = np.array(d.geom_xpos[geom]), np.array(d.geom_xmat[geom]).reshape(3, 3)
        vertices = m.mesh_vert[m.mesh_vertadr[i] :][: m.mesh_vertnum[i]] @ turn.T + place
        assert abs(dist.min() - vertices[:, 2].min()) < 1e-9
        for at, depth in zip(pos, dist):
            assert np.abs(vertices - (at[0], at[1], depth)).max(1).min() < 1e-9 and abs(at[2] - depth / 2) < 1e-9
        angles = np.sort(np.arctan2(pos[:, 1] - place[1], pos[:, 0] - place[0]))
        assert np.diff([*angles, angles[0] + 2 * np.pi]).max() < np.pi - 1e-3


def test_without_a_gap_and_in_the_convex_dynamics_contacts_are_mujocos():
    m, d = hard([prism(n) for n in CORNERS], R - 1e-4, "0.05 0 7")
    tisim.forward(m, d)
    assert d.ncon == 47
    m.lcp.gap = 0
    tisim.forward(m, d)
    hard_contacts = np.array(d.contact.dist), np.array(d.contact.pos)
    m.opt.dynamics = "convex"
    tisim.forward(m, d)
    assert d.ncon < 47
    assert np.array_equal(hard_contacts[0], d.contact.dist) and np.array_equal(hard_contacts[1], d.contact.pos)
