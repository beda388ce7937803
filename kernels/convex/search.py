"""The state of the search for distance and depth of two convex shapes, and how it starts."""

from ..constants import BOX, CAPSULE, HFIELD, MESH, SPHERE
from ..rotation import at3
from ..wide import *
from .gjk import FAR, ROUNDING
from .memory import BOTTOM, INFLATE, POS, RADIUS, ROUND, TOP, shape_f, type_of

# what the next support point is for; START, REDUCE and ENDED need none
START, NEAREST, REDUCE, ENDED, SEARCH, BUILD, EXPAND, DONE = range(8)
ivec3 = ti.types.vector(3, ti.i32)


@ti.dataclass
class Search:
    # the question, in which nothing changes
    cutoff: FP  # distances above it need not be known; 0: only overlap counts
    half1: FP  # inflation of the shapes
    half2: FP
    round1: bool  # spheres and capsules
    round2: bool
    flat: bool  # both shapes are polyhedra, not inflated
    x1: vec3  # where the shapes are
    x2: vec3
    # the answer
    dist: FP
    p1: vec3  # the nearest points, or those of deepest penetration
    p2: vec3
    corner: ivec3  # corners of the polytope's face they lie on; -1: none
    # the turn
    phase: ti.i32
    ask: bool  # a support point is wanted:
    at: ti.i32  # for this vertex
    direction: vec3  # in this direction
    k: ti.i32  # iterations
    size: FP  # of the Minkowski difference, as far as it was seen
    failed: bool  # rounding spoilt the polytope
    ntry: ti.i32  # starts
    # GJK
    core: bool  # round shapes are points and segments
    exact: bool  # the distance is wanted, not only whether the shapes overlap
    shortcut: bool  # a tetrahedron is searched for the origin
    reach: FP  # distance of what is searched, above which it need not be known
    n: ti.i32  # vertices of the simplex
    x: vec3  # its point nearest to the origin
    w: vec4  # weights of its vertices there
    face: ti.i32  # the face that is asked about: of the tetrahedron, of the polytope
    near: FP  # distance that GJK ended with
    most: FP  # no depth is larger: how far the difference reaches beyond the origin in some direction
    # EPA
    kind: ti.i32  # vertices of the simplex that the polytope starts from
    axis: vec3  # its first edge
    side: vec3  # a direction off the segment or triangle
    nvert: ti.i32  # vertices of the polytope
    ncandidate: ti.i32  # lengths of the lists of candidates and free places
    nfree: ti.i32
    nface: ti.i32  # places of faces in use or free
    lower2: FP  # square of the least depth there may be
    upper: FP  # the largest one
    foot: vec3  # the origin's projection on the nearest face
    foot2: FP  # its squared length
    own: FP  # how far the difference reaches beyond the origin that way
    held: ivec3  # corners of the face, and the way, of the least such
    held_foot: vec3


@func
def center(m, d, mem: ti.template(), i):
    """Where the search starts: a geom's position, the mean of a prism's corners."""
    f = shape_f(mem, i)
    x = at3(d.ccd_f, f + POS)
    if type_of(m, d, mem, i) == HFIELD:
        x = vec3(0.0, 0.0, 0.0)
        for k in range(6):
            p = at3(d.ccd_f, f + TOP + 3 * (k % 3))
            if k < 3:
                p[2] = d.ccd_f[f + BOTTOM]
            x += p
        x *= FP(1.0 / 6.0)
    return x


@ti.func
def is_round(gtype):
    return gtype == SPHERE or gtype == CAPSULE


@ti.func
def is_flat(gtype):
    return gtype == BOX or gtype == MESH or gtype == HFIELD


@func
def search_of(m, d, mem: ti.template(), cutoff, half1, half2):
    """The state at first."""
    s = Search(cutoff=cutoff, half1=half1, half2=half2)
    type1 = type_of(m, d, mem, 0)
    type2 = type_of(m, d, mem, 1)
    s.round1 = is_round(type1)
    s.round2 = is_round(type2)
    s.flat = is_flat(type1) and is_flat(type2) and half1 == 0.0 and half2 == 0.0
    s.x1 = center(m, d, mem, 0)
    s.x2 = center(m, d, mem, 1)
    s.core = s.round1 or s.round2
    s.dist = FAR
    s.p1 = s.x1
    s.p2 = s.x2
    s.w = vec4(1.0, 0.0, 0.0, 0.0)
    s.corner = ivec3(-1, -1, -1)
    s.ntry = 1
    s.phase = START
    return s


@func
def thickness(m, d, mem: ti.template(), s: ti.template(), i):
    """What a round shape, inflated, has around its core; 0 of others."""
    thick = d.ccd_f[shape_f(mem, i) + RADIUS] + (s.half1 if i == 0 else s.half2)
    return thick if (s.round1 if i == 0 else s.round2) else 0.0


@func
def touch_of(m, s: ti.template()):
    """Distance up to which shapes are taken to touch."""
    touch = m.opt.ccd_tolerance
    if ti.static(FP == ti.f32):
        touch = ti.max(touch, 2.0 * ROUNDING * s.size)
    return touch


@func
def start(m, d, mem: ti.template(), s: ti.template()):
    """Starts GJK: with the cores of round shapes, or at full size; in f32 also again, from elsewhere."""
    s.reach = s.cutoff
    for i in range(2):
        f = shape_f(mem, i)
        d.ccd_f[f + ROUND] = 0.0 if s.core else d.ccd_f[f + RADIUS]
        inflation = ti.max(s.half1 if i == 0 else s.half2, 0.0)
        d.ccd_f[f + INFLATE] = 0.0 if s.core and (s.round1 if i == 0 else s.round2) else inflation
        if s.core:
            s.reach += thickness(m, d, mem, s, i)
    s.exact = s.reach > 0.0
    s.shortcut = not s.exact
    s.x = s.x1 - s.x2
    if ti.static(FP == ti.f32):
        if s.ntry > 1:
            t = s.ntry - 1
            s.x += 0.01 * s.size * vec3(t & 1, t >> 1 & 1, 1 - t // 2)
    s.n = 0
    s.k = 0
    s.most = FAR
    s.failed = False
    s.phase = NEAREST
