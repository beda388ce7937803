"""Candidate pairs: sweep and prune along the axis of largest spread, in strips on the other ones.

An item, a moving geom or a body with many geoms (kernels/midphase.py), is entered in every strip that its box touches;
where bodies lie above each other too, strips are divided into rows along the third axis. Strip, row and the sweep
coordinate are one sort key, so a sweep is a run of neighbours in one sorted list. Strips and rows wrap around and the
sweep coordinate is squashed into (0, 1): a body that has flown off costs nothing, and whatever aliases is told apart by
the boxes themselves. The pairs come in no particular order and are sorted by (world, geom1, geom2) at the end, so that
nothing later depends on the search.
"""

from tisim.kernels.boxes import SKIN, above_plane, ball_at, spheres_meet
from tisim.kernels.constants import NENTRY, NKIND, NMID, NPAIR, NTYPE
from tisim.kernels.sort import sort_all
from tisim.kernels.types import *

NSAMPLE = 32  # geoms looked at to choose the axes: enough for a 10 % and a 90 % quantile
CURSOR = NKIND + 1  # where bin_adr holds the places at which the next pairs go
FOUND = 64  # boxes that meet, found by the thread of a chunk before their filters are asked


@ti.func
def squash(x, sweep_scale: ti.template(), nlevel):
    """Monotone map of a coordinate to 0 .. nlevel-1, fine in the middle, never out of range."""
    t = (x - sweep_scale[9]) * sweep_scale[10]
    u = 0.5 + 0.5 * t / (1.0 + ti.abs(t))
    return ti.max(0, ti.min(nlevel - 1, ti.cast(u * nlevel, ti.i32)))


@ti.func
def strip_of(x, width):
    """Number of the strip of a coordinate, before wrapping round; width: 1 / width of a strip, 0 for one in all."""
    return ti.cast(ti.floor(ti.max(-1e9, ti.min(1e9, x * width))), ti.i32)


