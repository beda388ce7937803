"""Rays through the tiles of a picture: what a pixel sees, and whether a lamp sees that.

Samples of a tile stand one behind the other, a block of them: a record is tried on all of a block, which a processor
does for several samples at once. Their numbers are f32, as bits (shapes.py); depths count from the camera.
"""

from tisim.device.specialise import specialise

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, PLANE, SPHERE
from ..queries import ray_shapes
from ..queries.ray_shapes import FAR
from ..types import *
from . import shapes
from .shapes import F, bits, real, row3

DULL = -9.2  # a highlight below the exponential of this is not seen; ln x <= x - 1
LIFT = 1e-4  # a shadow ray starts so far above its surface [m], and 2 more for each metre to the camera
ROOM = 1e-3  # by this share a box around a mesh is larger where it is asked for first
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


def face_meeter(kinds):
    """The Taichi function `meet` for meshes and height fields among these shapes (a tuple): no other is compiled."""

    @func
    def meet(m, d, j, p, vec):
        """Where the ray p + x vec meets record j, or FAR; and the face of a mesh."""
        t = d.pic_kind[j]
        size = d.pic_size[j]
        v = d.pic_mat[j].transpose() @ vec
        q = d.pic_mat[j].transpose() @ (p - d.pic_pos[j])
        shift = 0.0
        if ti.static(FP != ti.f64):
            shift = -q.dot(v) / v.dot(v)
            q += shift * v
        x = FAR
        face = -1
        if ti.static(HFIELD in kinds):
            if t == HFIELD:
                x = ray_shapes.ray_hfield(m, d, q, v, -shift, d.pic_data[j])
        if ti.static(MESH in kinds):
            if t == MESH:
                x, face = ray_shapes.mesh_face(m, d, q, v, -shift, size, d.pic_data[j])
        if x < FAR:
            x += shift
        return x, face

    return meet


FACES = False  # what see(), light() and lamp() set
MEET = TRY_RECORD = DARKENER = IS_HIDDEN = SEE_BLOCK = LIGHT_BLOCK = None
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
    if ti.static(FACES):
        if t == MESH or t == HFIELD:
            r = d.pic_rect[j]
            near = F(d.pic_near[j])
            for i in range(begin, end):
                x = real(d.pic_x[i])
                y = real(d.pic_y[i])
                covered = x >= r[0] and x <= r[1] and y >= r[2] and y <= r[3] and real(d.pic_depth[i]) >= near
                if covered and t == MESH:
                    covered = shapes.meet_box(o, into(seen, pixel_ray(m, d, i)), s * F(1.0 + ROOM)) < F(FAR)
                if covered and real(d.pic_before[i]) < F(FAR):
                    away, face = MEET(m, d, j, d.pic_eye[0], world_ray(m, d, i))
                    keep(m, d, i, j, ti.cast(away, ti.f32), face)


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
    for k in range(npicplane):  # they are in no list
        TRY_RECORD(m, d, d.pic_plane[k], begin, end)
    k = d.pic_start[tile]
    last = d.pic_start[tile + 1]
    while k < last:
        j = d.pic_item[k]
        k += 1
        near = F(d.pic_near[j])
        farther = 0
        for i in range(begin, end):
            farther += ti.select(real(d.pic_depth[i]) >= near, 1, 0)
        if farther > 0:
            TRY_RECORD(m, d, j, begin, end)
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
def lamp_strength(m, d, toward, length):
    """Part of a lamp's light that comes so far in this direction, by its attenuation and its cone."""
    near = d.pic_lamp[2]
    cone = d.pic_lamp[4]
    along = -toward.dot(d.pic_lamp[3])
    part = FP(0.0)
    if along >= cone[0]:
        part = 1.0 / ti.max(1e-10, near[0] + length * (near[1] + length * near[2]))
        if cone[1] > 0.0:
            part *= ti.pow(ti.max(along, 0.0), cone[1])
    return part


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


@func
def is_boxed(m, d, j, p):
    """Whether the ray from p to a far lamp meets a box around record j, a mesh."""
    seen = d.pic_seen[j]
    aim = d.pic_aim[j]
    per_v = row3(real(aim[3]), real(aim[4]), real(aim[5]))
    return shapes.meet_box_per(eye_in(seen) + into(seen, p), per_v, size_in(seen) * F(1.0 + ROOM)) < F(FAR)


@func
def is_met(m, d, j, t, p):
    """Whether the ray from p (from the camera, along its axes) to a far lamp meets record j, a simple shape."""
    aim = d.pic_aim[j]
    seen = d.pic_seen[j]
    v = row3(real(aim[0]), real(aim[1]), real(aim[2]))
    per_v = row3(real(aim[3]), real(aim[4]), real(aim[5]))
    return meets(m, d, j, t, eye_in(seen) + into(seen, p), v, per_v) < F(FAR)


