"""What both solvers do with one tree, one contact or one row: the parts of a Newton round.

A round takes a search direction p through J and M, finds the step along it and moves (phases.py). Residuals Jx - aref
and directions Jp are con_Jaref and con_Jp of a contact, row_Jaref and row_Jp of a row. Seed 000, "Convex solver".
"""

from ..constraint.cone import (
    cone_force,
    cone_hessian,
    cone_line,
    cone_rows,
    load_parameters,
    store_hessian,
    to_contact,
    to_world,
)
from ..constraint.row import row_times
from ..constraint.row_cost import row_force, row_line, row_state
from ..spatial import (
    cross,
    head,
    inertia_times,
    join,
    relative_twist,
    sum_contacts,
    symmetric,
    tail,
    tree_project,
    tree_twists,
)
from ..tendon.inertia import add_tendon_product
from ..types import (
    FP,
    GPU,
    at6,
    func,
    put6,
    six,
    store,
    ti,
    vec3,
    vec6,
)
from .free_body import forces_of_wrench, twist_of_dofs
from .row_hessian import each_pose

NEWS = 6  # behind the numbers of con_hess: not 0 where they are others than before
vec2f = ti.types.vector(2, FP)


@func
def tree_times_M(m, d, w, t, x: ti.template(), y: ti.template(), there: ti.template()):
    """y = M x on tree t, and the twists of its bodies. there: of a tree with joints they are known, and the wrenches
    that give them."""
    if m.tree_free[t] == 1:
        i0 = w * m.nv + m.tree_dofadr[t]
        b = w * m.nbody + m.tree_bodyadr[t]
        v = twist_of_dofs(m, d, i0, at6(x, i0))
        f = forces_of_wrench(m, d, i0, inertia_times(m, d, b, v))
        store(d.twist, b, v)
        put6(y, i0, f)
    if ti.static(m.has.jointed):
        if m.tree_free[t] == 0:
            if not there:
                tree_twists(m, d, w, t, x)
                for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
                    store(d.wrench, w * m.nbody + b, inertia_times(m, d, w * m.nbody + b, d.twist[w * m.nbody + b]))
            tree_project(m, d, w, t, y)
            for i in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
                y[w * m.nv + i] = y[w * m.nv + i] + m.dof_armature[w, i] * x[w * m.nv + i]
            if ti.static(m.has.heavy):
                add_tendon_product(m, d, w, t, x, y)


@func
def contact_direction(m, d, c):
    """J p of contact c from the bodies' twists."""
    d.con_Jp[c] = to_contact(c, relative_twist(m, d, c, d.twist), d.contact_dim[c], d.contact_frame)


@func
def contact_line(m, d, c, alpha):
    """Derivatives of contact c's cost along the direction."""
    return cone_line(
        m, d, d.con_Jaref[c], d.con_Jp[c], alpha, d.contact_dim[c], d.con_D[c], d.con_mu[c], load_parameters(m, d, c)
    )


@func
def row_along(m, d, r, alpha):
    """Derivatives of row r's cost along the direction."""
    return row_line(d.row_type[r], d.row_Jaref[r], d.row_Jp[r], alpha, d.row_R[r], d.row_floss[r])


@func
def store_wrench(m, d, c, dim, f):
    """Keeps the wrench (torque, force) of contact c; there is a torque above dim 3 only."""
    store(d.con_force, c, tail(f))
    if ti.static(m.has.torsion):
        if dim > 3:
            d.con_torque[c] = head(f)


