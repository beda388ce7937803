"""Scenes by name, as MJCF text that MuJoCo runs too; for tests, benchmarks, the command line and the viewer alike.

    tisim.scenes.build("dominos", n=500)     MJCF text
    tisim.Model.from_scene("dominos", n=500)

Each scene has a file of its own: a function that returns the text and has defaults for all parameters.
"""

import difflib
import inspect

import numpy as np
from tisim.scenes.adhesion import adhesion, lift
from tisim.scenes.arms import arms
from tisim.scenes.arms import wave as arms_wave
from tisim.scenes.bowl import bowl
from tisim.scenes.bridge import bridge
from tisim.scenes.cards import cards
from tisim.scenes.chain import chain
from tisim.scenes.crank import crank, wave
from tisim.scenes.dominos import dominos, falling
from tisim.scenes.drum import drum
from tisim.scenes.drum import turn as turn_drum
from tisim.scenes.hopper import hopper
from tisim.scenes.joints import joints
from tisim.scenes.motor import motor, turn_back
from tisim.scenes.net import net
from tisim.scenes.pendulum import pendulum
from tisim.scenes.pile import pile
from tisim.scenes.pyramid import pyramid
from tisim.scenes.pyramids import pyramids
from tisim.scenes.ragdolls import ragdolls
from tisim.scenes.rows import rows
from tisim.scenes.shapes import shapes
from tisim.scenes.terrain import terrain
from tisim.scenes.thrusters import fire, thrusters
from tisim.scenes.tower import tower
from tisim.scenes.wall import wall

from tisim.errors import Error

_SCENES = {f.__name__: f for f in (
    pile, dominos, wall, pyramid, tower, ragdolls, shapes, bowl, terrain, cards, chain, pendulum, joints, rows,
    pyramids, net, bridge, motor, crank, adhesion, thrusters, arms, hopper, drum
)}  # fmt: skip
_SECONDS = {"dominos": falling, "motor": lambda: 2.5, "adhesion": lambda **_: 0.45, "thrusters": lambda: 0.4}
_CONTROLS = {
    "motor": turn_back,
    "crank": wave,
    "adhesion": lift,
    "thrusters": fire,
    "arms": arms_wave,
    "drum": turn_drum,
}
MOST = 10_000_000  # n of a scene: more would be text without end
SECONDS = 3.0  # in which other scenes show what they are about [s]


def names():
    """Names of the scenes."""
    return list(_SCENES)


def get(name):
    """The function that builds a scene; raises Error for an unknown name, listing near ones."""
    if name not in _SCENES:
        near = difflib.get_close_matches(str(name), _SCENES, 3, 0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(_SCENES)}"
        raise Error(f"no scene is named {name!r}; {hint}")
    return _SCENES[name]


def params(name):
    """Parameters of the scene of this name and their defaults, in order."""
    return {p.name: p.default for p in inspect.signature(get(name)).parameters.values()}


def about(name):
    """One line saying what the scene of this name shows."""
    return inspect.getdoc(get(name)).splitlines()[0]


def seconds(name, **values):
    """How long the scene of this name with these parameters is worth looking at [s]."""
    return _SECONDS[name](**values) if name in _SECONDS else SECONDS


def control(name):
    """The control callback f(m, d) of the scene of this name, for MuJoCo as for tisim; None if it has none."""
    return _CONTROLS.get(name)


def build(name, **values):
    """MJCF text of the scene of this name; raises Error for a parameter it does not have or cannot use."""
    known = params(name)
    values = {key: value.item() if isinstance(value, np.generic) else value for key, value in values.items()}
    for key, value in values.items():
        if key not in known:
            raise Error(f"scene {name} has no parameter {key!r}; it takes {', '.join(known)}")
        default = known[key]
        kinds = {bool: (bool,), int: (int,), float: (int, float), str: (str,)}[type(default)]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise Error(f"scene {name}: {key}={value!r}: expected a value like {default!r}")
        if key == "n" and not 1 <= value <= MOST:
            raise Error(f"scene {name}: n={value}: expected at least 1, and {MOST} at most")
        if key == "seed" and value < 0:
            raise Error(f"scene {name}: seed={value}: expected at least 0")
    return get(name)(**values)
