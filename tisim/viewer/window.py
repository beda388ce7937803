"""The interactive window: the simulation runs in real time and is drawn by GGUI."""

import dataclasses
import time

import numpy as np

from tisim.errors import Error
from tisim.viewer import ggui
from tisim.viewer.camera import choose
from tisim.viewer.drawing import Drawing, contact_marks, contacts, mark_length, poses

HELP = (
    "space        pause, go on",
    "right arrow  one step",
    "backspace    start again",
    "c            contacts",
    "i            colours of islands",
    "left drag    turn",
    "right drag   move",
    "middle drag, up, down  zoom",
    "h            this help",
    "esc          quit",
)
LAG = 0.25  # most time of simulation per picture, where drawing is slow [s]
PANEL, FRAME, LINE = 310, 40, 17  # of the words over the picture: width, height of the frame, of a line [pixel]
PATIENCE = 0.1  # wall time spent on steps before a picture is drawn anyway [s]


class _View:
    """What the keys change."""

    def __init__(self, m, d, camera, world, width, height, color, show_contacts):
        self.m, self.d, self.world, self.width, self.height = m, d, world, width, height
        # a model's camera that moves is followed until the mouse turns the view
        self.follow = camera if isinstance(camera, str) else None
        self.home = choose(camera, m, d, width / height, world)
        self.camera = dataclasses.replace(self.home)
        self.running, self.help = True, True
        self.single = self.quit = False
        self.show_contacts, self.islands = show_contacts, color == "island"
        self.drag = None
        self.rebuild()

    def rebuild(self):
        self.drawing = Drawing(self.m, poses(self.m, self.d, self.world)[0], alpha=0.35 if self.show_contacts else 1.0)

    def key(self, key):
        """Acts on a pressed key; True asks for a restart of the simulation."""
        import taichi as ti

        if key == ti.ui.ESCAPE:
            self.quit = True
        elif key == ti.ui.SPACE:
            self.running = not self.running
        elif key == ti.ui.RIGHT:
            self.running, self.single = False, True
        elif key == ti.ui.BACKSPACE:
            return True
        elif key == "c":
            self.show_contacts = not self.show_contacts
            self.rebuild()
        elif key == "i":
            self.islands = not self.islands
            self.drawing.paint(self.drawing.colors)
        elif key == "h":
            self.help = not self.help
        return False

    def mouse(self, window, seconds):
        """Turns, moves and zooms the camera."""
        import taichi as ti

        held = [b for b in (ti.ui.LMB, ti.ui.RMB, ti.ui.MMB) if window.is_pressed(b)]
        x, y = window.get_cursor_pos()
        if held and self.drag is not None:
            dx, dy = x - self.drag[0], y - self.drag[1]
            if self.camera.rotation is not None:
                self.camera = self.camera.free()
            cam = self.camera
            if held[0] == ti.ui.LMB:
                cam.azimuth -= 180 * dx
                cam.elevation = float(np.clip(cam.elevation + 120 * dy, -89, 89))
            elif held[0] == ti.ui.RMB:
                right, up, _ = cam.axes
                cam.lookat = tuple(np.asarray(cam.lookat) - cam.distance * (1.2 * dx * right + 0.8 * dy * up))
            else:
                cam.distance *= float(np.exp(-2 * dy))
        self.drag = (x, y) if held else None
        zoom = window.is_pressed(ti.ui.DOWN) - window.is_pressed(ti.ui.UP)
        self.camera.distance *= float(np.exp(1.2 * zoom * seconds))

    def draw(self, window, canvas, scene):
        """Draws the present state."""
        m, d = self.m, self.d
        if self.camera.rotation is not None and self.follow:
            self.camera = choose(self.follow, m, d, world=self.world)
        cam = self.camera
        self.drawing.place(*poses(m, d, self.world), cam, self.height)
        self.drawing.paint_state(m, d, self.world, self.islands)
        ggui.set_camera(scene, cam.position, cam.lookat, cam.axes[1], cam.fovy, *cam.clip)
        scene.ambient_light((0.42, 0.43, 0.46))
        far = 40 * cam.distance
        scene.point_light(tuple(np.asarray(cam.lookat) + far * np.array([0.42, -0.5, 0.85])), (0.52, 0.50, 0.46))
        scene.point_light(tuple(cam.position + cam.distance * cam.axes[1]), (0.22, 0.22, 0.24))
        ggui.draw(scene, self.drawing.vertices, self.drawing.indices, 0, self.drawing.opaque)
        if self.show_contacts:
            self.marks = contact_marks(*contacts(m, d, self.world), mark_length(m))
            ggui.draw(scene, *self.marks)
        ggui.draw(scene, self.drawing.vertices, self.drawing.indices, self.drawing.opaque)
        canvas.set_background_color((0.80, 0.86, 0.93))
        canvas.scene(scene)

    def text(self, gui, factor):
        """Writes time, speed, contacts and the keys over the picture."""
        d = self.d
        t, ncon = (np.atleast_1d(v)[self.world] for v in (d.time, d.ncon))
        lines = [f"time {t:.3f} s", f"{factor:.2f} x real time" if self.running else "paused", f"{ncon} contacts"]
        lines += HELP if self.help else ("h  help",)
        size = min(0.98, PANEL / self.width), min(0.96, (FRAME + LINE * len(lines)) / self.height)
        with gui.sub_window("tisim", 0.01, 0.02, *size) as g:
            for line in lines:
                g.text(line)


