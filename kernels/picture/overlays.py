"""Records of frames, joints, centres of mass, inertia, equalities, tendons, rays and hulls. What is not shown of them
leaves its records empty, so that each thing has its place.
"""

from ..constants import (
    BALL,
    BOX,
    CAPSULE,
    CYLINDER,
    EQ_CONNECT,
    EQ_WELD,
    HINGE,
    MESH,
    NGROUP,
    OBJ_GEOM,
    OBJ_SITE,
    OBJ_TENDON,
    OBJ_XBODY,
    SLIDE,
    SPHERE,
    WRAP_JOINT,
    WRAP_PULLEY,
    WRAP_SITE,
)
from ..constraint.equality import ends_of
from ..sleep.awake import is_body_gone
from ..types import *
from .rods import along, dress, put, put_arrow, put_axes, put_rod
from .shown import in_group, may_move, opacity_of
from .surface import GAMMA

JOINT = 0.3  # half side of a free joint's box, radius of a ball joint's, by a joint's length


@ti.func
def upright():
    """The rotation that turns nothing."""
    return mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@func
def frame_of(m, d, w, kind, i):
    """Place and axes of body i + 1 (OBJ_XBODY), a geom or site; its body and group, of bodies 0; opacity."""
    x = vec3(0.0, 0.0, 0.0)
    R = upright()
    b, group, alpha = 0, 0, FP(1.0)
    if kind == OBJ_XBODY:
        b = i + 1
        x = narrow(d.xpos[w * m.nbody + b])
        R = d.xmat[w * m.nbody + b]
    elif kind == OBJ_GEOM:
        b, group, alpha = m.geom_bodyid[i], m.geom_group[i], m.geom_color[i][3]
        x = narrow(d.geom_xpos[w * m.ngeom + i])
        R = narrow(d.geom_xmat[w * m.ngeom + i])
    else:
        b, group, alpha = m.site_bodyid[i], m.site_group[i], m.site_color[i][3]
        x = d.site_xpos[w * m.nsite + i]
        R = d.site_xmat[w * m.nsite + i]
    return x, R, b, group, alpha


@func
def frames_of(m, kind):
    """How many things of a kind there are."""
    return ti.select(kind == OBJ_XBODY, m.nbody - 1, ti.select(kind == OBJ_GEOM, m.ngeom, m.nsite))


@kernel
def list_frames(m, d, picworld: ti.i32, picat: ti.i32, picink: ti.i32, groups: ti.i32, picof: ti.i32, picwide: FP,
                piclong: FP):  # fmt: skip
    """Three axes of each thing of a kind and these groups that is seen, all x before all y and z, in three colours;
    parallel over things. The bit of `groups` behind the last group shows what cannot move."""
    n = frames_of(m, picof)
    ti.loop_config(serialize=SERIAL)
    for i in range(n):
        x, R, b, group, alpha = frame_of(m, d, picworld, picof, i)
        there = alpha > 0.0 and in_group(m, d, groups, group) and not is_body_gone(m, d, picworld, b)
        if groups >> NGROUP & 1 == 0 and not may_move(m, d, b):
            there = False
        size = vec2(picwide, piclong)
        put_axes(m, d, picat + i, n, ti.select(there, CYLINDER, -1), x, R, size, picink)


@kernel
def list_centres(m, d, picworld: ti.i32, picat: ti.i32, picink: ti.i32, picwide: FP):
    """A ball at the centre of mass of each tree that begins at the world; parallel over bodies but the world."""
    ti.loop_config(serialize=SERIAL)
    for i in range(m.nbody - 1):
        b = i + 1
        shown = m.body_parentid[b] == 0 and not is_body_gone(m, d, picworld, b)
        x = d.subtree_com[picworld * m.nbody + b]
        put(m, d, picat + i, ti.select(shown, SPHERE, -1), x, upright(), vec3(picwide, picwide, picwide), picink)


