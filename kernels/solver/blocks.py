"""Loops over blocks of work, and their sums.

Where all threads share an island its trees, contacts and rows are cut into fixed blocks (constraint/island.py). A sum
goes over the items of a block, then over groups of blocks, then over those of an island, always in the same order,
however many threads there are.
"""

from ..types import FP, func, ti, vec2

COLUMNS = 4  # of the sums of trees; those of contacts and rows have three


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


@func
def groups_of(m, d, n):
    """Groups of d.groupsize neighbouring blocks."""
    return (n + d.groupsize - 1) // d.groupsize


@func
def group_count(m, d):
    """Groups of blocks of trees, of contacts and of rows."""
    return groups_of(m, d, d.ntblk) + groups_of(m, d, d.ncblk) + groups_of(m, d, d.nrblk)


@func
def add_blocks(m, d, unit):
    """Sums over a group of those of trees, of contacts and of rows, whichever islands its blocks are of; those that lie
    within one island are asked for. unit  COLUMNS times the group, plus the column that is added up."""
    s = unit // COLUMNS
    trees = groups_of(m, d, d.ntblk)
    cons = groups_of(m, d, d.ncblk)
    for col in ti.static(range(COLUMNS)):
        if unit % COLUMNS == col:
            if s < trees:
                add_group(s, d.groupsize, d.ntblk, col, d.tblk_sum, d.tblk_group)
            elif ti.static(col < 3):
                if s < trees + cons:
                    add_group(s - trees, d.groupsize, d.ncblk, col, d.cblk_sum, d.cblk_group)
                elif ti.static(m.has.rows):
                    add_group(s - trees - cons, d.groupsize, d.nrblk, col, d.rblk_sum, d.rblk_group)


@ti.func
def add_group(s, size, n, col: ti.template(), sums: ti.template(), groups: ti.template()):
    total = FP(0.0)
    for b in range(s * size, ti.min((s + 1) * size, n)):
        total += sums[b][col]
    groups[s][col] = total


@func
def add_tree_blocks(m, d, s, col: ti.template()):
    """The same over two columns of group s of trees, from this one on."""
    total = vec2(0.0)
    for b in range(s * d.groupsize, ti.min((s + 1) * d.groupsize, d.ntblk)):
        total += vec2(d.tblk_sum[b][col], d.tblk_sum[b][col + 1])
    d.tblk_group[s][col] = total[0]
    d.tblk_group[s][col + 1] = total[1]


@ti.func
def block_sum(size, first, last, col: ti.template(), sums: ti.template(), groups: ti.template()):
    """Sum of a column over blocks, in order: those before the first whole group, whole groups, and the rest."""
    s = FP(0.0)
    begin = ti.min((first + size - 1) // size * size, last)
    end = ti.max(last // size * size, begin)
    for b in range(first, begin):
        s += sums[b][col]
    for g in range(begin // size, end // size):
        s += groups[g][col]
    for b in range(end, last):
        s += sums[b][col]
    return s


@func
def tree_sum(m, d, k, col: ti.template()):
    """Sum of a column over the trees of island k."""
    return block_sum(d.groupsize, d.island_tblkadr[k], d.island_tblkend[k], col, d.tblk_sum, d.tblk_group)


@func
def item_sum(m, d, k, col: ti.template()):
    """The same over its contacts and rows."""
    s = block_sum(d.groupsize, d.island_cblkadr[k], d.island_cblkend[k], col, d.cblk_sum, d.cblk_group)
    if ti.static(m.has.rows):
        s += block_sum(d.groupsize, d.island_rblkadr[k], d.island_rblkend[k], col, d.rblk_sum, d.rblk_group)
    return s
