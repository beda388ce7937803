"""Tendons: which kernels make their lengths, Jacobians and forces. Models without tendons launch nothing here."""

from tisim.device import launch, runtime

from .dynamics import parallel


def path_kernels(m):
    """Kernels of lengths, Jacobians and velocities, and of what armature adds to M."""
    found = []
    if m.scalar("nfixed"):
        found.append(runtime.kernels("tendon.fixed").fixed_tendons)
    if m.scalar("nspatial"):
        found.append(runtime.kernels("tendon.path").spatial_tendons)
    if m.ntendon and m.scalar("nheavytendon"):
        found.append(runtime.kernels("tendon.inertia").tendon_inertia)
    return found


def passive_kernels(m):
    """Kernels of velocities, which also evaluations without what depends on positions need, of springs and dampers, and
    of the bias of tendons with armature."""
    found = [runtime.kernels("tendon.passive").tendon_velocities] if m.ntendon else []
    if m.ntendon and m.scalar("nspringy"):
        found.append(runtime.kernels("tendon.passive").tendon_passive)
    if m.ntendon and m.scalar("nheavytendon"):
        found.append(runtime.kernels("tendon.inertia").tendon_bias)
    return found


def tendons(m, d):
    """Lengths of tendons, their Jacobians and velocities, and M with their armature: ten_length ... qLDiagInv."""
    if m.ntendon and (kernels := path_kernels(m)):
        launch.run(m, d, kernels, parallel(m, d))


def tendon_passive(m, d):
    """Velocities, springs and dampers of tendons, added to those of joints, and the bias of their armature."""
    if kernels := passive_kernels(m):
        launch.run(m, d, kernels, parallel(m, d))
