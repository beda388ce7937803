"""Distances between geoms. Seed 000, "Geom distances"; the rules are those of MuJoCo 3.4.0's mj_geomDistance, after its
engine_support.c (Apache-2.0).
"""

import numpy as np

from tisim.data import given
from tisim.data.state import ragged_as_objects
from tisim.device import launch, memory, runtime, session
from tisim.errors import Error, brief
from tisim.stages import colliders, collision, distances, narrowphase

from .arguments import number

CHUNK = 100_000  # slots of contacts asked for at once
MAXVAL = 1e10  # mjMAXVAL


def geom_distance(m, d, geom1, geom2, distmax):
    """Smallest signed distance between two geoms, as their poses were last computed (forward, step).

    geom1, geom2  ids or names of geoms, or sequences of n of them;  distmax  larger distances need not be known [m].
    Returns the distance [m], negative in penetration, at most distmax, and the segment from geom1 to geom2 that has
    this length: 6 numbers [m], the points on either geom; zeros where the distance is distmax. With several worlds
    and with sequences the results are arrays: (nworld,), (n,) or (nworld, n), and one axis more for the segments.
    Raises Error for geoms that do not exist, or a distmax that is no number.
    """
    given.check(m, d)
    d.check(m)
    g1, g2 = _geoms(m, "geom1", geom1), _geoms(m, "geom2", geom2)
    try:
        g1, g2 = np.broadcast_arrays(g1, g2)
    except ValueError:
        raise Error(f"geom1 has {g1.size} geoms and geom2 {g2.size}: expected as many") from None
    distmax = number("distmax", distmax)
    if not abs(distmax) <= MAXVAL:
        raise Error(f"distmax: expected a number of at most {MAXVAL:g} in size")
    many = (d.nworld,) if d.nworld > 1 else ()
    shape = many + g1.shape
    w = np.arange(d.nworld).reshape((-1,) + (1,) * g1.ndim)
    world, g1, g2 = (np.broadcast_to(x, (d.nworld,) + g1.shape).ravel() for x in (w, g1, g2))
    gtype = np.asarray(m.geom_type)
    flip = gtype[g1] > gtype[g2]
    first, second = np.where(flip, g2, g1), np.where(flip, g1, g2)
    kind = distances.kinds_of(gtype[first], gtype[second])
    dist = np.full(len(g1), distmax)
    fromto = np.zeros((len(g1), 6))
    for k in np.unique(kind[kind >= 0]):
        pairs = np.flatnonzero(kind == k)
        slots = max(1, int(colliders.tables(False)[1][k]))
        for part in np.array_split(pairs, -(-len(pairs) * slots // CHUNK)):
            dist[part], fromto[part] = _compute(m, d, int(k), slots, world[part], first[part], second[part], distmax)
    fromto[flip] = np.roll(fromto[flip], 3, axis=1)
    if not shape:
        return float(dist[0]), fromto[0]
    return dist.reshape(shape), fromto.reshape(shape + (6,))


def _geoms(m, what, value):
    """Ids of geoms given as numbers or names."""
    many = isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim > 0
    ids = [m.geom(x).id if isinstance(x, str) else x for x in (value if many else [value])]
    ids = ragged_as_objects(ids)
    if ids.dtype.kind not in "iu" or ids.ndim != 1 or not ids.size or ids.min() < 0 or ids.max() >= m.ngeom:
        raise Error(f"{what}={brief(value)}: expected ids (0 to {m.ngeom - 1}) or names of geoms")
    return ids.astype(np.int64) if many else ids.astype(np.int64).reshape(())


def _compute(m, d, kind, slots, world, geom1, geom2, distmax):
    """Distances and segments of pairs of one kind, lower type first. Uses the scratch lists of the collision stage."""
    n = len(world)
    collision.of(m, d)
    collision.forget(d)
    for name, needed in (("npairmax", n), ("nslotmax", n * slots)):
        if d.capacity(name) < needed:
            d.grow(name, needed)
    bins = np.zeros(64, np.int32)
    bins[kind + 1 :] = n
    for name, values in dict(
        cpair_geom1=world * m.ngeom + geom1, cpair_geom2=geom2, cpair_bin=np.arange(n), bin_adr=bins,
        cpair_kind=np.full(n, kind), cpair_listed=np.zeros(n, int),
        cpair_margin=np.full(n, distmax), cpair_ncon=np.zeros(n, int),
    ).items():  # fmt: skip
        a = d.device(name)
        memory.upload(a, np.ascontiguousarray(values, np.int32 if name != "cpair_margin" else session.numpy_float()))
    parallel = n >= distances.PARALLEL_PAIRS or session.arch != "cpu"
    if kind == colliders.CONVEX:
        scalars = narrowphase.ccd_scratch(m, d, (False, False), parallel)
        kernel = runtime.kernels("queries.distance").convex_distance
        launch.run(m, d, [kernel], parallel=parallel, nquery=n, distmax=distmax, **scalars)
        slot = d.host("con_slot")[:n]
        return slot[:, 0], slot[:, 1:7]
    kernels, scalars = narrowphase.kernels_of(m, d, (kind,), (False, False), parallel)
    launch.run(m, d, kernels, parallel=parallel, **scalars)
    while d.count("nslot") > d.capacity("nslotmax"):
        d.grow("nslotmax", d.count("nslot"))
        launch.run(m, d, kernels, parallel=parallel, **scalars)
    ncon = memory.download(d.device("cpair_ncon"))[:n]
    place = np.arange(slots)
    slot = d.host("con_slot")[np.minimum(d.host("cpair_slot")[:n, None] + place, d.capacity("nslotmax") - 1)]
    # the smallest of each pair, the first of equal ones
    dist = np.where(place < ncon[:, None], slot[:, :, 0], np.inf)
    slot = slot[np.arange(n), dist.argmin(1)]
    least = dist.min(1)
    found = least < distmax
    pos, normal = slot[:, 1:4], slot[:, 4:7]
    step = 0.5 * np.where(found, least, 0.0)[:, None] * normal
    fromto = np.where(found[:, None], np.concatenate([pos - step, pos + step], 1), 0.0)
    return np.where(found, least, distmax), fromto
