"""dynamics="lcp" with order="ode" gives the step of ODE 0.16's QuickStep itself, but for rounding."""

import numpy as np
import pytest
from shared import ode
from shared.joints import H, tree

import tisim


@pytest.fixture(scope="module")
def pile():
    """(library, Model, state, contacts) of a pile that has nearly come to rest; by the convex dynamics, so that it is
    the same pile whatever is changed here."""
    lib = ode.library()
    if lib is None:
        pytest.skip("ODE is not there: pip install dartpy")
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("pile", n=1000)
    d = tisim.Data(m)
    tisim.step(m, d, 300)
    m.opt.dynamics = "lcp"
    m.lcp.gap = 0.0
    tisim.forward(m, d)
    assert d.ncon > 1500 and np.abs(m.body_ipos).max() == 0 and np.abs(m.body_iquat[:, 1:]).max() == 0
    return lib, m, tisim.get_state(m, d), ode.state_of(m, d), ode.contacts_of(m, d)


@pytest.mark.parametrize("cfm", [1e-10, 1e-5])
@pytest.mark.parametrize("iterations", [1, 4, 8])
def test_a_step_of_a_pile_is_odes(pile, iterations, cfm):
    """1,000 bodies, SOR 1.3, stopped long before convergence: poses and velocities within 1e-12 of their scale."""
    lib, m, state, (pose, velocity), contacts = pile
    m.lcp.take(dict(order="ode", friction="box", rotation="infinitesimal", substeps=1, sweeps=iterations, sor=1.3,
                    slop=0.0, gap=0.0, max_vel=float("inf"), cfm=cfm))  # fmt: skip
    d = tisim.Data(m)
    tisim.set_state(m, d, state)
    tisim.step(m, d)
    h = float(m.opt.timestep)
    world = ode.World(lib, m, iterations, cfm=cfm)
    theirs = world.step(pose, velocity, contacts, h)[:2]
    for mine, others, before in zip(ode.state_of(m, d), theirs, (pose, velocity)):
        assert np.abs(others - before).max() > 1e-4  # something happens
        assert np.abs(mine - others).max() < 1e-12 * np.abs(others).max()


@pytest.mark.parametrize("cfm", [1e-2, 1e-3])
def test_a_converged_step_of_a_pile_is_odes_in_any_order(pile, cfm):
    """Softer rows have one solution, to which 3,000 sweeps by colour come, and as many of ODE's: 1e-10 of scale. So
    they have in this pile; in others there are stacks that have several at 1e-3, or ODE goes to and fro."""
    lib, m, state, (pose, velocity), contacts = pile
    m.lcp.take(dict(order="colour", friction="box", rotation="infinitesimal", substeps=1, sweeps=3000, sor=1.0,
                    slop=0.0, gap=0.0, max_vel=float("inf"), cfm=cfm))  # fmt: skip
    d = tisim.Data(m)
    tisim.set_state(m, d, state)
    tisim.step(m, d)
    theirs = ode.World(lib, m, 3000, cfm=cfm).step(pose, velocity, contacts, float(m.opt.timestep))[:2]
    for mine, others, before in zip(ode.state_of(m, d), theirs, (pose, velocity)):
        assert np.abs(others - before).max() > 1e-4
        assert np.abs(mine - others).max() < 1e-10 * np.abs(others).max()


WORDS = ("ball", "hinge", "slide", "fixed", "universal")
INERTIA = '<inertial pos="0 0 0" mass="1" diaginertia=".01 .02 .015"/>'


def creatures(rng, more=""):
    """MJCF of three trees of 2 to 4 bodies by all joints, with spheres, and one that hangs on the world."""
    bodies = ""
    for k in range(3):
        kinds = [WORDS[(int(rng.integers(5)) + i) % 5] for i in range(1 + k)]
        text = tree(rng, kinds)
        inner = text[text.index("<worldbody>") + 11 : text.index("</worldbody>")]
        inner = inner.replace("<inertial", '<geom size=".3"/><inertial').replace('joint name="', f'joint name="{k}_')
        bodies += inner.replace('body name="', f'body name="{k}_')
    hangs = (
        f'<body name="hangs" pos="0 1 0"><joint axis="1 2 0" pos=".1 0 .2"/>{INERTIA}'
        f'<body pos="0 .3 -.2"><joint type="slide" axis="0 1 1"/>{INERTIA}</body></body>'
    )
    floor = '<geom type="plane" size="9 9 1" pos="0 0 -.3"/>'
    return f'<mujoco><option timestep="{H}"/><worldbody>{floor}{bodies}{hangs}</worldbody>{more}</mujoco>'


