"""What acts on and within bodies once the constraints are solved: cfrc_ext, cacc, cfrc_int, by recursive Newton-Euler.

Wrenches and accelerations are about the centre of mass of each body's tree, rotation first. Seed 000, stage 26.
"""

from ..constants import EQ_CONNECT, EQ_WELD, EQUALITY
from ..rotation import any_nonzero6
from ..sleep.awake import tree_at, tree_count
from ..smooth.gravity import gravity_of
from ..smooth.inertia import arm_of
from ..smooth.velocity import cross_force
from ..spatial import cross, head, join, momentum, sum_contacts, tail, tree_twists
from ..types import SERIAL, func, kernel, narrow, six, store, ti, vec3, vec6
from .cone import cone_force, force_of, load_parameters, to_world
from .equality import ends_of


@kernel
def contact_wrenches(m, d):
    """con_force and con_torque at the solution; parallel over contacts."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        f = vec6(0.0)
        if d.contact_exclude[c] == 0:
            fri = load_parameters(m, d, c)
            out = cone_force(m, d, d.con_Jaref[c], d.contact_dim[c], d.con_D[c], d.con_mu[c], fri)
            f = to_world(c, vec6(out[1], out[2], out[3], out[4], out[5], out[6]), d.contact_frame)
        store(d.con_force, c, tail(f))
        if ti.static(m.has.torsion):
            d.con_torque[c] = head(f)


@kernel
def dual_wrenches(m, d):
    """The same where a dual solver said the forces on rows last; parallel over contacts."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        if d.contact_exclude[c] == 0:
            out = to_world(c, force_of(m, d, c), d.contact_frame)
            store(d.con_force, c, tail(out))
            if ti.static(m.has.torsion):
                d.con_torque[c] = head(out)


@kernel
def external_wrenches(m, d):
    """cfrc_ext of applied forces, and of the contacts of bodies that move; parallel over worlds and bodies."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for e in range(d.nworld * m.nbody):
        w = e // m.nbody
        b = e - w * m.nbody
        f = vec6(0.0)
        applied = d.xfrc_applied[e]  # force, then torque
        if b > 0 and any_nonzero6(applied):
            f = join(tail(applied) + cross(arm_of(m, d, w, b), head(applied)), head(applied))
        if n > 0 and m.body_treeid[b] >= 0:
            f += sum_contacts(m, d, e)
        d.cfrc_ext[e] = f


@kernel
def other_wrenches(m, d):
    """The rest of cfrc_ext: contacts of static bodies but the world, equalities that connect or weld; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = d.ncon
        for c in range(n):
            if d.contact_exclude[c] == 0:
                for side in range(2):
                    b = m.geom_bodyid[d.contact_geom[c][side]]
                    if b > 0 and m.body_treeid[b] < 0:
                        e = d.contact_worldid[c] * m.nbody + b
                        sign = 2.0 * side - 1.0
                        force = sign * head(d.con_force[c])
                        torque = cross(head(d.con_arm[c, side]), force)
                        if ti.static(m.has.torsion):
                            torque += sign * d.con_torque[c]
                        d.cfrc_ext[e] = d.cfrc_ext[e] + join(torque, force)
        if ti.static(m.has.rows):
            n = d.nrow
            following = 0  # first row of the next equality
            for r in range(n):
                if r >= following and d.row_type[r] == EQUALITY:
                    kind = m.eq_type[d.row_id[r]]
                    following = r + 1
                    if kind == EQ_CONNECT or kind == EQ_WELD:
                        following = r + ti.select(kind == EQ_CONNECT, 3, 6)
                        equality_wrench(m, d, r, kind)


@func
def equality_wrench(m, d, r, kind):
    """Adds the wrench of the connect or weld whose rows begin at r, to body 1 and, turned round, to body 2."""
    w = d.row_tree[r] // m.ntree
    force = vec3(d.row_force[r], d.row_force[r + 1], d.row_force[r + 2])
    torque = vec3(0.0)
    if kind == EQ_WELD:
        torque = vec3(d.row_force[r + 3], d.row_force[r + 4], d.row_force[r + 5])
    b, b2, point, point2, q1, q2 = ends_of(m, d, w, d.row_id[r])
    sign = 1.0
    for _ in range(2):
        if b > 0:
            arm = narrow(point - d.subtree_com[w * m.nbody + m.body_rootid[b]])
            e = w * m.nbody + b
            d.cfrc_ext[e] = d.cfrc_ext[e] + sign * join(torque + cross(arm, force), force)
        b = b2
        point = point2
        sign = -1.0


