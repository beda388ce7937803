"""Exclusive scans and a stable radix sort, equal for any number of threads.

Both split their items into blocks whose number depends on sizes only; every block is worked through in order by one
thread. Written here because Taichi's own scan raises on the CPU and its own sort is unstable.
"""

from tisim.kernels.types import *

SCAN_BLOCK = 64  # items per block of a scan: short, since Taichi gives a CPU thread 512 loop rounds at a time


@ti.func
def sum_of_block(a: ti.template(), b, n):
    total = 0
    for i in range(b * SCAN_BLOCK, ti.min((b + 1) * SCAN_BLOCK, n)):
        total += a[i]
    return total


@ti.func
def scan_block(a: ti.template(), b, n, start):
    """Replaces block b of a by the sums of all items before each, the first being start."""
    total = start
    for i in range(b * SCAN_BLOCK, ti.min((b + 1) * SCAN_BLOCK, n)):
        x = a[i]
        a[i] = total
        total += x


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
def count_digits(b, chunk, n, nblock, src, shift, nbin, sort_key: ti.template(), sort_count: ti.template()):
    """How many keys of each digit block b has, digit-major."""
    for k in range(nbin):
        sort_count[k * nblock + b] = 0
    for i in range(b * chunk, ti.min((b + 1) * chunk, n)):
        k = ((sort_key[src + i] >> shift) & (nbin - 1)) * nblock + b
        sort_count[k] = sort_count[k] + 1


@ti.func
def move_block(
    b, chunk, n, nblock, src, dst, shift, nbin, sort_key: ti.template(), sort_value: ti.template(),
    sort_count: ti.template(),
):  # fmt: skip
    """Moves the items of block b to the places that the scanned counts give."""
    for i in range(b * chunk, ti.min((b + 1) * chunk, n)):
        key = sort_key[src + i]
        k = ((key >> shift) & (nbin - 1)) * nblock + b
        to = dst + sort_count[k]
        sort_count[k] = sort_count[k] + 1
        sort_key[to] = key
        sort_value[to] = sort_value[src + i]


@ti.func
def sort_all(
    n, npairmax, nbits, digit, first_half, sort_key: ti.template(), sort_value: ti.template(),
    sort_count: ti.template(),
):  # fmt: skip
    """Radix sort of n items by one thread; the arrays have two halves, used in turn. Returns the half of the result."""
    half = first_half
    npass = (nbits + digit - 1) // digit
    nbit = (nbits + npass - 1) // npass
    for i in range(npass):
        src = half * npairmax
        count_digits(0, n, n, 1, src, i * nbit, 1 << nbit, sort_key, sort_count)
        scan_sums(sort_count, 1 << nbit)
        move_block(0, n, n, 1, src, npairmax - src, i * nbit, 1 << nbit, sort_key, sort_value, sort_count)
        half = 1 - half
    return half


@kernel
def radix_pass(
    counts: I, icount: ti.i32, npairmax: ti.i32, shift: ti.i32, nbit: ti.i32, half: ti.i32, nsortblock: ti.i32,
    sort_key: I, sort_value: I, sort_count: I, scan_sum: I,
):  # fmt: skip
    """One stable pass over `nbit` bits of the keys from `shift` on, parallel over blocks of items; reads the given half
    of the arrays, writes the other.
    """
    n = ti.min(counts[icount], npairmax)
    nbin = 1 << nbit
    total = nbin * nsortblock
    nscan = (total + SCAN_BLOCK - 1) // SCAN_BLOCK
    chunk = (n + nsortblock - 1) // nsortblock
    src = half * npairmax
    dst = npairmax - src
    ti.loop_config(serialize=SERIAL)
    for b in range(nsortblock):
        count_digits(b, chunk, n, nsortblock, src, shift, nbin, sort_key, sort_count)
    ti.loop_config(serialize=SERIAL)
    for s in range(nscan):
        scan_sum[s] = sum_of_block(sort_count, s, total)
    ti.loop_config(serialize=True)
    for _ in range(1):
        scan_sums(scan_sum, nscan)
    ti.loop_config(serialize=SERIAL)
    for s in range(nscan):
        scan_block(sort_count, s, total, scan_sum[s])
    ti.loop_config(serialize=SERIAL)
    for b in range(nsortblock):
        move_block(b, chunk, n, nsortblock, src, dst, shift, nbin, sort_key, sort_value, sort_count)