@kernel
def list_inertia(m, d, picworld: ti.i32, picat: ti.i32, picink: ti.i32, picstatic: ti.i32):
    """A box of the same mass and inertia as each body that has some; parallel over bodies but the world. picstatic  0:
    what cannot move has none."""
    ti.loop_config(serialize=SERIAL)
    for i in range(m.nbody - 1):
        b = i + 1
        mass = m.body_mass[picworld, b]
        inertia = m.body_inertia[picworld, b]
        total = inertia[0] + inertia[1] + inertia[2]
        kind = -1
        size = vec3(0.0, 0.0, 0.0)
        if mass > 0.0 and (picstatic == 1 or may_move(m, d, b)) and not is_body_gone(m, d, picworld, b):
            kind = BOX
            for k in ti.static(range(3)):
                size[k] = 0.5 * ti.sqrt(6.0 * (ti.max(total - 2.0 * inertia[k], 0.0) / mass))
        e = picworld * m.nbody + b
        put(m, d, picat + i, kind, d.xipos[e], d.ximat[e], size, picink)


@kernel
def list_joints(m, d, picworld: ti.i32, picat: ti.i32, picink: ti.i32, groups: ti.i32, picwide: FP, piclong: FP,
                nhead: ti.i32):  # fmt: skip
    """A box of each free joint of these groups, a ball of a ball joint, a rod of a hinge, an arrow of a slider with its
    head behind all; nhead  0: there are no sliders; parallel over joints."""
    ti.loop_config(serialize=SERIAL)
    for joint in range(m.njnt):
        b = m.jnt_bodyid[joint]
        x = d.xanchor[picworld * m.njnt + joint]
        axis = d.xaxis[picworld * m.njnt + joint]
        shown = in_group(m, d, groups, m.jnt_group[joint]) and not is_body_gone(m, d, picworld, b)
        j = picat + joint
        if m.jnt_type[joint] == SLIDE:
            vector = vec3(0.0, 0.0, 0.0)
            if shown:
                vector = piclong * axis
            put_arrow(m, d, j, j + nhead, x, vector, picwide, picink)
        else:
            kind = BOX
            R = d.xmat[picworld * m.nbody + b]
            size = vec3(JOINT * piclong, JOINT * piclong, JOINT * piclong)
            if m.jnt_type[joint] == BALL:
                kind = SPHERE
                R = upright()
            if m.jnt_type[joint] == HINGE:
                kind = CYLINDER
                R = along(axis)
                size = vec3(picwide, 0.5 * piclong, 0.0)
            put(m, d, j, ti.select(shown, kind, -1), x, R, size, picink)
            if nhead > 0:
                d.pic_kind[j + nhead] = -1


@kernel
def list_equalities(m, d, picworld: ti.i32, picat: ti.i32, picink: ti.i32, picwide: FP):
    """Balls at the two points that each connect or weld makes one where it is active, and a rod between them: all first
    points, all second ones, the rods; parallel over equalities."""
    ti.loop_config(serialize=SERIAL)
    for e in range(m.neq):
        pose = m.eq_type[e] == EQ_CONNECT or m.eq_type[e] == EQ_WELD
        a = vec3(0.0, 0.0, 0.0)
        b = vec3(0.0, 0.0, 0.0)
        if pose and d.eq_active[picworld * m.neq + e] != 0:
            _b1, _b2, x1, x2, _q1, _q2 = ends_of(m, d, picworld, e)
            a, b = narrow(x1), narrow(x2)
        else:
            pose = False
        kind = ti.select(pose, SPHERE, -1)
        for k in range(2):
            x = a
            if k == 1:
                x = b
            put(m, d, picat + e + k * m.neq, kind, x, upright(), vec3(picwide, picwide, picwide), picink)
        put_rod(m, d, picat + e + 2 * m.neq, ti.select(pose, CYLINDER, -1), a, b, 0.5 * picwide, picink)


@func
def put_piece(m, d, j, t, begin, end, rgba):
    """A piece of the path of tendon t."""
    put_rod(m, d, j, CAPSULE, begin, end, m.tendon_width[t], 0)
    dress(m, d, j, rgba)
    d.pic_thing[j][0] = t
    d.pic_thing[j][1] = OBJ_TENDON
    if rgba[3] <= 0.0:
        d.pic_kind[j] = -1


@func
def shade_of(m, d, rgba, lit):
    """A colour as light, or as it is."""
    out = rgba
    if lit == 0:
        for k in ti.static(range(3)):
            out[k] = ti.cast(ti.pow(ti.cast(rgba[k], WIDE), ti.cast(GAMMA, WIDE)), FP)
    return out


