"""Records of what is drawn besides geoms and sites, as the viewer's kernels list them."""

import numpy as np

from tisim.device import memory
from tisim.viewer import decor
from tisim.viewer.scene import Scene

WIDTHS = dict(kind=1, pos=3, mat=9, size=3, rgba=4, thing=2)


def overlays(m, d, look, world=0, more=None):
    """(kind (n,), pos (n, 3), mat (n, 3, 3), size (n, 3), rgba (n, 4), id and mjtObj (n, 2)) of a Look."""
    scene = Scene(m)
    first = scene.write_overlays(d, look, world, more)
    n = scene.n - first  # where it is 0 there may be no arrays yet
    kind, *rest = (
        memory.part(d.device(f"pic_{name}"), width * first, width * n).reshape(n, width) if n else np.zeros((0, width))
        for name, width in WIDTHS.items()
    )
    there = kind[:, 0] >= 0
    pos, mat, size, rgba, thing = (np.array(x[there]) for x in rest)
    return kind[there, 0], pos, mat.reshape(-1, 3, 3), size, rgba, thing


def opacities(m, d, look):
    """{(id, mjtObj): opacity} of the geoms, sites and tendons that a picture shows."""
    scene = Scene(m)
    scene.write(d, look)
    kind, rgba, thing = (
        memory.part(d.device(f"pic_{name}"), 0, WIDTHS[name] * scene.n).reshape(scene.n, -1)
        for name in ("kind", "rgba", "thing")
    )
    return {tuple(thing[k].tolist()): float(rgba[k, 3]) for k in np.flatnonzero((kind[:, 0] >= 0) & (thing[:, 1] >= 0))}


def of_window(m, d, opt, chains=False, **hand):
    """The same, but the last, of a window's MjvOption."""
    return overlays(m, d, decor.look_of(m, opt, chains=chains), more=decor.of(m, d, opt, **hand))[:5]
