"""Whether a model's arrays fit together: what indexes what, trees, enums, meshes, numbers.

All is asked of a file (`Model.load`) and by `m.validate()`; of arrays that were written, what depends on these, before
the next launch. Rules are vectorised and take time in proportion to the arrays that they read.
"""

import numpy as np

from tisim import enums
from tisim.errors import Error
from tisim.mjcf import tree

from .fields import FIELDS
from .validate_assets import ASSET_RULES
from .validate_rule import rule, wrong_at

UNIT = 1e-3  # by which the length of a quaternion or an axis may be off
HUGE = 1e30  # numbers above are as bad as infinite ones: their squares are, in single precision
CONDIMS = (1, 3, 4, 6)
# arrays of members of an enum
ENUMS = dict(
    geom_condim=CONDIMS, pair_dim=CONDIMS, jnt_type=enums.mjtJoint, geom_type=range(8), site_type=range(8),
    cam_mode=enums.mjtCamLight, light_mode=enums.mjtCamLight, light_type=enums.mjtLightType, eq_type=enums.mjtEq,
    eq_objtype=enums.mjtObj, wrap_type=enums.mjtWrap, actuator_trntype=enums.mjtTrn, actuator_dyntype=enums.mjtDyn,
    actuator_gaintype=enums.mjtGain, actuator_biastype=enums.mjtBias, sensor_type=enums.mjtSensor,
    sensor_datatype=enums.mjtDataType, sensor_needstage=enums.mjtStage, sensor_objtype=enums.mjtObj,
    sensor_reftype=enums.mjtObj, tex_type=enums.mjtTexture, tex_colorspace=enums.mjtColorSpace,
    body_sameframe=enums.mjtSameFrame, geom_sameframe=enums.mjtSameFrame, site_sameframe=enums.mjtSameFrame,
    tuple_objtype=enums.mjtObj, tree_sleep_policy=enums.mjtSleepPolicy,
)  # fmt: skip
ENUMS = {name: np.array([int(x) for x in members]) for name, members in ENUMS.items()}
POSITIVE = """body_mass body_inertia dof_frictionloss tendon_frictionloss geom_size geom_rbound
    hfield_size""".split()
LONG = ("body_quat", "body_iquat", "geom_quat", "site_quat", "cam_quat")  # of length one


def problem(arrays, sizes, names=None):
    """The first thing that is wrong, as text, or None. names  of the arrays that were written; None: all were."""
    for name in FIELDS if names is None else sorted(names):
        if found := numbers(name, np.asarray(arrays[name]), sizes):
            return found
    for reads, check in (*RULES, *ASSET_RULES):
        if names is None or names.intersection(reads):
            if found := check({name: np.asarray(arrays[name]) for name in reads}, sizes):
                return found
    return None


def check(m, names=None):
    """Raises Error naming the first array, and place in it, that does not fit the others."""
    if found := problem(m._arrays, m._sizes, names):
        raise Error(f"the model does not hold together: {found}")


def numbers(name, a, sizes):
    """What is wrong with one array by itself."""
    field = FIELDS.get(name)  # None: one of opt
    if not a.size:
        return None
    if field is None or field.dtype.kind == "f":
        low = 0 if name in POSITIVE else -HUGE
        if not (a.min() >= low and a.max() <= HUGE):  # so that NaN is wrong, too
            return wrong_at(name, a, (a >= low) & (a <= HUGE), "a number" if low else "a number, not negative")
        if name in LONG:
            return wrong_at(name, a, np.abs(np.linalg.norm(a, axis=-1) - 1) < UNIT, "a quaternion of length 1")
    elif name in ENUMS:
        kinds = ENUMS[name]
        known = " ".join(map(str, kinds)) if len(kinds) < 9 else f"{kinds[0]} .. {kinds[-1]}"
        return wrong_at(name, a, np.isin(a, kinds), f"one of {known}")
    elif field.index:
        low, end = -1 if field.optional else 0, sizes[field.index]
        if a.min() < low or a.max() >= end:
            return wrong_at(name, a, (a >= low) & (a < end), f"{low} .. {end - 1}")
    return None


_OWN = "body_parentid jnt_type jnt_bodyid geom_bodyid"
_LINKED = """body_rootid body_weldid body_jntnum body_jntadr body_dofnum body_dofadr body_treeid body_geomnum
    body_geomadr jnt_qposadr jnt_dofadr dof_bodyid dof_jntid dof_parentid dof_treeid tree_bodyadr tree_bodynum
    tree_dofadr tree_dofnum"""


@rule(f"{_OWN} {_LINKED}")
def _tree(a, sizes):
    """Bodies after their parents, all else in the order of bodies, and what follows from that as compiling has it."""
    parent = a["body_parentid"]
    if not len(parent):
        return "there is no body 0, the world"
    first = np.arange(len(parent))
    if found := wrong_at("body_parentid", parent, parent < np.maximum(first, 1), "a body before it"):
        return found
    for name in ("jnt_bodyid", "geom_bodyid"):
        if found := wrong_at(name, a[name], np.diff(a[name], prepend=0) >= 0, "ids in the order of bodies"):
            return found
    if found := wrong_at("jnt_bodyid", a["jnt_bodyid"], a["jnt_bodyid"] > 0, "a body, not the world"):
        return found
    linked = {name: a[name] for name in _OWN.split()}
    sizes_of = dict(nq=int(tree.NQ[a["jnt_type"]].sum()), nv=int(tree.NV[a["jnt_type"]].sum()))
    sizes_of["ntree"] = tree.link(linked)
    for size, n in sizes_of.items():
        if sizes[size] != n:
            return f"{size} is {sizes[size]}, the joints make it {n}"
    for name in _LINKED.split():
        if linked[name].shape != a[name].shape:
            return f"{name} has {len(a[name])} rows, the tree makes it {len(linked[name])}"
        if found := wrong_at(name, a[name], linked[name] == a[name], "what follows from body_parentid and joints"):
            return found
    bodies, at = np.flatnonzero(a["body_treeid"] >= 0), a["body_treeid"][a["body_treeid"] >= 0]
    last = np.zeros(sizes["ntree"], int)
    last[at] = bodies
    whole = last - a["tree_bodyadr"] + 1 == a["tree_bodynum"]
    return wrong_at("tree_bodynum", a["tree_bodynum"], whole, "bodies of a tree that follow each other")


