"""dynamics="lcp": rows of joints are derivatives of their constraints, keep momentum and take errors back; trees of
them are solved at once, move as MuJoCo's where steps are short, and follow what the user writes."""

import pickle

import mujoco
import numpy as np
import pytest
from shared.joints import bodies, chain, energy, many, momenta, rotation
from shared.threads import printed

import tisim
from tisim.data.digest import state_hash

INERTIA = '<inertial pos=".03 0 -.2" euler="10 20 30" mass="1" diaginertia=".02 .03 .04"/>'
JOINTS = {"ball": 3, "hinge": 5, "slide": 5, "fixed": 6, "universal": 4, "oblique": 4}
SECOND = {"universal": "1 0 1", "oblique": "1 1 1"}  # axes of a second hinge


def pair(kind, root="<freejoint/>", options='gravity="0 0 0"', second=""):
    """A Model of a free body and one that a joint holds to it."""
    word = "hinge" if kind in SECOND else kind
    joint = "" if kind == "fixed" else f'<joint type="{word}" axis="1 2 -1" pos=".02 .01 .05"/>'
    joint += f'<joint axis="{SECOND[kind]}" pos=".02 .01 .05"/>' if kind in SECOND else ""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep="0.005" {options}/><worldbody><body pos="0 0 1">{root}{INERTIA}'
        f'<body pos=".1 0 -.4" euler="40 20 30">{joint}{INERTIA}{second}</body></body></worldbody></mujoco>'
    )
    m.opt.dynamics = "lcp"
    return m


def moving(kind, **given):
    """(Model, Data) of a pair with random pose and velocity."""
    m = pair(kind)
    m.lcp.take(given)
    rng = np.random.default_rng(1)
    d = tisim.Data(m)
    d.qpos[3:] = rng.normal(size=m.nq - 3)  # quaternions are normalised where they are read
    d.qvel[:] = rng.normal(size=m.nv)
    return m, d


def phi(kind, m, x, before):
    """The constraint of a pair at world poses x of both, with tangents fixed in the first."""
    (xi, Ri), (xj, Rj) = x
    anchor = np.zeros(3) if kind in ("slide", "fixed") else np.asarray(m.jnt_pos)[-1]
    axis, last = np.asarray(m.jnt_axis)[min(1, m.njnt - 1)], np.asarray(m.jnt_axis)[-1]
    place, turn = np.asarray(m.body_pos)[2], rotation(m.body_quat)[2]
    gap = xi + Ri @ (place + turn @ anchor) - xj - Rj @ anchor
    wrong = Ri @ turn @ Rj.T
    twist = np.array([wrong[2, 1] - wrong[1, 2], wrong[0, 2] - wrong[2, 0], wrong[1, 0] - wrong[0, 1]]) / 2
    s = Ri @ turn @ axis
    t = Ri @ before[0][1].T @ np.linalg.svd((before[0][1] @ turn @ axis)[None])[2][1:].T
    if kind in SECOND:
        return np.r_[gap, np.arccos(s @ (Rj @ last))]
    if kind == "hinge":
        return np.r_[gap, -t.T @ np.cross(s, Rj @ axis)]
    return dict(ball=gap, fixed=np.r_[gap, twist], slide=np.r_[twist, t.T @ gap])[kind]


def turned(w):
    """Rotation matrix of a small rotation vector."""
    K = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.eye(3) + K + K @ K / 2


@pytest.mark.parametrize("kind", JOINTS)
def test_rows_are_derivatives_of_the_constraint(kind):
    """Their space is that of finite differences, to 1e-8, with as many rows as the joint leaves out directions."""
    m, d = moving(kind, substeps=1)
    tisim.forward(m, d)
    x, X = np.array(d.xpos)[1:], np.array(d.xmat).reshape(-1, 3, 3)[1:]
    com, axes = np.array(d.xipos)[1:], np.array(d.ximat).reshape(-1, 3, 3)[1:]
    before = list(zip(x, X))
    N = np.zeros((JOINTS[kind], 12))
    for c in range(12):
        ends = []
        for e in (1e-6, -1e-6):
            u = np.zeros((2, 6))
            u.flat[c] = e
            now = []
            for b in range(2):
                R = turned(u[b, 3:])
                now.append((com[b] + u[b, :3] + R @ (x[b] - com[b]), R @ X[b]))
            ends.append(phi(kind, m, now, before))
        N[:, c] = (ends[0] - ends[1]) / 2e-6
    tisim.step(m, d)
    n = d.host("lcp_nrow").ravel()[2]
    assert n == JOINTS[kind]
    rows = d.host("lcp_joint").reshape(-1, 256)[2, :72].reshape(2, 6, 6)[:, :n]
    J = np.zeros((n, 12))
    for b in range(2):
        J[:, 6 * b : 6 * b + 3] = rows[b, :, :3] * np.sqrt(m.body_mass[1 + b])
        J[:, 6 * b + 3 : 6 * b + 6] = rows[b, :, 3:] * np.sqrt(m.body_inertia[1 + b]) @ axes[b].T
    basis = np.linalg.svd(N, full_matrices=False)[2]
    assert np.abs(J - J @ basis.T @ basis).max() < 1e-8
    assert np.linalg.matrix_rank(J, tol=1e-3) == n


