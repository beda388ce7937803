"""Normals and colours of what a picture shows."""

from tisim.device.specialise import specialise

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, PLANE
from ..types import *
from . import shapes
from .rays import eye_in, faces_of, into, light_block, normal_of, pixel_ray, see_block, size_in, world_ray
from .shapes import F, bits, high, low, real, row3
from .texture import skybox_at, textured

UNSEEN = 1.0 / 512.0  # what comes through less is not looked for
STEPS = 2048.0  # entries of pic_tone per unit of the root of light
INFINITE = 0x7F800000  # its bits
GAMMA = 2.2  # of colours in textures
SOLID = 0.999  # opacity from which nothing comes through; what has more than that throws a shadow
TEXTURED = LAMPS = FACES = False  # what paint() and draw() set
FACE_NORMAL = DRESS = SEE_BLOCK = PAINT_BLOCK = LIGHT_BLOCK = None
KINDS = ()
_made = {}


@func
def hfield_normal(m, d, hfield, q):
    """Normal of the height field's triangle above or below a point, or of the side or bottom on which it lies."""
    size = m.hfield_size[hfield]
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


def _face_normal(m, d, j, q, face):
    """Normal of a mesh or a height field at a point q of its surface, in its frame; of any length."""
    n = vec3(0.0, 0.0, 1.0)
    if ti.static(MESH in KINDS):
        if d.pic_kind[j] == MESH:
            vert = m.mesh_vertadr[d.pic_data[j]]
            c0 = m.mesh_vert[vert + m.mesh_face[face][0]]
            c1 = m.mesh_vert[vert + m.mesh_face[face][1]]
            c2 = m.mesh_vert[vert + m.mesh_face[face][2]]
            n = (c1 - c0).cross(c2 - c0)
    if ti.static(HFIELD in KINDS):
        if d.pic_kind[j] == HFIELD:
            n = hfield_normal(m, d, d.pic_data[j], q)
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
    faces = False
    if ti.static(FACES):
        faces = t == MESH or t == HFIELD
        if faces:
            for i in range(begin, end):
                if d.pic_record[i] == j:
                    v = world_ray(m, d, i)
                    p = d.pic_eye[0] + real(d.pic_depth[i]) * v - d.pic_pos[j]
                    n = FACE_NORMAL(m, d, j, d.pic_mat[j].transpose() @ p, d.pic_face[i])
                    n = n * (1.0 / ti.max(1e-30, n.norm()))
                    keep_normal(m, d, i, j, seen, into(seen, pixel_ray(m, d, i)), row3(n[0], n[1], n[2]))
    if not faces:
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
    return textured(m, d, j, q, pixel, d.pic_face[i])


def _paint_block(m, d, begin, end, tile, npicplane):
    """What is known of the surface that each sample of a block shows, before any light."""
    shown = 0
    for i in range(begin, end):
        shown += ti.select(d.pic_record[i] >= 0, 1, 0)
        zero = bits(F(0.0))
        d.pic_nx[i] = zero
        d.pic_ny[i] = zero
        d.pic_nz[i] = zero
        d.pic_r[i] = zero
        d.pic_g[i] = zero
        d.pic_b[i] = zero
        d.pic_fade[i] = zero
        d.pic_alpha[i] = bits(F(1.0))
    if ti.static(TEXTURED and LAMPS):
        for i in range(begin, end):
            d.pic_tint[i] = vec3(1.0, 1.0, 1.0)
    first = d.pic_start[tile]
    k = first - npicplane  # planes are in no list, and come first
    last = d.pic_start[tile + 1]
    while k < last and shown > 0:
        j = -1
        if k < first:
            j = d.pic_plane[k - first + npicplane]
        else:
            j = d.pic_item[k]
        k += 1
        n = 0
        for i in range(begin, end):
            n += ti.select(d.pic_record[i] == j, 1, 0)
        if n > 0:
            shown -= n
            DRESS(m, d, j, begin, end)


def _paint(m, d, nblock: ti.i32, npicplane: ti.i32):
    """`paint_block` of all blocks, in parallel."""
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for block in range(nblock):
        place = d.pic_block[block]
        PAINT_BLOCK(m, d, place[0], place[1], place[2], npicplane)


@func
def place_of_half(m, d, column, row):
    """Where the sample of a column and row of the half-size picture stands."""
    grid = d.pic_grid[0]
    half = grid[2] // 2
    tile = row // half * grid[0] + column // half
    return (tile * half + row % half) * half + column % half


