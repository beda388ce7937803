"""Rays through the tiles of a picture: what a pixel sees, and whether a far lamp sees that.

Samples of a tile stand one behind the other, a block of them: a record is tried on all of a block, which a processor
does for several samples at once. Their numbers are f32, as bits (shapes.py); depths count from the camera.
"""

from tisim.device.specialise import specialise

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, MESH_CONVEX, PLANE, SPHERE
from ..queries import ray_shapes
from ..queries.ray_shapes import FAR
from ..types import *
from . import faces, shapes, tile_faces
from .shapes import F, bits, real, row3

LIFT = 1e-4  # a shadow ray starts so far above its surface [m], and 2 more for each metre to the camera
FINE = 12.0  # faces of a mesh for each pixel of its rectangle from which they are many
GROUP = 8  # samples that are asked together whether they may meet a record: a row of a tile, or the rays of two pixels
NEVER = -2.0  # depth behind which nothing is looked for, in place of one


@func
def pixel_ray(m, d, i):
    """Direction of the ray through sample i, along the camera's axes; 1 along the view."""
    lens = d.pic_lens[0]
    scale = F(1.0 / lens[0])
    return row3((real(d.pic_x[i]) - F(0.5 * lens[1])) * scale, (F(0.5 * lens[2]) - real(d.pic_y[i])) * scale, F(-1.0))


@func
def world_ray(m, d, i):
    """The same along the world's axes, in the running precision."""
    v = pixel_ray(m, d, i)
    return d.pic_axes[0].transpose() @ vec3(v[0], v[1], v[2])


@func
def into(seen, v):
    """A direction of the camera in a record's frame."""
    return row3(
        real(seen[0]) * v[0] + real(seen[1]) * v[1] + real(seen[2]) * v[2],
        real(seen[3]) * v[0] + real(seen[4]) * v[1] + real(seen[5]) * v[2],
        real(seen[6]) * v[0] + real(seen[7]) * v[1] + real(seen[8]) * v[2],
    )


@func
def eye_in(seen):
    """The camera's place in a record's frame."""
    return row3(real(seen[9]), real(seen[10]), real(seen[11]))


@func
def size_in(seen):
    return row3(real(seen[12]), real(seen[13]), real(seen[14]))


@func
def meet_hfield(m, d, j, p, vec):
    """Where the ray p + x vec, in the world, meets record j, a height field, or FAR."""
    v = d.pic_mat[j].transpose() @ vec
    q = d.pic_mat[j].transpose() @ (p - d.pic_pos[j])
    shift = 0.0
    if ti.static(FP != ti.f64):
        shift = -q.dot(v) / v.dot(v)
        q += shift * v
    x = ray_shapes.ray_hfield(m, d, q, v, -shift, d.pic_data[j])
    if x < FAR:
        x += shift
    return x


MESHES = HFIELDS = False  # what made_for() sets
TRY_RECORD = DARKENER = MAY_SHADE_ITSELF = SEE_BLOCK = None
_made = {}


@func
def keep(m, d, i, j, x, face):
    """Notes that sample i's ray meets record j at x, if that is the nearest behind what it met before."""
    best = real(d.pic_depth[i])
    before = real(d.pic_before[i])
    nearer = (x < best) | ((x == best) & (j < d.pic_record[i]))
    behind = (x > before) | ((x == before) & (j > d.pic_last[i]))
    take = nearer & behind & (x < F(FAR))
    d.pic_depth[i] = ti.select(take, bits(x), d.pic_depth[i])
    d.pic_record[i] = ti.select(take, j, d.pic_record[i])
    d.pic_face[i] = ti.select(take, face, d.pic_face[i])


@func
def may_meet(m, d, i, j):
    """Whether sample i's ray comes near record j before it meets anything else."""
    r = d.pic_span[j]
    x = real(d.pic_x[i])
    y = real(d.pic_y[i])
    covered = x >= real(r[0]) and x <= real(r[1]) and y >= real(r[2]) and y <= real(r[3])
    return covered and real(d.pic_depth[i]) >= real(r[4]) and real(d.pic_before[i]) < F(FAR)


@func
def is_fine(m, d, j):
    """Whether the faces of record j, a mesh, are so small in the picture that rays are tried one by one."""
    r = d.pic_span[j]
    area = (real(r[1]) - real(r[0])) * (real(r[3]) - real(r[2]))
    return GPU or m.mesh_facenum[d.pic_data[j]] > FINE * area


