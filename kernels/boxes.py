"""World boxes of what can collide, and which of the pairs found by an earlier search are near enough at these poses.

A search (kernels/broadphase.py) looks for pairs whose boxes meet when they are enlarged: by a skin on all sides, and
along the way that the body is expected to go. Its pairs are complete as long as every box is within its enlarged one
and every geom within a ball around the middle of its way, and no point of a body with many geoms has moved by more than
the skin: what parts and meets again was listed all the time. Which of the listed pairs meet at the present poses is
asked anew in each step, so contacts do not depend on when the last search was. Verlet 1967, Phys. Rev. 159, 98.
"""

from tisim.kernels.constants import NOUT, PLANE
from tisim.kernels.types import *

GROW = 1.000001  # boxes that touch exactly must not part by rounding
FORESIGHT = 16.0  # steps over which a body is expected to move on as it did since the last search
FARTHEST = 4.0  # its way is at most this many skins along each axis: after a jump nobody knows where it goes
SKIN = 13  # where sweep_scale holds the skin of the last search [m]
TODO = -1  # in cpair_ncon: the pair is near, and a kernel of its own has its collider


@ti.func
def box_of_geom(
    g, k, margin, geom_xpos: ti.template(), geom_xmat: ti.template(), geom_box: ti.template(),
    geom_reach: ti.template(),
):  # fmt: skip
    """Lower and upper corner of geom g placed at k, margin added."""
    R = ldm(geom_xmat, k)
    x = ld3(geom_xpos, k)
    center = x + R @ ld3(geom_box, 3 * g)
    extent = ti.abs(R) @ ld3(geom_box, 3 * g + 1)
    radius = ld3(geom_box, 3 * g + 2)
    for c in ti.static(range(3)):
        extent[c] += vec3(R[c, 0] * radius[0], R[c, 1] * radius[1], R[c, 2] * radius[2]).norm()
    extent *= GROW
    reach = geom_reach[g] * GROW
    return ti.max(center - extent, x - reach) - margin, ti.min(center + extent, x + reach) + margin


@ti.func
def ball_at(i, item_ball: ti.template()):
    """Centre of the ball that item i's position stays in; the radius is number 3 of its row."""
    return vec3(item_ball[4 * i], item_ball[4 * i + 1], item_ball[4 * i + 2])


@ti.func
def inside(lo, hi, x, i, item_fatlo: ti.template(), item_fathi: ti.template(), item_ball: ti.template()):
    """Whether a box is within item i's enlarged one and x within its ball; False for what is not a number."""
    fatlo = ld3(item_fatlo, i)
    fathi = ld3(item_fathi, i)
    yes = (x - ball_at(i, item_ball)).norm_sqr() <= item_ball[4 * i + 3] * item_ball[4 * i + 3]
    for c in ti.static(range(3)):
        yes = yes and fatlo[c] <= lo[c] and hi[c] <= fathi[c]
    return yes


@ti.func
def has_moved(x, R, lo, hi, i, skin, group_from: ti.template()):
    """Whether a corner of the box (lo, hi) in the frame of a body has moved by more than the skin since the last
    search: one has if any point within has, since the displacement is linear in the point.
    """
    x0 = vec3(group_from[12 * i], group_from[12 * i + 1], group_from[12 * i + 2])
    moved = False
    for c in range(8):
        s = ti.select(ti.Vector([c & 1, c >> 1 & 1, c >> 2 & 1]) > 0, hi, lo)
        y = x - x0 + R @ s
        for r in ti.static(range(3)):
            for k in ti.static(range(3)):
                y[r] -= group_from[12 * i + 3 + 3 * r + k] * s[k]
        if not y.norm_sqr() <= skin * skin:
            moved = True
    return moved


