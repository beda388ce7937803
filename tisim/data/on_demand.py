"""What a step does not keep, computed from its results when a user reads it: efc_ vectors, cacc, cfrc_int, cfrc_ext,
poses of cameras, momenta of subtrees."""

from tisim.device import launch, runtime, session
from tisim.errors import UnsupportedError
from tisim.model import lcp

from . import impulses

POST_CONSTRAINT = ("cacc", "cfrc_int", "cfrc_ext")
CONVEX = ("cfrc_int", "cfrc_ext", "qfrc_constraint")  # the second dynamics' forces are impulses within a step
OTHER_POSE = (
    "dynamics lcp knows forces of the contacts of its last step: these are of another pose; "
    "ask for them behind tisim.step, before tisim.forward"
)
PARALLEL_BODIES = 2000  # below, waking the threads costs more than the bodies


def dual(d):
    """Whether a dual solver said the forces that there are: it did last, and `inverse` has found no others since."""
    return d._info.get("dual") and not d._info.get("inverse")


def rows(m, d):
    """Writes the efc_ vectors, which the solver does not keep, from rows and contacts."""
    n = d.count("nefc")
    if n > d.room("nefcmax"):
        d.grow("nefcmax", n)
    if n:
        k = runtime.kernels("constraint.rows")
        kernels = [k.expand_rows, k.expand_contacts]
        if dual(d):
            kernels.append(k.expand_dual)
        launch.run(m, d, kernels, session.arch != "cpu")


def wrench_kernels(by_dual, inverse=False):
    """Kernels of cfrc_ext, cacc and cfrc_int.  by_dual: a dual solver said the forces; inverse: of qacc_inverse."""
    k = runtime.kernels("constraint.wrenches")
    contacts = k.dual_wrenches if by_dual else k.contact_wrenches
    accelerations = k.inverse_accelerations if inverse else k.body_accelerations
    return [contacts, k.external_wrenches, k.other_wrenches, accelerations, k.inner_wrenches, k.root_wrenches]


def contact_wrenches(m, d):
    """con_force and con_torque of the last solution, in whose place a solver may have left other numbers."""
    if d.count("ncon"):
        many = session.arch != "cpu" or d.count("ncon") > PARALLEL_BODIES
        launch.run(m, d, wrench_kernels(dual(d))[:1], many)


def momentum_kernels():
    """Kernels of subtree_linvel and subtree_angmom."""
    k = runtime.kernels("smooth.momentum")
    return [k.tree_momenta, k.static_momenta]


def hard(d):
    """Whether the second dynamics made what there is of contacts and their forces, whichever is chosen now."""
    return bool(d._info.get(impulses.LAST))


def check(m, name, hard=False):
    """Raises UnsupportedError for forces that the dynamics does not tell that is chosen, or that there was last."""
    if name in CONVEX and (hard or lcp.chosen(m)):
        last = "" if lcp.chosen(m) else " stepped last and"
        raise UnsupportedError(f"dynamics lcp{last} has no {name}: tisim.contact_force gives forces of its contacts")


def forces(m, d):
    """cfrc_ext, cacc and cfrc_int, by recursive Newton-Euler with what the last step or forward found."""
    check(m, "cfrc_ext", hard(d))
    _run(m, d, wrench_kernels(dual(d)))


def accelerations(m, d):
    """cacc, and the forces that go with it where there are some."""
    if not (lcp.chosen(m) or hard(d)):
        return forces(m, d)
    k = runtime.kernels("constraint.wrenches")
    _run(m, d, [k.body_accelerations, k.root_wrenches])


def momenta(m, d):
    """subtree_linvel and subtree_angmom, of the last positions and velocities."""
    _run(m, d, momentum_kernels())


def cameras(m, d):
    """cam_xpos and cam_xmat, of the last positions."""
    if m._sizes["ncam"]:
        _run(m, d, [runtime.kernels("sensor.frame").camera_poses])


def _run(m, d, kernels):
    d.check(m)
    launch.run(m, d, kernels, session.arch != "cpu" or d.nworld * m.nbody > PARALLEL_BODIES)


MADE = (
    dict(cacc=accelerations, cfrc_int=forces, cfrc_ext=forces)
    | dict.fromkeys(("subtree_linvel", "subtree_angmom"), momenta)
    | dict.fromkeys(("cam_xpos", "cam_xmat"), cameras)
)
