"""The interactive window: GGUI shows a simulation, keys and the mouse act on it (`controls.py`, `keys.py`)."""

import time

import numpy as np

from tisim.device import runtime
from tisim.errors import Error, brief
from tisim.viewer import ggui, keys, panels, shots, vulkan
from tisim.viewer.controls import Controls
from tisim.viewer.drawing import in_groups, moving_bodies
from tisim.viewer.gauges import Gauges
from tisim.viewer.measures import check_color
from tisim.viewer.playing import bring_up
from tisim.viewer.raster import SKY, Raster
from tisim.viewer.renderer import Painter
from tisim.viewer.scene import Look

PACE = 1 / 60  # a picture takes at least so long [s]
BUTTONS = dict(LMB="left", RMB="right", MMB="middle")
CTRL, SHIFT = (341, 345), (340, 344)  # GLFW's numbers of both
DRAW = ("auto", "raster", "caster")
SOFTWARE = "llvmpipe"  # in the names of drivers that draw on the CPU
MANY = 100  # bodies from which the caster is faster than such a driver


class Show:
    """A window that is open on Controls, picture by picture.

    caster  draws by rays of Taichi instead of by Vulkan;  passive  a program steps the simulation, not the window.
    on_key  called with GLFW's number of each key that was pressed, None: nobody is.
    """

    def __init__(self, controls, width=1280, height=800, caster=False, passive=False, on_key=None):
        self.controls, self.caster, self.on_key = controls, caster, on_key
        controls.passive = passive
        self.window = ggui.open_window("tisim", width, height, show=True)
        self.window.boxes = panels.Boxes()
        self.canvas, self.scene = self.window.get_canvas(), self.window.get_scene()
        self.direct = self.window.direct
        self.gauges, self.frames, self._filled = Gauges(), 0, False
        self._notches, self._held, self._last, self._spent = 0.0, set(), None, 0.0
        self._closed, self._filming = False, shots.Filming()
        self._drawn = self._raster = self._painter = self._tile = None
        if self.direct:
            self.direct.on_scroll(self._scrolled)

    def _scrolled(self, notches):
        self._notches += notches

    @property
    def size(self):
        """Width and height of the window [pixel]."""
        return self.window.get_window_shape()

    def open(self):
        """Whether it is to go on."""
        return not self._closed and bool(self.window.running) and not self.controls.quit

    def frame(self):
        """One picture: what was pressed, the time that has passed, drawing. Returns whether the window goes on."""
        now = time.perf_counter()
        elapsed = max(now - self._last, 1e-6) if self._last is not None else PACE
        self._last = now
        width, height = self.size
        self.controls.aspect = width / max(height, 1)
        self._input(now, elapsed)
        self._fill()
        start = time.perf_counter()
        done = self._time(elapsed)
        stepped = time.perf_counter() - start
        self._draw(width, height)
        if self.frames:  # ImGui draws nothing before the first picture is shown
            panels.draw_labels(self.window, self.controls)
            panels.draw(self.window, self.controls, self.gauges, self._words())
        if self.controls.screenshot:
            self._save()
        self._filming.see(self.controls, self._picture, now)
        self.gauges.see(self.controls, now, elapsed, stepped, done)
        self.window.show()
        self.frames += 1
        rest = PACE - (time.perf_counter() - now)
        if rest > 0 and not self.controls.passive:
            time.sleep(rest)
        return self.open()

    def close(self):
        """Closes the window; what the mouse held is let go."""
        if not self._closed:
            self._closed = True
            try:
                self._filming.end()
            finally:
                self.controls.hand.release(self.controls.d)
                ggui.close()
                # GLFW's callback makes a cycle, which would not be freed at once
                self._raster = self._painter = self.direct = self.window = self.canvas = self.scene = None

    # what the user does

    def _pressed(self, codes, key):
        return any(self.direct.key_down(c) for c in codes) if self.direct else self.window.is_pressed(key)

    def _input(self, now, elapsed):
        import taichi as ti

        c, w = self.controls, self.window
        x, y = w.get_cursor_pos()
        y = 1.0 - y
        taken = self.frames > 1 and (self.direct.mouse_taken() if self.direct else w.boxes.hold(x, y))
        writing = self.frames > 1 and self.direct and self.direct.item_active()
        ctrl, shift = self._pressed(CTRL, ti.ui.CTRL), self._pressed(SHIFT, ti.ui.SHIFT)
        if self._notches and not taken:
            c.wheel(self._notches)
        self._notches = 0.0
        c.drag(x, y, shift)
        for event in w.get_events(ti.ui.PRESS):
            if event.key not in BUTTONS:
                if not writing:
                    self._key(keys.OF_GGUI.get(event.key, event.key), shift)
            elif not taken:
                c.press(BUTTONS[event.key], x, y, now, ctrl, elapsed)
        w.get_events(ti.ui.RELEASE)  # they do not say when; what is held now does
        for button in BUTTONS:
            if not w.is_pressed(button):
                c.release(BUTTONS[button])
        self._further_keys(writing, shift)
        c.hold(w.is_pressed(ti.ui.UP), w.is_pressed(ti.ui.DOWN), elapsed)

    def _key(self, name, shift):
        if self.on_key and name in keys.CODES:
            self.on_key(keys.CODES[name])
        if not (self.controls.passive and keys.action(name, shift) in keys.OF_TIME):
            self.controls.key(name, shift)

    def _further_keys(self, writing, shift):
        """Keys that GGUI does not report: each press once."""
        if not self.direct or writing:
            return
        held = {name for name in keys.FURTHER if self.direct.key_down(keys.CODES[name])}
        for name in sorted(held - self._held):
            self._key(name, shift)
        self._held = held

    def _fill(self):
        """Fills the screen, or goes back to a window, as Controls ask."""
        c = self.controls
        if c.full_screen == self._filled:
            return
        if self.direct and self.direct.fill(c.full_screen):
            self._filled = c.full_screen
        else:
            c.full_screen, c.told = self._filled, "there is no full screen here"

    def _time(self, elapsed):
        c = self.controls
        if not c.passive:
            return c.advance(elapsed)
        c.forget_removed()
        c.push()
        if not c.pert.active:
            c.hand.release(c.d)
        return 0.0

    # what it shows

    def _words(self):
        return ["drawn by rays (caster)"] if self.caster else []

    def _draw(self, width, height):
        c = self.controls
        camera = c.camera
        if self._tile is None:
            self._tile = camera.tile
        if self.caster:
            return self._cast(width, height)
        m = c.m
        alpha, static = float(m.vis.map.alpha) if c.has("TRANSPARENT") else 1.0, c.has("STATIC")
        key = (id(m), m.edits, np.asarray(c.opt.geomgroup, bool).tobytes(), static, alpha)
        if key != self._drawn:
            shown = in_groups(c.opt.geomgroup, m.geom_group)
            if not static:
                shown = shown & moving_bodies(m)[np.asarray(m.geom_bodyid)]
            self._raster, self._look, self._drawn = Raster(m, shown, alpha), self._look_of(alpha), key
        r = self._raster
        r.paint_state(c.d, c.world, c.colors)
        r.place(c.d, c.world, camera)
        r.shade(c.d, c.world, self._look, camera)
        ggui.set_camera(self.scene, camera.position, camera.lookat, camera.axes[1], camera.fovy, *camera.clip)
        r.adorn(c.d, c.world, shots.look_of(c), shots.records(c))
        r.draw(self.scene, camera, self._tile)
        self.canvas.set_background_color(SKY)
        self.canvas.scene(self.scene)

    def _look_of(self, alpha):
        """What throws shadows: the geoms alone."""
        look = Look(geomgroup=self.controls.opt.geomgroup, alpha=alpha, tendons=False, textures=False)
        look.static = self.controls.has("STATIC")
        return look

    def _cast(self, width, height):
        """The caster's picture fills the window."""
        from taichi.ui.utils import get_field_info

        c = self.controls
        key = (id(c.m), width, height)
        if key != self._drawn:
            self._painter, self._drawn = Painter(c.m, width, height), key
            self._painter.tile = self._tile
        picture = shots.cast(c, self._painter)
        words = np.full((width, height, 4), 255, np.uint8)
        words[..., :3] = picture[::-1].transpose(1, 0, 2)
        self._words_kept = words.view(np.uint32)[..., 0]
        self.canvas.canvas.set_image(get_field_info(self._words_kept))

    def _picture(self):
        """What the window shows, (height, width, 3) uint8."""
        shown = self.window.get_image_buffer_as_numpy()[..., :3]  # (width, height, 3) from the bottom, 8 bits as f32
        return np.ascontiguousarray((shown * 255 + 0.5).astype(np.uint8).transpose(1, 0, 2)[::-1])

    def _save(self):
        """Writes what the window shows to a file that is not there yet."""
        c, name = self.controls, shots.free_name(".png")
        c.screenshot = False
        try:
            self.window.save_image(name)
            c.told = f"saved {name}"
        except RuntimeError as error:
            c.told = str(error).splitlines()[0]