def _darkener(m, d, i, guess, tile, p, x, y, z):
    """What opaque record is between a far lamp and the place p of sample i (from the camera, along its axes), -1: none.

    guess  what darkens its neighbour, or -1: it is asked first;  x, y, z  the place in the lamp's view.
    """
    own = d.pic_record[i]
    found = -1
    if guess >= 0 and guess != own:
        t = d.pic_aim[guess][11]
        if t != MESH and t != HFIELD:
            if is_met(m, d, guess, t, p):
                found = guess
    k = d.pic_start[tile]
    end = d.pic_start[tile + 1]
    while k < end and found < 0:
        j = d.pic_item[k]
        k += 1
        aim = d.pic_aim[j]
        t = aim[11]
        if real(aim[10]) > z:
            k = end  # those that follow begin behind the surface
        elif x >= real(aim[6]) and x <= real(aim[7]) and y >= real(aim[8]) and y <= real(aim[9]):
            dark = False
            if t == MESH or t == HFIELD:
                if ti.static(FACES):
                    if t == HFIELD or is_boxed(m, d, j, p):
                        start = d.pic_eye[0] + d.pic_axes[0].transpose() @ vec3(p[0], p[1], p[2])
                        hit, _ = MEET(m, d, j, start, d.pic_axes[1].transpose() @ vec3(0.0, 0.0, 1.0))
                        dark = hit < FAR
            elif j != own:  # a convex body throws no shadow on its lit side
                dark = is_met(m, d, j, t, p)
            if dark:
                found = j
    return found


def _light_block(m, d, begin, end, layer, shadows):
    """What a far lamp (view 1) gives each surface of a block: adds the cosine to pic_weight, and to pic_lit where no
    opaque record is in the way; layer 0: begins anew."""
    lens = d.pic_lens[1]
    grid = d.pic_grid[1]
    turn = d.pic_axes[1] @ d.pic_axes[0].transpose()
    off = d.pic_axes[1] @ (d.pic_eye[0] - d.pic_eye[1])
    scale = F(lens[0])
    right = row3(turn[0, 0], turn[0, 1], turn[0, 2]) * scale
    down = row3(turn[1, 0], turn[1, 1], turn[1, 2]) * -scale
    toward = row3(turn[2, 0], turn[2, 1], turn[2, 2])
    x0 = F(off[0] * lens[0] + 0.5 * lens[1])
    y0 = F(0.5 * lens[2] - off[1] * lens[0])
    z0 = F(off[2])
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
        for i in range(begin, end):
            tile = d.pic_tile[i]
            if tile >= 0:
                if d.pic_start[tile] < d.pic_start[tile + 1]:
                    p = met_at(m, d, i)
                    z = -(toward.dot(p) + z0)
                    last = DARKENER(m, d, i, last, tile, p, right.dot(p) + x0, down.dot(p) + y0, z)
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


def _light(m, d, nblock: ti.i32, layer: ti.i32, shadows: ti.i32):
    """`light_block` of all blocks, in parallel."""
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for block in range(nblock):
        place = d.pic_block[block]
        LIGHT_BLOCK(m, d, place[0], place[1], layer, shadows)


def _lamp(m, d, nblock: ti.i32, shadows: ti.i32):
    """What a lamp of the model (view 1) gives each sample's surface: adds colours to pic_gain and pic_gloss. Parallel
    over blocks.

    shadows  0: nothing is in the way; 1: what is out of the lamp's view is lit; 2: it gets its light by another view.
    """
    ti.loop_config(serialize=SERIAL)
    for block in range(nblock):
        for i in range(d.pic_block[block][0], d.pic_block[block][1]):
            own = d.pic_record[i]
            if own >= 0:
                v = world_ray(m, d, i)
                away = ti.cast(real(d.pic_depth[i]), FP)
                seen_normal = normal_of(m, d, i)
                n = d.pic_axes[0].transpose() @ vec3(seen_normal[0], seen_normal[1], seen_normal[2])
                lens = d.pic_lens[1]
                toward = d.pic_axes[1].transpose() @ vec3(0.0, 0.0, 1.0)
                reach = FAR  # what is farther away than the lamp throws no shadow
                length = FP(1.0)
                if lens[3] == 0.0:
                    toward = d.pic_eye[1] - (d.pic_eye[0] + away * v)
                    reach = 1.0
                    length = ti.max(1e-12, toward.norm())
                weight = ti.max(0.0, n.dot(toward))
                strength = lamp_strength(m, d, toward / length, length)
                weight = ti.select(strength > 0.0, weight / length, 0.0)
                lit = weight
                if weight > 0.0 and shadows > 0:
                    p = d.pic_eye[0] + away * v + (LIFT + 2.0 * LIFT * away) * n
                    c = d.pic_axes[1] @ (p - d.pic_eye[1])
                    scale = lens[0]
                    if lens[3] == 0.0:
                        toward = d.pic_eye[1] - p
                        scale = ti.select(c[2] < 0.0, lens[0] / ti.max(-c[2], 1e-12), FAR)
                    x = 0.5 * lens[1] + c[0] * scale
                    y = 0.5 * lens[2] - c[1] * scale
                    if x >= 0.0 and y >= 0.0 and x < lens[1] and y < lens[2]:
                        if IS_HIDDEN(m, d, own, p, toward, x, y, -c[2], reach):
                            lit = 0.0
                    elif shadows == 2:
                        lit = 0.0
                if lit > 0.0:
                    toward = toward / toward.norm()
                    between = toward - v / v.norm()
                    shine = ti.max(0.0, n.dot(between) / ti.max(1e-6, between.norm()))
                    d.pic_gain[i] = d.pic_gain[i] + strength * lit * d.pic_lamp[0]
                    matter = d.pic_matter[own]
                    if matter[2] * (shine - 1.0) > DULL:
                        gloss = matter[1] * strength * ti.pow(shine, matter[2])
                        d.pic_gloss[i] = d.pic_gloss[i] + gloss * d.pic_lamp[1]