@func
def sky_at(m, d, i, half_wide, half_high):
    """Share of the sky seen, of the four nearest points of the half-size picture that show the same record."""
    u = F(0.5) * real(d.pic_x[i]) - F(0.5)
    w = F(0.5) * real(d.pic_y[i]) - F(0.5)
    a = ti.cast(ti.floor(u), ti.i32)
    b = ti.cast(ti.floor(w), ti.i32)
    total = F(0.0)
    weight = F(0.0)
    mean = F(0.0)
    for k in ti.static(range(4)):
        c = a + k % 2
        r = b + k // 2
        o = place_of_half(m, d, ti.max(0, ti.min(half_wide - 1, c)), ti.max(0, ti.min(half_high - 1, r)))
        sky = real(d.pic_sky[o])
        share = (F(1.0) - ti.abs(u - ti.cast(c, ti.f32))) * (F(1.0) - ti.abs(w - ti.cast(r, ti.f32))) + F(1e-3)
        same = d.pic_owner[o] == d.pic_record[i]
        mean += F(0.25) * sky
        total += ti.select(same, share * sky, F(0.0))
        weight += ti.select(same, share, F(0.0))
    return ti.select(weight > F(0.0), total / high(weight, F(1e-6)), mean)


@func
def toned(m, d, x):
    """Light as a picture shows it, from a table over its root."""
    u = low(ti.sqrt(high(x, F(0.0))) * F(STEPS), F(3.0 * STEPS)) + F(0.5)
    return real(d.pic_tone[ti.cast(u, ti.i32)])


@kernel
def keep_sky(m, d, nblock: ti.i32):
    """The light of the sky's lamps at each sample, for sky_at; parallel over blocks."""
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for block in range(nblock):
        for i in range(d.pic_block[block][0], d.pic_block[block][1]):
            weight = real(d.pic_weight[i])
            share = real(d.pic_lit[i]) / high(weight, F(1e-6))
            d.pic_sky[i] = bits(ti.select(weight > F(1e-6), share, F(1.0)))
            d.pic_owner[i] = d.pic_record[i]


@func
def sky_color(m, d, i, k):
    """Colour k of the sky behind sample i: it changes with height in the picture."""
    rise = high(F(0.0), F(1.0) - real(d.pic_y[i]) * F(1.0 / d.pic_lens[0][2]))
    return F(d.pic_light[2][k]) + rise * ti.sqrt(rise) * F(d.pic_light[3][k])


@func
def begin_colors(m, d, begin, end):
    """Before the first surface: no colour, and all comes through."""
    for i in range(begin, end):
        zero = bits(F(0.0))
        d.pic_red[i] = zero
        d.pic_green[i] = zero
        d.pic_blue[i] = zero
        d.pic_through[i] = bits(F(1.0))
        d.pic_front[i] = d.pic_record[i]
        d.pic_away[i] = ti.select(d.pic_record[i] < 0, INFINITE, d.pic_depth[i])


@func
def add_colors(m, d, begin, end):
    """Adds the light of surfaces by what came through those before. Returns through how many something still comes."""
    more = 0
    for i in range(begin, end):
        through = real(d.pic_through[i])
        alpha = real(d.pic_alpha[i])
        part = through * alpha
        d.pic_red[i] = bits(real(d.pic_red[i]) + part * real(d.pic_r[i]))
        d.pic_green[i] = bits(real(d.pic_green[i]) + part * real(d.pic_g[i]))
        d.pic_blue[i] = bits(real(d.pic_blue[i]) + part * real(d.pic_b[i]))
        through = ti.select(d.pic_record[i] >= 0, through * (F(1.0) - alpha), F(0.0))
        through = ti.select(through < F(UNSEEN), F(0.0), through)
        d.pic_through[i] = bits(through)
        more += ti.select(through > F(0.0), 1, 0)
    return more


@func
def shade_block(m, d, begin, end, layer, half_wide, half_high):
    """Adds the surface that each sample of a block shows to its colour: sun, sky, light that bounced, a highlight. Far
    ground fades; what shows nothing gets the sky. half_wide 0: the sky is seen from everywhere.

    Returns through how many something still comes.
    """
    if layer == 0:
        begin_colors(m, d, begin, end)
    for i in range(begin, end):
        d.pic_cosine[i] = bits(F(1.0))
    if half_wide > 0:
        for i in range(begin, end):
            if d.pic_record[i] >= 0:
                d.pic_cosine[i] = bits(sky_at(m, d, i, half_wide, half_high))
    up = d.pic_axes[0] @ vec3(0.0, 0.0, 1.0)
    upward = row3(up[0], up[1], up[2])
    to = d.pic_axes[0] @ (d.pic_axes[1].transpose() @ vec3(0.0, 0.0, 1.0))
    sun = row3(to[0], to[1], to[2])
    light = d.pic_light[0]
    sunlight = row3(light[0], light[1], light[2])
    light = d.pic_light[1]
    skylight = row3(light[0], light[1], light[2])
    for i in range(begin, end):
        n = normal_of(m, d, i)
        v = pixel_ray(m, d, i)
        rise = n.dot(upward)
        cosine = real(d.pic_lit[i])
        between = sun - v * (F(1.0) / ti.sqrt(v.dot(v)))
        shine = high(F(0.0), n.dot(between))
        s2 = shine * shine / high(F(1e-12), between.dot(between))
        s4 = s2 * s2
        s8 = s4 * s4
        s12 = s8 * s4
        s24 = s12 * s12
        spot = F(0.22) * s24 * s24 * s12 * cosine  # of the sun, by the 60th power of a cosine
        sky = real(d.pic_cosine[i]) * (F(0.55) + F(0.45) * rise)
        lit = F(0.06) + F(0.08) * high(F(0.0), -rise)  # light that bounced more than once
        red = toned(m, d, real(d.pic_r[i]) * (lit + sunlight[0] * cosine + skylight[0] * sky) + spot)
        green = toned(m, d, real(d.pic_g[i]) * (lit + sunlight[1] * cosine + skylight[1] * sky) + spot)
        blue = toned(m, d, real(d.pic_b[i]) * (lit + sunlight[2] * cosine + skylight[2] * sky) + spot)
        d.pic_r[i] = bits(faded(m, d, i, red, 0))
        d.pic_g[i] = bits(faded(m, d, i, green, 1))
        d.pic_b[i] = bits(faded(m, d, i, blue, 2))
    return add_colors(m, d, begin, end)