def software(devices):
    """Whether these names of Vulkan's devices are all of drivers that draw on the CPU."""
    return isinstance(devices, list) and all(SOFTWARE in name for name in devices)


def chosen(draw, m):
    """Whether the caster draws: what was asked for, or with "auto" where only a software driver would."""
    if draw not in DRAW:
        raise Error(f"draw={brief(draw)}: expected {', '.join(map(repr, DRAW))}")
    return draw == "caster" or (draw == "auto" and m.nbody > MANY and software(vulkan.devices()))


def view(
    m, d, width=1280, height=800, camera=None, world=0, step=None, restart=None, color="geom", show_contacts=False,
    reload=None, draw="auto", running=True, clock=None, chains=False,
):  # fmt: skip
    """Opens a window on a simulation and runs it until the window is closed.

    width, height  of the window [pixel];  world  which one to show;  running  False: it starts paused.
    camera   a Camera, the name of one of the model's, or a text for Camera.parse; None: all that moves is in view.
    color, show_contacts, chains  as in render; keys change them.
    step     called as step(m, d); None: tisim.step.  restart  called as restart(m, d) on backspace; None: tisim.reset.
    clock    a Replay, to play a recording instead; step and restart are not called then.
    reload   called on r, returns another (m, d); None: there is nothing to load.
    draw     "raster": by Vulkan; "caster": by rays of Taichi; "auto": as is quicker on a software driver.
    Raises Error where Vulkan or a display is missing.
    """
    check_color(color)
    if not 0 <= world < getattr(d, "nworld", 1):
        raise Error(f"world={world}: this Data has {getattr(d, 'nworld', 1)} worlds")
    caster = chosen(draw, m)
    vulkan.require(display=True)
    runtime.ensure()
    if clock is None:
        bring_up(m, d)
    controls = Controls(
        m, d, camera, world, step, restart, reload, width / height, color, show_contacts, running, clock, chains
    )  # fmt: skip
    show = Show(controls, width, height, caster)
    try:
        while show.frame():
            pass
    finally:
        show.close()
