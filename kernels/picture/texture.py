"""Textures of what a picture shows: texels of several sizes, as colours packed in words of `pic_texel`.

The maps are those of MuJoCo 3.4.0's pictures, found by looking at them: a flat texture lies across x and y of the
geom, a cube around it (seed 001, "texrepeat", "texuniform").
"""

from ..types import *


@func
def texel(m, d, place):
    """Colour of a texel, each part from 0 to 1."""
    word = d.pic_texel[place]
    return vec3(word & 255, word >> 8 & 255, word >> 16 & 255) * (1.0 / 255.0)


@func
def level_of(m, d, tex, level):
    """Where a level of a texture begins, and its width and height; levels halve both."""
    info = d.pic_texinfo[tex]
    place = info[0]
    width = info[1]
    height = info[2]
    for _ in range(level):
        place += width * height
        width = width // 2
        height = height // 2
    return place, width, height


@func
def image_at(m, d, tex, u, v, level, face):
    """Colour at u, v of a level, between its four nearest texels; face -1: the image repeats, else it is a cube's."""
    place, width, height = level_of(m, d, tex, level)
    if face >= 0:
        if height > width:  # six images one above the other, or one for all sides
            place += face * width * width
        height = width
    if face < 0:
        u -= ti.floor(u)
        v -= ti.floor(v)
    x = u * width - 0.5
    y = v * height - 0.5
    left = ti.floor(x)
    top = ti.floor(y)
    c0 = ti.cast(left, ti.i32)
    r0 = ti.cast(top, ti.i32)
    c1 = ti.min(c0 + 1, width - 1)
    r1 = ti.min(r0 + 1, height - 1)
    if face < 0:  # the neighbours of the last texels are the first
        c1 = ti.select(c0 + 1 < width, c0 + 1, 0)
        r1 = ti.select(r0 + 1 < height, r0 + 1, 0)
        c0 = ti.select(c0 < 0, width - 1, ti.min(c0, width - 1))
        r0 = ti.select(r0 < 0, height - 1, ti.min(r0, height - 1))
    c0 = ti.max(0, c0)
    r0 = ti.max(0, r0)
    x -= left
    y -= top
    above = (1.0 - x) * texel(m, d, place + r0 * width + c0) + x * texel(m, d, place + r0 * width + c1)
    below = (1.0 - x) * texel(m, d, place + r1 * width + c0) + x * texel(m, d, place + r1 * width + c1)
    return (1.0 - y) * above + y * below


@func
def cube_place(q):
    """Face of a cube that a direction meets, in the order +x, -x, +y, -y, +z, -z, and u, v from 0 to 1 on it."""
    a = ti.abs(q)
    face = 0
    across = vec3(-q[2], -q[1], a[0])
    if a[0] >= a[1] and a[0] >= a[2]:
        if q[0] < 0.0:
            face = 1
            across = vec3(q[2], -q[1], a[0])
    elif a[1] >= a[2]:
        face = 2
        across = vec3(q[0], q[2], a[1])
        if q[1] < 0.0:
            face = 3
            across = vec3(q[0], -q[2], a[1])
    else:
        face = 4
        across = vec3(q[0], -q[1], a[2])
        if q[2] < 0.0:
            face = 5
            across = vec3(-q[0], -q[1], a[2])
    per = 0.5 / ti.max(across[2], 1e-12)
    return face, 0.5 + across[0] * per, 0.5 + across[1] * per, per


@func
def mesh_place(m, d, mesh, face, q):
    """Texture coordinates u, v of a point of a face of a mesh that has them."""
    vert = m.mesh_vertadr[mesh]
    at = m.mesh_texcoordadr[mesh]
    corners = m.mesh_face[face]
    coords = m.mesh_facetexcoord[face]
    c0 = m.mesh_vert[vert + corners[0]]
    e1 = m.mesh_vert[vert + corners[1]] - c0
    e2 = m.mesh_vert[vert + corners[2]] - c0
    n = e1.cross(e2)
    per = 1.0 / ti.max(1e-30, n.dot(n))
    s = (q - c0).cross(e2).dot(n) * per
    t = e1.cross(q - c0).dot(n) * per
    uv = (1.0 - s - t) * m.mesh_texcoord[at + coords[0]]
    uv += s * m.mesh_texcoord[at + coords[1]]
    uv += t * m.mesh_texcoord[at + coords[2]]
    return uv


@func
def textured(m, d, j, q, pixel, face):
    """Colour of record j's texture at a point q in its frame; pixel: the width of a pixel there [m]."""
    tex = d.pic_tex[j]
    scale = d.pic_map[j]
    info = d.pic_texinfo[tex]
    u = 0.5 + scale[0] * q[0]
    v = 0.5 - scale[1] * q[1]
    side = -1
    texels = pixel * ti.max(ti.abs(scale[0]) * info[1], ti.abs(scale[1]) * info[2])
    if scale[2] < 0.0:
        uv = mesh_place(m, d, d.pic_data[j], face, q)
        u = scale[0] * uv[0]
        v = scale[1] * uv[1]
        texels = pixel * info[1] * -scale[2]
    elif scale[2] > 0.0:
        place = vec3(q[0] * scale[0], q[1] * scale[1], q[2] * scale[2])
        per = FP(0.0)
        side, u, v, per = cube_place(place)
        texels = pixel * info[1] * per * ti.max(scale[0], scale[1], scale[2])
    level = ti.max(0.0, ti.min(info[3] - 1.0, ti.log(ti.max(texels, 1.0)) * 1.4426950408889634))
    low = ti.cast(level, ti.i32)
    color = vec3(0.0, 0.0, 0.0)
    for k in range(2):
        share = ti.abs(1.0 - k - (level - low))
        if share > 0.0:
            color += share * image_at(m, d, tex, u, v, ti.min(low + k, info[3] - 1), side)
    return color


@func
def skybox_at(m, d, tex, v):
    """Colour of a sky texture in a direction of the world."""
    face, x, y, _ = cube_place(vec3(v[0], v[2], -v[1]))
    return image_at(m, d, tex, x, y, 0, face)
