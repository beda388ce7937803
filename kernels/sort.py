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


@func
def count_digits(m, d, b, chunk, n, nblock, src, shift, nbin):
    """How many keys of each digit block b has, digit-major."""
    for k in range(nbin):
        d.sort_count[k * nblock + b] = 0
    for i in range(b * chunk, ti.min((b + 1) * chunk, n)):
        k = (d.sort_key[src + i] >> shift & nbin - 1) * nblock + b
        d.sort_count[k] = d.sort_count[k] + 1


@func
def move_block(m, d, b, chunk, n, nblock, src, shift, nbin):
    """Moves the items of block b, in the half at src, to the places in the other half that the scanned counts give."""
    dst = d.npairmax - src
    for i in range(b * chunk, ti.min((b + 1) * chunk, n)):
        key = d.sort_key[src + i]
        k = ((key >> shift) & (nbin - 1)) * nblock + b
        to = dst + d.sort_count[k]
        d.sort_count[k] = d.sort_count[k] + 1
        d.sort_key[to] = key
        d.sort_value[to] = d.sort_value[src + i]


@func
def sort_all(m, d, n, nbits, first_half):
    """Radix sort of n items by one thread; the arrays have two halves, used in turn. Returns the half of the result."""
    half = first_half
    npass = (nbits + d.digit - 1) // d.digit
    nbit = (nbits + npass - 1) // npass
    for i in range(npass):
        src = half * d.npairmax
        count_digits(m, d, 0, n, n, 1, src, i * nbit, 1 << nbit)
        scan_sums(d.sort_count, 1 << nbit)
        move_block(m, d, 0, n, n, 1, src, i * nbit, 1 << nbit)
        half = 1 - half
    return half


@kernel
def radix_pass(m, d, icount: ti.i32, shift: ti.i32, nbit: ti.i32, half: ti.i32):
    """One stable pass over `nbit` bits of the keys from `shift` on, parallel over blocks of items; reads the given half
    of the arrays, writes the other.
    """
    n = ti.min(d.counts[icount], d.npairmax)
    nbin = 1 << nbit
    total = nbin * d.nsortblock
    nscan = (total + SCAN_BLOCK - 1) // SCAN_BLOCK
    chunk = (n + d.nsortblock - 1) // d.nsortblock
    src = half * d.npairmax
    ti.loop_config(serialize=SERIAL)
    for b in range(d.nsortblock):
        count_digits(m, d, b, chunk, n, d.nsortblock, src, shift, nbin)
    ti.loop_config(serialize=SERIAL)
    for s in range(nscan):
        d.scan_sum[s] = sum_of_block(d.sort_count, s, total)
    ti.loop_config(serialize=True)
    for _ in range(1):
        scan_sums(d.scan_sum, nscan)
    ti.loop_config(serialize=SERIAL)
    for s in range(nscan):
        scan_block(d.sort_count, s, total, d.scan_sum[s])
    ti.loop_config(serialize=SERIAL)
    for b in range(d.nsortblock):
        move_block(m, d, b, chunk, n, d.nsortblock, src, shift, nbin)
