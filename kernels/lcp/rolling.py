"""Where what rolls touches in the middle of a step.

The places of contacts are those at the beginning of a step, for all of its substeps. What rolls or rocks goes on to
others meanwhile, so that forces would act half a step late, and give it w^2 h / 2 of its energy a second. So the place
goes on, against the bodies, as far as it did in half of the last step; not the whole half, as velocities act a
substep before bodies move by them, and nothing with one substep. tisim/LCP.md, "What it does not promise".
"""

from ..constants import CAPSULE, CYLINDER, ELLIPSOID, SPHERE
from ..types import func, ti, vec3
from .bodies import velocity_of

FACE = 3  # contacts of a manifold from which on it is a face, which lies and does not roll


@func
def may_roll(m, d, first, end):
    """Whether the contacts of the manifold from `first` to `end` may roll: by a round side of a body that moves, where
    no joint holds it."""
    rolls = end - first < FACE and (is_round(m, d, first, 0) or is_round(m, d, first, 1))
    for side in ti.static(range(2)):
        b = m.geom_bodyid[d.contact_geom[first][side]]
        rolls = rolls and (m.body_treeid[b] < 0 or m.body_dofnum[b] == 6)
    return rolls


@func
def is_round(m, d, c, side):
    """Whether geom 1 or 2 of contact c has a side that rolls."""
    kind = m.geom_type[d.contact_geom[c][side]]
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
                v += velocity_of(m, d, w, b)[0]
                moving += 1
        place += (0.5 - 0.5 / d.lcp_substeps) * (way - m.opt.timestep / ti.max(1, moving) * v)
    return place
