"""Rangefinders: rays from sites, by the tree of all geoms where there are many."""

from tisim.device import launch, runtime

from .dynamics import parallel
from .rays import MAXVAL, ray_tree, ray_types


def kernels(m, d):
    """Kernels besides those of the tree."""
    return [runtime.kernels("sensor.range").range_values.of(ray_types(m))] if m.scalar("nrange") else []


def sense(m, d):
    """Values of all rangefinders."""
    if found := kernels(m, d):
        tree = ray_tree(m, d, m.scalar("nrange"))
        launch.run(m, d, found, parallel(m, d), cutoff=MAXVAL, **tree)
