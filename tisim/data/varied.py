"""Parameters that differ between worlds: `Data.vary`.

The values of all worlds are kept on the host in double precision and on the device, where kernels read them in place of
the model's array (tisim/device/by_world.py).
"""

import operator

import numpy as np

from tisim.device import memory
from tisim.enums import mjtBias, mjtGeom
from tisim.errors import Error, FieldError, UnsupportedError, ValuesError, brief
from tisim.mjcf.format.names import nearest
from tisim.model import validate
from tisim.model.callback import takes
from tisim.model.device_model import DERIVED
from tisim.model.fields import FIELDS
from tisim.model.watched import floats

from . import asleep, following
from .state import seeded, world_indices

VARIABLE = (
    """opt.gravity geom_friction geom_solmix geom_solref geom_solimp geom_margin geom_gap qpos_spring
    jnt_stiffness jnt_range dof_damping dof_frictionloss actuator_gainprm actuator_biasprm actuator_ctrlrange
    actuator_forcerange eq_data""".split()
    + following.CAUSES
)
# fields in which a number that is not zero asks for kernels, or rows, that zero does not: which of an item's numbers
DECIDES = dict(dof_damping=..., dof_frictionloss=..., actuator_gainprm=(..., 2), actuator_biasprm=(..., 2))
# those from which follows what is not computed anew in each step: boxes of a search for pairs, poses of static bodies
PLACES = ("geom_margin", "geom_size", "body_pos", "body_quat", "geom_pos", "geom_quat")
BY_PLACE = (
    "geom_size",
    "geom_rbound",
    "geom_box",
    "geom_reach",
    "geom_semiaxes",
)  # which kernels read by a geom's place


def argument(field):
    """Name of the kernels' argument that brings a field of all worlds."""
    return field.replace(".", "_")


def vary(d, field, values, worlds=None, seed=0):
    """Gives a field of the model other values in each world: see Data.vary."""
    if field not in VARIABLE:
        raise _refusal(d.model, field)
    if values is None:
        if worlds is not None:
            raise Error(
                f"vary({brief(field)}, None) takes the model's values in all worlds again; worlds={brief(worlds)}"
            )
        put(d, {name: x for name, x in d._varied.items() if name != field})
        return
    index = world_indices(d, worlds)
    model = np.array(operator.attrgetter(field)(d.model), float)
    values = _drawn(field, model, values, index, seed) if callable(values) else _given(field, model, values, index)
    _check(d, field, model, values, index)
    whole = d._varied.get(field)
    whole = np.repeat(model[None], d.nworld, axis=0) if whole is None else whole.copy()
    whole[index] = values
    whole.flags.writeable = False
    put(d, d._varied | {field: whole})


def put(d, varied):
    """Lets these fields differ between worlds and no others: {field: (nworld, ...)}, which were looked at."""
    d.pay()
    arrays = varied | following.follow(d, varied)
    kept, d._varied = d._varied, varied
    d._following = tuple(name for name in arrays if name not in varied)
    if {argument(name) for name in arrays} != d._by_world.keys():
        d._vary_otherwise()
    gone = kept.keys() - arrays.keys()
    for name in d._by_world.keys() - {argument(name) for name in arrays}:
        memory.delete_array(d._by_world.pop(name))
    other = {name: values for name, values in arrays.items() if values is not kept.get(name)}
    for name, values in other.items():
        if (key := argument(name)) not in d._by_world:
            d._by_world[key] = memory.new_array(_dtype(name), values.size, _width(name, values))
        a = d._by_world[key]
        memory.upload(a, values.reshape(-1).astype(memory.number_type(a)))
    _tell(d, gone | other.keys())


def _tell(d, fields):
    """What was made of other values of these fields is made anew."""
    places = fields.intersection(PLACES)
    if places:
        d._info.pop("collision", None)
        d._vary_otherwise()
    if places or (fields and asleep.listed(d.model)):  # sleepers have poses and inertias of before
        asleep.edited(d)


def _dtype(name):
    """The dtype with which an array is declared, or a vector of options."""
    return FIELDS[name].kind if name in FIELDS else DERIVED[name].dtype if name in DERIVED else "f"