@rule("body_mocapid body_parentid body_jntnum")
def _mocap(a, sizes):
    mocap = a["body_mocapid"]
    some = np.flatnonzero(mocap >= 0)
    if not np.array_equal(np.sort(mocap[some]), np.arange(sizes["nmocap"])):
        return f"body_mocapid: expected each of 0 .. {sizes['nmocap'] - 1} once"
    free = (mocap < 0) | (a["body_parentid"] == 0) & (a["body_jntnum"] == 0)
    free[0] = mocap[0] < 0
    return wrong_at("body_mocapid", mocap, free, "a mocap body is a child of the world and has no joints")


@rule("dof_parentid dof_Madr dof_simplenum M_rownnz M_rowadr M_colind")
def _inertia(a, sizes):
    """Rows of the inertia matrix hold the ancestors of their dof; those of simple bodies the diagonal only."""
    parent, adr = a["dof_parentid"], a["dof_Madr"].astype(np.int64)
    n = len(parent)
    depth = np.diff(adr, append=sizes["nM"])
    above = np.where(parent >= 0, depth[parent], 0) if n else depth
    if n and adr[0] or (not n and sizes["nM"]):
        return "dof_Madr: expected 0 as the first address, and nM 0 without dofs"
    if found := wrong_at("dof_Madr", a["dof_Madr"], depth == above + 1, "addresses of rows with all ancestors"):
        return found
    number, start = a["M_rownnz"].astype(np.int64), a["M_rowadr"]
    length = np.where(a["dof_simplenum"] > 0, 1, depth)
    if found := wrong_at("M_rownnz", number, number == length, "the number of ancestors, or 1"):
        return found
    if found := wrong_at("dof_simplenum", a["dof_simplenum"], (length == 1) | (length[parent] == above),
                         "0 of the ancestors of dofs that are not simple"):  # fmt: skip
        return found
    end = np.cumsum(number)
    if found := wrong_at("M_rowadr", start, start == end - number, "rows one behind the other"):
        return found
    if (end[-1] if n else 0) != sizes["nC"]:
        return f"nC is {sizes['nC']}, the rows make it {end[-1] if n else 0}"
    column = a["M_colind"]
    should = np.append(parent[column[1:]], 0)[: len(column)]
    should[end - 1] = np.arange(n)
    return wrong_at("M_colind", column, column == should, "the ancestors of the row's dof")


@rule("jnt_type jnt_axis")
def _axes(a, sizes):
    turned = np.isin(a["jnt_type"], (int(enums.mjtJoint.mjJNT_SLIDE), int(enums.mjtJoint.mjJNT_HINGE)))
    unit = np.abs(np.linalg.norm(a["jnt_axis"], axis=-1) - 1) < UNIT
    return wrong_at("jnt_axis", a["jnt_axis"], unit | ~turned, "a vector of length 1")


@rule("geom_type geom_dataid geom_bodyid body_weldid")
def _geoms(a, sizes):
    kind, data = a["geom_type"], a["geom_dataid"]
    field = kind == int(enums.mjtGeom.mjGEOM_HFIELD)
    mesh = kind == int(enums.mjtGeom.mjGEOM_MESH)
    end = np.where(field, sizes["nhfield"], sizes["nmesh"])
    ok = (data < end) & (data >= np.where(field | mesh, 0, -1))
    if found := wrong_at("geom_dataid", data, ok, "the id of the geom's mesh or height field, -1: it has none"):
        return found
    plane = kind == int(enums.mjtGeom.mjGEOM_PLANE)
    static = a["body_weldid"][a["geom_bodyid"]] == 0
    return wrong_at("geom_type", kind, static | ~plane, "planes in static bodies only")


@rule("exclude_signature")
def _excludes(a, sizes):
    pair = a["exclude_signature"].astype(np.int64) & 0xFFFFFFFF
    ok = (pair >> 16 < sizes["nbody"]) & (pair & 0xFFFF < sizes["nbody"])
    return wrong_at("exclude_signature", a["exclude_signature"], ok, "65536 * a body + another")


@rule("eq_obj1id eq_obj2id actuator_trnid wrap_objid sensor_objid sensor_refid tuple_objid")
def _objects(a, sizes):
    """Ids of objects of any type, of which nothing is computed so far."""
    end = max(sizes.values())
    for name, ids in a.items():
        if found := wrong_at(name, ids, (ids >= -1) & (ids < end), "the id of an object, -1: none"):
            return found
    return None


RULES = (_tree, _mocap, _inertia, _axes, _geoms, _excludes, _objects)
