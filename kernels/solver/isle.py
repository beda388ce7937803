"""What a worker that solves an island knows of it, alone or in a team: an `Isle`, handed from phase to phase."""

from ..constraint.island import factor_room
from ..team import second_half, share, take_part, total
from ..types import func, ti
from .lanes import LANES, WIDE

BLOCKS = 128  # into which a list of a large island is cut, at least; fixed, so that sums do not depend on workers
MOST = 2 * BLOCKS  # more than those of any list
LONG = 2000  # entries of a list whose blocks are taken as workers find time; taking costs a few percent in shorter ones
PIECES = 8  # into which a worker's part of it is cut


@ti.dataclass
class Cut:
    """A list of an island, cut into blocks for sums.

    begin, end  its stretch of island_tree, island_con or island_row.  step  entries of a block.  blocks  how many.
    mine, behind  this worker does the blocks from `mine` up to `behind`.
    many  how many others it takes at a time, 0: none, since the list is short or nobody else works on it.
    pace  how many blocks further its next one is.
    which  number of the list: 0 trees, 1 contacts, 2 rows.
    sums  where their sums begin, -1: nobody needs them.
    """

    begin: ti.i32
    end: ti.i32
    step: ti.i32
    blocks: ti.i32
    mine: ti.i32
    behind: ti.i32
    many: ti.i32
    pace: ti.i32
    which: ti.i32
    sums: ti.i32


@ti.dataclass
class Isle:
    """An island's world, its trees, contacts and rows, dofs, and address in island_dense.

    dense  where its dense Hessian begins; -1: it has none, and its linear systems are solved by conjugate gradients.
    factor  where the blocks of its sparse factor begin there; -1: it has none.
    packed  1: its bodies and contacts sit in memory in the order of its lists (packed.py).
    part  where those of an incomplete one begin, the preconditioner of its conjugate gradients; -1: it has none.
    adr  where those of either begin.
    bodies  1: nodes of its sparse factor are bodies (articulated.py), else branches of trees.
    apart  1: nothing couples its trees or branches, so that its linear systems are solved by its trees' own factors.
    node, nodes  where the list of its nodes begins, and their number.
    room  numbers that the blocks may have.
    large  1: a team of workers walks it together; 0: this worker alone, and each list is one block.
    me, size  number of this worker in the team, and the team's size.
    """

    world: ti.i32
    trees: Cut
    cons: Cut
    rows: Cut
    ndof: ti.i32
    dense: ti.i32
    factor: ti.i32
    packed: ti.i32
    part: ti.i32
    adr: ti.i32
    bodies: ti.i32
    apart: ti.i32
    node: ti.i32
    nodes: ti.i32
    room: ti.i32
    large: ti.i32
    me: ti.i32
    size: ti.i32


