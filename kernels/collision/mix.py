"""Parameters of a contact: mixed from those of its two geoms, or those of the model's pair, or those of the options."""

from ..types import *

vec5 = ti.types.vector(5, FP)
MINMU = 1e-5  # mjMINMU: smallest friction coefficient


@ti.dataclass
class Params:
    """Parameters of a contact, as MuJoCo's mjContact has them; `gap` is subtracted from its margin."""

    dim: ti.i32
    gap: FP
    friction: vec5
    solref: vec2
    solreffriction: vec2
    solimp: vec5


@func
def share_of_first(m, w, g1, g2):
    """Weight of geom g1 in a mean of both: all or nothing by priority, else by solmix."""
    share = 0.5
    if m.geom_priority[g1] != m.geom_priority[g2]:
        share = ti.select(m.geom_priority[g1] > m.geom_priority[g2], 1.0, 0.0)
    else:
        m1 = m.geom_solmix[w, g1]
        m2 = m.geom_solmix[w, g2]
        if m1 >= MINVAL and m2 >= MINVAL:
            share = m1 / (m1 + m2)
        elif m1 >= MINVAL:
            share = 1.0
        elif m2 >= MINVAL:
            share = 0.0
    return share


@func
def mix(m, w, g1, g2):
    """Parameters that MuJoCo 3.4.0 gives a contact of two geoms: those of the geom of higher priority. Of equals, the
    larger condim and friction count, and means of solimp and solref, or the lower solref where one is not positive.
    The larger gap counts always.
    """
    share = share_of_first(m, w, g1, g2)
    dim = ti.max(m.geom_condim[g1], m.geom_condim[g2])
    mu = ti.max(m.geom_friction[w, g1], m.geom_friction[w, g2])
    solref = share * m.geom_solref[w, g1] + (1.0 - share) * m.geom_solref[w, g2]
    if m.geom_priority[g1] != m.geom_priority[g2]:
        winner = ti.select(share > 0.5, g1, g2)
        dim = m.geom_condim[winner]
        mu = m.geom_friction[w, winner]
    elif m.geom_solref[w, g1][0] <= 0.0 or m.geom_solref[w, g2][0] <= 0.0:
        solref = ti.min(m.geom_solref[w, g1], m.geom_solref[w, g2])
    return Params(
        dim=dim,
        gap=ti.max(m.geom_gap[w, g1], m.geom_gap[w, g2]),
        friction=vec5(mu[0], mu[0], mu[1], mu[2], mu[2]),
        solref=solref,
        solreffriction=vec2(0.0, 0.0),
        solimp=share * m.geom_solimp[w, g1] + (1.0 - share) * m.geom_solimp[w, g2],
    )


@func
def contact_params(m, d, w, g1, g2, k):
    """Parameters of a contact of two geoms of world w, of the model's pair k or of none, -1."""
    params = mix(m, w, g1, g2)
    if k >= 0:
        params.dim = m.pair_dim[k]
        params.gap = m.pair_gap[k]
        params.friction = m.pair_friction[k]
        params.solref = m.pair_solref[k]
        params.solreffriction = m.pair_solreffriction[k]
        params.solimp = m.pair_solimp[k]
    if d.override:
        for j in ti.static(range(5)):
            params.friction[j] = d.override_friction[j]
            params.solimp[j] = d.override_solimp[j]
        for j in ti.static(range(2)):
            params.solref[j] = d.override_solref[j]
            params.solreffriction[j] = d.override_solref[j]
    params.friction = ti.max(params.friction, MINMU)
    return params
