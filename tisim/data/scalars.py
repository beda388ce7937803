"""Every number that a kernel asks for by name, declared once, and where any name of a kernel is declared.

A kernel's parameters are arrays or numbers of the model `m` (mjModel's arrays, tables made from them, options, sizes)
or of the data `d` (tisim/data/arrays/, lengths, and what the caller passes to `launch.run`); no name is in both.
"""

import dataclasses
import functools

from tisim.device import by_world, flow
from tisim.model.device_model import DERIVED
from tisim.model.fields import FIELDS
from tisim.model.tables import sensor

from .arrays import COUNTS, DATA
from .arrays.collision import SCALES
from .declare import CAPACITIES
from .following import FOLLOWING
from .varied import BY_PLACE, VARIABLE, argument


@dataclasses.dataclass(frozen=True)
class Scalar:
    """One number: name, dtype "f" (running precision) or "i" (int32), source, meaning.

    source  "size" of the model, "option" in m.opt, "stat" in m.stat; "length" in the data; "call": what each launch
            passes to launch.run by name.
    """

    name: str
    dtype: str
    source: str
    doc: str


SCALARS = {}


def declare(source, rows):
    """Adds numbers given as (name, dtype, meaning)."""
    for name, dtype, doc in rows:
        if name in SCALARS:
            raise ValueError(f"{name} is declared twice")
        SCALARS[name] = Scalar(name, dtype, source, doc)


declare("size", [
    ("nq", "i", "numbers in qpos"),
    ("nv", "i", "dofs"),
    ("nbody", "i", "bodies, the world among them"),
    ("njnt", "i", "joints"),
    ("ngeom", "i", "geoms"),
    ("nsite", "i", "sites"),
    ("ncam", "i", "cameras"),
    ("nmocap", "i", "mocap bodies"),
    ("ntree", "i", "kinematic trees"),
    ("npair", "i", "pairs of geoms that the model lists"),
    ("nM", "i", "numbers of the inertia matrix by dof_Madr"),
    ("nlane", "i", "places for four numbers of the inertia matrices of trees that are alike"),
    ("nlanedof", "i", "places for four numbers of their dofs"),
    ("nC", "i", "numbers of the inertia matrix by M_rowadr"),
    ("nitem", "i", "geoms and bodies with many geoms: what has boxes"),
    ("hard", "i", "1: contacts are those of the second dynamics"),
    ("neq", "i", "equality constraints"),
    ("neqpose", "i", "those of type connect and weld"),
    ("neqjoint", "i", "those of joints"),
    ("neqtendon", "i", "those of tendons"),
    ("nfriction", "i", "dofs with friction loss"),
    ("nlimited", "i", "joints with limits"),
    ("ntie", "i", "tendons of two trees that can bind these"),
    ("nalways", "i", "static bodies that every step computes, where others sleep"),
    ("ntendon", "i", "tendons"),
    ("ntendonJ", "i", "entries of their Jacobians"),
    ("nu", "i", "actuators"),
    ("na", "i", "activations"),
    ("nmoment", "i", "entries of the actuators' moments"),
    ("njointact", "i", "actuators of joints"),
    ("ntendonact", "i", "actuators of tendons"),
    ("nsiteact", "i", "actuators of sites"),
    ("ncrankact", "i", "slider-cranks"),
    ("nadhesion", "i", "adhesion actuators"),
    ("nshaped", "i", "actuators that are muscles, or the user's"),
    ("nforcetendon", "i", "tendons whose actuators' total force is limited"),
    ("ndriven", "i", "dofs on which actuators can act"),
    ("nclamped", "i", "dofs where actuators compensate gravity, or their total force is limited"),
    ("nwrap", "i", "elements of their paths"),
    ("nfixed", "i", "fixed tendons"),
    ("nspatial", "i", "spatial tendons"),
    ("nheavytendon", "i", "tendons with armature"),
    ("nheavytree", "i", "trees that these join to"),
    ("nheavydof", "i", "dofs that they move"),
    ("nheavy", "i", "pairs of these dofs that M has a place for"),
    ("nspringy", "i", "tendons with springs or dampers"),
    ("npulled", "i", "dofs that these move"),
    ("ntendonfriction", "i", "tendons with friction loss"),
    ("ntendonlimited", "i", "tendons with limits"),
    ("nsensordata", "i", "numbers of all sensors"),
    *((f"n{name}", "i", doc) for name, (_, doc) in sensor.FAMILIES.items() if name != "tactile"),  # it counts vertices
    ("ncut", "i", "sensors with a cutoff"),
    ("nbound", "i", "pairs of a sensor and a tree that it names"),
    ("nsensed", "i", "bodies whose contacts are listed for sensors"),
    ("nranked", "i", "different pairs of geoms that the model lists"),
    ("npressed", "i", "bodies to which those of tactile sensors are welded"),
    ("ntactilevert", "i", "vertices of the meshes of all tactile sensors"),
])  # fmt: skip

