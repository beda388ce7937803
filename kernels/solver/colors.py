"""Sweeps of Gauss-Seidel over an island: by one worker in the order of its list, or by a team, colour by colour.

Rows or contacts that follow each other and act on the same trees are a group, which stays together and in its order.
Groups of one colour have no tree in common, so that workers may take them at the same time and bits do not depend on
how many there are. Each group gets, in list order, the first colour that none of its trees has; the few that get none
have the last one, which is one worker's. Convergence is that of the list's order. Which islands are coloured follows
from the islands alone (constraint/island.py). Coloured Gauss-Seidel: Saad, "Iterative methods for sparse linear
systems", section 12.4.
"""

from ..constraint.island import tree_of_body
from ..constraint.row import tree_of_dof
from ..team import meet, share
from ..types import FP, func, ti

COLORS = 30  # and the last one, of what has no other
WIDE = 5  # numbers of a group


@func
def color_island(m, d, k):
    """Groups of island k's rows and of its contacts by colour. One worker's."""
    if ti.static(m.has.rows):
        first = d.island_rowadr[k]
        clear_colors(m, d, k)
        color_list(m, d, first, first + d.island_rownum[k], 1, d.row_group)
    first = d.island_conadr[k]
    clear_colors(m, d, k)
    color_list(m, d, first, first + d.island_connum[k], 0, d.con_group)


@func
def clear_colors(m, d, k):
    for e in range(d.island_treeadr[k], d.island_treeadr[k] + d.island_treenum[k]):
        d.tree_colors[d.island_tree[e]] = 0


@func
def color_list(m, d, first, last, rows: ti.template(), group: ti.template()):
    """Groups of entries `first` up to `last` of island_row, or of island_con, from there in `group`: first entry, one
    past the last, colour; then both sorted by colour. color_adr is the first group of each colour."""
    adr = ti.static(0 if rows else COLORS + 2)
    to = WIDE * first
    for c in range(COLORS + 2):
        d.color_adr[adr + c] = 0
    groups = 0
    n = first
    while n < last:
        end = n + 1
        same = 1
        while end < last and same == 1:
            same = same_trees(m, d, rows, n, end)
            end += same
        color = take_color(m, d, rows, n)
        group[to + WIDE * groups] = n
        group[to + WIDE * groups + 1] = end
        group[to + WIDE * groups + 2] = color
        d.color_adr[adr + color + 1] = d.color_adr[adr + color + 1] + 1
        groups += 1
        n = end
    for c in range(COLORS + 1):
        d.color_adr[adr + c + 1] = d.color_adr[adr + c + 1] + d.color_adr[adr + c]
    for g in range(groups):
        color = group[to + WIDE * g + 2]
        place = to + WIDE * d.color_adr[adr + color]
        d.color_adr[adr + color] = d.color_adr[adr + color] + 1
        group[place + 3] = group[to + WIDE * g]
        group[place + 4] = group[to + WIDE * g + 1]
    for c in range(COLORS + 1):  # they begin where those before end
        d.color_adr[adr + COLORS + 1 - c] = d.color_adr[adr + COLORS - c]
    d.color_adr[adr] = 0


@func
def same_trees(m, d, rows, n, other):
    """Whether two entries of a list act on the same trees, as far as can be seen at once."""
    same = 1
    if rows == 0:
        for side in ti.static(range(2)):
            s = tree_of_body(m, d, d.con_body[d.island_con[n]][side])
            if s != tree_of_body(m, d, d.con_body[d.island_con[other]][side]):
                same = 0
    elif ti.static(m.has.rows):
        a = d.island_row[n]
        b = d.island_row[other]
        if d.row_num[a] != d.row_num[b]:
            same = ti.cast(d.row_coupled[a] + d.row_coupled[b] == 0 and d.row_tree[a] == d.row_tree[b], ti.i32)
        else:
            for e in range(d.row_num[a]):
                if tree_of_dof(m, d, d.J_dof[d.row_adr[a] + e]) != tree_of_dof(m, d, d.J_dof[d.row_adr[b] + e]):
                    same = 0
    return same


