"""A Model from a compiled mujoco.MjModel: the arrays are copied by name, nothing is compiled again."""

import numpy as np

from tisim.enums import mjtGeom, mjtObj
from tisim.errors import Error, UnsupportedError
from tisim.mjcf.compile import Compiled
from tisim.mjcf.format.settings import OPTION, VISUAL

from .fields import FIELDS

REFUSED = dict(nflex="flex", nplugin="plugin")
# mjtObj -> (count, array with the place of each name)
NAMES = {
    mjtObj.mjOBJ_BODY: ("nbody", "body"), mjtObj.mjOBJ_JOINT: ("njnt", "jnt"), mjtObj.mjOBJ_GEOM: ("ngeom", "geom"),
    mjtObj.mjOBJ_SITE: ("nsite", "site"), mjtObj.mjOBJ_CAMERA: ("ncam", "cam"), mjtObj.mjOBJ_LIGHT: ("nlight", "light"),
    mjtObj.mjOBJ_MESH: ("nmesh", "mesh"), mjtObj.mjOBJ_HFIELD: ("nhfield", "hfield"),
    mjtObj.mjOBJ_SKIN: ("nskin", "skin"), mjtObj.mjOBJ_TEXTURE: ("ntex", "tex"),
    mjtObj.mjOBJ_MATERIAL: ("nmat", "mat"), mjtObj.mjOBJ_PAIR: ("npair", "pair"),
    mjtObj.mjOBJ_EXCLUDE: ("nexclude", "exclude"), mjtObj.mjOBJ_EQUALITY: ("neq", "eq"),
    mjtObj.mjOBJ_TENDON: ("ntendon", "tendon"), mjtObj.mjOBJ_ACTUATOR: ("nu", "actuator"),
    mjtObj.mjOBJ_SENSOR: ("nsensor", "sensor"), mjtObj.mjOBJ_NUMERIC: ("nnumeric", "numeric"),
    mjtObj.mjOBJ_TEXT: ("ntext", "text"), mjtObj.mjOBJ_TUPLE: ("ntuple", "tuple"), mjtObj.mjOBJ_KEY: ("nkey", "key"),
}  # fmt: skip


def convert(source):
    """Compiled model of an mjModel of mujoco 3.4 (any other version that has the same fields works too).

    Raises UnsupportedError for flexes, plugins and SDF geoms, Error for anything that is not an mjModel.
    """
    if not all(hasattr(source, name) for name in ("qpos0", "body_parentid", "opt", "names")):
        raise Error(f"expected a mujoco.MjModel, got {type(source).__name__}")
    for size, word in REFUSED.items():
        if getattr(source, size, 0):
            raise UnsupportedError(f"the model has {size} = {getattr(source, size)}: {word} is not supported", word)
    if (np.asarray(source.geom_type) == int(mjtGeom.mjGEOM_SDF)).any():
        raise UnsupportedError("the model has geoms of type sdf, which are not supported", "sdf")
    try:
        return _convert(source)
    except AttributeError as e:
        raise Error(f"this mujoco.MjModel is of another version than 3.4: {e}") from None


def _convert(source):
    out = Compiled()
    sizes = {f"nuser_{word}": int(getattr(source, f"nuser_{word}")) for word in (
        "body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor"
    )}  # fmt: skip
    sizes |= {name: int(getattr(source, name)) for name in ("nM", "nC", "ntree", "nuserdata", "njmax", "nconmax")}
    out.sizes = sizes | dict(memory=-1)
    for name, field in FIELDS.items():
        value = getattr(source, name)
        if isinstance(value, (bytes, str)):
            value = np.frombuffer(value.encode() if isinstance(value, str) else value, np.uint8)
        array = np.array(value, field.dtype)
        out.arrays[name] = array.reshape(len(array), -1) if field.columns is not None and array.ndim == 1 else array
    text = bytes(source.names)
    for kind, (size, prefix) in NAMES.items():
        places = np.asarray(getattr(source, f"name_{prefix}adr"))[: int(getattr(source, size))]
        out.names[kind] = [text[p : text.index(b"\0", p)].decode() for p in places.tolist()]
    out.modelname = text[: text.index(b"\0")].decode()
    out.option = {name: _plain(getattr(source.opt, name)) for name in OPTION}
    statistics = ("meaninertia", "meanmass", "meansize", "extent", "center")
    out.stat = {name: _plain(getattr(source.stat, name)) for name in statistics}
    out.visual = {
        section: {name: _shown(_section(source.vis, section), name, default) for name, default in values.items()}
        for section, values in VISUAL.items()
    }
    texts = [bytes(out.arrays["text_data"][a : a + n - 1]).decode() for a, n in zip(
        out.arrays["text_adr"].tolist(), out.arrays["text_size"].tolist()
    )]  # fmt: skip
    out.texts = dict(zip(out.names[mjtObj.mjOBJ_TEXT], texts))
    out.textures = [{"name": name} for name in out.names[mjtObj.mjOBJ_TEXTURE]]
    return out


def _section(visual, name):
    return visual.global_ if name == "global" else getattr(visual, name)


def _shown(section, name, default):
    """A setting of vis; MuJoCo's default for rgba.bv and rgba.bvactive, of which mujoco's Python gives no elements."""
    value = getattr(section, name)
    return _plain(value if np.size(value) else np.array(default))


def _plain(value):
    return np.array(value, float) if isinstance(value, np.ndarray) else value
