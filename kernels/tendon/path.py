"""Paths of spatial tendons through sites, over pulleys and round geoms, and what follows from them.

Each straight piece of a path is a line: a point on it and its direction, over the pulleys' divisor. A dof that moves
one end of a piece and not the other changes the length by its motion axis times that line, as a wrench; which dofs
these are is a table of the model (tisim/model/tables/tendon.py). Seed 000, "Tendon length and moment".
"""

from ..constants import TASK_SPATIAL, WRAP_CYLINDER, WRAP_PULLEY, WRAP_SITE
from ..sleep.awake import task_at, task_count
from ..spatial import cross, head, join, tail
from ..types import FP, SERIAL, func, kernel, narrow, ti, vec3, wide3
from .wrap import unit3, wrap


@func
def put_line(m, d, k, side, x0, x1, divisor):
    """Line `side` behind element k of all worlds, from x0 to x1; returns their distance."""
    d.wrap_line[k, side] = join(x0, unit3(x1 - x0) / divisor)
    gap = x1 - x0
    return ti.sqrt(gap.dot(gap))


@func
def round_geom(m, d, w, k, x0, x1):
    """Path from x0 to x1 round the geom that element k is: as `wrap` of wrap.py, by wide numbers, since near a tangent
    signs decide which way round it goes."""
    g = w * m.ngeom + m.wrap_objid[k]
    s = ti.cast(ti.round(m.wrap_prm[k]), ti.i32)
    has_side = ti.cast(s >= 0, ti.i32)
    side = wide3(d.site_xpos[w * m.nsite + ti.max(s, 0)])
    cylinder = ti.cast(m.wrap_type[k] == WRAP_CYLINDER, ti.i32)
    radius = m.geom_size[g, m.wrap_objid[k]][0]
    arc, a, b = wrap(wide3(x0), wide3(x1), d.geom_xpos[g], d.geom_xmat[g], radius, cylinder, side, has_side)
    return ti.cast(arc, FP), narrow(a), narrow(b)


@func
def walk_path(m, d, w, t):
    """Lines of tendon t, and where it touches geoms; returns its length."""
    o = w * m.nwrap
    length = FP(0.0)
    divisor = FP(1.0)
    k = m.tendon_adr[t]
    last = k + m.tendon_num[t] - 1
    while k < last:
        behind = k + 1
        if m.wrap_type[k] == WRAP_PULLEY:
            divisor = m.wrap_prm[k]
        elif m.wrap_type[behind] != WRAP_PULLEY:
            arc = FP(-1.0)
            x0 = d.site_xpos[w * m.nsite + m.wrap_objid[k]]
            a, b = vec3(0.0), vec3(0.0)
            if m.wrap_type[behind] != WRAP_SITE:
                x1 = d.site_xpos[w * m.nsite + m.wrap_objid[behind + 1]]
                arc, a, b = round_geom(m, d, w, behind, x0, x1)
                d.wrap_touch[o + behind] = ti.cast(arc >= 0.0, ti.i32)
                d.wrap_point[o + behind, 0] = a
                d.wrap_point[o + behind, 1] = b
                behind += 1
            x1 = d.site_xpos[w * m.nsite + m.wrap_objid[behind]]
            if arc < 0.0:  # both lines are the whole one, so that dofs of a geom that is not touched cancel
                piece = put_line(m, d, o + k, 0, x0, x1, divisor)
                d.wrap_line[o + k, 1] = d.wrap_line[o + k, 0]
                length += piece / divisor
            else:
                before = put_line(m, d, o + k, 0, x0, a, divisor)
                after = put_line(m, d, o + k, 1, b, x1, divisor)
                length += (before + arc + after) / divisor
        k = behind
    return length


@kernel
def spatial_tendons(m, d):
    """Length, Jacobian and velocity of each spatial tendon; parallel over (world, spatial tendon)."""
    n_task = task_count(m, d, TASK_SPATIAL, m.nspatial)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_SPATIAL, place)
        w = x // m.nspatial
        t = m.spatial_tendon[x % m.nspatial]
        d.ten_length[w * m.ntendon + t] = walk_path(m, d, w, t)
        velocity = FP(0.0)
        for e in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
            i = m.tendon_Jdof[e]
            axis = d.cdof[w * m.nv + i]
            com = d.subtree_com[w * m.nbody + m.body_rootid[m.dof_bodyid[i]]]
            s = FP(0.0)
            for c in range(m.tendon_crossadr[e], m.tendon_crossadr[e] + m.tendon_crossnum[e]):
                sign = ti.select(m.tendon_cross[c] > 0, FP(1.0), FP(-1.0))
                a = ti.abs(m.tendon_cross[c]) - 1
                line = d.wrap_line[w * m.nwrap + a // 2, a % 2]
                s += sign * (head(axis).dot(cross(head(line) - com, tail(line))) + tail(axis).dot(tail(line)))
            d.ten_J[w * m.ntendonJ + e] = s
            velocity += s * d.qvel[w * m.nv + i]
        d.ten_velocity[w * m.ntendon + t] = velocity
