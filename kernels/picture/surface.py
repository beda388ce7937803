"""Normals and colours of what a picture shows."""

from tisim.device.specialise import specialise

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, PLANE, SPHERE
from ..types import *
from .texture import skybox_at, textured

RIM = 1e-4  # a point within this share of a cylinder's half length from its end lies on the disc
UNSEEN = 1.0 / 512.0  # what comes through less is not looked for
STEPS = 512.0  # entries of pic_tone per unit of the root of light


@func
def pixel_ray(m, d, i):
    """Direction of the ray through sample i; 1 along the view."""
    lens = d.pic_lens[0]
    at = d.pic_at[i]
    v = vec3((at[0] - 0.5 * lens[1]) / lens[0], (0.5 * lens[2] - at[1]) / lens[0], -1.0)
    return d.pic_axes[0].transpose() @ v


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


def _normal_at(m, d, j, p, v, face):
    """Unit normal of record j at a point p of its surface, turned against the ray v."""
    t = d.pic_kind[j]
    s = d.pic_size[j]
    q = d.pic_mat[j].transpose() @ (p - d.pic_pos[j])
    n = vec3(0.0, 0.0, 1.0)
    if t == BOX:
        a = vec3(ti.abs(q[0]) * s[1] * s[2], ti.abs(q[1]) * s[0] * s[2], ti.abs(q[2]) * s[0] * s[1])
        if a[0] >= a[1] and a[0] >= a[2]:
            n = vec3(ti.select(q[0] > 0.0, 1.0, -1.0), 0.0, 0.0)
        elif a[1] >= a[2]:
            n = vec3(0.0, ti.select(q[1] > 0.0, 1.0, -1.0), 0.0)
        else:
            n = vec3(0.0, 0.0, ti.select(q[2] > 0.0, 1.0, -1.0))
    elif t == SPHERE:
        n = q
    elif t == ELLIPSOID:
        n = q / (s * s)
    elif t == CAPSULE:
        n = q - vec3(0.0, 0.0, ti.max(-s[1], ti.min(s[1], q[2])))
    elif t == CYLINDER:
        if ti.abs(q[2]) < s[1] * (1.0 - RIM):
            n = vec3(q[0], q[1], 0.0)
        else:
            n = vec3(0.0, 0.0, q[2])
    if ti.static(MESH in KINDS):
        if t == MESH:
            vert = m.mesh_vertadr[d.pic_data[j]]
            c0 = m.mesh_vert[vert + m.mesh_face[face][0]]
            c1 = m.mesh_vert[vert + m.mesh_face[face][1]]
            c2 = m.mesh_vert[vert + m.mesh_face[face][2]]
            n = (c1 - c0).cross(c2 - c0)
    if ti.static(HFIELD in KINDS):
        if t == HFIELD:
            n = hfield_normal(m, d, d.pic_data[j], q)
    if t != BOX and t != PLANE:
        n = n * (1.0 / ti.max(1e-30, n.norm()))
    n = d.pic_mat[j] @ n
    return ti.select(n.dot(v) > 0.0, -n, n)


KINDS = ()  # set by normals()
NORMAL_AT = None  # set by shade()
TEXTURED = LAMPS = False
GAMMA = 2.2  # of colours in textures
SOLID = 0.999  # opacity from which nothing comes through; what has more than that throws a shadow
_made = {}


def normals(kinds):
    """The Taichi function `normal_at` for records of these shapes (a tuple)."""
    return func(specialise(_normal_at, "normal_at", KINDS=kinds))


@func
def covered(x, width):
    """Mean of a square wave of period 2, from -1 to 1, over an interval around x."""
    a = 0.5 * (x - 0.5 * width)
    b = 0.5 * (x + 0.5 * width)
    return 2.0 * (ti.abs(a - ti.floor(a) - 0.5) - ti.abs(b - ti.floor(b) - 0.5)) / width


