"""Actuators: which kernels make lengths, forces and activations. Models without actuators launch nothing here."""

from tisim.device import launch, runtime

from . import callbacks
from .dynamics import parallel

# kernels of transmissions, and the number in the model without which there is nothing to do
TRANSMISSIONS = (
    ("transmission.joint_actuators", "njointact"), ("transmission.tendon_actuators", "ntendonact"),
    ("transmission.site_actuators", "nsiteact"), ("transmission.crank_actuators", "ncrankact"),
    ("adhesion.adhesion_contacts", "nadhesion"),
)  # fmt: skip
# those of controls and what follows from them, then those of forces, in their order
INPUTS = (
    ("force.clamp_controls", "nu"), ("force.drop_controls", "nu"), ("muscle.shaped_actuators", "nshaped"),
)  # fmt: skip
FORCES = (
    ("force.actuator_forces", "nu"), ("force.limit_tendon_forces", "nforcetendon"), ("force.driven_forces", "ndriven"),
    ("adhesion.adhesion_forces", "nadhesion"), ("force.clamp_joint_forces", "nclamped"),
)  # fmt: skip


def kernels(m, table):
    """Those of a table that have something to do in this model."""
    if not m.nu:
        return []
    return [runtime.kernel_of(f"actuation.{path}") for path, size in table if m.scalar(size)]


def transmission(m, d):
    """Lengths, moments and velocities of actuators: actuator_length, moment, actuator_velocity."""
    if found := kernels(m, TRANSMISSIONS):
        launch.run(m, d, found, parallel(m, d))


def fwd_actuation(m, d):
    """Rates of activations and forces of actuators: act_dot, actuator_force, qfrc_actuator."""
    if not m.nu:
        return
    before, after = kernels(m, INPUTS) + callbacks.actuator_kernels(m), kernels(m, FORCES)
    if callbacks.python_actuators(m):
        launch.run(m, d, before, parallel(m, d))
        callbacks.actuators(m, d)
        launch.run(m, d, after, parallel(m, d))
    else:
        launch.run(m, d, before + after, parallel(m, d))


def advance_kernels(m):
    """Kernels of the integration of activations, which integrators launch together with theirs."""
    return [runtime.kernel_of("actuation.force.advance_activations")] if m.na else []


def all_kernels(m):
    """Kernels that steps of this model launch."""
    return [*kernels(m, TRANSMISSIONS), *kernels(m, INPUTS), *kernels(m, FORCES)]
