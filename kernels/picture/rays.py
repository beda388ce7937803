"""Rays through the tiles of a picture: what a pixel sees, and whether a lamp sees that."""

from tisim.device.specialise import specialise

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, PLANE, SPHERE
from ..queries import ray_shapes
from ..queries.ray_shapes import FAR
from ..types import *
from .surface import SOLID, normals, pixel_ray

DULL = -9.2  # a highlight below the exponential of this is not seen; ln x <= x - 1
LIFT = 1e-4  # a shadow ray starts so far above its surface [m], and 2 more for each metre to the camera


def shape_meeter(kinds):
    """The Taichi function `meet` for records of these shapes (a tuple): no other is compiled."""

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
        if t == BOX:
            x = ray_shapes.ray_box(q, v, size, -shift)
        elif t == SPHERE:
            x = ray_shapes.ray_sphere(q, v, size[0] * size[0], -shift)
        elif t == CAPSULE:
            x = ray_shapes.ray_capsule(q, v, size, -shift)
        elif t == ELLIPSOID:
            x = ray_shapes.ray_ellipsoid(q, v, size, -shift)
        elif t == CYLINDER:
            x = ray_shapes.ray_cylinder(q, v, size, -shift)
        elif t == PLANE:
            x = ray_shapes.ray_plane(q, v, size, -shift)
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


MEET = NORMAL_AT = None  # set by see() and light()
LAMPS = False
_made = {}


@func
def tile_at(m, d, view, x, y):
    """The tile that a place of a view lies in."""
    grid = d.pic_grid[view]
    return grid[3] + ti.cast(y, ti.i32) // grid[2] * grid[0] + ti.cast(x, ti.i32) // grid[2]


def _see(m, d, nsample: ti.i32, npic: ti.i32, npicplane: ti.i32, layer: ti.i32):
    """The nearest record that each sample's ray meets behind the one it met before (layer 0: the first).

    Writes depth and record, FAR and -1 where there is none; parallel over samples.
    """
    ti.loop_config(serialize=SERIAL)
    for i in range(nsample):
        before = FP(-1.0)
        last = -1
        wanted = True
        if layer > 0:
            before = d.pic_depth[i]
            last = d.pic_record[i]
            wanted = d.pic_through[i] > 0.0
        best = FAR
        found = -1
        met = -1
        if wanted:
            at = d.pic_at[i]
            v = pixel_ray(m, d, i)
            b = tile_at(m, d, 0, at[0], at[1])
            k = d.pic_start[b] - npicplane  # planes are in no list, and come first
            first = d.pic_start[b]
            end = d.pic_start[b + 1]
            while k < end:
                j = -1
                if k < first:
                    j = d.pic_plane[k - first + npicplane]
                else:
                    j = d.pic_item[k]
                k += 1
                r = d.pic_rect[j]
                if k > first and d.pic_near[j] > best:
                    k = end  # the list is sorted by nearest depth
                elif at[0] >= r[0] and at[0] <= r[1] and at[1] >= r[2] and at[1] <= r[3]:
                    x, face = MEET(m, d, j, d.pic_eye[0], v)
                    nearer = x < best or (x < FAR and x == best and j < found)
                    if nearer and (x > before or (x == before and j > last)):
                        best = x
                        found = j
                        met = face
        d.pic_depth[i] = best
        d.pic_record[i] = found
        d.pic_face[i] = met


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


