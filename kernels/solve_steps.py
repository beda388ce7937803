"""What both solvers do with one tree, one contact or one row: the parts of a Newton round.

A round takes a search direction p through J and M, finds the step along it and moves. Residuals and directions of a
contact lie in con_acc: aref at 0, Jx - aref at 6, Jp at 12; of a row in row_sol at 0 and 1. Seed 000, "Convex solver".
"""

from tisim.kernels.cone import cone_force, cone_hessian, cone_line, load_parameters, to_contact, to_world
from tisim.kernels.free_body import forces_of_wrench, twist_of_dofs
from tisim.kernels.row_cost import row_force, row_line
from tisim.kernels.spatial import head, inertia_times, relative_twist, sum_contacts, tail, tree_project, tree_twists
from tisim.kernels.types import FP, at6, ld6, put6, st3, st6, ti, vec3, vec6

vec2f = ti.types.vector(2, FP)


@ti.func
def tree_times_M(
    w, t, nbody, nv, tree_table: ti.template(), tree_free: ti.template(), body_table: ti.template(),
    dof_armature: ti.template(), cinert: ti.template(), cdof: ti.template(), x: ti.template(), twist: ti.template(),
    wrench: ti.template(),
    y: ti.template(),
):  # fmt: skip
    """y = M x on tree t, and the twists of its bodies."""
    if tree_free[t] == 1:
        i0 = w * nv + tree_table[4 * t + 2]
        b = w * nbody + tree_table[4 * t]
        v = twist_of_dofs(i0, at6(x, i0), cdof)
        f = forces_of_wrench(i0, inertia_times(cinert, b, v), cdof)
        st6(twist, b, v)
        put6(y, i0, f)
    else:
        tree_twists(w, t, nbody, nv, tree_table, body_table, cdof, x, twist)
        for b in range(tree_table[4 * t], tree_table[4 * t] + tree_table[4 * t + 1]):
            st6(wrench, w * nbody + b, inertia_times(cinert, w * nbody + b, ld6(twist, w * nbody + b)))
        tree_project(w, t, nbody, nv, tree_table, body_table, cdof, wrench, y)
        for i in range(tree_table[4 * t + 2], tree_table[4 * t + 2] + tree_table[4 * t + 3]):
            y[w * nv + i] = y[w * nv + i] + dof_armature[i] * x[w * nv + i]


@ti.func
def contact_direction(
    c, contact_dim: ti.template(), contact_frame: ti.template(), con_body: ti.template(), con_arm: ti.template(),
    twist: ti.template(), con_acc: ti.template(),
):  # fmt: skip
    """J p of contact c from the bodies' twists."""
    st6(con_acc, 3 * c + 2, to_contact(c, relative_twist(c, con_body, con_arm, twist), contact_dim[c], contact_frame))


@ti.func
def row_times(r, row_int: ti.template(), row_f: ti.template(), x: ti.template()):
    """J x of row r."""
    s = FP(0.0)
    for k in range(row_int[6 * r + 2]):
        s += row_f[13 * r + k] * x[row_int[6 * r + 3 + k]]
    return s


@ti.func
def contact_line(
    c, alpha, cone, impratio, contact_dim: ti.template(), con_par: ti.template(), con_acc: ti.template()
):
    """Derivatives of contact c's cost along the direction."""
    return cone_line(
        ld6(con_acc, 3 * c + 1), ld6(con_acc, 3 * c + 2), alpha, contact_dim[c], cone, con_par[7 * c],
        con_par[7 * c + 1], load_parameters(c, con_par), impratio,
    )  # fmt: skip


@ti.func
def row_along(r, alpha, row_int: ti.template(), row_f: ti.template(), row_sol: ti.template()):
    """Derivatives of row r's cost along the direction."""
    return row_line(
        row_int[6 * r], row_sol[4 * r], row_sol[4 * r + 1], alpha, row_f[13 * r + 3], row_f[13 * r + 5]
    )


@ti.func
def store_wrench(c, dim, f, con_force: ti.template(), con_torque: ti.template()):
    """Keeps the wrench (torque, force) of contact c; there is a torque above dim 3 only."""
    st3(con_force, c, tail(f))
    if dim > 3:
        st3(con_torque, c, head(f))


@ti.func
def contact_move(
    c, alpha, cone, impratio, contact_dim: ti.template(), contact_frame: ti.template(), con_par: ti.template(),
    con_acc: ti.template(), con_force: ti.template(), con_torque: ti.template(), con_hess: ti.template(),
    con_hess_rot: ti.template(),
):  # fmt: skip
    """Moves contact c along the direction; its force and Hessian there. Returns the cost."""
    dim = contact_dim[c]
    j = ld6(con_acc, 3 * c + 1) + alpha * ld6(con_acc, 3 * c + 2)
    st6(con_acc, 3 * c + 1, j)
    fri = load_parameters(c, con_par)
    f = cone_force(j, dim, cone, con_par[7 * c], con_par[7 * c + 1], fri, impratio)
    store_wrench(c, dim, to_world(c, vec6(f[1], f[2], f[3], f[4], f[5], f[6]), contact_frame), con_force, con_torque)
    cone_hessian(
        c, j, dim, cone, con_par[7 * c], con_par[7 * c + 1], fri, impratio, contact_frame, con_hess, con_hess_rot
    )
    return f[0]


