"""Constraint stage: rows, islands and the solver, from the launches' point of view."""

from tisim import launch, runtime
from tisim.arrays import COUNTS
from tisim.dynamics import parallel
from tisim.enums import mjtDisableBit
from tisim.solver import solve

PARALLEL_CONTACTS = 2000  # below, waking the threads costs more than the contacts (0.1 us each)


def make_constraints(m, d):
    """Rows of friction loss and limits, solver terms of contacts, islands; nefc and nisland are known after it."""
    k = runtime.kernels("constraint")
    d.set_counts(nrow=0, nefc=0, nisland=0, nsmall=0, nlarge=0)
    off = m.disabled(mjtDisableBit.mjDSBL_CONSTRAINT)
    if m.scalar("nfriction") and not off and not m.disabled(mjtDisableBit.mjDSBL_FRICTIONLOSS):
        launch.run(m, d, [k.friction_rows], parallel(m, d))
    if m.scalar("nlimited") and not off and not m.disabled(mjtDisableBit.mjDSBL_LIMIT):
        launch.run(m, d, [k.limit_rows], parallel(m, d))
    counts = d.counts_on_host()
    nrow, ncon = counts[COUNTS["nrow"]], counts[COUNTS["ncon"]]
    if not nrow and not ncon:
        return
    kernels = [k.contact_terms, k.contact_lists, k.row_lists, runtime.kernels("island").find_islands]
    launch.run(m, d, kernels, ncon > PARALLEL_CONTACTS or runtime.arch != "cpu", maxdense=MAX_DENSE)
    needed = d.counts_on_host()[COUNTS["ndense"]]
    if needed > d.capacity("ndensemax"):
        d.grow("ndensemax", needed)


# an island with more coupled dofs is solved by conjugate gradients on all threads; below, a dense factor is quicker
MAX_DENSE = 90


def constrain(m, d):
    """qacc and qfrc_constraint: the minimum of the constrained problem."""
    k = runtime.kernels("solve_small")
    launch.run(m, d, [k.unconstrained], parallel(m, d))
    if d.counts_on_host()[COUNTS["nisland"]]:
        solve(m, d)
