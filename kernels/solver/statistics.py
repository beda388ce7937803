"""What solvers tell of each round: mjData's `solver`, for the first islands and rounds, by fields of mjSolverStat.

Workers of a team add up what they count; whole numbers come to the same sum in any order.
"""

from ..constants import EQUALITY
from ..constraint.cone import load_parameters
from ..constraint.row_cost import is_friction
from ..team import share
from ..types import func, ti

ISLANDS = 20  # mjNISLAND
ROUNDS = 200  # mjNSOLVER
AT_CONE = 1e-9  # a force so near to the cone is on it; MuJoCo leaves it to rounding


@func
def told(m, d, k, n):
    """Whether round n of island k is told of."""
    return k < ISLANDS and n >= 0 and n < ROUNDS


@func
def tell_round(m, d, k, n, values, evaluations, factors):
    """values  scaled improvement, gradient and slope at the end of the line search;  evaluations  of its derivative;
    factors  how many were made for the direction."""
    if told(m, d, k, n):
        d.stat_improvement[k * ROUNDS + n] = values[0]
        d.stat_gradient[k * ROUNDS + n] = values[1]
        d.stat_lineslope[k * ROUNDS + n] = values[2]
        d.stat_neval[k * ROUNDS + n] = evaluations
        d.stat_nupdate[k * ROUNDS + n] = factors


@func
def clear_rows(m, d, k, n):
    """No row is counted yet; one worker's, before a `meet` that all of round n's counts are behind."""
    if told(m, d, k, n):
        d.stat_nactive[k * ROUNDS + n] = 0
        d.stat_nchange[k * ROUNDS + n] = 0


@func
def count_rows(m, d, k, n, active, changed):
    """Adds rows that act, and those that came or went in round n."""
    if told(m, d, k, n):
        ti.atomic_add(d.stat_nactive[k * ROUNDS + n], active)
        ti.atomic_add(d.stat_nchange[k * ROUNDS + n], changed)


@func
def tell_dual(m, d, k, n, improvement, me, size):
    """A sweep of a dual solver: its scaled improvement, and the rows that act; round -1: as they are at the start. The
    rows of round n are clear."""
    if k < ISLANDS and n < ROUNDS:
        active, changed = 0, 0
        if ti.static(m.has.rows):
            mine, behind = share(d.island_rownum[k], me, size)
            for e in range(d.island_rowadr[k] + mine, d.island_rowadr[k] + behind):
                row = state_of_row(m, d, d.island_row[e])
                active += row[0]
                changed += row[1]
        mine, behind = share(d.island_connum[k], me, size)
        for e in range(d.island_conadr[k] + mine, d.island_conadr[k] + behind):
            rows = state_of_contact(m, d, d.island_con[e])
            active += rows[0]
            changed += rows[1]
        count_rows(m, d, k, n, active, changed)
    if me == 0:
        tell_round(m, d, k, n, ti.Vector([improvement, 0.0 * improvement, 0.0 * improvement]), 0, 0)


@func
def state_of_row(m, d, r):
    """(1 if row r acts, 1 if its state is another than before), by its force."""
    state = force_state(m, d, r)
    active = ti.select(state != 0 or is_friction(d.row_type[r]), 1, 0)
    changed = ti.select(state != d.row_state[r], 1, 0)
    d.row_state[r] = state
    return ti.Vector([active, changed])


@func
def state_of_contact(m, d, c):
    """The same for the rows of contact c."""
    active, changed = 0, 0
    dim = d.contact_dim[c]
    state = contact_state(m, d, c)
    if ti.static(m.has.elliptic):
        active = ti.select(state != 0, dim, 0)
        changed = ti.select(state != d.con_state[c], dim, 0)
    else:
        for edge in range(ti.max(1, 2 * (dim - 1))):
            active += state >> edge & 1
            changed += (state ^ d.con_state[c]) >> edge & 1
    d.con_state[c] = state
    return ti.Vector([active, changed])


@func
def force_state(m, d, r):
    """What the force on row r says of it: 0 no force, or friction within its bounds; 1, 2 another state."""
    f = d.row_force[r]
    state = 1
    if is_friction(d.row_type[r]):
        state = ti.select(f <= -d.row_floss[r], 1, ti.select(f >= d.row_floss[r], 2, 0))
    elif d.row_type[r] != EQUALITY and f <= 0.0:
        state = 0
    return state


@func
def contact_state(m, d, c):
    """The same of contact c: bits of the edges that push; of an elliptic cone whether its force is within (0, as MuJoCo
    has it) or on it."""
    state = 0
    dim = d.contact_dim[c]
    if ti.static(m.has.elliptic):
        if dim > 1:
            fri = load_parameters(m, d, c)
            mu = d.con_mu[c]
            normal = d.con_edge[c][0] / mu
            s = 0.0 * normal
            for k in ti.static(range(1, m.has.dims)):
                if k < dim:
                    s += d.con_edge[c][k] * d.con_edge[c][k] / (fri[k] * fri[k])
            tangent = ti.sqrt(s)
            if mu * normal < (1.0 + AT_CONE) * tangent:
                state = 1
        elif d.con_edge[c][0] > 0.0:
            state = 1
    else:
        for edge in range(ti.max(1, 2 * (dim - 1))):
            if d.con_edge[c][edge] > 0.0:
                state |= 1 << edge
    return state
