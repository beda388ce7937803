"""The phases of a Newton round on a large island of free bodies, whose data lie in memory as its lists have them.

Bodies and contacts of a pile have any numbers, but its lists follow a curve through space (constraint/curve.py). Here
what the solver needs of a body lies at its place in island_tree, and what it needs of a contact at its place in
island_con. So a worker goes through memory in order, and finds in its own cache most of what it wrote the phase before.
The phases are those of phases.py and cg.py, with the same sums in the same order; contacts have three rows at most.
"""

from ..constants import DSBL_WARMSTART
from ..constraint.cone import cone_force, cone_hessian, cone_line, cone_rows, pushes
from ..spatial import cross, head, join, momentum, symmetric, tail
from ..types import FP, at6, func, put6, six, store, ti, vec3, vec6
from .free_body import invert_twist, to_dofs, to_forces, to_twist, to_wrench
from .tree_hessian import hessian_of_inertia, put_triangle, skew, sym6_times, with_contact

D, MU, FRICTION, DIM = 9, 10, 11, 13  # numbers of pack_law behind the contact's frame
JP = 3  # number of pack_along behind the residual


@func
def nobody(m, d):
    """A place that no body has, for what is static: its twist is zero."""
    return d.nworld * m.nbody - 1


@func
def first_dof(m, d, n):
    """World-major first dof of the body at place n."""
    t = d.island_tree[n]
    return t // m.ntree * m.nv + m.tree_dofadr[t % m.ntree]


