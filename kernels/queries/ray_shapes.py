"""Rays against single shapes. The rules are those of MuJoCo 3.4.0, after its engine_ray.c (Apache-2.0).

A ray is the points p + x v with x >= 0. Shapes are met in the geom's frame; the functions return the least such x, or
FAR. In f32 the ray is first moved to its point nearest to the geom, so that a far origin costs no digits; x then begins
at `start`.
"""

from ..constants import LEAF
from ..types import *

FAR = 1e30  # no hit
TINY = 1e-30  # stands for a zero component of a direction in divisions
SLACK = 1e-12 if FP == ti.f64 else 1e-6  # a ray leaves a box later by this share, for rounding
# triangles are widened by this share, so that no ray slips through a seam; a height field's are as in MuJoCo
SEAM_MESH = 1e-12 if FP == ti.f64 else 1e-6
SEAM_HFIELD = 0.0 if FP == ti.f64 else 1e-6


@ti.func
def roots(a, b, c):
    """Solutions of a x^2 + 2 b x + c = 0, a >= 0, the lower first; -FAR where there are none or a is nearly 0."""
    x0 = -FAR
    x1 = -FAR
    det = b * b - a * c
    if det >= 0.0 and a >= MINVAL:
        det = ti.sqrt(det)
        x0 = (-b - det) / a
        x1 = (-b + det) / a
    return x0, x1


@ti.func
def first_root(a, b, c, start):
    """The lower of the two solutions that is not before the start, or FAR."""
    x0, x1 = roots(a, b, c)
    return ti.select(x0 >= start, x0, ti.select(x1 >= start, x1, FAR))


@ti.func
def ray_plane(p, v, size, start):
    """From above, within the plane's rectangle; a size of 0 is unbounded."""
    x = FAR
    if v[2] <= -MINVAL:
        t = -p[2] / v[2]
        at = p + t * v
        inside = (size[0] <= 0.0 or ti.abs(at[0]) <= size[0]) and (size[1] <= 0.0 or ti.abs(at[1]) <= size[1])
        if t >= start and inside:
            x = t
    return x


@ti.func
def ray_sphere(p, v, radius2, start):
    return first_root(v.dot(v), v.dot(p), p.dot(p) - radius2, start)


@ti.func
def ray_tube(p, v, radius, half, start):
    """The round side of a capsule or cylinder; only its first intersection counts."""
    a = v[0] * v[0] + v[1] * v[1]
    b = v[0] * p[0] + v[1] * p[1]
    x = first_root(a, b, p[0] * p[0] + p[1] * p[1] - radius * radius, start)
    if x < FAR and ti.abs(p[2] + x * v[2]) > half:
        x = FAR
    return x


@ti.func
def ray_capsule(p, v, size, start):
    x = FAR
    if ray_sphere(p, v, (size[0] + size[1]) ** 2, start) < FAR:
        x = ray_tube(p, v, size[0], size[1], start)
        for end in range(2):
            sign = 1.0 - 2.0 * end
            q = p
            q[2] = p[2] - sign * size[1]
            x0, x1 = roots(v.dot(v), v.dot(q), q.dot(q) - size[0] * size[0])
            for k in ti.static(range(2)):
                t = x1 if k else x0
                if t >= start and t < x and sign * (p[2] + t * v[2]) >= size[1]:
                    x = t
    return x


@ti.func
def ray_ellipsoid(p, v, size, start):
    s = 1.0 / (size * size)
    return first_root((s * v).dot(v), (s * v).dot(p), (s * p).dot(p) - 1.0, start)


@ti.func
def ray_cylinder(p, v, size, start):
    x = FAR
    if ray_sphere(p, v, size[0] * size[0] + size[1] * size[1], start) < FAR:
        x = ray_tube(p, v, size[0], size[1], start)
        if ti.abs(v[2]) > MINVAL:
            for end in range(2):
                t = ((2.0 * end - 1.0) * size[1] - p[2]) / v[2]
                at = p + t * v
                if t >= start and t < x and at[0] * at[0] + at[1] * at[1] <= size[0] * size[0]:
                    x = t
    return x


@ti.func
def ray_box_sides(p, v, size, start):
    """Where the ray crosses each of the six sides (-x, x, -y, y, -z, z) of a box at the origin, FAR: it does not."""
    sides = vec6(FAR, FAR, FAR, FAR, FAR, FAR)
    if ray_sphere(p, v, size.dot(size), start) < FAR:
        for i in ti.static(range(3)):
            if ti.abs(v[i]) > MINVAL:
                for k in ti.static(range(2)):
                    t = ((2.0 * k - 1.0) * size[i] - p[i]) / v[i]
                    at = p + t * v
                    j1 = ti.static((i + 1) % 3)
                    j2 = ti.static((i + 2) % 3)
                    if t >= start and ti.abs(at[j1]) <= size[j1] and ti.abs(at[j2]) <= size[j2]:
                        sides[2 * i + k] = t
    return sides


@ti.func
def ray_box(p, v, size, start):
    return ray_box_sides(p, v, size, start).min()


