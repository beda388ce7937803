"""In which order the nodes of an island are eliminated, and which blocks its sparse factor has.

A node is a free body or up to six dofs of a branch (tisim/model/tables/branches.py), known by its world-major first
body. Neighbours are nodes that the Hessian couples: a node and those above it in its tree, the nodes that move the two
sides of a contact, and those of a row. Who is eliminated makes neighbours of all it leaves behind; they are its links,
and each is a 6 x 6 block of the factor. Of those with the fewest neighbours the first in the island's list goes first,
so that a tower or a tree gets no block beyond its contacts and joints. Minimum degree: George and Liu, "The evolution
of the minimum degree ordering algorithm", 1989.
"""

from ..constraint.island import BLOCK
from ..types import called, func, ti
from .isle import Isle

LINKS = 32  # neighbours that a node may have at any time, as in node_link


@func
def node_of(m, d, b):
    """World-major node that moves world-major body b, -1 for -1."""
    node = -1
    if b >= 0:
        w = b // m.nbody
        node = w * m.nbody + m.body_node[b - w * m.nbody]
    return node


@func
def node_above(m, d, b):
    """The node above node b in its tree, -1: none."""
    w = b // m.nbody
    node = m.node_parent[b - w * m.nbody]
    if node >= 0:
        node += w * m.nbody
    return node


@called("jointed")
def eliminate(m, d, isle: Isle) -> ti.i32:
    """node_order: the island's nodes in the order of elimination; node_rank, node_link and node_linkadr of each.

    Returns 0 if the factor would have more blocks than there is room for, or a node more links.
    """
    list_nodes(m, d, isle)
    fits = touch(m, d, isle)
    blocks = 0
    done = 0
    limit = 1
    while done < isle.nodes and fits == 1:
        before = done
        least = LINKS
        for e in range(isle.node, isle.node + isle.nodes):
            b = d.island_node[e]
            if d.node_rank[b] < 0 and fits == 1:
                degree = d.node_linknum[b]
                if degree <= limit:
                    d.node_order[isle.node + done] = b
                    d.node_rank[b] = done
                    d.node_linkadr[b] = blocks
                    blocks += degree
                    done += 1
                    fits = ti.min(leave(m, d, b), ti.cast(BLOCK * blocks <= isle.room, ti.i32))
                else:
                    least = ti.min(least, degree)
        limit = 1
        if done == before:
            limit = least
    return fits


@func
def list_nodes(m, d, isle: ti.template()):
    """Nodes of the island's trees, without links."""
    n = isle.node
    for e in range(isle.trees.begin, isle.trees.end):
        t = d.island_tree[e] - isle.world * m.ntree
        for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
            if m.body_node[b] == b:
                node = isle.world * m.nbody + b
                d.island_node[n] = node
                d.node_rank[node] = -1
                d.node_linknum[node] = 0
                d.node_link[node][0] = -1
                n += 1


@func
def touch(m, d, isle: ti.template()):
    """Links nodes that the Hessian couples. Returns 0 if one has too many links."""
    fits = 1
    if ti.static(m.has.jointed):
        for e in range(isle.node, isle.node + isle.nodes):
            fits = ti.min(fits, link_up(m, d, d.island_node[e], node_above(m, d, d.island_node[e])))
    last = ti.Vector([-1, -1])
    for e in range(isle.cons.begin, isle.cons.end):
        pair = ti.Vector([d.con_body[d.island_con[e]][0], d.con_body[d.island_con[e]][1]])
        if pair[0] >= 0 and pair[1] >= 0 and (pair[0] != last[0] or pair[1] != last[1]):
            last = pair
            a = node_of(m, d, pair[0])
            while a >= 0:
                fits = ti.min(fits, link_up(m, d, a, node_of(m, d, pair[1])))
                a = node_above(m, d, a)
    if ti.static(m.has.rows):
        for e in range(isle.rows.begin, isle.rows.end):
            r = d.island_row[e]
            pair = ti.Vector([-1, -1])
            if d.row_pose[r] > 0:
                pair = ti.Vector([d.eq_body[d.row_pose[r] - 1][0], d.eq_body[d.row_pose[r] - 1][1]])
            if is_free(m, d, pair[0]) and is_free(m, d, pair[1]):
                fits = ti.min(fits, link_pair(m, d, pair[0], pair[1]))
            elif d.row_coupled[r] == 1 and d.row_pose[r] != -1:  # other rows of a connect or weld are like its first
                k = d.row_adr[r]
                while k < d.row_adr[r] + d.row_num[r]:
                    a = node_of_dof(m, d, isle.world, d.J_dof[k])
                    j = d.row_adr[r]
                    while j < k:
                        fits = ti.min(fits, link_pair(m, d, a, node_of_dof(m, d, isle.world, d.J_dof[j])))
                        j = end_of_node(m, d, isle.world, r, j)
                    k = end_of_node(m, d, isle.world, r, k)
    return fits


