"""A user's function as a collider: tisim.register_collider."""

from tisim.kernels.slots import put
from tisim.kernels.types import *


def adapted(func, contacts):
    """A collider, with the parameters they all have, that asks `func` for each of its contacts."""

    @ti.func
    def collide(
        slot, margin, i1, i2, g1, g2, geom_xpos: ti.template(), geom_xmat: ti.template(), geom_type: ti.template(),
        geom_size: ti.template(), con_slot: ti.template(),
    ):  # fmt: skip
        n = 0
        for c in range(contacts):
            r = func(
                c, ld3(geom_xpos, i1), ldm(geom_xmat, i1), ld3(geom_size, g1), ld3(geom_xpos, i2),
                ldm(geom_xmat, i2), ld3(geom_size, g2),
            )  # fmt: skip
            if r[0] <= margin:
                pos = vec3(r[1], r[2], r[3])
                put(slot + n, r[0], pos, vec3(r[4], r[5], r[6]), con_slot)
                n += 1
        return n

    return collide
