"""Sensors of contacts: which of them match, which of these are shown, and what is shown. Seed 000, "Sensors"."""

from ..constants import OBJ_SITE, REDUCE_MAXFORCE, REDUCE_MINDIST, REDUCE_NETFORCE
from ..types import FP, MINVAL, SERIAL, func, kernel, ti, vec3, vec4, vec6
from .inside import inside_site
from .lists import BLOCK, FAR, first_contact, is_before, next_near
from .output import is_awake, place_of


@ti.func
def is_within(ends, geom, body):
    """Whether the geom, or the body, is one of an object's."""
    x = ti.select(ends[0] != 0, geom, body)
    return ends[1] <= x and x < ends[2]


@func
def ball_of(m, d, w, k):
    """Centre of a ball around the site of contact sensor k, and its radius squared; without a site it has no bounds."""
    ball = vec4(0.0, 0.0, 0.0, FAR)
    s = m.contacts_sensor[k]
    if m.sensor_objtype[s] == OBJ_SITE:
        site = m.sensor_objid[s]
        x = d.site_xpos[w * m.nsite + site]
        ball = vec4(x[0], x[1], x[2], m.site_size[site].sum() ** 2)
    return ball


@func
def match(m, d, w, k, c):
    """How contact c matches contact sensor k: 1 as it is, -1 turned round so that object 1 comes first, 0 not."""
    s = m.contacts_sensor[k]
    g = d.contact_geom[c]
    b1 = m.geom_bodyid[g[0]]
    b2 = m.geom_bodyid[g[1]]
    first = m.match_ends[k, 0]
    second = m.match_ends[k, 1]
    way = 0
    if is_within(first, g[0], b1) and is_within(second, g[1], b2):
        way = 1
    elif is_within(first, g[1], b2) and is_within(second, g[0], b1):
        way = -1
    if way != 0 and m.sensor_objtype[s] == OBJ_SITE:
        if inside_site(m, d, w, m.sensor_objid[s], d.contact_pos[c]) == 0:
            way = 0
    return way


@func
def contact_wrench(m, d, c):
    """Force and torque of a contact on geom 2, in its frame, zero if it does not act."""
    out = vec6(0.0)
    if d.contact_exclude[c] == 0:
        f = d.con_force[c]
        force = vec3(f[0], f[1], f[2])
        for r in ti.static(range(3)):
            out[r] = d.contact_frame[c, r].dot(force)
        if ti.static(m.has.torsion):
            for r in ti.static(range(3)):
                out[3 + r] = d.contact_frame[c, r].dot(d.con_torque[c])
    return out


