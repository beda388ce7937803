"""dynamics="lcp" with order="ode" gives the step of ODE 0.16's QuickStep itself, but for rounding."""

import numpy as np
import pytest
from shared import ode

import tisim


@pytest.fixture(scope="module")
def pile():
    """(library, Model, state, contacts) of a pile that has nearly come to rest."""
    lib = ode.library()
    if lib is None:
        pytest.skip("ODE is not there: pip install dartpy")
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("pile", n=1000)
    m.opt.dynamics = "lcp"
    m.lcp.gap = 0.0
    d = tisim.Data(m)
    tisim.step(m, d, 300)
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
