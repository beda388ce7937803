"""World boxes of what can collide, and which of the pairs found by an earlier search are near enough at these poses.

A search (collision/broadphase.py) looks for pairs whose boxes meet when they are enlarged: by a skin on all sides, and
along the way that the body is expected to go. Its pairs are complete as long as every box is within its enlarged one
and every geom within a ball around the middle of its way, and no point of a body with many geoms has moved by more than
the skin: what parts and meets again was listed all the time. Which of the listed pairs meet at the present poses is
asked anew in each step, so contacts do not depend on when the last search was. Verlet 1967, Phys. Rev. 159, 98.
"""

from ..constants import PLANE
from ..sleep.awake import box_at, box_count, is_body_gone, is_geom_gone
from ..types import *
from .closing import find_ways, reach_of

GROW = 1.000001  # boxes that touch exactly must not part by rounding
FORESIGHT = 16.0  # steps over which a body is expected to move on as it did since the last search
FARTHEST = 4.0  # its way is at most this many skins along each axis: after a jump nobody knows where it goes
NOWHERE = 1e15  # a box that nothing meets, and within which nothing is
TODO = -1  # in cpair_ncon: the pair is near, and a kernel of its own has its collider


@func
def margin_of(m, d, w, g):
    """The margin of geom g of world w, or the one that replaces all."""
    margin = m.geom_margin[w, g]
    if d.override:
        margin = m.opt.o_margin
    return margin


@func
def box_of_geom(m, d, w, g, k):
    """Lower and upper corner of geom g of world w placed at k, its margin added."""
    R = narrow(d.geom_xmat[k])
    x = narrow(d.geom_xpos[k])
    center = x + R @ m.geom_box[k, g, 0]
    extent = ti.abs(R) @ m.geom_box[k, g, 1]
    radius = m.geom_box[k, g, 2]
    for c in ti.static(range(3)):
        extent[c] += vec3(R[c, 0] * radius[0], R[c, 1] * radius[1], R[c, 2] * radius[2]).norm()
    extent *= GROW
    reach = narrow(m.geom_reach[k, g]) * GROW
    margin = margin_of(m, d, w, g)
    if ti.static(m.has.closing):
        margin = ti.max(margin, reach_of(m, d, w, m.geom_bodyid[g]))
    if ti.static(FP != WIDE):  # f32 rounds what colliders know better
        margin += 4.0 * EPSILON * ti.abs(x).max()
    return ti.max(center - extent, x - reach) - margin, ti.min(center + extent, x + reach) + margin


@func
def put_ball(m, d, i, center, radius):
    """Writes the ball that item i's position is expected to stay in; one row, since a search reads it whole."""
    d.item_ball[i] = vec4(center[0], center[1], center[2], radius)


@func
def ball_center(m, d, i):
    return vec3(d.item_ball[i][0], d.item_ball[i][1], d.item_ball[i][2])


@func
def ball_radius(m, d, i):
    return d.item_ball[i][3]


@func
def inside(m, d, lo, hi, x, i, more):
    """Whether a box is within item i's enlarged one, and what is not farther than `more` from x within its ball; False
    for what is not a number."""
    fatlo = d.item_fatlo[i]
    fathi = d.item_fathi[i]
    yes = (x - ball_center(m, d, i)).norm_sqr() <= (ball_radius(m, d, i) - more) * (ball_radius(m, d, i) - more)
    if ti.static(m.has.closing):
        yes = yes and more <= ball_radius(m, d, i)
    for c in ti.static(range(3)):
        yes = yes and fatlo[c] <= lo[c] and hi[c] <= fathi[c]
    return yes


@func
def has_moved(m, d, x, R, lo, hi, i, skin):
    """Whether a corner of the box (lo, hi) in the frame of a body has moved by more than the skin since the last
    search: one has if any point within has, since the displacement is linear in the point.
    """
    x0 = d.group_pos[i]
    moved = False
    for c in range(8):
        corner = ti.select(ti.Vector([c & 1, c >> 1 & 1, c >> 2 & 1]) > 0, hi, lo)
        way = x - x0 + R @ corner
        for r in ti.static(range(3)):
            for k in ti.static(range(3)):
                way[r] -= d.group_mat[i][r, k] * corner[k]
        if not (way.norm_sqr() <= skin * skin and skin >= 0.0):
            moved = True
    return moved