def _try_record(m, d, j, begin, end):
    """Sends the rays of samples begin to end - 1 at record j."""
    t = d.pic_kind[j]
    seen = d.pic_seen[j]
    o = eye_in(seen)
    s = size_in(seen)
    if t == BOX:
        for i in range(begin, end):
            keep(m, d, i, j, shapes.meet_box(o, into(seen, pixel_ray(m, d, i)), s), -1)
    elif t == SPHERE:
        for i in range(begin, end):
            keep(m, d, i, j, shapes.meet_sphere(o, into(seen, pixel_ray(m, d, i)), s), -1)
    elif t == CAPSULE:
        for i in range(begin, end):
            keep(m, d, i, j, shapes.meet_capsule(o, into(seen, pixel_ray(m, d, i)), s), -1)
    elif t == ELLIPSOID:
        for i in range(begin, end):
            keep(m, d, i, j, shapes.meet_ellipsoid(o, into(seen, pixel_ray(m, d, i)), s), -1)
    elif t == CYLINDER:
        for i in range(begin, end):
            keep(m, d, i, j, shapes.meet_cylinder(o, into(seen, pixel_ray(m, d, i)), s), -1)
    elif t == PLANE:
        for i in range(begin, end):
            keep(m, d, i, j, shapes.meet_plane(o, into(seen, pixel_ray(m, d, i)), s), -1)
    if ti.static(MESHES):
        if t == MESH:
            mesh = d.pic_data[j]
            if is_fine(m, d, j):
                for i in range(begin, end):
                    if may_meet(m, d, i, j):
                        v = into(seen, pixel_ray(m, d, i))
                        x, place = faces.meet_first(m, d, o, v, mesh, real(d.pic_depth[i]))
                        keep(m, d, i, j, x, place)
            else:
                tile_faces.cover_mesh(m, d, j, begin, end)
                for i in range(begin, end):
                    keep(m, d, i, j, real(d.pic_shine[i]), d.pic_tile[i])
    if ti.static(HFIELDS):
        if t == HFIELD:
            for i in range(begin, end):
                if may_meet(m, d, i, j):
                    keep(m, d, i, j, ti.cast(meet_hfield(m, d, j, d.pic_eye[0], world_ray(m, d, i)), ti.f32), -1)


@func
def is_beside(m, d, begin, end, span):
    """Whether a group of samples is beside the pixels that a record may cover. They follow each other row by row."""
    top = ti.floor(real(d.pic_y[begin]))
    bottom = ti.floor(real(d.pic_y[end - 1])) + F(1.0)
    beside = bottom < real(span[2]) or top > real(span[3])
    if bottom - top < F(1.5):  # all rays of a pixel lie in one row
        beside = beside or ti.floor(real(d.pic_x[end - 1])) + F(1.0) < real(span[0])
        beside = beside or ti.floor(real(d.pic_x[begin])) > real(span[1])
    return beside


@func
def covers_tile(m, d, tile, begin, end, span):
    """Whether a record may cover all pixels of a block of samples, and those beside them in its tile."""
    grid = d.pic_grid[0]
    left = ti.cast(tile % grid[0] * grid[2], ti.f32)
    right = left + ti.cast(grid[2], ti.f32)
    inside = left >= real(span[0]) and right <= real(span[1])
    return inside and real(d.pic_y[begin]) >= real(span[2]) and real(d.pic_y[end - 1]) <= real(span[3])


@func
def is_before(m, d, begin, end, near):
    """Whether all samples of a group show what is nearer than that."""
    before = 1
    for i in range(begin, end):
        before &= ti.select(real(d.pic_depth[i]) < near, 1, 0)
    return before == 1


def _see_block(m, d, begin, end, tile, npicplane, layer):
    """The nearest record that each ray of a block meets behind the one it met before (layer 0: the first).

    Writes depth and record, FAR and -1 where there is none.
    """
    if layer > 0:
        for i in range(begin, end):
            wanted = real(d.pic_through[i]) > F(0.0)
            d.pic_before[i] = ti.select(wanted, d.pic_depth[i], bits(F(FAR)))
            d.pic_last[i] = d.pic_record[i]
            d.pic_depth[i] = bits(ti.select(wanted, F(FAR), F(NEVER)))
            d.pic_record[i] = -1
            d.pic_face[i] = -1
    else:
        for i in range(begin, end):
            d.pic_before[i] = bits(F(-1.0))
            d.pic_last[i] = -1
            d.pic_depth[i] = bits(F(FAR))
            d.pic_record[i] = -1
            d.pic_face[i] = -1
    first = d.pic_start[tile]
    k = first - npicplane  # planes are in no list, and come first
    last = d.pic_start[tile + 1]
    while k < last:
        j = -1
        if k < first:
            j = d.pic_plane[k - first + npicplane]
        else:
            j = d.pic_item[k]
        k += 1
        span = d.pic_span[j]
        near = real(span[4])
        farther = 0
        for i in range(begin, end):
            farther += ti.select(real(d.pic_depth[i]) >= near, 1, 0)
        if farther > 0:
            whole = covers_tile(m, d, tile, begin, end, span) and d.pic_kind[j] != MESH
            run = ti.select(whole, begin, -1)
            g = ti.select(whole, end, begin)
            while g < end + GROUP:  # one more, behind which the last run ends
                stop = ti.min(g + GROUP, end)
                covered = False
                if g < end:
                    covered = not is_beside(m, d, g, stop, span)
                    if ti.static(MESHES):
                        if covered and d.pic_kind[j] == MESH:
                            covered = not is_before(m, d, g, stop, near)
                if covered:
                    run = ti.select(run < 0, g, run)
                elif run >= 0:
                    TRY_RECORD(m, d, j, run, ti.min(g, end))
                    run = -1
                g += GROUP
        else:
            k = last  # the list is sorted by nearest depth
    if layer > 0:
        for i in range(begin, end):
            d.pic_depth[i] = ti.select(d.pic_record[i] < 0, bits(F(FAR)), d.pic_depth[i])


