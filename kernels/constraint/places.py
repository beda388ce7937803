"""Where the rows and entries of each thing that may have some lie: behind those of the things before it."""

from ..types import GPU, func, ti

LENGTH, MOST_BLOCKS = 64, 16384  # things in the work of one of a GPU's threads at least, and how many such blocks
ENTRIES = 2 * MOST_BLOCKS  # where sums of entries begin in d.part_sum, behind those of rows

ivec2 = ti.types.vector(2, ti.i32)


@func
def place_rows(m, d, total, serial: ti.template(), need: ti.template(), first: ti.template(), adr: ti.template()):
    """first[k], adr[k]: first row (-1: none) and first entry of each of `total` things.

    need(m, d, place)  (k, how many rows it has, how many entries each of these) of the thing at a place of their list;
    serial  SERIAL, of the kernel.

    By one thread; on a GPU by all, in three levels of sums: d.part_sum has those of blocks of places, then of stretches
    of blocks, then what was there before.
    """
    if ti.static(GPU):
        length = ti.max(LENGTH, total // MOST_BLOCKS + 1)
        blocks = (total + length - 1) // length
        stretches = (blocks + LENGTH - 1) // LENGTH
        ti.loop_config(serialize=serial)
        for b in range(blocks):
            sums = ivec2(0, 0)
            for place in range(b * length, ti.min((b + 1) * length, total)):
                _, n, num = need(m, d, place)
                sums += ivec2(n, n * num)
            keep(d, b, sums)
        ti.loop_config(serialize=serial)
        for s in range(stretches + 1):
            sums = ivec2(d.nrow, d.nJ)
            if s < stretches:
                sums = sums_between(d, s * LENGTH, ti.min((s + 1) * LENGTH, blocks))
            keep(d, blocks + s, sums)
        ti.loop_config(serialize=serial)
        for b in range(blocks):
            s = b // LENGTH
            begin = sums_between(d, blocks, blocks + s) + sums_between(d, s * LENGTH, b)
            begin += sums_between(d, blocks + stretches, blocks + stretches + 1)
            end = place_block(m, d, ivec2(b * length, ti.min((b + 1) * length, total)), begin, need, first, adr)
            if b == blocks - 1:
                d.nrow = end[0]
                d.nJ = end[1]
    else:
        ti.loop_config(serialize=True)
        for _ in range(1):
            end = place_block(m, d, ivec2(0, total), ivec2(d.nrow, d.nJ), need, first, adr)
            d.nrow = end[0]
            d.nJ = end[1]


@func
def place_block(m, d, places, begin, need: ti.template(), first: ti.template(), adr: ti.template()):
    """The same of the things at places from the first to before the second, from a row and an entry on; returns those
    behind."""
    at = begin
    for place in range(places[0], places[1]):
        k, n, num = need(m, d, place)
        first[k] = ti.select(n > 0, at[0], -1)
        adr[k] = at[1]
        at += ivec2(n, n * num)
    return at


@func
def keep(d, b, sums):
    d.part_sum[b] = sums[0]
    d.part_sum[ENTRIES + b] = sums[1]


@func
def sums_between(d, begin, end):
    """Sum of these from one place to before another."""
    sums = ivec2(0, 0)
    for b in range(begin, end):
        sums += ivec2(d.part_sum[b], d.part_sum[ENTRIES + b])
    return sums
