"""Which sensors are of which family, which have a cutoff, and whose sleep they share."""

import numpy as np

from tisim.enums import mjtDataType, mjtObj, mjtSensor, mjtTrn

from .declare import Table, declared

# family: (types, meaning). For each there is a table <family>_sensor of n<family> sensors, and kernels that read it;
# a type that stands nowhere is refused (tisim/model/simulable.py).
FAMILIES = dict(
    pose=("FRAMEPOS FRAMEQUAT FRAMEXAXIS FRAMEYAXIS FRAMEZAXIS MAGNETOMETER", "sensors of places and orientations"),
    projection=("CAMPROJECTION", "sensors of images of sites"),
    velocity=("VELOCIMETER GYRO FRAMELINVEL FRAMEANGVEL", "sensors of velocities"),
    acceleration=("ACCELEROMETER FRAMELINACC FRAMEANGACC", "sensors of accelerations"),
    wrench=("FORCE TORQUE", "sensors of forces between bodies"),
    momentum=("SUBTREELINVEL SUBTREEANGMOM", "sensors of momentum of subtrees"),
    limitpos=("JOINTLIMITPOS TENDONLIMITPOS", "sensors of distances from limits"),
    limitvel=("JOINTLIMITVEL TENDONLIMITVEL", "sensors of velocities at limits"),
    limitfrc=("JOINTLIMITFRC TENDONLIMITFRC", "sensors of forces of limits"),
    energy=("E_POTENTIAL E_KINETIC", "sensors of energy"),
    posvalue=("JOINTPOS TENDONPOS ACTUATORPOS BALLQUAT SUBTREECOM CLOCK", "sensors of positions that are known"),
    velvalue=("JOINTVEL TENDONVEL ACTUATORVEL BALLANGVEL", "sensors of velocities that are known"),
    accvalue=("ACTUATORFRC JOINTACTFRC TENDONACTFRC", "sensors of forces of actuators"),
    uservalue=("USER", "sensors of the user"),
    touch=("TOUCH", "sensors of the force on a site"),
    contacts=("CONTACT", "sensors of contacts"),
    inside=("INSIDESITE", "sensors of what is inside a site"),
    range=("RANGEFINDER", "rangefinders"),
    distance=("GEOMDIST GEOMNORMAL GEOMFROMTO", "sensors of distances of geoms"),
    tactile=("TACTILE", "sensors of the depth at the vertices of a mesh"),
)  # fmt: skip
SIMULATED = {mjtSensor[f"mjSENS_{word}"] for types, _ in FAMILIES.values() for word in types.split()}
UNCUT = (mjtSensor.mjSENS_GEOMFROMTO,)  # whose cutoff limits something else
ALWAYS_AWAKE = (mjtSensor.mjSENS_USER, mjtSensor.mjSENS_PLUGIN, mjtSensor.mjSENS_RANGEFINDER)
# bodies of objects
OWNED = {
    mjtObj.mjOBJ_JOINT: "jnt_bodyid", mjtObj.mjOBJ_GEOM: "geom_bodyid", mjtObj.mjOBJ_SITE: "site_bodyid",
    mjtObj.mjOBJ_CAMERA: "cam_bodyid",
}  # fmt: skip


def of_types(m, *words):
    """Sensors of these types, by the words of mjtSensor."""
    return np.flatnonzero(np.isin(m.sensor_type, [mjtSensor[f"mjSENS_{word}"] for word in words]))


def _cut(m):
    """Sensors whose values are limited."""
    number = np.isin(m.sensor_datatype, (mjtDataType.mjDATATYPE_REAL, mjtDataType.mjDATATYPE_POSITIVE))
    return np.flatnonzero(number & (np.asarray(m.sensor_cutoff) > 0) & ~np.isin(m.sensor_type, UNCUT))


def _limits(family):
    """Maker of the place of each sensor of a family among the limited joints, or tendons; -1: it is not limited."""

    def make(m):
        s = m.derived(f"{family}_sensor")
        places = {}
        for kind, table in ((mjtObj.mjOBJ_JOINT, "limited_joint"), (mjtObj.mjOBJ_TENDON, "limited_tendon")):
            places |= {(int(kind), int(i)): place for place, i in enumerate(m.derived(table))}
        found = [places.get(end, -1) for end in zip(m.sensor_objtype[s].tolist(), m.sensor_objid[s].tolist())]
        return np.array(found, np.int64)

    return make


def _seen(m):
    """Sensors that ask where a camera is."""
    camera = mjtObj.mjOBJ_CAMERA
    return np.flatnonzero((m.sensor_objtype == camera) | (m.sensor_reftype == camera))


def _tree_of_body(m, body):
    """[tree], [] for a static body, None for one without joints that the user moves."""
    tree = int(m.body_treeid[body])
    if tree >= 0:
        return [tree]
    return None if m.body_mocapid[m.body_rootid[body]] >= 0 else []


