"""What follows in each world from parameters of its own: masses of subtrees, weights, frames (set_const per world)."""

import numpy as np

from tisim.enums import mjtGeom
from tisim.errors import Error, UnsupportedError, ValuesError
from tisim.mjcf.elements import shapes
from tisim.model import validate
from tisim.model.device_model import DERIVED
from tisim.model.set_const import constants

# fields from which others follow
CAUSES = """body_mass body_inertia body_ipos body_iquat body_pos body_quat dof_armature geom_pos geom_quat
    geom_size""".split()
FIELDS = """body_subtreemass body_invweight0 dof_M0 dof_invweight0 dof_length tendon_length0 tendon_invweight0
    actuator_acc0 eq_data geom_rbound""".split()  # that follow
TABLES = """body_place body_turn geom_place geom_turn site_place site_turn medium_box geom_box geom_reach
    geom_semiaxes""".split()
MEAN = "stat.meaninertia"
FOLLOWING = (*FIELDS, *TABLES, MEAN)
UNASKED = ("light_", "cam_", "actuator_length0")  # what no stage of a step asks for, but for sensors of cameras
BOUNDS = "geom_aabb"  # asked for by way of tables, and of meshes
HEAVY = ("mesh_", "tex_", "hfield_", "skin_", "key_")  # what no constant follows from is not copied


class _Alone:
    """A world's model, as far as tables ask for it."""

    def __init__(self, m, arrays):
        self._m, self._a, self._tables = m, arrays, {}

    def __getattr__(self, name):
        return self._a[name] if name in self._a else getattr(self._m, name)

    def derived(self, name):
        if name not in self._tables:
            self._tables[name] = DERIVED[name].make(self)
        return self._tables[name]


def follow(d, varied):
    """dict name -> (nworld, ...) of what differs between worlds because these fields do, {field: (nworld, ...)}.

    Raises ValuesError for parameters that do not fit each other, UnsupportedError where something differs that has to
    be the same in all worlds.
    """
    m, causes = d.model, [name for name in CAUSES if name in varied]
    if not causes:
        return {}
    fixed = {name: np.asarray(x) for name, x in m._arrays.items()}
    rows = {name: [] for name in FOLLOWING}
    for w in range(d.nworld):
        a = {name: x if name.startswith(HEAVY) else x.copy() for name, x in fixed.items()}
        a |= {name: np.array(values[w]) for name, values in varied.items() if name in a}
        if "geom_size" in varied:
            _bound(a)
        if found := validate.problem(a, m._sizes, set(causes)):
            raise ValuesError(f"world {w}: {found}")
        try:
            stat = constants(m, a)
        except Error as e:
            raise ValuesError(f"world {w}: {e}") from None
        one = _Alone(m, a)
        _refuse_others(m, one, a, fixed, varied, causes, w)
        for name in FIELDS:
            rows[name].append(a[name])
        for name in TABLES:
            rows[name].append(np.asarray(one.derived(name), float))
        rows[MEAN].append([stat["meaninertia"]])
    models = {name: fixed[name] for name in FIELDS} | {name: np.asarray(m.derived(name), float) for name in TABLES}
    models[MEAN] = [m.stat.meaninertia]
    found = {name: np.array(rows[name]) for name in FOLLOWING}
    return {name: x for name, x in found.items() if x.size and (x != models[name]).any()}


def _bound(a):
    """Makes the bounds of geoms follow from their sizes, as when a model is compiled."""
    kind, size = a["geom_type"], a["geom_size"]
    own = (kind != mjtGeom.mjGEOM_MESH) & (kind != mjtGeom.mjGEOM_HFIELD)
    a[BOUNDS][own] = shapes.bounding_box(kind[own], size[own])
    a["geom_rbound"][own] = shapes.bounding_radius(kind[own], size[own])


def _refuse_others(m, one, a, fixed, varied, causes, w):
    """Raises UnsupportedError where a world differs in what no kernel takes by world."""
    changed = {name for name in a if a[name] is not fixed[name] and not np.array_equal(a[name], fixed[name])}
    unasked = UNASKED if not len(m.derived("camera_sensor")) else tuple(x for x in UNASKED if x != "cam_")
    known = {*varied, *FIELDS, BOUNDS}
    bad = [x for x in changed if x not in known and not x.startswith(unasked)]
    for name, table in DERIVED.items():
        if table.dtype and name not in TABLES and changed.intersection(table.reads):
            if not np.array_equal(one.derived(name), m.derived(name)):
                bad.append(name)
    if bad:
        raise UnsupportedError(
            f"world {w}: {', '.join(causes)} changes {', '.join(sorted(bad))}, which is the same in all worlds"
        )
