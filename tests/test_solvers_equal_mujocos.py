"""Every solver solves MuJoCo's problem: Newton and CG end at its minimum, PGS and noslip go its way sweep by sweep.

Contract: solver="CG" reaches the minimum of MuJoCo's Newton within 1e-7 of the scale of qacc. Forces and qacc of PGS
and of noslip, also after few sweeps, are those of MuJoCo 3.4.0 from the same start, within 1e-7 (the square of its
friction at a given normal force is right to 1e-10), where all is one problem; edges of a pyramid may be taken in
another order: there at the end. Bits do not depend on threads.
"""

import pathlib

import mujoco
import numpy as np
import pytest
from shared import golden
from shared.motion import FLOOR, LANDED, disturb, with_integrator, xml
from shared.reference import Pair
from test_constraint_rows_span_trees import XML
from test_constraint_types_equal_mujocos import ALL, EMPTY, WORLD

import tisim
from tisim import scenes
from tisim.data.solver_stat import FIELDS

PGS, CG, NEWTON = (int(getattr(tisim.mjtSolver, f"mjSOL_{name}")) for name in ("PGS", "CG", "NEWTON"))
NO_ISLANDS = int(tisim.mjtDisableBit.mjDSBL_ISLAND)
CONTACTS = pathlib.Path(__file__).parent / "testdata" / "contacts"
ELLIPTIC = [CONTACTS / f"{name}_elliptic.xml" for name in ("box_box_1", "box_box_3", "box_box_4", "plane_box_6")]


def everything(cone):
    return WORLD.format(**(EMPTY | ALL | dict(option=f'cone="{cone}"')))


SCENES = {
    "everything": lambda: everything("pyramidal"), "everything, elliptic": lambda: everything("elliptic"),
    "rows over trees": lambda: XML.format(cone="pyramidal"),
    "rows over trees, elliptic": lambda: XML.format(cone="elliptic"), "pile": lambda: scenes.build("pile", n=12),
    "ragdolls": lambda: scenes.build("ragdolls", n=2), "wall": lambda: scenes.build("wall"),
}  # fmt: skip


def moving(pair, seed=1, scale=0.3):
    pair.md.qvel[:] = scale * np.random.default_rng(seed).normal(size=pair.mm.nv)
    return pair


def options(pair, **both):
    for opt in (pair.m.opt, pair.mm.opt):
        for name, value in both.items():
            setattr(opt, name, value)


@pytest.mark.parametrize("name", SCENES)
def test_conjugate_gradients_reach_the_minimum(name):
    pair = moving(Pair(SCENES[name]()))
    pair.m.opt.solver = CG
    pair.m.opt.iterations, pair.m.opt.tolerance = 2000, 1e-19
    for k in pair.states(3, 30):
        assert pair.error("qacc") < 1e-7 and pair.error("qfrc_constraint") < 1e-7, k
        assert name == "pile" or pair.error("efc_force") < 1e-6, k  # contacts of a pair may be listed in another order


def sweeps(pair, pgs, noslip, count=4, steps=12, force=1e-7):
    """qacc and forces after so many sweeps of both, in some states."""
    options(pair, solver=PGS if pgs else NEWTON, noslip_iterations=noslip, noslip_tolerance=0)
    options(pair, disableflags=pair.mm.opt.disableflags | NO_ISLANDS)
    if pgs:
        options(pair, iterations=pgs, tolerance=0)
    forces = 0
    for k in pair.states(count, steps):
        assert pair.d.nefc == pair.md.nefc
        for name, tolerance in (("qacc", 1e-7), ("qfrc_constraint", 1e-7), ("efc_force", force)):
            assert pair.error(name) < tolerance, (k, name)
        forces += pair.d.nefc
    assert forces > 0


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("pgs, noslip", [(1, 0), (3, 0), (30, 0), (3, 2), (0, 1), (0, 3), (0, 30)])
def test_sweeps_are_mujocos(pgs, noslip, warm):
    pair = moving(Pair(everything("elliptic")))
    if not warm:
        options(pair, disableflags=int(tisim.mjtDisableBit.mjDSBL_WARMSTART))
    sweeps(pair, pgs, noslip)
    if not (pgs and warm):  # each island here, all of them there, is asked whether its warm start is worth it
        pair = moving(Pair(XML.format(cone="elliptic")))
        options(pair, disableflags=0 if warm else int(tisim.mjtDisableBit.mjDSBL_WARMSTART))
        sweeps(pair, pgs, noslip, force=1e-4)  # rows of an impedance near 1 magnify what qacc has of rounding


