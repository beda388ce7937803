"""tisim: MuJoCo's physics in Taichi kernels, for scenes of many passive bodies."""

import pathlib

# Run from a source tree, kernels/, scenes/ and models/ lie beside this folder; installed, they are inside it.
_source = pathlib.Path(__file__).resolve().parent.parent
if (_source / "kernels" / "types.py").exists():
    __path__.append(str(_source))

from tisim.colliders import register_collider
from tisim.data import Data
from tisim.distance import geom_distance
from tisim.enums import *  # noqa: F403
from tisim.errors import CapacityError, Error, MjcfError, UnsupportedError
from tisim.model import Model
from tisim.pipeline import forward, step, step1, step2
from tisim.rays import multi_ray, ray
from tisim.runtime import VERSION as __version__
from tisim.runtime import init
from tisim.spec.spec import Spec
from tisim.state import get_state, reset, reset_keyframe, set_state

__all__ = [
    "CapacityError", "Data", "Error", "MjcfError", "Model", "Spec", "UnsupportedError", "__version__", "forward",
    "geom_distance", "get_state", "init", "multi_ray", "ray", "register_collider", "reset", "reset_keyframe",
    "set_state", "step", "step1", "step2",
]  # fmt: skip