@pytest.mark.parametrize("kind", JOINTS)
def test_rows_keep_momentum(kind):
    m, d = moving(kind, substeps=1)
    m.opt.timestep = 1e-9
    tisim.step(m, d)  # velocities that fit the joint, in the pose that qpos has
    start = momenta(m, d)
    d.qfrc_applied[6:] = 1e9 * np.random.default_rng(2).normal(size=m.nv - 6)
    tisim.step(m, d)
    for a, b in zip(momenta(m, d), start):
        assert np.abs(a - b).max() < 1e-12 * max(1, np.abs(a).max())
    assert kind == "fixed" or np.abs(d.qvel[6:]).max() > 0.1


@pytest.mark.parametrize("kind", JOINTS)
def test_errors_decay_by_erp_in_each_step(kind):
    m, d = moving(kind, substeps=1, erp=0.0)
    d.qvel[:] *= 3
    tisim.step(m, d, 10)
    d.qvel[:] = 0
    m.lcp.erp = 0.2
    m.opt.timestep = 1e-3
    drift = [np.array(d.lcp_drift)[2]]
    for _ in range(3):
        tisim.step(m, d)
        drift.append(np.array(d.lcp_drift)[2])
    drift = np.array(drift)
    assert drift[0].max() > 1e-5
    for part in drift.T[drift[0] > 1e-6]:
        assert np.allclose(part[1:] / part[:-1], 0.8, rtol=2e-3), part


def test_a_chain_of_100_links_hangs_without_drift():
    """For 20 s its links are within 1e-5 of one another's place, whereas sweeps leave 1.7 to 60 % of a link."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(chain(100))
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    for _ in range(20):
        tisim.step(m, d, 200)
        assert np.abs(d.lcp_drift)[:, 0].max() < 1e-5 * 0.1
    assert np.abs(d.qvel).max() < 1e-6


def test_a_chain_that_falls_from_the_horizontal_gains_no_energy():
    """At the whip of its end a joint opens by less than 25 % of a link."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(chain(100, True))
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    start, drift = energy(m, d) if "lcp_pose" in d._device else 0.0, 0.0
    for _ in range(50):
        tisim.step(m, d, 20)
        drift = max(drift, np.array(d.lcp_drift)[:, 0].max())
        assert energy(m, d) < start + 1e-3 * float(m.body_mass.sum()) * 9.81 * 10
    assert 0.01 < drift / 0.1 < 0.25


def whip(n, limit):
    """MJCF of n thin links by balls, which may turn by `limit` degrees."""
    link = (
        f'<body pos="0 0 -.4"><joint type="ball" range="0 {limit}"/>'
        '<geom type="capsule" size=".03" fromto="0 0 0 0 0 -.4"/>'
    )
    return (
        '<mujoco><compiler autolimits="true"/><option timestep=".005"><flag contact="disable"/></option><worldbody>'
        + link * n + "</body>" * n + "</worldbody></mujoco>"
    )  # fmt: skip