declare("option", [
    ("timestep", "f", "[s]"),
    ("gravity_x", "f", "gravity along x [m/s2]"),
    ("gravity_y", "f", "along y"),
    ("gravity_z", "f", "along z"),
    ("wind_x", "f", "wind along x [m/s]"),
    ("wind_y", "f", "along y"),
    ("wind_z", "f", "along z"),
    ("magnetic_x", "f", "magnetic field along x [G]"),
    ("magnetic_y", "f", "along y"),
    ("magnetic_z", "f", "along z"),
    ("density", "f", "density of the medium [kg/m3]"),
    ("viscosity", "f", "its viscosity [kg/(m s)]"),
    ("disableflags", "i", "sum of mjtDisableBit"),
    ("disableactuator", "i", "bit k: actuators of group k are off"),
    ("cone", "i", "mjtCone"),
    ("jacobian", "i", "mjtJacobian"),
    ("impratio", "f", "impedance of friction over that of the normal"),
    ("iterations", "i", "most Newton iterations"),
    ("tolerance", "f", "scaled gradient and improvement at which the solver stops"),
    ("ls_iterations", "i", "most iterations of a line search"),
    ("noslip_iterations", "i", "most iterations of the noslip solver"),
    ("noslip_tolerance", "f", "scaled improvement at which it stops"),
    ("ls_tolerance", "f", "derivative at which a line search stops, relative to that at its start"),
    ("ccd_tolerance", "f", "distance at which GJK and EPA stop [m]"),
    ("sleep_tolerance", "f", "speed below which a tree is at rest [m/s]"),
    ("o_margin", "f", "margin of all pairs where `override` is set [m]"),
])  # fmt: skip

declare("stat", [("meaninertia", "f", "mean diagonal of the inertia matrix")])

declare("length", [("nworld", "i", "worlds"), *((name, "i", "capacity of lists") for name in CAPACITIES)])

# smooth dynamics, islands, the solver
declare("call", [
    ("implicit_damping", "i", "1: joint damping is integrated implicitly, 2: also where all of it is below 0"),
    ("with_medium", "i", "1: body_deriv holds the derivatives of the medium's forces"),
    ("with_constraints", "i", "1: there are contacts or rows, and inverse dynamics have found their forces"),
    ("with_bias", "i", "1: the derivatives have Coriolis forces"),
    ("maxdense", "i", "dofs of an island up to which its Hessian is dense"),
    ("maxfactor", "i", "nodes of an island up to which its Hessian gets a sparse factor"),
    ("maxjoined", "i", "the same of an island in which rows join trees"),
    ("maxchain", "i", "the same where they join them nearly as in a tree"),
    ("maxtied", "i", "nodes of a shared island that rows hold together up to which it gets an incomplete factor"),
    ("maxcon", "i", "contacts of an island above which all threads share it"),
    ("mindof", "i", "dofs of an island up to which one thread solves it in any case"),
    ("nhand", "i", "workers that a launch asks for"),
    ("nworker", "i", "how many of them may be in a team, which share an island"),
    ("abreast", "i", "1: islands of one tree with joints are solved side by side"),
    ("lanehess", "i", "numbers of their Hessian that a worker has room for"),
    ("laneaxes", "i", "numbers of their axes"),
    ("lanebody", "i", "numbers of their bodies' Hessians"),
    ("lanedof", "i", "dofs of theirs"),
    ("lanetree", "i", "numbers of four trees that a worker has room for"),
    ("patience", "i", "how often the first of a team looks for others that have not come"),
    ("npartmax", "i", "things that are sorted by owner at most"),
    ("npartblock", "i", "blocks of that sort: each is one thread's work"),
    ("parthalf", "i", "half that holds the sorted things"),
    ("treesize", "i", "trees in a block of a large island"),
    ("consize", "i", "contacts in a block"),
    ("rowsize", "i", "rows in a block"),
    ("dual", "i", "1: the forces of all rows are those of a dual solver"),
])  # fmt: skip

# sleeping
declare("call", [("acting", "i", "1: only contacts that make force wake, 0: all that are listed")])

# sensors
declare("call", [
    ("sensorstage", "i", "mjtStage whose sensors are made"),
    ("nreach", "i", "pairs of geoms that sensors of distances ask about"),
    ("nreachslot", "i", "slots that these need for contacts, in each world"),
    ("keep_energy", "i", "bit 0: the potential energy stays in d.energy, bit 1: the kinetic energy does"),
])  # fmt: skip

