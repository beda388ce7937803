"""Colours of shapes by mode, and what these modes measure.

Forces are those of the contacts that the Data lists: of the last step or forward, without those between sleepers.
"""

import numpy as np

from tisim.data.pictures import BLOCK
from tisim.device import launch, memory, runtime, session
from tisim.enums import mjtDisableBit
from tisim.errors import Error, brief
from tisim.model.tables.colors import MODES
from tisim.viewer import overlays

PARALLEL = 2000  # things below which one CPU thread does all


def measured(m, d, world, mode):
    """(nbody,) what a mode measures of bodies: "speed" of the centre of mass [m/s], "force", the sum of the normal
    forces of contacts [N]; 0 for what cannot move."""
    _measure(m, d, world, mode)
    return memory.part(d.device("pic_measure"), 0, m.nbody)


def touching(m, d, world, body):
    """How many contacts a body has, as the Data lists them."""
    ncon = d.count("ncon")
    if not ncon:
        return 0
    overlays.room(d, "pic_touch", 1 + -(-ncon // BLOCK))
    _run(m, d, [runtime.kernels("picture.contacts").count_touching], ncon, world, picbody=body)
    return int(memory.part(d.device("pic_touch"), 0, 1)[0])


def _measure(m, d, world, mode):
    """Writes pic_measure and pic_most."""
    k = runtime.kernels("picture.colors")
    d.scratch("pic_measure", max(1, m.nbody))
    overlays.room(d, "pic_press", d.count("ncon"))
    if mode == "speed":
        return _run(m, d, [k.body_speeds, k.find_most], m.nbody, world)
    overlays.find_forces(m, d)
    _run(m, d, [runtime.kernels("picture.contacts").contact_presses], d.count("ncon"))
    _run(m, d, [k.body_forces, k.find_most], m.nbody, world)


def _run(m, d, kernels, n, world=0, **scalars):
    """Launches kernels over n things."""
    launch.run(m, d, kernels, parallel=session.arch != "cpu" or n >= PARALLEL, picworld=world, **scalars)


def check_color(color):
    """Refuses what is no colour mode."""
    if color not in MODES:
        raise Error(f"color={brief(color)}: expected {', '.join(map(repr, MODES[:-1]))} or {MODES[-1]!r}")


def changes(m, mode):
    """Whether geoms of a model may have other colours than their own in a mode."""
    return mode != "geom" or bool(m.ntree and m.features().sleep)


def color(m, d, world, mode):
    """Writes pic_color: the colours of the geoms of a world by a mode of `render`. What sleeps is darker, but where
    colours say so or tell groups."""
    k = runtime.kernels("picture.colors")
    d.scratch("pic_color", max(1, m.ngeom))
    d.scratch("pic_measure", max(1, m.nbody))
    for name in ("label", "before_tree"):
        d.scratch(f"pic_{name}", max(1, m.ntree))
    labelled = 0
    if mode == "island" and m.ntree and not m.disabled(mjtDisableBit.mjDSBL_ISLAND):
        sleep = m.features().sleep
        if sleep:
            _run(m, d, [k.precede_sleepers, k.label_sleepers], m.ntree, world)
        labelled = int(bool(d.nisland) or sleep)
    if mode in ("speed", "force"):
        _measure(m, d, world, mode)
    if m.ngeom:
        _run(m, d, [k.color_geoms], m.ngeom, world, piccolor=MODES.index(mode), labelled=labelled)


def color_bytes(m, d, world, mode):
    """(ngeom, 4) uint8 of the same."""
    color(m, d, world, mode)
    d.scratch("pic_byte", max(1, m.ngeom))
    if m.ngeom:
        _run(m, d, [runtime.kernels("picture.colors").pack_colors], m.ngeom)
    return memory.part(d.device("pic_byte"), 0, m.ngeom).view(np.uint8).reshape(-1, 4)
