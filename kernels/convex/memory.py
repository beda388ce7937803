"""The scratch memory of a worker: its parts in `ccd_f`, numbers, and `ccd_i`, integers, and how they are read.

It holds the two shapes of the worker's pair (convex/support.py); vertices of their Minkowski difference A - B, each
with the points of A and B it is the difference of; faces of a polytope of such vertices (convex/epa.py); and, with the
flag multiccd, lists of points (convex/multiccd.py). A `Memory` says where these parts start.
"""

from ..rotation import at3
from ..wide import *
from .sizes import *


@ti.dataclass
class Memory:
    vertices_f: ti.i32
    vertices_i: ti.i32
    faces_f: ti.i32
    faces_i: ti.i32
    candidates: ti.i32  # faces that may be the nearest
    free: ti.i32  # places of faces that were removed
    stack: ti.i32  # edges to be crossed; later, places of new faces
    hole: ti.i32  # edges around the faces that were removed
    order: ti.i32  # four vertices: the tetrahedron that is searched
    shapes_f: ti.i32
    shapes_i: ti.i32
    lists_f: ti.i32
    lists_i: ti.i32


@func
def nfacemax(m, d):
    """Faces that can exist at once: each expansion adds two."""
    return 2 * d.niter + 12


@func
def memory_of(m, d, worker):
    """Where the parts of a worker's memory start."""
    nvert = d.niter + FIRST + 5
    nface = nfacemax(m, d)
    mem = Memory()
    mem.vertices_f = worker * d.nccd_f
    mem.faces_f = mem.vertices_f + VERTEX_F * nvert
    mem.shapes_f = mem.faces_f + FACE_F * nface
    mem.lists_f = mem.shapes_f + 2 * SHAPE_F
    mem.vertices_i = worker * d.nccd_i
    mem.faces_i = mem.vertices_i + VERTEX_I * nvert
    mem.candidates = mem.faces_i + FACE_I * nface
    mem.free = mem.candidates + nface
    mem.stack = mem.free + nface
    mem.hole = mem.stack + nface + SPARE
    mem.order = mem.hole + nface + SPARE
    mem.shapes_i = mem.order + 4
    mem.lists_i = mem.shapes_i + 2 * SHAPE_I
    return mem


@ti.func
def put3(a: ti.template(), i, v):
    a[i] = v[0]
    a[i + 1] = v[1]
    a[i + 2] = v[2]


# ---- vertices


@func
def vertex(m, d, mem: ti.template(), k):
    """Vertex k of the Minkowski difference."""
    return at3(d.ccd_f, mem.vertices_f + VERTEX_F * k)


@ti.func
def point_adr(mem: ti.template(), k, s):
    """Where the point of shape s that belongs to vertex k stands in ccd_f."""
    return mem.vertices_f + VERTEX_F * k + POINT + 3 * s


@func
def point(m, d, mem: ti.template(), k, s):
    """The point of shape s that belongs to vertex k."""
    return at3(d.ccd_f, point_adr(mem, k, s))


@ti.func
def number_adr(mem: ti.template(), k, s):
    """Where the number of that point on its polyhedron stands in ccd_i."""
    return mem.vertices_i + VERTEX_I * k + s


@func
def number(m, d, mem: ti.template(), k, s):
    """The number that this point has on its polyhedron."""
    return d.ccd_i[number_adr(mem, k, s)]


@func
def copy_vertex(m, d, mem: ti.template(), source, target):
    for c in range(VERTEX_F):
        d.ccd_f[mem.vertices_f + VERTEX_F * target + c] = d.ccd_f[mem.vertices_f + VERTEX_F * source + c]
    for s in range(VERTEX_I):
        d.ccd_i[number_adr(mem, target, s)] = number(m, d, mem, source, s)


# ---- faces


@ti.func
def face_f(mem: ti.template(), face):
    return mem.faces_f + FACE_F * face


@ti.func
def face_i(mem: ti.template(), face):
    return mem.faces_i + FACE_I * face


@func
def corner_of(m, d, mem: ti.template(), face, e):
    """Number of a face's corner e in the list of vertices."""
    return d.ccd_i[face_i(mem, face) + CORNERS] >> BITS * e & (1 << BITS) - 1


# ---- shapes


@ti.func
def shape_f(mem: ti.template(), s):
    return mem.shapes_f + SHAPE_F * s


@ti.func
def shape_i(mem: ti.template(), s):
    return mem.shapes_i + SHAPE_I * s


@func
def type_of(m, d, mem: ti.template(), s):
    """Type of geom of shape s."""
    return d.ccd_i[shape_i(mem, s) + TYPE]


# ---- lists for several contacts


@func
def list_adr(m, d, mem: ti.template(), which):
    """Where the list NORMALS, ENDS, FACES, POLYGON or CUT starts; of NORMALS and FACES + 1 that of shape 1."""
    return mem.lists_f + 3 * d.npoly * which


@func
def item(m, d, adr, k):
    """Point k of the list that starts at adr."""
    return at3(d.ccd_f, adr + 3 * k)


@func
def put_item(m, d, adr, k, p):
    put3(d.ccd_f, adr + 3 * k, p)


@func
def numbers_adr(m, d, mem: ti.template(), s):
    """Where the numbers of shape s's faces start in ccd_i."""
    return mem.lists_i + d.npoly * s