def _is_hidden(m, d, own, p, toward, x, y, z, reach):
    """Whether something opaque lies on the way from p, at x, y, z of a lamp's view, to the lamp."""
    hidden = False
    grid = d.pic_grid[1]
    tile = grid[3] + ti.cast(y, ti.i32) // grid[2] * grid[0] + ti.cast(x, ti.i32) // grid[2]
    at = d.pic_axes[0] @ (p - d.pic_eye[0])
    to = d.pic_axes[0] @ toward
    k = d.pic_start[tile]
    end = d.pic_start[tile + 1]
    while k < end:
        j = d.pic_item[k]
        k += 1
        aim = d.pic_aim[j]
        t = aim[11]
        if real(aim[10]) > z:
            k = end  # those that follow begin behind the surface
        elif x >= real(aim[6]) and x <= real(aim[7]) and y >= real(aim[8]) and y <= real(aim[9]):
            if t == MESH or t == HFIELD:
                if ti.static(FACES):
                    hit, _ = MEET(m, d, j, p, toward)
                    hidden = hit < reach
            elif j != own:
                seen = d.pic_seen[j]
                v = into(seen, row3(to[0], to[1], to[2]))
                o = eye_in(seen) + into(seen, row3(at[0], at[1], at[2]))
                hidden = meets(m, d, j, t, o, v, shapes.per(v)) < reach
            if hidden:
                k = end
    return hidden


def faces_of(kinds):
    """Those of these shapes (a tuple) that are not simple; no others ask for kernels of their own."""
    return tuple(kind for kind in (MESH, HFIELD) if kind in kinds)


def _inner(faces, function, **names):
    """A Taichi function for records that may be of these shapes, beside the simple ones."""
    key = function, faces
    if key not in _made:
        own = dict(names, FACES=bool(faces))
        if faces:
            own["MEET"] = face_meeter(faces)
        _made[key] = func(specialise(function, function.__name__[1:], **own))
    return _made[key]


def see_block(faces):
    """The Taichi function see_block."""
    return _inner(faces, _see_block, TRY_RECORD=_inner(faces, _try_record))


def light_block(faces):
    """The Taichi function light_block."""
    return _inner(faces, _light_block, DARKENER=_inner(faces, _darkener))


def see(kinds):
    """The kernel that sends a ray through each sample, for records of these shapes (a tuple)."""
    faces = faces_of(kinds)
    return _kept(_see, faces, lambda: kernel(specialise(_see, "see", SEE_BLOCK=see_block(faces))))


def light(kinds):
    """The kernel that adds a far lamp's light, for records of these shapes (a tuple)."""
    faces = faces_of(kinds)
    return _kept(_light, faces, lambda: kernel(specialise(_light, "light", LIGHT_BLOCK=light_block(faces))))


def lamp(kinds):
    """The kernel that adds the light of a model's lamp, for records of these shapes (a tuple)."""
    faces = faces_of(kinds)
    return _kept(_lamp, faces, lambda: kernel(specialise(_lamp, "lamp", IS_HIDDEN=_inner(faces, _is_hidden))))


def _kept(function, faces, make):
    """What was made of a function for these faces."""
    if (function, faces) not in _made:
        _made[function, faces] = make()
    return _made[function, faces]


@kernel
def dim(m, d, nblock: ti.i32):
    """Before a model's first lamp: no light, parallel over blocks."""
    ti.loop_config(serialize=SERIAL)
    for block in range(nblock):
        for i in range(d.pic_block[block][0], d.pic_block[block][1]):
            d.pic_gain[i] = vec3(0.0, 0.0, 0.0)
            d.pic_gloss[i] = vec3(0.0, 0.0, 0.0)
