"""Makers of rows: friction loss and active limits of tendons. Seed 000, "Friction loss", "Limits"."""

from ..constants import FRICTION_TENDON, LIMIT_TENDON, TASK_TEN_FRICTION, TASK_TEN_LIMIT
from ..sleep.awake import task_at, task_count
from ..types import FP, SERIAL, func, kernel, ti
from .row import finish_row, fits, start_row


@func
def start_tendon_row(m, d, w, t, r, kind, adr, sign):
    """Starts row r of tendon t, its entries sign times those of the tendon's Jacobian."""
    num = m.tendon_Jnum[t]
    start_row(m, d, r, kind, t, adr, num)
    for x in range(num):
        a = m.tendon_Jadr[t] + x
        d.J_dof[adr + x] = w * m.nv + m.tendon_Jdof[a]
        d.J[adr + x] = sign * d.ten_J[w * m.ntendonJ + a]


@kernel
def tendon_friction_rows(m, d):
    """Scan, fill; parallel over (world, tendon with friction loss)."""
    n_task = task_count(m, d, TASK_TEN_FRICTION, m.ntendonfriction)
    ti.loop_config(serialize=True)
    for _ in range(1):
        row = d.nrow
        adr = d.nJ
        for place in range(n_task):
            k = task_at(m, d, TASK_TEN_FRICTION, place)
            d.tenfric_row[k] = row
            d.tenfric_adr[k] = adr
            row += ti.cast(m.tendon_Jnum[m.friction_tendon[k % m.ntendonfriction]] > 0, ti.i32)
            adr += m.tendon_Jnum[m.friction_tendon[k % m.ntendonfriction]]
        d.nrow = row
        d.nJ = adr
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        k = task_at(m, d, TASK_TEN_FRICTION, place)
        w = k // m.ntendonfriction
        t = m.friction_tendon[k % m.ntendonfriction]
        r = d.tenfric_row[k]
        adr = d.tenfric_adr[k]
        if m.tendon_Jnum[t] > 0 and fits(m, d, r, adr, m.tendon_Jnum[t]):
            zero = FP(0.0)
            diag = m.tendon_invweight0[w, t]
            start_tendon_row(m, d, w, t, r, FRICTION_TENDON, adr, FP(1.0))
            d.row_floss[r] = m.tendon_frictionloss[t]
            finish_row(m, d, r, zero, zero, zero, diag, m.tendon_solref_fri[t], m.tendon_solimp_fri[t])


@func
def side_of(m, d, w, t, side):
    """Distance of tendon t from its limit on a side: 0 lower, 1 upper."""
    sign = ti.cast(1 - 2 * side, FP)
    return sign * (d.ten_length[w * m.ntendon + t] - m.tendon_range[t][side])


@kernel
def tendon_limit_rows(m, d):
    """Count, scan, fill; parallel over (world, limited tendon)."""
    n_task = task_count(m, d, TASK_TEN_LIMIT, m.ntendonlimited)
    ti.loop_config(serialize=True)
    for _ in range(1):
        row = d.nrow
        adr = d.nJ
        for place in range(n_task):
            k = task_at(m, d, TASK_TEN_LIMIT, place)
            t = m.limited_tendon[k % m.ntendonlimited]
            d.tenlimit_row[k] = row
            d.tenlimit_adr[k] = adr
            if m.tendon_Jnum[t] > 0:
                for side in range(2):
                    if side_of(m, d, k // m.ntendonlimited, t, side) < m.tendon_margin[t]:
                        row += 1
                        adr += m.tendon_Jnum[t]
        d.nrow = row
        d.nJ = adr
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        k = task_at(m, d, TASK_TEN_LIMIT, place)
        w = k // m.ntendonlimited
        t = m.limited_tendon[k % m.ntendonlimited]
        num = m.tendon_Jnum[t]
        r = d.tenlimit_row[k]
        adr = d.tenlimit_adr[k]
        margin = m.tendon_margin[t]
        for side in range(2):
            pos = side_of(m, d, w, t, side)
            if num > 0 and pos < margin and fits(m, d, r, adr, num):
                start_tendon_row(m, d, w, t, r, LIMIT_TENDON, adr, ti.cast(1 - 2 * side, FP))
                diag = m.tendon_invweight0[w, t]
                finish_row(m, d, r, pos, margin, pos - margin, diag, m.tendon_solref_lim[t], m.tendon_solimp_lim[t])
                r += 1
                adr += num
