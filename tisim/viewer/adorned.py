"""What stands besides geoms as words for a window or a page: twelve each, sorted by shape and opacity.

The words are those of raster.py: place (3), half length of a capsule, quaternion (4), size (3), colour as rgba8.
"""

import numpy as np

from tisim.data.pictures import BLOCK, CLASSES, WORDS
from tisim.device import launch, memory, runtime, session
from tisim.viewer.overlays import PARALLEL

PIECES = 3  # of a capsule


def sort(m, d, scene, look, world=0, more=None, split=False):
    """Words (n, 12) f32 of what Scene.write_overlays lists, and the first of each class (7,): round things, cylinders,
    boxes, the same of what can be seen through, all. They are good until the next call with this Data.

    split  a capsule is two balls and a cylinder.
    """
    first = scene.write_overlays(d, look, world, more)
    n = scene.n - first
    if not n:
        return np.zeros((0, WORDS), np.float32), np.zeros(CLASSES + 1, np.int32)
    place = d.scratch("pic_shown", WORDS * n * (PIECES if split else 1))
    d.scratch("pic_place", CLASSES * -(-n // BLOCK))
    d.scratch("pic_class", CLASSES + 1)
    kernel, parallel = runtime.kernels("picture.instances").sort_records, session.arch != "cpu" or n >= PARALLEL
    launch.run(m, d, [kernel], parallel=parallel, picat=first, npic=scene.n, picsplit=int(split))
    begin = memory.part(d.device("pic_class"), 0, CLASSES + 1)
    shown = memory.host_view(place)
    shown = (memory.download(place) if shown is None else shown).view(np.float32)
    return shown[: WORDS * begin[-1]].reshape(-1, WORDS), begin
