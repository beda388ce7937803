"""The kinds of elements that a model names, and where their fields and sizes are."""

from tisim.enums import mjtObj
from tisim.errors import Error, brief
from tisim.mjcf.format.names import nearest

# What m.<kind>(name) finds: type of object, prefix of its fields, its size.
KINDS = {
    "body": (mjtObj.mjOBJ_BODY, "body", "nbody"),
    "joint": (mjtObj.mjOBJ_JOINT, "jnt", "njnt"),
    "geom": (mjtObj.mjOBJ_GEOM, "geom", "ngeom"),
    "site": (mjtObj.mjOBJ_SITE, "site", "nsite"),
    "camera": (mjtObj.mjOBJ_CAMERA, "cam", "ncam"),
    "light": (mjtObj.mjOBJ_LIGHT, "light", "nlight"),
    "material": (mjtObj.mjOBJ_MATERIAL, "mat", "nmat"),
    "texture": (mjtObj.mjOBJ_TEXTURE, "tex", "ntex"),
    "mesh": (mjtObj.mjOBJ_MESH, "mesh", "nmesh"),
    "hfield": (mjtObj.mjOBJ_HFIELD, "hfield", "nhfield"),
    "skin": (mjtObj.mjOBJ_SKIN, "skin", "nskin"),
    "pair": (mjtObj.mjOBJ_PAIR, "pair", "npair"),
    "exclude": (mjtObj.mjOBJ_EXCLUDE, "exclude", "nexclude"),
    "equality": (mjtObj.mjOBJ_EQUALITY, "eq", "neq"),
    "tendon": (mjtObj.mjOBJ_TENDON, "tendon", "ntendon"),
    "numeric": (mjtObj.mjOBJ_NUMERIC, "numeric", "nnumeric"),
    "actuator": (mjtObj.mjOBJ_ACTUATOR, "actuator", "nu"),
    "sensor": (mjtObj.mjOBJ_SENSOR, "sensor", "nsensor"),
    "text": (mjtObj.mjOBJ_TEXT, "text", "ntext"),
    "tuple": (mjtObj.mjOBJ_TUPLE, "tuple", "ntuple"),
    "key": (mjtObj.mjOBJ_KEY, "key", "nkey"),
}
ALIASES = {"jnt": "joint", "cam": "camera", "mat": "material", "tex": "texture", "eq": "equality", "keyframe": "key"}

# Fields that hold several rows for each element: from its adr on, as many as its size.
RUNS = {"numeric": ("data",), "text": ("data",), "tuple": ("objtype", "objid", "objprm")}


def as_objtype(objtype):
    """The mjtObj of an mjtObj, a number or a word like "geom". Raises Error where there is none."""
    if isinstance(objtype, str):
        word = ALIASES.get(objtype, objtype)
        if word not in KINDS:
            raise Error(f"unknown type of object '{objtype}'{nearest(objtype, KINDS)}")
        return KINDS[word][0]
    try:
        return mjtObj(int(objtype))
    except (TypeError, ValueError, OverflowError):
        raise Error(f"unknown type of object {brief(objtype)}") from None


def word_of(objtype):
    """The word for a type of object, for messages."""
    return as_objtype(objtype).name.removeprefix("mjOBJ_").lower()
