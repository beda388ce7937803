"""A tree of boxes over the geoms of each world, for rays: geoms sorted along a space-filling curve are the leaves of a
heap, whose node k has the children 2 k and 2 k + 1; world w's nodes start at 2 w nleaf, its root is node 1.

After T. Karras, "Thinking Parallel, Part III: Tree Construction on the GPU" (2012), with a complete tree in place of
one that follows the keys: it needs no pointers, and stray geoms inflate only the nodes above them.
"""

from ..constants import CAPSULE, CYLINDER, HFIELD, MESH, SPHERE
from ..sleep.awake import is_geom_gone
from ..sort import sort_all
from ..types import *
from .ray_shapes import FAR

NSAMPLE = 64  # geoms looked at to find the middle and spread of the scene
GROW = 1e-6  # boxes grow by this share of their place and size: rays along a side must not be lost to rounding


@kernel
def key_geoms(m, d, nbit: ti.i32, iray: ti.i32):
    """Keys along the curve, nbit bits for each axis below the world's number; parallel over geoms."""
    total = d.nworld * d.nbounded
    n = ti.min(NSAMPLE, total)
    ti.loop_config(serialize=SERIAL)
    for axis in range(3):
        at = (NSAMPLE + 2) * axis
        for s in range(n):
            t = ti.cast(ti.cast(s, ti.i64) * total // n, ti.i32)
            x = narrow(d.geom_xpos[t // d.nbounded * m.ngeom + m.ray_order[d.nplane + t % d.nbounded]])[axis]
            k = s
            while k > 0 and d.ray_sample[at + k - 1] > x:
                d.ray_sample[at + k] = d.ray_sample[at + k - 1]
                k -= 1
            d.ray_sample[at + k] = x
        d.ray_sample[at + NSAMPLE] = d.ray_sample[at + n // 2]
        d.ray_sample[at + NSAMPLE + 1] = d.ray_sample[at + ti.max(0, n - 1 - n // 10)] - d.ray_sample[at + n // 10]
    ti.loop_config(serialize=SERIAL)
    for t in range(total):
        g = m.ray_order[d.nplane + t % d.nbounded]
        w = t // d.nbounded
        spread = 1e-6
        for axis in ti.static(range(3)):
            spread = ti.max(spread, d.ray_sample[(NSAMPLE + 2) * axis + NSAMPLE + 1])
        key = w
        place = ti.Vector([0, 0, 0])
        for axis in ti.static(range(3)):
            u = (narrow(d.geom_xpos[w * m.ngeom + g])[axis] - d.ray_sample[(NSAMPLE + 2) * axis + NSAMPLE]) / spread
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
        d.sort_key[t] = key
        d.sort_value[t] = g
        if t == 0:
            d.counts[iray] = total


@kernel
def sort_geoms(m, d):
    """Order along the curve, by one thread (a GPU: kernels/sort.py, radix_pass)."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        sort_all(m, d, d.nworld * d.nbounded, d.raybits, 0)


@kernel
def box_leaves(m, d):
    """Geoms and world boxes of the leaves, parallel over leaves."""
    ti.loop_config(serialize=SERIAL)
    for unit in range(d.nworld * d.nleaf):
        w = unit // d.nleaf
        k = unit % d.nleaf
        node = 2 * w * d.nleaf + d.nleaf + k
        g = -1
        lo = vec3(FAR, FAR, FAR)
        hi = vec3(-FAR, -FAR, -FAR)
        if k < d.nbounded:
            g = d.sort_value[d.rayhalf * d.npairmax + w * d.nbounded + k]
            if is_geom_gone(m, d, w, g):
                g = -1
        if g >= 0:
            t = m.geom_type[g]
            i = w * m.ngeom + g
            size = narrow(m.geom_size[i, g])
            center = vec3(0.0, 0.0, 0.0)
            half = size
            if t == SPHERE:
                half = vec3(size[0], size[0], size[0])
            elif t == CAPSULE:
                half = vec3(size[0], size[0], size[0] + size[1])
            elif t == CYLINDER:
                half = vec3(size[0], size[0], size[1])
            elif t == HFIELD:
                h = m.geom_dataid[g]
                top = narrow(m.hfield_size[h])[2]
                base = narrow(m.hfield_size[h])[3]
                half = vec3(narrow(m.hfield_size[h])[0], narrow(m.hfield_size[h])[1], 0.5 * (top + base))
                center[2] = 0.5 * (top - base)
            elif t == MESH:
                center = vec3(m.geom_aabb[g][0], m.geom_aabb[g][1], m.geom_aabb[g][2])
                half = vec3(m.geom_aabb[g][3], m.geom_aabb[g][4], m.geom_aabb[g][5])
            R = narrow(d.geom_xmat[i])
            x = narrow(d.geom_xpos[i]) + R @ center
            extent = ti.abs(R) @ half
            extent += GROW * (extent.max() + ti.abs(x))
            lo = x - extent
            hi = x + extent
        d.ray_leaf[unit] = g
        d.ray_node[node, 0] = lo
        d.ray_node[node, 1] = hi


@func
def join(m, d, at, node):
    """Box of a node from those of its children; at: the world's first node."""
    d.ray_node[at + node, 0] = ti.min(d.ray_node[at + 2 * node, 0], d.ray_node[at + 2 * node + 1, 0])
    d.ray_node[at + node, 1] = ti.max(d.ray_node[at + 2 * node, 1], d.ray_node[at + 2 * node + 1, 1])


@kernel
def join_level(m, d, width: ti.i32):
    """Boxes of the nodes of one level, parallel over nodes."""
    ti.loop_config(serialize=SERIAL)
    for unit in range(d.nworld * width):
        join(m, d, 2 * (unit // width) * d.nleaf, width + unit % width)


@kernel
def join_all(m, d):
    """Boxes of all inner nodes, parallel over worlds."""
    ti.loop_config(serialize=SERIAL)
    for w in range(d.nworld):
        for k in range(d.nleaf - 1):
            join(m, d, 2 * w * d.nleaf, d.nleaf - 1 - k)
