"""Sweeps as steps of a nonlinear conjugate gradient search (Silcowitz, Niebe, Erleben: "A nonsmooth nonlinear conjugate
gradient method for interactive contact force problems", 2010): m.lcp.accelerate.

A sweep changes the impulses by -g. Behind it they go on along p, by b = |g|^2 / |g of the sweep before|^2: x + b p,
then p = b p - g; where b is above 1 the search begins again with p = 0. Velocities depend on impulses linearly, so they
go the same way and ask for no product: a sweep's own change of them is carried. Behind the last sweep of a substep
nothing is added, so that impulses are admissible. Rows of trees are solved behind it, as behind each sweep.

Of a contact's slot lcp_cg has its impulse when the sweep began and its part of p, of a body lcp_cg_body its velocity
then and what p makes of that; likewise lcp_cg_eq of connects and welds, which change lcp_from, too.
"""

from ..constants import HEAD_COLORS
from ..team import meet, share
from ..types import FP, func, ti
from .bodies import BODY_SIZE, TWIST_SIZE
from .contacts import IMPULSE, record_of
from .lists import EQ_ROWS

CONTACT_SIZE, CONTACT_WAY = 6, 3  # of lcp_cg
SEARCH_SIZE, WAY, FROM, FROM_WAY = 32, 8, 16, 24  # of lcp_cg_body
LOOP_SIZE, LOOP_WAY = 12, 6  # of lcp_cg_eq
BLOCK = 64  # contacts whose squares are summed by one worker


@func
def begin_contact(m, d, s):
    """The contact in slot s before the first sweep of a substep."""
    o, step = record_of(m, d, s)
    for c in ti.static(range(3)):
        d.lcp_cg[CONTACT_SIZE * s + c] = d.lcp_rec[o + step * (IMPULSE + c)]
        d.lcp_cg[CONTACT_SIZE * s + CONTACT_WAY + c] = 0.0


@func
def begin_way(m, d, wb):
    """Body wb of all worlds before the first sweep of a substep."""
    for c in ti.static(range(6)):
        d.lcp_cg_body[SEARCH_SIZE * wb + WAY + c] = 0.0
        d.lcp_cg_body[SEARCH_SIZE * wb + FROM_WAY + c] = 0.0
    keep_velocity(m, d, wb)


@func
def keep_velocity(m, d, wb):
    """The velocity with which a sweep begins."""
    for c in ti.static(range(6)):
        d.lcp_cg_body[SEARCH_SIZE * wb + c] = d.lcp_body[BODY_SIZE * wb + c]
        if ti.static(m.has.loops):
            d.lcp_cg_body[SEARCH_SIZE * wb + FROM + c] = d.lcp_from[TWIST_SIZE * wb + c]


