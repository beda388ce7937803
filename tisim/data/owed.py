"""What a step of the second dynamics leaves undone: inertias, velocities and bias forces of trees, on which nothing
depends where all bodies are free and nothing senses or drives them. Whoever asks for one of these has all made, of the
poses and velocities that the step began with, as other steps have them; who does so often has each step make them.
Before somebody writes to the model they are made, too (`Changes.coming`); options are kept, as some are written unseen.
"""

import numpy as np

from tisim.device import launch, runtime, session
from tisim.enums import mjtEnableBit
from tisim.model import callback

from .on_demand import PARALLEL_BODIES

# what tree_inertia and tree_velocity write
NAMES = frozenset(
    """M cdof cinert crb qLD qLDiagInv subtree_com cacc_bias cdof_dot cvel qfrc_bias qfrc_damper qfrc_gravcomp
    qfrc_passive qfrc_spring wrench""".split()
)
FORCES = ("jnt_stiffness", "dof_damping", "body_gravcomp")  # passive forces of free bodies, but for those of a medium
LEFT, PAID = "left", "paid"  # in the notes of a Data: whether its steps leave them undone; how often they were made
OPTIONS = "options"  # there, too: what the options were that they follow from
OFTEN = 8  # times that they were made behind a step, from which on each step makes them, in less time


def begin(d):
    """Steps begin that may leave them undone; what the last one left nobody asks for any more."""
    d._owes, d._leaves = False, True


def end(d):
    """They are over."""
    d._owes, d._leaves = d._info.get(LEFT, False), False
    if d._owes:
        d._info[OPTIONS] = _options(d.model)
        d.model._changed.owing.add(d)


def leaves(m, d):
    """Whether the step that runs leaves them undone; noted, as it may be repeated without Python."""
    if not d._leaves:
        return False
    d._info[LEFT] = session.arch == "cpu" and not runtime.debug() and _nobody_reads(m, d)
    return d._info[LEFT]


def _nobody_reads(m, d):
    """Whether nothing in a step reads them, and nobody else does behind each."""
    has, sizes = m.features(), m._sizes
    read = m.nu or sizes["nsensor"] or m.ntendon or m.scalar("nseen") or has.maximal or has.sleep
    energy = int(m.opt.enableflags) & int(mjtEnableBit.mjENBL_ENERGY)
    return not (d._asked or read or energy or m.lcp.order == "ode" or _called(m) or _passive(m, d))


def _called(m):
    """Whether users' functions run within a step."""
    return any(callback.of(m, name) for name in callback.FORMS)


def _passive(m, d):
    """Whether passive forces act."""
    some = any(name in d._varied or np.any(np.asarray(getattr(m, name))) for name in FORCES)
    return some or bool(m.opt.density or m.opt.viscosity)


def pay(d):
    """Makes what the last step left undone."""
    d._owes = False
    now = _options(d.model)
    _set_options(d.model, d._info[OPTIONS], now)
    try:
        _make(d)
    finally:
        _set_options(d.model, now, d._info[OPTIONS])
    d._info[PAID] = d._info.get(PAID, 0) + 1
    if d._info[PAID] == OFTEN:
        ask(d)


def _make(d):
    kernels = [runtime.kernels("smooth.inertia").tree_inertia, runtime.kernels("smooth.velocity").tree_velocity]
    launch.run(d.model, Before(d), kernels, d.nworld * d.model.nbody > PARALLEL_BODIES)


def _options(m):
    return np.array(m.opt.gravity), m.opt.disableflags


def _set_options(m, values, now):
    """Writes options that are others now; the array of gravity stays, as a user may hold it."""
    if not np.array_equal(values[0], now[0]):
        m.opt.gravity[...] = values[0]
    if values[1] != now[1]:
        m.opt.disableflags = values[1]


class Before:
    """A Data with the velocities that its last step began with, as kernels are launched with it."""

    def __init__(self, d):
        self._data = d

    def __getattr__(self, name):
        return getattr(self._data, name)

    def device(self, name):
        """The device array of this name."""
        return self._data.device("lcp_before" if name == "qvel" else name)

    def bound(self, m, key):
        """No launches are kept: those of the Data have its velocities."""
        self._data.check(m)

    def keep_bound(self, key, bound):
        """Lets go of them."""


def asked(d, name):
    """Notes that somebody looks at an array from now on."""
    if name in NAMES and not d._asked:
        ask(d)


def ask(d):
    """Lets each step make them from now on."""
    d._asked = True
    d.program.drop()
