"""The contacts of each body that has sensors of contacts, and the order of contacts in MuJoCo's list."""

from ..collision.candidates import find_listed
from ..sort import first_from
from ..types import SERIAL, func, kernel, ti, vec3, vec4

BLOCK = 16  # contacts, one behind the other, that a ball encloses
FAR = 1e30  # larger than any distance squared


@func
def sensed_at(m, d, c, side):
    """Place among the sensed bodies of all worlds of the body on a side of contact c, -1: it is none."""
    b = m.geom_bodyid[d.contact_geom[c][side]]
    k = m.body_sensed[b]
    if k >= 0:
        k += d.contact_worldid[c] * m.nsensed
    if side == 1 and b == m.geom_bodyid[d.contact_geom[c][0]]:
        k = -1  # a body that touches itself has the contact once
    return k


@kernel
def sense_lists(m, d):
    """The contacts of each sensed body in list order; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = d.ncon
        n_body = d.nworld * m.nsensed
        for k in range(n_body):
            d.sense_num[k] = 0
        for c in range(n):
            for side in range(2):
                k = sensed_at(m, d, c, side)
                if k >= 0:
                    d.sense_num[k] = d.sense_num[k] + 1
        at = 0
        for k in range(n_body):
            d.sense_adr[k] = at
            at += d.sense_num[k]
            d.sense_num[k] = 0
        for c in range(n):
            for side in range(2):
                k = sensed_at(m, d, c, side)
                if k >= 0:
                    d.sense_con[d.sense_adr[k] + d.sense_num[k]] = 2 * c + side
                    d.sense_num[k] = d.sense_num[k] + 1


@kernel
def enclose_contacts(m, d):
    """A ball around each block of contacts; parallel over blocks."""
    ti.loop_config(serialize=SERIAL)
    for b in range((d.ncon + BLOCK - 1) // BLOCK):
        lo = vec3(FAR)
        hi = vec3(-FAR)
        for c in range(b * BLOCK, ti.min(d.ncon, (b + 1) * BLOCK)):
            lo = ti.min(lo, d.contact_pos[c])
            hi = ti.max(hi, d.contact_pos[c])
        x = 0.5 * (lo + hi)
        d.sense_ball[b] = vec4(x[0], x[1], x[2], 0.5 * (hi - lo).norm())


@func
def next_near(m, d, ball, at, end):
    """The first place from `at` on that is not in a block of contacts which lies outside a ball (centre, radius
    squared) as a whole."""
    far = at < end
    while far:
        b = d.sense_ball[at // BLOCK]
        x = vec3(b[0] - ball[0], b[1] - ball[1], b[2] - ball[2])
        far = x.norm() > ti.sqrt(ball[3]) + b[3]
        if far:
            at = (at // BLOCK + 1) * BLOCK
            far = at < end
    return at


@func
def rank_of(m, d, g1, g2):
    """Place of the pair in the model's list, behind all of them if it is not listed."""
    rank = m.npair
    if m.npair > 0:
        at = find_listed(ti.min(g1, g2), ti.max(g1, g2), m.ranked_geom1, m.ranked_geom2, m.nranked)
        if at >= 0:
            rank = m.pair_rank[at]
    return rank


@func
def is_before(m, d, c1, c2):
    """Whether contact c1 comes before c2 in MuJoCo's list of the same world: by bodies, then pairs that the model
    lists, then geoms.
    """
    p = d.contact_geom[c1]
    q = d.contact_geom[c2]
    result = c1 < c2
    if p[0] != q[0] or p[1] != q[1]:
        pb = ti.Vector([m.geom_bodyid[p[0]], m.geom_bodyid[p[1]]])
        qb = ti.Vector([m.geom_bodyid[q[0]], m.geom_bodyid[q[1]]])
        less = ti.min(pb[0], pb[1]) - ti.min(qb[0], qb[1])
        if less == 0:
            less = ti.max(pb[0], pb[1]) - ti.max(qb[0], qb[1])
        if less == 0:
            less = rank_of(m, d, p[0], p[1]) - rank_of(m, d, q[0], q[1])
        if less == 0:
            less = p[0] - q[0]
        if less == 0:
            less = p[1] - q[1]
        result = less < 0
    return result


@func
def first_contact(m, d, w):
    """Place in the list of the first contact of world w, or of what comes behind it."""
    return first_from(d.contact_worldid, 0, 1, d.ncon, w)