def _width(name, values):
    """Numbers of an element, as kernels see it."""
    if name in FIELDS:
        return FIELDS[name].width
    return DERIVED[name].width if name in DERIVED else values.shape[1]


def _refusal(m, field):
    known = f"that may differ between worlds: {', '.join(VARIABLE)}"
    if isinstance(field, str) and (field in FIELDS or field in [f"opt.{name}" for name, _ in m.opt.items()]):
        return FieldError(f"{field} is the same in all worlds: it is none of the fields {known}")
    return FieldError(f"{brief(field)} is no field of a Model{nearest(str(field), VARIABLE)}; those {known}")


def _given(field, model, values, index):
    """Values of these worlds as an array like the field, with the worlds in front."""
    values = floats(field, values)
    shape = (len(index), *model.shape)
    try:
        if values.ndim != len(shape) or values.shape[0] != shape[0]:
            raise ValueError
        return np.broadcast_to(values, shape)
    except ValueError:
        raise ValuesError(
            f"{field}: values have shape {values.shape}, expected {shape}, the worlds in front; other axes may be 1"
        ) from None


def _drawn(field, model, draw, index, seed):
    """Values of these worlds that follow from the field's name, a world's seed and its index alone."""
    if not takes(draw, 2):
        raise Error(
            f"vary({field!r}): the function is given two arguments, a NumPy Generator and the model's array, as in "
            f"lambda rng, value: value * rng.uniform(0.5, 1.5); {draw!r} does not take two"
        )
    rows = []
    for world, s in zip(index.tolist(), seeded(seed, index)):
        row = floats(field, draw(np.random.default_rng([s, world, *field.encode()]), model.copy()))
        try:
            rows.append(np.broadcast_to(row, model.shape))
        except ValueError:
            raise ValuesError(f"{field}: the function gave shape {row.shape}, expected {model.shape}") from None
    return np.reshape(rows, (len(index), *model.shape))


def _check(d, field, model, values, index):
    """Raises ValuesError for values that no model may have, or that ask for other kernels than the model's."""
    m = d.model
    for world, row in zip(index.tolist(), values):
        found = validate.numbers(field, row, m._sizes)
        if found:
            raise ValuesError(f"world {world}: {found}")
    part = DECIDES.get(field)
    if part is not None and ((values != 0) != (model != 0))[part].any():
        world = index[np.flatnonzero(((values != 0) != (model != 0))[part].reshape(len(index), -1).any(1))[0]]
        raise ValuesError(
            f"world {world}: {field} is zero where the model's is not, or the other way round; that decides what is "
            "computed, so it is so in all worlds or in none"
        )
    asset = np.isin(m.geom_type, (mjtGeom.mjGEOM_MESH, mjtGeom.mjGEOM_HFIELD))
    if field == "geom_size" and (values[:, asset] != model[asset]).any():
        raise ValuesError("geom_size of meshes and height fields says nothing: their sizes are those of their assets")
    if field == "geom_margin" and len(m.derived("mid_body")):
        raise UnsupportedError("geom_margin is the same in all worlds where a body has many geoms: their tree has it")
    if field == "actuator_biasprm" and ((m.actuator_biastype == mjtBias.mjBIAS_AFFINE) & (values[..., 2] > 0)).any():
        raise UnsupportedError("actuator_biasprm: a positive third number may be a damping ratio, which is not made a "
                               "damping for each world: give the damping, negative")  # fmt: skip


def of_world(d, field, world):
    """A field's values in a world of a Data."""
    return d._varied[field][world] if field in d._varied else np.asarray(getattr(d.model, field))


def refuse(d, what, *fields):
    """Raises UnsupportedError for what knows only the model's values, of any field or of these."""
    if bad := [name for name in d._varied if not fields or name in fields]:
        raise UnsupportedError(f"{what} would use the model's {', '.join(bad)}, which differ between the worlds")


def check(d):
    """Raises UnsupportedError where the second dynamics does not take what varies."""
    for name in ("geom_margin", "geom_size"):
        if name in d._varied:
            raise UnsupportedError(f"dynamics lcp takes {name} the same in all worlds: d.vary({brief(name)}, None)")
