"""Writes, reads, fills and frees arrays in arenas, random ones, and prints what they take, as JSON.

python arenas.py SEED      TISIM_ARCH=vulkan
"""

import json
import sys

import numpy as np

import tisim
from tisim.device import arena, memory


def main():
    tisim.init()
    rng, kept = np.random.default_rng(int(sys.argv[1])), []
    for k in range(60):
        width = (1, 3, 4, 9, 2)[k % 5]
        a = memory.new_array("i" if k % 3 == 0 and width < 9 else "f", int(rng.integers(1, 900)) * width, width)
        assert not memory.download(a).any()
        values = rng.integers(0, 1000, a.numbers).astype(memory.number_type(a))
        memory.upload(a, values)
        kept.append((a, values))
        if k % 4 == 3:
            memory.delete_array(kept.pop(int(rng.integers(len(kept))))[0])
        if k % 7 == 3 and kept[0][1].size > 9:  # within elements
            memory.upload(kept[0][0], np.arange(5), 3)
            kept[0][1][3:8] = np.arange(5)
    for a, values in kept:
        assert np.array_equal(memory.download(a), values)
        assert np.array_equal(memory.part(a, 1, 3), values[1:4])
    memory.fill(kept[0][0], 0)
    assert not memory.download(kept[0][0]).any() and np.array_equal(memory.download(kept[1][0]), kept[1][1])
    print(json.dumps({name: [a.length, a.end] for name, a in arena._arenas.items()}))


main()
