"""Distances of pairs of convex geoms by GJK and EPA (kernels/convex/ccd.py)."""

from ..convex.ccd import ccd
from ..convex.gjk import FAR
from ..convex.memory import memory_of
from ..convex.support import enter_shape
from ..slots import put
from ..wide import *


@func
def convex_segment(m, d, mem: ti.template(), i1, i2, distmax):
    """Distance of two convex geoms and the nearest point of each; distmax and zeros if they are farther apart."""
    origin = vec3(0.0, 0.0, 0.0)
    if ti.static(FP == ti.f32):
        origin = d.geom_xpos[i1]  # a far origin costs digits
    for s in range(2):
        i = i1 if s == 0 else i2
        enter_shape(m, d, mem, s, d.geom_xmat[i], d.geom_xpos[i] - origin, i, i % m.ngeom)
    dist, p1, p2, corner = ccd(m, d, mem, distmax, 0.0, 0.0)
    p1 += origin
    p2 += origin
    if dist >= ti.min(distmax, FAR):
        dist = distmax
        p1 = vec3(0.0, 0.0, 0.0)
        p2 = vec3(0.0, 0.0, 0.0)
    return dist, p1, p2


@kernel
def convex_distance(m, d):
    """Signed distance and the nearest points of geom 1 and geom 2, in their slots, of the first pairs of the
    list, parallel over workers, which have scratch memory each; distmax and zeros for pairs that are farther apart.
    """
    ti.loop_config(serialize=SERIAL)
    for t in range(d.nccd * SPREAD):
        if t % SPREAD == 0:
            worker = t // SPREAD
            mem = memory_of(m, d, worker)
            p = worker
            while p < d.nquery:
                i1 = d.cpair_geom1[p]
                dist, p1, p2 = convex_segment(m, d, mem, i1, i1 - i1 % m.ngeom + d.cpair_geom2[p], d.distmax)
                put(m, d, p, dist, p1, p2)
                p += d.nccd