def advance(m, d, step, seconds, patience=PATIENCE):
    """Steps for `seconds` of simulation or `patience` of wall time, whichever ends first; returns seconds done."""
    start, done, h = time.perf_counter(), 0.0, float(m.opt.timestep)
    while done + 0.5 * h < seconds and time.perf_counter() - start < patience:
        step(m, d)
        done += h
    return done


def view(
    m, d, width=1280, height=800, camera=None, world=0, step=None, restart=None, color="geom", show_contacts=False
):
    """Opens a window on a simulation and runs it until the window is closed.

    width, height  of the window [pixel];  world  which one to show.
    camera   a Camera, the name of one of the model's, or a text for Camera.parse; None: all that moves is in view.
    color, show_contacts  as in render; keys change them.
    step     called as step(m, d); None: tisim.step.  restart  called as restart(m, d) on backspace; None: tisim.reset.
    Raises Error where Vulkan or a display is missing.
    """
    import tisim

    step, restart = step or tisim.step, restart or _restart
    if color not in ("geom", "island"):
        raise Error(f"color={color!r}: expected 'geom' or 'island'")
    if not 0 <= world < getattr(d, "nworld", 1):
        raise Error(f"world={world}: this Data has {getattr(d, 'nworld', 1)} worlds")
    window = ggui.open_window("tisim", width, height, show=True)
    canvas, scene, gui = window.get_canvas(), window.get_scene(), window.get_gui()
    v, factor, last = _View(m, d, camera, world, width, height, color, show_contacts), 0.0, time.perf_counter()
    try:
        while window.running and not v.quit:
            now = time.perf_counter()
            elapsed, last = max(now - last, 1e-6), now
            for event in _presses(window):
                if v.key(event):
                    restart(m, d)
            v.mouse(window, elapsed)
            done = 0.0
            if v.running:
                done = advance(m, d, step, min(elapsed, LAG))
            elif v.single:
                step(m, d)
            v.single = False
            factor += 0.1 * (done / elapsed - factor)
            v.draw(window, canvas, scene)
            v.text(gui, factor)
            window.show()
    finally:
        ggui.close()


def _presses(window):
    import taichi as ti

    return [event.key for event in window.get_events(ti.ui.PRESS)]


def _restart(m, d):
    import tisim

    tisim.reset(m, d)
    tisim.forward(m, d)
