"""Loops over blocks of work, and their sums.

Where all threads share an island its trees, contacts and rows are cut into fixed blocks (constraint/island.py). A sum
goes over the blocks of a group, over the groups of a stretch, and over an island's stretches, always in the same order,
however many threads there are: three short walks, where one over all would be what all others wait for. Groups are
those of an island. Conjugate gradients have only two walks between their tasks, with groups of d.groupsize.
"""

from ..types import FP, func, ti, vec2

GROUP = 64  # blocks of a group, and groups of a stretch


@func
def each(m, d, units: ti.template(), serial: ti.template(), spread: ti.template(), act: ti.template()):
    """The one form of a loop over blocks: act(m, d, b) for every block b, on all threads. In a kernel:

        trees, items = d.ntreeblk * SPREAD, d.nitemblk * SPREAD
        each(m, d, trees, SERIAL, SPREAD, act_on_tree_block)
        each(m, d, items, SERIAL, SPREAD, act_on_block)

    units   SPREAD times the blocks: a block is one thread's, the other units are idle, see `Kernel.special`. All are
            named at the top of the kernel, since what stands between two loops is a task of its own.
    serial, spread  SERIAL and SPREAD, which have the variant's values in the kernel only.

    Taichi makes a loop parallel that stands at the outermost level of a kernel or of a function called from there.
    """
    ti.loop_config(serialize=serial)
    for unit in range(units):
        if unit % spread == 0:
            act(m, d, unit // spread)


@ti.func
def first_group(adr, size, place):
    """Where the groups of an island lie whose blocks begin at adr, the place-th of the large ones: behind those of the
    islands before it, which end with groups that are not full, and below the number of all blocks."""
    return (adr + (size - 1) * place) // size


@ti.func
def add_group(b, adr, end, size, place, begin: ti.template(), number: ti.template(), sums: ti.template(),
              groups: ti.template()):  # fmt: skip
    """Sums over a group of `number` columns of `sums` from `begin` on, the part of the thread at block b of those from
    adr to end of an island: the first of a group adds up the first column, the second the next."""
    nth = (b - adr) % size
    first = b - nth
    n = ti.min(size, end - first)
    for c in ti.static(range(number)):
        if nth == c % n:
            total = FP(0.0)
            for i in range(first, first + n):
                total += sums[i][begin + c]
            groups[first_group(adr, size, place) + (first - adr) // size][begin + c] = total


@ti.func
def add_stretch(b, adr, end, place, number: ti.template(), sums: ti.template(), groups: ti.template()):
    """The same over the groups of a stretch; into the first of the island's `sums`, which nobody reads any more."""
    size = ti.static(GROUP * GROUP)
    nth = (b - adr) % size
    first = b - nth
    n = ti.min(size, end - first)
    for c in ti.static(range(number)):
        if nth == c % n:
            group = first_group(adr, GROUP, place) + (first - adr) // GROUP
            total = FP(0.0)
            for i in range(group, group + (n + GROUP - 1) // GROUP):
                total += groups[i][c]
            sums[adr + (first - adr) // size][c] = total


@func
def add_blocks(m, d, b, due: ti.template(), trees: ti.template(), items: ti.template(), stretches: ti.template()):
    """Sums over groups, or over stretches of them, of so many columns of trees and of contacts and rows; the part of
    the thread at block b of trees, contacts and rows. Of islands whose phase is `due`."""
    cons = b - d.ntblk
    if b < d.ntblk:
        if ti.static(trees > 0):
            k = d.tblk_island[b]
            if d.isl_phase[k] == due:
                adr, end, place = d.island_tblkadr[k], d.island_tblkend[k], d.island_shared[k] - 1
                if ti.static(stretches):
                    add_stretch(b, adr, end, place, trees, d.tblk_sum, d.tblk_group)
                else:
                    add_group(b, adr, end, GROUP, place, 0, trees, d.tblk_sum, d.tblk_group)
    elif cons < d.ncblk:
        k = d.cblk_island[cons]
        if d.isl_phase[k] == due:
            adr, end, place = d.island_cblkadr[k], d.island_cblkend[k], d.island_shared[k] - 1
            if ti.static(stretches):
                add_stretch(cons, adr, end, place, items, d.cblk_sum, d.cblk_group)
            else:
                add_group(cons, adr, end, GROUP, place, 0, items, d.cblk_sum, d.cblk_group)
    elif ti.static(m.has.rows):
        row = cons - d.ncblk
        k = d.rblk_island[row]
        if d.isl_phase[k] == due:
            adr, end, place = d.island_rblkadr[k], d.island_rblkend[k], d.island_shared[k] - 1
            if ti.static(stretches):
                add_stretch(row, adr, end, place, items, d.rblk_sum, d.rblk_group)
            else:
                add_group(row, adr, end, GROUP, place, 0, items, d.rblk_sum, d.rblk_group)


@ti.func
def sum_of_stretches(adr, end, col: ti.template(), sums: ti.template()):
    """Sum of a column over blocks from adr to end, behind `add_blocks`."""
    s = FP(0.0)
    for i in range(adr, adr + (end - adr + GROUP * GROUP - 1) // (GROUP * GROUP)):
        s += sums[i][col]
    return s


@func
def tree_sum(m, d, k, col: ti.template()):
    """Sum of a column over the trees of island k."""
    return sum_of_stretches(d.island_tblkadr[k], d.island_tblkend[k], col, d.tblk_sum)


@func
def item_sum(m, d, k, col: ti.template()):
    """The same over its contacts and rows."""
    s = sum_of_stretches(d.island_cblkadr[k], d.island_cblkend[k], col, d.cblk_sum)
    if ti.static(m.has.rows):
        s += sum_of_stretches(d.island_rblkadr[k], d.island_rblkend[k], col, d.rblk_sum)
    return s


@func
def add_tree_blocks(m, d, b, col: ti.template()):
    """Sums over groups of d.groupsize of two columns from this one on; the part of the thread at block b of trees."""
    k = d.tblk_island[b]
    adr, end, place = d.island_tblkadr[k], d.island_tblkend[k], d.island_shared[k] - 1
    add_group(b, adr, end, d.groupsize, place, col, 2, d.tblk_sum, d.tblk_group)


@func
def two_tree_sums(m, d, k, col: ti.template()):
    """Sums of these columns over the trees of island k."""
    adr, size = d.island_tblkadr[k], d.groupsize
    group = first_group(adr, size, d.island_shared[k] - 1)
    s = vec2(0.0)
    for i in range(group, group + (d.island_tblkend[k] - adr + size - 1) // size):
        s += vec2(d.tblk_group[i][col], d.tblk_group[i][col + 1])
    return s
