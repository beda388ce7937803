"""The phases of a Newton round on a large island of free bodies, whose members sit in memory as its lists have them.

Bodies and contacts of a pile have any numbers, but its lists follow a curve through space (constraint/curve.py). Here
the n-th of a list has the seat of its n-th smallest member in the arrays that are there: a worker goes through memory
in order, and finds in its own cache most of what it wrote the phase before. `sit` gives out the seats, `rise` brings
home what others read.

Bodies are solved as twists, as in free_body.py, relative to the motion without constraints: y = S (qacc - qacc_smooth).
So none of S, qacc_smooth and qfrc_smooth is needed within a phase of contacts or of conjugate gradients. At its seat a
body has y in sol_Ma, wrenches of its contacts in sol_Mp, the direction p in sol_p; a contact has what its law asks for
in the numbers that three rows leave free in con_Jaref and con_Jp. The phases are those of phases.py and cg.py.
"""

from ..constants import DSBL_WARMSTART
from ..constraint.cone import cone_force, cone_hessian, cone_line, cone_rows, pushes
from ..spatial import cross, head, join, momentum, symmetric, tail
from ..team import meet
from ..types import FP, at6, func, put6, six, store, ti, vec3, vec6
from .free_body import dofs_of_twist, forces_of_wrench, invert_twist, twist_of_dofs
from .isle import first_block, next_block, stretch
from .tree_hessian import hessian_of_inertia, put_triangle, sym6_times, with_contact

MU, FRICTION = 3, 4  # in con_Jaref, behind the residual: mu of the regularised cone, two coefficients
D, DIM = 3, 4  # in con_Jp, behind J p: con_D, number of rows


@func
def body_of(m, d, w, t):
    """World-major body of a tree of world w."""
    return w * m.nbody + m.tree_bodyadr[t - w * m.ntree]


@func
def dof_of(m, d, w, t):
    """Its first world-major dof."""
    return w * m.nv + m.tree_dofadr[t - w * m.ntree]


# ---- from numbers to seats, and back: each in two phases, since those of others are still read in the first


