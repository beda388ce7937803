"""What is drawn, one record per geom, site and mark; and which tiles of a picture each may cover.

A view is a camera (0) or a lamp, with tiles of its own. What record j covers in view v stands at v * npic + j.
"""

from ..constants import CAPSULE, CYLINDER, HFIELD, MESH, OBJ_GEOM, OBJ_SITE, PLANE, SPHERE
from ..sleep.awake import is_body_gone
from ..types import *
from .faces import ordered
from .shapes import F, bits, per, real, row3
from .shown import in_group

BEYOND = 1e30
SOLID = 0.999  # opacity from which a record throws a shadow
DIGIT = 11  # bits of a digit of the key that records are sorted by, which has two
LEFT_OUT = 32 - 2 * DIGIT  # bits of their nearest depths that are not looked at
NOTHING = 1  # first tile 1, last tile 0
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
        d.pic_kind[g] = ti.select(in_group(m, d, groups, m.geom_group[g]), t, -1)
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
        d.pic_kind[j] = ti.select(in_group(m, d, groups, m.site_group[s]), m.site_type[s], -1)
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
def rounded_down(x):
    """The greatest number of f32 not above x among those of 22 bits, by which records are sorted."""
    word = ordered(ti.cast(x, ti.f32)) >> LEFT_OUT << LEFT_OUT
    return real(ordered(real(word)))


@func
def tiles_between(low, high, side, count):
    """First and last of so many tiles that pixels from low to high lie in, in one word."""
    lowest = FP(-1e6)
    most = FP(1e6)
    first = ti.cast(ti.floor(ti.max(lowest, ti.min(most, low)) / side), ti.i32)
    last = ti.cast(ti.floor(ti.max(lowest, ti.min(most, high)) / side), ti.i32)
    first = ti.max(0, first)
    last = ti.min(count - 1, last)
    return ti.select(first <= last, first | last << 16, NOTHING)


@func
def span_from(m, d, j, view):
    """Nearest depth of a record in a view, and the pixels that it may cover: x0, x1, y0, y1."""
    lens = d.pic_lens[view]  # focal length, width, height [pixel]; 1: parallel rays
    h = half_extent(m, d, j)
    place = d.pic_axes[view] @ (d.pic_pos[j] - d.pic_eye[view])
    turn = d.pic_axes[view] @ d.pic_mat[j]
    near = FP(0.0)
    pixels = vec4(0.0, lens[1], 0.0, lens[2])
    if lens[3] > 0.0:
        reach = vec3(0.0, 0.0, 0.0)
        for a in ti.static(range(3)):
            reach[a] = ti.abs(turn[a, 0]) * h[0] + ti.abs(turn[a, 1]) * h[1] + ti.abs(turn[a, 2]) * h[2]
        near = -place[2] - reach[2]
        x = 0.5 * lens[1] + place[0] * lens[0]
        y = 0.5 * lens[2] - place[1] * lens[0]
        pixels = vec4(x - reach[0] * lens[0], x + reach[0] * lens[0], y - reach[1] * lens[0], y + reach[1] * lens[0])
    else:
        near = FP(BEYOND)
        pixels = vec4(BEYOND, -BEYOND, BEYOND, -BEYOND)
        for corner in range(8):
            q = place + turn @ vec3(
                ti.select(corner & 1, h[0], -h[0]),
                ti.select(corner & 2, h[1], -h[1]),
                ti.select(corner & 4, h[2], -h[2]),
            )
            near = ti.min(near, -q[2])
            scale = lens[0] / ti.max(-q[2], NEAREST)
            px = 0.5 * lens[1] + q[0] * scale
            py = 0.5 * lens[2] - q[1] * scale
            pixels = vec4(ti.min(pixels[0], px), ti.max(pixels[1], px), ti.min(pixels[2], py), ti.max(pixels[3], py))
        if near < NEAREST:
            near = FP(-BEYOND)
    if near == -BEYOND or d.pic_kind[j] == PLANE:
        near = FP(-BEYOND)
        pixels = vec4(0.0, lens[1], 0.0, lens[2])
    return near, pixels + vec4(-0.5, 0.5, -0.5, 0.5)


@func
def aim_at(m, d, j, v, i):
    """The way to a far lamp in a record's frame, and 1 / way, as bits of f32."""
    to = d.pic_mat[j].transpose() @ (d.pic_axes[v].transpose() @ vec3(0.0, 0.0, 1.0))
    way = row3(to[0], to[1], to[2])
    per_way = per(way)
    for a in ti.static(range(3)):
        d.pic_aim[i][a] = bits(way[a])
        d.pic_aim[i][3 + a] = bits(per_way[a])


@kernel
def project(m, d, npic: ti.i32, view: ti.i32, picend: ti.i32):
    """What each record may cover in the views from `view` to picend - 1, in pic_span; parallel over records.

    Planes are in no list of a tile, and in those of lamps is only what throws a shadow.
    """
    ti.loop_config(serialize=SERIAL)
    for j in range(npic):
        for v in range(view, picend):
            i = v * npic + j
            if d.pic_kind[j] < 0 or (v > 0 and (d.pic_kind[j] == PLANE or d.pic_rgba[j][3] <= SOLID)):
                d.pic_span[i][5] = NOTHING
            else:
                near, pixels = span_from(m, d, j, v)
                grid = d.pic_grid[v]
                side = ti.cast(grid[2], FP)
                for a in ti.static(range(4)):
                    d.pic_span[i][a] = bits(ti.cast(pixels[a], ti.f32))
                nearest = rounded_down(near)
                across = tiles_between(pixels[0], pixels[1], side, grid[0])
                down = tiles_between(pixels[2], pixels[3], side, grid[1])
                d.pic_span[i][4] = bits(nearest)
                hidden = across == NOTHING or down == NOTHING or d.pic_kind[j] == PLANE
                d.pic_span[i][5] = ti.select(hidden, NOTHING, across)
                d.pic_span[i][6] = down
                if v > 0:
                    aim_at(m, d, j, v, i)
                d.pic_span[i][7] = (ordered(nearest) >> LEFT_OUT) + (1 << (2 * DIGIT - 1))
        if view == 0:
            look_from(m, d, j)


