"""dynamics="lcp": a step of trees of joints is that of ODE 0.16's direct solver, also with errors in the joints."""

import numpy as np
import pytest
from shared import ode

import tisim

H = 0.01
INERTIA = '<inertial pos="0 0 0" mass="{:.3f}" diaginertia="{:.4f} {:.4f} {:.4f}"/>'


def tree(rng, kinds):
    """MJCF of a free body from which a random tree of bodies with these joints grows."""
    children = {}
    for k in range(len(kinds)):
        children.setdefault(int(rng.integers(k + 1)), []).append(k + 1)

    def body(k):
        word = kinds[k - 1] if k else "free"
        axis, pos = rng.normal(size=3), rng.uniform(-0.1, 0.1, 3)
        joint = f'<joint type="{word}" axis="{axis[0]} {axis[1]} {axis[2]}" pos="{pos[0]} {pos[1]} {pos[2]}"/>'
        joint = "" if word == "fixed" else "<freejoint/>" if word == "free" else joint
        at, turn = rng.uniform(-0.4, 0.4, 3), rng.uniform(-90, 90, 3)
        least = rng.uniform(0.01, 0.02, 3)
        inner = "".join(map(body, children.get(k, [])))
        frame = f'pos="{at[0]} {at[1]} {at[2]}" euler="{turn[0]} {turn[1]} {turn[2]}"'
        return f"<body {frame}>{joint}{INERTIA.format(rng.uniform(0.5, 2), *least)}{inner}</body>"

    return f'<mujoco><option timestep="{H}" gravity="0 0 -9.81"/><worldbody>{body(0)}</worldbody></mujoco>'


def state_of(m, d):
    """(pose, velocity) of all bodies, whose frames are principal."""
    pose, twist = d.host("lcp_pose").reshape(-1, 8)[:, :7], d.host("lcp_twist").reshape(-1, 8)[:, :6]
    assert np.abs(m.body_ipos).max() == 0 and np.abs(m.body_iquat[:, 1:]).max() == 0
    return pose.copy(), twist.copy()


@pytest.fixture(scope="module")
def lib():
    lib = ode.library()
    if lib is None:
        pytest.skip("ODE is not there: pip install dartpy")
    return lib


@pytest.mark.parametrize("erp, cfm", [(0.2, 1e-10), (0.8, 1e-4)])
def test_a_step_of_each_joint_is_odes(lib, erp, cfm):
    """Trees of 1 to 6 joints, after steps in which they drifted: velocities within 1e-9 of their scale."""
    tisim.init(arch="cpu", precision="f64")
    rng = np.random.default_rng(0)
    words = ("ball", "hinge", "slide", "fixed")
    for trial in range(12):
        kinds = [words[(trial + k) % 4] for k in range(1 + trial % 6)]
        m = tisim.Model.from_xml_string(tree(rng, kinds))
        m.opt.dynamics = "lcp"
        m.lcp.take(dict(substeps=1, rotation="infinitesimal", erp=0.0, cfm=cfm))
        d = tisim.Data(m)
        tisim.forward(m, d)
        world = ode.World(lib, m, 1, erp=erp, cfm=cfm)
        world.join(d)
        d.qvel[:] = rng.normal(size=m.nv)
        tisim.step(m, d, 8)
        assert np.abs(d.lcp_drift).max() > 1e-5
        m.lcp.erp = erp
        pose, velocity = state_of(m, d)
        theirs = world.step(pose, velocity, [], H, direct=True)[:2]
        tisim.step(m, d)
        for mine, others, before in zip(state_of(m, d), theirs, (pose, velocity)):
            assert np.abs(others - before).max() > 1e-4
            assert np.abs(mine - others)[1:].max() < 1e-9 * np.abs(others).max(), (trial, kinds)
