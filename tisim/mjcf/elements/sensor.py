"""Sensors: one table of all types, the objects they refer to, and MuJoCo's rules about both.

After MuJoCo's sensor compiler (Apache-2.0) for the rules; datatypes, stages and dimensions as mjModel 3.4.0 has them.
"""

import numpy as np

from tisim.enums import mjtConDataField, mjtDataType, mjtGeom, mjtJoint, mjtObj, mjtSensor, mjtStage
from tisim.errors import each

from ..format.settings import MAX_COUNT
from ..scene.items import column, first, unique_names, user_data
from .object_names import Names

# element, mjtSensor, attributes that name the object and the reference, dimension (*: own), datatype, stage, rule.
# A name is an attribute; a|b: exactly one of them, a|b?: at most one; a?: may be left out.
TABLE = """
touch             TOUCH          site       -       1  positive   acc
accelerometer     ACCELEROMETER  site       -       3  real       acc
velocimeter       VELOCIMETER    site       -       3  real       vel
gyro              GYRO           site       -       3  real       vel
force             FORCE          site       -       3  real       acc
torque            TORQUE         site       -       3  real       acc
magnetometer      MAGNETOMETER   site       -       3  real       pos
rangefinder       RANGEFINDER    site       -       1  positive   pos
camprojection     CAMPROJECTION  site       camera  2  real       pos  resolution
jointpos          JOINTPOS       joint      -       1  real       pos  scalar
jointvel          JOINTVEL       joint      -       1  real       vel  scalar
tendonpos         TENDONPOS      tendon     -       1  real       pos
tendonvel         TENDONVEL      tendon     -       1  real       vel
actuatorpos       ACTUATORPOS    actuator   -       1  real       pos
actuatorvel       ACTUATORVEL    actuator   -       1  real       vel
actuatorfrc       ACTUATORFRC    actuator   -       1  real       acc
jointactuatorfrc  JOINTACTFRC    joint      -       1  real       acc  scalar
tendonactuatorfrc TENDONACTFRC   tendon     -       1  real       acc
ballquat          BALLQUAT       joint      -       4  quaternion pos  ball
ballangvel        BALLANGVEL     joint      -       3  real       vel  ball
jointlimitpos     JOINTLIMITPOS  joint      -       1  real       pos  limited
jointlimitvel     JOINTLIMITVEL  joint      -       1  real       vel  limited
jointlimitfrc     JOINTLIMITFRC  joint      -       1  real       acc  limited
tendonlimitpos    TENDONLIMITPOS tendon     -       1  real       pos  limited
tendonlimitvel    TENDONLIMITVEL tendon     -       1  real       vel  limited
tendonlimitfrc    TENDONLIMITFRC tendon     -       1  real       acc  limited
framepos          FRAMEPOS       objname    refname? 3 real       pos  spatial
framequat         FRAMEQUAT      objname    refname? 4 quaternion pos  spatial
framexaxis        FRAMEXAXIS     objname    refname? 3 axis       pos  spatial
frameyaxis        FRAMEYAXIS     objname    refname? 3 axis       pos  spatial
framezaxis        FRAMEZAXIS     objname    refname? 3 axis       pos  spatial
framelinvel       FRAMELINVEL    objname    refname? 3 real       vel  spatial
frameangvel       FRAMEANGVEL    objname    refname? 3 real       vel  spatial
framelinacc       FRAMELINACC    objname    -       3  real       acc  spatial
frameangacc       FRAMEANGACC    objname    -       3  real       acc  spatial
subtreecom        SUBTREECOM     body       -       3  real       pos
subtreelinvel     SUBTREELINVEL  body       -       3  real       vel
subtreeangmom     SUBTREEANGMOM  body       -       3  real       vel
insidesite        INSIDESITE     objname    site    1  positive   pos  spatial
distance          GEOMDIST       geom1|body1 geom2|body2 1 real   pos  two
normal            GEOMNORMAL     geom1|body1 geom2|body2 3 axis   pos  two
fromto            GEOMFROMTO     geom1|body1 geom2|body2 6 real   pos  two
contact           CONTACT        geom1|body1|subtree1|site? geom2|body2|subtree2? * real acc
e_potential       E_POTENTIAL    -          -       1  real       pos
e_kinetic         E_KINETIC      -          -       1  real       pos
clock             CLOCK          -          -       1  real       pos
tactile           TACTILE        mesh       geom    *  real       acc
user              USER           objname?   -       *  real       acc
"""

