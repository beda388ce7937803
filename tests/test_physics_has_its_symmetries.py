"""What happens does not depend on the order of bodies, on where the scene stands and how it is turned, or on what
happens far away; colliding bodies keep their momentum; n steps are n times one step, also across a save."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from shared import golden

import tisim

KINDS = ("box", "sphere", "capsule", "cylinder", "ellipsoid")
ROUND, SIMPLE = ("sphere", "capsule"), ("box", "sphere", "capsule")
FLOOR = '<geom type="plane" size="5 5 1"/>'
EXACT = 'tolerance="1e-14" iterations="200" ls_iterations="100" ls_tolerance="1e-6"'
ELLIPTIC = EXACT + ' cone="elliptic"'
PLACES = np.random.default_rng(0).uniform(-0.4, 0.4, (40, 3)) + [0, 0, 0.6]
DOLL = """<body name="{name}" pos="{x} 0 1"><joint type="ball" range="0 40" limited="true" damping=".01"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".05"/><body pos=".35 0 0"><joint axis="0 1 0" frictionloss=".1"/>
  <geom type="box" size=".1 .05 .05" pos=".1 0 0"/></body></body>"""


@pytest.fixture(autouse=True)
def f64():
    tisim.init(arch="cpu", precision="f64")


def heap(order=range(40), shift=(0, 0, 0), shapes=KINDS):
    """MJCF of free bodies that overlap and fall, named by their number."""
    return "".join(
        f'<body name="{i}{"far" * any(shift)}" pos="%.12g %.12g %.12g" euler="{40 * i} 20 0"><freejoint/>'
        f'<geom type="{shapes[i % len(shapes)]}" size=".1 .08 .06"/></body>' % tuple(PLACES[i] + shift)
        for i in order
    )


def model(world, options=EXACT):
    return tisim.Model.from_xml_string(f"<mujoco><option {options}/><worldbody>{world}</worldbody></mujoco>")


def stepped(m, steps):
    d = tisim.Data(m)
    tisim.step(m, d, steps)
    return d


def places(d, names):
    """Positions of bodies by name, (n, 3)."""
    return np.array([d.body(name).xpos for name in names])


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_bodies_in_another_order_move_alike(cone):
    """Without pairs of boxes, whose points are those of the first one's face, or of GJK's, exact to its tolerance."""
    doll = DOLL.format(name="doll", x=0)
    order = np.random.default_rng(1).permutation(40)
    one, other = (
        stepped(model(FLOOR + bodies, f'{EXACT} cone="{cone}"'), 10)
        for bodies in (heap(shapes=ROUND) + doll, doll + heap(order, shapes=ROUND))
    )
    names = [*map(str, range(40)), "doll"]
    assert one.ncon == other.ncon > 30
    assert np.abs(places(one, names) - places(other, names)).max() < 1e-8


def test_a_scene_that_is_turned_and_moved_does_the_same():
    """With elliptic cones: a pyramid's edges follow the axes of the world."""
    turn, shift = Rotation.from_euler("xyz", [0.4, -1.1, 2.0]), np.array([3.0, -5.0, 2.0])
    down = turn.apply([0, 0, -9.81])
    x, y, z, w = turn.as_quat()
    world = FLOOR + heap(shapes=SIMPLE) + DOLL.format(name="doll", x=0)
    frame = f'<frame pos="3 -5 2" quat="{w:.17g} {x:.17g} {y:.17g} {z:.17g}">{world}</frame>'
    one = stepped(model(world, ELLIPTIC), 10)
    other = stepped(model(frame, ELLIPTIC + ' gravity="%.17g %.17g %.17g"' % tuple(down)), 10)
    names = [*map(str, range(40)), "doll"]
    assert one.ncon == other.ncon > 30
    assert np.abs(turn.apply(places(one, names)) + shift - places(other, names)).max() < 1e-8


def momentum(m, d):
    """Linear momentum and angular momentum about the origin of free bodies [kg m/s, kg m2/s]."""
    mass, v = np.asarray(m.body_mass)[1:, None], np.asarray(d.qvel).reshape(-1, 6)
    frame = np.asarray(d.ximat)[1:].reshape(-1, 3, 3)
    spin = np.einsum("nij,nj->ni", np.asarray(d.xmat)[1:].reshape(-1, 3, 3), v[:, 3:])  # qvel is in the body's frame
    own = np.einsum("nij,nj,nkj,nk->ni", frame, np.asarray(m.body_inertia)[1:], frame, spin)
    x = np.asarray(d.xipos)[1:]
    return np.concatenate([(mass * v[:, :3]).sum(0), (np.cross(x, mass * v[:, :3]) + own).sum(0)])


@pytest.mark.parametrize("shapes", [KINDS, ("sphere",)], ids=["all shapes", "spheres"])
def test_bodies_that_only_meet_each_other_keep_their_momentum(shapes):
    """Linear momentum exactly; angular momentum too where a body's inertia is the same about every axis, since Euler
    steps change that of a free top."""
    m = model(heap(shapes=shapes), EXACT + ' gravity="0 0 0"')
    d = tisim.Data(m)
    d.qvel = np.random.default_rng(2).normal(size=m.nv)
    tisim.forward(m, d)
    start, met = momentum(m, d), 0
    for _ in range(30):
        tisim.step(m, d)
        met += d.ncon
    tisim.forward(m, d)
    drift = np.abs(momentum(m, d) - start)
    assert met > 300
    assert drift[:3].max() < 1e-9
    assert len(shapes) > 1 or drift[3:].max() < 1e-9


def test_what_happens_far_away_does_not_show():
    """Bit for bit: islands are solved on their own."""
    alone = stepped(model(FLOOR + heap()), 30)
    both = stepped(model(FLOOR + heap() + heap(shift=(1000, 0, 0))), 30)
    assert np.array_equal(places(both, map(str, range(40))), places(alone, map(str, range(40))))
    assert both.nisland == 2 * alone.nisland and both.ncon == 2 * alone.ncon > 20


EVERYTHING = golden.Case("golden/everything.xml worlds=2", 30)


def state(m, d):
    return tisim.get_state(m, d, tisim.mjtState.mjSTATE_INTEGRATION)


def test_n_steps_are_n_times_one():
    m, d, _ = golden.load(EVERYTHING)
    tisim.step(m, d, 30)
    _, other, _ = golden.load(EVERYTHING)
    for _ in range(30):
        tisim.step(other.model, other)
    assert golden.digest(d) == golden.digest(other)


def test_a_saved_model_and_state_go_on_alike(tmp_path):
    m, d, _ = golden.load(EVERYTHING)
    tisim.step(m, d, 20)
    m.save(tmp_path / "model.npz")
    np.save(tmp_path / "state.npy", state(m, d))
    tisim.step(m, d, 10)
    again = tisim.Model.load(tmp_path / "model.npz")
    fresh = tisim.Data(again, nworld=2)
    tisim.set_state(again, fresh, np.load(tmp_path / "state.npy"), tisim.mjtState.mjSTATE_INTEGRATION)
    tisim.step(again, fresh, 10)
    assert golden.digest(fresh) == golden.digest(d)
