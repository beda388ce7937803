"""Distance and penetration of two convex shapes: GJK, then EPA where they overlap.

`ccd` is one loop over support points, so that the support function, the longest part, is compiled once: each turn asks
for a point in some direction and hands it to the phase that wanted it. Spheres and capsules are first taken as point
and segment, and only if those overlap at full size. Rules, tolerances and the order of decisions are those of MuJoCo
3.4.0 (mjc_ccd in engine_collision_gjk.c, Apache-2.0).
"""

from ..wide import *
from .depth_phases import aim_beyond_nearest, build, take_build, take_depth, take_expand
from .distance_phases import aim_at_origin, aim_beyond_face, end_distance, reduce_simplex, take_nearest, take_search
from .memory import FOUND, VERTEX_F, number_adr, point_adr, put3, shape_i
from .search import BUILD, DONE, ENDED, EXPAND, NEAREST, REDUCE, SEARCH, START, search_of, start
from .support import support

MAXTRY = 5  # starts of a search that fails in f32


@func
def take_support(m, d, mem: ti.template(), s: ti.template()):
    """Finds the support points of both shapes and writes the vertex that they make, which is returned."""
    y = vec3(0.0, 0.0, 0.0)
    for i in range(2):
        p = support(m, d, mem, i, ti.select(i == 0, s.direction, -s.direction))
        put3(d.ccd_f, point_adr(mem, s.at, i), p)
        d.ccd_i[number_adr(mem, s.at, i)] = d.ccd_i[shape_i(mem, i) + FOUND]
        y = p - y
    y = -y
    put3(d.ccd_f, mem.vertices_f + VERTEX_F * s.at, y)
    s.size = ti.max(s.size, y.norm())
    return y


@func
def ccd(m, d, mem: ti.template(), cutoff, half1, half2):
    """Signed distance of a worker's two shapes, inflated by half1 and half2, the nearest points or those of deepest
    penetration, and the corners of the polytope's face they lie on (-1: none).

    cutoff  distances above it need not be known; 0: only overlap counts. FAR is returned for shapes farther apart.
    """
    s = search_of(m, d, mem, cutoff, half1, half2)
    while s.phase != DONE:
        s.ask = False
        if s.phase == START:
            start(m, d, mem, s)
        if s.phase == SEARCH:
            aim_beyond_face(m, d, mem, s)
        if s.phase == REDUCE:
            reduce_simplex(m, d, mem, s)
        if s.phase == NEAREST:
            aim_at_origin(m, d, mem, s)
        if s.phase == ENDED:
            end_distance(m, d, mem, s)
        if s.phase == BUILD:
            build(m, d, mem, s)
        if s.phase == EXPAND:
            aim_beyond_nearest(m, d, mem, s)
        if s.ask:
            y = take_support(m, d, mem, s)
            if s.phase == NEAREST:
                take_nearest(m, d, mem, s, y)
            elif s.phase == SEARCH:
                take_search(m, d, mem, s, y)
            elif s.phase == BUILD:
                take_build(s)
            elif s.phase == EXPAND:
                take_expand(m, d, mem, s, y)
        if ti.static(FP == ti.f32):
            if s.failed and s.phase == DONE and s.ntry < MAXTRY:  # from another start
                s.ntry += 1
                s.phase = START
    if s.corner[0] >= 0:
        take_depth(m, d, mem, s)
    return s.dist, s.p1, s.p2, s.corner
