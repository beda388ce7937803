"""Where the parts of a worker's scratch memory (memory.py) lie, and how large it is: plain numbers, without Taichi."""

FIRST = 8  # vertices before the polytope's: the simplex, and the tetrahedron that is searched
# of a vertex: the difference, the points of A and B; the points' numbers on polyhedra
DIFFERENCE, POINT, VERTEX_F, VERTEX_I = 0, 3, 9, 2
# of a face: the origin's projection and its squared length; the corners in BITS each, what is across the three edges
# (4 * neighbour + that one's edge), the place in the list of candidates, OUT if it is none, REMOVED if it was removed
FOOT, DIST2, FACE_F = 0, 3, 4
CORNERS, ACROSS, PLACE, FACE_I = 0, 1, 4, 5
OUT, REMOVED = -1, -2
BITS = 10  # three corners fit into an integer, and MAX_ITERATIONS (stages/narrowphase.py) keeps below it
SPARE = 8  # entries of the stack and of the list of edges beyond the number of faces
# of a shape: rotation, position, size, radius of a round shape, the same or 0 for the shape's core, inflation,
# upper corners of a prism, its bottom
ROT, POS, SIZE, RADIUS, ROUND, INFLATE, TOP, BOTTOM, SHAPE_F = 0, 9, 12, 15, 16, 17, 18, 27, 28
# type, first vertex, vertices, graph (-1: none), where climbing starts, the vertex found last, mesh
TYPE, VERTADR, VERTNUM, GRAPHADR, HINT, FOUND, DATA, SHAPE_I = range(8)
# lists for several contacts, each starting at that many points for each corner of the largest polygon: normals of both
# shapes' faces, or directions of edges, and their ends; both shapes' faces; the polygon that is cut, what is left of it
NORMALS, ENDS, FACES, POLYGON, CUT, POINTS = 0, 2, 3, 5, 7, 9
CAP_CORNERS = 8  # of a cylinder's cap, which counts as a polygon
LISTS_I = 2  # numbers of both shapes' faces


def scratch_size(niter, npoly):
    """Numbers and integers of a worker's memory for this many iterations and corners of a mesh's polygon."""
    nvert, nface = niter + FIRST + 5, 2 * niter + 12
    size_f = VERTEX_F * nvert + FACE_F * nface + 2 * SHAPE_F
    size_i = VERTEX_I * nvert + (FACE_I + 4) * nface + 2 * SPARE + 4 + 2 * SHAPE_I
    return size_f + 3 * POINTS * npoly, size_i + LISTS_I * npoly