def _light(m, d, nsample: ti.i32, npic: ti.i32, layer: ti.i32, shadows: ti.i32):
    """What a lamp (view 1) gives each sample's surface: adds the cosine to pic_weight, and to pic_lit where no opaque
    record is in the way; layer 0: begins anew. Of a model's lamp, colours to pic_gain and pic_gloss. Parallel over
    samples.

    shadows  0: nothing is in the way; 1: what is out of the lamp's view is lit; 2: it gets its light by another view.
    """
    ti.loop_config(serialize=SERIAL)
    for i in range(nsample):
        lit = FP(0.0)
        weight = FP(0.0)
        own = d.pic_record[i]
        if own >= 0:
            v = pixel_ray(m, d, i)
            away = d.pic_depth[i]
            met = d.pic_eye[0] + away * v
            n = NORMAL_AT(m, d, own, met, v, d.pic_face[i])
            lens = d.pic_lens[1]
            toward = d.pic_axes[1].transpose() @ vec3(0.0, 0.0, 1.0)
            reach = FAR  # what is farther away than the lamp throws no shadow
            length = FP(1.0)
            strength = FP(1.0)
            if ti.static(LAMPS):
                if lens[3] == 0.0:
                    toward = d.pic_eye[1] - met
                    reach = 1.0
                    length = ti.max(1e-12, toward.norm())
            weight = ti.max(0.0, n.dot(toward))
            if ti.static(LAMPS):
                strength = lamp_strength(m, d, toward / length, length)
                weight = ti.select(strength > 0.0, weight / length, 0.0)
            lit = weight
            if weight > 0.0 and shadows > 0:
                p = met + (LIFT + 2.0 * LIFT * away) * n
                c = d.pic_axes[1] @ (p - d.pic_eye[1])
                scale = lens[0]
                if ti.static(LAMPS):
                    if lens[3] == 0.0:
                        toward = d.pic_eye[1] - p
                        scale = ti.select(c[2] < 0.0, lens[0] / ti.max(-c[2], 1e-12), FAR)
                x = 0.5 * lens[1] + c[0] * scale
                y = 0.5 * lens[2] - c[1] * scale
                if x >= 0.0 and y >= 0.0 and x < lens[1] and y < lens[2]:
                    b = tile_at(m, d, 1, x, y)
                    k = d.pic_start[b]
                    end = d.pic_start[b + 1]
                    while k < end:
                        j = d.pic_item[k]
                        r = d.pic_rect[npic + j]
                        k += 1
                        if d.pic_near[npic + j] > -c[2]:
                            k = end  # those that follow begin behind the surface
                        elif d.pic_rgba[j][3] > SOLID and x >= r[0] and x <= r[1] and y >= r[2] and y <= r[3]:
                            t, _ = MEET(m, d, j, p, toward)
                            if t < reach:
                                lit = 0.0
                                k = end
                elif shadows == 2:
                    lit = 0.0
            if ti.static(LAMPS):
                if lit > 0.0:
                    toward = toward / toward.norm()
                    between = toward - v / v.norm()
                    shine = ti.max(0.0, n.dot(between) / ti.max(1e-6, between.norm()))
                    d.pic_gain[i] = d.pic_gain[i] + strength * lit * d.pic_lamp[0]
                    matter = d.pic_matter[own]
                    if matter[2] * (shine - 1.0) > DULL:
                        gloss = matter[1] * strength * ti.pow(shine, matter[2])
                        d.pic_gloss[i] = d.pic_gloss[i] + gloss * d.pic_lamp[1]
        if layer > 0:
            lit += d.pic_lit[i]
            weight += d.pic_weight[i]
        d.pic_lit[i] = lit
        d.pic_weight[i] = weight


def see(kinds):
    """The kernel that sends a ray through each sample, for records of these shapes (a tuple)."""
    if ("see", kinds) not in _made:
        _made["see", kinds] = kernel(specialise(_see, "see", MEET=shape_meeter(kinds)))
    return _made["see", kinds]


def light(kinds, lamps=False):
    """The kernel that adds a lamp's light, for records of these shapes (a tuple); lamps: of the model's own."""
    if ("light", kinds, lamps) not in _made:
        own = specialise(_light, "light", MEET=shape_meeter(kinds), NORMAL_AT=normals(kinds), LAMPS=lamps)
        _made["light", kinds, lamps] = kernel(own)
    return _made["light", kinds, lamps]


@kernel
def dim(m, d, nsample: ti.i32):
    """Before a model's first lamp: no light, parallel over samples."""
    ti.loop_config(serialize=SERIAL)
    for i in range(nsample):
        d.pic_gain[i] = vec3(0.0, 0.0, 0.0)
        d.pic_gloss[i] = vec3(0.0, 0.0, 0.0)