# the second dynamics, from m.lcp
declare("call", [
    ("lcp_part", "f", "part of an error that a substep takes back"),
    ("lcp_cfm", "f", "softness of all rows [1/(kg s)]"),
    ("lcp_substeps", "i", "substeps of a step"),
    ("lcp_sweeps", "i", "sweeps over the contacts in each"),
    ("lcp_friction", "i", "area of friction, see kernels/lcp/contacts.py"),
    ("lcp_eta", "i", "corners of a polygon of friction"),
    ("lcp_direct", "i", "contacts of the largest islands that are solved by pivots"),
    ("lcp_bounce", "f", "coefficient of restitution"),
    ("lcp_bounce_vel", "f", "normal velocity below which nothing bounces [m/s]"),
    ("lcp_slop", "f", "depth that is left, but for ease [m]"),
    ("lcp_ease", "f", "part of the push of manifolds that are less deep"),
    ("lcp_max_vel", "f", "greatest velocity by which depth is taken back [m/s]"),
    ("lcp_loads", "f", "times gravity: speed above which deep contacts do not begin with all of the last impulses [s]"),
    ("lcp_sor", "f", "relaxation of a visit"),
    ("lcp_share", "f", "part of the last impulses with which contacts begin"),
    ("lcp_reach", "f", "distance at which a contact is another one [m]"),
    ("lcp_rotation", "i", "how bodies are turned, see kernels/lcp/bodies.py"),
])  # fmt: skip

# collision: who takes part
declare("call", [
    ("nbox", "i", "items that have boxes"),
    ("ncol", "i", "the first of them, which enter the sweep: moving geoms, bodies with many geoms"),
    ("ngroup", "i", "bodies with many geoms"),
    ("nplane", "i", "planes: those that can collide; for rays, all"),
    ("nstatic", "i", "static geoms in the tree"),
    ("nlisted", "i", "different pairs that the model lists"),
    ("nexclude", "i", "excluded pairs of bodies"),
    ("filterparent", "i", "1: a body does not collide with its parent"),
    ("override", "i", "1: contact parameters of the options replace all others"),
    ("skin", "f", "by how much a search enlarges boxes, relative to their mean extent"),
    ("age", "i", "steps that the pairs of the last search served, 0: there was none"),
])  # fmt: skip

# collision: keys and their sort
declare("call", [
    ("nstripbit", "i", "bits of the strip in a key of the sweep"),
    ("nrowbit", "i", "bits of the row"),
    ("nlevelbit", "i", "bits of the place along the sweep"),
    ("entrybits", "i", "bits of such a key"),
    ("geombits", "i", "bits of a geom's number"),
    ("worldgeombits", "i", "bits of a world and geom"),
    ("digit", "i", "most bits that a pass of the sort takes"),
    ("nsortblock", "i", "blocks of a sort: each is one thread's work"),
    ("entryhalf", "i", "half of the sort's arrays that holds the sorted entries"),
    ("pairhalf", "i", "half that holds the sorted pairs"),
    ("half", "i", "half that a pass reads"),
    ("icount", "i", "place in counts of the length of what is sorted"),
    ("shift", "i", "first bit that a pass looks at"),
    ("nbit", "i", "bits that a pass takes; for rays, bits of each axis in a key"),
])  # fmt: skip

# convex shapes, distances
declare("call", [
    ("niter", "i", "most iterations of GJK and EPA"),
    ("npoly", "i", "corners of the largest face of a mesh, 0 without multiccd"),
    ("nccd", "i", "workers"),
    ("nccd_f", "i", "real numbers of each worker in ccd_f"),
    ("nccd_i", "i", "whole numbers of each worker in ccd_i"),
    ("nquery", "i", "pairs whose distance is asked for"),
    ("distmax", "f", "distance beyond which it need not be known [m]"),
])  # fmt: skip

# rays
declare("call", [
    ("nray", "i", "rays of each world"),
    ("groups", "i", "bit k: geoms of group k count"),
    ("flg_static", "i", "1: static geoms count"),
    ("bodyexclude", "i", "body whose geoms do not count, -1: none"),
    ("cutoff", "f", "distance of bounding spheres beyond which geoms do not count [m]"),
    ("nlinear", "i", "geoms of ray_order that are tried one by one"),
    ("nleaf", "i", "leaves of a world's tree, a power of two; 0: there is no tree"),
    ("nbounded", "i", "geoms in a tree"),
    ("raybits", "i", "bits of a geom's key"),
    ("rayhalf", "i", "half of the sort's arrays that holds the sorted keys"),
    ("iray", "i", "place in counts of the number of keys"),
    ("width", "i", "nodes of the level of a tree that is made"),
])  # fmt: skip

