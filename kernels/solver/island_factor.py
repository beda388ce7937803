"""Newton's direction of an island of free bodies by a sparse factor of its Hessian, L D L' in blocks of 6 x 6.

Vectors are twists and wrenches, as in free_body.py. D holds, inverted, what is left of each body's Hessian once all
before it are eliminated (body_hess). A block couples a body with a link of it (elimination.py): rows are the link's,
columns the body's. It lies at island_dense[isle.factor:], row by row, and is the Hessian's, not yet multiplied by the
inverse of D, so that both triangular solves read the same numbers. Duff, Erisman, Reid, "Direct methods for sparse
matrices", chapter 10.
"""

from ..constraint.island import BLOCK
from ..spatial import head, symmetric
from ..types import FP, at6, func, put6, six, store, ti, vec6
from .elimination import block_of
from .free_body import dofs_of_twist, invert_twist, mat6, wrench_of_forces
from .tree_hessian import skew, sym6_times


@func
def factored_direction(m, d, isle: ti.template()):
    """sol_p = H^-1 sol_p; body_hess holds the bodies' own Hessians."""
    couple(m, d, isle)
    factor(m, d, isle)
    solve(m, d, isle)


@func
def body_of(m, d, t):
    """World-major body of world-major tree t, which has one."""
    w = t // m.ntree
    return w * m.nbody + m.tree_bodyadr[t - w * m.ntree]


@func
def couple(m, d, isle: ti.template()):
    """The Hessian's blocks between two bodies: -A2' K A1 of each contact, A twist of a body to that of the point."""
    last = d.island_order[isle.trees.end - 1]
    for e in range(isle.factor, isle.factor + BLOCK * (d.tree_linkadr[last] + d.tree_linknum[last])):
        d.island_dense[e] = 0.0
    for e in range(isle.cons.begin, isle.cons.end):
        c = d.island_con[e]
        if d.con_block[c] >= 0:
            adr = isle.factor + BLOCK * d.con_block[c]
            b1 = d.con_body[c][0]
            b2 = d.con_body[c][1]
            late = ti.cast(rank_of_body(m, d, b2) > rank_of_body(m, d, b1), ti.i32)
            s2 = skew(head(d.con_arm[c, late]))
            s1 = skew(head(d.con_arm[c, 1 - late]))
            k = symmetric(d.con_hess, c)
            wv = s2 @ k
            vw = -1.0 * (k @ s1)
            ww = -1.0 * (wv @ s1)
            if ti.static(m.has.torsion):
                if d.contact_dim[c] > 3:
                    kvw = d.con_hess_mix[c]
                    kwv = kvw.transpose()
                    ww += symmetric(d.con_hess_rot, c) - kwv @ s1 + s2 @ kvw
                    wv += kwv
                    vw += kvw
            for i in ti.static(range(3)):
                for j in ti.static(range(3)):
                    take_off(adr + 6 * i + j, ww[i, j], d.island_dense)
                    take_off(adr + 6 * i + 3 + j, wv[i, j], d.island_dense)
                    take_off(adr + 18 + 6 * i + j, vw[i, j], d.island_dense)
                    take_off(adr + 18 + 6 * i + 3 + j, k[i, j], d.island_dense)


@ti.func
def take_off(i, x, a: ti.template()):
    a[i] = a[i] - x


@func
def rank_of_body(m, d, b):
    w = b // m.nbody
    return d.tree_rank[w * m.ntree + m.body_treeid[b - w * m.nbody]]


@func
def factor(m, d, isle: ti.template()):
    """Eliminates one body after the other."""
    for e in range(isle.trees.begin, isle.trees.end):
        t = d.island_order[e]
        b = body_of(m, d, t)
        invert_twist(b, d.body_hess)
        adr = isle.factor + BLOCK * d.tree_linkadr[t]
        for i in range(d.tree_linknum[t]):
            s = d.tree_link[t][i]
            g = mat6(0.0)  # the block of s, times the inverse
            for r in ti.static(range(6)):
                x = sym6_times(b, at6(d.island_dense, adr + BLOCK * i + 6 * r), d.body_hess)
                for q in ti.static(range(6)):
                    g[r, q] = x[q]
            own = body_of(m, d, s)
            for r in ti.static(range(6)):
                x = at6(d.island_dense, adr + BLOCK * i + 6 * r)
                for q in ti.static(range(r + 1)):
                    h = FP(0.0)
                    for k in ti.static(range(6)):
                        h += g[q, k] * x[k]
                    d.body_hess[own][r * (r + 1) // 2 + q] = d.body_hess[own][r * (r + 1) // 2 + q] - h
            for j in range(d.tree_linknum[t]):
                other = d.tree_link[t][j]
                if d.tree_rank[other] > d.tree_rank[s]:
                    to = isle.factor + BLOCK * block_of(m, d, s, other)
                    for r in range(6):
                        x = g @ at6(d.island_dense, adr + BLOCK * j + 6 * r)
                        put6(d.island_dense, to + 6 * r, at6(d.island_dense, to + 6 * r) - x)


@func
def solve(m, d, isle: ti.template()):
    """sol_p = (L D L')^-1 sol_p: wrenches go forward, twists come back."""
    for e in range(isle.trees.begin, isle.trees.end):
        i = first_dof(m, d, d.island_order[e])
        store(d.wrench, body_of(m, d, d.island_order[e]), wrench_of_forces(m, d, i, at6(d.sol_p, i)))
    for e in range(isle.trees.begin, isle.trees.end):
        t = d.island_order[e]
        b = body_of(m, d, t)
        x = sym6_times(b, six(d.wrench[b]), d.body_hess)
        store(d.twist, b, x)
        for i in range(d.tree_linknum[t]):
            adr = isle.factor + BLOCK * (d.tree_linkadr[t] + i)
            other = body_of(m, d, d.tree_link[t][i])
            y = vec6(0.0)
            for r in ti.static(range(6)):
                y[r] = at6(d.island_dense, adr + 6 * r).dot(x)
            store(d.wrench, other, six(d.wrench[other]) - y)
    for e in range(isle.trees.begin, isle.trees.end):
        t = d.island_order[isle.trees.end - 1 - (e - isle.trees.begin)]
        b = body_of(m, d, t)
        y = vec6(0.0)
        for i in range(d.tree_linknum[t]):
            adr = isle.factor + BLOCK * (d.tree_linkadr[t] + i)
            v = d.twist[body_of(m, d, d.tree_link[t][i])]
            for r in ti.static(range(6)):
                y += v[r] * at6(d.island_dense, adr + 6 * r)
        x = six(d.twist[b]) - sym6_times(b, y, d.body_hess)
        store(d.twist, b, x)
        i = first_dof(m, d, t)
        put6(d.sol_p, i, dofs_of_twist(m, d, i, x))


@func
def first_dof(m, d, t):
    """First world-major dof of world-major tree t."""
    w = t // m.ntree
    return w * m.nv + m.tree_dofadr[t - w * m.ntree]
