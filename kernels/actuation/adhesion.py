"""Adhesion: an actuator of a body pulls at all its contacts alike, along their normals. Seed 001, "adhesion".

Contacts inside the gap count, too, those without dofs do not. The list of contacts is short where bodies stick, so that
one thread walks it, in its order.
"""

from ..constants import DSBL_ACTUATION
from ..smooth.inertia import add_wrench
from ..spatial import cross, head, join, tail
from ..types import FP, func, kernel, ti, vec3


@func
def side_body(m, d, c, side):
    """World-major body of a side of contact c."""
    return d.contact_worldid[c] * m.nbody + m.geom_bodyid[d.contact_geom[c][side]]


@func
def centre_of(m, d, b):
    """Where the twists of world-major body b are measured."""
    w = b // m.nbody
    return d.subtree_com[w * m.nbody + m.body_rootid[b % m.nbody]]


@func
def sides(m, d, c):
    """Bodies that a contact touches: 1 where both geoms are of one body."""
    g = d.contact_geom[c]
    return ti.select(m.geom_bodyid[g[0]] == m.geom_bodyid[g[1]], 1, 2)


@func
def moves(m, d, b):
    """Whether world-major body b belongs to a tree, which is awake."""
    t = m.body_treeid[b % m.nbody]
    if ti.static(m.has.sleep):
        if t >= 0:
            t = ti.select(d.tree_asleep[b // m.nbody * m.ntree + t] < 0, t, -1)
    return t >= 0


@func
def approach(m, d, c):
    """Velocity of contact c along its normal, positive where the bodies part."""
    speed = FP(0.0)
    for side in range(2):
        b = side_body(m, d, c, side)
        v = d.cvel[b]
        if m.body_treeid[b % m.nbody] >= 0:
            point = tail(v) + cross(head(v), d.contact_pos[c] - centre_of(m, d, b))
            speed += ti.select(side == 1, FP(1.0), FP(-1.0)) * point.dot(vec3(d.contact_frame[c, 0]))
    return speed


@func
def press(m, d, c, f, y: ti.template()):
    """y += J' f, where J qvel is the velocity at which the bodies of contact c come together."""
    w = d.contact_worldid[c]
    for side in range(2):
        b = side_body(m, d, c, side)
        if moves(m, d, b):
            force = ti.select(side == 0, f, -f) * vec3(d.contact_frame[c, 0])
            torque = cross(d.contact_pos[c] - centre_of(m, d, b), force)
            add_wrench(m, d, w, b % m.nbody, join(torque, force), y)


@kernel
def adhesion_contacts(m, d):
    """Contacts of each adhesion actuator, and its velocity, the mean over them; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        for x in range(d.nworld * m.nadhesion):
            d.adhesion_ncon[x] = 0
            d.adhesion_speed[x] = 0.0
        for c in range(d.ncon):
            if d.contact_exclude[c] <= 1:
                w = d.contact_worldid[c]
                speed = FP(0.0)
                known = 0
                for side in range(sides(m, d, c)):
                    b = m.geom_bodyid[d.contact_geom[c][side]]
                    for x in range(m.body_adhadr[b], m.body_adhadr[b + 1]):
                        if known == 0:
                            speed = approach(m, d, c)
                            known = 1
                        k = w * m.nadhesion + x
                        d.adhesion_ncon[k] = d.adhesion_ncon[k] + 1
                        d.adhesion_speed[k] = d.adhesion_speed[k] + speed
        for x in range(d.nworld * m.nadhesion):
            k = x // m.nadhesion * m.nu + m.adhesion[x % m.nadhesion]
            d.actuator_length[k] = 0.0
            d.actuator_velocity[k] = 0.0
            if m.opt.disableflags & DSBL_ACTUATION == 0:
                d.actuator_velocity[k] = -d.adhesion_speed[x] / ti.max(1, d.adhesion_ncon[x])


@kernel
def adhesion_forces(m, d):
    """Adds the forces of adhesion actuators to qfrc_actuator, contact by contact; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        for c in range(d.ncon):
            if d.contact_exclude[c] <= 1:
                w = d.contact_worldid[c]
                pull = FP(0.0)
                for side in range(sides(m, d, c)):
                    b = m.geom_bodyid[d.contact_geom[c][side]]
                    for x in range(m.body_adhadr[b], m.body_adhadr[b + 1]):
                        force = d.actuator_force[w * m.nu + m.adhesion[x]]
                        pull += force / ti.cast(d.adhesion_ncon[w * m.nadhesion + x], FP)
                if pull != 0.0:
                    press(m, d, c, pull, d.qfrc_actuator)
