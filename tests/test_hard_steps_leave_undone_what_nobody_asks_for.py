"""Under hard contacts free bodies need no inertia matrices and bias forces: these are made when asked for."""

import copy
import pickle

import numpy as np
import pytest

import tisim
from tisim.data.owed import NAMES
from tisim.device import runtime
from tisim.device.flow import flow
from tisim.model.device_model import DERIVED
from tisim.model.fields import FIELDS, FIXED
from tisim.model.tracked import OWED

BODIES = """<mujoco><option timestep="0.004"/>{more}<worldbody><geom type="plane" size="2 2 .1"/>
<camera name="eye" pos="0 -3 1"/>
<body name="a" pos="0 0 .3"><freejoint/><geom type="box" size=".1 .15 .2"/><site name="s" pos=".1 0 0"/></body>
<body name="b" pos=".1 .05 .7" euler="20 30 0"><freejoint name="jb"/>
  <geom type="capsule" size=".1 .15"/><geom size=".1" pos=".2 0 0"/></body>
<body name="c" pos="-.2 0 1"><freejoint/><geom size=".12"/></body></worldbody></mujoco>"""


def pair(nworld=1, more=""):
    """(model, a Data that leaves undone what it can, one that makes all in each step)."""
    m = tisim.Model.from_xml_string(BODIES.format(more=more))
    m.opt.dynamics = "lcp"
    lazy, eager = tisim.Data(m, nworld), tisim.Data(m, nworld)
    np.from_dlpack(eager.cvel)
    for d in (lazy, eager):
        rng = np.random.default_rng(3)
        d.qvel[...] = rng.normal(size=d.qvel.shape)
    return m, lazy, eager


def assert_same(lazy, eager):
    """Every array that may be left undone is what the other Data made in its step."""
    for name in NAMES:
        assert np.array_equal(lazy.host(name), eager.host(name)), name
    assert np.array_equal(lazy.qvel, eager.qvel) and np.array_equal(lazy.qpos, eager.qpos)


def test_the_names_are_what_the_two_kernels_read_and_write():
    tisim.Data(tisim.Model.from_xml_string(BODIES.format(more="")))
    kernels = runtime.kernels("smooth.inertia").tree_inertia, runtime.kernels("smooth.velocity").tree_velocity
    written = {name for k in kernels for name in flow(k.function).writes}
    assert {f"d.{name}" for name in NAMES} == written
    read = {name[2:] for k in kernels for name in flow(k.function).reads if name.startswith("m.")}
    read |= {source for name in read & set(DERIVED) for source in DERIVED[name].reads}
    assert {name for name in read if name in FIELDS and name not in FIXED} == OWED
    assert {name for name in read if name.startswith("opt.")} == {"opt.gravity", "opt.disableflags"}


def test_arrays_are_not_even_made_until_somebody_reads_them():
    m, lazy, eager = pair()
    for d in (lazy, eager):
        tisim.step(m, d, 60)
    assert "cdof" not in lazy.memory() and "cdof" in eager.memory()
    assert lazy.ncon > 0
    assert_same(lazy, eager)


def test_they_are_of_the_poses_and_velocities_before_the_step():
    m, lazy, _ = pair()
    tisim.step(m, lazy, 30)
    before, after = np.array(lazy.qvel), copy.copy(lazy)
    tisim.step(m, lazy)
    lazy.qvel[...] = 7
    lazy.qpos[...] = after.qpos
    body = m.body("c").id
    turned = np.array(lazy.xmat).reshape(-1, 3, 3)[body] @ before[15:18]
    assert np.allclose(np.array(lazy.cvel)[body, :3], turned, rtol=0, atol=1e-13)
    assert (np.array(lazy.qvel) == 7).all()


def read(m, d, rng):
    """Something that a user does between steps, chosen by a generator; what is read of it."""
    dof = np.ones(m.nv)
    acts = dict(
        step=lambda: tisim.step(m, d, int(rng.integers(1, 4))),
        array=lambda: np.array(getattr(d, sorted(NAMES - {"wrench", "cacc_bias"})[rng.integers(14)])),
        forward=lambda: tisim.forward(m, d),
        push=lambda: d.qvel.__setitem__(Ellipsis, rng.normal(size=d.qvel.shape)),
        reset=lambda: tisim.reset(m, d, int(rng.integers(d.nworld))),
        vary=lambda: d.vary("body_mass", lambda rng, mass: mass * rng.uniform(1, 2), seed=int(rng.integers(99))),
        state=lambda: tisim.set_state(m, d, tisim.get_state(m, d)),
        product=lambda: tisim.mul_m(m, d, dof if d.nworld == 1 else np.ones((d.nworld, m.nv))),
        object=lambda: tisim.object_velocity(m, d, "body", 2),
        momentum=lambda: np.array(d.subtree_linvel),
        camera=lambda: np.array(d.cam_xpos),
        accelerations=lambda: np.array(d.cacc),
        convex=lambda: (setattr(m.opt, "dynamics", "convex"), tisim.step(m, d), setattr(m.opt, "dynamics", "lcp")),
        damped=lambda: (m.dof_damping.__setitem__(0, 3.0), tisim.step(m, d), m.dof_damping.__setitem__(0, 0.0)),
    )
    name = sorted(acts)[rng.integers(len(acts))]
    found = acts[name]()
    return name, found if isinstance(found, np.ndarray) else None


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_done_between_steps_all_is_as_if_each_step_had_made_it(seed):
    m, lazy, eager = pair(nworld=1 + 2 * (seed % 2))
    rng = np.random.default_rng(seed)
    for _ in range(25):
        draw = int(rng.integers(1 << 30))
        (name, a), (_, b) = (read(m, d, np.random.default_rng(draw)) for d in (lazy, eager))
        assert np.array_equal(a, b), name
        np.from_dlpack(eager.cvel)
        if rng.random() < 0.3:
            assert_same(lazy, eager)
    assert_same(lazy, eager)


