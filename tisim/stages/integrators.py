"""Integration: which kernels advance the state, for tisim.pipeline. Seed 000, "Numerical integration"."""

import numpy as np

from tisim.data.matrices import DERIVED
from tisim.device import launch, memory, runtime
from tisim.enums import mjtBias, mjtDisableBit, mjtGain, mjtIntegrator, mjtTrn

from . import abreast
from .actuation import advance_kernels
from .dynamics import has_medium, parallel


def integrate(m, d):
    """Advances velocity, position and time by one timestep and keeps qacc as the next warm start."""
    if m.opt.integrator == mjtIntegrator.mjINT_IMPLICIT or takes_derivative(m):
        _implicit(m, d)
    else:
        fast, damped = m.opt.integrator == mjtIntegrator.mjINT_IMPLICITFAST, is_damped(m)
        d._info[DERIVED] = ("none", "joints")[damped] if fast else ("", "Euler")[damped]
        kernels, many = [*advance_kernels(m), _euler(m, d)], parallel(m, d)
        launch.run(m, d, kernels, many, implicit_damping=damped * (1 + fast), **abreast.loops(m, d, many))


def is_damped(m, ignored=0):
    """Whether M + timestep * damping takes the place of M; for implicitfast that is all where nothing else in the model
    depends on velocity.  ignored  mjtDisableBit that is not asked for."""
    off = mjtDisableBit.mjDSBL_DAMPER
    if m.opt.integrator == mjtIntegrator.mjINT_EULER:
        off |= mjtDisableBit.mjDSBL_EULERDAMP
    return not m.disabled(off & ~ignored) and bool(np.any(m.dof_damping))


def takes_derivative(m):
    """Whether the integrator is implicitfast and more than damping depends on velocity."""
    return m.opt.integrator == mjtIntegrator.mjINT_IMPLICITFAST and (has_medium(m) or is_joined(m))


def is_joined(m):
    """Whether tendons or actuators have forces that depend on velocity."""
    if not m.nu and not m.ntendon:
        return False
    bias = (m.actuator_biastype == mjtBias.mjBIAS_AFFINE) & (m.actuator_biasprm[:, 2] != 0)
    gain = (m.actuator_gaintype == mjtGain.mjGAIN_AFFINE) & (m.actuator_gainprm[:, 2] != 0)
    muscle = m.actuator_gaintype == mjtGain.mjGAIN_MUSCLE
    return bool(np.any(m.tendon_damping) or np.any(bias | gain | muscle))


def derivative_kernels(m):
    """(kernels, numbers) of qDeriv, for the integrators that need it."""
    k, medium = runtime.kernels, has_medium(m)
    kernels = [k("smooth.fluid").fluid_derivative] if medium else []
    joined = [k("actuation.derivative").joined_derivative] if is_joined(m) else []
    if joined and np.any(m.actuator_trntype == mjtTrn.mjTRN_BODY):
        joined.append(k("actuation.derivative").body_derivative)
    bias = m.opt.integrator == mjtIntegrator.mjINT_IMPLICIT
    return [*kernels, k("smooth.derivative").smooth_derivative, *joined], dict(
        with_medium=int(medium), with_bias=int(bias)
    )


def _implicit(m, d):
    kernels, numbers = derivative_kernels(m)
    last = runtime.kernels("smooth.implicit")
    bias = m.opt.integrator == mjtIntegrator.mjINT_IMPLICIT
    kernels += [*advance_kernels(m), last.tree_implicit if bias else last.tree_implicitfast]
    d._info[DERIVED] = "all" if bias else "symmetric"
    launch.run(m, d, kernels, parallel(m, d), **numbers)


def kernels_of(m, d):
    """The kernels that steps of the model launch here."""
    k = runtime.kernels
    if m.opt.integrator == mjtIntegrator.mjINT_RK4:
        rk = k("smooth.runge_kutta")
        return [rk.rk_first, rk.rk_second, rk.rk_third, rk.rk_rates, *advance_kernels(m), rk.rk_last]
    if m.opt.integrator == mjtIntegrator.mjINT_IMPLICIT or takes_derivative(m):
        bias = m.opt.integrator == mjtIntegrator.mjINT_IMPLICIT
        last = k("smooth.implicit")
        return [*derivative_kernels(m)[0], *advance_kernels(m), last.tree_implicit if bias else last.tree_implicitfast]
    return [*advance_kernels(m), _euler(m, d)]


def _euler(m, d):
    """The kernel of an Euler step."""
    if abreast.in_loops(m, d):
        return runtime.kernels("smooth.abreast").euler_abreast
    return runtime.kernels("smooth.integrate").tree_euler


def restore(d):
    """The state as before the step, if a step of RK4 was left before its end."""
    if d.some("rk_open"):
        for name, kept in (("qpos", "rk_qpos"), ("qvel", "rk_qvel"), ("world_time", "rk_time"), ("act", "rk_act")):
            memory.upload(d.device(name), memory.download(d.device(kept)))
        memory.fill(d.device("rk_open"), 0)


def rk_first(m, d):
    """Keeps the beginning of a step of RK4 and goes half a timestep on."""
    launch.run(m, d, [runtime.kernels("smooth.runge_kutta").rk_first], parallel(m, d))


def rk_second(m, d):
    """Half a timestep from the beginning with the rates in the middle."""
    launch.run(m, d, [runtime.kernels("smooth.runge_kutta").rk_second], parallel(m, d))


def rk_third(m, d):
    """A whole timestep with the rates in the middle."""
    launch.run(m, d, [runtime.kernels("smooth.runge_kutta").rk_third], parallel(m, d))


def rk_last(m, d):
    """The step, with the weighted rates of all four."""
    k = runtime.kernels("smooth.runge_kutta")
    launch.run(m, d, [k.rk_rates, *advance_kernels(m), k.rk_last], parallel(m, d))