@func
def take_color(m, d, rows, n):
    """The first colour that no tree of an entry has; then they have it."""
    taken = colors_of(m, d, rows, n, 0)
    color = 0
    while color < COLORS and taken >> color & 1 == 1:
        color += 1
    if color < COLORS:
        colors_of(m, d, rows, n, 1 << color)
    return color


@func
def colors_of(m, d, rows, n, more):
    """Bits of the colours that the trees of an entry have; they get those of `more`."""
    bits = 0
    if rows == 0:
        for side in ti.static(range(2)):
            t = tree_of_body(m, d, d.con_body[d.island_con[n]][side])
            if t >= 0:
                bits |= d.tree_colors[t]
                d.tree_colors[t] = d.tree_colors[t] | more
    elif ti.static(m.has.rows):
        r = d.island_row[n]
        for e in range(d.row_adr[r], d.row_adr[r] + d.row_num[r]):
            t = tree_of_dof(m, d, d.J_dof[e])
            bits |= d.tree_colors[t]
            d.tree_colors[t] = d.tree_colors[t] | more
    return bits


@func
def sweep(m, d, k, me, size, on_row: ti.template(), on_contact: ti.template()):
    """on_row(m, d, r) of all rows of island k, then on_contact(m, d, c); returns the sum of what they return.

    All of a team come here together, and none goes on before the others have read the sum.
    """
    s = FP(0.0)
    if ti.static(m.has.rows):
        s = sweep_list(m, d, ti.Vector([k, me, size]), 1, on_row, d.row_group, d.row_gain)
    s += sweep_list(m, d, ti.Vector([k, me, size]), 0, on_contact, d.con_group, d.con_gain)
    return s


@func
def sweep_list(m, d, who, rows: ti.template(), act: ti.template(), group: ti.template(), gains: ti.template()):
    """The same for the rows or the contacts of island who[0], by worker who[1] of who[2]."""
    s = FP(0.0)
    shared = is_shared(m, d, who[0])
    first, number = d.island_conadr[who[0]], d.island_connum[who[0]]
    if ti.static(rows):
        first, number = d.island_rowadr[who[0]], d.island_rownum[who[0]]
    adr = ti.static(0 if rows else COLORS + 2)
    colors = ti.select(shared == 1, COLORS + 1, ti.min(number, 1))
    for color in range(colors):
        begin, behind = 0, 1  # the whole list, by one worker
        if shared == 1:
            begin, behind = part(m, d, color, adr, who[1], who[2])
        for g in range(first + begin, first + behind):
            n, end = first, first + number
            if shared == 1:
                n, end = group[WIDE * g + 3], group[WIDE * g + 4]
            gain = FP(0.0)
            while n < end:
                if ti.static(rows):
                    gain += act(m, d, d.island_row[n])
                else:
                    gain += act(m, d, d.island_con[n])
                n += 1
            s += gain
            if shared == 1:
                gains[g] = gain
        if shared == 1:
            if d.color_adr[adr + color + 1] > d.color_adr[adr + color]:
                meet(m, d, who[1], who[2])
    if shared == 1:
        s = FP(0.0)
        for g in range(first, first + d.color_adr[adr + COLORS + 1]):
            s += gains[g]
        meet(m, d, who[1], who[2])
    return s


@func
def is_shared(m, d, k):
    """Whether island k is a team's; on a GPU (nworker -1) each is one thread's."""
    return ti.select(d.nworker < 0, 0, ti.min(1, d.island_shared[k]))


@func
def part(m, d, color, adr, me, size):
    """The groups of a colour that are a worker's, as in `share`; those of the last colour are the first one's."""
    begin, end = d.color_adr[adr + color], d.color_adr[adr + color + 1]
    mine, behind = share(end - begin, me, size)
    if color == COLORS:
        mine, behind = 0, ti.select(me == 0, end - begin, 0)
    return begin + mine, begin + behind