def test_a_query_that_reads_them_has_those_of_the_last_step():
    m, lazy, eager = pair()
    for _ in range(3):
        for d in (lazy, eager):
            tisim.step(m, d, 5)
        found = [tisim.solve_m(m, d, np.arange(m.nv)) for d in (lazy, eager)]
        assert np.array_equal(*found)


def test_a_reset_of_some_worlds_takes_theirs_and_leaves_the_others():
    m, lazy, eager = pair(nworld=3)
    for d in (lazy, eager):
        tisim.step(m, d, 5)
        tisim.reset(m, d, 1)
    assert_same(lazy, eager)
    assert not lazy.cinert[1].any() and lazy.cinert[2].any()


def test_copies_have_them_too():
    m, lazy, eager = pair()
    for d in (lazy, eager):
        tisim.step(m, d, 20)
    twin, thawed = copy.copy(lazy), pickle.loads(pickle.dumps(lazy))
    for d in (twin, thawed):
        for name in NAMES - {"wrench", "cacc_bias"}:
            assert np.array_equal(d.host(name), eager.host(name)), name


def turn_gravity(m):
    m.opt.gravity[0] = 4


def forbid_gravity(m):
    m.opt.disableflags = int(tisim.mjtDisableBit.mjDSBL_GRAVITY)


EDITS = dict(
    mass=lambda m: m.body_mass.__setitem__(1, 3 * m.body_mass[1]),
    inertia=lambda m: setattr(m.body("b"), "inertia", [1, 1, 1]),
    damping=lambda m: np.add(m.dof_damping, 2, out=m.dof_damping),
    stiffness=lambda m: np.copyto(m.jnt_stiffness, 4),
    armature=lambda m: m.dof_armature.fill(1),
    gravity=turn_gravity,
    flag=forbid_gravity,
)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("nworld", (1, 3))
def test_a_model_that_is_written_behind_a_step_is_not_that_of_the_step(edit, nworld):
    m, lazy, eager = pair(nworld)
    other = copy.copy(lazy)
    held = m.opt.gravity
    for d in (lazy, eager, other):
        tisim.step(m, d, 20)
    assert lazy._owes and other._owes
    EDITS[edit](m)
    options = np.array(m.opt.gravity), m.opt.disableflags
    assert_same(lazy, eager)
    assert_same(other, eager)
    assert held is m.opt.gravity and (held == options[0]).all() and m.opt.disableflags == options[1]


def test_a_model_can_be_written_though_its_datas_are_gone():
    m, lazy, eager = pair()
    tisim.step(m, lazy, 3)
    lazy._generation -= 1  # as if Taichi had been started again
    m.body_mass[1] = 2
    del lazy, eager
    assert m.body_mass[1] == 2


def test_shared_memory_follows_each_step():
    m, lazy, eager = pair()
    tisim.step(m, lazy, 3)
    shared = np.from_dlpack(lazy.cvel)
    tisim.step(m, eager, 3)
    for _ in range(5):
        for d in (lazy, eager):
            tisim.step(m, d)
        assert np.array_equal(shared, np.asarray(eager.cvel))


def test_who_reads_them_behind_each_step_has_each_step_make_them():
    m, lazy, eager = pair()
    made = []
    for _ in range(12):
        for d in (lazy, eager):
            tisim.step(m, d)
        made.append(not lazy._owes)
        assert np.array_equal(lazy.cvel, eager.cvel)
    assert not any(made[:8]) and all(made[9:])


def test_who_writes_what_they_do_not_follow_from_has_none_made():
    m, lazy, _ = pair()
    for _ in range(3):
        tisim.step(m, lazy)
        m.geom_rgba[:, 0] = 0.5
        assert lazy._owes


@pytest.mark.parametrize(
    "more", ['<sensor><framelinvel objtype="site" objname="s"/></sensor>', '<option><flag energy="enable"/></option>']
)
def test_what_a_step_reads_it_makes(more):
    m, lazy, eager = pair(more=more)
    for d in (lazy, eager):
        tisim.step(m, d, 20)
    assert np.array_equal(lazy.sensordata, eager.sensordata) and np.array_equal(lazy.energy, eager.energy)
    assert np.any(lazy.sensordata) or np.any(lazy.energy)


def test_a_callback_sees_those_of_its_step():
    m, lazy, _ = pair()
    seen = []
    m.callback.control = lambda m, d: seen.append(np.array(d.cvel))
    for _ in range(3):
        tisim.step(m, lazy)
        assert np.array_equal(seen[-1], lazy.cvel)
    assert not np.array_equal(seen[0], seen[2])