@kernel
def update_boxes(
    nworld: ti.i32, ngeom: ti.i32, nbody: ti.i32, nitem: ti.i32, nbox: ti.i32, ncol: ti.i32, ngroup: ti.i32,
    nplane: ti.i32, override: ti.i32, o_margin: FP, box_item: I, plane_geom: I, mid_box: F, mid_adr: I, mid_body: I,
    xpos: F, xmat: F, geom_xpos: F, geom_xmat: F, geom_box: F, geom_reach: F, geom_margin: F, item_boxlo: F,
    item_boxhi: F, item_fatlo: F, item_fathi: F, item_ball: F, plane_from: F, group_from: F, sweep_scale: F, counts: I,
):  # fmt: skip
    """Boxes of the moving items at these poses, parallel over items; counts[NOUT] is not 0 where a search is due."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        counts[NOUT] = 0
    # of a body with many geoms: the root of its tree, and the boxes of its geoms, the items from ncol on
    ti.loop_config(serialize=SERIAL)
    for t in range(nworld * nbox):
        w = t // nbox
        g = box_item[t % nbox]
        i = w * nitem + g
        if g < ngeom:
            k = w * ngeom + g
            margin = geom_margin[g]
            if override:
                margin = o_margin
            lo, hi = box_of_geom(g, k, margin, geom_xpos, geom_xmat, geom_box, geom_reach)
            st3(item_boxlo, i, lo)
            st3(item_boxhi, i, hi)
            if t % nbox < ncol:
                if not inside(lo, hi, ld3(geom_xpos, k), i, item_fatlo, item_fathi, item_ball):
                    counts[NOUT] = 1
        else:
            k = w * nbody + mid_body[g - ngeom]
            R = ldm(xmat, k)
            n = mid_adr[g - ngeom] + 1
            lo = vec3(mid_box[6 * n], mid_box[6 * n + 1], mid_box[6 * n + 2])
            hi = vec3(mid_box[6 * n + 3], mid_box[6 * n + 4], mid_box[6 * n + 5])
            center = ld3(xpos, k) + R @ (0.5 * (lo + hi))
            extent = ti.abs(R) @ (0.5 * (hi - lo)) * GROW
            if override:
                extent += o_margin
            st3(item_boxlo, i, center - extent)
            st3(item_boxhi, i, center + extent)
            if has_moved(ld3(xpos, k), R, lo, hi, w * ngroup + g - ngeom, sweep_scale[SKIN], group_from):
                counts[NOUT] = 1
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(nworld * nplane):
        k = t // nplane * ngeom + plane_geom[t % nplane]
        for c in ti.static(range(3)):
            moved = plane_from[6 * t + c] != geom_xpos[3 * k + c]
            if moved or plane_from[6 * t + 3 + c] != geom_xmat[9 * k + 3 * c + 2]:
                counts[NOUT] = 1


@kernel
def enlarge_boxes(
    nworld: ti.i32, ngeom: ti.i32, nbody: ti.i32, nitem: ti.i32, nbox: ti.i32, ncol: ti.i32, ngroup: ti.i32,
    nstatic: ti.i32, nplane: ti.i32, age: ti.i32, override: ti.i32, o_margin: FP, box_item: I, static_geom: I,
    plane_geom: I, mid_body: I, xpos: F, xmat: F, geom_xpos: F, geom_xmat: F, geom_box: F, geom_reach: F,
    geom_margin: F, item_boxlo: F, item_boxhi: F, item_fatlo: F, item_fathi: F, item_ball: F, item_from: F,
    plane_from: F, group_from: F, sweep_scale: F,
):  # fmt: skip
    """Enlarged boxes for a search, and what does not change until the next one: static boxes and the planes' places;
    parallel over items.

    age  steps since the last search, which tell how fast things move; 0: there was none, or it was of something else.
    """
    skin = sweep_scale[SKIN]
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(nworld * nbox):
        w = t // nbox
        g = box_item[t % nbox]
        i = w * nitem + g
        way = vec3(0.0, 0.0, 0.0)
        if g < ngeom:
            x = ld3(geom_xpos, w * ngeom + g)
            if age > 0 and t % nbox < ncol:  # not geoms of a tree, whose boxes grow by the skin only
                way = ti.max(-FARTHEST * skin, ti.min(FARTHEST * skin, (x - ld3(item_from, i)) * (FORESIGHT / age)))
            st3(item_from, i, x)
            for c in ti.static(range(3)):
                item_ball[4 * i + c] = x[c] + 0.5 * way[c]
            item_ball[4 * i + 3] = skin + 0.5 * way.norm()
        else:
            k = 12 * (w * ngroup + g - ngeom)
            body = w * nbody + mid_body[g - ngeom]
            for c in ti.static(range(3)):
                group_from[k + c] = xpos[3 * body + c]
            for c in ti.static(range(9)):
                group_from[k + 3 + c] = xmat[9 * body + c]
        st3(item_fatlo, i, ld3(item_boxlo, i) - skin + ti.min(way, 0.0))
        st3(item_fathi, i, ld3(item_boxhi, i) + skin + ti.max(way, 0.0))
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(nworld * nstatic):
        w = t // nstatic
        g = static_geom[t % nstatic]
        margin = geom_margin[g]
        if override:
            margin = o_margin
        lo, hi = box_of_geom(g, w * ngeom + g, margin, geom_xpos, geom_xmat, geom_box, geom_reach)
        st3(item_boxlo, w * nitem + g, lo)
        st3(item_boxhi, w * nitem + g, hi)
        for c in ti.static(range(3)):
            item_ball[4 * (w * nitem + g) + c] = geom_xpos[3 * (w * ngeom + g) + c]
        item_ball[4 * (w * nitem + g) + 3] = 0.0
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(nworld * nplane):
        k = t // nplane * ngeom + plane_geom[t % nplane]
        for c in ti.static(range(3)):
            plane_from[6 * t + c] = geom_xpos[3 * k + c]
            plane_from[6 * t + 3 + c] = geom_xmat[9 * k + 3 * c + 2]


@ti.func
def boxes_meet(i, j, boxlo: ti.template(), boxhi: ti.template()):
    """Whether the boxes of two items meet."""
    yes = True
    for c in ti.static(range(3)):
        yes = yes and boxlo[3 * i + c] <= boxhi[3 * j + c] and boxlo[3 * j + c] <= boxhi[3 * i + c]
    return yes


@ti.func
def spheres_meet(x1, x2, g1, g2, margin, geom_reach: ti.template()):
    """Whether the bounding spheres of geoms g1 and g2 around x1 and x2 come within a margin."""
    reach = geom_reach[g1] + geom_reach[g2] + margin
    return (x1 - x2).norm_sqr() <= reach * reach


@ti.func
def above_plane(i1, x2, g2, margin, geom_xpos: ti.template(), geom_xmat: ti.template(), geom_reach: ti.template()):
    """Whether the bounding sphere of geom g2 around x2 is farther than a margin above the plane placed at i1."""
    normal = vec3(geom_xmat[9 * i1 + 2], geom_xmat[9 * i1 + 5], geom_xmat[9 * i1 + 8])
    return normal.dot(x2 - ld3(geom_xpos, i1)) > margin + geom_reach[g2]


@ti.func
def near(
    boxes: ti.template(), i1, i2, g1, g2, item1, item2, margin, geom_type: ti.template(), geom_xpos: ti.template(),
    geom_xmat: ti.template(), geom_reach: ti.template(), item_boxlo: ti.template(), item_boxhi: ti.template(),
):  # fmt: skip
    """Whether geoms g1 and g2, placed at i1 and i2, pass the tests of a search at the present poses.

    boxes  False: leave out the test of their boxes, those of item1 and item2.
    """
    yes = True
    if geom_type[g1] == PLANE:
        yes = not above_plane(i1, ld3(geom_xpos, i2), g2, margin, geom_xpos, geom_xmat, geom_reach)
    else:
        yes = spheres_meet(ld3(geom_xpos, i1), ld3(geom_xpos, i2), g1, g2, margin, geom_reach)
        if ti.static(boxes):
            if yes:
                yes = boxes_meet(item1, item2, item_boxlo, item_boxhi)
    return yes