@func
def is_free(m, d, b):
    """Whether world-major body b, -1 for none, is a free body, which is a node itself."""
    free = False
    if b >= 0:
        free = m.tree_free[m.body_treeid[b % m.nbody]] == 1
    return free


@func
def node_of_dof(m, d, w, i):
    """Node of world-major dof i of world w."""
    return w * m.nbody + m.body_node[m.dof_bodyid[i - w * m.nv]]


@func
def end_of_node(m, d, w, r, k):
    """One past the last entry of row r, from entry k, that is a dof of the same node."""
    a = node_of_dof(m, d, w, d.J_dof[k]) - w * m.nbody
    behind = w * m.nv + m.node_dofadr[a] + m.node_dofnum[a]
    end = k + 1
    for x in range(k + 1, ti.min(d.row_adr[r] + d.row_num[r], k + 6)):
        if d.J_dof[x] < behind:
            end = x + 1
    return end


@func
def is_above(m, d, b, a):
    """1 if node b is a or above it in its tree, so that each of its dofs moves all of a, else 0."""
    c = a
    while c > b:  # a node's number is greater than that of the node above it
        c = node_above(m, d, c)
    return ti.cast(c == b, ti.i32)


@func
def link_up(m, d, a, b):
    """Links node a and those from b upwards. Returns 0 if one has too many links."""
    fits = 1
    c = b
    while c >= 0:
        fits = ti.min(fits, link_pair(m, d, a, c))
        c = node_above(m, d, c)
    return fits


@func
def link_pair(m, d, a, b):
    """Links two nodes with each other. Returns 0 if one has too many links."""
    fits = 1
    if a != b:
        fits = ti.min(link(m, d, a, b), link(m, d, b, a))
    return fits


@func
def place_of_link(m, d, a, b):
    """Place of b among the links of a, -1 if it is none."""
    place = -1
    for i in range(d.node_linknum[a]):
        if d.node_link[a][i] == b:
            place = i
            break
    return place


@func
def link(m, d, a, b):
    """b becomes a link of a. Returns 0 if there is no room for it."""
    fits = 1
    if place_of_link(m, d, a, b) < 0:
        n = d.node_linknum[a]
        fits = ti.cast(n < LINKS, ti.i32)
        if fits == 1:
            d.node_link[a][n] = b
            d.node_linknum[a] = n + 1
    return fits


@func
def leave(m, d, a):
    """Node a leaves its neighbours, who become each other's. Returns 0 if one gets too many links."""
    fits = 1
    for i in range(d.node_linknum[a]):
        b = d.node_link[a][i]
        n = d.node_linknum[b] - 1
        d.node_link[b][place_of_link(m, d, b, a)] = d.node_link[b][n]
        d.node_linknum[b] = n
        for j in range(d.node_linknum[a]):
            if j != i:
                fits = ti.min(fits, link(m, d, b, d.node_link[a][j]))
    return fits


@func
def block_of(m, d, a, b):
    """The block that couples nodes a and b."""
    first, second = a, b
    if d.node_rank[a] > d.node_rank[b]:
        first, second = b, a
    return d.node_linkadr[first] + place_of_link(m, d, first, second)