@kernel
def choose_axes(
    nworld: ti.i32, nitem: ti.i32, ncol: ti.i32, skin: FP, box_item: I, item_boxlo: F, item_boxhi: F, sweep_sample: F,
    sweep_axis: I, sweep_scale: F,
):  # fmt: skip
    """Axes and scales of the sweep, from quantiles of a few moving items, which no stray body shifts; by one thread.

    skin  by how much boxes are enlarged, relative to the mean extent of those looked at.
    """
    total = nworld * ncol
    n = ti.min(NSAMPLE, total)
    ti.loop_config(serialize=SERIAL or SHORT)
    for axis in range(3):
        extent = 0.0
        for s in range(n):
            t = ti.cast(ti.cast(s, ti.i64) * total // n, ti.i32)
            i = t // ncol * nitem + box_item[t % ncol]
            x = item_boxlo[3 * i + axis]
            extent += (item_boxhi[3 * i + axis] - x) / n
            k = s
            while k > 0 and sweep_sample[NSAMPLE * axis + k - 1] > x:
                sweep_sample[NSAMPLE * axis + k] = sweep_sample[NSAMPLE * axis + k - 1]
                k -= 1
            sweep_sample[NSAMPLE * axis + k] = x
        at = NSAMPLE * axis
        sweep_scale[axis] = sweep_sample[at + n // 2]
        sweep_scale[3 + axis] = sweep_sample[at + ti.max(0, n - 1 - n // 10)] - sweep_sample[at + n // 10]
        sweep_scale[6 + axis] = extent
    ti.loop_config(serialize=True)
    for _ in range(1):
        a = 0
        for k in range(1, 3):
            if sweep_scale[3 + k] > sweep_scale[3 + a]:
                a = k
        b = (a + 1) % 3
        if sweep_scale[3 + (a + 2) % 3] > sweep_scale[3 + b]:
            b = (a + 2) % 3
        sweep_axis[0] = a
        sweep_axis[1] = b
        sweep_scale[9] = sweep_scale[a]
        sweep_scale[10] = 1.0 / ti.max(sweep_scale[3 + a], 4.0 * sweep_scale[6 + a], 1e-6)
        c = 3 - a - b
        sweep_scale[11] = 1.0 / ti.max(2.0 * sweep_scale[6 + b], 1e-6)  # strips of twice the mean extent
        sweep_scale[12] = 0.0  # the third axis is divided too where there is enough of it
        if sweep_scale[3 + c] > 3.0 * sweep_scale[6 + c]:
            sweep_scale[12] = 1.0 / ti.max(2.0 * sweep_scale[6 + c], 1e-6)
        sweep_scale[SKIN] = skin * (sweep_scale[6] + sweep_scale[7] + sweep_scale[8]) / 3.0


@kernel
def enter_items(
    nworld: ti.i32, nitem: ti.i32, ncol: ti.i32, npair: ti.i32, npairmax: ti.i32, nstripbit: ti.i32, nrowbit: ti.i32,
    nlevelbit: ti.i32, box_item: I, item_fatlo: F, item_fathi: F, sweep_axis: I, sweep_scale: F, counts: I,
    sort_key: I, sort_value: I,
):  # fmt: skip
    """An entry of the sweep for each strip that an enlarged box touches, parallel over items. The first ncol of the
    items are entered.
    """
    ti.loop_config(serialize=True)
    for _ in range(1):
        counts[NPAIR] = nworld * npair
        counts[NENTRY] = 0
        counts[NMID] = 0
    # entries: the sort that follows forgets their order
    nstrip = 1 << nstripbit
    nrow = 1 << nrowbit
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(nworld * ncol):
        w = t // ncol
        i = w * nitem + box_item[t % ncol]
        low = squash(item_fatlo[3 * i + sweep_axis[0]], sweep_scale, 1 << nlevelbit)
        ay = sweep_axis[1]
        az = 3 - sweep_axis[0] - ay
        first = strip_of(item_fatlo[3 * i + ay], sweep_scale[11])
        touched = ti.max(1, ti.min(nstrip, strip_of(item_fathi[3 * i + ay], sweep_scale[11]) - first + 1))
        row = strip_of(item_fatlo[3 * i + az], sweep_scale[12])
        rows = ti.max(1, ti.min(nrow, strip_of(item_fathi[3 * i + az], sweep_scale[12]) - row + 1))
        at = ti.atomic_add(counts[NENTRY], touched * rows)
        for k in range(touched * rows):
            if at + k < npairmax:
                strip = (first + k % touched) & (nstrip - 1)
                cell = (((w << nstripbit) | strip) << nrowbit) | ((row + k // touched) & (nrow - 1))
                sort_key[at + k] = (cell << nlevelbit) | low
                sort_value[at + k] = i


@kernel
def sort_entries(
    npairmax: ti.i32, entrybits: ti.i32, digit: ti.i32, counts: I, sort_key: I, sort_value: I, sort_count: I
):  # fmt: skip
    """Sorts the entries by strip and place, by one thread (a GPU: kernels/sort.py, radix_pass)."""
    n = ti.min(counts[NENTRY], npairmax)
    ti.loop_config(serialize=True)
    for _ in range(1):
        sort_all(n, npairmax, entrybits, digit, 0, sort_key, sort_value, sort_count)


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


@ti.func
def may_collide(
    g1, g2, filterparent, nexclude, nlisted, geom_filter: ti.template(), exclude_body1: ti.template(),
    exclude_body2: ti.template(), listed_geom1: ti.template(), listed_geom2: ti.template(),
):  # fmt: skip
    """The filters for pairs that the model does not list: seed 000, "Selection". Sleep will refuse pairs here.

    geom_filter  of each geom: body, the body it is welded to, that of its parent, contype, conaffinity, ...
    """
    w1 = geom_filter[8 * g1 + 1]
    w2 = geom_filter[8 * g2 + 1]
    ok = w1 != w2
    if ok and filterparent and w1 != 0 and w2 != 0:
        ok = w1 != geom_filter[8 * g2 + 2] and w2 != geom_filter[8 * g1 + 2]
    if ok:
        meets = geom_filter[8 * g1 + 3] & geom_filter[8 * g2 + 4]
        ok = (meets | (geom_filter[8 * g2 + 3] & geom_filter[8 * g1 + 4])) != 0
    if ok and nexclude > 0:
        b1 = geom_filter[8 * g1]
        b2 = geom_filter[8 * g2]
        ok = not is_listed(ti.min(b1, b2), ti.max(b1, b2), exclude_body1, exclude_body2, nexclude)
    if ok and nlisted > 0:
        ok = not is_listed(ti.min(g1, g2), ti.max(g1, g2), listed_geom1, listed_geom2, nlisted)
    return ok


@ti.func
def put_candidate(
    at, w, ga, gb, ngeom, npairmax, geom_type: ti.template(), cand_geom1: ti.template(), cand_geom2: ti.template(),
    cand_listed: ti.template(),
):  # fmt: skip
    """Writes a pair that the model does not list, lower type first; geom1 carries the world."""
    g1 = ga
    g2 = gb
    if geom_type[ga] > geom_type[gb] or (geom_type[ga] == geom_type[gb] and ga > gb):
        g1 = gb
        g2 = ga
    if at < npairmax:
        cand_geom1[at] = w * ngeom + g1
        cand_geom2[at] = g2
        cand_listed[at] = -1


@ti.func
def passes(
    i, j, g1, g2, filterparent, nexclude, nlisted, override, o_margin, item_ball: ti.template(),
    geom_reach: ti.template(), geom_margin: ti.template(), geom_filter: ti.template(), exclude_body1: ti.template(),
    exclude_body2: ti.template(), listed_geom1: ti.template(), listed_geom2: ti.template(),
):  # fmt: skip
    """Whether the bounding spheres of geoms g1 and g2, items i and j, whose boxes meet, may do so too on their ways,
    and no filter refuses.
    """
    margin = ti.max(geom_margin[g1], geom_margin[g2])
    if override:
        margin = o_margin
    margin += item_ball[4 * i + 3] + item_ball[4 * j + 3]
    yes = spheres_meet(ball_at(i, item_ball), ball_at(j, item_ball), g1, g2, margin, geom_reach)
    if yes:  # not "and": Taichi runs a function on the right of it in any case
        yes = may_collide(
            g1, g2, filterparent, nexclude, nlisted, geom_filter, exclude_body1, exclude_body2, listed_geom1,
            listed_geom2,
        )  # fmt: skip
    return yes


@kernel
def search_pairs(
    nworld: ti.i32, ngeom: ti.i32, nitem: ti.i32, nbox: ti.i32, nplane: ti.i32, npair: ti.i32, nlisted: ti.i32,
    nexclude: ti.i32, npairmax: ti.i32, entryhalf: ti.i32, nstripbit: ti.i32, nrowbit: ti.i32, nlevelbit: ti.i32,
    filterparent: ti.i32, override: ti.i32, o_margin: FP, box_item: I, plane_geom: I, sort_key: I, sort_value: I,
    item_fatlo: F, item_fathi: F, item_ball: F, sweep_axis: I, sweep_scale: F, geom_xpos: F, geom_xmat: F,
    geom_reach: F, geom_margin: F, geom_type: I, geom_filter: I, exclude_body1: I, exclude_body2: I, listed_geom1: I,
    listed_geom2: I, pair_geom1: I, pair_geom2: I, entry_box: F, entry_cell: I, sweep_found: I, counts: I,
    cand_geom1: I, cand_geom2: I, cand_listed: I, mid_item1: I, mid_item2: I,
):  # fmt: skip
    """Candidate pairs of the sweep, parallel over chunks of entries; with planes, parallel over geoms; the model's own
    list. Pairs with a body of many geoms are noted in mid_item1, mid_item2 and left to midphase.py.
    """
    n = ti.min(counts[NENTRY], npairmax)
    ax = sweep_axis[0]
    ay = sweep_axis[1]
    az = 3 - ax - ay
    start = entryhalf * npairmax
    nstrip = 1 << nstripbit
    nrow = 1 << nrowbit
    # boxes in the order of the sweep: low and high along its axis, the strips' axis, the rows'; first strip and row
    ti.loop_config(serialize=SERIAL or SHORT)
    for e in range(n):
        i = sort_value[start + e]
        entry_box[6 * e] = item_fatlo[3 * i + ax]
        entry_box[6 * e + 1] = item_fathi[3 * i + ax]
        entry_box[6 * e + 2] = item_fatlo[3 * i + ay]
        entry_box[6 * e + 3] = item_fathi[3 * i + ay]
        entry_box[6 * e + 4] = item_fatlo[3 * i + az]
        entry_box[6 * e + 5] = item_fathi[3 * i + az]
        entry_cell[2 * e] = strip_of(item_fatlo[3 * i + ay], sweep_scale[11])
        entry_cell[2 * e + 1] = strip_of(item_fatlo[3 * i + az], sweep_scale[12])
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
            key = sort_key[start + e]
            strip = (key >> (nlevelbit + nrowbit)) & (nstrip - 1)
            row = (key >> nlevelbit) & (nrow - 1)
            xlo = entry_box[6 * e]
            xhi = entry_box[6 * e + 1]
            ylo = entry_box[6 * e + 2]
            yhi = entry_box[6 * e + 3]
            zlo = entry_box[6 * e + 4]
            zhi = entry_box[6 * e + 5]
            ycell = entry_cell[2 * e]
            zcell = entry_cell[2 * e + 1]
            last = ((key >> nlevelbit) << nlevelbit) | squash(xhi, sweep_scale, 1 << nlevelbit)
            while f < n and nfound < FOUND and sort_key[start + f] <= last:
                # no branches, which nobody could predict: what does not count is overwritten by the next
                hit = (entry_box[6 * f + 4] <= zhi) & (zlo <= entry_box[6 * f + 5])
                hit &= (entry_box[6 * f + 2] <= yhi) & (ylo <= entry_box[6 * f + 3])
                hit &= (entry_box[6 * f] <= xhi) & (xlo <= entry_box[6 * f + 1])
                hit &= (ti.max(ycell, entry_cell[2 * f]) & (nstrip - 1)) == strip
                hit &= (ti.max(zcell, entry_cell[2 * f + 1]) & (nrow - 1)) == row
                sweep_found[found + 2 * nfound] = e
                sweep_found[found + 2 * nfound + 1] = f
                nfound += ti.cast(hit, ti.i32)
                f += 1
            if nfound < FOUND:
                e += 1
                f = e + 1
            if nfound == FOUND or e == end:
                kept = 0
                for k in range(nfound):
                    i = sort_value[start + sweep_found[found + 2 * k]]
                    j = sort_value[start + sweep_found[found + 2 * k + 1]]
                    w = i // nitem
                    g1 = i - w * nitem
                    g2 = j - w * nitem
                    if g1 >= ngeom or g2 >= ngeom:
                        at = ti.atomic_add(counts[NMID], 1)
                        if at < npairmax:
                            mid_item1[at] = i
                            mid_item2[at] = j
                    elif passes(
                        i, j, g1, g2, filterparent, nexclude, nlisted, override, o_margin, item_ball, geom_reach,
                        geom_margin, geom_filter, exclude_body1, exclude_body2, listed_geom1, listed_geom2,
                    ):  # fmt: skip
                        sweep_found[found + 2 * kept] = i
                        sweep_found[found + 2 * kept + 1] = j
                        kept += 1
                at = ti.atomic_add(counts[NPAIR], kept)
                for k in range(kept):
                    i = sweep_found[found + 2 * k]
                    w = i // nitem
                    put_candidate(
                        at + k, w, i - w * nitem, sweep_found[found + 2 * k + 1] - w * nitem, ngeom, npairmax,
                        geom_type, cand_geom1, cand_geom2, cand_listed,
                    )  # fmt: skip
                nfound = 0
    # planes are unbounded: every geom against each
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(nworld * nbox):
        w = t // nbox
        g = box_item[t % nbox]
        for k in range(ti.select(g < ngeom, nplane, 0)):
            p = plane_geom[k]
            margin = ti.max(geom_margin[g], geom_margin[p])
            if override:
                margin = o_margin
            i = w * nitem + g
            if not above_plane(
                w * ngeom + p, ball_at(i, item_ball), g, margin + item_ball[4 * i + 3], geom_xpos, geom_xmat,
                geom_reach,
            ):  # fmt: skip
                if may_collide(
                    p, g, filterparent, nexclude, nlisted, geom_filter, exclude_body1, exclude_body2, listed_geom1,
                    listed_geom2,
                ):  # fmt: skip
                    at = ti.atomic_add(counts[NPAIR], 1)
                    put_candidate(at, w, p, g, ngeom, npairmax, geom_type, cand_geom1, cand_geom2, cand_listed)
    # pairs of the model come first and pass no filter
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(nworld * npair):
        w = t // npair
        k = t % npair
        g1 = pair_geom1[k]
        g2 = pair_geom2[k]
        if geom_type[g1] > geom_type[g2]:
            g1 = pair_geom2[k]
            g2 = pair_geom1[k]
        if t < npairmax:
            cand_geom1[t] = w * ngeom + g1
            cand_geom2[t] = g2
            cand_listed[t] = k


@kernel
def sort_pairs(
    npairmax: ti.i32, geombits: ti.i32, worldgeombits: ti.i32, digit: ti.i32, cand_geom1: I, cand_geom2: I, counts: I,
    sort_key: I, sort_value: I, sort_count: I,
):  # fmt: skip
    """Order of the candidates by (world, geom1, geom2), by one thread (a GPU: kernels/sort.py, radix_pass)."""
    n = ti.min(counts[NPAIR], npairmax)
    ti.loop_config(serialize=True)
    for _ in range(1):
        for p in range(n):
            sort_key[p] = cand_geom2[p]
            sort_value[p] = p
        half = sort_all(n, npairmax, geombits, digit, 0, sort_key, sort_value, sort_count)
        for p in range(half * npairmax, half * npairmax + n):
            sort_key[p] = cand_geom1[sort_value[p]]
        sort_all(n, npairmax, worldgeombits, digit, half, sort_key, sort_value, sort_count)


@kernel
def key_by_geom2(npairmax: ti.i32, counts: I, cand_geom2: I, sort_key: I, sort_value: I):
    """Keys of the first half of the pair sort, parallel over pairs."""
    n = ti.min(counts[NPAIR], npairmax)
    ti.loop_config(serialize=SERIAL)
    for p in range(n):
        sort_key[p] = cand_geom2[p]
        sort_value[p] = p


@kernel
def key_by_geom1(npairmax: ti.i32, half: ti.i32, counts: I, cand_geom1: I, sort_value: I, sort_key: I):
    """Keys of the second half of the pair sort, parallel over pairs."""
    n = ti.min(counts[NPAIR], npairmax)
    ti.loop_config(serialize=SERIAL)
    for p in range(n):
        sort_key[half * npairmax + p] = cand_geom1[sort_value[half * npairmax + p]]


@kernel
def order_pairs(
    ngeom: ti.i32, npairmax: ti.i32, pairhalf: ti.i32, sort_value: I, cand_geom1: I, cand_geom2: I, cand_listed: I,
    geom_type: I, geom_margin: F, pair_margin: F, override: ti.i32, o_margin: FP, type_kind: I, counts: I,
    cpair_geom1: I, cpair_geom2: I, cpair_listed: I, cpair_kind: I, cpair_margin: F,
    cpair_ncon: I, cpair_bin: I, bin_adr: I,
):  # fmt: skip
    """Sorted pairs with their margins and lists of them by collider; parallel over pairs."""
    n = ti.min(counts[NPAIR], npairmax)
    ti.loop_config(serialize=True)
    for k in range(NKIND + 1):
        bin_adr[k] = 0
    ti.loop_config(serialize=SERIAL or SHORT)
    for p in range(n):
        c = sort_value[pairhalf * npairmax + p]
        i = cand_geom1[c]
        g1 = i % ngeom
        g2 = cand_geom2[c]
        listed = cand_listed[c]
        kind = type_kind[NTYPE * geom_type[g1] + geom_type[g2]]
        margin = ti.max(geom_margin[g1], geom_margin[g2])
        if listed >= 0:
            margin = pair_margin[listed]
        if override:
            margin = o_margin
        cpair_geom1[p] = i
        cpair_geom2[p] = g2
        cpair_listed[p] = listed
        cpair_kind[p] = kind
        cpair_margin[p] = margin
        cpair_ncon[p] = 0
        if kind >= 0:
            ti.atomic_add(bin_adr[kind], 1)
    ti.loop_config(serialize=True)
    for _ in range(1):
        at = 0
        for k in range(NKIND + 1):
            x = bin_adr[k]
            bin_adr[k] = at
            bin_adr[CURSOR + k] = at
            at += x
    # the order inside a bin does not show: results go to the pair's own slots
    ti.loop_config(serialize=SERIAL or SHORT)
    for p in range(n):
        if cpair_kind[p] >= 0:
            cpair_bin[ti.atomic_add(bin_adr[CURSOR + cpair_kind[p]], 1)] = p