@kernel
def dress_sites(m, d, picat: ti.i32, piclit: ti.i32, picalpha: FP, picstatic: ti.i32):
    """Colours of the records of sites, from place picat on, which are listed then; parallel over sites."""
    ti.loop_config(serialize=SERIAL)
    for s in range(m.nsite):
        rgba = shade_of(m, d, m.site_color[s], piclit)
        rgba[3] = opacity_of(m, d, m.site_bodyid[s], rgba[3], picalpha, picstatic)
        dress(m, d, picat + s, rgba)


@kernel
def list_tendons(m, d, picworld: ti.i32, picat: ti.i32, groups: ti.i32, piclit: ti.i32, picalpha: FP):
    """Capsules between the points of each path of these groups: element e's piece, and that on a geom, are records
    2 e and 2 e + 1; parallel over tendons. picalpha  opacity, times their own."""
    ti.loop_config(serialize=SERIAL)
    for t in range(m.ntendon):
        shown = in_group(m, d, groups, m.tendon_group[t])
        rgba = shade_of(m, d, m.tendon_color[t], piclit)
        rgba[3] = rgba[3] * picalpha
        begun = False
        last = vec3(0.0, 0.0, 0.0)
        for e in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            j = picat + e + e
            kind = m.wrap_type[e]
            i = picworld * m.nwrap + e
            n = 1
            x = vec3(0.0, 0.0, 0.0)
            if kind == WRAP_SITE:
                x = d.site_xpos[picworld * m.nsite + m.wrap_objid[e]]
            elif kind == WRAP_PULLEY or kind == WRAP_JOINT:
                n = 0
                begun = False
            else:
                n = ti.select(d.wrap_touch[i] > 0, 2, 0)
                x = d.wrap_point[i, 0]
            for k in range(2):
                d.pic_kind[j + k] = -1
                if k < n:
                    if k == 1:
                        x = d.wrap_point[i, 1]
                    if begun and shown:
                        put_piece(m, d, j + k, t, last, x, rgba)
                    last = x
                    begun = True


@kernel
def list_rays(m, d, picworld: ti.i32, picat: ti.i32, picink: ti.i32, picwide: FP):
    """A rod from the site of each range finder that meets something to there; parallel over range finders."""
    ti.loop_config(serialize=SERIAL)
    for k in range(m.nrange):
        s = m.range_sensor[k]
        far = d.sensordata[picworld * m.nsensordata + m.sensor_adr[s]]
        kind = -1
        x = vec3(0.0, 0.0, 0.0)
        y = x
        if m.sensor_objtype[s] == OBJ_SITE and far > 0.0:
            site = picworld * m.nsite + m.sensor_objid[s]
            R = d.site_xmat[site]
            kind = CYLINDER
            x = d.site_xpos[site]
            y = x + far * vec3(R[0, 2], R[1, 2], R[2, 2])
        put_rod(m, d, picat + k, kind, x, y, picwide, picink)


@kernel
def list_hulls(m, d, picworld: ti.i32, picat: ti.i32, picink: ti.i32, picwide: FP):
    """Edges of the convex hulls of meshes, as rods; parallel over geoms. Those of a geom begin at pic_edged, counted
    from picat; -1: it has none that are shown."""
    ti.loop_config(serialize=SERIAL)
    for g in range(m.ngeom):
        first = d.pic_edged[g]
        if m.geom_type[g] == MESH and first >= 0:
            x = narrow(d.geom_xpos[picworld * m.ngeom + g])
            R = narrow(d.geom_xmat[picworld * m.ngeom + g])
            kind = ti.select(is_body_gone(m, d, picworld, m.geom_bodyid[g]), -1, CYLINDER)
            mesh = m.geom_dataid[g]
            begin = d.pic_hull[mesh]
            for k in range(d.pic_hull[mesh + 1] - begin):
                edge = d.pic_rim[begin + k]
                a = R @ vec3(edge[0], edge[1], edge[2]) + x
                b = R @ vec3(edge[3], edge[4], edge[5]) + x
                put_rod(m, d, picat + first + k, kind, a, b, picwide, picink)
