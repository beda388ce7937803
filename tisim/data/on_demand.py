"""What a step does not keep, computed from its results when a user reads it: efc_ vectors, cacc, cfrc_int, cfrc_ext."""

from tisim.device import launch, runtime, session

POST_CONSTRAINT = ("cacc", "cfrc_int", "cfrc_ext")
PARALLEL_BODIES = 2000  # below, waking the threads costs more than the bodies


def rows(m, d):
    """Writes the efc_ vectors, which the solver does not keep, from rows and contacts."""
    n = d.count("nefc")
    if n > d.room("nefcmax"):
        d.grow("nefcmax", n)
    if n:
        k = runtime.kernels("constraint.rows")
        kernels = [k.expand_rows, k.expand_contacts]
        if d._info.get("dual"):
            kernels.append(k.expand_dual)
        launch.run(m, d, kernels, session.arch != "cpu")


def post_constraint(m, d):
    """cfrc_ext, cacc and cfrc_int, by recursive Newton-Euler with what the last step or forward found."""
    d.check(m)
    k = runtime.kernels("constraint.wrenches")
    contacts = k.dual_wrenches if d._info.get("dual") else k.contact_wrenches
    kernels = [contacts, k.external_wrenches, k.other_wrenches, k.inner_wrenches, k.root_wrenches]
    launch.run(m, d, kernels, session.arch != "cpu" or d.nworld * m.nbody > PARALLEL_BODIES)
