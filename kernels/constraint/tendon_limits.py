"""Makers of rows: friction loss and active limits of tendons. Seed 000, "Friction loss", "Limits"."""

from ..constants import FRICTION_TENDON, LIMIT_TENDON, TASK_TEN_FRICTION, TASK_TEN_LIMIT
from ..sleep.awake import task_at, task_count
from ..types import FP, SERIAL, func, kernel, ti
from .places import place_rows
from .row import finish_row, fits, start_row
from .tendon_entries import entry_count, is_in_jacobian


@func
def start_tendon_row(m, d, w, t, r, kind, adr, num, sign):
    """Starts row r of tendon t, its num entries sign times those of the tendon's Jacobian."""
    start_row(m, d, r, kind, t, adr, num)
    at = adr
    for a in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
        if is_in_jacobian(m, d, w, a):
            d.J_dof[at] = w * m.nv + m.tendon_Jdof[a]
            d.J[at] = sign * d.ten_J[w * m.ntendonJ + a]
            at += 1


@func
def friction_need(m, d, place):
    k = task_at(m, d, TASK_TEN_FRICTION, place)
    num = entry_count(m, d, k // m.ntendonfriction, m.friction_tendon[k % m.ntendonfriction])
    return k, ti.cast(num > 0, ti.i32), num


@kernel
def tendon_friction_rows(m, d):
    """Scan, fill; parallel over (world, tendon with friction loss)."""
    n_task = task_count(m, d, TASK_TEN_FRICTION, m.ntendonfriction)
    place_rows(m, d, n_task, SERIAL, friction_need, d.tenfric_row, d.tenfric_adr)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        k = task_at(m, d, TASK_TEN_FRICTION, place)
        w = k // m.ntendonfriction
        t = m.friction_tendon[k % m.ntendonfriction]
        r = d.tenfric_row[k]
        adr = d.tenfric_adr[k]
        num = entry_count(m, d, w, t)
        if num > 0 and fits(m, d, r, adr, num):
            zero = FP(0.0)
            diag = m.tendon_invweight0[w, t]
            start_tendon_row(m, d, w, t, r, FRICTION_TENDON, adr, num, FP(1.0))
            d.row_floss[r] = m.tendon_frictionloss[t]
            finish_row(m, d, r, zero, zero, zero, diag, m.tendon_solref_fri[t], m.tendon_solimp_fri[t])


@func
def side_of(m, d, w, t, side):
    """Distance of tendon t from its limit on a side: 0 lower, 1 upper."""
    sign = ti.cast(1 - 2 * side, FP)
    return sign * (d.ten_length[w * m.ntendon + t] - m.tendon_range[t][side])


@func
def limit_need(m, d, place):
    k = task_at(m, d, TASK_TEN_LIMIT, place)
    t = m.limited_tendon[k % m.ntendonlimited]
    w = k // m.ntendonlimited
    n = 0
    for side in range(2):
        n += ti.cast(side_of(m, d, w, t, side) < m.tendon_margin[t], ti.i32)
    num = 0
    if n > 0:
        num = entry_count(m, d, w, t)
    return k, ti.select(num > 0, n, 0), num


@kernel
def tendon_limit_rows(m, d):
    """Count, scan, fill; parallel over (world, limited tendon)."""
    n_task = task_count(m, d, TASK_TEN_LIMIT, m.ntendonlimited)
    place_rows(m, d, n_task, SERIAL, limit_need, d.tenlimit_row, d.tenlimit_adr)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        k = task_at(m, d, TASK_TEN_LIMIT, place)
        w = k // m.ntendonlimited
        t = m.limited_tendon[k % m.ntendonlimited]
        r = d.tenlimit_row[k]
        adr = d.tenlimit_adr[k]
        num = 0
        if r >= 0:
            num = entry_count(m, d, w, t)
        margin = m.tendon_margin[t]
        for side in range(2):
            pos = side_of(m, d, w, t, side)
            if num > 0 and pos < margin and fits(m, d, r, adr, num):
                start_tendon_row(m, d, w, t, r, LIMIT_TENDON, adr, num, ti.cast(1 - 2 * side, FP))
                diag = m.tendon_invweight0[w, t]
                finish_row(m, d, r, pos, margin, pos - margin, diag, m.tendon_solref_lim[t], m.tendon_solimp_lim[t])
                r += 1
                adr += num
