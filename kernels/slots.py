"""Contact slots: where a collider puts the contacts of its pair, eight numbers each, a cache line: distance, midpoint,
normal from geom 1 to geom 2.
"""

from .types import *

SLOT = 8  # numbers of a slot


@func
def put(m, d, k, dist, pos, normal):
    """Writes a contact to slot k."""
    put_place(m, d, k, dist, pos)
    for c in ti.static(range(3)):
        d.con_slot[SLOT * k + 4 + c] = narrow(normal[c])


@func
def put_place(m, d, k, dist, pos):
    """Writes a contact but for its normal."""
    d.con_slot[SLOT * k] = narrow(dist)
    for c in ti.static(range(3)):
        d.con_slot[SLOT * k + 1 + c] = narrow(pos[c])


@func
def dist_at(m, d, k):
    return d.con_slot[SLOT * k]


@func
def pos_at(m, d, k):
    return vec3(d.con_slot[SLOT * k + 1], d.con_slot[SLOT * k + 2], d.con_slot[SLOT * k + 3])


@func
def normal_at(m, d, k):
    return vec3(d.con_slot[SLOT * k + 4], d.con_slot[SLOT * k + 5], d.con_slot[SLOT * k + 6])
