"""Derivatives of the smooth forces by velocity, in the sparsity of the tree: pairs of a dof and its ancestors.

With S a motion axis, T its change (see axis_rates) and K the matrix that gives the change of a body's wrench with its
twist, the derivative of the force on dof i by the velocity of dof j is S_i (K S_j - I T_j), where K and I are sums over
the bodies that both dofs move: everything below the deeper one. So a pair costs two products of six numbers, as in the
inertia matrix. K of a rigid body is a closed form (add_coriolis); after Singh, Russo, Wensing 2022, "Efficient
analytical derivatives of rigid-body dynamics using spatial vector algebra". Seed 000, "Numerical integration".

The matrix stands in two arrays in the places of dof_Madr, where a dof is followed by its ancestors: qDeriv_row has the
forces on the dof by velocities of its ancestors, qDeriv_col the forces on the ancestors by the dof's velocity.
"""

from ..constants import BALL, DSBL_DAMPER, FREE
from ..sleep.awake import tree_at, tree_count
from ..spatial import cross, first_moment, head, join, mass_of, momentum, symmetric, tail
from ..types import SERIAL, func, kernel, ti, vec3, vec6
from .velocity import cross_motion


@kernel
def smooth_derivative(m, d):
    """qDeriv_row, qDeriv_col; parallel over worlds and trees. with_medium: body_deriv has the medium's part."""
    damps = m.opt.disableflags & DSBL_DAMPER == 0
    n = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for at in range(n):
        wt = tree_at(m, d, at)
        w = wt // m.ntree
        t = wt - w * m.ntree
        if d.with_medium == 1 or d.with_bias == 1:
            body_derivatives(m, d, w, t)
        axis_rates(m, d, w, t)
        for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
            derivative_row(m, d, w, k)
            if damps:
                p = w * m.nM + m.dof_Madr[k]
                d.qDeriv_row[p] = d.qDeriv_row[p] - m.dof_damping[w, k]
                d.qDeriv_col[p] = d.qDeriv_row[p]


@func
def body_derivatives(m, d, w, t):
    """body_deriv of tree t, summed towards the root."""
    first = m.tree_bodyadr[t]
    for b in range(first, first + m.tree_bodynum[t]):
        e = w * m.nbody + b
        if d.with_medium == 0:
            for c in range(6):
                d.body_deriv[e, c] = vec6(0.0)
        if d.with_bias == 1:
            add_coriolis(m, d, e)
    for n in range(m.tree_bodynum[t] - 1):
        b = first + m.tree_bodynum[t] - 1 - n
        up = w * m.nbody + m.body_parentid[b]
        for c in range(6):
            d.body_deriv[up, c] = d.body_deriv[up, c] + d.body_deriv[w * m.nbody + b, c]


@func
def add_coriolis(m, d, e):
    """Takes the Coriolis and centrifugal part of body e off body_deriv: with angular velocity w, linear velocity u,
    momentum p, moment h and rotational inertia J about the tree's centre, a turn x of the twist changes the force by
    2 x * p and the torque by 2 w * Jx - tr(J) w * x - 2 h * (u * x).
    """
    v = d.cvel[e]
    J = symmetric(d.cinert, e)
    h = first_moment(d.cinert, e)
    p = mass_of(d.cinert, e) * tail(v) + cross(head(v), h)
    trace = J[0, 0] + J[1, 1] + J[2, 2]
    for c in ti.static(range(3)):
        x = vec3(0.0)
        x[c] = 1.0
        torque = 2.0 * cross(head(v), J @ x) - trace * cross(head(v), x) - 2.0 * cross(h, cross(tail(v), x))
        d.body_deriv[e, c] = d.body_deriv[e, c] - join(torque, 2.0 * cross(x, p))


@func
def axis_rates(m, d, w, t):
    """cdof_rate of tree t: what the velocity of a dof adds to the acceleration of the bodies that it moves, beside
    (axis) * (velocity of the body): (velocity before its joint + velocity behind it) * axis. 0 without Coriolis forces.
    """
    for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        i = w * m.nv + k
        rate = vec6(0.0)
        if d.with_bias == 1:
            rate = 2.0 * d.cdof_dot[i]
            j = m.dof_jntid[k]
            start = m.jnt_dofadr[j] + ti.select(m.jnt_type[j] == FREE, 3, 0)
            if (m.jnt_type[j] == FREE or m.jnt_type[j] == BALL) and k >= start:
                turn = vec6(0.0)
                for c in range(w * m.nv + start, w * m.nv + start + 3):
                    turn += d.qvel[c] * d.cdof[c]
                rate += cross_motion(turn, d.cdof[i])
        d.cdof_rate[i] = rate


@func
def derivative_row(m, d, w, k):
    """Dof k with itself and its ancestors."""
    e = w * m.nbody + m.dof_bodyid[k]
    axis = d.cdof[w * m.nv + k]
    change = vec6(0.0)  # of the wrench, with the dof's velocity
    back = vec6(0.0)  # the transpose: axis times the change with any twist
    held = vec6(0.0)
    if d.with_medium == 1 or d.with_bias == 1:
        change = -momentum(d.crb, e, d.cdof_rate[w * m.nv + k])
        held = momentum(d.crb, e, axis)
        for c in ti.static(range(6)):
            change += axis[c] * d.body_deriv[e, c]
            back[c] = axis.dot(d.body_deriv[e, c])
    p = w * m.nM + m.dof_Madr[k]
    a = k
    while a >= 0:
        i = w * m.nv + a
        d.qDeriv_col[p] = d.cdof[i].dot(change)
        d.qDeriv_row[p] = d.cdof[i].dot(back) - d.cdof_rate[i].dot(held)
        a = m.dof_parentid[a]
        p += 1