@pytest.mark.parametrize("path", ELLIPTIC, ids=lambda p: p.stem)
def test_sweeps_over_contacts_of_every_dimension(path):
    for pgs, noslip in ((4, 0), (4, 3), (0, 3)):
        sweeps(Pair(None, path), pgs, noslip, 3, 15)


@pytest.mark.parametrize("friction", ["1 .005 .0001", ".3 .005 .0001", "1 1e-3 1e-6"])
@pytest.mark.parametrize("condim", [3, 4, 6])
def test_sweeps_over_contacts_that_hardly_resist_turning(condim, friction):
    """Where MuJoCo ends before it has the best force of friction these sweeps do so, too."""
    geom = f'condim="{condim}" friction="{friction}"'
    for pgs, noslip in ((3, 0), (0, 3), (0, 300)):
        pair, rng = Pair(with_integrator(xml(FLOOR + LANDED, geom=geom), "Euler", "elliptic")), np.random.default_rng(3)
        options(pair, solver=PGS if pgs else NEWTON, noslip_iterations=noslip, noslip_tolerance=0)
        options(pair, iterations=pgs or 200, tolerance=0 if pgs else 1e-12, disableflags=NO_ISLANDS)
        for _ in range(4):
            disturb(pair, rng)
            pair.forward()
            assert pair.md.nefc and pair.error("qacc") < 1e-8 and pair.error("efc_force") < 1e-8


@pytest.mark.parametrize("name", ["plane_box_3", "plane_capsule_4", "plane_sphere_6", "box_box_1"])
def test_pyramids_end_where_mujocos_do(name):
    pair = Pair(None, CONTACTS / f"{name}_pyramidal.xml")
    for solver, noslip in ((PGS, 0), (PGS, 300), (NEWTON, 300), (CG, 300)):
        options(pair, noslip_iterations=noslip, noslip_tolerance=0, solver=solver if solver != CG else NEWTON)
        options(pair, iterations=3000 if solver == PGS else 200, tolerance=1e-17)
        pair.m.opt.solver = solver
        for k in pair.states(3, 15):
            assert pair.error("qacc") < 1e-6, (solver, noslip, k)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_gauss_seidel_ends_at_the_minimum(cone):
    pair = moving(Pair(everything(cone)))
    pair.m.opt.solver = PGS
    pair.m.opt.iterations, pair.m.opt.tolerance = 20_000, 1e-22
    for k in pair.states(3, 20):
        assert pair.error("qacc") < 1e-6, k


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
@pytest.mark.parametrize("solver, noslip", [(PGS, 0), (PGS, 4), (NEWTON, 0), (NEWTON, 4)])
def test_rounds_are_told_as_by_mujoco(solver, noslip, cone):
    """What is told of every round that is not lost in rounding; noslip's stand behind the others."""
    pair = moving(Pair(everything(cone)))
    options(pair, solver=solver, noslip_iterations=noslip, noslip_tolerance=0, disableflags=NO_ISLANDS)
    pgs = solver == PGS
    if pgs:
        options(pair, iterations=7, tolerance=0)
    numbers = cone == "pyramidal" or not (pgs or noslip)  # whether a force on the cone counts, rounding says in MuJoCo
    changed = 0
    for k in pair.states(4, 7):
        rounds = int(pair.md.solver_niter[0])
        theirs = {name: np.array([getattr(s, name) for s in pair.md.solver[:rounds]]) for name in FIELDS}
        for name in ("improvement", "gradient") if k == 0 else ():
            error = np.abs(getattr(pair.d.solver, name)[0, :rounds] - theirs[name]).max()
            assert error < 1e-7 * max(1, theirs[name].max()), name
            assert (theirs[name] > 1e-6).any() or (name == "gradient" and pgs)
        for name in ("nactive", "nchange") if numbers else ():
            assert np.array_equal(getattr(pair.d.solver, name)[0, :rounds], theirs[name]), (k, name)
        changed += theirs["nchange"].sum()
        if solver == NEWTON and not noslip:  # both searches end where the slope is next to nothing
            told = pair.d.solver
            assert np.all(told.lineslope[0, :rounds] < 1e-5) and np.all(told.neval[0, :rounds] > 0)
            assert np.all(told.nupdate[0, :rounds] == 1)
            assert list(pair.d.solver_nnz) == [pair.md.solver_nnz[0]] == [pair.mm.nv**2]
    assert changed > 0
    with pytest.raises(tisim.Error):
        pair.d.solver = 0