@kernel
def shade(m, d, nblock: ti.i32, layer: ti.i32, skybox: ti.i32):
    """Adds what each sample shows to its colour, in the light of the model's lamps, as MuJoCo's pictures have it; in
    parallel over blocks. skybox  texture of the sky."""
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for block in range(nblock):
        place = d.pic_block[block]
        if layer == 0:
            begin_colors(m, d, place[0], place[1])
        for i in range(place[0], place[1]):
            light_by_lamps(m, d, i, skybox)
        add_colors(m, d, place[0], place[1])


@func
def faded(m, d, i, shown, k):
    """Colour k of what sample i shows, as far ground fades, or of the sky where there is nothing."""
    far = F(d.pic_light[2][k])
    surface = shown + (far - shown) * real(d.pic_fade[i])
    return ti.select(d.pic_record[i] >= 0, surface, sky_color(m, d, i, k))


@func
def light_by_lamps(m, d, i, skybox):
    """Colour of what sample i shows in the light of the model's lamps, into pic_r, pic_g and pic_b."""
    j = d.pic_record[i]
    far = d.pic_light[2]
    own = vec3(sky_color(m, d, i, 0), sky_color(m, d, i, 1), sky_color(m, d, i, 2))
    if skybox >= 0:
        own = skybox_at(m, d, skybox, world_ray(m, d, i))
        far = own
    if j >= 0:
        albedo = vec3(real(d.pic_r[i]), real(d.pic_g[i]), real(d.pic_b[i]))
        fade = real(d.pic_fade[i])
        for k in ti.static(range(3)):
            light = d.pic_matter[j][0] + d.pic_lamp[5][k] + d.pic_gain[i][k]
            shown = d.pic_tint[i][k] * ti.min(1.0, albedo[k] * light + d.pic_gloss[i][k])
            own[k] = shown + (far[k] - shown) * fade
    d.pic_r[i] = bits(ti.cast(own[0], ti.f32))
    d.pic_g[i] = bits(ti.cast(own[1], ti.f32))
    d.pic_b[i] = bits(ti.cast(own[2], ti.f32))


def paint_block(faces, textures=False, lamps=False):
    """The Taichi function paint_block, for records that may be of these shapes, beside the simple ones; textures: some
    have them; lamps: for the light of the model's lamps."""
    key = "block", faces, textures, lamps
    if key not in _made:
        normal = func(specialise(_face_normal, "face_normal", KINDS=faces))
        dress = specialise(_dress, "dress", FACES=bool(faces), FACE_NORMAL=normal, TEXTURED=textures, LAMPS=lamps)
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


def _draw(m, d, nblock: ti.i32, npicplane: ti.i32, shadows: ti.i32, half_wide: ti.i32, half_high: ti.i32):
    """Colours of all samples in the light of sun and sky, layer by layer; parallel over blocks."""
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for block in range(nblock):
        place = d.pic_block[block]
        begin = place[0]
        end = place[1]
        layer = 0
        more = 1
        while more > 0:
            SEE_BLOCK(m, d, begin, end, place[2], npicplane, layer)
            PAINT_BLOCK(m, d, begin, end, place[2], npicplane)
            LIGHT_BLOCK(m, d, begin, end, 0, shadows)
            more = shade_block(m, d, begin, end, layer, half_wide, half_high)
            layer += 1


def draw(kinds, textures=False):
    """The kernel that colours what samples show by sun and sky, for records of these shapes (a tuple), some with
    textures."""
    faces = faces_of(kinds)
    key = "draw", faces, textures
    if key not in _made:
        inner = dict(
            SEE_BLOCK=see_block(faces), PAINT_BLOCK=paint_block(faces, textures), LIGHT_BLOCK=light_block(faces)
        )
        _made[key] = kernel(specialise(_draw, "draw", **inner))
    return _made[key]