@pytest.mark.parametrize("n, limit, most", [(1, 180, 0.1), (1, 60, 3), (1, 20, 4), (3, 180, 0.1), (3, 60, 21)])
def test_fast_thin_links_gain_no_energy(n, limit, most):
    """Thrown by 30 rad/s about each axis, which makes some spin by 300, at steps of 5 ms: inertia turns with each
    substep. With the whole step it would add energy a hundredfold, and pass limits by 25 and 120 degrees. It rises by
    less than 1e-3 of m g L."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(whip(n, limit))
    m.opt.dynamics = "lcp"
    rng = np.random.default_rng(0)
    for _ in range(8):
        d = tisim.Data(m)
        d.qvel[:] = 30 * rng.normal(size=m.nv)
        tisim.step(m, d)
        start, most_energy = energy(m, d), 1e-3 * float(m.body_mass.sum()) * 9.81 * 0.4 * n
        for _ in range(120):
            tisim.step(m, d)
            angle = 2 * np.degrees(np.arccos(np.clip(np.abs(np.array(d.qpos)[::4]), 0, 1))).max()
            assert energy(m, d) < start + most_energy and angle < limit + most


SPUN = """<mujoco><option timestep="{}"><flag contact="disable"/></option><worldbody>
<body pos="0 0 1" euler="0 90 0"><joint type="ball"/><geom type="capsule" size=".04" fromto=".04 0 0 .16 0 0"/></body>
</worldbody></mujoco>"""


def test_a_link_in_the_air_swings_and_spins_for_ever():
    """By a ball, at 5 rad/s about itself: after 10 s at 5 ms its spin is the same to 1e-6, energy to 1e-4 J, and it is
    where MuJoCo has it with steps of a tenth by RK4, to 0.005 rad/s. A heap with such links does not come to rest."""
    tisim.init(arch="cpu", precision="f64")
    reference = mujoco.MjModel.from_xml_string(SPUN.format('5e-4" integrator="RK4'))
    data = mujoco.MjData(reference)
    m = tisim.Model.from_xml_string(SPUN.format(5e-3))
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    data.qvel[:] = d.qvel[:] = [5.2, 1.0, 0.7]
    tisim.step(m, d)
    start = energy(m, d)
    tisim.step(m, d, 1999)
    mujoco.mj_step(reference, data, 20_000)
    assert abs(d.qvel[0] - 5.2) < 1e-6 and abs(energy(m, d) - start) < 1e-4
    assert np.abs(d.qvel - data.qvel).max() < 0.005


def test_a_heap_of_mechanisms_comes_to_rest():
    """Thirty damped snakes of balls, hinges and welded links, from starts 1 nm apart: 10 s after they fell all but two,
    which may roll along the floor for ever, move by less than the tolerance of sleeping, 0.05 m/s and rad/s, and no
    quarter of a second gives energy, but for ease, which lifts what sank: 1e-5 J of 106.

    With a damping of 0.002 a link swings as a pendulum does, for 2 I / c = 10 s and more, in some heaps at 1 rad/s:
    the same swing with steps of a fifth, or five sweeps, to 1 %. What rolls may push others after 5 s
    yet; what happens is another thing on each kind of processor.
    """
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(many(30, 0.1))
    m.opt.dynamics = "lcp"
    tree = np.asarray(m.body_treeid)[m.dof_bodyid]
    for start in range(3):
        d = tisim.Data(m)
        d.qpos[2] += start * 1e-9
        tisim.step(m, d, 2000)
        energies = [energy(m, d)]
        for _ in range(5):
            tisim.step(m, d, 50)
            energies.append(energy(m, d))
        v = np.abs(d.qvel)
        assert len(set(tree[v > 0.05])) <= 2 and np.median(v) < 1e-3, (start, v.max(), np.median(v))
        assert np.diff(energies).max() < 1e-5, (start, np.diff(energies))
        assert np.array(d.contact.dist).min() > -1e-3


PENDULUM = """<mujoco><option timestep="{h}" integrator="RK4"><flag contact="disable"/></option><worldbody>
<body pos="0 0 1"><joint type="{0}" axis="0 1 0" pos="0 0 .05"/><geom type="box" size=".03 .05 .2" pos=".01 0 -.2"/>
<body pos="0 .02 -.4" euler="10 20 30"><joint type="{1}" axis="0 1 .2"/><geom type="box" size=".03 .04 .2"
pos="0 0 -.2"/><body pos="0 0 -.4"><geom type="sphere" size=".05"/></body></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("kinds", [("hinge", "hinge"), ("hinge", "ball"), ("ball", "hinge"), ("hinge", "slide"),
                                   ("slide", "ball")])  # fmt: skip
def test_double_pendulums_move_as_mujocos_where_steps_are_short(kinds):
    """The error is of first order: half of it at half the timestep, 2e-4 rad at 1 ms after 0.5 s."""
    tisim.init(arch="cpu", precision="f64")
    reference = mujoco.MjModel.from_xml_string(PENDULUM.format(*kinds, h=1e-4))
    data = mujoco.MjData(reference)
    velocity = np.random.default_rng(0).normal(size=reference.nv)
    data.qvel[:] = velocity
    mujoco.mj_step(reference, data, 5000)
    errors = []
    for h in (1e-3, 5e-4):
        m = tisim.Model.from_xml_string(PENDULUM.format(*kinds, h=h).replace("RK4", "Euler"))
        m.opt.dynamics = "lcp"
        d = tisim.Data(m)
        d.qvel[:] = velocity
        tisim.step(m, d, round(0.5 / h))
        errors.append(np.abs(d.qpos - data.qpos).max())
    assert errors[0] < 2e-4 and 1.8 < errors[0] / errors[1] < 2.3, errors


