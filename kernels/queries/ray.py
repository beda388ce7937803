"""The nearest geom that a ray meets, one thread per ray. After MuJoCo 3.4.0's engine_ray.c (Apache-2.0)."""

from tisim.device.specialise import specialise

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, PLANE, SPHERE
from ..sleep.awake import is_geom_gone
from ..types import *
from . import ray_shapes
from .ray_shapes import FAR, enter_box, next_node, reciprocal


@func
def counts(m, d, w, g, p, groups, flg_static, bodyexclude):
    """Whether geom g of world w is asked about: it is there, its group, its body, its bounding sphere.

    p  the ray's start from its place;  cutoff  spheres farther than this count only on bodies none of whose geoms can
    collide.
    """
    kind = m.ray_class[g]
    return (
        kind >= 0
        and not is_geom_gone(m, d, w, g)
        and groups >> (kind & 7) & 1 == 1
        and (flg_static != 0 or kind & 8 == 0)
        and m.geom_bodyid[g] != bodyexclude
        and (kind & 16 == 0 or p.norm() <= d.cutoff + m.geom_rbound[w * m.ngeom + g, g])
    )


def shape_caster(kinds):
    """The Taichi function `ray_geom` for geoms of these types (a tuple): no other shape is compiled."""

    @func
    def ray_geom(m, d, i, g, p, vec):
        """Where the ray p + x vec, p from the place of geom g, meets it, or FAR; i: the geom with its world."""
        t = m.geom_type[g]
        size = narrow(m.geom_size[i, g])
        v = narrow(d.geom_xmat[i]).transpose() @ vec
        q = narrow(d.geom_xmat[i]).transpose() @ p
        shift = 0.0
        if ti.static(FP != ti.f64):
            shift = -q.dot(v) / v.dot(v)
            q += shift * v
        x = FAR
        if ti.static(PLANE in kinds):
            if t == PLANE:
                x = ray_shapes.ray_plane(q, v, size, -shift)
        if ti.static(HFIELD in kinds):
            if t == HFIELD:
                x = ray_shapes.ray_hfield(m, d, q, v, -shift, m.geom_dataid[g])
        if ti.static(SPHERE in kinds):
            if t == SPHERE:
                x = ray_shapes.ray_sphere(q, v, size[0] * size[0], -shift)
        if ti.static(CAPSULE in kinds):
            if t == CAPSULE:
                x = ray_shapes.ray_capsule(q, v, size, -shift)
        if ti.static(ELLIPSOID in kinds):
            if t == ELLIPSOID:
                x = ray_shapes.ray_ellipsoid(q, v, size, -shift)
        if ti.static(CYLINDER in kinds):
            if t == CYLINDER:
                x = ray_shapes.ray_cylinder(q, v, size, -shift)
        if ti.static(BOX in kinds):
            if t == BOX:
                x = ray_shapes.ray_box(q, v, size, -shift)
        if ti.static(MESH in kinds):
            if t == MESH:
                x = ray_shapes.ray_mesh(m, d, q, v, -shift, size, m.geom_dataid[g])
        if x < FAR:
            x += shift
        return x

    return ray_geom


RAY_GEOM = None  # set by caster()


def _cast(m, d, w, pnt, vec, groups, flg_static, bodyexclude):
    """First geom of world w that the ray pnt + x vec meets: x and the geom, -1 and -1 if there is none.

    groups       bit k: geoms of group k count;  flg_static  1: static geoms count;  bodyexclude  body left out.
    nlinear      entries of ray_order tried one by one: planes, and all others where no tree was built.
    nleaf        leaves of a world's tree (kernels/queries/ray_tree.py), a power of 2; 0: none was built.
    Of equally near geoms the first wins.
    """
    best = FAR
    found = -1
    per_vec = reciprocal(vec)
    k = 0
    node = ti.select(d.nleaf > 0, 1, 0)
    trail = 0
    while k < d.nlinear or node > 0:
        g = -1
        if k < d.nlinear:
            g = m.ray_order[k]
            k += 1
        else:
            t1 = FAR
            t2 = FAR
            if node >= d.nleaf:
                g = d.ray_leaf[w * d.nleaf + node - d.nleaf]
            else:
                at = 2 * (w * d.nleaf + node)
                t1 = enter_box(pnt, per_vec, 0.0, best, d.ray_node, at)
                t2 = enter_box(pnt, per_vec, 0.0, best, d.ray_node, at + 1)
            node, trail = next_node(node, trail, t1, t2)
        if g >= 0:
            i = w * m.ngeom + g
            p = pnt - narrow(d.geom_xpos[i])
            if counts(m, d, w, g, p, groups, flg_static, bodyexclude):
                x = RAY_GEOM(m, d, i, g, p, vec)
                if x < best or (x == best and g < found):
                    best = x
                    found = g
    if found < 0:
        best = -1.0
    return best, found


def caster(kinds):
    """The Taichi function `cast` for models whose geoms have these types (a tuple)."""
    return func(specialise(_cast, "cast", RAY_GEOM=shape_caster(kinds)))


CAST = None  # set by cast_rays()
_made = {}


def _cast_rays(m, d, groups: ti.i32, flg_static: ti.i32, bodyexclude: ti.i32):
    """Distance and geom of nray rays in each world, parallel over rays."""
    ti.loop_config(serialize=SERIAL)
    for unit in range(d.nworld * d.nray * SPREAD):
        if unit % SPREAD == 0:
            r = unit // SPREAD
            x, g = CAST(m, d, r // d.nray, d.ray_pnt[r], d.ray_vec[r], groups, flg_static, bodyexclude)
            d.ray_dist[r] = x
            d.ray_geomid[r] = g


def cast_rays(kinds):
    """The kernel that casts a list of rays at geoms of these types (a tuple)."""
    if kinds not in _made:
        _made[kinds] = kernel(specialise(_cast_rays, "cast_rays", CAST=caster(kinds)))
    return _made[kinds]
