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
    "tisim.data.state": "copy_state extract_state get_state reset reset_keyframe reset_state "
    "set_keyframe set_state state_size",
    "tisim.device.bundle": "func",
    "tisim.device.runtime": "init",
    "tisim.device.variant": "kernel",
    "tisim.derivatives": "inverse_fd transition_fd",
    "tisim.errors": "CapacityError DivergedWarning Error MjcfError OverlapWarning UnsupportedError",
    "tisim.model.callback": "get_mjcb_act_bias get_mjcb_act_dyn get_mjcb_act_gain get_mjcb_contactfilter "
    "get_mjcb_control get_mjcb_passive get_mjcb_sensor reset_callbacks set_mjcb_act_bias set_mjcb_act_dyn "
    "set_mjcb_act_gain set_mjcb_contactfilter set_mjcb_control set_mjcb_passive set_mjcb_sensor",
    "tisim.model.model": "Model",
    "tisim.pipeline": "forward forward_skip inverse inverse_skip step step1 step2",
    "tisim.queries.distance": "geom_distance",
    "tisim.queries.inertia": "full_m mul_m mul_m2 rne solve_m solve_m2",
    "tisim.queries.jacobians": "angmom_mat jac jac_body jac_body_com jac_dot jac_geom jac_point_axis jac_site "
    "jac_subtree_com",
    "tisim.queries.motion": "apply_ft contact_force object_acceleration object_velocity rne_post_constraint",
    "tisim.queries.positions": "differentiate_pos integrate_pos local_to_global",
    "tisim.queries.muscle": "muscle_bias muscle_dynamics muscle_gain muscle_gain_length",
    "tisim.queries.rays": "multi_ray ray",
    "tisim.model.set_const": "set_const",
    "tisim.recording.recorder": "Recorder",
    "tisim.recording.recording": "Recording",
    "tisim.settling.settle": "settle",
    "tisim.settling.support": "overlaps support",
    "tisim.spec.spec": "Spec",
    "tisim.stages.colliders": "register_collider",
    "tisim.stages.coming": "add remove",
    "tisim.stages.sleep": "wake",
    "tisim.sweeping.sweep": "sweep",
    "tisim.viewer.mjv": "MjvCamera MjvGeom MjvOption MjvPerturb MjvScene mjv_connector mjv_defaultCamera "
    "mjv_defaultOption mjv_defaultPerturb mjv_initGeom mjv_init_geom",
    "tisim.viewer.perturb": "mjv_apply_perturb_force mjv_apply_perturb_pose",
    "tisim.viewer.camera": "default_free_camera mjv_defaultFreeCamera",
    "tisim.viewer.renderer": "Renderer",
}
_ASKED = "tisim.data.state", "tisim.derivatives"  # with tisim.queries, modules of functions that return what they find
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
_FOLDERS = (
    "data device enums errors gym mjcf model pipeline queries recording rollout settling spec stages sweeping viewer "
    "scenes".split()
)
__all__ = ["__version__", *_HOME]


def __getattr__(name):
    if name in _FOLDERS:
        return importlib.import_module(f"tisim.{name}")
    home = "tisim.enums" if name.startswith("mjt") else _HOME.get(name)
    if home is None or (home == "tisim.enums" and name not in dir(importlib.import_module(home))):
        from tisim.mujoco_names import missing

        raise missing(__name__, name, __dir__(), _HOME)
    from tisim.device import garbage

    with garbage.collected_later():
        value = getattr(importlib.import_module(home), name)
        if home in _ASKED or ".queries." in home:
            from tisim.mujoco_names import told

            value = told(name, value)
        globals()[name] = value
    return value


def __dir__():
    from tisim import enums

    return sorted({*__all__, *_FOLDERS, *(name for name in vars(enums) if name.startswith("mjt"))})