@ti.func
def across(v):
    """Two unit vectors that span the plane normal to v."""
    b0 = vec3(1.0, 1.0, 1.0)
    w = ti.abs(v)
    if w[0] >= w[1] and w[0] >= w[2]:
        b0[0] = 0.0
    elif w[1] >= w[2]:
        b0[1] = 0.0
    else:
        b0[2] = 0.0
    b1 = b0 - apart((dot(v, b0) / dot(v, v)) * v)
    b1 = b1 * (1.0 / root(dot(b1, b1)))
    b0 = cross(b1, v)
    return b0 * (1.0 / root(dot(b0, b0))), b1


@ti.func
def ray_triangle(p, v, c0, c1, c2, b0, b1, start, seam):
    """Triangle c0 c1 c2, widened by the share `seam`, seen along the ray in the plane b0, b1."""
    x = FAR
    d0 = vec2(dot(b0, c0 - p), dot(b1, c0 - p))
    d1 = vec2(dot(b0, c1 - p), dot(b1, c1 - p))
    d2 = vec2(dot(b0, c2 - p), dot(b1, c2 - p))
    lo = ti.min(d0, d1, d2)
    hi = ti.max(d0, d1, d2)
    slack = seam * (hi - lo)
    if lo[0] <= slack[0] and lo[1] <= slack[1] and hi[0] >= -slack[0] and hi[1] >= -slack[1]:
        e0 = d0 - d2
        e1 = d1 - d2
        det = apart(e0[0] * e1[1]) - apart(e1[0] * e0[1])
        if ti.abs(det) >= MINVAL:
            n0 = apart(e1[1] * -d2[0]) - apart(e1[0] * -d2[1])
            n1 = apart(-e0[1] * -d2[0]) + apart(e0[0] * -d2[1])
            t = over(vec2(n0, n1), det)
            if t[0] >= -seam and t[1] >= -seam and t[0] + t[1] <= 1.0 + seam:
                normal = cross(c0 - c2, c1 - c2)
                along = dot(v, normal)
                if ti.abs(along) >= MINVAL:
                    hit = -dot(p - c2, normal) / along
                    if hit >= start:
                        x = hit
    return x


@ti.func
def enter_box(p, per_v, start, best, box: ti.template(), at):
    """Where the ray enters box `at` (lower, upper corner), FAR if it is empty, missed or beyond `best`."""
    lo = box[at, 0]
    hi = box[at, 1]
    t1 = (lo - p) * per_v
    t2 = (hi - p) * per_v
    x = ti.max(start, ti.min(t1, t2).max())
    leaves = ti.max(t1, t2).min()
    if x > leaves + SLACK * ti.abs(leaves) or x > best or lo[0] > hi[0]:
        x = FAR
    return x


@ti.func
def reciprocal(v):
    """1 / v, very large where a component is zero."""
    per_v = vec3(0.0, 0.0, 0.0)
    for k in ti.static(range(3)):
        per_v[k] = 1.0 / ti.select(ti.abs(v[k]) < TINY, TINY, v[k])
    return per_v


@ti.func
def next_node(node, trail, t1, t2):
    """Where a walk goes on in a heap whose node k has the children 2 k and 2 k + 1: into the child that the ray enters
    first, at t1 or t2, else, where it enters neither, to the nearest pending sibling on the way to the root; 0: the
    walk is over. Bit k of the trail: the sibling k levels up is pending.
    """
    if t1 < FAR or t2 < FAR:
        node = 2 * node + ti.cast(t2 < t1, ti.i32)
        trail = 2 * trail + ti.cast(t1 < FAR and t2 < FAR, ti.i32)
    else:
        while trail > 0 and (trail & 1) == 0:
            trail = trail >> 1
            node = node >> 1
        if trail == 0:
            node = 0
        else:
            trail = trail ^ 1
            node = node ^ 1
    return node, trail


@func
def mesh_face(m, d, p, v, start, size, mesh):
    """The mesh's faces, by a heap of boxes over them (tisim/queries/rays.py): where one is met, and which of all."""
    x = FAR
    met = -1
    if ray_box(p, v, size, start) < FAR:
        b0, b1 = across(v)
        per_v = reciprocal(v)
        adr = m.ray_meshadr[mesh][0]
        nleaf = m.ray_meshadr[mesh][1]
        vert = m.mesh_vertadr[mesh]
        face = m.mesh_faceadr[mesh]
        nface = m.mesh_facenum[mesh]
        node = 1
        trail = 0
        while node > 0:
            t1 = FAR
            t2 = FAR
            if node >= nleaf:
                for k in range((node - nleaf) * LEAF, ti.min(nface, (node - nleaf + 1) * LEAF)):
                    f = m.ray_meshface[face + k]
                    t = ray_triangle(
                        p,
                        v,
                        m.mesh_vert[vert + m.mesh_face[f][0]],
                        m.mesh_vert[vert + m.mesh_face[f][1]],
                        m.mesh_vert[vert + m.mesh_face[f][2]],
                        b0,
                        b1,
                        start,
                        SEAM_MESH,
                    )
                    if t < x:
                        x = t
                        met = f
            else:
                t1 = enter_box(p, per_v, start, x, m.ray_meshbox, adr + 2 * node)
                t2 = enter_box(p, per_v, start, x, m.ray_meshbox, adr + 2 * node + 1)
            node, trail = next_node(node, trail, t1, t2)
    return x, met


