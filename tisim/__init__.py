"""tisim: MuJoCo's physics in Taichi kernels, for scenes of many passive bodies.

A name is loaded when it is first asked for, so that a command or a script waits for no more than it uses.
"""

import importlib
import os

# Run from a source tree, kernels/, scenes/ and models/ lie beside this folder; installed, they are inside it.
_source = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
if os.path.exists(os.path.join(_source, "kernels", "types.py")):
    __path__.append(_source)

# NumPy's OpenBLAS, when loaded, lets its threads spin for 2**26 cycles: a tenth of the processor time of a short run.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")

__version__ = "0.2.0"
_HOMES = {
    "tisim.data.data": "Data",
    "tisim.data.state": "copy_state extract_state get_state reset reset_keyframe set_keyframe set_state state_size",
    "tisim.device.runtime": "init",
    "tisim.derivatives": "inverse_fd transition_fd",
    "tisim.errors": "CapacityError DivergedWarning Error MjcfError UnsupportedError",
    "tisim.model.model": "Model",
    "tisim.pipeline": "forward forward_skip inverse inverse_skip step step1 step2",
    "tisim.queries.distance": "geom_distance",
    "tisim.queries.inertia": "full_m mul_m mul_m2 rne solve_m solve_m2",
    "tisim.queries.jacobians": "angmom_mat jac jac_body jac_body_com jac_dot jac_geom jac_point_axis jac_site "
    "jac_subtree_com",
    "tisim.queries.motion": "apply_ft contact_force object_acceleration object_velocity rne_post_constraint",
    "tisim.queries.positions": "differentiate_pos integrate_pos local_to_global",
    "tisim.queries.rays": "multi_ray ray",
    "tisim.model.set_const": "set_const",
    "tisim.spec.spec": "Spec",
    "tisim.stages.colliders": "register_collider",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
_FOLDERS = "data device enums errors mjcf model pipeline queries spec stages viewer scenes".split()
__all__ = ["__version__", *_HOME]


def __getattr__(name):
    if name in _FOLDERS:
        return importlib.import_module(f"tisim.{name}")
    home = "tisim.enums" if name.startswith("mjt") else _HOME.get(name)
    if home is None:
        raise _unknown(name)
    from tisim.device import garbage

    with garbage.collected_later():
        value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


# names of MuJoCo's functions and classes that are others here than their words joined by underlines
_THEIRS = dict(
    MjModel="Model", MjData="Data", MjSpec="Spec", mj_resetData="reset", mj_resetDataKeyframe="reset_keyframe",
    mj_applyFT="apply_ft", mj_local2Global="local_to_global", mj_makeData="Data", mjd_transitionFD="transition_fd",
    mjd_inverseFD="inverse_fd",
)  # fmt: skip
# what stands for those that are no functions here
_INSTEAD = dict(
    mj_loadXML="Model.from_xml_path", mj_loadModel="Model.load", mj_saveModel="m.save", mj_saveLastXML="m.save",
    mj_copyData="copy.copy(d)", mj_copyModel="copy.copy(m)", mj_name2id="m.name2id", mj_id2name="m.id2name",
    mj_isPyramidal="m.opt.cone", mj_mulJacVec="d.efc_J @ vec", mj_mulJacTVec="d.efc_J.T @ vec",
    mj_getTotalmass="m.body_mass.sum()",
    **dict.fromkeys(
        """mj_kinematics mj_comPos mj_crb mj_makeM mj_factorM mj_collision mj_comVel mj_passive mj_fwdPosition
        mj_fwdVelocity mj_fwdAcceleration mj_fwdConstraint mj_makeConstraint mj_island""".split(), "forward"),
    **dict.fromkeys("mj_invPosition mj_invVelocity mj_invConstraint mj_discreteAcc".split(), "inverse"),
    **dict.fromkeys("mj_Euler mj_RungeKutta mj_implicit mj_compareFwdInv".split(), "step"),
)  # fmt: skip


def _ours(name):
    """Name here of a function or class of MuJoCo's: mj_jacBodyCom is jac_body_com."""
    words = name.removeprefix("mj_")
    return _THEIRS.get(name) or "".join(f"_{c.lower()}" if c.isupper() else c for c in words)


def _unknown(name):
    """The error for a name that does not exist, with the one that may be meant."""
    ours = _ours(name)
    hint = f"; the name is {ours}" if ours in _HOME else ""
    if name in _INSTEAD:
        hint = f"; use {_INSTEAD[name]}"
    if not hint and not name.startswith("_"):
        from tisim.mjcf.format.names import nearest

        hint = nearest(name, __dir__())
    if name.startswith("_"):
        return AttributeError(f"module 'tisim' has no attribute '{name}'")
    from tisim.errors import FieldError

    return FieldError(f"module 'tisim' has no attribute '{name}'{hint}")


def __dir__():
    from tisim import enums

    return sorted({*__all__, *_FOLDERS, *(name for name in vars(enums) if name.startswith("mjt"))})
