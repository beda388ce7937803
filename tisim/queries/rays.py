"""Ray casting: the nearest geom that a ray meets.

The rules are those of MuJoCo 3.4.0's mj_ray, after its engine_ray.c (Apache-2.0). Two things are better here:
mj_multiRay loses some hits (0.2 % among random boxes) to bounds that are too narrow; and mj_ray does not see a triangle
of a mesh along the sides of the triangle's bounding box, nor an axis-parallel one from hundreds of metres away, because
its box test is open.
"""

import numpy as np

from tisim.data import given
from tisim.device import launch, memory, runtime, session
from tisim.errors import CapacityError, Error, ValuesError, brief
from tisim.model.tables.ray import NGROUP
from tisim.model.watched import floats
from tisim.stages.rays import MAXVAL, ray_tree, ray_types

MINVAL = 1e-15  # mjMINVAL
MAX_RAYS = 2**25  # loop counters are 32 bits wide and count up to 64 steps a ray (variant.Kernel.special)
PARALLEL_RAYS = 256  # rays below which they are cast by one CPU thread


def ray(m, d, pnt, vec, geomgroup=None, flg_static=1, bodyexclude=-1):
    """Nearest geoms that rays pnt + x * vec, x >= 0, meet, as d was last computed (forward, step).

    pnt, vec     (3,) or (n, 3) each, or broadcastable [m]; with several worlds (3,), (nworld, 3) or (nworld, n, 3).
    geomgroup    6 flags, which groups of geoms count; None: all.  flg_static  False: static geoms do not count.
    bodyexclude  id of a body whose geoms do not count, -1: none.
    Returns x and geom id, both -1 where nothing is hit: a float and an int for one ray in one world, else arrays of the
    shape of pnt and vec without the last axis. Geoms with an alpha of 0 do not count, planes only from above and within
    their rectangle. Raises Error for wrong arguments, a zero vector among them.
    """
    given.check(m, d)
    pnt, vec = _vectors("pnt", pnt), _vectors("vec", vec)
    try:
        shape = np.broadcast_shapes(pnt.shape, vec.shape)
        if d.nworld > 1:
            shape = np.broadcast_shapes(shape, (d.nworld,) + (1,) * max(1, len(shape) - 1))
    except ValueError:
        shape = (0, 0, 0, 0)
    if len(shape) > 2 + (d.nworld > 1) or (d.nworld > 1 and shape[0] != d.nworld):
        expected = "(3,) or (n, 3)" if d.nworld == 1 else f"(3,), ({d.nworld}, 3) or ({d.nworld}, n, 3)"
        raise Error(f"pnt {pnt.shape} and vec {vec.shape}: expected shapes {expected}")
    dist, geomid = _cast(m, d, np.broadcast_to(pnt, shape), np.broadcast_to(vec, shape), geomgroup, flg_static,
                         bodyexclude, MAXVAL)  # fmt: skip
    return (dist, geomid) if len(shape) > 1 else (float(dist), int(geomid))


def multi_ray(m, d, pnt, vec, geomgroup=None, flg_static=1, bodyexclude=-1, cutoff=MAXVAL):
    """Nearest geoms that rays from one point meet.

    pnt  (3,) [m], with several worlds also (nworld, 3);  vec  (n, 3), with several worlds also (nworld, n, 3).
    cutoff  geoms whose bounding sphere is farther than this from pnt do not count [m], but those of bodies that cannot
    collide always do, as in MuJoCo; the rest as in `ray`.
    Returns x and geom id, both -1 where nothing is hit: (n,), with several worlds (nworld, n).
    """
    given.check(m, d)
    pnt, vec = _vectors("pnt", pnt), _vectors("vec", vec)
    many = (d.nworld,) if d.nworld > 1 else ()
    if pnt.shape not in ((3,), many + (3,)):
        raise Error(f"pnt has shape {pnt.shape}: expected {(3,)}" + (f" or {many + (3,)}" if many else ""))
    if vec.ndim not in (2, 2 + len(many)) or (vec.ndim == 3 and len(vec) != d.nworld):
        raise Error(f"vec has shape {vec.shape}: expected (n, 3)" + (f" or ({d.nworld}, n, 3)" if many else ""))
    if not _is_number(cutoff) or not cutoff >= 0:
        raise Error(f"cutoff={brief(cutoff)}: expected a distance")
    shape = many + vec.shape[-2:]
    return _cast(m, d, np.broadcast_to(pnt[..., None, :], shape), np.broadcast_to(vec, shape), geomgroup, flg_static,
                 bodyexclude, min(float(cutoff), MAXVAL))  # fmt: skip


