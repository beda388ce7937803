"""A user's function as a collider: tisim.register_collider."""

from ..slots import put
from ..types import *


def adapted(made, contacts):
    """A collider, with the parameters they all have, that asks a user's function for each of its contacts."""

    @func
    def collide(m, d, slot, margin, i1, i2, g1, g2):
        n = 0
        for c in range(contacts):
            r = made(
                c,
                narrow(d.geom_xpos[i1]),
                narrow(d.geom_xmat[i1]),
                narrow(m.geom_size[i1, g1]),
                narrow(d.geom_xpos[i2]),
                narrow(d.geom_xmat[i2]),
                narrow(m.geom_size[i2, g2]),
            )
            if r[0] <= margin:
                pos = vec3(r[1], r[2], r[3])
                put(m, d, slot + n, r[0], pos, vec3(r[4], r[5], r[6]))
                n += 1
        return n

    return collide