@func
def look_at(m, d, v, npic):
    """A far lamp for rays.py, along the camera's axes, as bits of f32: how column, row and height in its view follow
    from a place, direction towards it; then where its records begin in pic_span."""
    lens = d.pic_lens[v]
    turn = d.pic_axes[v] @ d.pic_axes[0].transpose()
    off = d.pic_axes[v] @ (d.pic_eye[0] - d.pic_eye[v])
    scale = F(lens[0])
    for a in ti.static(range(3)):
        d.pic_beam[v][a] = bits(ti.cast(turn[0, a], ti.f32) * scale)
        d.pic_beam[v][3 + a] = bits(ti.cast(turn[1, a], ti.f32) * -scale)
        d.pic_beam[v][6 + a] = bits(ti.cast(turn[2, a], ti.f32))
    d.pic_beam[v][9] = bits(ti.cast(off[0] * lens[0] + 0.5 * lens[1], ti.f32))
    d.pic_beam[v][10] = bits(ti.cast(0.5 * lens[2] - off[1] * lens[0], ti.f32))
    d.pic_beam[v][11] = bits(ti.cast(off[2], ti.f32))
    d.pic_beam[v][12] = v * npic


@func
def sort_records(m, d, v, npic):
    """Lists the records of a view that are in tiles, nearest first, from the second npic places of its pic_order on;
    counts those of each tile in pic_start. Returns how many there are."""
    grid = d.pic_grid[v]
    begin = grid[3]
    low = v * (2 << DIGIT)
    high = low + (1 << DIGIT)
    last = ti.static((1 << DIGIT) - 1)
    for b in range(begin, begin + grid[0] * grid[1] + 1):
        d.pic_start[b] = 0
    for b in range(low, low + (2 << DIGIT)):
        d.pic_digit[b] = 0
    for j in range(npic):
        i = v * npic + j
        across = d.pic_span[i][5]
        if across != NOTHING:
            down = d.pic_span[i][6]
            key = d.pic_span[i][7]
            d.pic_digit[low + (key & last)] = d.pic_digit[low + (key & last)] + 1
            d.pic_digit[high + (key >> DIGIT)] = d.pic_digit[high + (key >> DIGIT)] + 1
            for y in range(down & 0xFFFF, (down >> 16) + 1):
                for x in range(across & 0xFFFF, (across >> 16) + 1):
                    b = begin + y * grid[0] + x
                    d.pic_start[b] = d.pic_start[b] + 1
    count = 0
    for b in range(low, high):
        n = d.pic_digit[b]
        d.pic_digit[b] = count
        count += n
    total = 0
    for b in range(high, high + (1 << DIGIT)):
        n = d.pic_digit[b]
        d.pic_digit[b] = total
        total += n
    order = 2 * v * npic
    for j in range(npic):
        i = v * npic + j
        if d.pic_span[i][5] != NOTHING:
            b = low + (d.pic_span[i][7] & last)
            d.pic_order[order + d.pic_digit[b]] = j
            d.pic_digit[b] = d.pic_digit[b] + 1
    for k in range(order, order + count):
        j = d.pic_order[k]
        b = high + (d.pic_span[v * npic + j][7] >> DIGIT)
        d.pic_order[order + npic + d.pic_digit[b]] = j
        d.pic_digit[b] = d.pic_digit[b] + 1
    return count


@kernel
def list_records(m, d, npic: ti.i32, view: ti.i32, picend: ti.i32, picroom: ti.i32):
    """Lists of records for the tiles of the views from `view` to picend - 1, nearest first; parallel over views.

    picroom  entries that fit a view's lists, which begin at picroom times its number in pic_item: if it needs more, in
    pic_need, none is written. Tile b's list is from pic_start[b] to before pic_start[b + 1].
    """
    ti.loop_config(serialize=SERIAL)
    for u in range((picend - view) * SPREAD):
        if u % SPREAD == 0:
            v = view + u // SPREAD
            if v != 1:
                look_at(m, d, ti.max(1, v), npic)  # a lamp that throws no shadow has no lists
            count = sort_records(m, d, v, npic)
            grid = d.pic_grid[v]
            begin = grid[3]
            end = begin + grid[0] * grid[1]
            total = v * picroom
            for b in range(begin, end):
                total += d.pic_start[b]
                d.pic_start[b] = total
            d.pic_start[end] = total
            d.pic_need[v] = total - v * picroom
            if total - v * picroom <= picroom:
                last = (2 * v + 1) * npic + count - 1
                for back in range(count):
                    j = d.pic_order[last - back]
                    across = d.pic_span[v * npic + j][5]
                    down = d.pic_span[v * npic + j][6]
                    for y in range(down & 0xFFFF, (down >> 16) + 1):
                        for x in range(across & 0xFFFF, (across >> 16) + 1):
                            b = begin + y * grid[0] + x
                            d.pic_start[b] = d.pic_start[b] - 1
                            d.pic_item[d.pic_start[b]] = j
