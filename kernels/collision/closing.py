"""How far bodies get within a step: under the second dynamics (tisim/LCP.md) contacts farther than their margin are
listed where they close within it.

A body's surface moves by no more than h |v| + h |w| r, with gravity's part in v. By so much its boxes are enlarged, so
that no pair is missed, and a pair is asked for contacts up to what both can close by their velocities; of these only
those stay whose own normal velocity closes them. What rests moves less than the margin: its boxes, pairs and contacts
are as they were.
"""

from ..constants import BALL, FREE, HINGE
from ..rotation import at3
from ..sleep.awake import is_body_asleep, tree_at, tree_count
from ..slots import dist_at, normal_at, pos_at, put
from ..smooth.gravity import gravity_of
from ..types import FP, SERIAL, func, narrow, ti, vec3, vec4

ROUNDED = 1.000001  # by rounding no pair may be nearer than its boxes are enlarged


@func
def find_ways(m, d):
    """ahead of the bodies that move, parallel over trees."""
    n = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        wt = tree_at(m, d, k)
        w = wt // m.ntree
        first = m.tree_bodyadr[wt - w * m.ntree]
        for b in range(first, first + m.tree_bodynum[wt - w * m.ntree]):
            find_way(m, d, w, b, first)


@func
def find_way(m, d, w, b, root):
    """ahead and ahead_turn of body b, from its parent's, which come before it, and the velocities of its joints."""
    wb = w * m.nbody + b
    h = m.opt.timestep
    x = d.xipos[wb]
    v, turn = vec3(0.0), vec3(0.0)
    if b > root:
        parent = w * m.nbody + m.body_parentid[b]
        turn = d.ahead_turn[parent]
        v = way_of(m, d, parent) + turn.cross(x - d.xipos[parent])
    else:
        v = h * h * gravity_of(m, w)
    for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
        i = w * m.nv + m.jnt_dofadr[j]
        wj = w * m.njnt + j
        axis, anchor = d.xaxis[wj], d.xanchor[wj]
        spin = vec3(0.0)
        if m.jnt_type[j] == FREE:
            v += h * at3(d.qvel, i)
            spin = h * (d.xmat[wb] @ at3(d.qvel, i + 3))
            anchor = narrow(d.xpos[wb])
        elif m.jnt_type[j] == BALL:
            spin = h * (d.xmat[wb] @ at3(d.qvel, i))
        elif m.jnt_type[j] == HINGE:
            spin = h * d.qvel[i] * axis
        else:
            v += h * d.qvel[i] * axis
        turn += spin
        v += spin.cross(x - anchor)
    reach = FP(0.0)
    for g in range(m.body_geomadr[b], m.body_geomadr[b] + m.body_geomnum[b]):
        k = w * m.ngeom + g
        reach = ti.max(reach, (narrow(d.geom_xpos[k]) - x).norm() + narrow(m.geom_reach[k, g]))
    d.ahead_turn[wb] = turn
    d.ahead[wb] = vec4(v[0], v[1], v[2], reach * turn.norm())


@func
def way_of(m, d, wb):
    """Way of the centre of mass of a body that moves."""
    return vec3(d.ahead[wb][0], d.ahead[wb][1], d.ahead[wb][2])


@func
def moves(m, d, w, b):
    """Whether body b of world w has a way."""
    return m.body_treeid[b] >= 0 and not is_body_asleep(m, d, w, b)


@func
def reach_of(m, d, w, b):
    """How far a point of body b of world w gets within the step, at most."""
    reach = FP(0.0)
    if moves(m, d, w, b):
        wb = w * m.nbody + b
        reach = ROUNDED * (way_of(m, d, wb).norm() + d.ahead[wb][3])
    return reach


@func
def margin_now(m, d, p):
    """Distance up to which pair p of the list is asked for contacts: its margin, or what it can close."""
    margin = d.cpair_margin[p]
    if ti.static(m.has.closing):
        i1 = d.cpair_geom1[p]
        w = i1 // m.ngeom
        b1, b2 = m.geom_bodyid[i1 - w * m.ngeom], m.geom_bodyid[d.cpair_geom2[p]]
        way, turns = vec3(0.0), FP(0.0)
        if moves(m, d, w, b1):
            way -= way_of(m, d, w * m.nbody + b1)
            turns += d.ahead[w * m.nbody + b1][3]
        if moves(m, d, w, b2):
            way += way_of(m, d, w * m.nbody + b2)
            turns += d.ahead[w * m.nbody + b2][3]
        margin = ti.max(margin, way.norm() + turns)
    return margin


@func
def keep_closing(m, d, p):
    """Takes contacts of pair p away that are farther than its margin and do not close within the step."""
    n, kept, slot = d.cpair_ncon[p], 0, d.cpair_slot[p]
    if n > 0:
        i1 = d.cpair_geom1[p]
        w = i1 // m.ngeom
        b1, b2 = m.geom_bodyid[i1 - w * m.ngeom], m.geom_bodyid[d.cpair_geom2[p]]
        for s in range(slot, slot + n):
            dist, pos, normal = dist_at(m, d, s), pos_at(m, d, s), normal_at(m, d, s)
            stays = dist <= d.cpair_margin[p]
            if not stays:
                unit = normal / ti.max(normal.norm(), FP(1e-15))
                way = way_at(m, d, w, b2, pos) - way_at(m, d, w, b1, pos)
                stays = -unit.dot(way) >= dist
            if stays:
                if slot + kept < s:
                    put(m, d, slot + kept, dist, pos, normal)
                kept += 1
        d.cpair_ncon[p] = kept


@func
def way_at(m, d, w, b, pos):
    """Way within the step of the point of body b of world w that is there."""
    way = vec3(0.0)
    if moves(m, d, w, b):
        wb = w * m.nbody + b
        way = way_of(m, d, wb) + d.ahead_turn[wb].cross(pos - d.xipos[wb])
    return way