def _see(m, d, nblock: ti.i32, npicplane: ti.i32, layer: ti.i32):
    """`see_block` of all blocks, in parallel."""
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for block in range(nblock):
        place = d.pic_block[block]
        SEE_BLOCK(m, d, place[0], place[1], place[2], npicplane, layer)


@func
def normal_of(m, d, i):
    """The normal of what sample i shows, along the camera's axes."""
    return row3(real(d.pic_nx[i]), real(d.pic_ny[i]), real(d.pic_nz[i]))


@func
def met_at(m, d, i):
    """Where its shadow rays start, from the camera along its axes: a little above the surface."""
    away = real(d.pic_depth[i])
    return away * pixel_ray(m, d, i) + (F(LIFT) + F(2.0 * LIFT) * away) * normal_of(m, d, i)


@func
def meets(m, d, j, t, o, v, per_v):
    """Where a ray from o along v, in the frame of a record of this shape, meets it."""
    s = size_in(d.pic_seen[j])
    x = F(FAR)
    if t == BOX:
        x = shapes.meet_box_per(o, per_v, s)
    elif t == SPHERE:
        x = shapes.meet_sphere(o, v, s)
    elif t == CAPSULE:
        x = shapes.meet_capsule(o, v, s)
    elif t == ELLIPSOID:
        x = shapes.meet_ellipsoid(o, v, s)
    elif t == CYLINDER:
        x = shapes.meet_cylinder(o, v, s)
    return x


def _may_shade_itself(m, d, j):
    """Whether record j may throw a shadow on its own lit side: no convex shape does."""
    may = d.pic_kind[j] == HFIELD
    if ti.static(MESHES):
        if d.pic_kind[j] == MESH:
            may = m.face_mesh[d.pic_data[j]][3] < MESH_CONVEX
    return may


@func
def is_met(m, d, j, t, p, aim):
    """Whether the ray from p (from the camera, along its axes) to a far lamp meets record j, a simple shape.

    aim  that way in its frame."""
    seen = d.pic_seen[j]
    v = row3(real(aim[0]), real(aim[1]), real(aim[2]))
    per_v = row3(real(aim[3]), real(aim[4]), real(aim[5]))
    return meets(m, d, j, t, eye_in(seen) + into(seen, p), v, per_v) < F(FAR)


def _darkener(m, d, i, last, leaf, tile, p, place, view):
    """What opaque record is between a far lamp and the place p of sample i (from the camera, along its axes), -1: none;
    and, if that is a mesh, which leaf.

    last, leaf  what darkens its neighbour: it is asked first;  place  column, row and depth in the lamp's view.
    """
    own = d.pic_record[i]
    rows = d.pic_beam[view][12]
    found = -1
    first = d.pic_start[tile]
    end = d.pic_start[tile + 1]
    k = first - ti.select(last >= 0, 1, 0)
    while k < end and found < 0:
        j = last
        if k >= first:
            j = d.pic_item[k]
        span = d.pic_span[rows + j]
        t = d.pic_kind[j]
        inside = place[0] >= real(span[0]) and place[0] <= real(span[1])
        inside = inside and place[1] >= real(span[2]) and place[1] <= real(span[3])
        inside = inside and (j != own or MAY_SHADE_ITSELF(m, d, j))
        if k >= first and real(span[4]) > place[2]:
            k = end  # those that follow begin behind the surface
        elif inside and (k < first or j != last):
            aim = d.pic_aim[rows + j]
            if t == MESH:
                if ti.static(MESHES):
                    o = eye_in(d.pic_seen[j]) + into(d.pic_seen[j], p)
                    v = row3(real(aim[0]), real(aim[1]), real(aim[2]))
                    node = faces.blocking_node(m, d, o, v, d.pic_data[j], F(FAR), ti.select(j == last, leaf, 0))
                    if node > 0:
                        found = j
                        leaf = node
            elif t == HFIELD:
                if ti.static(HFIELDS):
                    start = d.pic_eye[0] + d.pic_axes[0].transpose() @ vec3(p[0], p[1], p[2])
                    if meet_hfield(m, d, j, start, d.pic_axes[view].transpose() @ vec3(0.0, 0.0, 1.0)) < FAR:
                        found = j
            elif is_met(m, d, j, t, p, aim):
                found = j
        k += 1
    return found, leaf