@func
def ray_mesh(m, d, p, v, start, size, mesh):
    """Where the ray meets the mesh."""
    x, _ = mesh_face(m, d, p, v, start, size, mesh)
    return x


@func
def ray_hfield(m, d, p, v, start, hfield):
    """The box below the height field, its surface, and its four sides up to the surface."""
    size = narrow(m.hfield_size[hfield])  # half extents along x and y, height, and depth of the base
    x = ray_box(p + vec3(0.0, 0.0, 0.5 * size[3]), v, vec3(size[0], size[1], 0.5 * size[3]), start)
    sides = ray_box_sides(p - vec3(0.0, 0.0, 0.5 * size[2]), v, vec3(size[0], size[1], 0.5 * size[2]), start)
    first = sides.min()
    if first < FAR:
        # the part of the ray in the upper box
        last = first
        for i in ti.static(range(6)):
            if sides[i] < FAR:
                last = ti.max(last, sides[i])
        if last == first:
            first = start
        x = ti.min(x, ray_surface(m, d, p, v, start, hfield, first, last))
        for i in ti.static(range(4)):
            if sides[i] < x:
                if below_rim(m, d, p + sides[i] * v, hfield, i):
                    x = sides[i]
    return x


@func
def ray_surface(m, d, p, v, start, hfield, first, last):
    """The triangles of a height field in the cells that the ray passes from x = first to last."""
    sx = narrow(m.hfield_size[hfield])[0]
    sy = narrow(m.hfield_size[hfield])[1]
    top = narrow(m.hfield_size[hfield])[2]
    nrow = m.hfield_nrow[hfield]
    ncol = m.hfield_ncol[hfield]
    x = FAR
    b0, b1 = across(v)
    dx = 2.0 * sx / (ncol - 1)
    dy = 2.0 * sy / (nrow - 1)
    y0 = (p[1] + first * v[1] + sy) / dy
    y1 = (p[1] + last * v[1] + sy) / dy
    x0 = (p[0] + first * v[0] + sx) / dx
    x1 = (p[0] + last * v[0] + sx) / dx
    slope = (x1 - x0) / ti.select(ti.abs(y1 - y0) < TINY, TINY, y1 - y0)
    rmin = ti.max(0, ti.cast(ti.floor(ti.min(y0, y1)), ti.i32) - 1)
    rmax = ti.min(nrow - 1, ti.cast(ti.ceil(ti.max(y0, y1)), ti.i32) + 1)
    for r in range(rmin, rmax):
        # columns that the ray passes in this row and its neighbours
        xa = x0
        xb = x1
        if ti.abs(y1 - y0) > 1.0:
            xa = x0 + slope * (ti.max(ti.min(y0, y1), ti.min(ti.max(y0, y1), r - 1.0)) - y0)
            xb = x0 + slope * (ti.max(ti.min(y0, y1), ti.min(ti.max(y0, y1), r + 2.0)) - y0)
        cmin = ti.max(0, ti.cast(ti.floor(ti.min(xa, xb)), ti.i32) - 1)
        cmax = ti.min(ncol - 1, ti.cast(ti.ceil(ti.max(xa, xb)), ti.i32) + 1)
        for c in range(cmin, cmax):
            at = m.hfield_adr[hfield] + r * ncol + c
            low = vec3(dx * c - sx, dy * r - sy, m.hfield_data[at] * top)
            high = vec3(dx * (c + 1) - sx, dy * (r + 1) - sy, m.hfield_data[at + ncol + 1] * top)
            for half in range(2):
                corner = vec3(high[0], low[1], m.hfield_data[at + 1] * top)
                if half == 1:
                    corner = vec3(low[0], high[1], m.hfield_data[at + ncol] * top)
                x = ti.min(x, ray_triangle(p, v, low, high, corner, b0, b1, start, SEAM_HFIELD))
    return x


@func
def below_rim(m, d, at, hfield, side: ti.template()):
    """Whether a point on side -x, x, -y or y of a height field is below the surface there."""
    along = ti.static(1 - side // 2)  # the axis along the side
    n = m.hfield_nrow[hfield]
    begin = m.hfield_adr[hfield]
    step = m.hfield_ncol[hfield]
    if ti.static(side < 2):
        begin += ti.static(side) * (step - 1)
    else:
        begin += ti.static(side - 2) * (n - 1) * step
        n = step
        step = 1
    half = narrow(m.hfield_size[hfield])[along]
    place = (at[along] + half) / (2.0 * half / (n - 1))
    k = ti.max(0, ti.min(n - 2, ti.cast(ti.floor(place), ti.i32)))
    rim = m.hfield_data[begin + k * step] * (k + 1.0 - place) + m.hfield_data[begin + (k + 1) * step] * (place - k)
    return at[2] / narrow(m.hfield_size[hfield])[2] < rim
