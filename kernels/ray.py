"""The nearest geom that a ray meets, one thread per ray. After MuJoCo 3.4.0's engine_ray.c (Apache-2.0)."""

import types

from tisim.kernels import ray_shapes
from tisim.kernels.constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, PLANE, SPHERE
from tisim.kernels.ray_shapes import FAR, enter_box, next_node, reciprocal
from tisim.kernels.types import *


def caster(kinds):
    """The Taichi function `cast` for models whose geoms have these types (a tuple): no other shape is compiled."""

    @ti.func
    def cast(
        w, pnt, vec, groups, flg_static, bodyexclude, cutoff, ngeom, nlinear, nleaf, ray_order: ti.template(),
        ray_class: ti.template(), ray_leaf: ti.template(), ray_node: ti.template(), geom_type: ti.template(),
        geom_bodyid: ti.template(), geom_dataid: ti.template(), geom_size: ti.template(), geom_rbound: ti.template(),
        geom_xpos: ti.template(), geom_xmat: ti.template(), mesh_vertadr: ti.template(), mesh_faceadr: ti.template(),
        mesh_facenum: ti.template(), mesh_vert: ti.template(), mesh_face: ti.template(), ray_meshadr: ti.template(),
        ray_meshbox: ti.template(), ray_meshface: ti.template(), hfield_size: ti.template(),
        hfield_nrow: ti.template(), hfield_ncol: ti.template(), hfield_adr: ti.template(), hfield_data: ti.template(),
    ):  # fmt: skip
        """First geom of world w that the ray pnt + x vec meets: x and the geom, -1 and -1 if there is none.

        groups       bit k: geoms of group k count;  flg_static  1: static geoms count;  bodyexclude  body left out.
        cutoff       geoms whose bounding sphere is farther than this from pnt are left out, but not on bodies none of
                     whose geoms can collide.
        nlinear      entries of ray_order tried one by one: planes, and all others where no tree was built.
        nleaf        leaves of a world's tree (kernels/ray_tree.py), a power of 2; 0: none was built.
        Of equally near geoms the first wins.
        """
        best = FAR
        found = -1
        per_vec = reciprocal(vec)
        k = 0
        node = ti.select(nleaf > 0, 1, 0)
        trail = 0
        while k < nlinear or node > 0:
            g = -1
            if k < nlinear:
                g = ray_order[k]
                k += 1
            else:
                down = False
                if node >= nleaf:
                    g = ray_leaf[w * nleaf + node - nleaf]
                else:
                    t1 = enter_box(pnt, per_vec, 0.0, best, ray_node, 2 * (w * nleaf + node))
                    t2 = enter_box(pnt, per_vec, 0.0, best, ray_node, 2 * (w * nleaf + node) + 1)
                    if t1 < FAR or t2 < FAR:
                        down = True
                        node = 2 * node + ti.cast(t2 < t1, ti.i32)
                        trail = 2 * trail + ti.cast(t1 < FAR and t2 < FAR, ti.i32)
                if not down:
                    node, trail = next_node(node, trail)
            if g >= 0:
                i = w * ngeom + g
                kind = ray_class[g]
                p = pnt - ld3(geom_xpos, i)
                if (
                    kind >= 0 and (groups >> (kind & 7)) & 1 == 1 and (flg_static != 0 or (kind & 8) == 0)
                    and geom_bodyid[g] != bodyexclude
                    and ((kind & 16) == 0 or p.norm() <= cutoff + geom_rbound[g])
                ):  # fmt: skip
                    t = geom_type[g]
                    size = ld3(geom_size, g)
                    R = ldm(geom_xmat, i)
                    v = R.transpose() @ vec
                    p = R.transpose() @ p
                    shift = 0.0
                    if ti.static(FP != ti.f64):
                        shift = -p.dot(v) / v.dot(v)
                        p += shift * v
                    x = FAR
                    if ti.static(PLANE in kinds):
                        if t == PLANE:
                            x = ray_shapes.ray_plane(p, v, size, -shift)
                    if ti.static(HFIELD in kinds):
                        if t == HFIELD:
                            x = ray_shapes.ray_hfield(
                                p, v, -shift, geom_dataid[g], hfield_size, hfield_nrow, hfield_ncol, hfield_adr,
                                hfield_data,
                            )  # fmt: skip
                    if ti.static(SPHERE in kinds):
                        if t == SPHERE:
                            x = ray_shapes.ray_sphere(p, v, size[0] * size[0], -shift)
                    if ti.static(CAPSULE in kinds):
                        if t == CAPSULE:
                            x = ray_shapes.ray_capsule(p, v, size, -shift)
                    if ti.static(ELLIPSOID in kinds):
                        if t == ELLIPSOID:
                            x = ray_shapes.ray_ellipsoid(p, v, size, -shift)
                    if ti.static(CYLINDER in kinds):
                        if t == CYLINDER:
                            x = ray_shapes.ray_cylinder(p, v, size, -shift)
                    if ti.static(BOX in kinds):
                        if t == BOX:
                            x = ray_shapes.ray_box(p, v, size, -shift)
                    if ti.static(MESH in kinds):
                        if t == MESH:
                            x = ray_shapes.ray_mesh(
                                p, v, -shift, size, geom_dataid[g], mesh_vertadr, mesh_faceadr, mesh_facenum,
                                mesh_vert, mesh_face, ray_meshadr, ray_meshbox, ray_meshface,
                            )  # fmt: skip
                    if x < FAR:
                        x += shift
                        if x < best or (x == best and g < found):
                            best = x
                            found = g
        if found < 0:
            best = -1.0
        return best, found

    return cast


