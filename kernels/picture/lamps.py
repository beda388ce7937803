"""The light of a model's lamps on what samples of a picture show, one after the other: view 1 is the lamp's."""

from tisim.device.specialise import specialise

from ..constants import HFIELD, MESH
from ..queries.ray_shapes import FAR
from ..types import *
from . import faces, shapes
from .rays import (
    LIFT,
    eye_in,
    faces_of,
    into,
    kept,
    made_for,
    may_shade_itself,
    meet_hfield,
    meets,
    normal_of,
    world_ray,
)
from .shapes import F, real, row3

DULL = -9.2  # a highlight below the exponential of this is not seen; ln x <= x - 1
MESHES = HFIELDS = False  # what made_for() sets
IS_HIDDEN = MAY_SHADE_ITSELF = None


@kernel
def dim(m, d, nblock: ti.i32):
    """Before a model's first lamp: no light, parallel over blocks."""
    ti.loop_config(serialize=SERIAL)
    for block in range(nblock):
        for i in range(d.pic_block[block][0], d.pic_block[block][1]):
            d.pic_gain[i] = vec3(0.0, 0.0, 0.0)
            d.pic_gloss[i] = vec3(0.0, 0.0, 0.0)


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
        span = d.pic_span[d.pic_beam[1][12] + j]
        t = d.pic_kind[j]
        if real(span[4]) > z:
            k = end  # those that follow begin behind the surface
        elif (
            x >= real(span[0])
            and x <= real(span[1])
            and y >= real(span[2])
            and y <= real(span[3])
            and (j != own or MAY_SHADE_ITSELF(m, d, j))
        ):
            seen = d.pic_seen[j]
            v = into(seen, row3(to[0], to[1], to[2]))
            o = eye_in(seen) + into(seen, row3(at[0], at[1], at[2]))
            if t == MESH:
                if ti.static(MESHES):
                    hidden = faces.blocking_node(m, d, o, v, d.pic_data[j], F(reach), 0) > 0
            elif t == HFIELD:
                if ti.static(HFIELDS):
                    hidden = meet_hfield(m, d, j, p, toward) < reach
            else:
                hidden = meets(m, d, j, t, o, v, shapes.per(v)) < reach
            if hidden:
                k = end
    return hidden


def lamp(kinds):
    """The kernel that adds the light of a model's lamp, for records of these shapes (a tuple)."""
    kinds = faces_of(kinds)
    hidden = made_for(kinds, _is_hidden, MAY_SHADE_ITSELF=may_shade_itself(kinds))
    return kept(_lamp, kinds, lambda: kernel(specialise(_lamp, "lamp", IS_HIDDEN=hidden)))
