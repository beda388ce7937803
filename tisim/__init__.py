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
    "tisim.data.state": "get_state reset reset_keyframe set_state",
    "tisim.device.runtime": "init",
    "tisim.errors": "CapacityError DivergedWarning Error MjcfError UnsupportedError",
    "tisim.model.model": "Model",
    "tisim.pipeline": "forward step step1 step2",
    "tisim.queries.distance": "geom_distance",
    "tisim.queries.rays": "multi_ray ray",
    "tisim.spec.spec": "Spec",
    "tisim.stages.colliders": "register_collider",
    "tisim.stages.sleep": "wake",
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


# names of MuJoCo's functions and classes that are others here
_THEIRS = dict(
    MjModel="Model", MjData="Data", MjSpec="Spec", mj_resetData="reset", mj_resetDataKeyframe="reset_keyframe",
    mj_getState="get_state", mj_setState="set_state", mj_multiRay="multi_ray", mj_geomDistance="geom_distance",
)  # fmt: skip


def _unknown(name):
    """The error for a name that does not exist, with the one that may be meant."""
    ours = _THEIRS.get(name, name.removeprefix("mj_"))
    hint = f"; the name is {ours}" if ours in _HOME else ""
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
