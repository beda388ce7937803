"""f32 decides as f64 does, so that a step of a settled pile in f32 is one of f64 but for the rounding of its numbers.

Contract: places and shapes are f64 in f32, too (kernels/wide.py). A capsule with an end over a face of a box, near the
face's edge, has the same contacts in f32 as in f64. From one settled state of a pile, of 1,000 or 10,000 bodies or of
meshes in a bowl, one step finds the same contacts, distances within 1e-8 m, and velocities within 2e-3 m/s and rad/s.
What lies still in f64 lies as still in f32. A state is kept and copied with all its digits.
"""

import mujoco
import numpy as np
import pytest

import tisim

LOOKED_AT = ("qpos", "qvel", "qacc_warmstart")


def ends_near_edges(n=300, half=0.05):
    """Capsules, each with a box: one end is 0.6 to 100 um inside the edge of a face, the other farther out."""
    rng, bodies = np.random.default_rng(3), []
    for k in range(n):
        place = np.array([(k % 10 - 5) * 0.5, (k // 10 % 10 - 5) * 0.5, (k // 100) * 0.5])
        inside = 10 ** rng.uniform(-6.2, -4)
        axis = rng.uniform((0.05, 0.1, -1), (1, 1, 1))
        axis *= half / np.linalg.norm(axis)
        center = place + (0.1295, 0.06 - inside, rng.uniform(-0.04, 0.04)) + axis
        x, y, z = (f"{a} {b} {c}" for a, b, c in (place, center, axis))
        ends = " ".join(str(v) for v in (*-axis, *axis))
        bodies.append(
            f'<body pos="{x}"><geom type="box" size=".08 .06 .07"/></body>'
            f'<body pos="{y}"><freejoint/><geom type="capsule" size=".05" fromto="{ends}"/></body>'
        )
    return f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>"


def boxes_nearly_in_line(n=300):
    """Boxes, each a little in another one, a face of which they nearly face: edges overlap by nearly what faces do."""
    rng, bodies = np.random.default_rng(7), []
    for k in range(n):
        place = np.array([(k % 10 - 5) * 0.5, (k // 10 % 10 - 5) * 0.5, (k // 100) * 0.5])
        axis = rng.normal(size=3) * (1, 1, 0)
        tilt = np.append(1.0, axis / np.linalg.norm(axis) * 10 ** rng.uniform(-5, -2))
        yaw = np.array([1.0, 0, 0, rng.choice([0, 1e-3, 0.3])])
        turn = rng.normal(size=4)  # of both
        first, second, shift, up = np.zeros(4), np.zeros(4), np.zeros(3), (*rng.uniform(-0.1, 0.1, 2), 0.1397)
        turn /= np.linalg.norm(turn)
        mujoco.mju_mulQuat(second, tilt, yaw)
        mujoco.mju_mulQuat(first, turn, second)
        mujoco.mju_rotVecQuat(shift, np.array(up), turn)
        x, y, q1, q2 = (" ".join(map(str, v)) for v in (place, place + shift, turn, first))
        bodies.append(
            f'<body pos="{x}" quat="{q1}"><geom type="box" size=".08 .06 .07"/></body>'
            f'<body pos="{y}" quat="{q2}"><freejoint/><geom type="box" size=".08 .06 .07"/></body>'
        )
    return f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>"


def tendons_near_tangents(kind, n=300):
    """Tendons whose straight line passes a sphere or cylinder 0.1 um to 1 mm inside or outside its surface."""
    rng, parts, tendons = np.random.default_rng(0), [], []
    for k in range(n):
        center, way = rng.uniform(-1, 1, 3), rng.uniform(0, 2 * np.pi)
        out, along = np.array([np.cos(way), np.sin(way), 0]), np.array([-np.sin(way), np.cos(way), 0])
        near = center + out * (0.1 + 10 ** rng.uniform(-7, -3) * rng.choice([-1, 1]))
        ends = near - along * rng.uniform(0.05, 0.5), near + along * rng.uniform(0.05, 0.5)
        x, a, b = (" ".join(map(str, v)) for v in (center, *ends))
        parts.append(
            f'<geom name="g{k}" type="{kind}" size=".1 .3" pos="{x}"/>'
            f'<site name="a{k}" pos="{a}"/><site name="b{k}" pos="{b}"/>'
        )
        tendons.append(f'<spatial><site site="a{k}"/><geom geom="g{k}"/><site site="b{k}"/></spatial>')
    body = '<body pos="0 0 9"><freejoint/><geom size=".1"/></body>'
    return f"<mujoco><worldbody>{''.join(parts)}{body}</worldbody><tendon>{''.join(tendons)}</tendon></mujoco>"


def pile(n, state=None, precision="f64", scene="pile"):
    """Model and Data of a pile that run in a precision, in a state if one is given."""
    tisim.init(arch="cpu", precision=precision)
    m = tisim.Model.from_scene(scene, n=n)
    d = tisim.Data(m)
    for name in state or ():
        setattr(d, name, state[name])
    return m, d


def state_of(d):
    return {name: np.array(getattr(d, name), float) for name in LOOKED_AT}


@pytest.fixture(scope="module")
def settled():
    m, d = pile(1000)
    tisim.step(m, d, 1500)
    return state_of(d)


def contacts(d):
    return np.array(d.contact.geom), np.array(d.contact.dist, float)


@pytest.mark.parametrize("scene, least", [(ends_near_edges, 600), (boxes_nearly_in_line, 900)])
def test_shapes_near_a_change_of_features_have_the_contacts_of_f64(scene, least):
    found = []
    for precision in ("f64", "f32"):
        tisim.init(arch="cpu", precision=precision)
        m = tisim.Model.from_xml_string(scene())
        d = tisim.Data(m)
        tisim.forward(m, d)
        found.append((*contacts(d), np.array(d.contact.frame, float).reshape(-1, 9)[:, :3]))
    (geom, dist, normal), (geom32, dist32, normal32) = found
    assert len(geom) >= least
    assert np.array_equal(geom, geom32)
    assert np.abs(dist - dist32).max() < 5e-7
    assert np.abs(normal - normal32).max() < 1e-5


@pytest.mark.parametrize("kind", ("sphere", "cylinder"))
def test_tendons_that_graze_a_geom_go_the_same_way_round(kind):
    lengths = []
    for precision in ("f64", "f32"):
        tisim.init(arch="cpu", precision=precision)
        m = tisim.Model.from_xml_string(tendons_near_tangents(kind))
        d = tisim.Data(m)
        tisim.forward(m, d)
        lengths.append(np.array(d.ten_length, float))
    assert np.abs(lengths[0] - lengths[1]).max() < 1e-6


def test_points_that_are_one_are_so_a_kilometre_from_the_origin():
    """Distances of a connect and a weld are differences of places, and these are f64."""
    text = """<mujoco><worldbody>
      <body name="a" pos="1000.125 777.75 1"><freejoint/><geom size=".1"/><site name="s" pos=".1 .2 .3"/></body>
      <body name="b" pos="1000.375 777.75 1"><freejoint/><geom size=".1"/></body></worldbody>
      <equality><connect body1="a" body2="b" anchor=".1 .07 0"/><weld body1="world" body2="a"/></equality></mujoco>"""
    found = []
    for precision in ("f64", "f32"):
        tisim.init(arch="cpu", precision=precision)
        m = tisim.Model.from_xml_string(text)
        d = tisim.Data(m)
        d.qpos[:7] = d.qpos[:7] + [0, 1e-5, 2e-5, 0, 1e-5, 0, 0]
        tisim.forward(m, d)
        found.append(np.array(d.efc_pos, float))
    assert len(found[0]) == 9 and np.abs(found[0]).max() > 1e-5
    assert np.abs(found[0] - found[1]).max() < 1e-7


@pytest.mark.parametrize("options", (dict(), dict(integrator=tisim.mjtIntegrator.mjINT_RK4), dict(dynamics="lcp")))
def test_time_goes_on_after_many_hours(options):
    """In f32, 1 ms is nothing beside 20,000 s."""
    tisim.init(arch="cpu", precision="f32")
    m = tisim.Model.from_xml_string(
        '<mujoco><option timestep="0.001"/><worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
    )
    for name, value in options.items():
        setattr(m.opt, name, value)
    d = tisim.Data(m, nworld=2)
    d.time = 20000
    tisim.step(m, d, 100)
    assert np.allclose(d.time - 20000, 0.1, atol=1e-6)


def test_depths_of_meshes_are_those_of_f64():
    m, d = pile(100, scene="bowl")
    tisim.step(m, d, 1500)
    states, found, number = [], [], 0
    for _ in range(5):
        states.append(state_of(d))
        tisim.forward(m, d)
        found.append((*contacts(d), np.array(d.contact.pos)))
        tisim.step(m, d, 20)
    m, d = pile(100, precision="f32", scene="bowl")
    for state, (geom, dist, pos) in zip(states, found):
        for name in state:
            setattr(d, name, state[name])
        tisim.forward(m, d)
        geom32, dist32 = contacts(d)
        assert np.array_equal(geom, geom32)
        assert np.abs(dist32 - dist).max() < 1e-8
        assert np.abs(np.array(d.contact.pos) - pos).max() < 1e-6
        number += len(geom)
    assert number > 1000


def one_step(n, state):
    """Largest differences of distances and velocities of a step from one state in f32 from one in f64; the contacts are
    the same."""
    ends = []
    for precision in ("f64", "f32"):
        m, d = pile(n, state, precision)
        tisim.step(m, d)
        ends.append((*contacts(d), state_of(d)["qvel"]))
    (geom, dist, qvel), (geom32, dist32, qvel32) = ends
    assert len(geom) > 3 * n
    assert np.array_equal(geom, geom32)
    return np.abs(dist - dist32).max(), np.abs(qvel - qvel32).max()


def test_one_step_of_a_settled_pile_is_that_of_f64(settled):
    dist, qvel = one_step(1000, settled)
    assert dist < 1e-8
    assert qvel < 2e-3


@pytest.mark.slow
def test_one_step_of_a_settled_pile_of_ten_thousand_is_that_of_f64():
    m, d = pile(10_000)
    tisim.step(m, d, 2000)
    settled = state_of(d)
    dist, qvel = one_step(10_000, settled)
    assert dist < 1e-8
    assert qvel < 2e-3
    rests_as_in_f64(10_000, settled)


def test_a_state_is_kept_with_its_digits(settled):
    """Where rounding qpos to f32 would change it."""
    m, d = pile(1000, settled, "f32")
    assert np.array_equal(np.array(d.qpos), settled["qpos"])
    other = tisim.Data(m)
    tisim.set_state(m, other, tisim.get_state(m, d))
    tisim.step(m, d, 3)
    tisim.step(m, other, 3)
    assert np.array_equal(np.array(other.qpos), np.array(d.qpos))
    assert not np.array_equal(np.array(d.qpos), np.array(d.qpos, np.float32))


def test_a_pile_rests_as_in_f64(settled):
    rests_as_in_f64(1000, settled)


def rests_as_in_f64(n, settled):
    """Most of it: where a stone falls over, the two part."""
    moved, speed = [], []
    for precision in ("f64", "f32"):
        m, d = pile(n, settled, precision)
        tisim.step(m, d, 1000)
        end = state_of(d)
        places = [s["qpos"].reshape(-1, 7)[:, :3] for s in (settled, end)]
        moved.append(np.linalg.norm(places[1] - places[0], axis=1))
        speed.append(np.linalg.norm(end["qvel"].reshape(-1, 6)[:, :3], axis=1))
    for of64, of32 in (moved, speed):
        for share in (0.5, 0.9):
            assert np.quantile(of32, share) < 1.1 * np.quantile(of64, share)
