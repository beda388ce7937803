"""Candidate pairs: sweep and prune along the axis of largest spread, in strips on the other ones.

An item, a moving geom or a body with many geoms (midphase.py), is entered in every strip that its box touches;
where bodies lie above each other too, strips are divided into rows along the third axis. Strip, row and the sweep
coordinate are one sort key, so a sweep is a run of neighbours in one sorted list. Strips and rows wrap around and the
sweep coordinate is squashed into (0, 1): a body that has flown off costs nothing, and whatever aliases is told apart by
the boxes themselves. The pairs come in no particular order; candidates.py sorts them.
"""

from ..constants import SWEEP_FOUND
from ..sort import sort_all
from ..types import *
from .boxes import above_plane, ball_center, ball_radius, is_item_gone, margin_of
from .candidates import may_collide, passes, put_candidate

NSAMPLE = 32  # geoms looked at to choose the axes: enough for a 10 % and a 90 % quantile


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
    if ti.static(m.has.gone):
        total = d.nboxawake  # where what was removed lies tells nothing
    n = ti.min(NSAMPLE, total)
    ti.loop_config(serialize=SERIAL or SHORT)
    for axis in range(3):
        extent = 0.0
        for s in range(n):
            t = ti.cast(ti.cast(s, ti.i64) * total // n, ti.i32)
            w = t // d.ncol
            place = t - w * d.ncol
            if ti.static(m.has.gone):
                w = d.awake_box[t] // m.nitem
                place = d.awake_box[t] - w * m.nitem
            i = w * m.nitem + d.box_item[place]
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
        number = touched * rows
        if ti.static(m.has.gone):
            number = ti.select(is_item_gone(m, d, w, i - w * m.nitem), 0, number)
        at = ti.atomic_add(d.nentry, number)
        for k in range(number):
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


@func
def line_up(m, d, e):
    """Entry e: its enlarged box along the axis of the sweep, that of the strips, that of the rows."""
    i = d.sort_value[d.entryhalf * d.npairmax + e]
    ax = d.sweep_axis[0]
    ay = d.sweep_axis[1]
    az = 3 - ax - ay
    d.entry_lo[e] = vec3(d.item_fatlo[i][ax], d.item_fatlo[i][ay], d.item_fatlo[i][az])
    d.entry_hi[e] = vec3(d.item_fathi[i][ax], d.item_fathi[i][ay], d.item_fathi[i][az])
    d.entry_strip[e] = strip_of(d.item_fatlo[i][ay], d.sweep_per_strip)
    d.entry_row[e] = strip_of(d.item_fatlo[i][az], d.sweep_per_row)


@func
def find_from(m, d, e, f, n, adr, nfound):
    """Entries from f on, of n, whose boxes meet that of entry e: puts both behind the nfound pairs at adr, as long as
    there is room. A pair is taken in the first strip and row that both touch. Returns where it stopped, and the number.
    """
    start = d.entryhalf * d.npairmax
    nstrip = 1 << d.nstripbit
    nrow = 1 << d.nrowbit
    key = d.sort_key[start + e]
    strip = key >> (d.nlevelbit + d.nrowbit) & (nstrip - 1)
    row = key >> d.nlevelbit & (nrow - 1)
    lo = d.entry_lo[e]
    hi = d.entry_hi[e]
    first_strip = d.entry_strip[e]
    first_row = d.entry_row[e]
    last = key >> d.nlevelbit << d.nlevelbit | squash(m, d, hi[0], 1 << d.nlevelbit)
    while f < n and nfound < SWEEP_FOUND and d.sort_key[start + f] <= last:
        # no branches, which nobody could predict: what does not count is overwritten by the next
        hit = (d.entry_lo[f][2] <= hi[2]) & (lo[2] <= d.entry_hi[f][2])
        hit &= (d.entry_lo[f][1] <= hi[1]) & (lo[1] <= d.entry_hi[f][1])
        hit &= (d.entry_lo[f][0] <= hi[0]) & (lo[0] <= d.entry_hi[f][0])
        hit &= ti.max(first_strip, d.entry_strip[f]) & (nstrip - 1) == strip
        hit &= ti.max(first_row, d.entry_row[f]) & (nrow - 1) == row
        d.sweep_found[adr + nfound][0] = e
        d.sweep_found[adr + nfound][1] = f
        nfound += ti.cast(hit, ti.i32)
        f += 1
    return f, nfound


@func
def take_found(m, d, adr, nfound):
    """Lists those of the pairs at adr that pass the filters. Threads that shared one counter for each pair would wait
    for each other: it is moved on for all of them at once.
    """
    start = d.entryhalf * d.npairmax
    kept = 0
    for k in range(nfound):
        i = d.sort_value[start + d.sweep_found[adr + k][0]]
        j = d.sort_value[start + d.sweep_found[adr + k][1]]
        w = i // m.nitem
        g1 = i - w * m.nitem
        g2 = j - w * m.nitem
        if g1 >= m.ngeom or g2 >= m.ngeom:
            at = ti.atomic_add(d.nmid, 1)
            if at < d.npairmax:
                d.mid_item1[at] = i
                d.mid_item2[at] = j
        elif passes(m, d, i, j, g1, g2):
            d.sweep_found[adr + kept][0] = i
            d.sweep_found[adr + kept][1] = j
            kept += 1
    at = ti.atomic_add(d.ncpair, kept)
    for k in range(kept):
        i = d.sweep_found[adr + k][0]
        w = i // m.nitem
        put_candidate(m, d, at + k, w, i - w * m.nitem, d.sweep_found[adr + k][1] - w * m.nitem)


@func
def sweep_chunk(m, d, chunk, size, n):
    """Each entry of a chunk, of this size, with those of n that start before it ends."""
    end = ti.min((chunk + 1) * size, n)
    e = chunk * size
    f = e + 1
    nfound = 0
    while e < end:
        f, nfound = find_from(m, d, e, f, n, SWEEP_FOUND * chunk, nfound)
        if nfound < SWEEP_FOUND:
            e += 1
            f = e + 1
        if nfound == SWEEP_FOUND or e == end:
            take_found(m, d, SWEEP_FOUND * chunk, nfound)
            nfound = 0


@func
def search_planes(m, d, w, g):
    """Geom g of world w with all planes, which are unbounded."""
    i = w * m.nitem + g
    for k in range(d.nplane):
        p = d.plane_geom[k]
        margin = ti.max(margin_of(m, d, w, g), margin_of(m, d, w, p)) + ball_radius(m, d, i)
        if not above_plane(m, d, w * m.ngeom + p, ball_center(m, d, i), w * m.ngeom + g, g, margin):
            if may_collide(m, d, p, g):
                at = ti.atomic_add(d.ncpair, 1)
                put_candidate(m, d, at, w, p, g)


@func
def put_listed(m, d, w, k):
    """Pair k of the model, which passes no filter; those of all worlds come first."""
    t = w * m.npair + k
    g1 = m.pair_geom1[k]
    g2 = m.pair_geom2[k]
    if m.geom_type[g1] > m.geom_type[g2]:
        g1, g2 = g2, g1
    if t < d.npairmax:
        d.cand_geom1[t] = w * m.ngeom + g1
        d.cand_geom2[t] = g2
        d.cand_listed[t] = k


@kernel
def search_pairs(m, d):
    """Candidate pairs of the sweep, parallel over chunks of entries; with planes, parallel over items; the model's own.
    What the sweep finds near a body of many geoms is noted in mid_item1, mid_item2 and left to midphase.py.
    """
    n = ti.min(d.nentry, ti.min(d.nentrymax, d.npairmax))
    nchunk = (n + CHUNK - 1) // CHUNK
    ti.loop_config(serialize=SERIAL or SHORT)
    for e in range(n):
        line_up(m, d, e)
    ti.loop_config(serialize=SERIAL)
    for u in range(nchunk * SPREAD):
        if u % SPREAD == 0:
            sweep_chunk(m, d, u // SPREAD, CHUNK, n)
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(d.nworld * d.nbox):
        g = d.box_item[t % d.nbox]
        if g < m.ngeom and not is_item_gone(m, d, t // d.nbox, g):
            search_planes(m, d, t // d.nbox, g)
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(d.nworld * m.npair):
        put_listed(m, d, t // m.npair, t % m.npair)
