"""How lists are sorted: by one thread within the kernel that asks for it, or in passes that all threads share.

The kernels are in kernels/sort.py. The arrays of keys and values have two halves, which the passes use in turn.
"""

from tisim.data.arrays import COUNTS
from tisim.device import runtime, session

DIGIT = (11, 8)  # most bits that a pass takes: by one thread, by all
BLOCK, MOST_BLOCKS = 32, 8192  # items in the work of one thread, and how many such blocks there are at most
SCAN_BLOCK = 64  # items per block of a scan: short, since Taichi gives a CPU thread 512 loop rounds at a time


def shared():
    """Whether all threads share a sort: on a GPU."""
    return session.arch != "cpu"


def sums(counts):
    """Numbers that a pass adds up of so many counts: sums of blocks, and of stretches of blocks."""
    return counts // SCAN_BLOCK + counts // SCAN_BLOCK**2 + 2


class Sort:
    """A way to sort lists of about `total` items.

    wide    whether all threads share the work.
    digit   most bits of a key that a pass takes.
    nblock  blocks of work: every one counts and moves its items in order, so results do not depend on their number.
    """

    def __init__(self, d, total):
        self.wide = shared()
        self.digit = DIGIT[self.wide]
        self.nblock = max(1, min(MOST_BLOCKS, total // BLOCK)) if self.wide else 1
        d.scratch("sort_count", self.nblock << self.digit)
        if self.wide:
            d.scratch("sort_sum", sums(self.nblock << self.digit))

    @property
    def scalars(self):
        return dict(digit=self.digit, nsortblock=self.nblock)

    def npass(self, bits):
        return -(-bits // self.digit)

    def half(self, bits, first=0):
        """Which half holds the sorted items, if they were in the half `first`."""
        return (first + self.npass(bits)) % 2

    def passes(self, count, bits, first=0):
        """[(kernel, scalars)] that sort the list of this name in COUNTS by this many low bits of its keys."""
        radix_pass, npass = runtime.kernels("sort").radix_pass, self.npass(bits)
        nbit = -(-bits // npass)
        return [
            (radix_pass, dict(icount=COUNTS[count], shift=i * nbit, nbit=nbit, half=(first + i) % 2))
            for i in range(npass)
        ]