CAST = None  # set by cast_rays()
_made = {}


def _cast_rays(
    nworld: ti.i32, nray: ti.i32, groups: ti.i32, flg_static: ti.i32, bodyexclude: ti.i32, cutoff: FP,
    ngeom: ti.i32, nlinear: ti.i32, nleaf: ti.i32, ray_pnt: F, ray_vec: F, ray_order: I, ray_class: I,
    ray_leaf: I, ray_node: F, geom_type: I, geom_bodyid: I, geom_dataid: I, geom_size: F, geom_rbound: F,
    geom_xpos: F, geom_xmat: F, mesh_vertadr: I, mesh_faceadr: I, mesh_facenum: I, mesh_vert: F, mesh_face: I,
    ray_meshadr: I, ray_meshbox: F, ray_meshface: I, hfield_size: F, hfield_nrow: I, hfield_ncol: I,
    hfield_adr: I, hfield_data: F, ray_dist: F, ray_geomid: I,
):  # fmt: skip
    """Distance and geom of nray rays in each world, parallel over rays."""
    ti.loop_config(serialize=SERIAL)
    for unit in range(nworld * nray * SPREAD):
        if unit % SPREAD == 0:
            r = unit // SPREAD
            x, g = CAST(
                r // nray, ld3(ray_pnt, r), ld3(ray_vec, r), groups, flg_static, bodyexclude, cutoff, ngeom,
                nlinear, nleaf, ray_order, ray_class, ray_leaf, ray_node, geom_type, geom_bodyid, geom_dataid,
                geom_size, geom_rbound, geom_xpos, geom_xmat, mesh_vertadr, mesh_faceadr, mesh_facenum,
                mesh_vert, mesh_face, ray_meshadr, ray_meshbox, ray_meshface, hfield_size, hfield_nrow,
                hfield_ncol, hfield_adr, hfield_data,
            )  # fmt: skip
            ray_dist[r] = x
            ray_geomid[r] = g


def cast_rays(kinds):
    """The kernel that casts a list of rays at geoms of these types (a tuple)."""
    if kinds not in _made:
        func = types.FunctionType(_cast_rays.__code__, dict(globals(), CAST=caster(kinds)), "cast_rays")
        func.__annotations__ = _cast_rays.__annotations__
        func.__qualname__ = func.__name__
        func.__doc__ = _cast_rays.__doc__
        _made[kinds] = kernel(func)
    return _made[kinds]
