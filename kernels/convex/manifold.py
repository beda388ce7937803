"""Contacts of two shapes with faces or straight sides (boxes, meshes, cylinders, capsules) under the second dynamics
(tisim/LCP.md), each as deep as the shapes are there.

Of each shape what it turns towards the other one counts (outlines.py). The face that is more across the normal cuts the
other face, or line, by the planes through its edges; the corners of what is left that are near enough to its plane are
the contacts. So shapes that rest on each other have all their corners, also while they are turned a little or apart,
where MuJoCo's rules (multiccd.py) know one of them, or all as deep as the deepest. Two lines, or a line and an edge,
touch where they lie along each other, at both ends.
"""

from ..slots import put
from ..wide import *
from .memory import CUT, FACES, POLYGON, item, list_adr, put_item, type_of
from .multiccd import clip, ivec4, largest_quad
from .outlines import ACROSS, LINE, has_faces, outline_of, side_of

SAME = 1e-6  # difference of cosines between normal and faces below which shape 0's face cuts
GAIN = 1.001  # by this a corner is farther than another: not by rounding, as on an octagon
SHORT_WAY = 0.05  # way between the ends where lines lie along each other, of half a length, below which they touch once


@ti.dataclass
class Cut:
    """The plane of the face that cuts."""

    base: vec3
    outward: vec3
    slope: FP  # cosine between it and the contacts' normal
    normal: vec3  # of the contacts
    side: FP  # of the shape that is cut: 1 where that normal ends, -1 where it begins
    polygon: ti.i32  # where that is of which corners are left
    count: ti.i32  # how many


@func
def distance(cut: ti.template(), x):
    """Of a point from the plane, as measured along the contacts' normal."""
    return dot(x - cut.base, cut.outward) / cut.slope


@func
def clip_line(m, d, face, nface, polygon, normal):
    """Cuts a line with the planes through the edges of a face along its normal; returns how many ends are left."""
    p = item(m, d, polygon, 0)
    way = item(m, d, polygon, 1) - p
    first, last = FP(0.0), FP(1.0)
    for e in range(nface):
        a = item(m, d, face, e)
        side = cross(item(m, d, face, (e + 1) % nface) - a, normal)
        inside, along = dot(p - a, side), dot(way, side)
        if inside < 0.0 and inside + along < 0.0:
            last = FP(-1.0)
        elif inside < 0.0:
            first = ti.max(first, -inside / along)
        elif inside + along < 0.0:
            last = ti.min(last, -inside / along)
    n = 0
    if first <= last:
        put_item(m, d, polygon, 0, p + first * way)
        put_item(m, d, polygon, 1, p + last * way)
        n = 2
    return n


@func
def cut_outline(m, d, mem: ti.template(), cutter, first: ti.template(), second: ti.template()):
    """Where the polygon or line is that the cutter's face leaves of the other shape's outline, how many corners it has,
    and a point of the cutter's face.
    """
    nface = first.count if cutter == 0 else second.count
    n = second.count if cutter == 0 else first.count
    outward = first.normal if cutter == 0 else second.normal
    polygon = list_adr(m, d, mem, POLYGON)
    for k in range(n):
        put_item(m, d, polygon, k, item(m, d, list_adr(m, d, mem, FACES + 1 - cutter), k))
    face = list_adr(m, d, mem, FACES + cutter)
    if n == LINE:
        n = clip_line(m, d, face, nface, polygon, outward)
    else:
        polygon, n = clip(m, d, face, nface, polygon, n, list_adr(m, d, mem, CUT), outward)
    return polygon, n, item(m, d, face, 0)


@func
def keep_near(m, d, polygon, n, margin, cut: ti.template()):
    """Keeps the corners of a polygon that are within the margin of a plane; returns how many, and the deepest one's
    number and distance.
    """
    kept, deepest, least = 0, 0, FP(1e30)
    for k in range(n):
        x = item(m, d, polygon, k)
        dist = distance(cut, x)
        if dist <= margin:
            put_item(m, d, polygon, kept, x)
            if dist < least:
                least, deepest = dist, kept
            kept += 1
    return kept, deepest, least


@func
def put_corner(m, d, slot, x, cut: ti.template()):
    """A contact at a corner of what is cut."""
    dist = distance(cut, x)
    put(m, d, slot, dist, x - (0.5 * cut.side * dist) * cut.normal, cut.normal)


@func
def farthest(m, d, polygon, n, a, across):
    """The corner of a polygon that is farthest from corner a, the first of several; along a vector unless it is 0."""
    found, most = a, FP(0.0)
    for k in range(n):
        way = item(m, d, polygon, k) - item(m, d, polygon, a)
        far = dot(way, across)
        if dot(across, across) == 0.0:
            far = root(dot(way, way))
        if far > FP(GAIN) * most:
            found, most = k, far
    return found


@func
def widest_corners(m, d, polygon, n, outward):
    """Four corners of a convex polygon that span much: the ends of a diagonal and those farthest beside it."""
    any_way = vec3(0.0, 0.0, 0.0)
    a = farthest(m, d, polygon, n, 0, any_way)
    b = farthest(m, d, polygon, n, a, any_way)
    across = cross(outward, item(m, d, polygon, b) - item(m, d, polygon, a))
    return ivec4(a, b, farthest(m, d, polygon, n, a, across), farthest(m, d, polygon, n, a, -across))


