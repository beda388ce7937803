"""In which order the free bodies of an island are eliminated, and which blocks its sparse factor has.

Bodies are nodes, and two that touch are neighbours. Who is eliminated makes neighbours of all it leaves behind; they
are its links, and each is a 6 x 6 block of the factor. Of those with the fewest neighbours the first in the island's
list goes first, so that a tower or a chain gets no block beyond its contacts. Minimum degree: George and Liu, "The
evolution of the minimum degree ordering algorithm", 1989.
"""

from ..constraint.island import BLOCK, factor_room, tree_of_body
from ..types import func, ti

LINKS = 32  # neighbours that a body may have at any time, as in tree_link


@func
def eliminate(m, d, isle: ti.template()):
    """tree_rank, tree_link and tree_linkadr of the island's trees, and con_block of its contacts, -1: none.

    Returns 0 if the factor would have more blocks than there is room for, or a body more links.
    """
    fits = touch(m, d, isle)
    n = isle.trees.end - isle.trees.begin
    blocks = 0
    done = 0
    limit = 1
    while done < n and fits == 1:
        before = done
        least = LINKS
        for e in range(isle.trees.begin, isle.trees.end):
            t = d.island_tree[e]
            if d.tree_rank[t] < 0 and fits == 1:
                degree = d.tree_linknum[t]
                if degree <= limit:
                    d.island_order[isle.trees.begin + done] = t
                    d.tree_rank[t] = done
                    d.tree_linkadr[t] = blocks
                    blocks += degree
                    done += 1
                    fits = ti.min(leave(m, d, t), ti.cast(BLOCK * blocks <= factor_room(n), ti.i32))
                else:
                    least = ti.min(least, degree)
        limit = 1
        if done == before:
            limit = least
    if fits == 1:
        for e in range(isle.cons.begin, isle.cons.end):
            c = d.island_con[e]
            d.con_block[c] = block_of(m, d, tree_of_body(m, d, d.con_body[c][0]), tree_of_body(m, d, d.con_body[c][1]))
    return fits


@func
def touch(m, d, isle: ti.template()):
    """Bodies that touch are linked. Returns 0 if one has too many links."""
    fits = 1
    for e in range(isle.trees.begin, isle.trees.end):
        d.tree_linknum[d.island_tree[e]] = 0
        d.tree_rank[d.island_tree[e]] = -1
    last = ti.Vector([-1, -1])
    for e in range(isle.cons.begin, isle.cons.end):
        c = d.island_con[e]
        pair = ti.Vector([d.con_body[c][0], d.con_body[c][1]])
        if pair[0] >= 0 and pair[1] >= 0 and (pair[0] != last[0] or pair[1] != last[1]):
            last = pair
            s = tree_of_body(m, d, pair[0])
            t = tree_of_body(m, d, pair[1])
            fits = ti.min(fits, link(m, d, s, t))
            fits = ti.min(fits, link(m, d, t, s))
    return fits


@func
def place_of_link(m, d, s, t):
    """Place of t among the links of s, -1 if it is none."""
    place = -1
    for i in range(d.tree_linknum[s]):
        if d.tree_link[s][i] == t:
            place = i
            break
    return place


@func
def link(m, d, s, t):
    """t becomes a link of s. Returns 0 if there is no room for it."""
    fits = 1
    if place_of_link(m, d, s, t) < 0:
        n = d.tree_linknum[s]
        fits = ti.cast(n < LINKS, ti.i32)
        if fits == 1:
            d.tree_link[s][n] = t
            d.tree_linknum[s] = n + 1
    return fits


@func
def leave(m, d, t):
    """Tree t leaves its neighbours, who become each other's. Returns 0 if one gets too many links."""
    fits = 1
    for i in range(d.tree_linknum[t]):
        s = d.tree_link[t][i]
        n = d.tree_linknum[s] - 1
        d.tree_link[s][place_of_link(m, d, s, t)] = d.tree_link[s][n]
        d.tree_linknum[s] = n
        for j in range(d.tree_linknum[t]):
            if j != i:
                fits = ti.min(fits, link(m, d, s, d.tree_link[t][j]))
    return fits


@func
def block_of(m, d, s, t):
    """The block that couples trees s and t, -1 if one of them is none."""
    block = -1
    if s >= 0 and t >= 0:
        first, second = s, t
        if d.tree_rank[s] > d.tree_rank[t]:
            first, second = t, s
        block = d.tree_linkadr[first] + place_of_link(m, d, first, second)
    return block
