"""Where what rocks touches in the middle of a step.

The places of contacts are those at the beginning of a step, for all of its substeps. What rocks touches elsewhere
meanwhile, so that forces would act half a step late, and give it w^2 h / 2 of its energy a second. So the place goes
on, against the bodies, as far as it did in half of the last step; not the whole half, as velocities act a substep
before bodies move by them, and nothing with one substep. tisim/LCP.md, "When to take which".
"""

from ..constants import CYLINDER, ELLIPSOID, SPHERE
from ..rotation import at3
from ..types import func, ti, vec3
from .bodies import velocity_of

FACE = 3  # contacts of a manifold from which on it is a face, which lies and does not rock


@func
def may_rock(m, d, first, end):
    """Whether contacts `first` to `end` of a pair go on over a body: by a round side of one on a face of the other, or
    by an ellipsoid, where no joint holds a body that moves. Balls and capsules on their like only roll."""
    rocks = False
    if end - first < FACE:
        g = d.contact_geom[first]
        if ti.max(m.geom_type[g[0]], m.geom_type[g[1]]) >= ELLIPSOID and (is_round(m, g[0]) or is_round(m, g[1])):
            rocks = lets_rock(m, g[0]) and lets_rock(m, g[1])
    return rocks


@func
def lets_rock(m, g):
    """Whether a geom is fixed, or of a body with a free joint; no ball, through whose centre the force has to go."""
    b = m.geom_bodyid[g]
    return m.body_treeid[b] < 0 or (m.body_dofnum[b] == 6 and m.geom_type[g] != SPHERE)


@func
def is_round(m, g):
    """Whether a geom has a side that rolls."""
    return m.geom_type[g] >= SPHERE and m.geom_type[g] <= CYLINDER


@func
def middle_of(m, d, c, before):
    """Place of contact c in the middle of this step, from where it was in the last one; where it is now if it jumped.

    It is one place for both bodies, so that angular momentum stays: seen from what moves; of that, from what is round,
    as what rolls on a plank has it below its middle all the time.
    """
    way = d.contact_pos[c] - before
    place = d.contact_pos[c]
    if way.dot(way) < d.lcp_reach * d.lcp_reach:
        g = d.contact_geom[c]
        one, other = rank_of(m, g[0]), rank_of(m, g[1])
        v = vec3(0.0)
        if one > 0 and one >= other:
            v += speed_of(m, d, d.contact_worldid[c], m.geom_bodyid[g[0]])
        if other > 0 and other >= one:
            v += speed_of(m, d, d.contact_worldid[c], m.geom_bodyid[g[1]])
        if one == other:
            v *= 0.5
        place += (0.5 - 0.5 / d.lcp_substeps) * (way - m.opt.timestep * v)
    return place


@func
def swing_of(m, d, c):
    """How far the places of contact c's pair go on with balls whose bodies have their centres of mass elsewhere: as far
    as the balls' centres do, against these, up to the middle of the step, so that forces go through both."""
    g = d.contact_geom[c]
    w = d.contact_worldid[c]
    swing = vec3(0.0)
    if m.geom_type[g[0]] == SPHERE or m.geom_type[g[1]] == SPHERE:
        one, other = is_beside(m, w, g[0]), is_beside(m, w, g[1])
        if one and (other or lets_swing(m, g[1])):
            swing += swing_of_ball(m, d, w, g[0])
        if other and (one or lets_swing(m, g[0])):
            swing += swing_of_ball(m, d, w, g[1])
        if one and other:
            swing *= 0.5
    return swing


@func
def is_beside(m, w, g):
    """Whether a geom is a ball beside the centre of mass of a body with a free joint."""
    b = m.geom_bodyid[g]
    beside = False
    if m.geom_type[g] == SPHERE and m.body_dofnum[b] == 6:
        arm = arm_of(m, w, g)
        beside = arm.dot(arm) > 0.0
    return beside


@func
def lets_swing(m, g):
    """Whether a geom may be pushed beside its centre: it is fixed, or of a free body and not round."""
    b = m.geom_bodyid[g]
    return m.body_treeid[b] < 0 or (m.body_dofnum[b] == 6 and not is_round(m, g))


@func
def swing_of_ball(m, d, w, g):
    """The way of a ball's centre against its body's centre of mass up to the middle of a step."""
    b = m.geom_bodyid[g]
    arm = d.xmat[w * m.nbody + b] @ arm_of(m, w, g)
    return (0.5 - 0.5 / d.lcp_substeps) * m.opt.timestep * velocity_of(m, d, w, b)[1].cross(arm)


@func
def arm_of(m, w, g):
    """From a body's centre of mass to its geom, along the body's axes."""
    return m.geom_pos[w, g] - m.body_ipos[w, m.geom_bodyid[g]]


@func
def rank_of(m, g):
    """0 of a geom that does not move by a free joint, 1 of one that does, 2 if it is round."""
    rank = 0
    if m.body_dofnum[m.geom_bodyid[g]] == 6:
        rank = 1 + is_round(m, g)
    return rank


@func
def speed_of(m, d, w, b):
    """World velocity of the centre of mass of a body with a free joint; quick where that is the body's origin."""
    v = at3(d.qvel, w * m.nv + m.body_dofadr[b])
    place = m.body_ipos[w, b]
    if place.dot(place) > 0.0:
        v = velocity_of(m, d, w, b)[0]
    return v
