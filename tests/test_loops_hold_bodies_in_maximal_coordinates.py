"""dynamics="lcp": connects and welds are ball and fixed rows between any two bodies. They are derivatives of their
constraints, keep momentum, take errors back, close loops, and go on to the same bits."""

import pickle
import subprocess
import sys

import mujoco
import numpy as np
import pytest
from shared import loops, ode
from shared.joints import momenta, rotation
from shared.threads import printed

import tisim
from tisim.data.digest import state_hash

INERTIA = '<inertial pos=".03 0 -.2" euler="10 20 30" mass="1" diaginertia=".02 .03 .04"/>'
ENDS = {
    "connect": '<connect body1="a" body2="b" anchor=".1 .05 -.3"/>',
    "connect of sites": '<connect site1="s" site2="t"/>',
    "connect to the world": '<connect body1="a" anchor=".1 .05 -.3"/>',
    "weld": '<weld body1="a" body2="b" anchor=".1 .05 -.3"/>',
    "weld of sites": '<weld site1="s" site2="t"/>',
    "weld without a torque": '<weld body1="a" body2="b" torquescale="0"/>',
}
ROWS = {name: 6 if name in ("weld", "weld of sites") else 3 for name in ENDS}


def pair(kind, options='gravity="0 0 0"'):
    """A Model of two free bodies that an equality holds together."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep="0.005" {options}/><worldbody>'
        f'<body name="a" pos="0 0 1"><freejoint/>{INERTIA}<site name="s" pos=".1 .05 -.3" euler="20 0 40"/></body>'
        f'<body name="b" pos=".1 0 .6" euler="40 20 30"><freejoint/>{INERTIA}<site name="t" pos=".02 .1 .07"/></body>'
        f"</worldbody><equality>{ENDS[kind]}</equality></mujoco>"
    )
    m.opt.dynamics = "lcp"
    m.lcp.take(dict(substeps=1, sweeps=1))
    return m


def moving(kind):
    """(Model, Data) of a pair with random pose and velocity, or, of sites, where they fit."""
    m, rng = pair(kind), np.random.default_rng(1)
    d = tisim.Data(m)
    for k in (3, 10):
        d.qpos[k : k + 4] += 0.2 * rng.normal(size=4)
    d.qvel[:] = rng.normal(size=m.nv)
    return m, d


def ends(m, x):
    """(point, orientation) of both objects at world poses x (position, matrix) of all bodies."""
    data, weld = np.asarray(m.eq_data)[0], m.eq_type[0] == tisim.mjtEq.mjEQ_WELD
    b, p = [m.eq_obj1id[0], m.eq_obj2id[0]], [data[3:6], data[:3]] if weld else [data[:3], data[3:6]]
    turn = [rotation(data[None, 6:10])[0] if weld else np.eye(3), np.eye(3)]
    if m.eq_objtype[0] == tisim.mjtObj.mjOBJ_SITE:
        p, turn = np.asarray(m.site_pos)[b], rotation(m.site_quat)[b]
        b = np.asarray(m.site_bodyid)[b]
    return [(x[b[k]][0] + x[b[k]][1] @ p[k], x[b[k]][1] @ turn[k]) for k in range(2)]


def phi(m, x, n):
    """The constraint, by n rows."""
    (p1, R1), (p2, R2) = ends(m, x)
    W = R1 @ R2.T
    return np.r_[p1 - p2, np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2][:n]


def turned(w):
    """Rotation matrix of a small rotation vector."""
    K = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.eye(3) + K + K @ K / 2


@pytest.mark.parametrize("kind", ENDS)
def test_rows_are_derivatives_of_the_constraint(kind):
    """To 1e-8; those of rotation where the frames of a weld are as one."""
    m, d = moving(kind)
    if ROWS[kind] == 6:
        tisim.forward(m, d)
        b = np.array(d.xpos)[2], np.array(d.xmat).reshape(-1, 3, 3)[2]
        (_, R1), (_, R2) = ends(m, [(np.zeros(3), R) for R in np.array(d.xmat).reshape(-1, 3, 3)])
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, (R1 @ R2.T @ b[1]).ravel())
        d.qpos[10:] = quat
    tisim.forward(m, d)
    n = ROWS[kind]
    x, X = np.array(d.xpos), np.array(d.xmat).reshape(-1, 3, 3)
    com, axes = np.array(d.xipos), np.array(d.ximat).reshape(-1, 3, 3)
    N = np.zeros((n, 3, 6))
    for b in (1, 2):
        for c in range(6):
            both = []
            for e in (1e-6, -1e-6):
                u = np.zeros(6)
                u[c] = e
                R = turned(u[3:])
                now = list(zip(x, X))
                now[b] = (com[b] + u[:3] + R @ (x[b] - com[b]), R @ X[b])
                both.append(phi(m, now, n))
            N[:, b, c] = (both[0] - both[1]) / 2e-6
    tisim.step(m, d)
    assert d.host("lcp_eq_nrow").ravel()[0] == n
    record = d.host("lcp_eq").ravel()[:72].reshape(2, 6, 6)[:, :n]
    J = np.zeros((n, 3, 6))
    for side, b in enumerate(d.host("lcp_eq_body").ravel()):
        J[:, b, :3] = record[side, :, :3] * np.sqrt(m.body_mass[b])
        J[:, b, 3:] = record[side, :, 3:] * np.sqrt(m.body_inertia[b]) @ axes[b].T
    assert np.abs(J - N)[:, 1:].max() < 1e-8 and np.abs(N[:, 1]).max() > 0.5


@pytest.mark.parametrize("kind", [k for k in ENDS if "world" not in k])
def test_rows_keep_momentum(kind):
    """Where what they hold is in its place; 1e-12."""
    m = pair(kind)
    d = tisim.Data(m)
    if "sites" in kind:
        (p1, R1), (p2, R2) = placed(m, d)
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, (R1 @ R2.T @ np.array(d.xmat).reshape(-1, 3, 3)[2]).ravel())
        d.qpos[10:] = quat
        (p1, _), (p2, _) = placed(m, d)
        d.qpos[7:10] += p1 - p2
    d.qvel[:] = np.random.default_rng(2).normal(size=m.nv)
    free = pair(kind)
    free.eq_active0[:] = 0
    alone = tisim.Data(free)
    alone.qpos[:], alone.qvel[:] = d.qpos, d.qvel
    for each, data in ((m, d), (free, alone)):
        each.opt.timestep = 1e-12
        tisim.step(each, data)
    for a, b in zip(momenta(m, d), momenta(free, alone)):
        assert np.abs(a - b).max() < 1e-12 * max(1, np.abs(b).max())
    assert np.abs(d.qvel - alone.qvel).max() > 0.1
    assert np.abs(alone.lcp_eq_drift).max() < 1e-9  # told of what does not act, too


def placed(m, d):
    """Ends where a Data has them."""
    tisim.forward(m, d)
    return ends(m, list(zip(np.array(d.xpos), np.array(d.xmat).reshape(-1, 3, 3))))


@pytest.mark.parametrize("kind", ENDS)
def test_errors_decay_by_erp_in_each_step(kind):
    m, d = moving(kind)
    m.lcp.erp = 0.2
    m.opt.timestep = 1e-4
    drift = []
    for _ in range(5):
        d.qvel[:] = 0
        tisim.step(m, d)
        drift.append(np.array(d.lcp_eq_drift)[0, : 1 + (ROWS[kind] == 6)])
    drift = np.array(drift)
    assert drift[0].min() > 1e-3
    for part in drift.T:
        assert np.allclose(part[1:] / part[:-1], 0.8, rtol=1e-2), part


def test_a_parallelogram_swings_as_a_pendulum():
    """Four bars of which opposite ones are equal: the coupler goes on a circle without turning. Against the pendulum's
    equation, half the error at half the timestep; the loop is closed to 1e-6 m."""
    tisim.init(arch="cpu", precision="f64")
    errors = []
    for h in (1e-3, 5e-4):
        m = tisim.Model.from_xml_string(loops.PARALLELOGRAM.format(h=h))
        m.opt.dynamics = "lcp"
        d = tisim.Data(m)
        d.qpos[:] = 0.5, -0.5, 0.5
        tisim.step(m, d, round(0.8 / h))
        errors.append(abs(d.qpos[0] - loops.pendulum(m, 0.5, 0.8)))
        assert abs(d.qpos[0] + d.qpos[1]) < 1e-4 and np.abs(d.qpos[0] - d.qpos[2]) < 1e-4
        assert np.array(d.lcp_eq_drift)[0, 0] < 1e-6
    assert errors[0] < 1e-3 and 1.8 < errors[0] / errors[1] < 2.2, errors


@pytest.mark.parametrize("free", [False, True])
def test_a_bridge_rests_on_both_ends(free):
    """20 planks, held by hinges and one connect, or free ones with two connects at each seam: after 20 s it is still,
    its seams are open by less than 1 mm, and each end carries half of the weight."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(loops.bridge(20, free))
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    tisim.step(m, d, 4000)
    assert np.abs(d.qvel).max() < 1e-3
    assert np.array(d.lcp_eq_drift)[:, 0].max() < 1e-3
    force = d.host("lcp_eq_impulse").reshape(-1, 6)[:, :3] * m.lcp.substeps / m.opt.timestep
    last = np.asarray(m.eq_obj2id) == 0
    weight = float(m.body_mass.sum()) * 9.81
    assert force[last][:, 2].sum() == pytest.approx(weight if free else weight / 2, rel=1e-3)