def test_conjugate_gradients_tell_what_they_gain():
    """Improvements are differences of the cost, and the last gradient is that of the solution."""
    pair = moving(Pair(everything("elliptic")))
    pair.m.opt.solver = CG
    costs = []
    for iterations in (1, 2, 3, 4):
        pair.m.opt.iterations = iterations
        pair.forward()
        costs.append(pair.d.island_cost[0])
    scale = 1 / (pair.m.stat.meaninertia * pair.m.nv)
    fall = -scale * np.diff(costs)
    assert np.allclose(pair.d.solver.improvement[0, 1:4], fall, rtol=1e-9)
    assert pair.d.solver.gradient[0, 3] == pair.d.island_gradient[0]


def test_solvers_stop_early():
    """Fewer rounds for a larger tolerance; the number of iterations is a limit."""
    pair = moving(Pair(everything("pyramidal")))
    for solver in (PGS, CG, NEWTON):
        pair.m.opt.solver = solver
        rounds = []
        for tolerance in (1e-4, 1e-8, 1e-13):
            pair.m.opt.iterations, pair.m.opt.tolerance = 500, tolerance
            tisim.forward(pair.m, pair.d)
            rounds.append(int(np.sum(pair.d.solver_niter)))
        assert 0 < rounds[0] <= rounds[1] <= rounds[2] and (rounds[0] < rounds[2] or solver == NEWTON), solver
        pair.m.opt.iterations = 2
        tisim.forward(pair.m, pair.d)
        assert np.max(pair.d.solver_niter) <= 2


@pytest.mark.parametrize("solver, noslip", [(PGS, 0), (PGS, 3), (NEWTON, 5), (CG, 0)])
def test_rollouts_stay_together(solver, noslip):
    pair = Pair(everything("elliptic"))
    options(pair, solver=solver, noslip_iterations=noslip, disableflags=NO_ISLANDS, noslip_tolerance=0)
    options(pair, iterations=2000, tolerance=2e-15 if solver == PGS else 1e-19)  # below 1e-15 tisim's PGS goes on
    for _ in range(80):
        mujoco.mj_step(pair.mm, pair.md)
    tisim.step(pair.m, pair.d, 80)
    assert pair.error("qpos") < 1e-6 and pair.error("qvel") < 1e-5


@pytest.mark.parametrize("solver, noslip", [(PGS, 0), (NEWTON, 5), (CG, 0)])
def test_threads_and_worlds_do_not_change_bits(solver, noslip):
    results = []
    for variant in ("serial", "parallel"):
        with golden.force(variant):
            tisim.init(arch="cpu", precision="f64")
            m = tisim.Model.from_xml_string(scenes.build("pile", n=30))
            m.opt.solver, m.opt.noslip_iterations = solver, noslip
            every, one = tisim.Data(m, nworld=2), tisim.Data(m)
            tisim.step(m, every, 120)
            tisim.step(m, one, 120)
            assert np.array_equal(np.asarray(every.qpos)[1], one.qpos) and one.nefc > 50
            results.append(np.asarray(one.qpos).copy())
    assert np.array_equal(*results)


