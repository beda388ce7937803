"""What is drawn, one record per geom, site and mark; and which tiles of a picture each may cover.

A view is a camera (0) or a far lamp (1), with tiles of its own. Records of view v stand at v * npic + j.
"""

from ..constants import CAPSULE, CYLINDER, HFIELD, MESH, OBJ_GEOM, OBJ_SITE, PLANE, SPHERE
from ..sleep.awake import is_body_gone
from ..types import *
from .shapes import bits, per, row3

BEYOND = 1e30
SOLID = 0.999  # opacity from which a record throws a shadow
NEAREST = 1e-3  # what reaches nearer to the camera than this may cover all of the picture [m]


@func
def hide_strays(m, d, j):
    """A record whose place is no number, or that cannot be seen through at all, is not drawn."""
    x = d.pic_pos[j]
    far = ti.max(ti.abs(x[0]), ti.abs(x[1]), ti.abs(x[2]))
    if not (far < 1e15) or d.pic_rgba[j][3] <= 0.0:
        d.pic_kind[j] = -1


@kernel
def list_geoms(m, d, picworld: ti.i32, groups: ti.i32):
    """Records of the geoms of these groups, parallel over geoms."""
    ti.loop_config(serialize=SERIAL)
    for g in range(m.ngeom):
        i = picworld * m.ngeom + g
        t = m.geom_type[g]
        size = narrow(m.geom_size[i, g])
        d.pic_pos[g] = narrow(d.geom_xpos[i])
        d.pic_mat[g] = narrow(d.geom_xmat[i])
        if t == SPHERE:
            size = vec3(size[0], size[0], size[0])
        d.pic_size[g] = size
        d.pic_kind[g] = ti.select(groups >> m.geom_group[g] & 1 == 1, t, -1)
        d.pic_data[g] = m.geom_dataid[g]
        d.pic_thing[g][0] = g
        d.pic_thing[g][1] = OBJ_GEOM
        hide_strays(m, d, g)
        if is_body_gone(m, d, picworld, m.geom_bodyid[g]):
            d.pic_kind[g] = -1


@kernel
def list_sites(m, d, picworld: ti.i32, picat: ti.i32, groups: ti.i32):
    """Records of the sites of these groups, from place picat on, parallel over sites."""
    ti.loop_config(serialize=SERIAL)
    for s in range(m.nsite):
        i = picworld * m.nsite + s
        j = picat + s
        size = m.site_size[s]
        d.pic_pos[j] = d.site_xpos[i]
        d.pic_mat[j] = d.site_xmat[i]
        if m.site_type[s] == SPHERE:
            size = vec3(size[0], size[0], size[0])
        d.pic_size[j] = size
        d.pic_kind[j] = ti.select(groups >> m.site_group[s] & 1 == 1, m.site_type[s], -1)
        d.pic_data[j] = -1
        d.pic_thing[j][0] = s
        d.pic_thing[j][1] = OBJ_SITE
        hide_strays(m, d, j)
        if is_body_gone(m, d, picworld, m.site_bodyid[s]):
            d.pic_kind[j] = -1


@kernel
def keep_solid(m, d, npic: ti.i32):
    """Planes, and what can be seen through, are not drawn: what is left throws shadows; parallel over records."""
    ti.loop_config(serialize=SERIAL)
    for j in range(npic):
        if d.pic_kind[j] == PLANE or d.pic_rgba[j][3] <= SOLID:
            d.pic_kind[j] = -1


@func
def half_extent(m, d, j):
    """Half sides of a box around a record, in its frame."""
    t = d.pic_kind[j]
    h = d.pic_size[j]
    if t == CAPSULE:
        h = vec3(h[0], h[0], h[0] + h[1])
    elif t == CYLINDER:
        h = vec3(h[0], h[0], h[1])
    elif t == HFIELD:
        s = narrow(m.hfield_size[d.pic_data[j]])
        h = vec3(s[0], s[1], ti.max(s[2], s[3]))
    return h


@kernel
def grow(m, d, npic: ti.i32):
    """Makes simple shapes that the camera sees smaller than a pixel as large as one, parallel over records."""
    ti.loop_config(serialize=SERIAL)
    for j in range(npic):
        if d.pic_kind[j] > HFIELD and d.pic_kind[j] < MESH:
            radius = half_extent(m, d, j).norm()
            pixel = -(d.pic_axes[0] @ (d.pic_pos[j] - d.pic_eye[0]))[2] / d.pic_lens[0][0]
            if radius > 0.0 and pixel > radius:
                d.pic_size[j] = d.pic_size[j] * (pixel / radius)


@func
def look_from(m, d, j):
    """The camera in a record's frame, for rays.py: rows of the rotation from its axes, place, sizes, as bits of f32."""
    turn = d.pic_mat[j].transpose() @ d.pic_axes[0].transpose()
    eye = d.pic_mat[j].transpose() @ (d.pic_eye[0] - d.pic_pos[j])
    for a in ti.static(range(3)):
        for b in ti.static(range(3)):
            d.pic_seen[j][3 * a + b] = bits(ti.cast(turn[a, b], ti.f32))
        d.pic_seen[j][9 + a] = bits(ti.cast(eye[a], ti.f32))
        d.pic_seen[j][12 + a] = bits(ti.cast(d.pic_size[j][a], ti.f32))