def test_a_step_is_odes():
    """Trees of balls, with drift, two of whose bodies a connect holds, and two others a weld, or one and the world
    another connect: a step with converged sweeps is that of ODE's direct solver to 1e-10."""
    lib = ode.library()
    if lib is None:
        pytest.skip("ODE is not there: pip install dartpy")
    tisim.init(arch="cpu", precision="f64")
    rng = np.random.default_rng(4)
    for trial in range(10):
        m = tisim.Model.from_xml_string(loops.random_loops(rng, 5 + trial % 3, trial % 2 == 0))
        m.opt.dynamics = "lcp"
        m.lcp.take(dict(substeps=1, rotation="infinitesimal", erp=0.0, sweeps=20))
        d = tisim.Data(m)
        tisim.forward(m, d)
        world = ode.World(lib, m, 1)
        world.join(d)
        d.qvel[:] = rng.normal(size=m.nv)
        tisim.step(m, d, 8)
        assert np.abs(d.lcp_eq_drift).max() > 1e-5
        m.lcp.take(dict(erp=0.2, sweeps=2000))
        pose, velocity = (d.host(name).reshape(-1, 8)[:, :k].copy() for name, k in (("lcp_pose", 7), ("lcp_twist", 6)))
        theirs = world.step(pose, velocity, [], m.opt.timestep, direct=True)[:2]
        tisim.step(m, d)
        for name, others in zip(("lcp_pose", "lcp_twist"), theirs):
            mine = d.host(name).reshape(-1, 8)[:, : others.shape[1]]
            assert np.abs(mine - others)[1:].max() < 1e-10 * np.abs(others).max(), trial