# pictures
declare("call", [
    ("picworld", "i", "world that is drawn"),
    ("npic", "i", "records"),
    ("npicplane", "i", "records that are planes"),
    ("npicinstance", "i", "geoms that a window draws by Vulkan"),
    ("picbody", "i", "body whose contacts are counted"),
    ("npicbatch", "i", "batches of geoms on a page"),
    ("picpainted", "i", "1: a page's geoms have the colours of a mode"),
    ("piccolor", "i", "how geoms are coloured: place in colors.MODES"),
    ("labelled", "i", "1: islands are known, or who sleeps with whom"),
    ("piclit", "i", "1: colours are not made light"),
    ("picalpha", "f", "opacity of what moves and of tendons, times their own"),
    ("picstatic", "i", "0: what cannot move is hidden"),
    ("picat", "i", "first record of what is listed"),
    ("picink", "i", "its colour, or the first of them, in pic_ink"),
    ("picwide", "f", "radius of its rods [m]"),
    ("piclong", "f", "length of a mark, an axis, a joint [m]; of an arrow by its force [m/N]"),
    ("picof", "i", "mjtObj of which frames are listed"),
    ("picsplit", "i", "1: normal forces and friction have arrows of their own"),
    ("npiccontact", "i", "contacts of the world that is drawn"),
    ("nhead", "i", "joints, if there are sliders, else 0"),
    ("view", "i", "first of some views: 0 is the camera, 1 a lamp, the others are lamps of the sky"),
    ("picend", "i", "the view behind the last of them"),
    ("picroom", "i", "entries that the lists of a view have room for in pic_item"),
    ("nblock", "i", "blocks of samples: places of a tile of the picture that rays go through"),
    ("picslot", "i", "first of the samples' places for what is needed on the way"),
    ("picmost", "i", "such places of a chunk"),
    ("picchunk", "i", "blocks of a chunk"),
    ("layer", "i", "how many translucent surfaces lie before; of lamps, how many were before"),
    ("shadows", "i", "1: what is in a lamp's way is looked for; 2: only in its view there is light"),
    ("skybox", "i", "texture of the sky, -1: none"),
    ("half_wide", "i", "width of the sky's picture, 0: there is none"),
])  # fmt: skip

# products and solves with the inertia matrix
declare("call", [("nvec", "i", "vectors of each world")])


@dataclasses.dataclass(frozen=True)
class Name:
    """What a path of a kernel such as "d.qpos" or "m.opt.timestep" stands for.

    argument  the kernel's argument that brings it, under which Data finds the array or number.
    is_array  else it is a number.  dtype  "f" (running precision), "w" (f64 where there is one) or "i" (int32).
    index     place in the array of a number that stands in one, as lengths of lists do in `counts`; else None.
    width     numbers of an array's element: 1, a vector's, 9 of a matrix.  rows  elements of one item.
    parts     Names of the numbers of a small vector, which kernels get as a tuple.
    passed    it is a number that each launch passes by name.
    """

    argument: str
    is_array: bool
    dtype: str
    index: int = None
    width: int = 1
    rows: int = 1
    parts: tuple = ()
    passed: bool = False


# what may hold numbers of which source
HOLDERS = {"m": ("size",), "m.opt": ("option",), "m.stat": ("stat",), "d": ("length", "call")}


@functools.lru_cache(None)
def lookup(path):
    """The Name of a path. Raises KeyError for one that is not declared, or belongs to the other bundle."""
    if path in ("m.opt.gravity", "m.opt.wind", "m.opt.magnetic"):
        return Name(path[6:], False, "f", parts=tuple(lookup(f"{path}_{x}") for x in "xyz"))
    holder, _, name = path.rpartition(".")
    if holder == "d" and name in COUNTS:
        return Name("counts", True, "i", COUNTS[name])
    if holder == "d" and name in SCALES:
        return Name("sweep_scale", True, "f", SCALES[name])
    if holder == "d" and name in DATA:
        return Name(name, True, DATA[name].dtype, None, DATA[name].width, DATA[name].rows)
    if holder == "m" and name in FIELDS:
        return Name(name, True, FIELDS[name].kind, None, FIELDS[name].width)
    if holder == "m" and name in DERIVED and DERIVED[name].dtype:
        return Name(name, True, DERIVED[name].dtype, None, DERIVED[name].width, DERIVED[name].rows)
    scalar = SCALARS.get(name)
    if scalar is None or scalar.source not in HOLDERS.get(holder, ()):
        places = "fields.py, device_model.py in tisim/model" if path.startswith("m.") else "tisim/data/arrays/"
        raise KeyError(f"{path} is not declared: arrays are in {places}, numbers in tisim/data/scalars.py")
    return Name(name, False, scalar.dtype, passed=scalar.source == "call")


flow.declare(lookup)
for _name in (*VARIABLE, *FOLLOWING):
    _source = FIELDS[_name].size if _name in FIELDS else DERIVED[_name].shape[0] if _name in DERIVED else None
    _width = 3 if _name == "opt.gravity" else 1
    _source = by_world.PLACE if _name in BY_PLACE else _source
    by_world.declare({_name: _source or Name(argument(_name), True, "f", width=_width)})
