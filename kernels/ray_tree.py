"""A tree of boxes over the geoms of each world, for rays: geoms sorted along a space-filling curve are the leaves of a
heap, whose node k has the children 2 k and 2 k + 1; world w's nodes start at 2 w nleaf, its root is node 1.

After T. Karras, "Thinking Parallel, Part III: Tree Construction on the GPU" (2012), with a complete tree in place of
one that follows the keys: it needs no pointers, and stray geoms inflate only the nodes above them.
"""

from tisim.kernels.constants import CAPSULE, CYLINDER, HFIELD, MESH, SPHERE
from tisim.kernels.ray_shapes import FAR
from tisim.kernels.sort import sort_all
from tisim.kernels.types import *

NSAMPLE = 64  # geoms looked at to find the middle and spread of the scene
GROW = 1e-6  # boxes grow by this share of their place and size: rays along a side must not be lost to rounding


@kernel
def key_geoms(
    nworld: ti.i32, ngeom: ti.i32, nplane: ti.i32, nbounded: ti.i32, npairmax: ti.i32, nbit: ti.i32, iray: ti.i32,
    ray_order: I, geom_xpos: F, ray_sample: F, counts: I, sort_key: I, sort_value: I,
):  # fmt: skip
    """Keys along the curve, nbit bits for each axis below the world's number; parallel over geoms."""
    total = nworld * nbounded
    n = ti.min(NSAMPLE, total)
    ti.loop_config(serialize=SERIAL)
    for axis in range(3):
        at = (NSAMPLE + 2) * axis
        for s in range(n):
            t = ti.cast(ti.cast(s, ti.i64) * total // n, ti.i32)
            x = geom_xpos[3 * (t // nbounded * ngeom + ray_order[nplane + t % nbounded]) + axis]
            k = s
            while k > 0 and ray_sample[at + k - 1] > x:
                ray_sample[at + k] = ray_sample[at + k - 1]
                k -= 1
            ray_sample[at + k] = x
        ray_sample[at + NSAMPLE] = ray_sample[at + n // 2]
        ray_sample[at + NSAMPLE + 1] = ray_sample[at + ti.max(0, n - 1 - n // 10)] - ray_sample[at + n // 10]
    ti.loop_config(serialize=SERIAL)
    for t in range(total):
        g = ray_order[nplane + t % nbounded]
        w = t // nbounded
        spread = 1e-6
        for axis in ti.static(range(3)):
            spread = ti.max(spread, ray_sample[(NSAMPLE + 2) * axis + NSAMPLE + 1])
        key = w
        place = ti.Vector([0, 0, 0])
        for axis in ti.static(range(3)):
            u = (geom_xpos[3 * (w * ngeom + g) + axis] - ray_sample[(NSAMPLE + 2) * axis + NSAMPLE]) / spread
            u = 0.5 + 0.5 * u / (1.0 + ti.abs(u))  # monotone, never out of range, fine in the middle
            place[axis] = ti.max(0, ti.min((1 << nbit) - 1, ti.cast(u * (1 << nbit), ti.i32)))
        for b in range(nbit):
            shift = nbit - 1 - b
            key = (
                (key << 3)
                | (((place[0] >> shift) & 1) << 2)
                | (((place[1] >> shift) & 1) << 1)
                | ((place[2] >> shift) & 1)
            )
        sort_key[t] = key
        sort_value[t] = g
        if t == 0:
            counts[iray] = total


@kernel
def sort_geoms(
    nworld: ti.i32, nbounded: ti.i32, npairmax: ti.i32, raybits: ti.i32, digit: ti.i32, sort_key: I, sort_value: I,
    sort_count: I,
):  # fmt: skip
    """Order along the curve, by one thread (a GPU: kernels/sort.py, radix_pass)."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        sort_all(nworld * nbounded, npairmax, raybits, digit, 0, sort_key, sort_value, sort_count)


@kernel
def box_leaves(
    nworld: ti.i32, ngeom: ti.i32, nbounded: ti.i32, npairmax: ti.i32, nleaf: ti.i32, rayhalf: ti.i32, sort_value: I,
    geom_type: I, geom_size: F, geom_aabb: F, geom_dataid: I, geom_xpos: F, geom_xmat: F, hfield_size: F,
    ray_leaf: I, ray_node: F,
):  # fmt: skip
    """Geoms and world boxes of the leaves, parallel over leaves."""
    ti.loop_config(serialize=SERIAL)
    for unit in range(nworld * nleaf):
        w = unit // nleaf
        k = unit % nleaf
        node = 2 * w * nleaf + nleaf + k
        g = -1
        lo = vec3(FAR, FAR, FAR)
        hi = vec3(-FAR, -FAR, -FAR)
        if k < nbounded:
            g = sort_value[rayhalf * npairmax + w * nbounded + k]
            t = geom_type[g]
            size = ld3(geom_size, g)
            center = vec3(0.0, 0.0, 0.0)
            half = size
            if t == SPHERE:
                half = vec3(size[0], size[0], size[0])
            elif t == CAPSULE:
                half = vec3(size[0], size[0], size[0] + size[1])
            elif t == CYLINDER:
                half = vec3(size[0], size[0], size[1])
            elif t == HFIELD:
                h = geom_dataid[g]
                top = hfield_size[4 * h + 2]
                base = hfield_size[4 * h + 3]
                half = vec3(hfield_size[4 * h], hfield_size[4 * h + 1], 0.5 * (top + base))
                center[2] = 0.5 * (top - base)
            elif t == MESH:
                center = vec3(geom_aabb[6 * g], geom_aabb[6 * g + 1], geom_aabb[6 * g + 2])
                half = vec3(geom_aabb[6 * g + 3], geom_aabb[6 * g + 4], geom_aabb[6 * g + 5])
            i = w * ngeom + g
            R = ldm(geom_xmat, i)
            x = ld3(geom_xpos, i) + R @ center
            extent = ti.abs(R) @ half
            extent += GROW * (extent.max() + ti.abs(x))
            lo = x - extent
            hi = x + extent
        ray_leaf[unit] = g
        st3(ray_node, 2 * node, lo)
        st3(ray_node, 2 * node + 1, hi)


@ti.func
def join(at, node, ray_node: ti.template()):
    """Box of a node from those of its children; at: the world's first node."""
    a = 2 * (at + 2 * node)
    b = 2 * (at + 2 * node + 1)
    st3(ray_node, 2 * (at + node), ti.min(ld3(ray_node, a), ld3(ray_node, b)))
    st3(ray_node, 2 * (at + node) + 1, ti.max(ld3(ray_node, a + 1), ld3(ray_node, b + 1)))


@kernel
def join_level(nworld: ti.i32, nleaf: ti.i32, width: ti.i32, ray_node: F):
    """Boxes of the nodes of one level, parallel over nodes."""
    ti.loop_config(serialize=SERIAL)
    for unit in range(nworld * width):
        join(2 * (unit // width) * nleaf, width + unit % width, ray_node)


@kernel
def join_all(nworld: ti.i32, nleaf: ti.i32, ray_node: F):
    """Boxes of all inner nodes, parallel over worlds."""
    ti.loop_config(serialize=SERIAL)
    for w in range(nworld):
        for k in range(nleaf - 1):
            join(2 * w * nleaf, nleaf - 1 - k, ray_node)