@pytest.mark.parametrize("kind", SECOND)
def test_two_hinges_of_a_body_move_as_mujocos_where_steps_are_short(kind):
    """Universal joints, and such with another angle between their axes; springs, dampers and limits included."""
    words = f'pos="0 0 .05" stiffness="3" damping=".1" springref="10" range="-{80} {80}"'
    body = f'<joint axis="1 2 -1" {words}/><joint axis="{SECOND[kind]}" {words}/><geom type="box" size=".03 .05 .2"'
    xml = (
        '<mujoco><option timestep="{}"><flag contact="disable"/></option><worldbody><body pos="0 0 1">' + body
        + ' pos=".01 0 -.2"/><body pos="0 .02 -.4" euler="10 20 30">' + body
        + ' pos="0 0 -.2"/></body></body></worldbody></mujoco>'
    )  # fmt: skip
    reference = mujoco.MjModel.from_xml_string(xml.format('1e-4" integrator="RK4'))
    data = mujoco.MjData(reference)
    data.qvel[:] = [1, -1, 2, 1]
    mujoco.mj_step(reference, data, 3000)
    errors = []
    tisim.init(arch="cpu", precision="f64")
    for h in (1e-3, 5e-4):
        m = tisim.Model.from_xml_string(xml.format(h))
        m.opt.dynamics = "lcp"
        d = tisim.Data(m)
        d.qvel[:] = [1, -1, 2, 1]
        tisim.step(m, d, round(0.3 / h))
        errors.append(np.abs(d.qpos - data.qpos).max())
    assert errors[0] < 1e-3 and 1.7 < errors[0] / errors[1] < 2.4, errors


def test_hinges_count_turns():
    m = pair("hinge", root='<joint type="hinge" axis="0 0 1" pos=".03 0 0"/>')
    d = tisim.Data(m)
    d.qpos[0], d.qvel[0] = 20.0, -40.0
    before = float(d.qpos[0])
    for _ in range(100):
        tisim.step(m, d)
        assert abs(d.qpos[0] - before) < 0.3
        before = float(d.qpos[0])
    assert before < 15


def test_what_is_written_is_where_the_bodies_go_on():
    """qpos moves the bodies there, qvel alone leaves them where they are; what was only read is held bit for bit."""
    m, d = moving("hinge")
    tisim.step(m, d, 20)
    held = bodies(m, d)[0]
    tisim.forward(m, d)
    assert np.array_equal(d.xipos[1:], np.array(d.xipos[1:])) and np.abs(d.xipos[1:] - held[1:]).max() < 1e-12
    d.qvel[7 - 1] += 1.0
    wanted = np.array(d.qvel)
    m.opt.timestep, m.lcp.erp = 1e-9, 0.0
    tisim.step(m, d)
    assert np.abs(d.qvel - wanted).max() < 1e-5
    d.qpos[:3] += 1.0
    tisim.step(m, d)
    assert np.abs(bodies(m, d)[0][1:] - held[1:] - 1.0).max() < 1e-4  # without the drift that there was


CRAWLER = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 .4"><freejoint/><geom type="box" size=".1 .1 .05"/>
  <body pos=".2 0 0"><joint type="ball" pos="-.1 0 0"/><geom type="capsule" size=".03" fromto="0 0 0 .1 0 0"/>
    <body pos=".15 0 0"><joint axis="0 1 0"/><geom type="sphere" size=".05" pos=".05 0 0"/></body></body>
  <body pos="-.2 0 0"><joint axis="0 1 0" pos=".1 0 0"/><geom type="capsule" size=".03" fromto="0 0 0 -.1 0 0"/>
    <body pos="-.15 0 .02"><geom type="sphere" size=".05"/></body></body></body>
<body pos="0.1 0 .8"><freejoint/><geom type="box" size=".1 .06 .05"/></body></worldbody></mujoco>"""


def crawler():
    """A Model of a tree with all kinds of joints, on the ground, and a box that falls on it."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(CRAWLER)
    m.opt.dynamics = "lcp"
    return m


def test_trees_go_on_to_the_same_bits():
    """In copies, behind a reset, and as a world of a batch."""
    m = crawler()
    d = tisim.Data(m)
    tisim.step(m, d, 150)
    assert d.ncon > 4
    other, batch = tisim.Data(m), tisim.Data(m, nworld=2)
    tisim.copy_state(m, d, other)
    pickled = pickle.loads(pickle.dumps(d))
    tisim.step(m, batch, 150)
    assert np.array_equal(batch.qpos[1], d.qpos)
    for each in (d, other, pickled):
        tisim.step(each.model, each, 30)
    assert state_hash(d) == state_hash(other) == state_hash(pickled)
    tisim.reset(m, d)
    tisim.step(m, d, 180)
    assert state_hash(d) == state_hash(other)