LOOPS = (
    '<equality><weld body1="0_body1" body2="1_body0"/><connect body1="2_body1" body2="1_body2" anchor=".1 0 .2"/>'
    "</equality>"
)


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("iterations", [1, 4, 8])
def test_a_step_of_joints_is_odes(iterations, loops):
    """Trees with errors in their joints, on a floor, some connected and welded: within 1e-12 of their scale, though
    stopped long before convergence."""
    lib = ode.library()
    if lib is None:
        pytest.skip("ODE is not there: pip install dartpy")
    tisim.init(arch="cpu", precision="f64")
    rng, touched = np.random.default_rng(5), 0
    for _ in range(8):
        m = tisim.Model.from_xml_string(creatures(rng, LOOPS if loops else ""))
        m.opt.dynamics = "lcp"
        assert np.abs(m.body_ipos).max() == 0 and np.abs(m.body_iquat[:, 1:]).max() == 0
        m.lcp.take(dict(order="ode", friction="box", rotation="infinitesimal", substeps=1, sweeps=iterations, sor=1.3,
                        slop=0.0, gap=0.0, max_vel=float("inf"), cfm=1e-8))  # fmt: skip
        d = tisim.Data(m)
        tisim.forward(m, d)
        world = ode.World(lib, m, iterations, cfm=1e-8)
        world.join(d)
        d.qvel[:] = rng.normal(size=m.nv)
        tisim.step(m, d, 8)
        assert np.abs(d.lcp_drift).max() > 1e-5
        pose, twist = (d.host(f"lcp_{name}").reshape(-1, 8)[:, :k].copy() for name, k in (("pose", 7), ("twist", 6)))
        tisim.forward(m, d)
        touched += d.ncon
        theirs = world.step(pose, twist, ode.contacts_of(m, d), H)[:2]
        tisim.step(m, d)
        for name, others, before in zip(("pose", "twist"), theirs, (pose, twist)):
            mine = d.host(f"lcp_{name}").reshape(-1, 8)[:, : others.shape[1]]
            assert np.abs(others - before).max() > 1e-4
            assert np.abs(mine - others)[1:].max() < 1e-12 * np.abs(others).max()
    assert touched > 20


def test_what_acts_along_joints_converges_in_odes_order():
    """Springs, dampers, limits, friction loss and motors, a row for each: 30,000 sweeps end where the rows of a tree,
    solved at once, do: velocities to 1e-8."""
    tisim.init(arch="cpu", precision="f64")
    words = 'stiffness="3" damping=".2" springref="20" range="-5 5" frictionloss=".3"'
    body = f'<body pos="0 .1 -.2"><joint name="{{0}}" axis="1 {{0}} 0" {words}/>{INERTIA}'
    text = (
        '<mujoco><compiler autolimits="true"/><worldbody><body pos="0 0 1"><freejoint/>' + INERTIA
        + "".join(map(body.format, "12")) + f'<body pos=".2 0 0"><joint type="ball" range="0 10"/>{INERTIA}'
        + "</body>" * 4 + '</worldbody><actuator><velocity joint="2" kv="9" forcerange="-1 1"/></actuator></mujoco>'
    )  # fmt: skip
    m = tisim.Model.from_xml_string(text)
    m.opt.dynamics = "lcp"
    ends = []
    for given in (dict(), dict(order="ode", friction="box", sweeps=30_000)):
        m.lcp.take(dict(substeps=1) | given)
        d = tisim.Data(m)
        d.qpos[7:9], d.ctrl[:] = [0.1, -0.06], 0.5
        d.qvel[6:] = np.random.default_rng(0).normal(size=m.nv - 6)
        tisim.step(m, d)
        ends.append(np.array(d.qvel))
    assert np.abs(ends[0] - ends[1]).max() < 1e-8 and np.abs(ends[0]).max() > 0.1
