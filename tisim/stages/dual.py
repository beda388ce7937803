"""The solvers of the dual problem: PGS, and noslip behind any solver."""

from tisim.device import launch, runtime, session, team
from tisim.enums import mjtSolver

PARALLEL_ROWS = 200  # contacts and rows from which on waking the threads is worth it
PARALLEL_ISLANDS = 16  # the same of small islands
SMALL = dict(small_X=96 * 16, small_A=64 * 16, small_vec=8 * 16)  # vectors of a worker, see solver/small_dual.py
ALONE = -1  # large islands, too, are one thread's each


def is_dual(m):
    """Whether the forces on rows are what a dual solver says."""
    return m.opt.solver == mjtSolver.mjSOL_PGS or m.opt.noslip_iterations > 0


def kernels_of(m):
    """The Kernels that the options ask for, in their order."""
    if not is_dual(m):
        return []
    terms = runtime.kernels("solver.dual")
    found = [terms.dual_places, terms.dual_terms]
    if m.opt.solver == mjtSolver.mjSOL_PGS:
        if by_vectors(m):
            found.append(runtime.kernels("solver.small_dual").pgs_small)
        found.append(runtime.kernels("solver.pgs").pgs_islands)
    if m.opt.noslip_iterations:
        found.append(runtime.kernels("solver.noslip").noslip_islands)
    return found


def by_vectors(m):
    """Whether PGS takes the forces of small islands as vectors."""
    return session.arch == "cpu" and not m.features().elliptic


def solve(m, d, primal):
    """qacc and qfrc_constraint of all islands. primal  stage that solves the primal problem, for other solvers."""
    kernels = kernels_of(m)
    d._info["dual"] = bool(kernels)
    pgs = m.opt.solver == mjtSolver.mjSOL_PGS
    if not pgs:
        primal(m, d)
    if not kernels:
        return
    cpu = session.arch == "cpu"
    large = cpu and bool(d.exceeds(nlarge=0))
    workers = (team.of(d) if large else 1) if cpu else ALONE
    many = not cpu or workers > 1 or bool(d.exceeds(nsmall=PARALLEL_ISLANDS) or d.exceeds(ncon=PARALLEL_ROWS))
    hands = (team.hands(d) if many else 1) if cpu else d.count("nisland")
    launch.run(m, d, kernels[:1], many)
    if d.exceeds(nY=d.room("nYmax")):
        d.grow("nYmax", d.count("nY"))
        launch.run(m, d, kernels[:1], many)
    if pgs and by_vectors(m):
        for name, numbers in SMALL.items():
            d.scratch(name, hands * numbers)
    launch.run(m, d, kernels[1:], many, nhand=hands, nworker=workers, patience=team.PATIENCE, dual=int(pgs))