@func
def pack_trees(m, d, first, last):
    """Bodies of a stretch of island_tree at x = 0, the first direction (as in start_trees), and the sides of their
    contacts by places of these."""
    cold = m.opt.disableflags & DSBL_WARMSTART != 0
    for n in range(first, last):
        t = d.island_tree[n]
        b = t // m.ntree * m.nbody + m.tree_bodyadr[t % m.ntree]
        i0 = first_dof(m, d, n)
        for i in ti.static(range(6)):
            d.pack_p[n][i] = ti.select(cold, d.qacc_smooth[i0 + i], d.qacc_warmstart[i0 + i])
        store(d.pack_x, n, vec6(0.0))
        store(d.pack_Mx, n, vec6(0.0))
        store(d.pack_push, n, vec6(0.0))
        store(d.pack_free, n, at6(d.qacc_smooth, i0))
        store(d.pack_smooth, n, at6(d.qfrc_smooth, i0))
        for k in ti.static(range(3)):
            d.pack_axis[n, k] = d.cdof[i0 + 3 + k]
        for i in ti.static(range(10)):
            d.pack_inert[n][i] = d.cinert[b][i]
        shift = d.pack_conadr[n] - d.body_conadr[b]
        for s in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
            side = d.body_con[s]
            d.pack_con[s + shift] = 2 * d.con_place[side // 2] + side % 2


@func
def pack_contacts(m, d, first, last):
    """Arms, laws and residuals at x = 0 of the contacts of a stretch of island_con, and the places of their bodies."""
    store(d.pack_twist, nobody(m, d), vec6(0.0))
    for n in range(first, last):
        c = d.island_con[n]
        for side in ti.static(range(2)):
            b = d.con_body[c][side]
            at = nobody(m, d)
            if b >= 0:
                at = d.tree_place[b // m.nbody * m.ntree + m.body_treeid[b % m.nbody]]
            d.pack_body[n][side] = at
            store(d.pack_arm, 2 * n + side, head(d.con_arm[c, side]))
        for r in ti.static(range(3)):
            for i in ti.static(range(3)):
                d.pack_law[n][3 * r + i] = d.contact_frame[c, r][i]
            d.pack_along[n][r] = -d.con_aref[c][r]
        d.pack_law[n][D] = d.con_D[c]
        d.pack_law[n][MU] = d.con_mu[c]
        d.pack_law[n][FRICTION] = d.contact_friction[c][0]
        d.pack_law[n][FRICTION + 1] = d.contact_friction[c][1]
        d.pack_law[n][DIM] = ti.cast(d.contact_dim[c], FP)


@func
def unpack_trees(m, d, first, last):
    """Accelerations and constraint forces of the bodies at the end."""
    for n in range(first, last):
        i0 = first_dof(m, d, n)
        put6(d.qacc, i0, d.pack_x[n])
        put6(d.qfrc_constraint, i0, d.pack_push[n])


@func
def unpack_contacts(m, d, first, last):
    """Forces and residuals of the contacts at the end."""
    for n in range(first, last):
        c = d.island_con[n]
        store(d.con_force, c, head(d.pack_force[n]))
        for r in ti.static(range(3)):
            d.con_Jaref[c][r] = d.pack_along[n][r]


# ---- what is read of a contact


@func
def axis(m, d, n, r):
    """Axis r of the frame of the contact at place n."""
    return vec3(d.pack_law[n][3 * r], d.pack_law[n][3 * r + 1], d.pack_law[n][3 * r + 2])


@func
def law(m, d, n):
    """(dim, D, mu, friction coefficients) of the contact at place n."""
    a = d.pack_law[n]
    return ti.cast(a[DIM], ti.i32), a[D], a[MU], vec6(0.0, a[FRICTION], a[FRICTION + 1], 0.0, 0.0, 0.0)


@func
def along(m, d, n):
    """(residual, J p) of the contact at place n."""
    a = d.pack_along[n]
    return vec6(a[0], a[1], a[2], 0.0, 0.0, 0.0), vec6(a[JP], a[JP + 1], a[JP + 2], 0.0, 0.0, 0.0)


@func
def relative_velocity(m, d, n):
    """Of body 2 against body 1, at the contact at place n, as pack_twist moves them."""
    v1 = d.pack_twist[d.pack_body[n][0]]
    v2 = d.pack_twist[d.pack_body[n][1]]
    return tail(v2) - tail(v1) + cross(head(v2), head(d.pack_arm[n, 1])) - cross(head(v1), head(d.pack_arm[n, 0]))


@func
def wrench_on(m, d, n):
    """Sum of pack_force on the body at place n, in list order."""
    total = vec6(0.0)
    for e in range(d.pack_conadr[n], d.pack_conadr[n + 1]):
        side = d.pack_con[e]
        force = (2.0 * ti.cast(side % 2, FP) - 1.0) * head(d.pack_force[side // 2])
        total += join(cross(head(d.pack_arm[side]), force), force)
    return total


# ---- a round


@func
def packed_project_trees(m, d, first, last):
    """As project_trees."""
    s = vec3(0.0)
    for n in range(first, last):
        p = d.pack_p[n]
        v = to_twist(3 * n, p, d.pack_axis)
        store(d.pack_twist, n, v)
        Mp = to_forces(3 * n, momentum(d.pack_inert, n, v), d.pack_axis)
        d.pack_Mp[n] = Mp
        for k in ti.static(range(6)):
            f = d.pack_Mx[n][k] - d.pack_smooth[n][k]
            s += p[k] * vec3(f - d.pack_push[n][k], f, Mp[k])
    return s


@func
def packed_project_contacts(m, d, first, last):
    for n in range(first, last):
        u = relative_velocity(m, d, n)
        dim = law(m, d, n)[0]
        for r in ti.static(range(3)):
            d.pack_along[n][JP + r] = ti.select(r < dim, axis(m, d, n, r).dot(u), FP(0.0))


@func
def packed_search(m, d, first, last, alpha, slope):
    """As search_contacts."""
    for n in range(first, last):
        dim, stiffness, mu, fri = law(m, d, n)
        j, p = along(m, d, n)
        slope += cone_line(m, d, j, p, alpha, dim, stiffness, mu, fri)
    return slope


@func
def packed_move_contacts(m, d, first, last, alpha, cost):
    """As move_contacts."""
    for n in range(first, last):
        dim, stiffness, mu, fri = law(m, d, n)
        old, p = along(m, d, n)
        j = old + alpha * p
        f0, f1, f2 = axis(m, d, n, 0), axis(m, d, n, 1), axis(m, d, n, 2)
        store(d.pack_along, n, head(j))
        rows = cone_rows(m, d, old, j, dim, mu, fri)
        f = cone_force(m, d, j, dim, stiffness, mu, fri)
        store(d.pack_force, n, f[1] * f0 + f[2] * f1 + f[3] * f2)
        h, g, e, a, q = cone_hessian(m, d, j, dim, stiffness, mu, fri)
        store(d.pack_hess, n, pushes(f0, f1, f2, h, g, e, a, q))
        cost += vec3(f[0], rows[0], rows[1])
    return cost


@func
def packed_move_trees(m, d, first, last, alpha):
    """As move_trees."""
    s = vec3(0.0)
    for n in range(first, last):
        push = to_forces(3 * n, wrench_on(m, d, n), d.pack_axis)
        d.pack_push[n] = push
        for k in ti.static(range(6)):
            p = d.pack_p[n][k]
            x = d.pack_x[n][k] + alpha * p
            f = d.pack_Mx[n][k] + alpha * d.pack_Mp[n][k]
            d.pack_x[n][k] = x
            d.pack_Mx[n][k] = f
            f -= d.pack_smooth[n][k]
            g = f - push[k]
            d.pack_p[n][k] = -g
            s += vec3(0.5 * f * (x - d.pack_free[n][k]), g * g, p * p)
    return s


@func
def packed_factor(m, d, first, last):
    """Inverse of each body's Hessian."""
    for n in range(first, last):
        ww, vw, vv = hessian_of_inertia(n, d.pack_inert)
        for e in range(d.pack_conadr[n], d.pack_conadr[n + 1]):
            side = d.pack_con[e]
            a = skew(head(d.pack_arm[side]))
            ww, vw, vv = with_contact(ww, vw, vv, symmetric(d.pack_hess, side // 2), a)
        put_triangle(n, ww, vw, vv, d.pack_inverse)
        invert_twist(n, d.pack_inverse)


# ---- conjugate gradients


@func
def packed_start(m, d, first, last):
    """p = 0, residual r = -gradient, which pack_p holds."""
    for n in range(first, last):
        d.pack_r[n] = to_wrench(3 * n, d.pack_p[n], d.pack_axis)
        d.pack_p[n] = vec6(0.0)


@func
def packed_turn(m, d, first, last, k, beta):
    """The next conjugate direction q = z + beta q."""
    for n in range(first, last):
        v = d.pack_z[n]
        if k > 0:
            v += beta * six(d.pack_twist[n])
        store(d.pack_twist, n, v)


@func
def packed_multiply_contacts(m, d, first, last):
    """D J q of the contacts."""
    for n in range(first, last):
        store(d.pack_force, n, symmetric(d.pack_hess, n) @ relative_velocity(m, d, n))


@func
def packed_multiply_trees(m, d, first, last):
    """H q from M q and what contacts have left; returns q'Hq."""
    s = FP(0.0)
    for n in range(first, last):
        v = six(d.pack_twist[n])
        y = wrench_on(m, d, n) + momentum(d.pack_inert, n, v)
        store(d.pack_wrench, n, y)
        s += v.dot(y)
    return s


@func
def packed_advance(m, d, first, last, k, step):
    """p and r a step along q, unless k < 0, then z = preconditioned r; returns r'z."""
    s = FP(0.0)
    for n in range(first, last):
        r = d.pack_r[n]
        if k >= 0:
            r -= step * six(d.pack_wrench[n])
            d.pack_p[n] = d.pack_p[n] + step * six(d.pack_twist[n])
            d.pack_r[n] = r
        z = sym6_times(n, r, d.pack_inverse)
        d.pack_z[n] = z
        s += r.dot(z)
    return s


@func
def packed_end(m, d, first, last):
    """The solution as a dof vector."""
    for n in range(first, last):
        d.pack_p[n] = to_dofs(3 * n, d.pack_p[n], d.pack_axis)
