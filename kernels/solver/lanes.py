"""Trees that are alike, four side by side: their own Hessians factored and solved as one whose numbers are vectors.

A ragdoll's factor has ten numbers in a row: loops so short cost more than what is done in them, and each number waits
for the one before. Four trees in a row of the same joints go through the same loops, with four numbers at a time, which
a processor of vectors adds and multiplies as fast as one. lane_hess holds the four tree_hess entry by entry, lane_x
the four vectors dof by dof. Each tree gets the bits that it gets alone.
"""

from ..types import GPU, func, ti, vec4

LANES = 4
WIDE = not GPU  # a thread of a GPU has one lane


@func
def are_lanes(m, d, n, last):
    """Whether four trees that are alike begin at place n of island_tree, before place `last`."""
    t = d.island_tree[n]
    found = False
    if n + LANES <= last:
        if d.island_tree[n + LANES - 1] == t + LANES - 1:
            found = m.tree_alike[t % m.ntree] == 1
    return found


@func
def factor_lanes(m, d, w, t):
    """lane_hess = L' D L of tree t and the three behind it, from their tree_hess; unit L below, D on the diagonal."""
    first = m.tree_dofadr[t]
    o = m.dof_Madr[first]
    size = m.dof_Madr[m.tree_dofadr[t + 1]] - o
    base = w * m.nlane + o // LANES
    for a in range(size):
        x = vec4(0.0)
        for c in ti.static(range(LANES)):
            x[c] = d.tree_hess[w * m.nM + o + c * size + a]
        d.lane_hess[base + a] = x
    for n in range(m.tree_dofnum[t]):
        k = first + m.tree_dofnum[t] - 1 - n
        row = m.dof_Madr[k]
        end = m.dof_Madr[k + 1]
        inverse = 1.0 / d.lane_hess[base + row - o]
        for a in range(row + 1, end):
            e = d.lane_hess[base + a - o] * inverse
            to = base + m.dof_Madr[m.above_dof[a]] - o
            for q in range(end - a):  # what is left of row k has the places of that row
                d.lane_hess[to + q] = d.lane_hess[to + q] - e * d.lane_hess[base + a - o + q]
            d.lane_hess[base + a - o] = e


@func
def solve_lanes(m, d, w, t, r: ti.template(), z: ti.template()):
    """z = (L' D L)^-1 r on the dofs of tree t and the three behind it; returns r'z of each."""
    first = m.tree_dofadr[t]
    number = m.tree_dofnum[t]
    o = m.dof_Madr[first]
    base = w * m.nlane + o // LANES - o
    i0 = w * m.nv + first
    x0 = w * m.nlanedof + first // LANES - first
    for k in range(number):
        x = vec4(0.0)
        for c in ti.static(range(LANES)):
            x[c] = r[i0 + c * number + k]
        d.lane_x[x0 + first + k] = x
    for n in range(number):
        k = first + number - 1 - n
        row = m.dof_Madr[k]
        x = d.lane_x[x0 + k]
        for a in range(row + 1, m.dof_Madr[k + 1]):
            j = x0 + m.above_dof[a]
            d.lane_x[j] = d.lane_x[j] - d.lane_hess[base + a] * x
        d.lane_x[x0 + k] = x / d.lane_hess[base + row]
    s = vec4(0.0)
    for n in range(number):
        k = first + n
        x = d.lane_x[x0 + k]
        for a in range(m.dof_Madr[k] + 1, m.dof_Madr[k + 1]):
            x -= d.lane_hess[base + a] * d.lane_x[x0 + m.above_dof[a]]
        d.lane_x[x0 + k] = x
        for c in ti.static(range(LANES)):
            s[c] += r[i0 + c * number + n] * x[c]
            z[i0 + c * number + n] = x[c]
    return s
