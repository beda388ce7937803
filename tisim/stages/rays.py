"""Rays, outside the kernels: a tree of boxes over the geoms as they are now, for queries and for rangefinders."""

import numpy as np

from tisim.data.arrays import COUNTS
from tisim.device import launch, runtime, session
from tisim.enums import mjtGeom
from tisim.errors import CapacityError

from .colliders import HFIELD, MESH, NTYPE
from .sorting import Sort

MAXVAL = 1e10  # mjMAXVAL
TREE_GEOMS = 32  # bounded geoms below which rays try all of them
TREE_RAYS = 8  # rays per world below which a CPU does; building the tree costs as much as some rays
PARALLEL_GEOMS = 600  # bounded geoms of all worlds below which one CPU thread builds the tree

# types of geoms for which the kernel is made: without and with those that need arrays of their own
FAMILIES = tuple(t for t in range(NTYPE) if t not in (HFIELD, MESH)), tuple(range(NTYPE))


def ray_types(m):
    """The first of FAMILIES that has all types of the model's geoms, for kernels/queries/ray.py."""
    return next(family for family in FAMILIES if {*np.asarray(m.geom_type).tolist()} <= set(family))


def _bounded(m):
    """Geoms that boxes hold: all but planes."""
    return m.ngeom - int((np.asarray(m.geom_type) == mjtGeom.mjGEOM_PLANE).sum())


def _is_worth_it(m, nray):
    return _bounded(m) >= TREE_GEOMS and not (session.arch == "cpu" and nray < TREE_RAYS)


def tree_kernels(m, d, nray):
    """Kernels by which `ray_tree` builds the tree."""
    if not _is_worth_it(m, nray):
        return []
    k, sort = runtime.kernels("queries.ray_tree"), Sort(d, d.nworld * _bounded(m))
    return [k.key_geoms, k.box_leaves, *([k.join_level] if sort.wide else [k.sort_geoms, k.join_all])]


def ray_tree(m, d, nray):
    """Builds the tree of boxes over the present poses if nray rays per world are worth it.

    Returns the scalars by which `cast` of kernels/queries/ray.py knows it: nlinear, nleaf.
    """
    n = _bounded(m)
    nplane = m.ngeom - n
    if not _is_worth_it(m, nray):
        d.scratch("ray_leaf", 1)
        d.scratch("ray_node", 1)
        return dict(nlinear=m.ngeom, nleaf=0)
    nleaf = 1 << (n - 1).bit_length()
    total = d.nworld * n
    if 12 * d.nworld * nleaf >= 2**31:
        raise CapacityError(f"rays among {total} geoms: at most {2**31 // 24} in all worlds together")
    if total > d.capacity("npairmax"):
        d.grow("npairmax", total)
    worldbit = int(d.nworld - 1).bit_length()
    nbit = max(1, min(10, (31 - worldbit) // 3))
    sort = Sort(d, total)
    raybits = worldbit + 3 * nbit
    d.scratch("ray_leaf", d.nworld * nleaf)
    d.scratch("ray_node", 2 * d.nworld * nleaf)
    k = runtime.kernels("queries.ray_tree")
    scalars = dict(
        nplane=nplane, nbounded=n, nleaf=nleaf, nbit=nbit, raybits=raybits, iray=COUNTS["nraykey"],
        rayhalf=sort.half(raybits), **sort.scalars,
    )  # fmt: skip
    if not sort.wide:
        stages = [k.key_geoms, k.sort_geoms, k.box_leaves, k.join_all]
        launch.run(m, d, stages, parallel=total >= PARALLEL_GEOMS, **scalars)
        return dict(nlinear=nplane, nleaf=nleaf)
    launch.run(m, d, [k.key_geoms], **scalars)
    for kernel, more in sort.passes("nraykey", raybits):
        launch.run(m, d, [kernel], **dict(scalars, **more))
    launch.run(m, d, [k.box_leaves], **scalars)
    width = nleaf // 2
    while width:
        launch.run(m, d, [k.join_level], width=width, **scalars)
        width //= 2
    return dict(nlinear=nplane, nleaf=nleaf)
