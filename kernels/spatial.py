"""Spatial vectors on a kinematic tree: twists of bodies from dof vectors, and wrenches back to dof forces.

A twist is (angular, linear), a wrench (torque, force), both in the world frame about the centre of mass of the body's
tree, as cdof and cinert are. One thread walks one tree; bodies come parents first. Seed 000, "General framework".

The walks read three tables of the model, packed because a kernel takes at most 64 arguments:
tree_table (ntree, 4): first body, bodies, first dof, dofs; body_table (nbody, 4): parent, tree (-1: static), first dof,
dofs; dof_table (nv, 2): parent dof, dof_Madr.
"""

from tisim.kernels.types import (
    FP,
    func,
    ld3,
    ld6,
    st6,
    ti,
    vec3,
    vec6,
)

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


@func
def inertia_times(m, d, b, v):
    """Wrench that gives body b the spatial acceleration v."""
    i = 10 * b
    w = head(v)
    u = tail(v)
    h = vec3(d.cinert[i + 6], d.cinert[i + 7], d.cinert[i + 8])
    t = vec3(
        d.cinert[i] * w[0] + d.cinert[i + 3] * w[1] + d.cinert[i + 4] * w[2],
        d.cinert[i + 3] * w[0] + d.cinert[i + 1] * w[1] + d.cinert[i + 5] * w[2],
        d.cinert[i + 4] * w[0] + d.cinert[i + 5] * w[1] + d.cinert[i + 2] * w[2],
    )
    return join(t + cross(h, u), d.cinert[i + 9] * u + cross(w, h))


@func
def tree_twists(m, d, w, t, x: ti.template()):
    """twist of each body of tree t in world w when the dofs move with x."""
    for b in range(m.tree_table[4 * t], m.tree_table[4 * t] + m.tree_table[4 * t + 1]):
        v = vec6(0.0)
        parent = m.body_table[4 * b]
        if m.body_table[4 * parent + 1] == t:
            v = ld6(d.twist, w * m.nbody + parent)
        for k in range(m.body_table[4 * b + 3]):
            i = w * m.nv + m.body_table[4 * b + 2] + k
            v += ld6(d.cdof, i) * x[i]
        st6(d.twist, w * m.nbody + b, v)


@func
def tree_project(m, d, w, t, y: ti.template()):
    """y = dof forces of the body wrenches of tree t; the wrenches are summed towards the root in place."""
    last = m.tree_table[4 * t] + m.tree_table[4 * t + 1] - 1
    for k in range(m.tree_table[4 * t + 1]):
        b = last - k
        f = ld6(d.wrench, w * m.nbody + b)
        for n in range(m.body_table[4 * b + 3]):
            i = w * m.nv + m.body_table[4 * b + 2] + n
            y[i] = ld6(d.cdof, i).dot(f)
        parent = m.body_table[4 * b]
        if m.body_table[4 * parent + 1] == t:
            st6(d.wrench, w * m.nbody + parent, ld6(d.wrench, w * m.nbody + parent) + f)


@func
def relative_twist(m, d, c, twist: ti.template()):
    """Twist of body 2 against body 1 at contact c: (angular, linear at the contact point)."""
    w = vec3(0.0)
    u = vec3(0.0)
    b1 = d.con_body[2 * c]
    b2 = d.con_body[2 * c + 1]
    if b2 >= 0:
        v = ld6(twist, b2)
        w += head(v)
        u += tail(v) + cross(head(v), ld3(d.con_arm, 2 * c + 1))
    if b1 >= 0:
        v1 = ld6(twist, b1)
        w -= head(v1)
        u -= tail(v1) + cross(head(v1), ld3(d.con_arm, 2 * c))
    return join(w, u)


@func
def sum_contacts(m, d, b):
    """Wrench of all contacts on body b (world-major id), in list order; force and torque act on body 2."""
    total = vec6(0.0)
    for k in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
        side = d.body_con[k]
        c = side // 2
        sign = 2.0 * ti.cast(side % 2, FP) - 1.0
        force = sign * ld3(d.con_force, c)
        torque = cross(ld3(d.con_arm, side), force)
        if d.contact_dim[c] > 3:
            torque += sign * ld3(d.con_torque, c)
        total += join(torque, force)
    return total
