"""Places of a picture that rays go through, and how threads share them."""

import numpy as np

from tisim.device import session

CHUNKS = 512  # that blocks are cut into on a CPU, of which a worker takes sixteen at once
GPU_BLOCK = 4  # samples that a thread of a GPU does at once


class Samples:
    """Places of a picture that rays go through: x, y (n,) [pixel], in the order of their tiles (n,).

    x, y    None: a kernel has written them.
    blocks (nblock, 4) int32: first sample, end and tile of what a thread does at once;  most  samples of one;
    chunk  blocks that share the places for what is needed on the way;  places  that arrays need for all.
    """

    def __init__(self, x, y, tile):
        ends = np.append(np.flatnonzero(np.diff(tile)) + 1, len(tile)) if len(tile) else np.zeros(0, int)
        self._cut(x, y, tile[ends - 1], np.append(0, ends[:-1])[: len(ends)], ends)

    @classmethod
    def of_tiles(cls, first):
        """Samples whose places kernels write: first (ntile + 1,) of each tile, and how many there are."""
        made, some = cls.__new__(cls), np.flatnonzero(first[1:] != first[:-1])
        made._cut(None, None, some.astype(np.int32), first[some], first[some + 1])
        return made

    def _cut(self, x, y, tiles, begins, ends):
        """tiles, begins, ends  of each tile that has samples: its number, where they begin and end."""
        self.x, self.y = (None if v is None else np.asarray(v, np.float32) for v in (x, y))
        self._tiles, self._counts, self._length = tiles, ends - begins, int(ends[-1]) if len(ends) else 0
        if session.arch != "cpu" and len(ends):  # many threads of little work
            tiles = np.repeat(tiles, -(-self._counts // GPU_BLOCK))
            starts = [np.arange(a, b, GPU_BLOCK) for a, b in zip(begins, ends)]
            ends = np.concatenate([np.minimum(x + GPU_BLOCK, b) for x, b in zip(starts, ends)])
            begins = np.concatenate(starts)
        chunks = CHUNKS if session.arch == "cpu" else len(ends)
        self.most, self.chunk = int(np.max(ends - begins, initial=0)), max(1, -(-len(ends) // max(1, chunks)))
        self.places = self._length + -(-len(ends) // self.chunk) * self.most
        self.blocks = np.zeros((len(ends), 4), np.int32)
        self.blocks[:, 0], self.blocks[:, 1], self.blocks[:, 2] = begins, ends, tiles

    def __len__(self):
        return self._length

    def take(self, chosen):
        """Those of them (k,), in rising order."""
        return Samples(self.x[chosen], self.y[chosen], np.repeat(self._tiles, self._counts)[chosen])