@func
def contact_move(m, d, c, alpha, posed: ti.template()):
    """Moves contact c along the direction; its force and Hessian there. Returns the cost, the rows that act, and
    those that came or went. posed: con_hess tells whether the Hessian is another one (articulated.py)."""
    dim = d.contact_dim[c]
    before = vec6(0.0)
    if ti.static(not (GPU or isinstance(posed, bool))):
        if posed:
            before = six(d.con_hess[c])
    old = d.con_Jaref[c]
    j = old + alpha * d.con_Jp[c]
    d.con_Jaref[c] = j
    fri = load_parameters(m, d, c)
    rows = cone_rows(m, d, old, j, dim, d.con_mu[c], fri)
    f = cone_force(m, d, j, dim, d.con_D[c], d.con_mu[c], fri)
    store_wrench(m, d, c, dim, to_world(c, vec6(f[1], f[2], f[3], f[4], f[5], f[6]), d.contact_frame))
    h, g, e, a, q = cone_hessian(m, d, j, dim, d.con_D[c], d.con_mu[c], fri)
    store_hessian(m, d, c, dim, h, g, e, a, q)
    if ti.static(not (GPU or isinstance(posed, bool))):
        if posed:
            same = dim <= 3
            for i in ti.static(range(6)):
                same = same and d.con_hess[c][i] == before[i]
            d.con_hess[c][NEWS] = ti.select(same, FP(0.0), FP(1.0))
    return vec3(f[0], rows[0], rows[1])


@func
def row_move(m, d, r, alpha):
    """The same for row r."""
    old = d.row_Jaref[r]
    j = old + alpha * d.row_Jp[r]
    f = row_force(d.row_type[r], j, d.row_R[r], d.row_floss[r])
    d.row_Jaref[r] = j
    d.row_force[r] = f[1]
    d.row_hess[r] = f[2]
    state = row_state(d.row_type[r], j, d.row_R[r], d.row_floss[r])
    change = ti.select(state != row_state(d.row_type[r], old, d.row_R[r], d.row_floss[r]), 1.0, 0.0)
    return vec3(ti.select(d.row_still[r] == 1, 0.0, f[0]), ti.select(state > 0, 1.0, 0.0), change)


@func
def add_rows(m, d, wt, posed, y: ti.template()):
    """y += J' f of what rows do to world-major tree wt; if `posed` but for those of connects and welds."""
    if ti.static(m.has.rows):
        for s in range(d.tree_segadr[wt], d.tree_segadr[wt] + d.tree_segnum[wt]):
            r = d.seg_row[s]
            if not posed or d.row_pose[r] == 0:
                f = d.row_force[r]
                for e in range(d.seg_adr[s], d.seg_adr[s] + d.seg_num[s]):
                    i = d.J_dof[e]
                    y[i] = y[i] + d.J[e] * f


@func
def row_product(m, d, r, x: ti.template()):
    """D J x of row r: row_force; of a connect or weld eq_wrench, from the twists of the bodies."""
    if ti.static(m.has.rows):
        k = d.row_pose[r] - 1
        if k == -1:
            d.row_force[r] = d.row_hess[r] * row_times(m, d, r, x)
        elif k >= 0:
            turn, shift = pose_twist(m, d, k)
            store(d.eq_wrench, k, join(symmetric(d.eq_hess_rot, k) @ turn, symmetric(d.eq_hess, k) @ shift))


@func
def pose_twist(m, d, k):
    """Twist of the first body of connect or weld k against the second: angular, and linear at the point."""
    turn = vec3(0.0)
    shift = vec3(0.0)
    for side in ti.static(range(2)):
        b = d.eq_body[k][side]
        if b >= 0:
            sign = ti.static(1.0 - 2.0 * side)
            v = d.twist[b]
            turn += sign * head(v)
            shift += sign * (tail(v) + cross(head(v), head(d.eq_arm[k, side])))
    return turn, shift


@func
def pose_times(m, d, r, k):
    """row_Jp of the rows of connect or weld k, of which r is the first, from the twists of its bodies."""
    turn, shift = pose_twist(m, d, k)
    for c in ti.static(range(3)):
        d.row_Jp[r + c] = shift[c]
    if m.eq_nrow[k % m.neq] > 3:
        rate = d.eq_turn[k] @ turn
        for c in ti.static(range(3)):
            d.row_Jp[r + 3 + c] = rate[c]


@func
def add_pose_force(m, d, b, k, side):
    """Adds to the wrench on body b, of a side of connect or weld k, what the forces of its rows are for it."""
    r = d.eq_row[k]
    force = vec3(d.row_force[r], d.row_force[r + 1], d.row_force[r + 2])
    torque = vec3(0.0)
    if m.eq_nrow[k % m.neq] > 3:
        torque = d.eq_turn[k].transpose() @ vec3(d.row_force[r + 3], d.row_force[r + 4], d.row_force[r + 5])
    store(d.wrench, b, six(d.wrench[b]) + on_side(m, d, k, side, join(torque, force)))


