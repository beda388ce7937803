"""The lists of large islands along a curve through space, so that neighbours in a list are neighbours in the scene.

Bodies are numbered as their model names them, and in a settled pile those that touch have any numbers: what a worker
needs of them lies anywhere in memory, and half of it another worker has just written. Here trees follow Morton's curve
through the cubes of a grid, and contacts their trees. Only lists change: numbers of bodies and contacts stay. A
function of positions alone, so that a state that was saved goes on to the same bits. G. M. Morton, "A computer oriented
geodetic data base and a new technique in file sequencing" (1966).

The solver's arrays have room for each tree and contact by its number. While an island is solved its members change
seats: the n-th of a list takes the n-th smallest number among them, so that memory is walked through in order and no
array is needed twice (solver/packed.py).
"""

from ..types import MINVAL, func, kernel, ti

BITS = 6  # of the grid's places along each axis
CUBES = 1 << BITS
DIGIT = 9  # bits of the curve's places that a pass of the sort takes; BITS * 3 in two passes
BUCKETS = 1 << DIGIT


@func
def middle_of(m, d, t):
    """Where world-major tree t is: the centre of mass of its first body."""
    return d.xipos[t // m.ntree * m.nbody + m.tree_bodyadr[t % m.ntree]]


@ti.func
def spread_bits(x):
    """The BITS bits of x with two zeros before each."""
    x = (x | (x << 8)) & 0x0300F
    x = (x | (x << 4)) & 0x030C3
    return (x | (x << 2)) & 0x09249


@func
def place_trees(m, d, first, last):
    """tree_curve of the trees of a stretch of island_tree: the places of their cubes on the curve."""
    low = middle_of(m, d, d.island_tree[first])
    high = low
    for n in range(first, last):
        x = middle_of(m, d, d.island_tree[n])
        low = ti.min(low, x)
        high = ti.max(high, x)
    width = ti.max((high - low).max(), MINVAL)
    for n in range(first, last):
        t = d.island_tree[n]
        cube = ti.cast((middle_of(m, d, t) - low) / width * CUBES, ti.i32)
        place = 0
        for i in ti.static(range(3)):
            place |= spread_bits(ti.min(ti.max(cube[i], 0), CUBES - 1)) << i
        d.tree_curve[t] = place


@func
def sort_pass(m, d, first, last, shift, src: ti.template(), dst: ti.template()):
    """Sorts the trees of a stretch of src into that of dst by DIGIT bits of their places; equal ones stay in order."""
    for b in range(BUCKETS):
        d.curve_count[b] = 0
    for n in range(first, last):
        b = (d.tree_curve[src[n]] >> shift) & (BUCKETS - 1)
        d.curve_count[b] = d.curve_count[b] + 1
    at = first
    for b in range(BUCKETS):
        n = d.curve_count[b]
        d.curve_count[b] = at
        at += n
    for n in range(first, last):
        b = (d.tree_curve[src[n]] >> shift) & (BUCKETS - 1)
        dst[d.curve_count[b]] = src[n]
        d.curve_count[b] = d.curve_count[b] + 1


@func
def list_contacts(m, d, k, side):
    """Contacts of island k: of each body those of which it is the first that moves. The sides of each body's contacts
    go to seat_con from `side` on; returns where they end."""
    at = d.island_conadr[k]
    dof = 0
    for n in range(d.island_treeadr[k], d.island_treeadr[k] + d.island_treenum[k]):
        t = d.island_tree[n]
        b = t // m.ntree * m.nbody + m.tree_bodyadr[t % m.ntree]
        d.seat_of_tree[t] = d.tree_seat[n]
        d.tree_dofstart[t] = dof
        dof += m.tree_dofnum[t % m.ntree]
        d.seat_conadr[n] = side
        side += d.body_connum[b]
        d.seat_conadr[n + 1] = side
        for s in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
            c = d.body_con[s] // 2
            if d.body_con[s] % 2 == 0 or d.con_body[c][0] < 0:
                d.island_con[at] = c
                d.seat_of_con[c] = d.con_seat[at]
                at += 1
    return side


@func
def is_pile(m, d, k):
    """Whether island k is a large one of free bodies alone."""
    return d.island_shared[k] > 0 and d.island_single[k] == 1


@kernel
def along_curve(m, d):
    """Trees and contacts of each such island in the order of the curve, and their seats; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        for k in range(d.nisland):
            if is_pile(m, d, k):
                first = d.island_treeadr[k]
                last = first + d.island_treenum[k]
                place_trees(m, d, first, last)
                for n in range(first, last):
                    d.tree_seat[n] = d.island_tree[n]
                for n in range(d.island_conadr[k], d.island_conadr[k] + d.island_connum[k]):
                    d.con_seat[n] = d.island_con[n]
                sort_pass(m, d, first, last, 0, d.tree_seat, d.seat_of_tree)
                sort_pass(m, d, first, last, DIGIT, d.seat_of_tree, d.island_tree)
        side = 0
        for k in range(d.nisland):  # not in the loop before, where seat_of_tree holds what is half sorted
            if is_pile(m, d, k):
                side = list_contacts(m, d, k, side)