def test_connects_and_welds_can_be_released_and_taken_up():
    """A released end falls free; its impulse is forgotten; a weld to a mocap body takes a box along."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(loops.CARRIED)
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    tisim.step(m, d, 100)
    assert np.abs(d.qvel).max() < 1e-6
    for k in range(200):
        d.mocap_pos[0, 0] = 0.001 * k
        tisim.step(m, d)
    assert abs(np.array(d.xpos)[2, 0] - 0.2) < 0.01
    d.eq_active[0] = 0
    z = float(d.qpos[2])
    tisim.step(m, d, 20)
    assert np.abs(d.host("lcp_eq_impulse")).max() == 0
    assert d.qpos[2] - z == pytest.approx(-0.5 * 9.81 * 0.1**2, rel=0.06)
    m.opt.disableflags = int(tisim.mjtDisableBit.mjDSBL_EQUALITY)
    d.eq_active[0] = 1
    tisim.step(m, d)
    assert np.abs(d.host("lcp_eq_impulse")).max() == 0
    m.opt.disableflags = 0
    tisim.step(m, d, 200)
    assert np.array(d.lcp_eq_drift)[0].max() < 1e-4


def test_the_scenes_with_welds_and_connects_hang_and_bear():
    """A bridge of 50 planks with boxes on it, a net of 400 knots: after 2 s their seams are open by less than 3 mm."""
    tisim.init(arch="cpu", precision="f64")
    for name, most in (("bridge", 1e-3), ("net", 3e-3)):
        m = tisim.Model.from_scene(name)
        m.opt.dynamics = "lcp"
        d = tisim.Data(m)
        tisim.step(m, d, 500)
        assert np.array(d.lcp_eq_drift)[:, 0].max() < most and np.array(d.contact.dist).min() > -3e-3
        assert np.abs(d.qvel).max() < 3


def test_loops_go_on_to_the_same_bits(tmp_path):
    """In copies, pickles, files, worlds of a batch and behind a reset."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(loops.many(3))
    m.opt.dynamics = "lcp"
    d, batch = tisim.Data(m), tisim.Data(m, nworld=2)
    tisim.step(m, d, 100)
    assert d.ncon > 4 and np.abs(d.host("lcp_eq_impulse")).max() > 0
    other = tisim.Data(m)
    tisim.copy_state(m, d, other)
    pickled = pickle.loads(pickle.dumps(d))
    tisim.step(m, batch, 100)
    assert np.array_equal(batch.qpos[1], d.qpos)
    for each in (d, other, pickled):
        tisim.step(each.model, each, 30)
    assert state_hash(d) == state_hash(other) == state_hash(pickled)
    tisim.reset(m, d)
    tisim.step(m, d, 130)
    assert state_hash(d) == state_hash(other)

    (tmp_path / "m.xml").write_text(loops.many(3))

    def run(folder, *more):
        words = ["run", str(tmp_path / "m.xml"), "--dynamics", "lcp", "--no-picture", "-o", str(tmp_path / folder)]
        subprocess.run([sys.executable, "-m", "tisim", *words, *more], capture_output=True, text=True, check=True)
        return np.load(tmp_path / folder / "state.npz")

    whole, _ = run("whole", "--steps", "160"), run("first", "--steps", "100")
    half = run("half", "--steps", "60", "--from", str(tmp_path / "first" / "state.npz"))
    for name in ("state", "lcp_eq_impulse"):
        assert half[name].tobytes() == whole[name].tobytes()


THREADS = """
import tisim
from tisim.data.digest import state_hash
from shared.loops import many
tisim.init(arch="cpu", precision="f64")
m = tisim.Model.from_xml_string(many(30))
m.opt.dynamics = "lcp"
d = tisim.Data(m)
tisim.step(m, d, 150)
assert d.ncon > 40, d.ncon
print(state_hash(d))
"""


def test_threads_change_no_bit_of_loops():
    assert len(printed(THREADS)) == 1
