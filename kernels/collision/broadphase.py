"""Candidate pairs: sweep and prune along the axis of largest spread, in strips on the other ones.

An item, a moving geom or a body with many geoms (midphase.py), is entered in every strip that its box touches;
where bodies lie above each other too, strips are divided into rows along the third axis. Strip, row and the sweep
coordinate are one sort key, so a sweep is a run of neighbours in one sorted list. Strips and rows wrap around and the
sweep coordinate is squashed into (0, 1): a body that has flown off costs nothing, and whatever aliases is told apart by
the boxes themselves. The pairs come in no particular order and are sorted by (world, geom1, geom2) at the end, so that
nothing later depends on the search.
"""

from ..constants import NKIND, NTYPE
from ..sort import sort_all
from ..types import *
from .boxes import above_plane, ball_at, spheres_meet

NSAMPLE = 32  # geoms looked at to choose the axes: enough for a 10 % and a 90 % quantile
CURSOR = NKIND + 1  # where bin_adr holds the places at which the next pairs go
FOUND = 64  # boxes that meet, found by the thread of a chunk before their filters are asked


@func
def squash(m, d, x, nlevel):
    """Monotone map of a coordinate to 0 .. nlevel-1, fine in the middle, never out of range."""
    t = (x - d.sweep_middle) * d.sweep_per_length
    u = 0.5 + 0.5 * t / (1.0 + ti.abs(t))
    return ti.max(0, ti.min(nlevel - 1, ti.cast(u * nlevel, ti.i32)))


@ti.func
def strip_of(x, width):
    """Number of the strip of a coordinate, before wrapping round; width: 1 / width of a strip, 0 for one in all."""
    return ti.cast(ti.floor(ti.max(-1e9, ti.min(1e9, x * width))), ti.i32)


