"""tisim: MuJoCo's physics in Taichi kernels, for scenes of many passive bodies."""

import pathlib

# Run from a source tree, kernels/, scenes/ and models/ lie beside this folder; installed, they are inside it.
_source = pathlib.Path(__file__).resolve().parent.parent
if (_source / "kernels" / "types.py").exists():
    __path__.append(str(_source))

from tisim.data.data import Data
from tisim.data.state import get_state, reset, reset_keyframe, set_state
from tisim.device.runtime import VERSION as __version__
from tisim.device.runtime import init
from tisim.enums import *  # noqa: F403
from tisim.errors import CapacityError, Error, MjcfError, UnsupportedError
from tisim.model.model import Model
from tisim.pipeline import forward, step, step1, step2
from tisim.queries.distance import geom_distance
from tisim.queries.rays import multi_ray, ray
from tisim.spec.spec import Spec
from tisim.stages.colliders import register_collider

__all__ = [
    "CapacityError", "Data", "Error", "MjcfError", "Model", "Spec", "UnsupportedError", "__version__", "forward",
    "geom_distance", "get_state", "init", "multi_ray", "ray", "register_collider", "reset", "reset_keyframe",
    "set_state", "step", "step1", "step2",
]  # fmt: skip
