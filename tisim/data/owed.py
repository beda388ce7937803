"""What a step of the second dynamics leaves undone: inertias, velocities and bias forces of trees, on which nothing
depends where all bodies are free and nothing senses or drives them. Whoever asks for one of these has all made, of the
poses and velocities that the step began with, as other steps have them.
"""

import contextlib

import numpy as np

from tisim.device import launch, memory, runtime, session
from tisim.enums import mjtEnableBit
from tisim.model import callback

# what tree_inertia and tree_velocity write
NAMES = frozenset(
    """M cdof cinert crb qLD qLDiagInv subtree_com cacc_bias cdof_dot cvel qfrc_bias qfrc_damper qfrc_gravcomp
    qfrc_passive qfrc_spring wrench""".split()
)
FORCES = ("jnt_stiffness", "dof_damping", "body_gravcomp")  # passive forces of free bodies, but for those of a medium
LEFT = "left"  # in the notes of a Data: whether its steps leave them undone
PARALLEL_BODIES = 2000  # below, waking the threads costs more than the bodies


@contextlib.contextmanager
def by_steps(d):
    """While steps run that may leave them undone."""
    d._owes, d._leaves = False, True
    try:
        yield
    finally:
        d._owes, d._leaves = d._info.get(LEFT, False), False


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
    m, qvel = d.model, d.device("qvel")
    now = memory.download(qvel)
    kernels = [runtime.kernels("smooth.inertia").tree_inertia, runtime.kernels("smooth.velocity").tree_velocity]
    memory.upload(qvel, memory.download(d.device("lcp_before")))
    try:
        launch.run(m, d, kernels, d.nworld * m.nbody > PARALLEL_BODIES)
    finally:
        memory.upload(qvel, now)


def asked(d, name):
    """Notes that somebody looks at an array from now on, so that each step makes what it reads."""
    if name in NAMES and not d._asked:
        d._asked = True
        d.program.drop()