@func
def chequer(m, d, j, p, v, away):
    """Share of the second colour of a plane's chequer in the pixel's footprint at p."""
    q = d.pic_mat[j].transpose() @ (p - d.pic_pos[j])
    w = d.pic_mat[j].transpose() @ v
    length = w.norm()
    tile = d.pic_look[0]
    pixel = away * length / d.pic_lens[0][0] / tile
    flat = ti.max(1e-9, ti.sqrt(w[0] * w[0] + w[1] * w[1]))
    stretch = ti.min(1e3, length / ti.max(1e-3 * length, ti.abs(w[2])))
    fx = ti.abs(w[0]) / flat
    fy = ti.abs(w[1]) / flat
    wx = ti.max(1e-5, pixel * (fy + fx * stretch))
    wy = ti.max(1e-5, pixel * (fx + fy * stretch))
    return 0.5 - 0.5 * covered(q[0] / tile, wx) * covered(q[1] / tile, wy)


@func
def sky_at(m, d, i, half_wide, half_high):
    """Share of the sky seen, of the four nearest points of the half-size picture that show the same record."""
    at = d.pic_at[i]
    u = 0.5 * at[0] - 0.5
    w = 0.5 * at[1] - 0.5
    a = ti.cast(ti.floor(u), ti.i32)
    b = ti.cast(ti.floor(w), ti.i32)
    total = FP(0.0)
    weight = FP(0.0)
    mean = FP(0.0)
    for k in range(4):
        c = a + k % 2
        r = b + k // 2
        o = ti.max(0, ti.min(half_high - 1, r)) * half_wide + ti.max(0, ti.min(half_wide - 1, c))
        share = (1.0 - ti.abs(u - c)) * (1.0 - ti.abs(w - r)) + 1e-3
        mean += 0.25 * d.pic_sky[o]
        if d.pic_owner[o] == d.pic_record[i]:
            total += share * d.pic_sky[o]
            weight += share
    return ti.select(weight > 0.0, total / ti.max(weight, 1e-6), mean)


@func
def toned(m, d, x):
    """Light as a picture shows it, from a table over its root."""
    u = ti.min(ti.sqrt(ti.max(x, 0.0)) * STEPS, 3.0 * STEPS - 2.0)
    k = ti.cast(u, ti.i32)
    return d.pic_tone[k] + (d.pic_tone[k + 1] - d.pic_tone[k]) * (u - k)


@kernel
def keep_sky(m, d, nsample: ti.i32):
    """The light of the sky's lamps at each sample, for sky_at; parallel over samples."""
    ti.loop_config(serialize=SERIAL)
    for i in range(nsample):
        d.pic_sky[i] = ti.select(d.pic_weight[i] > 1e-6, d.pic_lit[i] / ti.max(d.pic_weight[i], 1e-6), 1.0)
        d.pic_owner[i] = d.pic_record[i]