@func
def has_corners_only(m, d, mem: ti.template()):
    """True if both shapes are polyhedra: the deepest place of what overlaps is a corner."""
    flat = True
    for s in ti.static(range(2)):
        flat = flat and has_faces(type_of(m, d, mem, s))
    return flat


@func
def put_corners(m, d, mem: ti.template(), slot, ncon, deepest, missed, cut: ti.template()):
    """Makes at most five corners of what is left contacts behind the first ncon: those that span most, and the deepest
    if these are less deep by more than `missed`; returns how many contacts there are then.
    """
    polygon, n = cut.polygon, cut.count
    chosen = ivec4(0, 1, 2, 3)
    if n > 4:
        if has_corners_only(m, d, mem):
            chosen = largest_quad(m, d, polygon, n)
            missed = 0.0
        else:
            chosen = widest_corners(m, d, polygon, n, cut.outward)
    least = FP(1e30)
    for k in ti.static(range(4)):
        again = k >= n
        for j in ti.static(range(k)):
            again = again or chosen[j] == chosen[k]
        if not again:
            x = item(m, d, polygon, chosen[k])
            least = ti.min(least, distance(cut, x))
            put_corner(m, d, slot + ncon, x, cut)
            ncon += 1
    x = item(m, d, polygon, deepest)
    if distance(cut, x) < least - missed:
        put_corner(m, d, slot + ncon, x, cut)
        ncon += 1
    return ncon


@func
def face_contacts(m, d, mem: ti.template(), slot, dist, margin, normal, missed):
    """Replaces the contact in `slot`, of this distance, by those of two faces, of a face and a line, of two lines, or
    of a line and the edge of a face beside it; returns their number. Where the deepest corner of what is left is less
    deep by more than `missed` it stays: alone between polyhedra, whose faces then do not meet, else beside the corners,
    between which a rim is deepest.
    """
    ncon = 0
    first = outline_of(m, d, mem, 0, normal)
    second = outline_of(m, d, mem, 1, -normal)
    cutter = 0
    if second.count > LINE and (first.count <= LINE or second.across > first.across + FP(SAME)):
        cutter = 1
    slope = second.across if cutter == 1 else first.across
    flat = first.count > LINE and second.count > 0 or second.count > LINE and first.count > 0
    if flat and slope > FP(ACROSS):
        cut = Cut(slope=slope, normal=normal)
        cut.outward = first.normal if cutter == 0 else second.normal
        cut.side = FP(1.0) if cutter == 0 else FP(-1.0)
        polygon, n, base = cut_outline(m, d, mem, cutter, first, second)
        cut.base = base
        n, deepest, least = keep_near(m, d, polygon, n, margin, cut)
        meets = least - dist < missed
        if n > 0 and (meets or not has_corners_only(m, d, mem)):
            kept = 0 if meets else 1
            cut.polygon, cut.count = polygon, n
            ncon = put_corners(m, d, mem, slot, kept, deepest, missed, cut)
    if ncon == 0 and lies_along(m, d, mem, first.count, second.count):
        a = side_of(m, d, mem, 0, first.count, normal)
        b = side_of(m, d, mem, 1, second.count, -normal)
        ncon = side_contacts(m, d, slot, dist, margin, normal, missed, a, b)
    return ti.max(ncon, 1)


@func
def lies_along(m, d, mem: ti.template(), first, second):
    """True if one shape's outline, of so many corners, is a line, and the other one's is a line or has edges."""
    straight = first == LINE and second == LINE
    straight = straight or first == LINE and second > LINE and has_faces(type_of(m, d, mem, 1))
    return straight or second == LINE and first > LINE and has_faces(type_of(m, d, mem, 0))


@func
def side_contacts(m, d, slot, dist, margin, normal, missed, one: ti.template(), two: ti.template()):
    """Replaces the contact in `slot` by those at the ends of where two sides lie along each other; it stays beside them
    where they cross, deeper by `missed`, or alone. Returns their number, or 0 if they do not.
    """
    h1, h2 = one.half, two.half
    aa, cc, b = dot(h1, h1), dot(h2, h2), dot(h1, h2)
    between = two.centre - one.centre
    end, other = (dot(h1, between) - b) / aa, (dot(h1, between) + b) / aa
    low, high = ti.max(-1.0, ti.min(end, other)), ti.min(1.0, ti.max(end, other))
    ncon = 0
    if high - low > FP(SHORT_WAY) and b * b > FP(ACROSS * ACROSS) * aa * cc:
        least = FP(1e30)
        for kept in range(2):
            if kept == 0 or least - dist < missed:
                n = 1 - kept
                for k in range(2):
                    s = low if k == 0 else high
                    u = ti.max(-1.0, ti.min(1.0, (s * b - dot(h2, between)) / cc))
                    way = between + u * h2 - s * h1
                    length = root(dot(way, way))
                    away = length - one.radius - two.radius
                    if away <= margin and length > MINVAL and dot(way, normal) > 0.0:
                        n += 1
                        least = ti.min(least, away)
                        unit = over(way, length)
                        put(m, d, slot + n - 1, away, one.centre + s * h1 + (one.radius + 0.5 * away) * unit, unit)
                ncon = n
    return ncon