def _is_number(x):
    return isinstance(x, (int, float, np.integer, np.floating)) and not isinstance(x, bool)


def _vectors(name, value):
    """The argument as float64 vectors; Error if it is none."""
    try:
        a = floats(name, value)
    except ValuesError as e:
        raise ValuesError(f"{e} (three for each ray)") from None
    if a.ndim == 0 or a.shape[-1] != 3:
        raise Error(f"{name} has shape {a.shape}: expected three numbers for each ray")
    if not (np.abs(a) <= MAXVAL).all():
        raise Error(f"{name} has a number that is not finite, or above {MAXVAL:g}")
    return a


def _filters(m, geomgroup, flg_static, bodyexclude):
    """The arguments that choose geoms, as the kernels take them."""
    groups = (1 << NGROUP) - 1
    if geomgroup is not None:
        flags = floats("geomgroup", geomgroup)
        if flags.shape != (NGROUP,):
            raise Error(f"geomgroup={brief(geomgroup)}: expected {NGROUP} flags, one for each group, or None")
        groups = int(sum(1 << k for k in range(NGROUP) if flags[k] != 0))
    if not isinstance(flg_static, (bool, int, np.bool_, np.integer)):
        raise Error(f"flg_static={brief(flg_static)}: expected True or False")
    if not isinstance(bodyexclude, (int, np.integer)) or not -1 <= bodyexclude < m.nbody:
        raise Error(f"bodyexclude={brief(bodyexclude)}: expected the id of a body (below {m.nbody}), or -1 for none")
    return dict(groups=groups, flg_static=int(bool(flg_static)), bodyexclude=int(bodyexclude))


def _cast(m, d, pnt, vec, geomgroup, flg_static, bodyexclude, cutoff):
    """Distances and geom ids of rays of shape (..., 3), world by world."""
    d.check(m)
    filters = _filters(m, geomgroup, flg_static, bodyexclude)
    if vec.size and np.sqrt((vec * vec).sum(-1)).min() < MINVAL:
        raise Error("vec: the length of a ray's vector is too small")
    total = vec.size // 3
    if total >= MAX_RAYS:
        raise CapacityError(f"{total} rays: cast fewer than {MAX_RAYS} at once")
    if not total:
        return np.full(vec.shape[:-1], -1.0), np.full(vec.shape[:-1], -1, np.int32)
    nray = total // d.nworld
    for name, values in (("ray_pnt", pnt), ("ray_vec", vec)):
        memory.upload(d.scratch(name, total), values.reshape(-1).astype(session.numpy_float()))
    dist, geomid = d.scratch("ray_dist", total), d.scratch("ray_geomid", total)
    scalars = ray_tree(m, d, nray)
    kernel = runtime.kernels("queries.ray").cast_rays.of(ray_types(m))
    parallel = session.arch != "cpu" or total >= PARALLEL_RAYS
    launch.run(m, d, [kernel], parallel=parallel, nray=nray, cutoff=cutoff, **filters, **scalars)
    shape = vec.shape[:-1]
    return (memory.download(dist)[:total].astype(np.float64).reshape(shape),
            memory.download(geomid)[:total].reshape(shape))  # fmt: skip
