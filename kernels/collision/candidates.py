"""Candidate pairs: which a search may list, the list, and its order.

A search finds pairs in no particular order. They are sorted by (world, geom1, geom2), so that nothing later depends on
it, and by collider.
"""

from ..constants import (
    FILTER_BODY,
    FILTER_CONAFFINITY,
    FILTER_CONTYPE,
    FILTER_PARENT_WELD,
    FILTER_WELD,
    NKIND,
    NTYPE,
)
from ..sort import sort_all
from ..types import *
from .boxes import ball_center, ball_radius, margin_of, spheres_meet

CURSOR = NKIND + 1  # where bin_adr holds the places at which the next pairs go


@ti.func
def find_listed(a, b, first: ti.template(), second: ti.template(), n):
    """Place of (a, b) in the list of n sorted pairs (first, second), -1 if it is not there."""
    lo = 0
    hi = n
    while lo < hi:
        mid = (lo + hi) // 2
        if first[mid] < a or (first[mid] == a and second[mid] < b):
            lo = mid + 1
        else:
            hi = mid
    found = -1
    if lo < n:
        if first[lo] == a and second[lo] == b:
            found = lo
    return found


@ti.func
def is_listed(a, b, first: ti.template(), second: ti.template(), n):
    """True if (a, b) is in the list of n sorted pairs (first, second)."""
    return find_listed(a, b, first, second, n) >= 0


@func
def may_collide(m, d, g1, g2):
    """The filters for pairs that the model does not list: seed 000, "Selection". Sleep will refuse pairs here."""
    w1 = m.geom_filter[g1][FILTER_WELD]
    w2 = m.geom_filter[g2][FILTER_WELD]
    ok = w1 != w2
    if ok and d.filterparent and w1 != 0 and w2 != 0:
        ok = w1 != m.geom_filter[g2][FILTER_PARENT_WELD] and w2 != m.geom_filter[g1][FILTER_PARENT_WELD]
    if ok:
        meets = m.geom_filter[g1][FILTER_CONTYPE] & m.geom_filter[g2][FILTER_CONAFFINITY]
        ok = (meets | m.geom_filter[g2][FILTER_CONTYPE] & m.geom_filter[g1][FILTER_CONAFFINITY]) != 0
    if ok and d.nexclude > 0:
        b1 = m.geom_filter[g1][FILTER_BODY]
        b2 = m.geom_filter[g2][FILTER_BODY]
        ok = not is_listed(ti.min(b1, b2), ti.max(b1, b2), d.exclude_body1, d.exclude_body2, d.nexclude)
    if ok and d.nlisted > 0:
        ok = not is_listed(ti.min(g1, g2), ti.max(g1, g2), d.listed_geom1, d.listed_geom2, d.nlisted)
    return ok


@func
def put_candidate(m, d, at, w, ga, gb):
    """Writes a pair that the model does not list, lower type first; geom1 carries the world."""
    g1 = ga
    g2 = gb
    if m.geom_type[ga] > m.geom_type[gb] or (m.geom_type[ga] == m.geom_type[gb] and ga > gb):
        g1 = gb
        g2 = ga
    if at < d.npairmax:
        d.cand_geom1[at] = w * m.ngeom + g1
        d.cand_geom2[at] = g2
        d.cand_listed[at] = -1


@func
def passes(m, d, i, j, g1, g2):
    """Whether the bounding spheres of geoms g1 and g2, items i and j, whose boxes meet, may do so too on their ways,
    and no filter refuses.
    """
    w = i // m.nitem
    margin = ti.max(margin_of(m, d, w, g1), margin_of(m, d, w, g2)) + (ball_radius(m, d, i) + ball_radius(m, d, j))
    yes = spheres_meet(
        m, d, ball_center(m, d, i), ball_center(m, d, j), w * m.ngeom + g1, w * m.ngeom + g2, g1, g2, margin
    )
    if yes:  # not "and": Taichi runs a function on the right of it in any case
        yes = may_collide(m, d, g1, g2)
    return yes


@kernel
def sort_pairs(m, d):
    """Order of the candidates by (world, geom1, geom2), by one thread (a GPU: kernels/sort.py, radix_pass)."""
    n = ti.min(d.ncpair, d.npairmax)
    ti.loop_config(serialize=True)
    for _ in range(1):
        for p in range(n):
            d.sort_key[p] = d.cand_geom2[p]
            d.sort_value[p] = p
        half = sort_all(m, d, n, d.geombits, 0)
        for p in range(half * d.npairmax, half * d.npairmax + n):
            d.sort_key[p] = d.cand_geom1[d.sort_value[p]]
        sort_all(m, d, n, d.worldgeombits, half)


@kernel
def key_by_geom2(m, d):
    """Keys of the first half of the pair sort, parallel over pairs."""
    n = ti.min(d.ncpair, d.npairmax)
    ti.loop_config(serialize=SERIAL)
    for p in range(n):
        d.sort_key[p] = d.cand_geom2[p]
        d.sort_value[p] = p


@kernel
def key_by_geom1(m, d, half: ti.i32):
    """Keys of the second half of the pair sort, parallel over pairs."""
    n = ti.min(d.ncpair, d.npairmax)
    ti.loop_config(serialize=SERIAL)
    for p in range(n):
        d.sort_key[half * d.npairmax + p] = d.cand_geom1[d.sort_value[half * d.npairmax + p]]


@kernel
def order_pairs(m, d):
    """Sorted pairs with their margins and lists of them by collider; parallel over pairs."""
    n = ti.min(d.ncpair, d.npairmax)
    ti.loop_config(serialize=True)
    for k in range(NKIND + 1):
        d.bin_adr[k] = 0
    ti.loop_config(serialize=SERIAL or SHORT)
    for p in range(n):
        c = d.sort_value[d.pairhalf * d.npairmax + p]
        i = d.cand_geom1[c]
        g1 = i % m.ngeom
        g2 = d.cand_geom2[c]
        listed = d.cand_listed[c]
        kind = d.type_kind[NTYPE * m.geom_type[g1] + m.geom_type[g2]]
        margin = ti.max(margin_of(m, d, i // m.ngeom, g1), margin_of(m, d, i // m.ngeom, g2))
        if listed >= 0 and not d.override:
            margin = m.pair_margin[listed]
        d.cpair_geom1[p] = i
        d.cpair_geom2[p] = g2
        d.cpair_listed[p] = listed
        d.cpair_kind[p] = kind
        d.cpair_margin[p] = margin
        d.cpair_ncon[p] = 0
        if kind >= 0:
            ti.atomic_add(d.bin_adr[kind], 1)
    ti.loop_config(serialize=True)
    for _ in range(1):
        at = 0
        for k in range(NKIND + 1):
            x = d.bin_adr[k]
            d.bin_adr[k] = at
            d.bin_adr[CURSOR + k] = at
            at += x
    # the order inside a bin does not show: results go to the pair's own slots
    ti.loop_config(serialize=SERIAL or SHORT)
    for p in range(n):
        if d.cpair_kind[p] >= 0:
            d.cpair_bin[ti.atomic_add(d.bin_adr[CURSOR + d.cpair_kind[p]], 1)] = p