def _shade(m, d, nsample: ti.i32, layer: ti.i32, half_wide: ti.i32, half_high: ti.i32, skybox: ti.i32):
    """Adds the surface that each sample shows to its colour, by what came through those before; parallel over samples.

    Sun, sky, light that bounced, a highlight; or the light of the model's lamps, as MuJoCo's pictures have it. Far
    ground fades; what shows nothing gets the sky. half_wide 0: the sky is seen from everywhere; skybox: its texture.
    """
    ti.loop_config(serialize=SERIAL)
    for i in range(nsample):
        through = FP(1.0)
        color = vec3(0.0, 0.0, 0.0)
        if layer > 0:
            through = d.pic_through[i]
            color = d.pic_color[i]
        if through > 0.0:
            j = d.pic_record[i]
            far = d.pic_light[2]
            own = far
            if j < 0:
                rise = ti.max(0.0, 1.0 - d.pic_at[i][1] / d.pic_lens[0][2])
                own = own + rise * ti.sqrt(rise) * d.pic_light[3]
            if ti.static(LAMPS):
                if skybox >= 0:
                    own = skybox_at(m, d, skybox, pixel_ray(m, d, i))
                    far = own
            alpha = FP(1.0)
            if j >= 0:
                v = pixel_ray(m, d, i)
                away = d.pic_depth[i]
                p = d.pic_eye[0] + away * v
                n = NORMAL_AT(m, d, j, p, v, d.pic_face[i])
                rgba = d.pic_rgba[j]
                albedo = vec3(rgba[0], rgba[1], rgba[2])
                if rgba[3] < SOLID:
                    alpha = rgba[3]
                if d.pic_kind[j] == PLANE:
                    albedo = albedo + chequer(m, d, j, p, v, away) * (d.pic_second[j] - albedo)
                tint = vec3(1.0, 1.0, 1.0)
                if ti.static(TEXTURED):
                    if d.pic_tex[j] >= 0:
                        slope = ti.max(0.05, ti.abs(n.dot(v)) / v.norm())
                        pixel = away * v.norm() / d.pic_lens[0][0] / ti.sqrt(slope)
                        q = d.pic_mat[j].transpose() @ (p - d.pic_pos[j])
                        tint = textured(m, d, j, q, pixel, d.pic_face[i])
                        if ti.static(not LAMPS):
                            for k in ti.static(range(3)):
                                albedo[k] = albedo[k] * ti.pow(tint[k], GAMMA)
                sky = FP(1.0)
                if half_wide > 0:
                    sky = sky_at(m, d, i, half_wide, half_high)
                sun = d.pic_axes[1].transpose() @ vec3(0.0, 0.0, 1.0)
                cosine = d.pic_lit[i]
                lit = 0.06 + 0.08 * ti.max(0.0, -n[2])  # light that bounced more than once
                spot = FP(0.0)  # of the sun, by the 60th power of a cosine
                if ti.static(not LAMPS):
                    between = sun - v * (1.0 / v.norm())
                    shine = ti.max(0.0, n.dot(between))
                    s2 = shine * shine / ti.max(1e-12, between.dot(between))
                    s4 = s2 * s2
                    s8 = s4 * s4
                    s12 = s8 * s4
                    s24 = s12 * s12
                    spot = 0.22 * s24 * s24 * s12 * cosine
                fade = 0.0
                if d.pic_kind[j] == PLANE:
                    fade = 1.0 - ti.exp(-(away / d.pic_look[1]) * (away / d.pic_look[1]))
                    if ti.static(LAMPS):
                        if d.pic_size[j][0] > 0.0:  # as in MuJoCo's pictures, what has an end does not fade
                            fade = 0.0
                for k in ti.static(range(3)):
                    light = lit + d.pic_light[0][k] * cosine + d.pic_light[1][k] * sky * (0.55 + 0.45 * n[2])
                    shown = FP(0.0)
                    if ti.static(LAMPS):
                        light = d.pic_matter[j][0] + d.pic_lamp[5][k] + d.pic_gain[i][k]
                        shown = tint[k] * ti.min(1.0, albedo[k] * light + d.pic_gloss[i][k])
                    else:
                        shown = toned(m, d, albedo[k] * light + spot)
                    own[k] = shown + (far[k] - shown) * fade
            color = color + through * alpha * own
            through = ti.select(j >= 0, through * (1.0 - alpha), 0.0)
            if through < UNSEEN:
                through = 0.0
        d.pic_color[i] = color
        d.pic_through[i] = through


def shade(kinds, textures=False, lamps=False):
    """The kernel that colours what samples show, for records of these shapes (a tuple), some with textures, or in the
    light of the model's lamps."""
    if (kinds, textures, lamps) not in _made:
        own = specialise(_shade, "shade", NORMAL_AT=normals(kinds), TEXTURED=textures, LAMPS=lamps)
        _made[kinds, textures, lamps] = kernel(own)
    return _made[kinds, textures, lamps]