@kernel
def update_boxes(m, d):
    """Boxes of the moving items at these poses, parallel over items; d.nout is not 0 where a search is due."""
    if ti.static(not GPU):  # there `nout` is 0 since the last search, and a task less is launched
        ti.loop_config(serialize=True)
        for _ in range(1):
            d.nout = 0
    if ti.static(m.has.closing):
        find_ways(m, d)
    # of a body with many geoms: the root of its tree, and the boxes of its geoms, the items from ncol on
    n_box = box_count(m, d)
    n_plane = d.nworld * d.nplane
    if ti.static(GPU):
        ti.loop_config(serialize=SERIAL)
        for t in range(ti.max(n_box, n_plane, 1)):
            if t == 0:
                d.nslot = 0  # for the colliders
            if t < n_box:
                update_box(m, d, t)
            if t < n_plane:
                look_at_plane(m, d, t)
    else:
        ti.loop_config(serialize=SERIAL)
        for t in range(n_box):
            update_box(m, d, t)
        ti.loop_config(serialize=SERIAL or SHORT)
        for t in range(n_plane):
            look_at_plane(m, d, t)


@func
def update_box(m, d, t):
    """The box of moving item t, and whether it left its enlarged one."""
    w, place = box_at(m, d, t)
    g = d.box_item[place]
    i = w * m.nitem + g
    if g < m.ngeom:
        k = w * m.ngeom + g
        lo, hi = box_of_geom(m, d, w, g, k)
        d.item_boxlo[i] = lo
        d.item_boxhi[i] = hi
        if place < d.ncol:
            more = FP(0.0)
            if ti.static(m.has.closing):
                more = reach_of(m, d, w, m.geom_bodyid[g])
            if not inside(m, d, lo, hi, narrow(d.geom_xpos[k]), i, more):
                d.nout = 1
    else:
        k = w * m.nbody + m.mid_body[g - m.ngeom]
        R = d.xmat[k]
        n = m.mid_adr[g - m.ngeom] + 1
        lo = m.mid_box[n, 0]
        hi = m.mid_box[n, 1]
        x = narrow(d.xpos[k])
        center = x + R @ (0.5 * (lo + hi))
        extent = ti.abs(R) @ (0.5 * (hi - lo)) * GROW
        if d.override:
            extent += m.opt.o_margin
        slack = d.sweep_skin
        if ti.static(m.has.closing):  # what it could do more at the last search is left for it to move
            more = reach_of(m, d, w, m.mid_body[g - m.ngeom])
            extent += more
            slack += ball_radius(m, d, i) - more
        d.item_boxlo[i] = center - extent
        d.item_boxhi[i] = center + extent
        if has_moved(m, d, x, R, lo, hi, w * d.ngroup + g - m.ngeom, slack):
            d.nout = 1


@func
def look_at_plane(m, d, t):
    """Whether plane t is not where it was at the last search."""
    k = t // d.nplane * m.ngeom + d.plane_geom[t % d.nplane]
    for c in ti.static(range(3)):
        moved = d.plane_pos[t][c] != narrow(d.geom_xpos[k][c])
        if moved or d.plane_normal[t][c] != narrow(d.geom_xmat[k][c, 2]):
            d.nout = 1


@func
def is_item_gone(m, d, w, item):
    """Whether a geom, or a body with many, was removed."""
    gone = False
    if ti.static(m.has.gone):
        if item < m.ngeom:
            gone = is_geom_gone(m, d, w, item)
        else:
            gone = is_body_gone(m, d, w, m.mid_body[item - m.ngeom])
    return gone


