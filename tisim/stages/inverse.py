"""Inverse dynamics: which kernels find the forces of a given acceleration. Seed 000, "Inverse dynamics"."""

import numpy as np

from tisim.device import launch, runtime, session
from tisim.enums import mjtDisableBit, mjtEnableBit, mjtIntegrator
from tisim.errors import Error

from .constraint import PARALLEL_CONTACTS
from .dynamics import parallel
from .integrators import derivative_kernels, is_damped, takes_derivative


def check(m):
    """Raises Error where the flag invdiscrete has no meaning."""
    if is_discrete(m) and m.opt.integrator == mjtIntegrator.mjINT_RK4:
        raise Error("flag invdiscrete: a step of RK4 has no acceleration that inverse dynamics could start from")


def is_discrete(m):
    """Whether qacc is that between two steps."""
    return bool(m.opt.enableflags & mjtEnableBit.mjENBL_INVDISCRETE)


def inverse(m, d):
    """qfrc_inverse and qfrc_constraint from qacc, which is left as it is."""
    if not m.nv:
        return
    kernels, numbers = acceleration_kernels(m)
    k = runtime.kernels("solver.inverse")
    launch.run(m, d, [*kernels, k.inverse_twists], parallel(m, d), **numbers)
    some = bool(d.exceeds(nrow=0, ncon=0))
    if some:
        many = session.arch != "cpu" or bool(d.exceeds(ncon=PARALLEL_CONTACTS))
        launch.run(m, d, [k.inverse_contacts, k.inverse_rows], many)
    launch.run(m, d, [k.inverse_forces], parallel(m, d), with_constraints=int(some))


def acceleration_kernels(m):
    """(kernels, numbers) that make qacc_inverse: qacc, with the flag invdiscrete what it stands for."""
    discrete, k = runtime.kernels("smooth.discrete"), m.opt.integrator
    if is_discrete(m):
        if k == mjtIntegrator.mjINT_IMPLICIT or takes_derivative(m):
            kernels, numbers = derivative_kernels(m)
            implicit = k == mjtIntegrator.mjINT_IMPLICIT
            return [*kernels, discrete.discrete_implicit if implicit else discrete.discrete_implicitfast], numbers
        # 3.4.0: of steps of Euler, this does not look at the flag damper, as the step does
        euler = k == mjtIntegrator.mjINT_EULER
        damped = is_damped(m, ignored=mjtDisableBit.mjDSBL_DAMPER if euler else 0)
        if damped and (not euler or np.max(m.dof_damping) > 0):
            return [discrete.discrete_euler], {}
    return [discrete.same_acceleration], {}


def compare(m, d):
    """With the flag fwdinv: solver_fwdinv, by how much inverse dynamics of the solution differ from what was given."""
    if not m.opt.enableflags & mjtEnableBit.mjENBL_FWDINV or not m.nv:
        return
    check(m)
    k = runtime.kernels("solver.inverse")
    launch.run(m, d, [k.keep_forward], parallel(m, d))
    inverse(m, d)
    launch.run(m, d, [k.compare_forward], parallel(m, d))


def kernels_of(m):
    """The kernels that a comparison launches."""
    k = runtime.kernels("solver.inverse")
    found = [k.keep_forward, *acceleration_kernels(m)[0], k.inverse_twists, k.compare_forward]
    return [*found, k.inverse_contacts, k.inverse_rows, k.inverse_forces]
