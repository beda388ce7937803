"""Records of contacts: marks, discs, arrows of their forces, frames, and rods along which forces go. Those of one world
are chosen first, by count, scan and fill: `pic_contact`, npiccontact of them, in the order of d.contact.
"""

from ..constants import CYLINDER, PICTURE_BLOCK, SPHERE
from ..types import *
from .rods import along, put, put_arrow, put_axes, put_rod
from .shapes import bits, real

FAINT = 1e-3  # part of the greatest force below which no rod is drawn
BEAD, STICK = 0.1, 0.04  # radii of a mark's parts, by its length


@kernel
def choose_contacts(m, d, picworld: ti.i32):
    """Places of the contacts of a world; before them all, in pic_chunk, those of the blocks before each block, of all
    in the end; parallel over blocks."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for b in range((n + PICTURE_BLOCK - 1) // PICTURE_BLOCK):
        found = 0
        for c in range(b * PICTURE_BLOCK, ti.min(n, (b + 1) * PICTURE_BLOCK)):
            if d.contact_worldid[c] == picworld:
                found += 1
        d.pic_chunk[b] = found
    ti.loop_config(serialize=True)
    for once in range(1):
        total = 0
        last = (d.ncon + PICTURE_BLOCK - 1) // PICTURE_BLOCK
        for b in range(last):
            found = d.pic_chunk[b]
            d.pic_chunk[b] = total
            total += found
        d.pic_chunk[last] = total
    ti.loop_config(serialize=SERIAL)
    for b in range((n + PICTURE_BLOCK - 1) // PICTURE_BLOCK):
        at = d.pic_chunk[b]
        for c in range(b * PICTURE_BLOCK, ti.min(n, (b + 1) * PICTURE_BLOCK)):
            if d.contact_worldid[c] == picworld:
                d.pic_contact[at] = c
                at += 1


@kernel
def count_touching(m, d, picworld: ti.i32, picbody: ti.i32):
    """Contacts of a body in a world: pic_touch, of all first, then of each block; parallel over blocks of contacts."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for b in range((n + PICTURE_BLOCK - 1) // PICTURE_BLOCK):
        found = 0
        for c in range(b * PICTURE_BLOCK, ti.min(n, (b + 1) * PICTURE_BLOCK)):
            pair = d.contact_geom[c]
            if d.contact_worldid[c] == picworld and pair[0] >= 0 and pair[1] >= 0:
                if m.geom_bodyid[pair[0]] == picbody or m.geom_bodyid[pair[1]] == picbody:
                    found += 1
        d.pic_touch[1 + b] = found
    ti.loop_config(serialize=True)
    for once in range(1):
        total = 0
        for b in range((d.ncon + PICTURE_BLOCK - 1) // PICTURE_BLOCK):
            total += d.pic_touch[1 + b]
        d.pic_touch[0] = total


@func
def push(m, d, c):
    """Force of a contact on geom 2 in its frame, normal first; zero if it does not act."""
    out = vec3(0.0, 0.0, 0.0)
    acts = d.contact_exclude[c] == 0
    if m.hard == 0:
        acts = acts and d.contact_efc_address[c] >= 0
    if acts:
        f = d.con_force[c]
        force = vec3(f[0], f[1], f[2])
        for r in ti.static(range(3)):
            out[r] = d.contact_frame[c, r].dot(force)
    return out


@kernel
def contact_presses(m, d):
    """Normal force of each contact [N]; parallel over contacts."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        force = push(m, d, c)
        d.pic_press[c] = force[0]


@kernel
def find_strongest(m, d, npiccontact: ti.i32):
    """Bits of the greatest normal force of the chosen contacts as f32; parallel over contacts."""
    ti.loop_config(serialize=True)
    for once in range(1):
        d.pic_most[0] = 0
    ti.loop_config(serialize=SERIAL)
    for i in range(npiccontact):
        word = bits(ti.cast(d.pic_press[d.pic_contact[i]], ti.f32))
        if word > d.pic_most[0]:
            ti.atomic_max(d.pic_most[0], word)


@kernel
def list_marks(m, d, npiccontact: ti.i32, picat: ti.i32, picink: ti.i32, piclong: FP):
    """Two records of each chosen contact: a bead, and a stick of length piclong along the normal."""
    ti.loop_config(serialize=SERIAL)
    for i in range(npiccontact):
        c = d.pic_contact[i]
        j = picat + i + i
        x = d.contact_pos[c]
        normal = d.contact_frame[c, 0]
        R = along(normal)
        for k in range(2):
            size = vec3(BEAD * piclong, BEAD * piclong, BEAD * piclong)
            if k == 1:
                x = x + 0.5 * piclong * normal
                size = vec3(STICK * piclong, 0.5 * piclong, 0.0)
            put(m, d, j + k, ti.select(k == 0, SPHERE, CYLINDER), x, R, size, picink)


@kernel
def list_discs(m, d, npiccontact: ti.i32, picat: ti.i32, picink: ti.i32, picwide: FP, piclong: FP):
    """A disc in the plane of each chosen contact, of this radius and half height; parallel over contacts."""
    ti.loop_config(serialize=SERIAL)
    for i in range(npiccontact):
        c = d.pic_contact[i]
        size = vec3(picwide, piclong, 0.0)
        put(m, d, picat + i, CYLINDER, d.contact_pos[c], along(d.contact_frame[c, 0]), size, picink)


@kernel
def list_contact_frames(m, d, npiccontact: ti.i32, picat: ti.i32, picink: ti.i32, picwide: FP, piclong: FP):
    """Three axes of each chosen contact, all x before all y and z, in three colours; parallel over contacts."""
    ti.loop_config(serialize=SERIAL)
    for i in range(npiccontact):
        c = d.pic_contact[i]
        R = mat3(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for k in ti.static(range(3)):
            axis = d.contact_frame[c, k]
            for r in ti.static(range(3)):
                R[r, k] = axis[r]
        size = vec2(picwide, piclong)
        put_axes(m, d, picat + i, npiccontact, CYLINDER, d.contact_pos[c], R, size, picink)


@kernel
def list_forces(m, d, npiccontact: ti.i32, picat: ti.i32, picink: ti.i32, picwide: FP, piclong: FP, picsplit: ti.i32):
    """Arrows of the forces of chosen contacts that press, of length piclong by force; parallel over contacts.

    Shafts, heads; picsplit  1: those of normal forces, and then the same of friction in another colour.
    """
    ti.loop_config(serialize=SERIAL)
    for i in range(npiccontact):
        c = d.pic_contact[i]
        x = d.contact_pos[c]
        force = push(m, d, c) * piclong
        if not force[0] > 0.0:
            force = vec3(0.0, 0.0, 0.0)
        normal = force[0] * d.contact_frame[c, 0]
        rest = force[1] * d.contact_frame[c, 1] + force[2] * d.contact_frame[c, 2]
        for k in range(1 + picsplit):
            arrow = normal + rest
            if picsplit == 1:
                arrow = normal
                if k == 1:
                    arrow = rest
            at = picat + i + 2 * k * npiccontact
            put_arrow(m, d, at, at + npiccontact, x, arrow, picwide, picink + k)


@kernel
def list_chains(m, d, npiccontact: ti.i32, picworld: ti.i32, picat: ti.i32, picink: ti.i32, picwide: FP):
    """Rods from the centres of what can move to their contacts, those of bodies 1 before those of bodies 2; their cross
    section grows with the normal force, picwide is the radius of the greatest; parallel over contacts."""
    most = FP(real(d.pic_most[0]))
    ti.loop_config(serialize=SERIAL)
    for i in range(npiccontact):
        c = d.pic_contact[i]
        force = d.pic_press[c]
        strong = force > 0.0 and force > FAINT * most
        radius = FP(0.0)
        if strong:
            radius = picwide * ti.sqrt(force / most)
        for side in range(2):
            g = d.contact_geom[c][0]
            if side == 1:
                g = d.contact_geom[c][1]
            b = m.geom_bodyid[g]
            kind = ti.select(strong and m.body_weldid[b] > 0, CYLINDER, -1)
            begin = d.xipos[picworld * m.nbody + b]
            put_rod(m, d, picat + i + side * npiccontact, kind, begin, d.contact_pos[c], radius, picink)
