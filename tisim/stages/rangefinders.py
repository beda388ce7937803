"""Rangefinders: rays from sites, by the tree of all geoms where there are many."""

from tisim.device import launch, runtime

from .dynamics import parallel
from .rays import MAXVAL, ray_tree, ray_types, tree_kernels


def _values(m):
    return runtime.kernels("sensor.range").range_values.of(ray_types(m))


def kernels(m, d):
    """Kernels that rangefinders need."""
    number = m.scalar("nrange")
    return [*tree_kernels(m, d, number), _values(m)] if number else []


def sense(m, d):
    """Values of all rangefinders."""
    if number := m.scalar("nrange"):
        tree = ray_tree(m, d, number)
        launch.run(m, d, [_values(m)], parallel(m, d), cutoff=MAXVAL, **tree)