@func
def sit_trees(m, d, w, first, last):
    """Bodies of a stretch of island_tree at qacc = 0, the first direction (as in start_trees), the seats of their
    contacts."""
    cold = m.opt.disableflags & DSBL_WARMSTART != 0
    for n in range(first, last):
        t = d.island_tree[n]
        i0 = dof_of(m, d, w, t)
        b = body_of(m, d, w, t)
        seat = dof_of(m, d, w, d.tree_seat[n])
        free = twist_of_dofs(m, d, i0, at6(d.qacc_smooth, i0))
        p = free
        if not cold:
            p = twist_of_dofs(m, d, i0, at6(d.qacc_warmstart, i0))
        put6(d.sol_p, seat, p)
        put6(d.sol_Ma, seat, -1.0 * free)
        put6(d.sol_Mp, seat, vec6(0.0))
        d.seat_inert[body_of(m, d, w, d.tree_seat[n])] = d.cinert[b]
        shift = d.seat_conadr[n] - d.body_conadr[b]
        for s in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
            side = d.body_con[s]
            d.seat_con[s + shift] = 2 * d.seat_of_con[side // 2] + side % 2


@func
def sit_contacts(m, d, w, first, last):
    """Residuals at qacc = 0, laws and bodies of the contacts of a stretch of island_con; con_hess holds their arms."""
    for n in range(first, last):
        c = d.island_con[n]
        seat = d.con_seat[n]
        for side in ti.static(range(2)):
            b = d.con_body[c][side]
            at = 0  # the world, whose twist is zero
            if b >= 0:
                at = body_of(m, d, w, d.seat_of_tree[w * m.ntree + m.body_treeid[b - w * m.nbody]])
            d.seat_body[seat][side] = at
        store(d.con_hess, seat, join(head(d.con_arm[c, 0]), head(d.con_arm[c, 1])))
        aref = d.con_aref[c]
        fri = d.contact_friction[c]
        d.con_Jaref[seat] = vec6(-aref[0], -aref[1], -aref[2], d.con_mu[c], fri[0], fri[1])
        d.con_Jp[seat] = vec6(0.0, 0.0, 0.0, d.con_D[c], ti.cast(d.contact_dim[c], FP), 0.0)


@func
def sit_arms(m, d, first, last):
    """Arms of the contacts, in the second phase."""
    for n in range(first, last):
        seat = d.con_seat[n]
        arms = six(d.con_hess[seat])
        store(d.con_arm, 2 * seat, head(arms))
        store(d.con_arm, 2 * seat + 1, tail(arms))


@func
def rise_trees(m, d, w, first, last):
    """Accelerations and constraint forces at the end."""
    for n in range(first, last):
        i0 = dof_of(m, d, w, d.island_tree[n])
        seat = dof_of(m, d, w, d.tree_seat[n])
        put6(d.qacc, i0, at6(d.qacc_smooth, i0) + dofs_of_twist(m, d, i0, at6(d.sol_Ma, seat)))
        put6(d.qfrc_constraint, i0, forces_of_wrench(m, d, i0, at6(d.sol_Mp, seat)))


@func
def rise_contacts(m, d, first, last):
    """con_hess and con_Jp of each contact hold its arms, residual and force."""
    for n in range(first, last):
        c = d.island_con[n]
        seat = d.con_seat[n]
        store(d.con_hess, c, join(head(d.con_arm[seat, 0]), head(d.con_arm[seat, 1])))
        d.con_Jp[c] = join(head(d.con_Jaref[seat]), head(d.con_force[seat]))


@func
def rise_more(m, d, first, last):
    """They are where others read them, in the second phase."""
    for n in range(first, last):
        c = d.con_seat[n]  # all have their own seat again
        arms = six(d.con_hess[c])
        store(d.con_arm, 2 * c, head(arms))
        store(d.con_arm, 2 * c + 1, tail(arms))
        d.con_Jaref[c] = join(head(d.con_Jp[c]), vec3(0.0))
        store(d.con_force, c, tail(d.con_Jp[c]))


@func
def take_seats(m, d, isle: ti.template()):
    """The rest of newton.start where members of the island change seats."""
    b = first_block(m, d, isle, isle.cons)
    while b < isle.cons.blocks:
        first, last = stretch(isle.cons, b)
        sit_arms(m, d, first, last)
        b = next_block(m, d, isle, isle.cons, b)
    meet(m, d, isle.me, isle.size)


@func
def leave_seats(m, d, isle: ti.template()):
    """What others read of the island goes to where its members' numbers have it."""
    b = first_block(m, d, isle, isle.trees)
    while b < isle.trees.blocks:
        first, last = stretch(isle.trees, b)
        rise_trees(m, d, isle.world, first, last)
        b = next_block(m, d, isle, isle.trees, b)
    b = first_block(m, d, isle, isle.cons)
    while b < isle.cons.blocks:
        first, last = stretch(isle.cons, b)
        rise_contacts(m, d, first, last)
        b = next_block(m, d, isle, isle.cons, b)
    meet(m, d, isle.me, isle.size)
    b = first_block(m, d, isle, isle.cons)
    while b < isle.cons.blocks:
        first, last = stretch(isle.cons, b)
        rise_more(m, d, first, last)
        b = next_block(m, d, isle, isle.cons, b)
    meet(m, d, isle.me, isle.size)


# ---- what is read of a contact in a seat


@func
def law(m, d, seat):
    """(dim, D, mu, friction coefficients)."""
    j = d.con_Jaref[seat]
    p = d.con_Jp[seat]
    return ti.cast(p[DIM], ti.i32), p[D], j[MU], vec6(0.0, j[FRICTION], j[FRICTION + 1], 0.0, 0.0, 0.0)


@ti.func
def rows_of(x):
    """A contact's three rows of con_Jaref or con_Jp."""
    return join(head(x), vec3(0.0))


@func
def relative_velocity(m, d, seat):
    """Of body 2 against body 1, as d.twist moves them."""
    v1 = d.twist[d.seat_body[seat][0]]
    v2 = d.twist[d.seat_body[seat][1]]
    return tail(v2) - tail(v1) + cross(head(v2), head(d.con_arm[seat, 1])) - cross(head(v1), head(d.con_arm[seat, 0]))


@func
def wrench_on(m, d, n):
    """Sum of con_force on the body at place n of island_tree, in list order."""
    total = vec6(0.0)
    for e in range(d.seat_conadr[n], d.seat_conadr[n + 1]):
        side = d.seat_con[e]
        force = (2.0 * ti.cast(side % 2, FP) - 1.0) * head(d.con_force[side // 2])
        total += join(cross(head(d.con_arm[side]), force), force)
    return total


# ---- a round


@func
def packed_project_trees(m, d, w, first, last):
    """As project_trees."""
    s = vec3(0.0)
    for n in range(first, last):
        seat = dof_of(m, d, w, d.tree_seat[n])
        b = body_of(m, d, w, d.tree_seat[n])
        p = at6(d.sol_p, seat)
        store(d.twist, b, p)
        f = momentum(d.seat_inert, b, at6(d.sol_Ma, seat))
        s += vec3(p.dot(f - at6(d.sol_Mp, seat)), p.dot(f), p.dot(momentum(d.seat_inert, b, p)))
    return s


@func
def packed_project_contacts(m, d, first, last):
    for n in range(first, last):
        c = d.island_con[n]
        seat = d.con_seat[n]
        u = relative_velocity(m, d, seat)
        dim = law(m, d, seat)[0]
        for r in ti.static(range(3)):
            d.con_Jp[seat][r] = ti.select(r < dim, d.contact_frame[c, r].dot(u), FP(0.0))


@func
def packed_search(m, d, first, last, alpha, slope):
    """As search_contacts."""
    for n in range(first, last):
        seat = d.con_seat[n]
        dim, stiffness, mu, fri = law(m, d, seat)
        slope += cone_line(m, d, rows_of(d.con_Jaref[seat]), rows_of(d.con_Jp[seat]), alpha, dim, stiffness, mu, fri)
    return slope


@func
def packed_move_contacts(m, d, first, last, alpha, cost):
    """As move_contacts."""
    for n in range(first, last):
        c = d.island_con[n]
        seat = d.con_seat[n]
        dim, stiffness, mu, fri = law(m, d, seat)
        old = rows_of(d.con_Jaref[seat])
        j = old + alpha * rows_of(d.con_Jp[seat])
        store(d.con_Jaref, seat, head(j))
        f0, f1, f2 = d.contact_frame[c, 0], d.contact_frame[c, 1], d.contact_frame[c, 2]
        rows = cone_rows(m, d, old, j, dim, mu, fri)
        f = cone_force(m, d, j, dim, stiffness, mu, fri)
        store(d.con_force, seat, f[1] * f0 + f[2] * f1 + f[3] * f2)
        h, g, e, a, q = cone_hessian(m, d, j, dim, stiffness, mu, fri)
        store(d.con_hess, seat, pushes(f0, f1, f2, h, g, e, a, q))
        cost += vec3(f[0], rows[0], rows[1])
    return cost


@func
def packed_move_trees(m, d, w, first, last, alpha):
    """As move_trees; sol_p becomes the wrench of -gradient."""
    s = vec3(0.0)
    for n in range(first, last):
        i0 = dof_of(m, d, w, d.island_tree[n])
        seat = dof_of(m, d, w, d.tree_seat[n])
        push = wrench_on(m, d, n)
        p = at6(d.sol_p, seat)
        y = at6(d.sol_Ma, seat) + alpha * p
        f = momentum(d.seat_inert, body_of(m, d, w, d.tree_seat[n]), y)
        put6(d.sol_Ma, seat, y)
        put6(d.sol_Mp, seat, push)
        put6(d.sol_p, seat, push - f)
        g = forces_of_wrench(m, d, i0, push - f)
        x = dofs_of_twist(m, d, i0, p)
        s += vec3(0.5 * f.dot(y), g.dot(g), x.dot(x))
    return s


@func
def packed_factor(m, d, w, first, last):
    """Inverse of each body's Hessian."""
    for n in range(first, last):
        b = body_of(m, d, w, d.tree_seat[n])
        ww, vw, vv = hessian_of_inertia(b, d.seat_inert)
        for e in range(d.seat_conadr[n], d.seat_conadr[n + 1]):
            side = d.seat_con[e]
            ww, vw, vv = with_contact(ww, vw, vv, symmetric(d.con_hess, side // 2), head(d.con_arm[side]))
        put_triangle(b, ww, vw, vv, d.body_hess)
        invert_twist(b, d.body_hess)


# ---- conjugate gradients


@func
def packed_start(m, d, w, first, last):
    """p = 0, residual r = -gradient, which sol_p holds."""
    for n in range(first, last):
        seat = dof_of(m, d, w, d.tree_seat[n])
        put6(d.sol_r, seat, at6(d.sol_p, seat))
        put6(d.sol_p, seat, vec6(0.0))


@func
def packed_turn(m, d, w, first, last, k, beta):
    """The next conjugate direction q = z + beta q."""
    for n in range(first, last):
        b = body_of(m, d, w, d.tree_seat[n])
        v = at6(d.sol_z, dof_of(m, d, w, d.tree_seat[n]))
        if k > 0:
            v += beta * six(d.twist[b])
        store(d.twist, b, v)


@func
def packed_multiply_contacts(m, d, first, last):
    """D J q of the contacts."""
    for n in range(first, last):
        seat = d.con_seat[n]
        store(d.con_force, seat, symmetric(d.con_hess, seat) @ relative_velocity(m, d, seat))


@func
def packed_multiply_trees(m, d, w, first, last):
    """H q from M q and what contacts have left; returns q'Hq."""
    s = FP(0.0)
    for n in range(first, last):
        b = body_of(m, d, w, d.tree_seat[n])
        v = six(d.twist[b])
        y = wrench_on(m, d, n) + momentum(d.seat_inert, b, v)
        store(d.wrench, b, y)
        s += v.dot(y)
    return s


@func
def packed_advance(m, d, w, first, last, k, step):
    """p and r a step along q, unless k < 0, then z = preconditioned r; returns r'z."""
    s = FP(0.0)
    for n in range(first, last):
        b = body_of(m, d, w, d.tree_seat[n])
        seat = dof_of(m, d, w, d.tree_seat[n])
        r = at6(d.sol_r, seat)
        if k >= 0:
            r -= step * six(d.wrench[b])
            put6(d.sol_p, seat, at6(d.sol_p, seat) + step * six(d.twist[b]))
            put6(d.sol_r, seat, r)
        z = sym6_times(b, r, d.body_hess)
        put6(d.sol_z, seat, z)
        s += r.dot(z)
    return s
