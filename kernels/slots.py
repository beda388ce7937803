"""Contact slots: where a collider puts the contacts of its pair, eight numbers each, a cache line: distance, midpoint,
normal from geom 1 to geom 2.
"""

from tisim.kernels.types import *

SLOT = 8  # numbers of a slot


@ti.func
def put(k, dist, pos, normal, con_slot: ti.template()):
    """Writes a contact to slot k."""
    put_place(k, dist, pos, con_slot)
    for c in ti.static(range(3)):
        con_slot[SLOT * k + 4 + c] = normal[c]


@ti.func
def put_place(k, dist, pos, con_slot: ti.template()):
    """Writes a contact but for its normal."""
    con_slot[SLOT * k] = dist
    for c in ti.static(range(3)):
        con_slot[SLOT * k + 1 + c] = pos[c]


@ti.func
def dist_at(k, con_slot: ti.template()):
    return con_slot[SLOT * k]


@ti.func
def pos_at(k, con_slot: ti.template()):
    return vec3(con_slot[SLOT * k + 1], con_slot[SLOT * k + 2], con_slot[SLOT * k + 3])


@ti.func
def normal_at(k, con_slot: ti.template()):
    return vec3(con_slot[SLOT * k + 4], con_slot[SLOT * k + 5], con_slot[SLOT * k + 6])
