"""What a page of shapes shows besides geoms, from the records that pictures and windows draw: sites, tendons, contacts,
forces, frames, what a mouse holds. One batch of viser for each class of them; one that is as before is not sent."""

import numpy as np

from tisim.data.pictures import CLASSES, WORDS
from tisim.errors import Error
from tisim.model.tables.colors import GAMMA
from tisim.viewer import adorned, shapes, shots
from tisim.viewer.scene import Scene

SEGMENTS = 16  # straight pieces of a circle
NAMES = ("balls", "rods", "boxes", "clear balls", "clear rods", "clear boxes")  # by class
# of each byte of a colour the byte that viser takes for instances: in proportion to light
LIGHT = (255 * (np.arange(256) / 255) ** GAMMA + 0.5).astype(np.uint8)


class Beside:
    """Batches of viser for what Controls show besides geoms.

    handles  of each class viser's handle, None before there was any.
    """

    def __init__(self, server):
        self._scene_api, self._scene = server.scene, None
        self.handles, self._told = [None] * CLASSES, ""
        self._sent = [np.zeros((0, WORDS), np.float32)] * CLASSES

    def update(self, c):
        """Sends what has changed; forces that are not known are not shown, and the Controls are told why."""
        if self._scene is None or self._scene.m is not c.m:
            self._scene = Scene(c.m)
        try:
            words, begin = adorned.sort(
                c.m, c.d, self._scene, shots.look_of(c), c.world, shots.records(c), split=True
            )  # fmt: skip
            self._told = ""
        except Error as error:
            words, begin, said = self._sent[0][:0], np.zeros(CLASSES + 1, int), str(error).splitlines()[0]
            if said != self._told:
                c.told = self._told = said
        for k in range(CLASSES):
            rows = words[begin[k] : begin[k + 1]]
            if not np.array_equal(rows.view(np.int32), self._sent[k].view(np.int32)):
                self._sent[k] = rows.copy()
                self._send(k, self._sent[k])

    def _send(self, k, rows):
        handle = self.handles[k]
        if handle is not None:
            handle.visible = len(rows) > 0
        if not len(rows):
            return
        pos, quat, size = (np.ascontiguousarray(rows[:, a:b]) for a, b in ((0, 3), (4, 8), (8, 11)))
        rgba = np.ascontiguousarray(rows[:, 11:]).view(np.uint8)
        color, clear = LIGHT[rgba[:, :3]], rgba[:, 3] / np.float32(255) if k >= CLASSES // 2 else None
        if handle is None:
            self.handles[k] = self._add(k, pos, quat, size, color, clear)
            return
        handle.batched_positions, handle.batched_wxyzs, handle.batched_scales = pos, quat, size
        handle.batched_colors, handle.batched_opacities = color, clear

    def _add(self, k, pos, quat, size, color, clear):
        kind = k % (CLASSES // 2)
        shape = (shapes.sphere(SEGMENTS), shapes.cylinder(SEGMENTS), shapes.box())[kind]
        return self._scene_api.add_batched_meshes_simple(
            f"/beside/{NAMES[k]}", shape.points, shape.triangles, quat, pos, batched_scales=size, batched_colors=color,
            batched_opacities=clear, lod="off", side="double", cast_shadow=False,
        )  # fmt: skip
