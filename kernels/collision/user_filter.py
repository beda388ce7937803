"""A user's Taichi function that takes contacts away: the callback contactfilter."""

from ..sleep.awake import pair_at, pair_count
from ..types import SERIAL, kernel, ti


def user_filter(refuses):
    """The kernel that asks a function f(m, d, w, geom1, geom2) about each pair in contact."""

    @kernel
    def user_filter(m, d):
        """Takes the contacts of the pairs away that the user's function refuses; parallel over pairs."""
        n = pair_count(m, d)
        ti.loop_config(serialize=SERIAL)
        for k in range(n):
            p = pair_at(m, d, k)
            if d.cpair_ncon[p] > 0 and d.cpair_listed[p] < 0:
                g = d.cpair_geom1[p]
                if refuses(m, d, g // m.ngeom, g % m.ngeom, d.cpair_geom2[p]) != 0:
                    d.cpair_ncon[p] = 0

    return user_filter