@func
def is_repeated(m, d, side, first, last):
    """Whether the contact of a listed side is found a second time in the lists of the sensed bodies first to last."""
    repeated = False
    if side % 2 == 1:
        other = m.body_sensed[m.geom_bodyid[d.contact_geom[side // 2][0]]]
        repeated = first <= other and other < last
    return repeated


@func
def place_in(m, d, key, c, first, n):
    """Where a contact stands among the n picked ones from place `first` on, by key, then as in MuJoCo's list."""
    at = n
    behind = True
    while at > 0 and behind:
        other = first + at - 1
        behind = key < d.picked_key[other]
        if key == d.picked_key[other]:
            behind = is_before(m, d, c, d.picked_con[other] // 2)
        if behind:
            at -= 1
    return at


@func
def pick(m, d, key, c, way, first, n, most):
    """Lets a contact in among the n picked ones, of which the first `most` stay; returns their number."""
    at = place_in(m, d, key, c, first, n)
    if at < most:
        end = ti.min(n, most - 1)
        for e in range(end - at):
            i = first + end - e
            d.picked_key[i] = d.picked_key[i - 1]
            d.picked_con[i] = d.picked_con[i - 1]
        d.picked_key[first + at] = key
        d.picked_con[first + at] = 2 * c + ti.select(way < 0, 1, 0)
    return ti.min(n + 1, most)


@ti.dataclass
class Net:
    """Sums over contacts: force, moment about a point, places weighted by the sizes of forces, these."""

    force: vec3
    moment: vec3
    place: vec3
    size: FP
    about: vec3


@func
def add_to_net(m, d, net: ti.template(), c, way, is_first):
    """Adds a contact, whose force is that on object 2."""
    if is_first:
        net.about = d.contact_pos[c]
    wrench = way * contact_wrench(m, d, c)
    arm = d.contact_pos[c] - net.about
    force = vec3(0.0)
    torque = vec3(0.0)
    for r in ti.static(range(3)):
        force += wrench[r] * d.contact_frame[c, r]
        torque += wrench[3 + r] * d.contact_frame[c, r]
    size = force.norm()
    net.force += force
    net.moment += torque + arm.cross(force)
    net.place += size * arm
    net.size += size


@ti.func
def has(fields, k):
    """Whether a sensor shows mjtConDataField k."""
    return (fields >> k) & 1 == 1


@ti.func
def write(a: ti.template(), at, value):
    for e in ti.static(range(value.n)):
        a[at + e] = value[e]


@ti.dataclass
class Slot:
    """What a sensor shows of a contact, or of the net force."""

    found: ti.i32
    force: vec3
    torque: vec3
    dist: FP
    pos: vec3
    normal: vec3
    tangent: vec3


@func
def show(m, d, a, fields, slot: ti.template()):
    """Writes these fields of a slot from place a on; returns where the next slot begins."""
    if has(fields, 0):
        d.sensordata[a] = ti.cast(slot.found, FP)
        a += 1
    if has(fields, 1):
        write(d.sensordata, a, slot.force)
        a += 3
    if has(fields, 2):
        write(d.sensordata, a, slot.torque)
        a += 3
    if has(fields, 3):
        d.sensordata[a] = slot.dist
        a += 1
    if has(fields, 4):
        write(d.sensordata, a, slot.pos)
        a += 3
    if has(fields, 5):
        write(d.sensordata, a, slot.normal)
        a += 3
    if has(fields, 6):
        write(d.sensordata, a, slot.tangent)
        a += 3
    return a


@func
def contact_slot(m, d, picked, found):
    """The slot of a picked contact; turned round it is that of the two objects in the other order."""
    c = picked // 2
    turned = picked % 2 == 1
    sign = ti.select(turned, -1.0, 1.0)
    wrench = contact_wrench(m, d, c)
    slot = Slot(found=found, dist=d.contact_dist[c], pos=d.contact_pos[c])
    slot.force = vec3(wrench[0], wrench[1], sign * wrench[2])
    slot.torque = vec3(wrench[3], wrench[4], sign * wrench[5])
    slot.normal = sign * d.contact_frame[c, 0]
    slot.tangent = sign * d.contact_frame[c, 1]
    return slot


@ti.func
def net_slot(net: ti.template(), found):
    """The slot of a net force: at the mean of the places, in the frame of the world."""
    shift = net.place / ti.max(net.size, MINVAL)
    slot = Slot(found=found, force=net.force, torque=net.moment - shift.cross(net.force))
    slot.pos = shift + net.about * ti.select(net.size > 0.0, 1.0, 0.0)
    slot.normal = vec3(1.0, 0.0, 0.0)
    slot.tangent = vec3(0.0, 1.0, 0.0)
    return slot


@func
def key_of(m, d, reduce, c):
    """By what contacts are ordered before their place in the list counts."""
    key = FP(0.0)
    if reduce == REDUCE_MINDIST:
        key = d.contact_dist[c]
    elif reduce == REDUCE_MAXFORCE:
        wrench = contact_wrench(m, d, c)
        key = -wrench.dot(wrench)
    return key


@func
def find_contacts(m, d, w, k, place, net: ti.template()):
    """Looks through the contacts in world w that contact sensor k can match: adds them to a net force, or picks some,
    from `place` on. Returns how many match and how many are picked.
    """
    prm = m.sensor_intprm[m.contacts_sensor[k]]
    lists = m.match_lists[k]
    whole = lists[0] < 0
    ball = ball_of(m, d, w, k)
    found = 0
    picked = 0
    for e in range(ti.select(whole, 1, lists[1] - lists[0])):
        at = 0
        end = 0
        if whole:
            at = first_contact(m, d, w)
            end = first_contact(m, d, w + 1)
        else:
            body = w * m.nsensed + lists[0] + e
            at = d.sense_adr[body]
            end = at + d.sense_num[body]
        if whole:
            at = next_near(m, d, ball, at, end)
        while at < end:
            side = 2 * at
            way = 1
            if not whole:
                side = d.sense_con[at]
                if is_repeated(m, d, side, lists[0], lists[1]):
                    way = 0
            c = side // 2
            if way != 0:
                x = d.contact_pos[c] - vec3(ball[0], ball[1], ball[2])
                if x.dot(x) >= ball[3]:
                    way = 0
            if way != 0:
                way = match(m, d, w, k, c)
            if way != 0:
                if prm[1] == REDUCE_NETFORCE:
                    add_to_net(m, d, net, c, way, found == 0)
                else:
                    picked = pick(m, d, key_of(m, d, prm[1], c), c, way, place, picked, prm[2])
                found += 1
            at += 1
            if whole and at % BLOCK == 0:
                at = next_near(m, d, ball, at, end)
    return found, picked


@kernel
def contact_values(m, d):
    """The fields of the contacts that match, or of their net force; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for t in range(d.nworld * m.ncontacts):
        w = t // m.ncontacts
        k = t - w * m.ncontacts
        s = m.contacts_sensor[k]
        if is_awake(m, d, w, s) != 0:
            place = place_of(m, d, w, s)
            fields = m.sensor_intprm[s][0]
            net = Net()
            found, picked = find_contacts(m, d, w, k, place, net)
            for e in range(m.sensor_dim[s]):
                d.sensordata[place + e] = 0.0
            if m.sensor_intprm[s][1] == REDUCE_NETFORCE:
                show(m, d, place, fields, net_slot(net, found))
            at = place
            for e in range(picked):
                at = show(m, d, at, fields, contact_slot(m, d, d.picked_con[place + e], found))