@func
def aim_at(m, d, j, i):
    """A far lamp (view 1) in a record's frame: direction, 1 / direction, pixels, nearest depth; its shape,
    -1 if it throws no shadow."""
    v = d.pic_mat[j].transpose() @ (d.pic_axes[1].transpose() @ vec3(0.0, 0.0, 1.0))
    way = row3(v[0], v[1], v[2])
    per_way = per(way)
    rect = d.pic_rect[i]
    for a in ti.static(range(3)):
        d.pic_aim[j][a] = bits(way[a])
        d.pic_aim[j][3 + a] = bits(per_way[a])
    for a in ti.static(range(4)):
        d.pic_aim[j][6 + a] = bits(ti.cast(rect[a], ti.f32))
    d.pic_aim[j][10] = bits(ti.cast(d.pic_near[i], ti.f32))
    d.pic_aim[j][11] = ti.select(d.pic_rgba[j][3] > SOLID, d.pic_kind[j], -1)


@kernel
def project(m, d, npic: ti.i32, view: ti.i32):
    """Nearest depth of each record in a view, and the pixels it may cover; parallel over records."""
    ti.loop_config(serialize=SERIAL)
    for j in range(npic):
        lens = d.pic_lens[view]  # focal length, width, height [pixel]; 1: parallel rays
        x0 = BEYOND
        x1 = -BEYOND
        y0 = BEYOND
        y1 = -BEYOND
        near = BEYOND
        if d.pic_kind[j] >= 0:
            h = half_extent(m, d, j)
            place = d.pic_axes[view] @ (d.pic_pos[j] - d.pic_eye[view])
            turn = d.pic_axes[view] @ d.pic_mat[j]
            behind = False
            for corner in range(8):
                q = place + turn @ vec3(
                    ti.select(corner & 1, h[0], -h[0]),
                    ti.select(corner & 2, h[1], -h[1]),
                    ti.select(corner & 4, h[2], -h[2]),
                )
                near = ti.min(near, -q[2])
                scale = lens[0]
                if lens[3] == 0.0:
                    behind = behind or -q[2] < NEAREST
                    scale = lens[0] / ti.max(-q[2], NEAREST)
                px = 0.5 * lens[1] + q[0] * scale
                py = 0.5 * lens[2] - q[1] * scale
                x0 = ti.min(x0, px)
                x1 = ti.max(x1, px)
                y0 = ti.min(y0, py)
                y1 = ti.max(y1, py)
            if behind or d.pic_kind[j] == PLANE:
                x0 = 0.0
                x1 = lens[1]
                y0 = 0.0
                y1 = lens[2]
                near = -BEYOND
        i = view * npic + j
        d.pic_near[i] = near
        d.pic_rect[i] = vec4(x0 - 0.5, x1 + 0.5, y0 - 0.5, y1 + 0.5)
        if view == 0:
            look_from(m, d, j)
        else:
            aim_at(m, d, j, i)


@func
def tiles_of(m, d, i, view):
    """First and last column and row of tiles that a record covers."""
    grid = d.pic_grid[view]  # columns, rows, side of a tile [pixel], place of its first tile among all
    r = d.pic_rect[i]
    lowest = FP(-1e6)
    most = FP(1e6)
    tile = ti.cast(grid[2], FP)
    a = ti.max(0, ti.cast(ti.floor(ti.max(lowest, ti.min(most, r[0])) / tile), ti.i32))
    b = ti.min(grid[0] - 1, ti.cast(ti.floor(ti.max(lowest, ti.min(most, r[1])) / tile), ti.i32))
    low = ti.max(0, ti.cast(ti.floor(ti.max(lowest, ti.min(most, r[2])) / tile), ti.i32))
    high = ti.min(grid[1] - 1, ti.cast(ti.floor(ti.max(lowest, ti.min(most, r[3])) / tile), ti.i32))
    return a, b, low, high


@kernel
def fill_tiles(m, d, npic: ti.i32, view: ti.i32, picfirst: ti.i32, picroom: ti.i32):
    """Lists of records per tile in the order given, nearest first: count, scan, fill; planes are in none.

    picfirst, picroom  where the lists begin in pic_item, and how many entries fit: if more are needed, in pic_need,
    none is written. Tile b's list is from pic_start[b] to before pic_start[b + 1].
    """
    ti.loop_config(serialize=True)
    for once in range(1):
        grid = d.pic_grid[view]
        begin = grid[3]
        end = begin + grid[0] * grid[1]
        for b in range(begin, end + 1):
            d.pic_start[b] = 0
        for k in range(npic):
            i = view * npic + d.pic_order[k]
            if d.pic_kind[d.pic_order[k]] > PLANE:
                x0, x1, y0, y1 = tiles_of(m, d, i, view)
                for y in range(y0, y1 + 1):
                    for x in range(x0, x1 + 1):
                        b = begin + y * grid[0] + x
                        d.pic_start[b] = d.pic_start[b] + 1
        total = picfirst
        for b in range(begin, end):
            total += d.pic_start[b]
            d.pic_start[b] = total
        d.pic_start[end] = total
        d.pic_need[0] = total - picfirst
        if total - picfirst <= picroom:
            for back in range(npic):
                j = d.pic_order[npic - 1 - back]
                if d.pic_kind[j] > PLANE:
                    x0, x1, y0, y1 = tiles_of(m, d, view * npic + j, view)
                    for y in range(y0, y1 + 1):
                        for x in range(x0, x1 + 1):
                            b = begin + y * grid[0] + x
                            d.pic_start[b] = d.pic_start[b] - 1
                            d.pic_item[d.pic_start[b]] = j