@func
def accelerations_of(m, d, w, t, qacc: ti.template()):
    """cacc of the bodies of tree t when its dofs accelerate with qacc."""
    tree_twists(m, d, w, t, qacc)
    first = w * m.nbody + m.tree_bodyadr[t]
    for i in range(first, first + m.tree_bodynum[t]):
        d.cacc[i] = d.cacc_bias[i] + six(d.twist[i])


@kernel
def body_accelerations(m, d):
    """cacc of bodies that move; parallel over worlds and trees."""
    n = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for at in range(n):
        wt = tree_at(m, d, at)
        accelerations_of(m, d, wt // m.ntree, wt % m.ntree, d.qacc)


@kernel
def inverse_accelerations(m, d):
    """The same at the acceleration that inverse dynamics were taken of."""
    n = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for at in range(n):
        wt = tree_at(m, d, at)
        accelerations_of(m, d, wt // m.ntree, wt % m.ntree, d.qacc_inverse)


@func
def inner_wrench(m, d, i):
    """What world-major body i takes to move as it does, less what acts on it from outside."""
    vel = d.cvel[i]
    return momentum(d.cinert, i, d.cacc[i]) + cross_force(vel, momentum(d.cinert, i, vel)) - d.cfrc_ext[i]


@func
def sum_wrenches(m, d, w, t):
    """cfrc_int of the bodies of tree t."""
    first = w * m.nbody + m.tree_bodyadr[t]
    last = first + m.tree_bodynum[t] - 1
    for i in range(first, last + 1):
        d.cfrc_int[i] = inner_wrench(m, d, i)
    for k in range(last - first):
        up = w * m.nbody + m.body_parentid[last - k - w * m.nbody]
        d.cfrc_int[up] = d.cfrc_int[up] + d.cfrc_int[last - k]


@kernel
def inner_wrenches(m, d):
    """cfrc_int summed over each tree; parallel over worlds and trees."""
    n = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for at in range(n):
        wt = tree_at(m, d, at)
        sum_wrenches(m, d, wt // m.ntree, wt % m.ntree)


@kernel
def slept_wrenches(m, d):
    """What trees that fell asleep in this step count for below them while they sleep: as in 3.4.0 their contacts and
    limits are gone, and they accelerate as without these. Parallel over trees."""
    n = d.ntawake
    ti.loop_config(serialize=SERIAL)
    for at in range(n):
        wt = d.awake_tree[at]
        if d.tree_slept[wt] != 0:
            w = wt // m.ntree
            t = wt - w * m.ntree
            first = w * m.nbody + m.tree_bodyadr[t]
            for i in range(first, first + m.tree_bodynum[t]):
                d.cfrc_ext[i] = vec6(0.0)
            accelerations_of(m, d, w, t, d.qacc_smooth)
            sum_wrenches(m, d, w, t)


@kernel
def root_wrenches(m, d):
    """cacc and cfrc_int of static bodies, with those of the trees on them; parallel over worlds."""
    ti.loop_config(serialize=SERIAL)
    for w in range(d.nworld):
        gravity = gravity_of(m, w)
        for b in range(m.nbody):
            if m.body_treeid[b] < 0:
                i = w * m.nbody + b
                d.cacc[i] = join(vec3(0.0), -gravity)
                d.cfrc_int[i] = inner_wrench(m, d, i) if b > 0 else vec6(0.0)
        for k in range(m.nbody - 1):
            b = m.nbody - 1 - k
            t = m.body_treeid[b]
            if t < 0 or m.tree_bodyadr[ti.max(t, 0)] == b:
                up = w * m.nbody + m.body_parentid[b]
                d.cfrc_int[up] = d.cfrc_int[up] + d.cfrc_int[w * m.nbody + b]
