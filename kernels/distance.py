"""Distances of pairs of convex geoms by GJK and EPA (kernels/ccd.py)."""

from tisim.kernels.ccd import ccd, shapes_f, shapes_i
from tisim.kernels.gjk import FAR
from tisim.kernels.slots import put
from tisim.kernels.support import enter_shape
from tisim.kernels.types import *


@kernel
def convex_distance(
    nquery: ti.i32, distmax: FP, ngeom: ti.i32, nccd: ti.i32, nccd_f: ti.i32, nccd_i: ti.i32,
    niter: ti.i32, ccd_tolerance: FP,
    cpair_geom1: I, cpair_geom2: I, geom_xpos: F, geom_xmat: F, geom_type: I, geom_size: F, geom_dataid: I,
    mesh_vertadr: I, mesh_vertnum: I, mesh_graphadr: I, mesh_vert: F, mesh_graph: I, hull_vert: F, ccd_f: F, ccd_i: I,
    con_slot: F,
):  # fmt: skip
    """Signed distance and the nearest points of geom 1 and geom 2, in their slots, of the first pairs of the
    list, parallel over workers, which have scratch memory each; distmax and zeros for pairs that are farther apart.
    """
    ti.loop_config(serialize=SERIAL)
    for t in range(nccd * SPREAD):
        worker = t // SPREAD
        if t % SPREAD == 0:
            fb = worker * nccd_f
            ib = worker * nccd_i
            sf = shapes_f(fb, niter)
            si = shapes_i(ib, niter)
            p = worker
            while p < nquery:
                i1 = cpair_geom1[p]
                g1 = i1 % ngeom
                g2 = cpair_geom2[p]
                i2 = i1 - g1 + g2
                origin = vec3(0.0, 0.0, 0.0)
                if ti.static(FP == ti.f32):
                    origin = ld3(geom_xpos, i1)  # a far origin costs digits
                for s in range(2):
                    i = i1 if s == 0 else i2
                    g = g1 if s == 0 else g2
                    enter_shape(
                        s, sf, si, ldm(geom_xmat, i), ld3(geom_xpos, i) - origin, geom_type[g], ld3(geom_size, g),
                        geom_dataid[g], ccd_f, ccd_i, mesh_vertadr, mesh_vertnum, mesh_graphadr,
                    )  # fmt: skip
                dist, p1, p2, corner = ccd(
                    fb, ib, niter, ccd_tolerance, distmax, 0.0, 0.0, ccd_f, ccd_i, mesh_vert, mesh_graph, hull_vert
                )
                p1 += origin
                p2 += origin
                if dist >= ti.min(distmax, FAR):
                    dist = distmax
                    p1 = vec3(0.0, 0.0, 0.0)
                    p2 = vec3(0.0, 0.0, 0.0)
                put(p, dist, p1, p2, con_slot)
                p += nccd
