"""Loops over blocks of work, and their sums.

Where all threads share an island its trees, contacts and rows are cut into fixed blocks (constraint/island.py). A sum
goes over the items of a block, then over the blocks of an island, always in the same order, however many threads there
are.
"""

from ..types import FP, func, ti


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
def block_sum(first, last, col: ti.template(), sums: ti.template()):
    """Sum of a column over blocks, in order."""
    s = FP(0.0)
    for b in range(first, last):
        s += sums[b][col]
    return s


@func
def count_islands(m, d, flag: ti.template()):
    """Number of large islands whose flag is 1."""
    s = 0
    for n in range(d.nlarge):
        s += flag[d.island_large[n]]
    return s