def test_worlds_do_not_feel_contacts_in_others():
    """One lies on the ground, one falls 5 m yet, one lands meanwhile: each has the bits that it has alone."""
    tisim.init(arch="cpu", precision="f64")
    alone = CRAWLER[: CRAWLER.index('<body pos="0.1 0 .8">')]
    m = tisim.Model.from_xml_string(f"{alone}</worldbody></mujoco>")
    m.opt.dynamics = "lcp"
    batch = tisim.Data(m, nworld=3)
    batch.qpos[:, 2] += [0, 5, 0.3]
    tisim.step(m, batch, 120)
    assert (np.bincount(batch.contact.worldid, minlength=3) > 0).tolist() == [True, False, True]
    for w, higher in enumerate((0, 5, 0.3)):
        d = tisim.Data(m)
        d.qpos[2] += higher
        tisim.step(m, d, 120)
        assert np.array_equal(d.qpos, batch.qpos[w]) and np.array_equal(d.qvel, batch.qvel[w]), w


def test_trees_come_to_rest_on_the_ground():
    """After 3 s their joints hold, contacts sink by less than the slop, the trunk is still."""
    m = crawler()
    d = tisim.Data(m)
    tisim.step(m, d, 600)
    assert d.ncon > 6 and np.abs(d.qvel[:6]).max() < 1e-3 and np.abs(d.lcp_drift).max() < 1e-5
    assert -1e-3 < np.array(d.contact.dist).min() < 0


def test_contacts_and_trees_solved_in_turn_converge():
    """A chain of 50 links, half on the ground, without friction, hit at random: 10 sweeps leave 1e-9 rad/s, where rows
    one by one need thousands."""
    tisim.init(arch="cpu", precision="f64")
    link, bodies_ = '<geom type="capsule" size=".02" condim="1" fromto=".02 0 0 .08 0 0"/>', ""
    for k in range(50):
        turn = {0: ' euler="0 90 0"', 25: ' euler="0 -90 0"'}.get(k, "")
        bodies_ += f'<body pos="{"0 0 2.52" if k == 0 else ".1 0 0"}"{turn}><joint type="ball"/>{link}'
    floor = '<geom type="plane" size="9 9 1" condim="1"/>'
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep=".005"/><worldbody>{floor}{bodies_}{"</body>" * 50}</worldbody></mujoco>'
    )
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    tisim.step(m, d, 3)
    d.qvel[:] += 0.3 * np.random.default_rng(0).normal(size=m.nv)
    state, ends = tisim.get_state(m, d), {}
    m.lcp.substeps = 1
    for sweeps in (2, 10, 1000):
        m.lcp.sweeps = sweeps
        tisim.set_state(m, d, state)
        tisim.step(m, d)
        ends[sweeps] = np.array(d.qvel)
    assert d.ncon == 50
    assert np.abs(ends[10] - ends[1000]).max() < 1e-9 < np.abs(ends[2] - ends[1000]).max()


def test_ragdolls_fall_and_lie():
    """Balls and pairs of hinges with limits and damping: after 3 s nothing is deeper than 1 mm, joints hold."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("ragdolls", n=2)
    m.opt.dynamics = "lcp"
    m.lcp.armature = "ignore"
    d = tisim.Data(m)
    tisim.step(m, d, 750)
    assert d.ncon > 15 and np.array(d.contact.dist).min() > -1e-3
    assert np.abs(d.lcp_drift).max() < 1e-3 and np.abs(d.qvel).max() < 3
    limited = np.flatnonzero(np.asarray(m.jnt_limited) & (np.asarray(m.jnt_type) == 3))
    q, ends = np.array(d.qpos)[m.jnt_qposadr[limited]], m.jnt_range[limited]
    assert (q > ends[:, 0] - 2e-3).all() and (q < ends[:, 1] + 2e-3).all()


THREADS = """
import tisim
from tisim.data.digest import state_hash
from shared.joints import many
tisim.init(arch="cpu", precision="f64")
m = tisim.Model.from_xml_string(many(40))
m.opt.dynamics = "lcp"
d = tisim.Data(m)
tisim.step(m, d, 150)
assert d.ncon > 40, d.ncon
print(state_hash(d))
"""


def test_threads_change_no_bit_of_trees():
    assert len(printed(THREADS)) == 1
