"""Normals, colours and opacity of what a picture shows, before any light."""

from tisim.device.specialise import specialise

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, PLANE
from ..types import *
from . import faces, shapes
from .rays import eye_in, faces_of, into, normal_of, pixel_ray, size_in, world_ray
from .shapes import F, bits, high, low, real, row3
from .texture import textured

GAMMA = 2.2  # of colours in textures
SOLID = 0.999  # opacity from which nothing comes through; what has more than that throws a shadow
TEXTURED = LAMPS = False  # what paint_block() sets
DRESS = PAINT_BLOCK = None
KINDS = ()
_made = {}


@func
def hfield_normal(m, d, hfield, q):
    """Normal of the height field's triangle above or below a point, or of the side or bottom on which it lies."""
    size = narrow(m.hfield_size[hfield])
    nrow = m.hfield_nrow[hfield]
    ncol = m.hfield_ncol[hfield]
    dx = 2.0 * size[0] / (ncol - 1)
    dy = 2.0 * size[1] / (nrow - 1)
    x = (q[0] + size[0]) / dx
    y = (q[1] + size[1]) / dy
    c = ti.max(0, ti.min(ncol - 2, ti.cast(ti.floor(x), ti.i32)))
    r = ti.max(0, ti.min(nrow - 2, ti.cast(ti.floor(y), ti.i32)))
    at = m.hfield_adr[hfield] + r * ncol + c
    low = m.hfield_data[at] * size[2]
    high = m.hfield_data[at + ncol + 1] * size[2]
    along = vec2(0.0, 0.0)
    if x - c > y - r:
        corner = m.hfield_data[at + 1] * size[2]
        along = vec2((corner - low) / dx, (high - corner) / dy)
    else:
        corner = m.hfield_data[at + ncol] * size[2]
        along = vec2((high - corner) / dx, (corner - low) / dy)
    n = vec3(-along[0], -along[1], 1.0)
    height = low + along[0] * (x - c) * dx + along[1] * (y - r) * dy
    if ti.abs(q[2] - height) > 1e-3 * (size[2] + size[3]):  # not on the surface
        side = vec3(ti.abs(q[0]) / size[0], ti.abs(q[1]) / size[1], -q[2] / size[3])
        if side[0] >= side[1] and side[0] >= side[2]:
            n = vec3(ti.select(q[0] > 0.0, 1.0, -1.0), 0.0, 0.0)
        elif side[1] >= side[2]:
            n = vec3(0.0, ti.select(q[1] > 0.0, 1.0, -1.0), 0.0)
        else:
            n = vec3(0.0, 0.0, -1.0)
    return n


@func
def covered(x, width):
    """Mean of a square wave of period 2, from -1 to 1, over an interval around x."""
    a = F(0.5) * (x - F(0.5) * width)
    b = F(0.5) * (x + F(0.5) * width)
    a = ti.abs(a - ti.floor(a) - F(0.5))
    b = ti.abs(b - ti.floor(b) - F(0.5))
    return F(2.0) * (a - b) / width


@func
def chequer(q, w, pixel, per_tile):
    """Share of the second colour of a plane's chequer at q in the footprint of a pixel; w: the ray; all in its frame.

    pixel  side of the pixel there;  per_tile  1 / side of a tile.
    """
    length = ti.sqrt(w.dot(w))
    pixel = pixel * length * per_tile
    per_flat = F(1.0) / high(F(1e-9), ti.sqrt(w[0] * w[0] + w[1] * w[1]))
    stretch = low(F(1e3), length / high(F(1e-3) * length, ti.abs(w[2])))
    fx = ti.abs(w[0]) * per_flat
    fy = ti.abs(w[1]) * per_flat
    wx = high(F(1e-5), pixel * (fy + fx * stretch))
    wy = high(F(1e-5), pixel * (fx + fy * stretch))
    return F(0.5) - F(0.5) * covered(q[0] * per_tile, wx) * covered(q[1] * per_tile, wy)


@func
def decay(x):
    """exp(-x), x >= 0, to 1e-6: the 16th power of a polynomial of x / 16."""
    y = low(x, F(16.0)) * F(-1.0 / 16.0)
    p = F(1.0 / 720.0) * y + F(1.0 / 120.0)
    p = p * y + F(1.0 / 24.0)
    p = p * y + F(1.0 / 6.0)
    p = p * y + F(0.5)
    p = (p * y + F(1.0)) * y + F(1.0)
    p = p * p
    p = p * p
    p = p * p
    return p * p


