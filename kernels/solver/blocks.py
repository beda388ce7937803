"""Loops over blocks of work, and their sums.

Where all threads share an island its trees, contacts and rows are cut into fixed blocks (constraint/island.py). A sum
goes over the items of a block, then over groups of blocks, then over those of an island, always in the same order,
however many threads there are.
"""

from ..types import FP, func, store, ti, vec2, vec3, vec4

GROUP = 64  # blocks that one thread adds up, for islands of many blocks


@func
def each(m, d, units: ti.template(), serial: ti.template(), spread: ti.template(), act: ti.template()):
    """The one form of a loop over blocks: act(m, d, b) for every block b, on all threads. In a kernel:

        trees, contacts = d.ntblk * SPREAD, d.ncblk * SPREAD
        each(m, d, trees, SERIAL, SPREAD, act_on_tree_block)
        each(m, d, contacts, SERIAL, SPREAD, act_on_contact_block)

    units   SPREAD times the blocks: a block is one thread's, the other units are idle, see `Kernel.special`. All are
            counted at the top of the kernel, since what stands between two loops is a task of its own.
    serial, spread  SERIAL and SPREAD, which have the variant's values in the kernel only.

    Taichi makes a loop parallel that stands at the outermost level of a kernel or of a function called from there.
    """
    ti.loop_config(serialize=serial)
    for unit in range(units):
        if unit % spread == 0:
            act(m, d, unit // spread)


@ti.func
def groups_of(n):
    return (n + GROUP - 1) // GROUP


@func
def group_count(m, d):
    """Groups of neighbouring blocks: of trees, of contacts, of rows."""
    return groups_of(d.ntblk) + groups_of(d.ncblk) + groups_of(d.nrblk)


@func
def add_blocks(m, d, s):
    """Sums over group s, whichever islands its blocks are of; those that lie within one island are asked for."""
    trees = groups_of(d.ntblk)
    cons = groups_of(d.ncblk)
    if s < trees:
        add_group(s, d.ntblk, vec4(0.0), d.tblk_sum, d.tblk_group)
    elif s < trees + cons:
        add_group(s - trees, d.ncblk, vec3(0.0), d.cblk_sum, d.cblk_group)
    elif ti.static(m.has.rows):
        add_group(s - trees - cons, d.nrblk, vec3(0.0), d.rblk_sum, d.rblk_group)


@ti.func
def add_group(s, n, zero, sums: ti.template(), groups: ti.template()):
    total = zero
    for b in range(s * GROUP, ti.min((s + 1) * GROUP, n)):
        total += sums[b]
    groups[s] = total


@func
def add_tree_blocks(m, d, s):
    """The same over the first two columns of group s of trees."""
    total = vec2(0.0)
    for b in range(s * GROUP, ti.min((s + 1) * GROUP, d.ntblk)):
        total += vec2(d.tblk_sum[b][0], d.tblk_sum[b][1])
    store(d.tblk_group, s, total)


@ti.func
def block_sum(first, last, col: ti.template(), sums: ti.template(), groups: ti.template()):
    """Sum of a column over blocks, in order: those before the first whole group, whole groups, and the rest."""
    s = FP(0.0)
    begin = ti.min((first + GROUP - 1) // GROUP * GROUP, last)
    end = ti.max(last // GROUP * GROUP, begin)
    for b in range(first, begin):
        s += sums[b][col]
    for g in range(begin // GROUP, end // GROUP):
        s += groups[g][col]
    for b in range(end, last):
        s += sums[b][col]
    return s


@func
def tree_sum(m, d, k, col: ti.template()):
    """Sum of a column over the trees of island k."""
    return block_sum(d.island_tblkadr[k], d.island_tblkend[k], col, d.tblk_sum, d.tblk_group)


@func
def item_sum(m, d, k, col: ti.template()):
    """The same over its contacts and rows."""
    s = block_sum(d.island_cblkadr[k], d.island_cblkend[k], col, d.cblk_sum, d.cblk_group)
    if ti.static(m.has.rows):
        s += block_sum(d.island_rblkadr[k], d.island_rblkend[k], col, d.rblk_sum, d.rblk_group)
    return s