# kinds of object that have a frame
SPATIAL = (mjtObj.mjOBJ_BODY, mjtObj.mjOBJ_XBODY, mjtObj.mjOBJ_GEOM, mjtObj.mjOBJ_SITE, mjtObj.mjOBJ_CAMERA)
# the fields of a contact that a sensor can report, with their dimensions, in the order they are asked for
CONTACT_DATA = dict(found=1, force=3, torque=3, dist=1, pos=3, normal=3, tangent=3)
assert len(CONTACT_DATA) == mjtConDataField.mjNCONDATA


class Row:
    """One line of TABLE."""

    __slots__ = ("type", "object", "reference", "dim", "datatype", "stage", "rule")

    def __init__(self, sensor, obj, ref, dim, datatype, stage, rule=""):
        self.type, self.object, self.reference, self.rule = mjtSensor[f"mjSENS_{sensor}"], obj, ref, rule
        self.dim = 0 if dim == "*" else int(dim)
        self.datatype, self.stage = mjtDataType[f"mjDATATYPE_{datatype.upper()}"], mjtStage[f"mjSTAGE_{stage.upper()}"]


SENSORS = {line.split()[0]: Row(*line.split()[1:]) for line in TABLE.strip().split("\n")}


def compile_sensors(a, items, width, out):
    """Arrays sensor_* and the names and sizes of the sensors; everything they refer to is compiled before.

    a  dict of arrays;  items  sensor Items;  width  nuser_sensor, -1 for the longest;  out  Compiled. Raises MjcfError.
    """
    names = out.names[mjtObj.mjOBJ_SENSOR] = unique_names(items, mjtObj.mjOBJ_SENSOR)
    ids, n = Names(out.names), len(items)
    rows = [SENSORS[item.node.tag] for item in items]
    cutoff, noise = column(items, "cutoff"), column(items, "noise")
    first(items, cutoff < 0, "'cutoff' cannot be negative")
    first(items, noise < 0, "'noise' cannot be negative")
    kind = np.array([row.type for row in rows], np.int32)
    datatype = np.array([item.attrib.get("datatype", row.datatype) for item, row in zip(items, rows)], np.int32)
    stage = np.array([item.attrib.get("needstage", row.stage) for item, row in zip(items, rows)], np.int32)
    dim = np.array([row.dim for row in rows], np.int64)
    ends = each(lambda p: (*_end(p[0], p[1].object, ids), *_end(p[0], p[1].reference, ids)), zip(items, rows))
    objtype, objid, reftype, refid = np.array(ends, np.int32).reshape(n, 4).T
    intprm = np.zeros((n, 3), np.int32)

    _check_objects(a, items, rows, objtype, objid, reftype, refid)
    for i in np.flatnonzero(kind == mjtSensor.mjSENS_CONTACT):
        intprm[i], dim[i] = _contact(items[i])
    for i in np.flatnonzero(kind == mjtSensor.mjSENS_USER):
        dim[i] = _user(items[i], datatype[i])
    tactile = kind == mjtSensor.mjSENS_TACTILE
    dim[tactile] = 3 * a["mesh_vertnum"][objid[tactile]] if tactile.any() else 0
    exact = np.isin(datatype, [mjtDataType.mjDATATYPE_AXIS, mjtDataType.mjDATATYPE_QUATERNION])
    bad = (cutoff > 0) & exact & (kind != mjtSensor.mjSENS_GEOMNORMAL)
    first(items, bad, "a 'cutoff' makes no sense for an axis or a quaternion")
    first(items, np.cumsum(dim) > MAX_COUNT, f"the sensors have more than {MAX_COUNT:,} numbers in all")
    a.update(
        sensor_type=kind, sensor_datatype=datatype, sensor_needstage=stage, sensor_objtype=objtype, sensor_objid=objid,
        sensor_reftype=reftype, sensor_refid=refid, sensor_intprm=intprm, sensor_dim=dim.astype(np.int32),
        sensor_adr=(np.cumsum(dim) - dim).astype(np.int32), sensor_cutoff=cutoff, sensor_noise=noise,
        sensor_user=user_data(items, width, "sensor"), sensor_plugin=np.full(len(names), -1, np.int32),
    )  # fmt: skip