@func
def keep_normal(m, d, i, j, seen, v, n):
    """Notes a normal of record j's frame for sample i, if it shows j: unit, turned against the ray v of that frame."""
    scale = F(1.0) / ti.sqrt(high(n.dot(n), F(1e-30)))
    scale = ti.select(n.dot(v) > F(0.0), -scale, scale)
    x = scale * (real(seen[0]) * n[0] + real(seen[3]) * n[1] + real(seen[6]) * n[2])
    y = scale * (real(seen[1]) * n[0] + real(seen[4]) * n[1] + real(seen[7]) * n[2])
    z = scale * (real(seen[2]) * n[0] + real(seen[5]) * n[1] + real(seen[8]) * n[2])
    mine = d.pic_record[i] == j
    d.pic_nx[i] = ti.select(mine, bits(x), d.pic_nx[i])
    d.pic_ny[i] = ti.select(mine, bits(y), d.pic_ny[i])
    d.pic_nz[i] = ti.select(mine, bits(z), d.pic_nz[i])


@func
def normals_of(m, d, j, begin, end):
    """Normals of the samples from begin to end - 1 that show record j, a simple shape."""
    t = d.pic_kind[j]
    seen = d.pic_seen[j]
    o = eye_in(seen)
    s = size_in(seen)
    if t == BOX:
        for i in range(begin, end):
            v = into(seen, pixel_ray(m, d, i))
            keep_normal(m, d, i, j, seen, v, shapes.normal_box(o + real(d.pic_depth[i]) * v, s))
    elif t == ELLIPSOID:
        for i in range(begin, end):
            v = into(seen, pixel_ray(m, d, i))
            keep_normal(m, d, i, j, seen, v, shapes.normal_ellipsoid(o + real(d.pic_depth[i]) * v, s))
    elif t == CAPSULE:
        for i in range(begin, end):
            v = into(seen, pixel_ray(m, d, i))
            keep_normal(m, d, i, j, seen, v, shapes.normal_capsule(o + real(d.pic_depth[i]) * v, s))
    elif t == CYLINDER:
        for i in range(begin, end):
            v = into(seen, pixel_ray(m, d, i))
            keep_normal(m, d, i, j, seen, v, shapes.normal_cylinder(o + real(d.pic_depth[i]) * v, s))
    elif t == PLANE:
        for i in range(begin, end):
            keep_normal(m, d, i, j, seen, into(seen, pixel_ray(m, d, i)), row3(0.0, 0.0, 1.0))
    else:
        for i in range(begin, end):
            v = into(seen, pixel_ray(m, d, i))
            keep_normal(m, d, i, j, seen, v, o + real(d.pic_depth[i]) * v)


def _dress(m, d, j, begin, end):
    """Normal, colour, opacity and fading of the samples from begin to end - 1 that show record j."""
    seen = d.pic_seen[j]
    rgba = d.pic_rgba[j]
    t = d.pic_kind[j]
    alpha = ti.select(rgba[3] < SOLID, F(rgba[3]), F(1.0))
    red = F(rgba[0])
    green = F(rgba[1])
    blue = F(rgba[2])
    for i in range(begin, end):
        mine = d.pic_record[i] == j
        d.pic_alpha[i] = ti.select(mine, bits(alpha), d.pic_alpha[i])
        d.pic_r[i] = ti.select(mine, bits(red), d.pic_r[i])
        d.pic_g[i] = ti.select(mine, bits(green), d.pic_g[i])
        d.pic_b[i] = ti.select(mine, bits(blue), d.pic_b[i])
    if ti.static(MESH in KINDS):
        if t == MESH:
            for i in range(begin, end):
                if d.pic_record[i] == j:
                    n = faces.normal_at(m, d.pic_data[j], d.pic_face[i])
                    keep_normal(m, d, i, j, seen, into(seen, pixel_ray(m, d, i)), n)
    if ti.static(HFIELD in KINDS):
        if t == HFIELD:
            for i in range(begin, end):
                if d.pic_record[i] == j:
                    v = world_ray(m, d, i)
                    p = d.pic_eye[0] + real(d.pic_depth[i]) * v - d.pic_pos[j]
                    n = hfield_normal(m, d, d.pic_data[j], d.pic_mat[j].transpose() @ p)
                    n = n * (1.0 / ti.max(1e-30, n.norm()))
                    keep_normal(m, d, i, j, seen, into(seen, pixel_ray(m, d, i)), row3(n[0], n[1], n[2]))
    if t != MESH and t != HFIELD:
        normals_of(m, d, j, begin, end)
    if t == PLANE:
        second = d.pic_second[j]
        more = row3(second[0] - rgba[0], second[1] - rgba[1], second[2] - rgba[2])
        o = eye_in(seen)
        per_tile = F(1.0 / d.pic_look[0])
        per_focal = F(1.0 / d.pic_lens[0][0])
        per_far = F(1.0 / d.pic_look[1])
        if ti.static(LAMPS):
            if d.pic_size[j][0] > 0.0:  # as in MuJoCo's pictures, what has an end does not fade
                per_far = F(0.0)
        for i in range(begin, end):
            mine = d.pic_record[i] == j
            away = real(d.pic_depth[i])
            w = into(seen, pixel_ray(m, d, i))
            share = chequer(o + away * w, w, away * per_focal, per_tile)
            far = away * per_far
            d.pic_r[i] = ti.select(mine, bits(red + share * more[0]), d.pic_r[i])
            d.pic_g[i] = ti.select(mine, bits(green + share * more[1]), d.pic_g[i])
            d.pic_b[i] = ti.select(mine, bits(blue + share * more[2]), d.pic_b[i])
            d.pic_fade[i] = ti.select(mine, bits(F(1.0) - decay(far * far)), d.pic_fade[i])
    if ti.static(TEXTURED):
        if d.pic_tex[j] >= 0:
            for i in range(begin, end):
                if d.pic_record[i] == j:
                    tint = tint_of(m, d, i, j)
                    if ti.static(LAMPS):
                        d.pic_tint[i] = tint
                    else:
                        d.pic_r[i] = bits(real(d.pic_r[i]) * F(ti.pow(tint[0], GAMMA)))
                        d.pic_g[i] = bits(real(d.pic_g[i]) * F(ti.pow(tint[1], GAMMA)))
                        d.pic_b[i] = bits(real(d.pic_b[i]) * F(ti.pow(tint[2], GAMMA)))


