"""The rays of a tile against a mesh, all at once: faces are seen from the camera, so that whether a ray meets one are
three functions that are linear across the picture. For meshes whose faces are not much smaller than a pixel.

What looks away from the camera is passed over where a mesh is closed and the camera outside.
"""

from ..constants import LEAF_FACES, MESH_CLOSED
from ..queries.ray_shapes import FAR
from ..types import *
from .faces import corner, looks_along, place_of
from .shapes import F, bits, high, low, real, row3

SLACK = 2e-7  # faces are widened by this share of their distance, so that no ray slips through a seam
ROOM = 1e-5  # and the tile's pyramid by this
row4 = ti.types.vector(4, ti.f32)
Sides = ti.types.matrix(4, 3, ti.f32)
GROUP = 8  # samples, a row of a tile, of which some may meet a face


@ti.func
def column(seen, k):
    """Axis k of the camera in a record's frame."""
    return row3(real(seen[k]), real(seen[3 + k]), real(seen[6 + k]))


@ti.func
def size_of(v):
    return row3(ti.abs(v[0]), ti.abs(v[1]), ti.abs(v[2]))


@func
def is_beyond(m, node, o, n, size):
    """Whether a node's box is on the far side of a plane through o with normal n."""
    c = row3(real(m.face_box[node][0]), real(m.face_box[node][1]), real(m.face_box[node][2])) - o
    h = row3(real(m.face_box[node][3]), real(m.face_box[node][4]), real(m.face_box[node][5]))
    return n.dot(c) > size.dot(h)


@func
def is_off(n, p0, p1, p2):
    """Whether a face is on the far side of a plane through the camera."""
    return (n.dot(p0) > F(0.0)) & (n.dot(p1) > F(0.0)) & (n.dot(p2) > F(0.0))


@func
def faces_within(m, begin, lanes, o, sides, outside):
    """A bit for each face of a leaf that looks at the camera and is not beside the tile's pyramid.

    lanes  LEAF_FACES, which a compiler must not know, or it would write the rounds out one by one;  sides  normals.
    """
    n0 = row3(sides[0, 0], sides[0, 1], sides[0, 2])
    n1 = row3(sides[1, 0], sides[1, 1], sides[1, 2])
    n2 = row3(sides[2, 0], sides[2, 1], sides[2, 2])
    n3 = row3(sides[3, 0], sides[3, 1], sides[3, 2])
    some = 0
    for at in range(begin, begin + lanes):
        p0 = corner(m, at, 0) - o
        p1 = corner(m, at, 1) - o
        p2 = corner(m, at, 2) - o
        front = p0.dot((p1 - p0).cross(p2 - p0))
        off = is_off(n0, p0, p1, p2) | is_off(n1, p0, p1, p2) | is_off(n2, p0, p1, p2) | is_off(n3, p0, p1, p2)
        seen = (front < F(0.0)) | ((outside == 0) & (front > F(0.0)))
        some |= ti.select(seen & (off == 0), 1 << (at - begin), 0)
    return some


@func
def cover(m, d, seen, at, face, view, begin, end):
    """Tries the face at a place of m.face_corner on the samples from begin to end - 1; face: its place in its mesh.

    view  focal length, middle column and row of the picture, 1 / focal length.
    """
    o = row3(real(seen[9]), real(seen[10]), real(seen[11]))
    right = column(seen, 0)
    up = column(seen, 1)
    back = column(seen, 2)
    p0 = corner(m, at, 0) - o
    p1 = corner(m, at, 1) - o
    p2 = corner(m, at, 2) - o
    # in the camera's axes
    a = row3(right.dot(p0), up.dot(p0), back.dot(p0))
    b = row3(right.dot(p1), up.dot(p1), back.dot(p1))
    c = row3(right.dot(p2), up.dot(p2), back.dot(p2))
    nearest = -high(high(a[2], b[2]), c[2])
    farthest = -low(low(a[2], b[2]), c[2])
    y0 = F(-FAR)
    y1 = F(FAR)
    if nearest > F(1e-3):  # its rows
        ya = a[1] * (view[0] / a[2])
        yb = b[1] * (view[0] / b[2])
        yc = c[1] * (view[0] / c[2])
        y0 = view[2] + low(low(ya, yb), yc) - F(0.01)
        y1 = view[2] + high(high(ya, yb), yc) + F(0.01)
    ab = b - a
    bc = c - b
    ca = a - c
    n = ab.cross(bc)
    volume = a.dot(n)
    sign = ti.select(volume < F(0.0), F(-1.0), F(1.0))
    n = n * (sign / high(volume * sign, F(1e-30)))  # 1 / depth is linear across the picture
    least = F(1.0) / high(farthest, F(1e-30))
    most = F(1.0) / high(nearest, F(1e-30))
    k0 = b.cross(bc) * sign
    k1 = c.cross(ca) * sign
    k2 = a.cross(ab) * sign
    far = F(SLACK) * (ti.abs(a[0]) + ti.abs(a[1]) + ti.abs(a[2]))
    s0 = far * (ti.abs(bc[0]) + ti.abs(bc[1]) + ti.abs(bc[2]))
    s1 = far * (ti.abs(ca[0]) + ti.abs(ca[1]) + ti.abs(ca[2]))
    s2 = far * (ti.abs(ab[0]) + ti.abs(ab[1]) + ti.abs(ab[2]))
    g = begin
    while g < end:
        stop = ti.min(end, g + GROUP)
        top = ti.floor(real(d.pic_y[g]))
        bottom = ti.floor(real(d.pic_y[stop - 1])) + F(1.0)
        if (y0 <= bottom) & (y1 >= top):
            for i in range(g, stop):
                x = (real(d.pic_x[i]) - view[1]) * view[3]
                y = (view[2] - real(d.pic_y[i])) * view[3]
                u0 = k0[0] * x + k0[1] * y - k0[2]
                u1 = k1[0] * x + k1[1] * y - k1[2]
                u2 = k2[0] * x + k2[1] * y - k2[2]
                close = n[0] * x + n[1] * y - n[2]
                close = high(least, low(most, close))  # a face seen from its edge has no digits
                met = (u0 >= -s0) & (u1 >= -s1) & (u2 >= -s2) & (close > real(d.pic_shine[i]))
                d.pic_shine[i] = ti.select(met, bits(close), d.pic_shine[i])
                d.pic_tile[i] = ti.select(met, face, d.pic_tile[i])
        g = stop


