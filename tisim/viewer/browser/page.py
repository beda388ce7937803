"""Poses and colours of the geoms of a page, and of which batches something has changed, found by a kernel."""

import weakref

import numpy as np

from tisim.data.pictures import CAME, MOVED, PAINTED
from tisim.device import launch, memory, runtime, session
from tisim.viewer.measures import changes, color

PARALLEL = 2000  # geoms below which one CPU thread finds all
_owners = weakref.WeakKeyDictionary()  # of each Data: the Page whose geoms its arrays hold


class Page:
    """What a page shows of geoms (n,), batch by batch, as a kernel finds it (kernels/picture/page.py).

    starts  (nbatch + 1,) first place of each batch.
    """

    def __init__(self, m, geoms, starts):
        self.m, self._geoms, self._starts = m, np.asarray(geoms, np.int32), np.asarray(starts, np.int32)
        self._pose = self._hue = None

    def find(self, d, world, mode):
        """(nbatch,) int32: what has changed of each batch since the last time, in a world whose geoms have the colours
        of a mode."""
        m, n, nbatch = self.m, len(self._geoms), len(self._starts) - 1
        if not n:
            return np.zeros(nbatch, np.int32)
        painted, owner = changes(m, mode), _owners.get(d)
        if painted:
            color(m, d, world, mode)
        d.scratch("pic_color", max(1, m.ngeom))
        for name in ("pose", "hue"):
            d.scratch(f"pic_{name}", n)
        first = owner is None or owner() is not self
        if first:
            _owners[d] = weakref.ref(self)
            for name, values in (("page", self._geoms), ("batch", self._starts)):
                memory.upload(d.scratch(f"pic_{name}", len(values)), values)
        d.scratch("pic_change", nbatch)
        kernel, parallel = runtime.kernels("picture.page").place_page, session.arch != "cpu" or n >= PARALLEL
        launch.run(m, d, [kernel], parallel=parallel, picworld=world, npicbatch=nbatch, picpainted=int(painted))
        change = memory.part(d.device("pic_change"), 0, nbatch)
        if change.any() or first:
            self._pose, self._hue = (self._read(d, name) for name in ("pose", "hue"))
        return np.full(nbatch, MOVED | CAME | PAINTED, np.int32) if first else change

    def _read(self, d, name):
        """The array of a Data on the host; it is read before the kernel runs again."""
        a = d.device(f"pic_{name}")
        view = memory.host_view(a)
        return memory.download(a) if view is None else view

    def poses(self, rows):
        """Places (n, 3) [m] and quaternions (n, 4) f32 of some rows."""
        pose = self._pose.view(np.float32).reshape(-1, 8)[rows]
        return pose[:, :3].copy(), pose[:, 3:7].copy()

    def there(self, rows):
        """(n,) f32: 1 for who is there, 0 for who is not."""
        return self._pose.view(np.float32).reshape(-1, 8)[rows][:, 7].copy()

    def rgba(self, rows):
        """Colours (n, 4) uint8."""
        return self._hue.view(np.uint8).reshape(-1, 4)[rows]