@func
def tint_of(m, d, i, j):
    """Colour of record j's texture where sample i shows it."""
    v = world_ray(m, d, i)
    away = ti.cast(real(d.pic_depth[i]), FP)
    length = v.norm()
    slope = ti.max(0.05, ti.abs(ti.cast(normal_of(m, d, i).dot(pixel_ray(m, d, i)), FP)) / length)
    pixel = away * length / d.pic_lens[0][0] / ti.sqrt(slope)
    q = d.pic_mat[j].transpose() @ (d.pic_eye[0] + away * v - d.pic_pos[j])
    face = d.pic_face[i]
    if d.pic_kind[j] == MESH:
        mesh = d.pic_data[j]
        face = m.ray_meshface[m.mesh_faceadr[mesh] + face]
    return textured(m, d, j, q, pixel, face)


def _paint_block(m, d, begin, end):
    """What is known of the surface that each sample of a block shows, before any light."""
    for i in range(begin, end):
        zero = bits(F(0.0))
        d.pic_nx[i] = zero
        d.pic_ny[i] = zero
        d.pic_nz[i] = zero
        d.pic_r[i] = zero
        d.pic_g[i] = zero
        d.pic_b[i] = zero
        d.pic_fade[i] = zero
        d.pic_alpha[i] = bits(F(1.0))
        d.pic_tile[i] = ti.select(d.pic_record[i] >= 0, 1, 0)  # waits for its surface
    if ti.static(TEXTURED and LAMPS):
        for i in range(begin, end):
            d.pic_tint[i] = vec3(1.0, 1.0, 1.0)
    for first in range(begin, end):
        if d.pic_tile[first] > 0:
            j = d.pic_record[first]
            last = first
            for i in range(first, end):
                mine = d.pic_record[i] == j
                d.pic_tile[i] = ti.select(mine, 0, d.pic_tile[i])
                last = ti.max(last, ti.select(mine, i, 0))
            DRESS(m, d, j, first, last + 1)


def _paint(m, d, nblock: ti.i32):
    """`paint_block` of all blocks, in parallel."""
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for block in range(nblock):
        place = d.pic_block[block]
        PAINT_BLOCK(m, d, place[0], place[1])


def paint_block(kinds, textures=False, lamps=False):
    """The Taichi function paint_block, for records that may be of these shapes, beside the simple ones; textures: some
    have them; lamps: for the light of the model's lamps."""
    key = "block", kinds, textures, lamps
    if key not in _made:
        dress = specialise(_dress, "dress", KINDS=kinds, TEXTURED=textures, LAMPS=lamps)
        own = specialise(_paint_block, "paint_block", DRESS=func(dress), TEXTURED=textures, LAMPS=lamps)
        _made[key] = func(own)
    return _made[key]


def paint(kinds, textures=False, lamps=False):
    """The kernel that tells of surfaces, for records of these shapes (a tuple), some with textures, or for the light of
    the model's lamps."""
    key = "paint", faces_of(kinds), textures, lamps
    if key not in _made:
        _made[key] = kernel(specialise(_paint, "paint", PAINT_BLOCK=paint_block(*key[1:])))
    return _made[key]
