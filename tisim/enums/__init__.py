"""MuJoCo 3.4.0's enums, names and numbers alike. Numbers are part of the interface: models and options hold them."""

from .data import *  # noqa: F403
from .model import *  # noqa: F403
from .spec import *  # noqa: F403
from .visualize import *  # noqa: F403