def _trees_of_actuator(m, i):
    kind, (first, second) = m.actuator_trntype[i], m.actuator_trnid[i]
    if kind == mjtTrn.mjTRN_TENDON:
        return _trees(m, mjtObj.mjOBJ_TENDON, first)
    if kind == mjtTrn.mjTRN_BODY:
        return _tree_of_body(m, first)
    if kind in (mjtTrn.mjTRN_SITE, mjtTrn.mjTRN_SLIDERCRANK):
        both = (first, second) if kind == mjtTrn.mjTRN_SLIDERCRANK else (first,)
        return [tree for site in both for tree in _tree_of_body(m, m.site_bodyid[site]) or ()]
    return _tree_of_body(m, m.jnt_bodyid[first])


def _trees(m, kind, i):
    """Trees of an object that all have to sleep for it to sleep; none if it is static; None: it never sleeps."""
    if kind in (mjtObj.mjOBJ_BODY, mjtObj.mjOBJ_XBODY):
        return _tree_of_body(m, i)
    if kind in OWNED:
        return _tree_of_body(m, getattr(m, OWNED[kind])[i])
    if kind == mjtObj.mjOBJ_TENDON:
        number = int(m.tendon_treenum[i])
        return [int(t) for t in m.tendon_treeid[i][:number]] if number <= 2 else None
    return _trees_of_actuator(m, i) if kind == mjtObj.mjOBJ_ACTUATOR else None


def _ends(m):
    """[(mjtObj, id)] of what each sensor names, both its object and its reference."""
    columns = zip(m.sensor_objtype, m.sensor_objid, m.sensor_reftype, m.sensor_refid)
    return [
        [(mjtObj(t), i) for t, i in ((objtype, objid), (reftype, refid)) if t != mjtObj.mjOBJ_UNKNOWN]
        for objtype, objid, reftype, refid in columns
    ]


def named_trees(m):
    """(first of each sensor in the trees and the end, the trees) to which what sensors name belongs."""
    found = []
    for ends in _ends(m):
        found.append(sorted({t for kind, i in ends for t in _trees(m, kind, i) or ()}))
    return np.cumsum([0, *map(len, found)]), np.array([t for trees in found for t in trees], np.int64)


def _bound(k):
    """Maker of the sensors, or trees, of all pairs of a sensor and a tree that it names."""

    def make(m):
        first, trees = named_trees(m)
        return (np.repeat(np.arange(len(first) - 1), np.diff(first)), trees)[k]

    return make


def _sleepers(m):
    """(first of each sensor in the trees that all sleep where it does, how many, these).

    How many is 0 where the sensor never sleeps, -1 where it does as soon as anything sleeps.
    """
    found, still = [], []
    for kind, ends in zip(m.sensor_type, _ends(m)):
        of_site = kind == mjtSensor.mjSENS_CONTACT and any(t == mjtObj.mjOBJ_SITE for t, _ in ends)
        trees = [None] if kind in ALWAYS_AWAKE or of_site else [_trees(m, t, i) for t, i in ends]
        found.append([] if None in trees else sorted({t for some in trees for t in some}))
        still.append(trees == [[], []])  # two static objects
    number = np.array([len(trees) for trees in found], np.int64)
    first, trees = np.cumsum(number) - number, np.array([t for trees in found for t in trees], np.int64)
    return first, np.where(still, -1, number), trees


def _family(types):
    return lambda m: of_types(m, *types.split())


def _part(k):
    return lambda m: _sleepers(m)[k]


TABLES = declared(
    *(Table(f"{name}_sensor", "i", (f"n{name}",), _family(types), (), doc) for name, (types, doc) in FAMILIES.items()),
    *(Table(f"{name}_place", "i", (f"n{name}",), _limits(name), ("jnt_limited", "tendon_limited"),
            f"place of each of the {FAMILIES[name][1]} among the limited joints or tendons, -1: none")
      for name in ("limitpos", "limitvel", "limitfrc")),
    Table("camera_sensor", None, ("nseen",), _seen, (), "sensors that ask where a camera is"),
    Table("cut_sensor", "i", ("ncut",), _cut, ("sensor_cutoff",), "sensors with a cutoff"),
    Table("bound_sensor", "i", ("nbound",), _bound(0), (), "sensor of each pair of a sensor and a tree that it names"),
    Table("bound_tree", "i", ("nbound",), _bound(1), (), "tree of each of these pairs"),
    Table("sensor_treeadr", "i", ("nsensor",), _part(0), (), "first of each sensor in sensor_tree"),
    Table("sensor_treenum", "i", ("nsensor",), _part(1), (),
          "how many trees; 0: the sensor is always awake, -1: where all trees are"),
    Table("sensor_tree", "i", ("nsensortree",), _part(2), (), "trees that all sleep where the sensor does"),
)  # fmt: skip
COUNTED = {f"n{name}": f"{name}_sensor" for name in FAMILIES} | dict(
    ncut="cut_sensor", nseen="camera_sensor", nbound="bound_sensor"
)
