"""tisim: MuJoCo's physics in Taichi kernels, for scenes of many passive bodies."""

from tisim.data import Data
from tisim.enums import *  # noqa: F403
from tisim.errors import CapacityError, Error, MjcfError, UnsupportedError
from tisim.model import Model
from tisim.pipeline import forward, step, step1, step2
from tisim.runtime import VERSION as __version__
from tisim.runtime import init
from tisim.state import get_state, reset, reset_keyframe, set_state

__all__ = [
    "CapacityError", "Data", "Error", "MjcfError", "Model", "UnsupportedError", "__version__", "forward", "get_state",
    "init", "reset", "reset_keyframe", "set_state", "step", "step1", "step2",
]  # fmt: skip
