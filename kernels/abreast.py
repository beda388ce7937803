"""Trees of four worlds side by side: each is the same tree of the model, and is made as it is made alone.

A worker has a number of all four in its own memory as one vector (abreast_*), so that one instruction does four, and
copies from and to the arrays of worlds by twos, as device/transposed.py takes them. A lane does what its world does
alone, in the same order, and gets the same bits. Lanes that no world is left for do what the first does.
"""

from .team import come, piece_size, take_near
from .types import func, ti, vec4

LANES = 4
ivec4 = ti.types.vector(LANES, ti.i32)


@func
def take_groups(m, d, hand, act: ti.template()):
    """act(m, d, hand, w, b) for world 0 and every fourth behind it, w, and each body b, those that are worker `hand`'s;
    it does the work of that world and the three behind."""
    come(m, d)
    n = (d.nworld + LANES - 1) // LANES * m.nbody
    many = piece_size(n)
    pieces = (n + many - 1) // many
    piece = take_near(m, d, hand, pieces)
    while piece < pieces:
        for k in range(piece * many, ti.min((piece + 1) * many, n)):
            group = k // m.nbody
            act(m, d, hand, LANES * group, k - group * m.nbody)
        piece = take_near(m, d, hand, pieces)


@func
def worlds_from(m, d, w):
    """World w and the three behind it."""
    world = ivec4(0)
    for c in ti.static(range(LANES)):
        world[c] = ti.select(w + c < d.nworld, w + c, w)
    return world


@func
def numbers_of(m, d, of: ti.template(), world, k):
    """Number k of a field of the model in each of these worlds."""
    x = vec4(0.0)
    for c in ti.static(range(LANES)):
        x[c] = of[world[c], k]
    return x


@ti.func
def six_products(a: ti.template(), at, b: ti.template(), to):
    """The products of the vectors of six at a[at] and b[to]."""
    return (
        a[at] * b[to]
        + a[at + 1] * b[to + 1]
        + a[at + 2] * b[to + 2]
        + a[at + 3] * b[to + 3]
        + a[at + 4] * b[to + 4]
        + a[at + 5] * b[to + 5]
    )


@func
def lay(m, d, of: ti.template(), e, to: ti.template(), at, n: ti.template()):
    """The first n numbers of four vectors of an array, side by side at to[at]."""
    for q in ti.static(range(0, n, 2)):
        x, y = vec4(0.0), vec4(0.0)
        for c in ti.static(range(LANES)):
            x[c] = of[e[c]][q]
            if ti.static(q + 1 < n):
                y[c] = of[e[c]][q + 1]
        to[at + q] = x
        if ti.static(q + 1 < n):
            to[at + q + 1] = y


@func
def lay_matrices(m, d, of: ti.template(), e, to: ti.template(), at):
    """The nine numbers of four matrices, by rows."""
    for q in ti.static(range(0, 9, 2)):
        x, y = vec4(0.0), vec4(0.0)
        for c in ti.static(range(LANES)):
            x[c] = of[e[c]][q // 3, q % 3]
            if ti.static(q < 8):
                y[c] = of[e[c]][(q + 1) // 3, (q + 1) % 3]
        to[at + q] = x
        if ti.static(q < 8):
            to[at + q + 1] = y


@func
def put_back(m, d, of: ti.template(), at, to: ti.template(), e, n: ti.template()):
    """The n numbers of four vectors back from of[at]."""
    for q in ti.static(range(0, n, 2)):
        x = of[at + q]
        if ti.static(q + 1 < n):
            y = of[at + q + 1]
            for c in ti.static(range(LANES)):
                to[e[c]][q] = x[c]
                to[e[c]][q + 1] = y[c]
        else:
            for c in ti.static(range(LANES)):
                to[e[c]][q] = x[c]
