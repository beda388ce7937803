"""What pictures show besides shapes: colours by mode, and how forces go from body to body.

Forces are those of the contacts that the Data lists: of the last step or forward, without those between sleepers.
"""

import numpy as np

from tisim.data import on_demand
from tisim.device import launch, memory, runtime, session
from tisim.enums import mjtDisableBit
from tisim.errors import Error
from tisim.mjcf.rotations import cross
from tisim.model import lcp
from tisim.model.tables.colors import MODES
from tisim.queries.motion import contact_force

ROD = np.array([0.86, 0.10, 0.10, 1.0])  # colour of a chain
THICK = 0.25  # radius of the rod of the greatest force, in radii of a middling geom
PARALLEL = 2000  # things below which one CPU thread does all
FAINT = 1e-3  # part of the greatest force below which no rod is drawn


def measured(m, d, world, mode):
    """(nbody,) what a mode measures of bodies: "speed" of the centre of mass [m/s], "force", the sum of the normal
    forces of contacts [N]; 0 for what cannot move."""
    _measure(m, d, world, mode)
    return memory.part(d.device("pic_measure"), 0, m.nbody)


def _measure(m, d, world, mode):
    """Writes pic_measure and pic_most."""
    k = runtime.kernels("picture.colors")
    for name, n in (("measure", m.nbody), ("press", d.count("ncon"))):
        d.scratch(f"pic_{name}", max(1, n))
    if mode == "speed":
        return _run(m, d, [k.body_speeds, k.find_most], m.nbody, world)
    if lcp.chosen(m):
        force = contact_force(m, d, np.arange(d.count("ncon")))[:, 0]
        memory.upload(d.device("pic_press"), force.astype(session.numpy_float()))
    else:
        on_demand.rows(m, d)
        _run(m, d, [k.contact_presses], d.count("ncon"))
    _run(m, d, [k.body_forces, k.find_most], m.nbody, world)


def _run(m, d, kernels, n, world=0, **scalars):
    """Launches kernels over n things."""
    launch.run(m, d, kernels, parallel=session.arch != "cpu" or n >= PARALLEL, picworld=world, **scalars)


def pressing(m, d, world):
    """(places (k,) in d.contact of the contacts of a world that press, their normal forces (k,) [N], bodies (k, 2))."""
    places = np.flatnonzero(np.asarray(d.contact.worldid) == world)
    force = contact_force(m, d, places)[:, 0]
    places, force = places[force > 0], force[force > 0]
    bodies = np.asarray(m.geom_bodyid)[np.asarray(d.contact.geom).reshape(-1, 2)[places]].reshape(-1, 2)
    return places, force, bodies


def check_color(color):
    """Refuses what is no colour mode."""
    if color not in MODES:
        raise Error(f"color={color!r}: expected {', '.join(map(repr, MODES[:-1]))} or {MODES[-1]!r}")


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


def chains(m, d, world):
    """Rods from the centres of bodies to their contacts: (middles (k, 3), rotations (k, 3, 3) with z along the rod,
    radii (k,), half lengths (k,)) [m]. The cross section of a rod grows with the normal force."""
    places, force, bodies = pressing(m, d, world)
    strong = force > FAINT * np.max(force, initial=0.0)
    places, force, bodies = places[strong], force[strong], bodies[strong]
    at = np.asarray(d.contact.pos, float).reshape(-1, 3)[places]
    centre = np.asarray(d.xipos, float).reshape(-1, m.nbody, 3)[world]
    begin, end = np.concatenate([centre[bodies[:, 0]], centre[bodies[:, 1]]]), np.concatenate([at, at])
    moves = (np.asarray(m.body_weldid) > 0)[bodies.T.ravel()]
    begin, end, force = begin[moves], end[moves], np.concatenate([force, force])[moves]
    length = np.linalg.norm(end - begin, axis=1)
    long = length > 0
    begin, end, force, length = begin[long], end[long], force[long], length[long]
    z = (end - begin) / length[:, None]
    side = np.where(np.abs(z[:, 2:]) > 0.9, [[1.0, 0, 0]], [[0, 0, 1.0]])
    x = cross(side, z)
    x /= np.linalg.norm(x, axis=1)[:, None]
    radius = np.asarray(m.geom_rbound, float)
    thick = THICK * np.median(radius[radius > 0]) if (radius > 0).any() else 0.0
    radii = thick * np.sqrt(force / force.max(initial=1e-300))
    return 0.5 * (begin + end), np.stack([x, cross(z, x), z], 2), radii, 0.5 * length
