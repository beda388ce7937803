"""Constraint stage: rows, islands and the solver, from the launches' point of view."""

from tisim.data.arrays import COUNTS
from tisim.device import launch, memory, runtime, session
from tisim.enums import mjtDisableBit

from .dynamics import parallel
from .solver import MAX_DENSE, shared_island, solve

PARALLEL_CONTACTS = 2000  # below, waking the threads costs more than the contacts (0.1 us each)


def make_constraints(m, d):
    """Rows of friction loss and limits, solver terms of contacts, islands; nefc and nisland are known after it."""
    k = runtime.kernels("constraint.constraint")
    d.set_counts(nrow=0, nefc=0, nisland=0, nsmall=0, nlarge=0)
    off = m.disabled(mjtDisableBit.mjDSBL_CONSTRAINT)
    if m.scalar("nfriction") and not off and not m.disabled(mjtDisableBit.mjDSBL_FRICTIONLOSS):
        launch.run(m, d, [k.friction_rows], parallel(m, d))
    if m.scalar("nlimited") and not off and not m.disabled(mjtDisableBit.mjDSBL_LIMIT):
        launch.run(m, d, [k.limit_rows], parallel(m, d))
    counts = d.counts_on_host()
    nrow, ncon = counts[COUNTS["nrow"]], counts[COUNTS["ncon"]]
    if not nrow and not ncon:
        memory.fill(d.device("tree_island"), -1)
        return
    kernels = [k.contact_terms, k.contact_lists, k.row_lists, runtime.kernels("constraint.island").find_islands]
    many = ncon > PARALLEL_CONTACTS or session.arch != "cpu"
    launch.run(m, d, kernels, many, maxdense=MAX_DENSE, maxcon=shared_island())
    needed = d.counts_on_host()[COUNTS["ndense"]]
    if needed > d.capacity("ndensemax"):
        d.grow("ndensemax", needed)


def constrain(m, d):
    """qacc and qfrc_constraint: the minimum of the constrained problem."""
    k = runtime.kernels("solver.one_thread")
    launch.run(m, d, [k.unconstrained], parallel(m, d))
    if d.counts_on_host()[COUNTS["nisland"]]:
        solve(m, d)
