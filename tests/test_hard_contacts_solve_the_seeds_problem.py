"""dynamics="lcp": converged sweeps of small islands give what direct solvers give for the same problem as matrices.

Lemke's pivots on the seed's (002) matrix with eta directions and auxiliary rows, and scipy's least squares with bounds.
"""

import functools

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from shared import ode
from shared.lemke import Island

import tisim

SIZES = (".15 .1 .1", ".1 .1 .1", ".12 .14 .1")
SLOP = 1e-4


@functools.cache
def stack(n):
    """A Model of n boxes, one on another, each 0.1 mm deep."""
    tisim.init(arch="cpu", precision="f64")
    bodies = "".join(
        f'<body pos="{0.02 * i} {0.01 * i} {0.0999 + 0.1999 * i}"><freejoint/>'
        f'<geom type="box" size="{SIZES[i]}"/></body>'
        for i in range(n)
    )
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="9 9 1"/>{bodies}</worldbody></mujoco>'
    )
    m.opt.dynamics = "lcp"
    m.lcp.take(dict(substeps=1, rotation="finite", slop=SLOP, ease=0.0))  # the seed has no ease
    return m


def solved(rng, turned=True, **given):
    """(Model, Island, impulses (ncon, 3), velocities) of a random island of 1 to 3 boxes behind one step.

    turned  boxes lie turned about the vertical, moved, some with gaps; else as `stack` has them.
    """
    n = int(rng.integers(1, 4))
    m = stack(n)
    m.lcp.take(given)
    m.geom_friction[:, 0] = rng.uniform(0.1, 1.0)
    d = tisim.Data(m)
    if turned:
        pose = d.qpos.reshape(-1, 7).copy()
        pose[:, :3] += rng.uniform(-1, 1, (n, 3)) * [0.02, 0.02, 3e-4]
        yaw = rng.uniform(-np.pi, np.pi, n) / 2
        pose[:, 3], pose[:, 6] = np.cos(yaw), np.sin(yaw)
        d.qpos[:] = pose.ravel()
    d.qvel[:] = 0.3 * rng.normal(size=6 * n)
    tisim.forward(m, d)
    island = Island(m, d, SLOP)
    tisim.step(m, d)
    impulses = np.array(tisim.contact_force(m, d, np.arange(d.ncon)))[:, :3] * float(m.opt.timestep)
    return m, island, impulses, ode.state_of(m, d)[1].ravel()


@pytest.mark.parametrize("turned", [False, True])
def test_sweeps_and_lemke_solve_the_same_polygons(turned):
    """201 islands, no softness: both answers are valid to 1e-8 in all.

    Where velocities differ the problem has several answers; they are alike in 82 % of upright stacks. Of turned ones,
    which the prototype's figure does not cover, 78 % are, so the test asks only that both are valid.
    """
    alike = []
    for eta in (4, 6, 8):
        rng = np.random.default_rng(eta)
        for _ in range(67):
            _, island, p, v = solved(rng, turned, friction="polygon", eta=eta, sweeps=20_000, cfm=0.0)
            theirs, violation = island.lemke(eta)
            assert violation < 1e-8 and island.violation(p, v, eta) < 1e-8
            alike.append(np.abs(v - theirs).max() < 1e-8)
    assert turned or np.mean(alike) >= 0.8, np.mean(alike)


def test_sweeps_solve_least_squares_with_bounds():
    """200 islands with CFM, tangents within the squares of the normal impulses that the sweeps found: one answer."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        m, island, p, v = solved(rng, friction="box", sweeps=5_000, cfm=1e-3)
        pressed = np.repeat(p[:, 0] > 0, 3)
        pressed[::3] = True  # tangents of the others are held at 0: bounds of no width stop scipy's search
        J, most = island.J[pressed], np.full((len(p), 3), np.inf)
        most[:, 1:] = (island.mu * p[:, 0])[:, None]
        least = -most
        least[:, 0] = 0.0
        A = J @ island.W @ J.T + m.lcp.cfm / m.opt.timestep * np.eye(len(J))
        aim = -island.J @ island.u
        aim[::3] += island.b
        L = np.linalg.cholesky(A)
        bounds = least.ravel()[pressed], most.ravel()[pressed]
        q = lsq_linear(L.T, np.linalg.solve(L, aim[pressed]), bounds, method="bvls", tol=1e-15).x
        assert np.abs(island.u + island.W @ J.T @ q - v).max() < 1e-8
