"""Spatial vectors on a kinematic tree: twists of bodies from dof vectors, and wrenches back to dof forces.

A twist is (angular, linear), a wrench (torque, force), both in the world frame about the centre of mass of the body's
tree, as cdof and cinert are. One thread walks one tree; bodies come parents first. Seed 000, "General framework".
"""

from tisim.kernels.types import (
    FP,
    func,
    mat3,
    six,
    store,
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
def last_dof(m, d, b):
    """Last dof that moves body b of a tree; the others are its ancestors."""
    a = b
    while m.body_dofnum[a] == 0:
        a = m.body_parentid[a]
    return m.body_dofadr[a] + m.body_dofnum[a] - 1


@ti.func
def symmetric(a: ti.template(), e):
    """Symmetric matrix whose xx yy zz xy xz yz begin a[e]: the rotational part of a spatial inertia, for one.

    A spatial inertia (cinert, crb) is ten numbers: these, about the tree's centre, first_moment and mass_of.
    """
    return mat3(a[e][0], a[e][3], a[e][4], a[e][3], a[e][1], a[e][5], a[e][4], a[e][5], a[e][2])


@ti.func
def first_moment(a: ti.template(), e):
    """Of the spatial inertia a[e]: mass times the centre of mass, from the tree's centre."""
    return vec3(a[e][6], a[e][7], a[e][8])


@ti.func
def mass_of(a: ti.template(), e):
    return a[e][9]


@ti.func
def momentum(a: ti.template(), e, v):
    """Spatial inertia a[e] times a twist: a momentum, or the wrench that gives the acceleration v."""
    w = head(v)
    u = tail(v)
    h = first_moment(a, e)
    return join(symmetric(a, e) @ w + cross(h, u), mass_of(a, e) * u + cross(w, h))


@func
def inertia_times(m, d, b, v):
    """Wrench that gives body b the spatial acceleration v."""
    return momentum(d.cinert, b, v)


@func
def tree_twists(m, d, w, t, x: ti.template()):
    """twist of each body of tree t in world w when the dofs move with x."""
    v = vec6(0.0)
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        parent = m.body_parentid[b]
        if m.body_treeid[parent] != t:
            v = vec6(0.0)
        elif parent != b - 1:  # else v is the parent's: a chain does not wait for its memory
            v = six(d.twist[w * m.nbody + parent])
        for k in range(m.body_dofnum[b]):
            i = w * m.nv + m.body_dofadr[b] + k
            v += d.cdof[i] * x[i]
        store(d.twist, w * m.nbody + b, v)


@func
def tree_project(m, d, w, t, y: ti.template()):
    """y = dof forces of the body wrenches of tree t; the wrenches are summed towards the root in place."""
    last = m.tree_bodyadr[t] + m.tree_bodynum[t] - 1
    f = vec6(0.0)
    above = -1  # the body to which f, of the one before, is yet to be added
    for k in range(m.tree_bodynum[t]):
        b = last - k
        if b == above:  # a chain does not wait for its memory
            f += six(d.wrench[w * m.nbody + b])
            store(d.wrench, w * m.nbody + b, f)
        else:
            f = six(d.wrench[w * m.nbody + b])
        for n in range(m.body_dofnum[b]):
            i = w * m.nv + m.body_dofadr[b] + n
            y[i] = d.cdof[i].dot(f)
        parent = m.body_parentid[b]
        above = parent
        if m.body_treeid[parent] == t and parent != b - 1:
            store(d.wrench, w * m.nbody + parent, six(d.wrench[w * m.nbody + parent]) + f)


@func
def relative_twist(m, d, c, twist: ti.template()):
    """Twist of body 2 against body 1 at contact c: (angular, linear at the contact point)."""
    w = vec3(0.0)
    u = vec3(0.0)
    b1 = d.con_body[c][0]
    b2 = d.con_body[c][1]
    if b2 >= 0:
        v = twist[b2]
        w += head(v)
        u += tail(v) + cross(head(v), head(d.con_arm[c, 1]))
    if b1 >= 0:
        v1 = twist[b1]
        w -= head(v1)
        u -= tail(v1) + cross(head(v1), head(d.con_arm[c, 0]))
    return join(w, u)


@func
def sum_contacts(m, d, b):
    """Wrench of all contacts on body b (world-major id), in list order."""
    return sum_wrenches(m, d, b, wrench_of_contact)


@func
def wrench_of_contact(m, d, c):
    """(torque, force) of contact c on body 2 at the contact point; there is a torque above dim 3 only."""
    torque = vec3(0.0)
    if ti.static(m.has.torsion):
        if d.contact_dim[c] > 3:
            torque = d.con_torque[c]
    return join(torque, head(d.con_force[c]))


@func
def sum_wrenches(m, d, b, wrench: ti.template()):
    """The same of any wrench(m, d, contact)."""
    total = vec6(0.0)
    for k in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
        side = d.body_con[k]
        c = side // 2
        sign = 2.0 * ti.cast(side % 2, FP) - 1.0
        f = wrench(m, d, c)
        force = sign * tail(f)
        torque = cross(head(d.con_arm[side]), force)
        if ti.static(m.has.torsion):
            if d.contact_dim[c] > 3:
                torque += sign * head(f)
        total += join(torque, force)
    return total