@kernel
def choose_axes(m, d):
    """Axes and scales of the sweep, from quantiles of a few moving items, which no stray body shifts; by one thread.

    skin  by how much boxes are enlarged, relative to the mean extent of those looked at.
    """
    total = d.nworld * d.ncol
    n = ti.min(NSAMPLE, total)
    ti.loop_config(serialize=SERIAL or SHORT)
    for axis in range(3):
        extent = 0.0
        for s in range(n):
            t = ti.cast(ti.cast(s, ti.i64) * total // n, ti.i32)
            i = t // d.ncol * m.nitem + d.box_item[t % d.ncol]
            x = d.item_boxlo[i][axis]
            extent += (d.item_boxhi[i][axis] - x) / n
            k = s
            while k > 0 and d.sweep_sample[NSAMPLE * axis + k - 1] > x:
                d.sweep_sample[NSAMPLE * axis + k] = d.sweep_sample[NSAMPLE * axis + k - 1]
                k -= 1
            d.sweep_sample[NSAMPLE * axis + k] = x
        at = NSAMPLE * axis
        d.sweep_median[axis] = d.sweep_sample[at + n // 2]
        d.sweep_spread[axis] = d.sweep_sample[at + ti.max(0, n - 1 - n // 10)] - d.sweep_sample[at + n // 10]
        d.sweep_extent[axis] = extent
    ti.loop_config(serialize=True)
    for _ in range(1):
        a = 0
        for k in range(1, 3):
            if d.sweep_spread[k] > d.sweep_spread[a]:
                a = k
        b = (a + 1) % 3
        if d.sweep_spread[(a + 2) % 3] > d.sweep_spread[b]:
            b = (a + 2) % 3
        d.sweep_axis[0] = a
        d.sweep_axis[1] = b
        d.sweep_middle = d.sweep_median[a]
        d.sweep_per_length = 1.0 / ti.max(d.sweep_spread[a], 4.0 * d.sweep_extent[a], 1e-06)
        c = 3 - a - b
        d.sweep_per_strip = 1.0 / ti.max(2.0 * d.sweep_extent[b], 1e-06)  # strips of twice the mean extent
        d.sweep_per_row = 0.0  # the third axis is divided too where there is enough of it
        if d.sweep_spread[c] > 3.0 * d.sweep_extent[c]:
            d.sweep_per_row = 1.0 / ti.max(2.0 * d.sweep_extent[c], 1e-06)
        d.sweep_skin = d.skin * (d.sweep_extent[0] + d.sweep_extent[1] + d.sweep_extent[2]) / 3.0


@kernel
def enter_items(m, d):
    """An entry of the sweep for each strip that an enlarged box touches, parallel over items. The first ncol of the
    items are entered.
    """
    ti.loop_config(serialize=True)
    for _ in range(1):
        d.ncpair = d.nworld * m.npair
        d.nentry = 0
        d.nmid = 0
    # entries: the sort that follows forgets their order
    nstrip = 1 << d.nstripbit
    nrow = 1 << d.nrowbit
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(d.nworld * d.ncol):
        w = t // d.ncol
        i = w * m.nitem + d.box_item[t % d.ncol]
        low = squash(m, d, d.item_fatlo[i][d.sweep_axis[0]], 1 << d.nlevelbit)
        ay = d.sweep_axis[1]
        az = 3 - d.sweep_axis[0] - ay
        first = strip_of(d.item_fatlo[i][ay], d.sweep_per_strip)
        touched = ti.max(1, ti.min(nstrip, strip_of(d.item_fathi[i][ay], d.sweep_per_strip) - first + 1))
        row = strip_of(d.item_fatlo[i][az], d.sweep_per_row)
        rows = ti.max(1, ti.min(nrow, strip_of(d.item_fathi[i][az], d.sweep_per_row) - row + 1))
        at = ti.atomic_add(d.nentry, touched * rows)
        for k in range(touched * rows):
            if at + k < d.npairmax:
                strip = (first + k % touched) & (nstrip - 1)
                cell = (w << d.nstripbit | strip) << d.nrowbit | row + k // touched & nrow - 1
                d.sort_key[at + k] = cell << d.nlevelbit | low
                d.sort_value[at + k] = i


@kernel
def sort_entries(m, d):
    """Sorts the entries by strip and place, by one thread (a GPU: kernels/sort.py, radix_pass)."""
    n = ti.min(d.nentry, d.npairmax)
    ti.loop_config(serialize=True)
    for _ in range(1):
        sort_all(m, d, n, d.entrybits, 0)


@ti.func
def is_listed(a, b, first: ti.template(), second: ti.template(), n):
    """True if (a, b) is in the list of n sorted pairs (first, second)."""
    lo = 0
    hi = n
    while lo < hi:
        mid = (lo + hi) // 2
        if first[mid] < a or (first[mid] == a and second[mid] < b):
            lo = mid + 1
        else:
            hi = mid
    found = False
    if lo < n:
        found = first[lo] == a and second[lo] == b
    return found


@func
def may_collide(m, d, g1, g2):
    """The filters for pairs that the model does not list: seed 000, "Selection". Sleep will refuse pairs here.

    geom_filter  of each geom: body, the body it is welded to, that of its parent, contype, conaffinity, ...
    """
    w1 = m.geom_filter[g1][1]
    w2 = m.geom_filter[g2][1]
    ok = w1 != w2
    if ok and d.filterparent and (w1 != 0) and (w2 != 0):
        ok = w1 != m.geom_filter[g2][2] and w2 != m.geom_filter[g1][2]
    if ok:
        meets = m.geom_filter[g1][3] & m.geom_filter[g2][4]
        ok = meets | m.geom_filter[g2][3] & m.geom_filter[g1][4] != 0
    if ok and d.nexclude > 0:
        b1 = m.geom_filter[g1][0]
        b2 = m.geom_filter[g2][0]
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
    margin = ti.max(m.geom_margin[g1], m.geom_margin[g2])
    if d.override:
        margin = m.opt.o_margin
    margin += d.item_ball[i][3] + d.item_ball[j][3]
    yes = spheres_meet(m, d, ball_at(m, d, i), ball_at(m, d, j), g1, g2, margin)
    if yes:  # not "and": Taichi runs a function on the right of it in any case
        yes = may_collide(m, d, g1, g2)
    return yes


@kernel
def search_pairs(m, d):
    """Candidate pairs of the sweep, parallel over chunks of entries; with planes, parallel over geoms; the model's own
    list. Pairs with a body of many geoms are noted in mid_item1, mid_item2 and left to midphase.py.
    """
    n = ti.min(d.nentry, d.npairmax)
    ax = d.sweep_axis[0]
    ay = d.sweep_axis[1]
    az = 3 - ax - ay
    start = d.entryhalf * d.npairmax
    nstrip = 1 << d.nstripbit
    nrow = 1 << d.nrowbit
    # boxes in the order of the sweep: low and high along its axis, the strips' axis, the rows'; first strip and row
    ti.loop_config(serialize=SERIAL or SHORT)
    for e in range(n):
        i = d.sort_value[start + e]
        d.entry_box[e][0] = d.item_fatlo[i][ax]
        d.entry_box[e][1] = d.item_fathi[i][ax]
        d.entry_box[e][2] = d.item_fatlo[i][ay]
        d.entry_box[e][3] = d.item_fathi[i][ay]
        d.entry_box[e][4] = d.item_fatlo[i][az]
        d.entry_box[e][5] = d.item_fathi[i][az]
        d.entry_cell[e][0] = strip_of(d.item_fatlo[i][ay], d.sweep_per_strip)
        d.entry_cell[e][1] = strip_of(d.item_fatlo[i][az], d.sweep_per_row)
    # each entry with those that start before it ends; a pair is taken in the first strip and row that both touch. What
    # is found waits until there are some: threads that share one counter for each pair would wait for each other
    nchunk = (n + CHUNK - 1) // CHUNK
    ti.loop_config(serialize=SERIAL)
    for u in range(nchunk * SPREAD):
        if u % SPREAD != 0:
            continue
        chunk = u // SPREAD
        found = 2 * FOUND * chunk
        nfound = 0
        end = ti.min((chunk + 1) * CHUNK, n)
        e = chunk * CHUNK
        f = e + 1
        while e < end:
            key = d.sort_key[start + e]
            strip = key >> d.nlevelbit + d.nrowbit & nstrip - 1
            row = key >> d.nlevelbit & nrow - 1
            xlo = d.entry_box[e][0]
            xhi = d.entry_box[e][1]
            ylo = d.entry_box[e][2]
            yhi = d.entry_box[e][3]
            zlo = d.entry_box[e][4]
            zhi = d.entry_box[e][5]
            ycell = d.entry_cell[e][0]
            zcell = d.entry_cell[e][1]
            last = key >> d.nlevelbit << d.nlevelbit | squash(m, d, xhi, 1 << d.nlevelbit)
            while f < n and nfound < FOUND and (d.sort_key[start + f] <= last):
                # no branches, which nobody could predict: what does not count is overwritten by the next
                hit = (d.entry_box[f][4] <= zhi) & (zlo <= d.entry_box[f][5])
                hit &= (d.entry_box[f][2] <= yhi) & (ylo <= d.entry_box[f][3])
                hit &= (d.entry_box[f][0] <= xhi) & (xlo <= d.entry_box[f][1])
                hit &= ti.max(ycell, d.entry_cell[f][0]) & nstrip - 1 == strip
                hit &= ti.max(zcell, d.entry_cell[f][1]) & nrow - 1 == row
                d.sweep_found[found + 2 * nfound] = e
                d.sweep_found[found + 2 * nfound + 1] = f
                nfound += ti.cast(hit, ti.i32)
                f += 1
            if nfound < FOUND:
                e += 1
                f = e + 1
            if nfound == FOUND or e == end:
                kept = 0
                for k in range(nfound):
                    i = d.sort_value[start + d.sweep_found[found + 2 * k]]
                    j = d.sort_value[start + d.sweep_found[found + 2 * k + 1]]
                    w = i // m.nitem
                    g1 = i - w * m.nitem
                    g2 = j - w * m.nitem
                    if g1 >= m.ngeom or g2 >= m.ngeom:
                        at = ti.atomic_add(d.nmid, 1)
                        if at < d.npairmax:
                            d.mid_item1[at] = i
                            d.mid_item2[at] = j
                    elif passes(m, d, i, j, g1, g2):
                        d.sweep_found[found + 2 * kept] = i
                        d.sweep_found[found + 2 * kept + 1] = j
                        kept += 1
                at = ti.atomic_add(d.ncpair, kept)
                for k in range(kept):
                    i = d.sweep_found[found + 2 * k]
                    w = i // m.nitem
                    put_candidate(m, d, at + k, w, i - w * m.nitem, d.sweep_found[found + 2 * k + 1] - w * m.nitem)
                nfound = 0
    # planes are unbounded: every geom against each
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(d.nworld * d.nbox):
        w = t // d.nbox
        g = d.box_item[t % d.nbox]
        for k in range(ti.select(g < m.ngeom, d.nplane, 0)):
            p = d.plane_geom[k]
            margin = ti.max(m.geom_margin[g], m.geom_margin[p])
            if d.override:
                margin = m.opt.o_margin
            i = w * m.nitem + g
            if not above_plane(m, d, w * m.ngeom + p, ball_at(m, d, i), g, margin + d.item_ball[i][3]):
                if may_collide(m, d, p, g):
                    at = ti.atomic_add(d.ncpair, 1)
                    put_candidate(m, d, at, w, p, g)
    # pairs of the model come first and pass no filter
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(d.nworld * m.npair):
        w = t // m.npair
        k = t % m.npair
        g1 = m.pair_geom1[k]
        g2 = m.pair_geom2[k]
        if m.geom_type[g1] > m.geom_type[g2]:
            g1 = m.pair_geom2[k]
            g2 = m.pair_geom1[k]
        if t < d.npairmax:
            d.cand_geom1[t] = w * m.ngeom + g1
            d.cand_geom2[t] = g2
            d.cand_listed[t] = k


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
        margin = ti.max(m.geom_margin[g1], m.geom_margin[g2])
        if listed >= 0:
            margin = m.pair_margin[listed]
        if d.override:
            margin = m.opt.o_margin
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