@func
def isle_of(m, d, k, me, size, small: ti.template()):
    """The Isle of island k. Coupled trees of few dofs have a dense Hessian; without couplings each tree's is exact.

    small  True where this is compiled for small islands of a GPU alone: what teams need costs a thread registers there.
    """
    tree = d.island_treeadr[k]
    large = 0
    if ti.static(not small):
        large = ti.min(1, d.island_shared[k])
    half = ti.select(large == 1, d.island_shared[k] % 2, -1)  # a worker may be done with the one before, another not
    dense = -1
    factor = -1
    part = -1
    packed = 0
    if ti.static(m.has.packed and not small):
        packed = large * d.island_single[k]
    if ti.static(m.has.rows and not small):
        if d.island_partly[k] == 1:
            part = d.island_denseadr[k]
    if d.island_factored[k] == 1:
        factor = d.island_denseadr[k]
    elif large == 0 and d.island_coupled[k] > 0 and d.island_dofnum[k] <= d.maxdense:
        dense = d.island_denseadr[k]
    if large == 0:
        me, size = 0, 1
    trees = cut(tree, d.island_treenum[k], LANES if ti.static(m.has.jointed and WIDE) else 1, 8, half, me, size, 0)
    if ti.static(m.has.jointed):
        if large == 1 and factor >= 0:  # few, perhaps first those of many bodies: each worker takes every other one
            trees = cut(tree, d.island_treenum[k], 1, 8, half, me, size, 0)
            trees.mine, trees.behind, trees.many, trees.pace = me, trees.blocks, 0, size
    return Isle(
        world=d.island_tree[tree] // m.ntree,
        trees=trees,
        cons=cut(d.island_conadr[k], d.island_connum[k], 4, 5, half, me, size, 1),
        rows=cut(d.island_rowadr[k], d.island_rownum[k], 4, 5, half, me, size, 2),
        ndof=d.island_dofnum[k],
        dense=dense,
        factor=factor,
        packed=packed,
        part=part,
        adr=d.island_denseadr[k],
        bodies=0,
        apart=ti.cast(d.island_coupled[k] == 0, ti.i32),
        node=d.island_nodeadr[k],
        nodes=d.island_nodenum[k],
        room=factor_room(d.island_nodenum[k], d.island_joined[k], part >= 0),
        large=large,
        me=me,
        size=size,
    )


@ti.func
def cut(begin, n, least, columns, half, me, size, which):
    """The Cut of a list of n entries with `columns` sums for each block; blocks have `least` entries at least.

    half  of the places for sums, 0 or 1; -1: a small island, one block without a sum.
    """
    step = ti.max(1, n)
    if half >= 0:
        step = ti.max(least, n // BLOCKS)
    blocks = (n + step - 1) // step
    many = 0
    mine, behind = share(blocks, me, size)
    if size > 1 and n >= LONG:
        many = ti.max(1, blocks // (PIECES * size))
        mine = share(pieces(blocks, many), me, size)[0] * many
        behind = second_half(pieces(blocks, many), me, size)[0] * many
    sums = ti.select(half >= 0, half * columns * MOST, -1)
    return Cut(
        begin=begin,
        end=begin + n,
        step=step,
        blocks=blocks,
        mine=mine,
        behind=behind,
        many=many,
        pace=1,
        which=which,
        sums=sums,
    )


@func
def first_block(m, d, isle: ti.template(), part: ti.template()):
    """The first block of a list that this worker does, part.blocks if there is none.

    Who does which does not follow from the islands: what one phase has written the next may read behind a `meet` only,
    and between two of them each list is gone through once.
    """
    b = part.mine
    if b >= part.behind:
        b = take_blocks(m, d, isle, part)
    return b


@func
def next_block(m, d, isle: ti.template(), part: ti.template(), b):
    """The one behind block b."""
    b += part.pace
    if b <= part.mine or b >= part.behind:
        if part.many == 0:
            b = part.blocks
        elif b % part.many == 0 or b == part.blocks:
            b = take_blocks(m, d, isle, part)
    return b


@func
def take_blocks(m, d, isle: ti.template(), part: ti.template()):
    b = part.blocks
    if part.many > 0:
        b = part.many * take_part(m, d, isle.me, isle.size, part.which, pieces(part.blocks, part.many))
    return ti.min(b, part.blocks)


@ti.func
def pieces(blocks, many):
    return (blocks + many - 1) // many


@ti.func
def stretch(part: ti.template(), b):
    """(first, one past the last) entry of block b."""
    first = part.begin + b * part.step
    return first, ti.min(first + part.step, part.end)


@ti.func
def keep(part: ti.template(), b, column, value, sums: ti.template()):
    """Keeps the sum of a column over block b of a large island."""
    if part.sums >= 0:
        sums[part.sums + column * part.blocks + b] = value


@ti.func
def sum_of(part: ti.template(), column, sums: ti.template()):
    """Sum of a column over all blocks."""
    return total(part.sums + column * part.blocks, part.blocks, sums)
