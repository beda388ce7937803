"""Exclusive scans and a stable radix sort, equal for any number of threads.

Both split their items into blocks whose number depends on sizes only; every block is worked through in order by one
thread. Written here because Taichi's own scan raises on the CPU and its own sort is unstable.
"""

from tisim.kernels.types import *

from .constants import SCAN_BLOCK

MOST_BLOCKS = 4096  # of a scan on a GPU


@ti.func
def sum_between(a: ti.template(), first, last):
    total = 0
    for i in range(first, last):
        total += a[i]
    return total


@ti.func
def scan_between(a: ti.template(), first, last, start):
    """Replaces items of a by the sums of all before each, the first being start."""
    total = start
    for i in range(first, last):
        x = a[i]
        a[i] = total
        total += x


@ti.func
def sum_of_block(a: ti.template(), b, n):
    return sum_between(a, b * SCAN_BLOCK, ti.min((b + 1) * SCAN_BLOCK, n))


@ti.func
def scan_block(a: ti.template(), b, n, start):
    """Scans block b of a, whose first item becomes start."""
    scan_between(a, b * SCAN_BLOCK, ti.min((b + 1) * SCAN_BLOCK, n), start)


@ti.func
def scan_sums(scan_sum: ti.template(), nblock):
    """Exclusive scan by one thread; returns the total."""
    total = 0
    for b in range(nblock):
        x = scan_sum[b]
        scan_sum[b] = total
        total += x
    return total


@ti.func
def scan_length(n):
    """Items of a block in a scan by all threads: about the root of their number, since one thread works through the
    items of its block, and through the sums of those before it."""
    doublings = 0
    for k in ti.static(range(10)):  # no loop: a GPU's threads each compute it
        doublings = doublings + ti.cast(n > (SCAN_BLOCK << k) * (SCAN_BLOCK << k), ti.i32)
    return SCAN_BLOCK << doublings