@func
def on_side(m, d, k, side, f):
    """What torque and force of connect or weld k are for the body of a side, about the centre of its tree."""
    g = (1.0 - 2.0 * ti.cast(side, FP)) * f
    return join(head(g) + cross(head(d.eq_arm[k, side]), tail(g)), tail(g))


@func
def pose_wrench(m, d, k, side):
    """The same of eq_wrench."""
    return on_side(m, d, k, side, six(d.eq_wrench[k]))


@func
def pose_wrenches(m, d, wt):
    """Sum of the wrenches of the connects and welds of a free body."""
    f = vec6(0.0)
    if ti.static(m.has.rows):
        b = wt // m.ntree * m.nbody + m.tree_bodyadr[wt % m.ntree]
        for s in range(d.tree_segadr[wt], d.tree_segadr[wt] + d.tree_segnum[wt]):
            k = d.row_pose[d.seg_row[s]] - 1
            if k >= 0:
                f += pose_wrench(m, d, k, ti.select(d.eq_body[k][0] == b, 0, 1))
    return f


@func
def add_pose_wrench(m, d, b, k, side):
    """Adds it to the wrench on that body, b, of a tree of several."""
    store(d.wrench, b, six(d.wrench[b]) + pose_wrench(m, d, k, side))


@func
def tree_gather(m, d, w, t, posed: ti.template(), y: ti.template()):
    """y = J' f of tree t from the wrenches of its contacts and the forces of its rows, gathered in list order; if
    `posed` those of connects and welds are wrenches, too."""
    single = d.tree_single[w * m.ntree + t] == 1
    for k in range(m.tree_bodynum[t]):
        b = w * m.nbody + m.tree_bodyadr[t] + k
        f = sum_contacts(m, d, b)
        if single:
            i0 = w * m.nv + m.tree_dofadr[t]
            put6(y, i0, forces_of_wrench(m, d, i0, f))
        if ti.static(m.has.jointed):
            if not single:
                store(d.wrench, b, f)
    if ti.static(m.has.jointed):
        if not single:
            if ti.static(m.has.rows and not isinstance(posed, bool)):  # else False, known to the compiler
                if posed:
                    each_pose(m, d, w, t, add_pose_force)
            tree_project(m, d, w, t, y)
            add_rows(m, d, w * m.ntree + t, posed, y)


@func
def tree_product(m, d, w, t, x: ti.template(), y: ti.template(), contacts: ti.template()):
    """y = (M + J' D J) x of tree t; contacts(m, d, body) sums D J x of contacts, row_force and eq_wrench hold it."""
    if m.tree_free[t] == 1:
        b = w * m.nbody + m.tree_bodyadr[t]
        f = contacts(m, d, b) + inertia_times(m, d, b, six(d.twist[b])) + pose_wrenches(m, d, w * m.ntree + t)
        put6(y, w * m.nv + m.tree_dofadr[t], forces_of_wrench(m, d, w * m.nv + m.tree_dofadr[t], f))
    else:
        jointed_product(m, d, w, t, x, y, contacts)
    add_rows(m, d, w * m.ntree + t, True, y)


@func
def jointed_product(m, d, w, t, x: ti.template(), y: ti.template(), contacts: ti.template()):
    """The same of a tree with joints, but for its rows that are no connects and welds."""
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        wb = w * m.nbody + b
        f = contacts(m, d, wb)
        store(d.wrench, wb, f + inertia_times(m, d, wb, d.twist[wb]))
    if ti.static(m.has.rows):
        each_pose(m, d, w, t, add_pose_wrench)
    tree_project(m, d, w, t, y)
    for i in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        y[w * m.nv + i] = y[w * m.nv + i] + m.dof_armature[w, i] * x[w * m.nv + i]
    if ti.static(m.has.heavy):
        add_tendon_product(m, d, w, t, x, y)


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