def test_conjugate_gradients_by_a_team_give_the_same_minimum(monkeypatch):
    from tisim.device import team
    from tisim.stages import solver

    monkeypatch.setattr(solver, "SHARED", 0)
    monkeypatch.setattr(solver, "MAX_DENSE", 0)
    results = []
    for workers in (1, 2):
        with monkeypatch.context() as patch:
            patch.setattr(team, "workers", lambda: workers)
            pair = moving(Pair(XML.format(cone="elliptic")))
            pair.m.opt.solver = CG
            pair.m.opt.iterations, pair.m.opt.tolerance = 2000, 1e-19
            for k in pair.states(3, 30):
                assert pair.error("qacc") < 1e-7, k
                assert pair.d.count("nlarge") > 0
            results.append(np.asarray(pair.d.qacc).copy())
    assert np.array_equal(*results)


@pytest.mark.parametrize("solver, noslip", [(PGS, 0), (NEWTON, 5)])
def test_sweeps_of_a_team_end_where_those_of_one_do(monkeypatch, solver, noslip):
    from tisim.device import team
    from tisim.stages import solver as stage

    monkeypatch.setattr(stage, "MAX_DENSE", 0)
    monkeypatch.setattr(stage, "MAX_FACTOR", 0)
    results, state = [], None
    for shared, workers in ((stage.NEVER, 1), (0, 1), (0, 2), (0, 3)):
        with monkeypatch.context() as patch:
            patch.setattr(team, "workers", lambda: workers)
            patch.setattr(stage, "SHARED", shared)
            tisim.init(arch="cpu", precision="f64")
            m = tisim.Model.from_xml_string(XML.format(cone="elliptic"))
            d = tisim.Data(m)
            d.qvel[:] = 0.3 * np.random.default_rng(1).normal(size=m.nv)
            tisim.step(m, d, 60)
            state = tisim.get_state(m, d) if state is None else state
            tisim.set_state(m, d, state)  # one for all
            m.opt.solver, m.opt.noslip_iterations, m.opt.noslip_tolerance = solver, noslip and 3000, 1e-22
            m.opt.iterations, m.opt.tolerance = (20_000, 1e-24) if solver == PGS else (200, 1e-15)
            tisim.forward(m, d)
            assert (d.count("nlarge") > 0) == (shared == 0) and d.nefc > 10
            results.append(np.asarray(d.qacc).copy())
    assert np.array_equal(results[1], results[2]) and np.array_equal(results[1], results[3])
    if solver == PGS:  # without regularisation forces, and what rounding leaves of them, depend on the order
        assert np.abs(results[0] - results[1]).max() < 1e-6 * max(1, np.abs(results[0]).max())


def test_colours_cost_no_sweeps(monkeypatch):
    """After as many sweeps a pile is as near to its minimum as in the order of the list."""
    from tisim.stages import solver as stage

    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(scenes.build("pile", n=150))
    d = tisim.Data(m)
    tisim.step(m, d, 150)
    m.opt.tolerance = 1e-13
    tisim.forward(m, d)
    least, m.opt.solver, m.opt.tolerance, costs = d.island_cost.sum(), PGS, 0, []
    m.opt.disableflags |= int(tisim.mjtDisableBit.mjDSBL_WARMSTART)
    for shared in (stage.NEVER, 0):
        monkeypatch.setattr(stage, "SHARED", shared)
        for m.opt.iterations in (5, 20, 60):
            tisim.forward(m, d)
            costs.append(least - d.island_cost.sum())
    assert all(0 < colored < 1.3 * listed for listed, colored in zip(costs[:3], costs[3:]))