@func
def cover_mesh(m, d, j, begin, end):
    """Where the rays of the samples from begin to end - 1 first meet record j, a mesh: depth and place of the face, to
    pic_shine and pic_tile; FAR, -1 where they do not. Samples of a tile stand row by row."""
    seen = d.pic_seen[j]
    mesh = d.pic_data[j]
    o = row3(real(seen[9]), real(seen[10]), real(seen[11]))
    right = column(seen, 0)
    up = column(seen, 1)
    back = column(seen, 2)
    # as whole numbers, whose order is that of numbers that are not negative
    left = bits(F(FAR))
    end_x = 0
    top = bits(F(FAR))
    end_y = 0
    for i in range(begin, end):
        d.pic_shine[i] = 0
        d.pic_tile[i] = -1
        left = ti.min(left, d.pic_x[i])
        end_x = ti.max(end_x, d.pic_x[i])
        top = ti.min(top, d.pic_y[i])
        end_y = ti.max(end_y, d.pic_y[i])
    lens = d.pic_lens[0]
    view = row4(F(lens[0]), F(0.5 * lens[1]), F(0.5 * lens[2]), F(1.0 / lens[0]))
    n0 = right + ((real(end_x) - view[1]) * view[3] + F(ROOM)) * back
    n1 = -right - ((real(left) - view[1]) * view[3] - F(ROOM)) * back
    n2 = up + ((view[2] - real(top)) * view[3] + F(ROOM)) * back
    n3 = -up - ((view[2] - real(end_y)) * view[3] - F(ROOM)) * back
    sides = Sides([[n0[0], n0[1], n0[2]], [n1[0], n1[1], n1[2]], [n2[0], n2[1], n2[2]], [n3[0], n3[1], n3[2]]])
    m0 = size_of(n0)
    m1 = size_of(n1)
    m2 = size_of(n2)
    m3 = size_of(n3)
    first = m.face_mesh[mesh]
    size = row3(real(seen[12]), real(seen[13]), real(seen[14]))
    past = size_of(o) - size
    outside = ti.select((first[3] >= MESH_CLOSED) & (high(high(past[0], past[1]), past[2]) > F(0.0)), 1, 0)
    # the mesh is seen along `way`, from which rays to all of it are turned by this angle
    distance = ti.sqrt(o.dot(o))
    way = o * (F(-1.0) / high(distance, F(1e-30)))
    sine = low(F(1.0), ti.sqrt(size.dot(size)) / high(distance, F(1e-30)))
    cosine = ti.sqrt(F(1.0) - sine * sine)
    node = 1
    while node > 0:
        box = first[0] + node
        hidden = is_beyond(m, box, o, n0, m0) | is_beyond(m, box, o, n1, m1)
        hidden = hidden | is_beyond(m, box, o, n2, m2) | is_beyond(m, box, o, n3, m3)
        hidden = hidden | ((outside > 0) & looks_along(m, box, way, sine, cosine))
        if hidden == 0 and node < first[1]:
            node = 2 * node
        else:
            if hidden == 0:
                leaf = node - first[1]
                some = faces_within(m, place_of(first[2] + leaf, 0), first[4], o, sides, outside)
                k = 0
                while some > 0:
                    if some & 1:
                        cover(m, d, seen, place_of(first[2] + leaf, k), leaf * LEAF_FACES + k, view, begin, end)
                    some = some >> 1
                    k += 1
            node += 1
            while (node & 1) == 0:
                node = node >> 1
            if node == 1:
                node = 0
    for i in range(begin, end):
        d.pic_shine[i] = bits(ti.select(d.pic_tile[i] < 0, F(FAR), F(1.0) / real(d.pic_shine[i])))
