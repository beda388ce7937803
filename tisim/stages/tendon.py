"""Tendons: which kernels make their lengths, Jacobians and forces. Models without tendons launch nothing here."""

from tisim.device import launch, runtime

from .dynamics import parallel


def path_kernels(m):
    """Kernels of lengths, Jacobians and velocities."""
    found = []
    if m.scalar("nfixed"):
        found.append(runtime.kernels("tendon.fixed").fixed_tendons)
    if m.scalar("nspatial"):
        found.append(runtime.kernels("tendon.path").spatial_tendons)
    return found


def passive_kernels(m):
    """Kernels of springs and dampers."""
    return [runtime.kernels("tendon.passive").tendon_passive] if m.ntendon and m.scalar("nspringy") else []


def tendons(m, d):
    """Lengths of tendons, their Jacobians and velocities: ten_length, ten_J, ten_velocity."""
    if m.ntendon and (kernels := path_kernels(m)):
        launch.run(m, d, kernels, parallel(m, d))


def tendon_passive(m, d):
    """Springs and dampers of tendons, added to those of joints."""
    if kernels := passive_kernels(m):
        launch.run(m, d, kernels, parallel(m, d))
