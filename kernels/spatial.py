"""Spatial vectors on a kinematic tree: twists of bodies from dof vectors, and wrenches back to dof forces.

A twist is (angular, linear), a wrench (torque, force), both in the world frame about the centre of mass of the body's
tree, as cdof and cinert are. One thread walks one tree; bodies come parents first. Seed 000, "General framework".

The walks read three tables of the model, packed because a kernel takes at most 64 arguments:
tree_table (ntree, 4): first body, bodies, first dof, dofs; body_table (nbody, 4): parent, tree (-1: static), first dof,
dofs; dof_table (nv, 2): parent dof, dof_Madr.
"""

from tisim.kernels.types import FP, ld3, ld6, st6, ti, vec3, vec6

cross = ti.math.cross


@ti.func
def head(a):
    return vec3(a[0], a[1], a[2])


@ti.func
def tail(a):
    return vec3(a[3], a[4], a[5])


@ti.func
def join(a, b):
    return vec6(a[0], a[1], a[2], b[0], b[1], b[2])


@ti.func
def inertia_times(cinert: ti.template(), b, v):
    """Wrench that gives body b the spatial acceleration v."""
    i = 10 * b
    w = head(v)
    u = tail(v)
    h = vec3(cinert[i + 6], cinert[i + 7], cinert[i + 8])
    t = vec3(
        cinert[i] * w[0] + cinert[i + 3] * w[1] + cinert[i + 4] * w[2],
        cinert[i + 3] * w[0] + cinert[i + 1] * w[1] + cinert[i + 5] * w[2],
        cinert[i + 4] * w[0] + cinert[i + 5] * w[1] + cinert[i + 2] * w[2],
    )
    return join(t + cross(h, u), cinert[i + 9] * u + cross(w, h))


@ti.func
def tree_twists(
    w, t, nbody, nv, tree_table: ti.template(), body_table: ti.template(), cdof: ti.template(),
    x: ti.template(), twist: ti.template(),
):  # fmt: skip
    """twist of each body of tree t in world w when the dofs move with x."""
    for b in range(tree_table[4 * t], tree_table[4 * t] + tree_table[4 * t + 1]):
        v = vec6(0.0)
        parent = body_table[4 * b]
        if body_table[4 * parent + 1] == t:
            v = ld6(twist, w * nbody + parent)
        for k in range(body_table[4 * b + 3]):
            i = w * nv + body_table[4 * b + 2] + k
            v += ld6(cdof, i) * x[i]
        st6(twist, w * nbody + b, v)


@ti.func
def tree_project(
    w, t, nbody, nv, tree_table: ti.template(), body_table: ti.template(), cdof: ti.template(),
    wrench: ti.template(), y: ti.template(),
):  # fmt: skip
    """y = dof forces of the body wrenches of tree t; the wrenches are summed towards the root in place."""
    last = tree_table[4 * t] + tree_table[4 * t + 1] - 1
    for k in range(tree_table[4 * t + 1]):
        b = last - k
        f = ld6(wrench, w * nbody + b)
        for m in range(body_table[4 * b + 3]):
            i = w * nv + body_table[4 * b + 2] + m
            y[i] = ld6(cdof, i).dot(f)
        parent = body_table[4 * b]
        if body_table[4 * parent + 1] == t:
            st6(wrench, w * nbody + parent, ld6(wrench, w * nbody + parent) + f)


@ti.func
def relative_twist(c, con_body: ti.template(), con_arm: ti.template(), twist: ti.template()):
    """Twist of body 2 against body 1 at contact c: (angular, linear at the contact point)."""
    w = vec3(0.0)
    u = vec3(0.0)
    b1 = con_body[2 * c]
    b2 = con_body[2 * c + 1]
    if b2 >= 0:
        v = ld6(twist, b2)
        w += head(v)
        u += tail(v) + cross(head(v), ld3(con_arm, 2 * c + 1))
    if b1 >= 0:
        v1 = ld6(twist, b1)
        w -= head(v1)
        u -= tail(v1) + cross(head(v1), ld3(con_arm, 2 * c))
    return join(w, u)


@ti.func
def sum_contacts(
    b, body_conadr: ti.template(), body_connum: ti.template(), body_con: ti.template(), con_arm: ti.template(),
    contact_dim: ti.template(), con_force: ti.template(), con_torque: ti.template(),
):  # fmt: skip
    """Wrench of all contacts on body b (world-major id), in list order; force and torque act on body 2."""
    total = vec6(0.0)
    for k in range(body_conadr[b], body_conadr[b] + body_connum[b]):
        side = body_con[k]
        c = side // 2
        sign = 2.0 * ti.cast(side % 2, FP) - 1.0
        force = sign * ld3(con_force, c)
        torque = cross(ld3(con_arm, side), force)
        if contact_dim[c] > 3:
            torque += sign * ld3(con_torque, c)
        total += join(torque, force)
    return total