@ti.func
def row_move(r, alpha, row_int: ti.template(), row_f: ti.template(), row_sol: ti.template()):
    """The same for row r."""
    j = row_sol[4 * r] + alpha * row_sol[4 * r + 1]
    f = row_force(row_int[6 * r], j, row_f[13 * r + 3], row_f[13 * r + 5])
    row_sol[4 * r] = j
    row_sol[4 * r + 2] = f[1]
    row_sol[4 * r + 3] = f[2]
    return f[0]


@ti.func
def add_rows(
    wt, scale, tree_rowadr: ti.template(), tree_rownum: ti.template(), tree_row: ti.template(), row_int: ti.template(),
    row_f: ti.template(), row_sol: ti.template(), y: ti.template(),
):  # fmt: skip
    """y += scale J' f of the rows of world-major tree wt."""
    for n in range(tree_rowadr[wt], tree_rowadr[wt] + tree_rownum[wt]):
        r = tree_row[n]
        for k in range(row_int[6 * r + 2]):
            i = row_int[6 * r + 3 + k]
            y[i] = y[i] + scale * row_f[13 * r + k] * row_sol[4 * r + 2]


@ti.func
def tree_gather(
    w, t, ntree, nbody, nv, tree_table: ti.template(), tree_free: ti.template(), body_table: ti.template(),
    cdof: ti.template(),
    body_conadr: ti.template(), body_connum: ti.template(), body_con: ti.template(), con_arm: ti.template(),
    contact_dim: ti.template(), con_force: ti.template(), con_torque: ti.template(), tree_rowadr: ti.template(),
    tree_rownum: ti.template(), tree_row: ti.template(),
    row_int: ti.template(), row_f: ti.template(), row_sol: ti.template(), wrench: ti.template(), y: ti.template(),
):  # fmt: skip
    """y = J' f of tree t from the wrenches of its contacts and the forces of its rows, gathered in list order."""
    for k in range(tree_table[4 * t + 1]):
        b = w * nbody + tree_table[4 * t] + k
        f = sum_contacts(b, body_conadr, body_connum, body_con, con_arm, contact_dim, con_force, con_torque)
        if tree_free[t] == 1:
            i0 = w * nv + tree_table[4 * t + 2]
            put6(y, i0, forces_of_wrench(i0, f, cdof))
        else:
            st6(wrench, b, f)
    if tree_free[t] == 0:
        tree_project(w, t, nbody, nv, tree_table, body_table, cdof, wrench, y)
        add_rows(w * ntree + t, 1.0, tree_rowadr, tree_rownum, tree_row, row_int, row_f, row_sol, y)


@ti.func
def tree_hessian_gather(
    w, t, ntree, nbody, nv, tree_table: ti.template(), body_table: ti.template(), dof_armature: ti.template(),
    cinert: ti.template(), cdof: ti.template(),
    body_conadr: ti.template(), body_connum: ti.template(), body_con: ti.template(), con_arm: ti.template(),
    contact_dim: ti.template(), con_force: ti.template(), con_torque: ti.template(), tree_rowadr: ti.template(),
    tree_rownum: ti.template(), tree_row: ti.template(),
    row_int: ti.template(), row_f: ti.template(), row_sol: ti.template(), x: ti.template(), twist: ti.template(),
    wrench: ti.template(), y: ti.template(),
):  # fmt: skip
    """y = (M + J' D J) x of tree t; con_force, con_torque and row_sol hold D J x."""
    for b in range(tree_table[4 * t], tree_table[4 * t] + tree_table[4 * t + 1]):
        wb = w * nbody + b
        f = sum_contacts(wb, body_conadr, body_connum, body_con, con_arm, contact_dim, con_force, con_torque)
        st6(wrench, wb, f + inertia_times(cinert, wb, ld6(twist, wb)))
    tree_project(w, t, nbody, nv, tree_table, body_table, cdof, wrench, y)
    for i in range(tree_table[4 * t + 2], tree_table[4 * t + 2] + tree_table[4 * t + 3]):
        y[w * nv + i] = y[w * nv + i] + dof_armature[i] * x[w * nv + i]
    add_rows(w * ntree + t, 1.0, tree_rowadr, tree_rownum, tree_row, row_int, row_f, row_sol, y)


@ti.func
def next_alpha(alpha, lo, hi, d1, d2):
    """(alpha, lo, hi) of a Newton search for the zero of the derivative, kept inside its bracket (hi < 0: none yet).

    d1, d2 are the derivatives at alpha; lo is a step known to be too short, hi one too long.
    """
    a = lo
    b = hi
    if d1 < 0.0:
        a = ti.max(lo, alpha)
    else:
        b = alpha
    x = alpha - d1 / ti.max(d2, 1e-30)
    if b < 0.0:
        if x <= a:
            x = 2.0 * a + 1.0
    elif x <= a or x >= b or (hi >= 0.0 and b - a > 0.5 * (hi - lo)):  # a cone's tip can hold Newton up: bisect
        x = 0.5 * (a + b)
    return vec3(x, a, b)