@ti.func
def block_length(n, weight: ti.template()):
    """The same on a GPU, where a thread takes `weight` times as long for an item as for a sum."""
    doublings = 0
    for k in ti.static(range(10)):
        doublings = doublings + ti.cast(n > (8 << k) * (8 << k) * weight, ti.i32)
    return ti.max(8 << doublings, n // MOST_BLOCKS + 1)


@ti.func
def start_of(sums: ti.template(), s):
    """Sum of all blocks before block s."""
    total = 0
    for b in range(s):
        total += sums[b]
    return total


@ti.func
def first_from(a: ti.template(), first, step, n, value):
    """The first k of n, n if there is none, whose a[first + step * k] is `value` or more; these rise with k."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if a[first + step * middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@ti.func
def count_digits(b, how, key: ti.template(), count: ti.template()):
    """How many keys of each digit block b has, digit-major; `how` is made by `pass_of`."""
    nblock, nbin = how[1], 1 << how[5]
    for k in range(nbin):
        count[k * nblock + b] = 0
    for i in range(b * how[2], ti.min((b + 1) * how[2], how[0])):
        k = (key[how[3] + i] >> how[4] & nbin - 1) * nblock + b
        count[k] = count[k] + 1


@ti.func
def move_block(b, how, dst, key: ti.template(), value: ti.template(), count: ti.template()):
    """Moves the items of block b, in the half at how[3], to the places from dst on that the scanned counts give."""
    nblock, nbin = how[1], 1 << how[5]
    for i in range(b * how[2], ti.min((b + 1) * how[2], how[0])):
        x = key[how[3] + i]
        k = ((x >> how[4]) & (nbin - 1)) * nblock + b
        to = dst + count[k]
        count[k] = count[k] + 1
        key[to] = x
        value[to] = value[how[3] + i]


@ti.func
def pass_of(n, nblock, src, shift, nbit):
    """A pass over n items in nblock blocks, from src on, by nbit bits of their keys from `shift` on."""
    return ti.Vector([n, nblock, (n + nblock - 1) // nblock, src, shift, nbit])


@func
def sort_all(m, d, n, nbits, first_half):
    """Radix sort of n items by one thread; the arrays have two halves, used in turn. Returns the half of the result."""
    half = first_half
    npass = (nbits + d.digit - 1) // d.digit
    nbit = (nbits + npass - 1) // npass
    for i in range(npass):
        how = pass_of(n, 1, half * d.npairmax, i * nbit, nbit)
        count_digits(0, how, d.sort_key, d.sort_count)
        scan_sums(d.sort_count, 1 << nbit)
        move_block(0, how, (1 - half) * d.npairmax, d.sort_key, d.sort_value, d.sort_count)
        half = 1 - half
    return half


@ti.func
def scan_counts(count: ti.template(), sums: ti.template(), s, scans, total):
    """The third level of a scan: block s of counts becomes sums of all before each; `sums` has those of `scans` blocks,
    then of stretches of these."""
    stretch = s // SCAN_BLOCK
    before = sum_between(sums, scans, scans + stretch)
    scan_block(count, s, total, before + sum_between(sums, stretch * SCAN_BLOCK, s))


@kernel
def radix_pass(m, d, icount: ti.i32, shift: ti.i32, nbit: ti.i32, half: ti.i32):
    """One stable pass over `nbit` bits of the keys from `shift` on, parallel over blocks of items and of counts; reads
    the given half of the arrays, writes the other."""
    n = ti.min(d.counts[icount], d.npairmax)
    total = d.nsortblock << nbit
    scans = (total + SCAN_BLOCK - 1) // SCAN_BLOCK
    stretches = (scans + SCAN_BLOCK - 1) // SCAN_BLOCK
    ti.loop_config(serialize=SERIAL)
    for b in range(d.nsortblock):
        count_digits(b, pass_of(n, d.nsortblock, half * d.npairmax, shift, nbit), d.sort_key, d.sort_count)
    ti.loop_config(serialize=SERIAL)
    for s in range(scans):
        d.sort_sum[s] = sum_of_block(d.sort_count, s, total)
    ti.loop_config(serialize=SERIAL)
    for s in range(stretches):
        d.sort_sum[scans + s] = sum_of_block(d.sort_sum, s, scans)
    ti.loop_config(serialize=SERIAL)
    for s in range(scans):
        scan_counts(d.sort_count, d.sort_sum, s, scans, total)
    ti.loop_config(serialize=SERIAL)
    for b in range(d.nsortblock):
        how = pass_of(n, d.nsortblock, half * d.npairmax, shift, nbit)
        move_block(b, how, (1 - half) * d.npairmax, d.sort_key, d.sort_value, d.sort_count)


@kernel
def part_pass(m, d, shift: ti.i32, nbit: ti.i32, half: ti.i32):
    """The same of the things that constraint/lists_all.py and islands_all.py sort by their owners."""
    total = d.npartblock << nbit
    scans = (total + SCAN_BLOCK - 1) // SCAN_BLOCK
    stretches = (scans + SCAN_BLOCK - 1) // SCAN_BLOCK
    ti.loop_config(serialize=SERIAL)
    for b in range(d.npartblock):
        count_digits(b, pass_of(d.npart, d.npartblock, half * d.npartmax, shift, nbit), d.part_key, d.part_count)
    ti.loop_config(serialize=SERIAL)
    for s in range(scans):
        d.part_sum[s] = sum_of_block(d.part_count, s, total)
    ti.loop_config(serialize=SERIAL)
    for s in range(stretches):
        d.part_sum[scans + s] = sum_of_block(d.part_sum, s, scans)
    ti.loop_config(serialize=SERIAL)
    for s in range(scans):
        scan_counts(d.part_count, d.part_sum, s, scans, total)
    ti.loop_config(serialize=SERIAL)
    for b in range(d.npartblock):
        how = pass_of(d.npart, d.npartblock, half * d.npartmax, shift, nbit)
        move_block(b, how, (1 - half) * d.npartmax, d.part_key, d.part_value, d.part_count)
