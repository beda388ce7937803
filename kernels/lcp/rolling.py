"""Where what rolls touches in the middle of a step.

The places of contacts are those at the beginning of a step, for all of its substeps. What rolls or rocks goes on to
others meanwhile, so that forces would act half a step late, and give it w^2 h / 2 of its energy a second. So the place
goes on, against the bodies, as far as it did in half of the last step; not the whole half, as velocities act a
substep before bodies move by them, and nothing with one substep. tisim/LCP.md, "When to take which".
"""

from ..constants import CAPSULE, CYLINDER, ELLIPSOID, SPHERE
from ..rotation import at3
from ..types import func, ti, vec3
from .bodies import velocity_of

FACE = 3  # contacts of a manifold from which on it is a face, which lies and does not roll


@func
def may_roll(m, d, first, end):
    """Whether the contacts of the manifold from `first` to `end` may roll: by a round side, where no joint holds a body
    that moves."""
    rolls = False
    if end - first < FACE:
        g = d.contact_geom[first]
        if is_round(m, g[0]) or is_round(m, g[1]):
            rolls = is_free(m, m.geom_bodyid[g[0]]) and is_free(m, m.geom_bodyid[g[1]])
    return rolls


@func
def is_free(m, b):
    """Whether a body has a free joint, or does not move."""
    return m.body_treeid[b] < 0 or m.body_dofnum[b] == 6


@func
def is_round(m, g):
    """Whether a geom has a side that rolls."""
    kind = m.geom_type[g]
    return kind == SPHERE or kind == CAPSULE or kind == CYLINDER or kind == ELLIPSOID


@func
def middle_of(m, d, c, before):
    """Place of contact c in the middle of this step, from where it was in the last one; where it is now if it jumped.

    It is one place for both bodies, seen from the mean of those that move, so that angular momentum stays.
    """
    way = d.contact_pos[c] - before
    place = d.contact_pos[c]
    if way.dot(way) < d.lcp_reach * d.lcp_reach:
        w = d.contact_worldid[c]
        v = vec3(0.0)
        moving = 0
        for side in ti.static(range(2)):
            b = m.geom_bodyid[d.contact_geom[c][side]]
            if m.body_dofnum[b] == 6:
                v += speed_of(m, d, w, b)
                moving += 1
        place += (0.5 - 0.5 / d.lcp_substeps) * (way - m.opt.timestep / ti.max(1, moving) * v)
    return place


@func
def speed_of(m, d, w, b):
    """World velocity of the centre of mass of a body with a free joint; quick where that is the body's origin."""
    v = at3(d.qvel, w * m.nv + m.body_dofadr[b])
    place = m.body_ipos[w, b]
    if place.dot(place) > 0.0:
        v = velocity_of(m, d, w, b)[0]
    return v
