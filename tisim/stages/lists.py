"""Islands and the lists of contacts and rows where all threads of a GPU make them: kernels/constraint/lists_all.py and
islands_all.py."""

from tisim.device import launch, runtime

from .sorting import BLOCK, MOST_BLOCKS

DIGIT, WIDE_DIGIT = 8, 11  # most bits of a key that a pass of the sort takes; where that is all of it
MOST_COUNTS = 1 << 17  # of the digits of all blocks, up to which a pass of WIDE_DIGIT is not slower than two


def kernels_of(m):
    """All kernels that `make` launches."""
    k, island = runtime.kernels("constraint.lists_all"), runtime.kernels("constraint.islands_all")
    rows = [k.row_parts, k.tree_rows] if m.features().rows else []
    islands = [island.join_trees, island.number_islands, island.island_parts, island.place_islands, island.fill_islands]
    return [k.contact_parts, k.body_contacts, *rows, *islands, runtime.kernels("sort").part_pass]


def make(m, d, before, **scalars):
    """Islands and all lists of contacts and rows, behind the kernels `before`; scalars: those that find_islands and
    cut_blocks ask for."""
    k, island = runtime.kernels("constraint.lists_all"), runtime.kernels("constraint.islands_all")
    contacts, rows, entries = (d.capacity(name) for name in ("nconmax", "nrowmax", "nJmax"))
    sort = Sort(m, d, max(2 * contacts, entries, d.nworld * m.ntree + contacts + rows), scalars)
    body_bits, tree_bits, island_bits = (int(d.nworld * n).bit_length() for n in (m.nbody, m.ntree, 3 * m.ntree))
    sort.run([*before, k.contact_parts])
    sort.sort(body_bits)
    sort.run([k.body_contacts])
    if m.features().rows:
        sort.run([k.row_parts])
        sort.sort(tree_bits)
        sort.run([k.tree_rows])
    sort.run([island.join_trees, island.number_islands, island.island_parts])
    sort.sort(island_bits)
    sort.run([island.place_islands, island.fill_islands])


def _counts(blocks):
    """Numbers that a pass of the sort counts at most."""
    return min(blocks << WIDE_DIGIT, max(MOST_COUNTS, blocks << DIGIT))


class Sort:
    """Launches, and the sorts among them: where the sorted things lie, and in how many blocks they are moved.

    most  things that are sorted at most.  scalars  what the launched kernels ask for.
    """

    def __init__(self, m, d, most, scalars):
        blocks = max(1, min(MOST_BLOCKS, most // BLOCK))
        for name, length in dict(part_key=2 * most, part_value=2 * most, part_count=_counts(blocks)).items():
            d.scratch(name, length)
        self.m, self.d, self.half, self.blocks = m, d, 0, blocks
        self.scalars = scalars | dict(npartmax=most, npartblock=blocks)

    def run(self, kernels):
        launch.run(self.m, self.d, kernels, True, parthalf=self.half, **self.scalars)
        self.half = 0

    def sort(self, bits):
        """Sorts the things by so many low bits of their keys."""
        npass = 1 if bits <= WIDE_DIGIT and self.blocks << bits <= MOST_COUNTS else -(-bits // DIGIT)
        nbit = -(-bits // npass)
        for i in range(npass):
            kernels = [runtime.kernels("sort").part_pass]
            launch.run(self.m, self.d, kernels, True, shift=i * nbit, nbit=nbit, half=i % 2, **self.scalars)
        self.half = npass % 2
