"""What tests of the compiler share: compiled models compared, and texts that MuJoCo or both engines refuse."""

import mujoco
import numpy as np
import pytest

from tisim import Model
from tisim.errors import MjcfError
from tisim.model import fields as model_fields

# differences() compares every array of tisim.model.fields but those of assets and those compared apart
ASSETS = ("mesh_", "hfield_", "tex_")  # see tests/test_mesh_assets_equal_mujocos.py
APART = {"text_data"}  # bytes here, a string there
FIELDS = [name for name in model_fields.FIELDS if not name.startswith(ASSETS) and name not in APART]
FIELDS += ["tex_type", "tex_colorspace"]
# and every size of MuJoCo's but those of memory, file names, boxes round geoms, sparse matrices that no array here has,
# flexes, plugins, and of meshes' polygons, which a mesh without a hull has in MuJoCo only
NO_SIZE = """narena nbuffer signature nnames nnames_map npaths nbvh nbvhstatic nbvhdynamic noct nB nD nJmom nemax
nflexedge nflexelem nflexelemdata nflexelemedge nflexevpair nflexnode nflexshelldata nflextexcoord npluginattr nmeshpoly
nmeshpolyvert nmeshpolymap nmeshgraph""".split()
SIZES = [
    name for name, kind in vars(mujoco.MjModel).items()
    if name[0] == "n" and isinstance(kind, property) and not name.startswith("name") and name not in NO_SIZE
]  # fmt: skip
OPTIONS = """timestep impratio gravity wind magnetic density viscosity o_margin o_solref o_solimp o_friction integrator
cone jacobian solver iterations ls_iterations noslip_iterations ccd_iterations disableflags enableflags tolerance
ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance disableactuator sdf_iterations sdf_initpoints""".split()
STATISTICS = ["meaninertia", "meanmass", "meansize", "extent", "center"]
NAMED = """body joint geom site camera light material texture skin pair exclude equality tendon actuator sensor numeric
text tuple key mesh hfield""".split()


def differences(ours, theirs):
    """dict field -> what differs, over everything the compiler of this project defines but the arrays of assets."""
    out = array_differences(ours, theirs, SIZES + FIELDS)

    def compare(name, a, b, tolerance=1e-9):
        if not _close(a, b, tolerance):
            out[name] = f"{a}, expected {b}"

    if bytes(ours.text_data) != theirs.text_data:
        out["text_data"] = f"{bytes(ours.text_data)}, expected {theirs.text_data}"
    for group, names in (("opt", OPTIONS), ("stat", STATISTICS)):
        for name in names:
            compare(f"{group}.{name}", getattr(getattr(ours, group), name), getattr(getattr(theirs, group), name))
    for section in ("global_", "quality", "headlight", "map", "scale", "rgba"):
        for name, value in getattr(ours.vis, section).items():
            if np.size(expected := getattr(getattr(theirs.vis, section), name)):  # mujoco shows rgba.bv as empty
                compare(f"vis.{section}.{name}", value, expected, 1e-6)
    for kind in NAMED:
        objtype = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        number = len(ours._names.get(objtype, []))
        theirs_names = [mujoco.mj_id2name(theirs, objtype, i) or "" for i in range(number)]
        if [ours.id2name(kind, i) for i in range(number)] != theirs_names:
            out[f"names of {kind}"] = f"expected {theirs_names}"
    return out


def array_differences(ours, theirs, names, single=1e-9):
    """dict field -> how it differs: its shape, its dtype, or a value by more than 1e-9 of the largest one.

    single  tolerance for float32 in place of 1e-9.
    """
    out = {}
    for name in names:
        a, b = getattr(ours, name), getattr(theirs, name)
        if np.shape(a) != np.shape(b):
            out[name] = f"shape {np.shape(a)}, expected {np.shape(b)}"
        elif isinstance(b, np.ndarray) and a.dtype != b.dtype:
            out[name] = f"dtype {a.dtype}, expected {b.dtype}"
        elif not _close(a, b, single if np.asarray(b).dtype == np.float32 else 1e-9):
            out[name] = f"{a}, expected {b}"
    return out


def _close(a, b, tolerance):
    return not np.size(b) or np.max(np.abs(np.subtract(a, b, dtype=float))) <= tolerance * max(1, np.max(np.abs(b)))


def bit_differences(ours, theirs):
    """Names of the fields of two Compiled that are not equal bit by bit."""

    def equal(a, b, key):
        a, b = np.asarray(a.get(key)), np.asarray(b.get(key))
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()

    out = [name for name in ours.arrays.keys() | theirs.arrays.keys() if not equal(ours.arrays, theirs.arrays, name)]
    for group in ("sizes", "names", "texts", "modelname"):
        out += [group] * (getattr(ours, group, None) != getattr(theirs, group, None))
    for name in ("option", "stat"):
        a, b = getattr(ours, name), getattr(theirs, name)
        out += [f"{name}.{key}" for key in a.keys() | b.keys() if not equal(a, b, key)]
    for name, section in ours.visual.items():
        out += [f"visual.{name}.{key}" for key in section if not equal(section, theirs.visual[name], key)]
    return out


def their_model(text, assets=None):
    """MuJoCo's model of a text, None where it refuses the text."""
    try:
        return mujoco.MjModel.from_xml_string(text, assets)
    except ValueError:
        return None


def disagreements(texts, differences=differences):
    """dict text -> what differs, of the texts that only one engine accepts or that give models which differ."""
    out = {}
    for text in texts:
        theirs = their_model(text)
        try:
            ours = Model.from_xml_string(text)
        except MjcfError:
            ours = None
        if (ours is None) != (theirs is None):
            out[text] = "accepted" if ours else "refused"
        elif ours and (bad := differences(ours, theirs)):
            out[text] = bad
    return out


def refusal(text, words, assets=None):
    """The MjcfError of a text that MuJoCo refuses too; its message holds all of `words`."""
    assert their_model(text, assets) is None
    with pytest.raises(MjcfError) as info:
        Model.from_xml_string(text, assets)
    missing = [word for word in words if word not in str(info.value)]
    assert not missing, f"{missing} not in: {info.value}"
    return info.value