@kernel
def enlarge_boxes(m, d):
    """Enlarged boxes for a search, and what does not change until the next one: static boxes and the planes' places;
    parallel over items.

    age  steps since the last search, which tell how fast things move; 0: there was none, or it was of something else.
    """
    skin = d.sweep_skin
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(d.nworld * d.nbox):
        if ti.static(GPU):
            if t == 0:
                d.nout = 0
                d.nslot = 0
        w = t // d.nbox
        g = d.box_item[t % d.nbox]
        i = w * m.nitem + g
        way = vec3(0.0, 0.0, 0.0)
        if g < m.ngeom:
            x = narrow(d.geom_xpos[w * m.ngeom + g])
            if d.age > 0 and t % d.nbox < d.ncol:  # not geoms of a tree, whose boxes grow by the skin only
                way = ti.max(-FARTHEST * skin, ti.min(FARTHEST * skin, (x - d.item_from[i]) * (FORESIGHT / d.age)))
            d.item_from[i] = x
            more = FP(0.0)
            if ti.static(m.has.closing):
                more = reach_of(m, d, w, m.geom_bodyid[g])
            put_ball(m, d, i, x + 0.5 * way, skin + 0.5 * way.norm() + more)
        else:
            k = w * d.ngroup + g - m.ngeom
            body = w * m.nbody + m.mid_body[g - m.ngeom]
            d.group_pos[k] = narrow(d.xpos[body])
            d.group_mat[k] = d.xmat[body]
            if ti.static(m.has.closing):
                put_ball(m, d, i, d.group_pos[k], reach_of(m, d, w, m.mid_body[g - m.ngeom]))
        d.item_fatlo[i] = d.item_boxlo[i] - skin + ti.min(way, 0.0)
        d.item_fathi[i] = d.item_boxhi[i] + skin + ti.max(way, 0.0)
        if ti.static(m.has.gone):
            if is_item_gone(m, d, w, g):  # what comes back is outside of its enlarged box: a search is due
                d.item_fatlo[i] = vec3(NOWHERE)
                d.item_fathi[i] = vec3(-NOWHERE)
                if g >= m.ngeom:
                    d.group_pos[w * d.ngroup + g - m.ngeom] = vec3(NOWHERE)
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(d.nworld * d.nstatic):
        w = t // d.nstatic
        g = d.static_geom[t % d.nstatic]
        i = w * m.nitem + g
        lo, hi = box_of_geom(m, d, w, g, w * m.ngeom + g)
        d.item_boxlo[i] = lo
        d.item_boxhi[i] = hi
        put_ball(m, d, i, narrow(d.geom_xpos[w * m.ngeom + g]), 0.0)
    ti.loop_config(serialize=SERIAL or SHORT)
    for t in range(d.nworld * d.nplane):
        k = t // d.nplane * m.ngeom + d.plane_geom[t % d.nplane]
        for c in ti.static(range(3)):
            d.plane_pos[t][c] = narrow(d.geom_xpos[k][c])
            d.plane_normal[t][c] = narrow(d.geom_xmat[k][c, 2])


@ti.func
def boxes_meet(i, j, boxlo: ti.template(), boxhi: ti.template()):
    """Whether the boxes of two items meet."""
    yes = True
    for c in ti.static(range(3)):
        yes = yes and boxlo[i][c] <= boxhi[j][c] and (boxlo[j][c] <= boxhi[i][c])
    return yes


@func
def spheres_meet(m, d, x1, x2, i1, i2, g1, g2, margin):
    """Whether the bounding spheres of geoms g1 and g2, whose places are i1 and i2, around x1 and x2 come within a
    margin."""
    reach = m.geom_reach[i1, g1] + m.geom_reach[i2, g2] + margin
    return (x1 - x2).norm_sqr() <= reach * reach


@func
def above_plane(m, d, i1, x2, i2, g2, margin):
    """Whether the bounding sphere of geom g2, whose place is i2, around x2 is farther than a margin above the plane
    placed at i1."""
    R = d.geom_xmat[i1]
    normal = ti.Vector([R[0, 2], R[1, 2], R[2, 2]])
    return normal.dot(x2 - d.geom_xpos[i1]) > margin + m.geom_reach[i2, g2]


@func
def near(m, d, boxes: ti.template(), i1, i2, g1, g2, item, margin):
    """Whether geoms g1 and g2, placed at i1 and i2, pass the tests of a search at the present poses.

    boxes  False: leave out the test of their boxes.  item  first item of their world.
    """
    yes = True
    if m.geom_type[g1] == PLANE:
        yes = not above_plane(m, d, i1, d.geom_xpos[i2], i2, g2, margin)
    else:
        yes = spheres_meet(m, d, d.geom_xpos[i1], d.geom_xpos[i2], i1, i2, g1, g2, margin)
        if ti.static(boxes):
            if yes:
                yes = boxes_meet(item + g1, item + g2, d.item_boxlo, d.item_boxhi)
    return yes
