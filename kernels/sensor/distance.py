"""Sensors of the distance between geoms, or between the geoms of bodies: made for the kinds of pairs that a model asks
about, as the kernel of the colliders is (kernels/collision/narrowphase.py).
"""

from tisim.device.specialise import specialise

from ..collision.boxes import TODO
from ..collision.collide_hfield import collide_field
from ..collision.collide_plane_convex import lowest_vertices
from ..collision.narrowphase import colliders_of
from ..constants import CONVEX, FIRST_USER, HEIGHT_FIELD, PLANE_CONVEX, SENS_GEOMDIST, SENS_GEOMNORMAL
from ..convex.memory import memory_of
from ..queries.distance import convex_segment
from ..slots import dist_at, normal_at, pos_at
from ..types import *
from .output import is_awake, place_of, put

KINDS, COLLIDERS, MEMORY = (), {}, False  # set by reach_pairs()
_made = {}


@func
def nearest_contact(m, d, slot, n, most):
    """Distance and segment of the nearest of n contacts, the first of equal ones; `most` and zeros if it is farther."""
    dist = most
    p1 = vec3(0.0)
    p2 = vec3(0.0)
    for s in range(slot, slot + n):
        if dist_at(m, d, s) < dist:
            dist = dist_at(m, d, s)
            step = 0.5 * dist * normal_at(m, d, s)
            p1 = pos_at(m, d, s) - step
            p2 = pos_at(m, d, s) + step
    return dist, p1, p2


def _reach_pair(m, d, w, q, worker):
    """Distance and segment of pair q of a list in world w, as far as it counts."""
    most = m.sensor_cutoff[d.reach_sensor[q]]
    i1 = w * m.ngeom + d.reach_geom1[q]
    i2 = w * m.ngeom + d.reach_geom2[q]
    g1 = d.reach_geom1[q]
    g2 = d.reach_geom2[q]
    kind = d.reach_kind[q]
    dist = most
    p1 = vec3(0.0)
    p2 = vec3(0.0)
    near = kind >= 0
    r1 = m.geom_rbound[i1, g1]
    r2 = m.geom_rbound[i2, g2]
    if near and r1 > 0.0 and r2 > 0.0 and kind != HEIGHT_FIELD and kind < FIRST_USER:
        near = (narrow(d.geom_xpos[i1]) - narrow(d.geom_xpos[i2])).norm() - r1 - r2 < most
    if near:
        slot = w * d.nreachslot + d.reach_slot[q]
        n = 0
        for k in ti.static(KINDS):
            if kind == k:
                n = COLLIDERS[k](m, d, slot, most, i1, i2, g1, g2)
        if ti.static(PLANE_CONVEX in KINDS):
            if n == TODO:
                n = lowest_vertices(m, d, slot, most, i1, i2, g2)
        if ti.static(MEMORY):
            mem = memory_of(m, d, worker)
            if kind == CONVEX:
                dist, p1, p2 = convex_segment(m, d, mem, i1, i2, most)
            elif kind == HEIGHT_FIELD:
                n = collide_field(m, d, mem, slot, most, i1, i2)
        if kind != CONVEX:
            dist, p1, p2 = nearest_contact(m, d, slot, n, most)
    at = w * d.nreach + q
    d.reach_dist[at] = dist
    d.reach_from[at] = p2 if d.reach_flip[q] != 0 else p1
    d.reach_to[at] = p1 if d.reach_flip[q] != 0 else p2


reach_pair = func(_reach_pair)


def _reach_pairs(m, d):
    """Distances of all pairs that sensors ask about; parallel over workers, which have scratch memory each."""
    ti.loop_config(serialize=SERIAL)
    for t in range(d.nccd * SPREAD):
        if t % SPREAD == 0:
            worker = t // SPREAD
            p = worker
            while p < d.nworld * d.nreach:
                w = p // d.nreach
                q = p - w * d.nreach
                if is_awake(m, d, w, d.reach_sensor[q]) != 0:
                    reach_pair(m, d, w, q, worker)
                p += d.nccd


def reach_pairs(kinds, users):
    """The kernel for these kinds of pairs (tisim/stages/colliders.py); users  as of narrowphase()."""
    key = kinds, users
    if key not in _made:
        colliders = colliders_of(kinds, users)
        memory = CONVEX in kinds or HEIGHT_FIELD in kinds
        names = dict(KINDS=tuple(colliders), COLLIDERS=colliders, MEMORY=memory)
        one = func(specialise(_reach_pair, **names))
        _made[key] = kernel(specialise(_reach_pairs, "reach_pairs", reach_pair=one))
    return _made[key]


@kernel
def distance_values(m, d):
    """Least distance of a sensor's pairs, its direction, or its segment; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.ndistance):
        w = k // m.ndistance
        s = m.distance_sensor[k % m.ndistance]
        if is_awake(m, d, w, s) != 0:
            dist = m.sensor_cutoff[s]
            p1 = vec3(0.0)
            p2 = vec3(0.0)
            first = w * d.nreach + d.reach_adr[k % m.ndistance]
            for at in range(first, first + d.reach_num[k % m.ndistance]):
                if d.reach_dist[at] < dist:
                    dist = d.reach_dist[at]
                    p1 = d.reach_from[at]
                    p2 = d.reach_to[at]
            kind = m.sensor_type[s]
            if kind == SENS_GEOMDIST:
                d.sensordata[place_of(m, d, w, s)] = dist
            elif kind == SENS_GEOMNORMAL:
                way = p2 - p1
                if way.norm() >= MINVAL:
                    way = way / way.norm()
                elif way[0] != 0.0 or way[1] != 0.0 or way[2] != 0.0:
                    way = vec3(1.0, 0.0, 0.0)
                put(m, d, w, s, way)
            else:
                put(m, d, w, s, vec6(p1[0], p1[1], p1[2], p2[0], p2[1], p2[2]))