@func
def sum_blocks(m, d, me, size):
    """lcp_cg_sum: |g|^2 of each block of contacts, a worker's part; of connects and welds behind a meeting."""
    first, behind = share((d.ncon + BLOCK - 1) // BLOCK, me, size)
    for k in range(first, behind):
        total = FP(0.0)
        for s in range(BLOCK * k, ti.min(d.ncon, BLOCK * k + BLOCK)):
            o, step = record_of(m, d, s)
            for c in ti.static(range(3)):
                total += (d.lcp_rec[o + step * (IMPULSE + c)] - d.lcp_cg[CONTACT_SIZE * s + c]) ** 2
        d.lcp_cg_sum[k] = total


@func
def squared(m, d):
    """|g|^2 of all, in the same order by each worker."""
    total = FP(0.0)
    for k in range((d.ncon + BLOCK - 1) // BLOCK):
        total += d.lcp_cg_sum[k]
    if ti.static(m.has.loops):
        for s in range(d.lcp_eq_head[d.lcp_eq_head[HEAD_COLORS]]):
            k = d.lcp_eq_order[s]
            for r in range(d.lcp_eq_nrow[k]):
                total += (d.lcp_eq_impulse[EQ_ROWS * k + r] - d.lcp_cg_eq[LOOP_SIZE * k + r]) ** 2
    return total


@func
def advance_impulses(m, d, part, goes, me, size):
    """Impulses and p behind a sweep, a worker's part. part: b; goes: 0 where p is to be 0."""
    first, behind = share(d.ncon, me, size)
    for s in range(first, behind):
        first_number, apart = record_of(m, d, s)
        for c in ti.static(range(3)):
            at, o = first_number + apart * (IMPULSE + c), CONTACT_SIZE * s + c
            step, x = part * d.lcp_cg[o + CONTACT_WAY], d.lcp_rec[at]
            d.lcp_cg[o + CONTACT_WAY] = goes * (step + (x - d.lcp_cg[o]))
            d.lcp_rec[at] = x + step
            d.lcp_cg[o] = x + step
    if ti.static(m.has.loops):
        first, behind = share(d.lcp_eq_head[d.lcp_eq_head[HEAD_COLORS]], me, size)
        for s in range(first, behind):
            k = d.lcp_eq_order[s]
            for r in range(d.lcp_eq_nrow[k]):
                at, o = EQ_ROWS * k + r, LOOP_SIZE * k + r
                step, x = part * d.lcp_cg_eq[o + LOOP_WAY], d.lcp_eq_impulse[at]
                d.lcp_cg_eq[o + LOOP_WAY] = goes * (step + (x - d.lcp_cg_eq[o]))
                d.lcp_eq_impulse[at] = x + step
                d.lcp_cg_eq[o] = x + step


@func
def advance_velocity(m, d, wb, part, goes):
    """The same of the velocity of body wb of all worlds."""
    for c in ti.static(range(6)):
        o, at = SEARCH_SIZE * wb + c, BODY_SIZE * wb + c
        step, v = part * d.lcp_cg_body[o + WAY], d.lcp_body[at]
        d.lcp_cg_body[o + WAY] = goes * (step + (v - d.lcp_cg_body[o]))
        d.lcp_body[at] = v + step
        if ti.static(m.has.loops):
            of = TWIST_SIZE * wb + c
            back, u = part * d.lcp_cg_body[o + FROM_WAY], d.lcp_from[of]
            d.lcp_cg_body[o + FROM_WAY] = goes * (back + (u - d.lcp_cg_body[o + FROM]))
            d.lcp_from[of] = u + back


@func
def begin_search(m, d, me, size):
    """Contacts, connects and welds before the first sweep of a substep: a worker's part."""
    first, behind = share(d.ncon, me, size)
    for s in range(first, behind):
        begin_contact(m, d, s)
    if ti.static(m.has.loops):
        first, behind = share(d.lcp_eq_head[d.lcp_eq_head[HEAD_COLORS]], me, size)
        for s in range(first, behind):
            k = d.lcp_eq_order[s]
            for r in ti.static(range(6)):
                d.lcp_cg_eq[LOOP_SIZE * k + r] = d.lcp_eq_impulse[EQ_ROWS * k + r]
                d.lcp_cg_eq[LOOP_SIZE * k + LOOP_WAY + r] = 0.0


@func
def search(m, d, before, me, size):
    """(|g|^2, b, whether p goes on) behind a sweep, and its impulses; before: |g|^2 of the sweep before, 0: none.

    The velocities are for the caller, who knows which bodies are the worker's; then workers meet.
    """
    sum_blocks(m, d, me, size)
    meet(m, d, me, size)
    now = squared(m, d)
    part, goes = FP(0.0), FP(1.0)
    if before > 0.0:
        part = now / before
        if part > 1.0:
            part, goes = FP(0.0), FP(0.0)
    if ti.static(m.has.loops):
        meet(m, d, me, size)  # all have read what advances now
    advance_impulses(m, d, part, goes, me, size)
    return now, part, goes
