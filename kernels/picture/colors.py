"""Colours of geoms, by themselves, islands, sleep, groups, or what is measured of their bodies; and where they go:
records of pictures, words of a window's records, bytes for a page. Colours are numbers of f32, whatever FP is.
"""

from ..constants import (
    ASLEEP_PERCENT,
    COLOR_ASLEEP,
    COLOR_FORCE,
    COLOR_GROUP,
    COLOR_ISLAND,
    COLOR_SPEED,
    FIRST_AWAKE,
    FIRST_GROUP,
    FIRST_STOP,
    NPAINT,
    PLANE,
)
from ..sleep.awake import is_body_asleep
from ..spatial import head, tail
from ..types import *
from .shapes import bits, real
from .shown import opacity_of
from .surface import GAMMA


@kernel
def body_forces(m, d, picworld: ti.i32):
    """Sum of the normal forces on each body of a world that pulls at none; serial, in the order of the contacts."""
    n = d.ncon
    ti.loop_config(serialize=True)
    for once in range(1):
        for b in range(m.nbody):
            d.pic_measure[b] = 0.0
        for c in range(n):
            if d.contact_worldid[c] == picworld and d.pic_press[c] > 0.0:
                for side in ti.static(range(2)):
                    b = m.geom_bodyid[d.contact_geom[c][side]]
                    if m.body_weldid[b] > 0:
                        d.pic_measure[b] = d.pic_measure[b] + d.pic_press[c]


@kernel
def body_speeds(m, d, picworld: ti.i32):
    """Speed of the centre of mass of each body of a world; parallel over bodies."""
    ti.loop_config(serialize=SERIAL)
    for b in range(m.nbody):
        i = picworld * m.nbody + b
        speed = FP(0.0)
        if m.body_weldid[b] > 0:
            twist = d.cvel[i]
            arm = d.xipos[i] - d.subtree_com[picworld * m.nbody + m.body_rootid[b]]
            speed = (tail(twist) + head(twist).cross(arm)).norm()
        d.pic_measure[b] = speed


@kernel
def find_most(m, d):
    """Bits of the greatest measure as f32: whole numbers in the order of those that are not negative."""
    ti.loop_config(serialize=True)
    for once in range(1):
        d.pic_most[0] = 0
    ti.loop_config(serialize=SERIAL)
    for b in range(m.nbody):
        word = bits(ti.cast(d.pic_measure[b], ti.f32))
        if word > d.pic_most[0]:
            ti.atomic_max(d.pic_most[0], word)


@kernel
def precede_sleepers(m, d, picworld: ti.i32):
    """The tree before each in the circle of those that sleep with it, or -1; parallel over trees."""
    ti.loop_config(serialize=SERIAL)
    for t in range(m.ntree):
        d.pic_before_tree[t] = -1
    ti.loop_config(serialize=SERIAL)
    for t in range(m.ntree):
        following = d.tree_asleep[picworld * m.ntree + t]
        if following >= 0 and following < m.ntree:
            d.pic_before_tree[following] = t


@kernel
def label_sleepers(m, d, picworld: ti.i32):
    """First tree of the circle of each tree that sleeps, which writes it to all; parallel over trees.

    Only a tree between greater ones looks farther, until it meets a smaller one.
    """
    ti.loop_config(serialize=SERIAL)
    for t in range(m.ntree):
        if d.pic_before_tree[t] < 0:
            d.pic_label[t] = t
        elif d.pic_before_tree[t] >= t:
            k = d.tree_asleep[picworld * m.ntree + t]
            n = 0
            while k > t and k < m.ntree and n < m.ntree:
                k = d.tree_asleep[picworld * m.ntree + k]
                n += 1
            if k == t:
                d.pic_label[t] = t
                k = d.tree_asleep[picworld * m.ntree + t]
                while k != t:
                    d.pic_label[k] = t
                    k = d.tree_asleep[picworld * m.ntree + k]


@func
def between_stops(m, d, b):
    """Colour of the measure of a body: blue is 0, red the greatest of all."""
    most = FP(real(d.pic_most[0]))
    place = FP(0.0)
    if most > 0.0:
        place = d.pic_measure[b] / most * (NPAINT - FIRST_STOP - 1)
    low = ti.max(0, ti.min(ti.cast(place, ti.i32), NPAINT - FIRST_STOP - 2))
    part = ti.min(place - low, 1.0)
    return (1.0 - part) * m.paint[FIRST_STOP + low] + part * m.paint[FIRST_STOP + low + 1]