def _end(item, choice, ids):
    """(mjtObj, id) of the object that an element names by one of the attributes in `choice`; (0, -1) for none."""
    if choice == "-":
        return 0, -1
    words, optional = choice.rstrip("?").split("|"), choice.endswith("?")
    attrib, node = item.attrib, item.node
    given = [word for word in words if word in attrib]
    if words[0] in ("objname", "refname"):
        kindname = words[0][:3] + "type"
        if bool(given) != (kindname in attrib) or not (given or optional):
            raise node.error(f"'{node.tag}' needs both '{kindname}' and '{words[0]}'" + " or neither" * optional)
    if len(given) > 1 or not (given or optional):
        number = "at most" if optional else "exactly"
        raise node.error(f"'{node.tag}' needs {number} one of {', '.join(words)}")
    if not given:
        return 0, -1
    word = given[0]
    if not attrib[word]:
        raise node.error(f"'{word}' of '{node.tag}' is empty")
    kind = attrib[kindname] if word in ("objname", "refname") else _KINDS[word.rstrip("12")]
    what = mjtObj(kind).name[6:].lower()
    return int(kind), item.find(ids.of(kind), attrib[word], "body" if what == "xbody" else what)


_KINDS = {
    word: mjtObj[f"mjOBJ_{word.upper()}"] for word in "site camera joint tendon actuator body geom mesh".split()
} | {"subtree": mjtObj.mjOBJ_XBODY}


def _check_objects(a, items, rows, objtype, objid, reftype, refid):
    """MuJoCo's rules about the objects of sensors; raises MjcfError at the first sensor that breaks one."""
    rule = np.array([row.rule for row in rows], "U12")

    def need(mask, array, good, message):
        users, bad = np.flatnonzero(mask), np.zeros(len(items), bool)
        if len(users):
            bad[users] = ~good(a[array][objid[users]])
            first(items, bad, message)

    joint, tendon = objtype == mjtObj.mjOBJ_JOINT, objtype == mjtObj.mjOBJ_TENDON
    scalar = lambda kind: (kind == mjtJoint.mjJNT_SLIDE) | (kind == mjtJoint.mjJNT_HINGE)  # noqa: E731
    need(rule == "scalar", "jnt_type", scalar, "this sensor needs a hinge or a slide")
    need(rule == "ball", "jnt_type", lambda kind: kind == mjtJoint.mjJNT_BALL, "this sensor needs a ball joint")
    limited = rule == "limited"
    need(limited & joint, "jnt_limited", lambda flag: flag > 0, "the joint of this sensor must be limited")
    need(limited & tendon, "tendon_limited", lambda flag: flag > 0, "the tendon of this sensor must be limited")

    framed = rule == "spatial"
    message = "the {} of this sensor must be a body, xbody, geom, site or camera"
    first(items, framed & ~np.isin(objtype, SPATIAL), message.format("object"))
    first(items, framed & (reftype != 0) & ~np.isin(reftype, SPATIAL), message.format("reference"))

    two = rule == "two"
    same = two & (objtype == reftype) & (objid == refid)
    first(items, same, "the first geom or body must differ from the second")
    for kind, index in ((objtype, objid), (reftype, refid)):
        geom = np.where(two & (kind == mjtObj.mjOBJ_GEOM), index, -1)
        hfield = np.append(a["geom_type"], -1)[geom] == mjtGeom.mjGEOM_HFIELD
        first(items, hfield, "height fields are not supported by sensors of distance")
    camera = np.flatnonzero(rule == "resolution")
    bad = np.zeros(len(items), bool)
    bad[camera] = (a["cam_resolution"][refid[camera]] == 0).any(1)
    first(items, bad, "the camera of this sensor needs a 'resolution'")


def _contact(item):
    """(intprm, dimension) of a contact sensor: bits of its fields, reduction, number of contacts."""
    attrib, node = item.attrib, item.node
    words = attrib.get("data", "").split() or ["found"]
    for word in words:
        if word not in CONTACT_DATA:
            raise node.error(f"'data' of 'contact' is made of {', '.join(CONTACT_DATA)}, found '{word[:40]}'")
    if words != [word for word in CONTACT_DATA if word in words]:
        raise node.error(f"'data' of 'contact' must hold each word once, in the order {', '.join(CONTACT_DATA)}")
    number = attrib.get("num", 1)
    if number <= 0:
        raise node.error("'num' of 'contact' must be positive")
    bits = sum(1 << list(CONTACT_DATA).index(word) for word in words)
    return (bits, attrib.get("reduce", 0), number), number * sum(CONTACT_DATA[word] for word in words)


def _user(item, datatype):
    """The dimension of a user sensor."""
    dim = item.attrib["dim"]
    if dim < 0:
        raise item.node.error("'dim' of a sensor cannot be negative")
    for kind, size in ((mjtDataType.mjDATATYPE_AXIS, 3), (mjtDataType.mjDATATYPE_QUATERNION, 4)):
        if datatype == kind and dim != size:
            raise item.node.error(f"a sensor with datatype '{kind.name[11:].lower()}' needs dim=\"{size}\"")
    return dim
