"""Pictures of a film, several at the same time: each is drawn by one thread, on a processor of its own.

Where all threads draw one picture, they wait for each other at each of its kernels, and longest for the one whose
processor an encoder has. Of its own picture each draws whole rows of kernels without waiting, and its samples stay in
that processor's cache. What a picture shows is noted when it is asked for, so that the simulation may go on.
"""

import types

import tisim
from tisim.device import hands, memory
from tisim.viewer.caster import Caster
from tisim.viewer.far import sky_lamps
from tisim.viewer.offscreen import look_of_words
from tisim.viewer.renderer import Painter
from tisim.viewer.scene import KEPT, width

EACH = 2  # pictures that a thread draws before the simulation goes on: of one, it would wait for the slowest
LARGE = 20000  # records of a picture from which it draws one
HAND = 100  # numbers of hands from here on: those of environments and rollouts are lower


class Pictures:
    """Pictures of one size of a model, handed on in the order in which they were asked for.

    give  function of a picture (height, width, 3) uint8, called with each, by the thread that calls add or close.
    """

    def __init__(self, m, width, height, give):
        self._painter, self._give, self._waiting = Painter(m, width, height), give, []
        self._size, self._free = (width, height), []

    def add(self, d, camera, quality="sky", world=0, lamps=None, **look):
        """Asks for a picture of a world of the Data as it is now, from a camera; further words, and lamps, as
        those of `viewer.render`. It is drawn now or with one of the next."""
        sky_lamps(quality, lamps)
        self._painter.write(d, look_of_words(**look), world, quality=quality)
        if hands.number() < 2 or d._hand is not None or d.features().varied:
            self.close()
            self._give(self._painter.shoot(d, camera, quality, grow=True, geometry=False, floors=False, lamps=lamps)[0])
            return
        self._waiting.append(Noted(self._painter, d, camera, quality, lamps))
        if len(self._waiting) >= hands.number() * (EACH if self._painter.scene.n < LARGE else 1):
            self.close()

    def close(self):
        """Draws those that wait."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        while len(self._free) < hands.number():
            self._free.append(Drawer(waiting[0].scene.m, *self._size, HAND + len(self._free)))
        for picture in hands.at_once([lambda noted=noted: self._drawn(noted) for noted in waiting]):
            self._give(picture)

    def _drawn(self, noted):
        drawer = self._free.pop()
        try:
            return drawer.draw(noted)
        finally:
            self._free.append(drawer)


class Noted:
    """What a Painter has written for a picture: records (n), camera, quality, lamps of the sky, the model's."""

    def __init__(self, painter, d, camera, quality, lamps):
        scene = painter.scene
        self.camera, self.quality, self.lit = camera, quality, painter.lamps(d, camera)
        self.tile, self.lamps = painter.tile_of(camera), lamps
        self.scene = types.SimpleNamespace(m=scene.m, n=scene.n, translucent=scene.translucent, skybox=scene.skybox,
                                           textured=scene.textured, mirrors=scene.mirrors)  # fmt: skip
        self.records = {name: memory.part(d.device(f"pic_{name}"), 0, scene.n * width(name)) for name in KEPT}


class Drawer:
    """One thread's arrays for a picture."""

    def __init__(self, m, width, height, hand):
        self._caster, self._data = Caster(width, height), tisim.Data(m)
        hands.give(self._data, hand)

    def draw(self, noted):
        """The picture (height, width, 3) uint8."""
        d = self._data
        for name in (*KEPT, "plane"):
            place = d.scratch(f"pic_{name}", max(1, noted.scene.n))
            if name in noted.records:
                memory.upload(place, noted.records[name])
        return self._caster.shoot(d, noted.scene, noted.camera, noted.quality, tile=noted.tile, grow=True,
                                  lit=noted.lit, geometry=False, floors=False, lamps=noted.lamps)[0]  # fmt: skip
