"""Constraint stage: rows, islands and the solver, from the launches' point of view."""

import dataclasses

from tisim.device import launch, runtime, session
from tisim.enums import mjtDisableBit

from . import dual, lists, solver
from .dynamics import parallel

PARALLEL_CONTACTS = 2000  # below, waking the threads costs more than the contacts (0.1 us each)


@dataclasses.dataclass(frozen=True)
class RowMaker:
    """A kernel that appends rows of one kind, see kernels/constraint/row.py.

    kernel  "module.function" in kernels/.  size  the number in the model without which there are no such rows.
    flag    mjtDisableBit that leaves them out.
    """

    kernel: str
    size: str
    flag: int

    def acts(self, m):
        return bool(m.scalar(self.size)) and not m.disabled(self.flag)

    def function(self):
        return runtime.kernel_of(self.kernel)


# in MuJoCo's order: equalities, friction loss of dofs and tendons, limits of joints and tendons; contacts come after
MAKERS = [
    RowMaker("constraint.equality.pose_sizes", "neqpose", mjtDisableBit.mjDSBL_EQUALITY),
    RowMaker("constraint.equality.tendon_sizes", "neqtendon", mjtDisableBit.mjDSBL_EQUALITY),
    RowMaker("constraint.equality.equality_places", "neq", mjtDisableBit.mjDSBL_EQUALITY),
    RowMaker("constraint.equality.pose_rows", "neqpose", mjtDisableBit.mjDSBL_EQUALITY),
    RowMaker("constraint.equality.joint_rows", "neqjoint", mjtDisableBit.mjDSBL_EQUALITY),
    RowMaker("constraint.equality.tendon_rows", "neqtendon", mjtDisableBit.mjDSBL_EQUALITY),
    RowMaker("constraint.friction_loss.friction_rows", "nfriction", mjtDisableBit.mjDSBL_FRICTIONLOSS),
    RowMaker("constraint.tendon_limits.tendon_friction_rows", "ntendonfriction", mjtDisableBit.mjDSBL_FRICTIONLOSS),
    RowMaker("constraint.limits.limit_rows", "nlimited", mjtDisableBit.mjDSBL_LIMIT),
    RowMaker("constraint.tendon_limits.tendon_limit_rows", "ntendonlimited", mjtDisableBit.mjDSBL_LIMIT),
]


def make_constraints(m, d):
    """Rows, solver terms of contacts, islands; nefc and nisland are known after it."""
    awake = parallel(m, d)
    d.set_counts(nrow=0, nJ=0, nefc=0, nisland=0, nsmall=0, nlarge=0)
    d._info["unread"] = False
    if not m.disabled(mjtDisableBit.mjDSBL_CONSTRAINT):
        _make_rows(m, d, awake)
    if not d.exceeds(nrow=0, ncon=0):
        d.fill("tree_island", -1)
        return
    contacts = runtime.kernels("constraint.contacts")
    if solver.queued():
        lists.make(m, d, [contacts.contact_terms], **solver.border(m), **solver.blocks())
    else:
        by_one = [runtime.kernels("constraint.row").row_lists, runtime.kernels("constraint.island").find_islands]
        kernels = [contacts.contact_terms, contacts.contact_lists, *by_one]
        if m.features().packed:
            kernels.append(runtime.kernels("constraint.curve").along_curve)
        many = awake or bool(d.exceeds(ncon=PARALLEL_CONTACTS))
        launch.run(m, d, kernels, many, **solver.border(m))
    d._info["unread"] = solver.ahead(m)
    if not d._info["unread"] and d.exceeds(ndense=d.room("ndensemax")):
        d.grow("ndensemax", d.count("ndense"))
    if "nefcmax" in m.capacity_limit and d.exceeds(nefc=m.capacity_limit["nefcmax"]):
        d.grow("nefcmax", d.count("nefc"))


def _make_rows(m, d, many):
    """All rows but those of contacts, in the order of MAKERS; again with longer lists where they did not fit."""
    makers = [maker.function() for maker in MAKERS if maker.acts(m)]
    while makers:
        launch.run(m, d, makers, many)
        short = d.exceeds(nrow=d.room("nrowmax"), nJ=d.room("nJmax"))
        if not short:
            return
        for name, needed in [(name, d.count(name)) for name in short]:
            d.grow(f"{name}max", needed)
        d.set_counts(nrow=0, nJ=0)


def constrain(m, d):
    """qacc and qfrc_constraint: the minimum of the constrained problem."""
    d._info.pop("qacc_seen", None)
    if session.arch == "cpu":  # on a GPU tree_acceleration does it
        launch.run(m, d, [runtime.kernels("solver.newton").unconstrained], parallel(m, d))
    if d._info.get("unread") or d.exceeds(nisland=0):  # a GPU's host looks once, at the end of the solver
        dual.solve(m, d, solver.solve)