@func
def island_paint(m, d, w, t, labelled):
    """Colour of the island of a tree; one of its own where it has none, that of their first tree for sleepers."""
    label = t
    if labelled != 0:
        label = d.tree_island[w * m.ntree + t]
        if label < 0:
            label = m.ntree + t
            if ti.static(m.has.sleep):
                label = m.ntree + d.pic_label[t]
    return m.paint[label % FIRST_GROUP]


@kernel
def color_geoms(m, d, picworld: ti.i32, piccolor: ti.i32, labelled: ti.i32):
    """Colour of each geom of a world by a mode; what sleeps is darker, but where colours say so or tell groups;
    parallel over geoms."""
    ti.loop_config(serialize=SERIAL)
    for g in range(m.ngeom):
        b = m.geom_bodyid[g]
        t = m.body_treeid[b]
        own = m.geom_color[g]
        rgb = vec3(own[0], own[1], own[2])
        dark = is_body_asleep(m, d, picworld, b)
        moves = m.body_weldid[b] > 0
        if piccolor == COLOR_ISLAND and t >= 0:
            rgb = island_paint(m, d, picworld, t, labelled)
        if piccolor == COLOR_GROUP and m.geom_type[g] != PLANE:
            rgb = m.paint[FIRST_GROUP + ti.max(0, ti.min(m.geom_group[g], FIRST_AWAKE - FIRST_GROUP - 1))]
        if piccolor == COLOR_ASLEEP and moves:
            rgb = m.paint[FIRST_AWAKE + ti.select(dark, 1, 0)]
        if (piccolor == COLOR_SPEED or piccolor == COLOR_FORCE) and moves:
            rgb = between_stops(m, d, b)
        share = ti.cast(1.0, ti.f32)
        if dark and piccolor != COLOR_ASLEEP and piccolor != COLOR_GROUP:
            share = ti.cast(ASLEEP_PERCENT, ti.f32) / ti.cast(100.0, ti.f32)
        out = vec4(0.0, 0.0, 0.0, own[3])
        for k in ti.static(range(3)):
            out[k] = ti.cast(ti.cast(rgb[k], ti.f32) * share, FP)
        d.pic_color[g] = out


@kernel
def paint_records(m, d, piclit: ti.i32, picalpha: FP, picstatic: ti.i32):
    """Colours of geoms but planes in the records of a picture, as light; parallel over geoms.

    piclit  1: as they are;  picalpha  opacity of what moves, times its own;  picstatic  0: what cannot move is hidden.
    """
    ti.loop_config(serialize=SERIAL)
    for g in range(m.ngeom):
        if m.geom_type[g] != PLANE:
            rgba = d.pic_color[g]
            if piclit == 0:
                for k in ti.static(range(3)):
                    rgba[k] = ti.cast(ti.pow(ti.cast(rgba[k], WIDE), ti.cast(GAMMA, WIDE)), FP)
            rgba[3] = opacity_of(m, d, m.geom_bodyid[g], rgba[3], picalpha, picstatic)
            d.pic_rgba[g] = rgba


@func
def byte_of(x):
    """A part of a colour from 0 to 255."""
    clipped = ti.min(ti.max(ti.cast(x, ti.f32), ti.cast(0.0, ti.f32)), ti.cast(1.0, ti.f32))
    return ti.cast(clipped * ti.cast(255.0, ti.f32) + ti.cast(0.5, ti.f32), ti.i32)


@func
def word_of(rgba):
    """A colour as four bytes, red first."""
    return byte_of(rgba[0]) | byte_of(rgba[1]) << 8 | byte_of(rgba[2]) << 16 | byte_of(rgba[3]) << 24


@kernel
def paint_instances(m, d, npicinstance: ti.i32, picalpha: FP):
    """Word 11 of the records of a window, but of planes; parallel over these geoms."""
    ti.loop_config(serialize=SERIAL)
    for k in range(npicinstance):
        g = d.pic_member[k][0]
        if m.geom_type[g] != PLANE:
            rgba = d.pic_color[g]
            rgba[3] = opacity_of(m, d, m.geom_bodyid[g], rgba[3], picalpha, 1)
            d.pic_drawn[d.pic_member[k][1] + 11] = word_of(rgba)


@kernel
def pack_colors(m, d):
    """Colours of geoms as bytes; parallel over geoms."""
    ti.loop_config(serialize=SERIAL)
    for g in range(m.ngeom):
        d.pic_byte[g] = word_of(d.pic_color[g])
