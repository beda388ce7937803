"""dynamics="lcp": a step of trees of joints is that of ODE 0.16's direct solver, also with errors in the joints."""

import numpy as np
import pytest
from shared import ode
from shared.joints import H, tree

import tisim


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
    words = ("ball", "hinge", "slide", "fixed", "universal")
    for trial in range(15):
        kinds = [words[(trial + k) % 5] for k in range(1 + trial % 6)]
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


LO_STOP, HI_STOP, VELOCITY, GREATEST_FORCE = 0, 1, 2, 5  # dParam


def test_a_step_with_limits_motors_and_friction_loss_is_odes(lib):
    """Trees whose hinges and slides are beyond a limit, held there or leaving it, or have friction or a motor that hold
    their velocity or do not; ODE solves that by Dantzig's pivots."""
    tisim.init(arch="cpu", precision="f64")
    rng = np.random.default_rng(3)
    acting = {"limit": 0, "left": 0, "stuck": 0, "slips": 0}
    for _ in range(25):
        some = rng.choice(3, size=rng.integers(0, 5), p=(0.5, 0.4, 0.1))
        kinds = ["hinge", *(("hinge", "slide", "ball")[k] for k in some)]
        driven = [k + 1 for k in range(len(kinds)) if kinds[k] != "ball"]
        motors = "".join(f'<velocity joint="{k}" kv="1e8" forcerange="-1 1"/>' for k in driven)
        m = tisim.Model.from_xml_string(tree(rng, kinds, f"<actuator>{motors}</actuator>"))
        m.opt.dynamics = "lcp"
        m.lcp.take(dict(substeps=1, rotation="infinitesimal", cfm=1e-8))
        m.actuator_forcerange[:] = 0
        d = tisim.Data(m)
        tisim.forward(m, d)
        world = ode.World(lib, m, 1, cfm=1e-8)
        joints = world.join(d)
        laws = []
        for j in np.flatnonzero(m.jnt_type >= 2):
            word = "Slider" if m.jnt_type[j] == 2 else "Hinge"
            q, i = m.jnt_qposadr[j], m.jnt_dofadr[j]
            d.qpos[q] = rng.uniform(-0.1, 0.1)
            param = getattr(lib, f"dJointSet{word}Param")
            kind = rng.choice(["limit", "friction", "motor"])
            if kind == "limit":
                beyond = rng.uniform(0, 0.01)
                low = rng.random() < 0.5
                range_ = (d.qpos[q] + beyond, 1.0) if low else (-1.0, d.qpos[q] - beyond)
                m.jnt_limited[j], m.jnt_range[j] = 1, range_
                param(joints[int(j)], LO_STOP, ode.REAL(-range_[1]))  # ODE's angles are those of the parent
                param(joints[int(j)], HI_STOP, ode.REAL(-range_[0]))
                laws.append((i, "limit", 0.2 / H * (beyond if low else -beyond)))
            else:
                most, v = rng.choice([0.05, 0.5, 5.0]), 0.0
                if kind == "friction":
                    m.dof_frictionloss[i] = most
                else:
                    v = rng.uniform(-0.5, 0.5)
                    a = int(np.flatnonzero(m.actuator_trnid[:, 0] == j)[0])
                    d.ctrl[a], m.actuator_forcerange[a] = v, (-most, most)
                param(joints[int(j)], VELOCITY, ode.REAL(-v))
                param(joints[int(j)], GREATEST_FORCE, ode.REAL(most))
                laws.append((i, "stuck", v))
        d.qvel[:] = 0.3 * rng.normal(size=m.nv)
        tisim.forward(m, d)
        pose = np.concatenate([np.array(d.xpos), np.array(d.xquat)], axis=1)
        before = tisim.Data(m)
        tisim.set_state(m, before, tisim.get_state(m, d))
        m.opt.timestep = 1e-12  # twists of the bodies before the step
        m.opt.gravity[:] = 0
        limited, loss, ranges = m.jnt_limited.copy(), m.dof_frictionloss.copy(), m.actuator_forcerange.copy()
        m.jnt_limited[:], m.dof_frictionloss[:], m.actuator_forcerange[:] = 0, 0, 0
        tisim.step(m, before)
        velocity = state_of(m, before)[1]
        m.opt.timestep, m.opt.gravity[2] = H, -9.81
        m.jnt_limited[:], m.dof_frictionloss[:], m.actuator_forcerange[:] = limited, loss, ranges
        theirs = world.step(pose, velocity, [], H, direct=True)[:2]
        tisim.step(m, d)
        mine = state_of(m, d)
        for a, b in zip(mine, theirs):
            assert np.abs(a - b)[1:].max() < 1e-8 * np.abs(b).max(), kinds
        for i, what, v in laws:
            held = abs(d.qvel[i] - v) < 1e-4
            acting[what if held else {"limit": "left", "stuck": "slips"}[what]] += 1
    assert min(acting.values()) > 4, acting


def test_a_hundred_steps_are_odes(lib):
    """50 trees of 1 to 6 joints of all kinds, a third of them with motors and friction loss, which hold or slip: poses
    and velocities within 1e-9 of their scale after 100 steps; none of these falls into chaos so soon."""
    tisim.init(arch="cpu", precision="f64")
    rng = np.random.default_rng(5)
    words = ("ball", "hinge", "slide", "fixed", "universal")
    held = slips = 0
    for trial in range(50):
        driven = trial % 3 == 2
        kinds = [("hinge", "slide", "ball")[k % 3] if driven else words[(trial + k) % 5] for k in range(1 + trial % 6)]
        names = [k + 1 for k in range(len(kinds)) if driven and kinds[k] != "ball"]
        motors = "".join(f'<velocity joint="{k}" kv="1e8" forcerange="-1 1"/>' for k in names)
        m = tisim.Model.from_xml_string(tree(rng, kinds, f"<actuator>{motors}</actuator>"))
        m.opt.dynamics = "lcp"
        m.lcp.take(dict(substeps=1, rotation="infinitesimal"))
        d = tisim.Data(m)
        tisim.forward(m, d)
        world = ode.World(lib, m, 1)
        joints = world.join(d)
        for a in range(m.nu):
            j = int(m.actuator_trnid[a, 0])
            most, speed = rng.choice([0.05, 0.5, 5.0]), rng.uniform(-0.5, 0.5)
            if rng.random() < 0.5:
                m.dof_frictionloss[m.jnt_dofadr[j]], m.actuator_forcerange[a], speed = most, 0, 0.0
            else:
                d.ctrl[a], m.actuator_forcerange[a] = speed, (-most, most)
            param = getattr(lib, f"dJointSet{'Slider' if m.jnt_type[j] == 2 else 'Hinge'}Param")
            param(joints[j], VELOCITY, ode.REAL(-speed))
            param(joints[j], GREATEST_FORCE, ode.REAL(most))
        d.qvel[:] = 0.3 * rng.normal(size=m.nv)
        tisim.step(m, d)
        pose, velocity = state_of(m, d)
        for _ in range(100):
            pose, velocity, _ = world.step(pose, velocity, [], H, direct=True)
        tisim.step(m, d, 100)
        for mine, theirs in zip(state_of(m, d), (pose, velocity)):
            assert np.abs(mine - theirs)[1:].max() < 1e-9 * np.abs(theirs).max(), (trial, kinds)
        for a in range(m.nu):
            off = abs(d.qvel[m.jnt_dofadr[m.actuator_trnid[a, 0]]] - d.ctrl[a])
            held, slips = held + (off < 1e-4), slips + (off > 1e-2)
    assert min(held, slips) > 5, (held, slips)