def _light_block(m, d, begin, end, view, layer, shadows):
    """What a far lamp gives each surface of a block: adds the cosine to pic_weight, and to pic_lit where no opaque
    record is in the way; layer 0: begins anew. view  that of the lamp."""
    lens = d.pic_lens[view]
    grid = d.pic_grid[view]
    beam = d.pic_beam[view]
    right = row3(real(beam[0]), real(beam[1]), real(beam[2]))
    down = row3(real(beam[3]), real(beam[4]), real(beam[5]))
    toward = row3(real(beam[6]), real(beam[7]), real(beam[8]))
    x0 = real(beam[9])
    y0 = real(beam[10])
    z0 = real(beam[11])
    wide = F(lens[1])
    tall = F(lens[2])
    per_side = F(1.0) / ti.cast(grid[2], ti.f32)
    for i in range(begin, end):
        weight = ti.select(d.pic_record[i] >= 0, shapes.high(normal_of(m, d, i).dot(toward), F(0.0)), F(0.0))
        p = met_at(m, d, i)
        x = right.dot(p) + x0
        y = down.dot(p) + y0
        inside = (x >= F(0.0)) & (y >= F(0.0)) & (x < wide) & (y < tall) & (weight > F(0.0))
        column = ti.cast(ti.select(inside, x, F(0.0)) * per_side, ti.i32)
        row = ti.cast(ti.select(inside, y, F(0.0)) * per_side, ti.i32)
        d.pic_tile[i] = ti.select(inside, grid[3] + row * grid[0] + column, -1)
        d.pic_cosine[i] = bits(weight)
        d.pic_shine[i] = bits(weight)
    if shadows > 0:
        last = -1
        leaf = 0
        for i in range(begin, end):
            tile = d.pic_tile[i]
            if tile >= 0:
                if d.pic_start[tile] < d.pic_start[tile + 1]:
                    p = met_at(m, d, i)
                    there = row3(right.dot(p) + x0, down.dot(p) + y0, -(toward.dot(p) + z0))
                    last, leaf = DARKENER(m, d, i, last, leaf, tile, p, there, view)
                    if last >= 0:
                        d.pic_shine[i] = bits(F(0.0))
    if layer > 0:
        for i in range(begin, end):
            d.pic_lit[i] = bits(real(d.pic_lit[i]) + real(d.pic_shine[i]))
            d.pic_weight[i] = bits(real(d.pic_weight[i]) + real(d.pic_cosine[i]))
    else:
        for i in range(begin, end):
            d.pic_lit[i] = d.pic_shine[i]
            d.pic_weight[i] = d.pic_cosine[i]


def faces_of(kinds):
    """Those of these shapes (a tuple) that are not simple; no others ask for kernels of their own."""
    return tuple(kind for kind in (MESH, HFIELD) if kind in kinds)


def made_for(kinds, function, **names):
    """A Taichi function for records that may be of these shapes, beside the simple ones."""
    key = function, kinds
    if key not in _made:
        own = dict(names, MESHES=MESH in kinds, HFIELDS=HFIELD in kinds)
        _made[key] = func(specialise(function, function.__name__[1:], **own))
    return _made[key]


def see_block(kinds):
    """The Taichi function see_block."""
    return made_for(kinds, _see_block, TRY_RECORD=made_for(kinds, _try_record))


def may_shade_itself(kinds):
    """The Taichi function may_shade_itself."""
    return made_for(kinds, _may_shade_itself)


def light_block(kinds):
    """The Taichi function light_block."""
    darkener = made_for(kinds, _darkener, MAY_SHADE_ITSELF=may_shade_itself(kinds))
    return made_for(kinds, _light_block, DARKENER=darkener)


def see(kinds):
    """The kernel that sends a ray through each sample, for records of these shapes (a tuple)."""
    kinds = faces_of(kinds)
    return kept(_see, kinds, lambda: kernel(specialise(_see, "see", SEE_BLOCK=see_block(kinds))))


def kept(function, kinds, make):
    """What was made of a function for these shapes."""
    if (function, kinds) not in _made:
        _made[function, kinds] = make()
    return _made[function, kinds]
