"""The panels of the window: what runs, what is drawn, controls, info, solver and timing, sensors, help; labels.

They stand on GGUI's widgets. With ImGui at hand (`imgui.Direct`) a panel is as large as what is in it, parts
of it can be closed, numbers have curves, and texts stand in the scene.
"""

import contextlib

import numpy as np

from tisim.viewer import keys, words
from tisim.viewer.controls import COLORS, FRAMES, LABELS
from tisim.viewer.playing import SPEEDS

MARGIN, ROW, WIDE = 10, 19, 300  # between panels, height of a line, width of a panel where it has one [pixel]
SLIDERS = 30  # actuators that have one, and equalities a box, on one page
SENSORS, CURVE = 12, 40  # values of sensors on one page, at most; height of a curve with what is about it [pixel]
FLAGS = (("CONTACTPOINT", "contacts"), ("CONTACTFORCE", "contact forces"), ("JOINT", "joints"), ("COM", "centres"),
         ("INERTIA", "inertia boxes"), ("TENDON", "tendons"), ("CONSTRAINT", "equalities"),
         ("TRANSPARENT", "translucent"), ("ISLAND", "islands"), ("CONVEXHULL", "hulls"))  # fmt: skip
PANELS = (("help", "help"), ("info", "info"), ("profiler", "solver, timing"), ("sensors", "sensors"))


class Boxes:
    """Where panels are, for windows that cannot ask ImGui: parts of the window that the mouse moves no camera in."""

    def __init__(self):
        self.now = []

    def hold(self, x, y):
        """Whether a place (parts of width and height, from the left and from above) is on a panel."""
        return any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in self.now)


class Widgets:
    """GGUI's widgets, and ImGui's where they are at hand."""

    def __init__(self, gui, direct, boxes):
        self.gui, self.direct, self.boxes = gui, direct, boxes

    @contextlib.contextmanager
    def panel(self, name, x, y, width, rows, size, right=False):
        """A panel at a pixel; rows  lines that it needs where it cannot find out; size  of the window [pixel]."""
        if self.direct:
            self.direct.begin(name, x, y, right)
            try:
                yield
            finally:
                self.direct.end()
            return
        left = (x - width if right else x) / size[0]
        box = max(left, 0.0), y / size[1], min(width / size[0], 0.98), min((rows + 2) * ROW / size[1], 0.95)
        self.boxes.now.append((box[0], box[1], box[0] + box[2], box[1] + box[3]))
        with self.gui.sub_window(name, *box):
            yield

    def header(self, name, opened=False):
        """Whether what follows is to be shown."""
        if self.direct:
            return self.direct.header(name, opened)
        if opened:
            self.gui.text(f"-- {name} --")
        return opened

    def beside(self, offset):
        """The next widget stands beside the last."""
        if self.direct:
            self.direct.same_line(offset)

    def slider(self, name, value, low, high):
        """A slider; the value now."""
        if self.direct:
            self.direct.narrow(130.0)
        value = self.gui.slider_float(name, float(value), float(low), float(high))
        if self.direct:
            self.direct.narrow(None)
        return value

    def page(self, c, what, n, most):
        """The first of `most` items to show, of n; where these are more a line says so, and has buttons to turn on."""
        pages = -(-n // most)
        first = c.panels.pages.get(what, 0)
        if not (0 <= first < n and first % most == 0):  # those of another model, or of a smaller window
            first = 0
        if pages > 1:
            for k, name in enumerate("<>"):
                if k:
                    self.beside(30)
                if self.gui.button(f"{name}##{what}"):  # what stands behind ## tells buttons apart and is not shown
                    first = (first // most + 2 * k - 1) % pages * most
            self.beside(60)
            last = min(first + most, n)
            self.gui.text(f"{first + 1} ... {last} of {n} {what}, {n - last + first} more")
        c.panels.pages[what] = first
        return first

    def curve(self, name, values):
        """A number, and its curve where it can be drawn."""
        text = f"{values[-1]:.4g} {name}"
        if self.direct:
            low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
            rest = max(0.1 * (high - low), 1e-7)
            self.direct.plot(text, values, low - rest * (low < 0), high + rest, 150.0, 34.0)
        else:
            self.gui.text(text)


def draw(window, c, gauges, further):
    """Draws the panels of a window on Controls; further  texts for its first lines. Returns True if the geoms to draw
    have changed."""
    w = Widgets(window.get_gui(), window.direct, window.boxes)
    window.boxes.now.clear()
    size = window.get_window_shape()
    before = c.opt.geomgroup.copy()
    if c.panels.shown:
        _main(w, c, size, further)
        if c.m.nu or c.m.neq:
            _controls(w, c, size)
    if c.panels.profiler:
        _profiler(w, size, gauges.curves)
    if c.panels.info:
        _info(w, c, size, gauges)
    if c.panels.sensors:
        _sensors(w, c, size, gauges.sensors)
    if c.panels.help:
        _help(w, size)
    _told(w, c, size)
    return not np.array_equal(before, c.opt.geomgroup)


def _main(w, c, size, further):
    few = not w.direct
    with w.panel("tisim", MARGIN, MARGIN, WIDE, 26, size):
        for line in (*words.lines(c), c.eye.about(), *further):
            w.gui.text(line)
        if few and c.about_selected():
            name, *rest = words.of_selected(c)
            w.gui.text(f"{name}: {', '.join(rest)}")
        w.gui.text("h  help")
        if w.header("time", True):
            if not c.passive:
                if w.gui.checkbox("run", c.clock.running) != c.clock.running:
                    c.clock.toggle()
            buttons = (("step", "right"), ("back", "left"), ("reset", "backspace"))
            for k, (name, key) in enumerate(buttons[2:] if c.passive else buttons):
                if not c.passive:
                    w.beside(70 + 55 * k)
                if w.gui.button(name):
                    c.key(key)
            if c.clock.frames > 1:
                frame = w.gui.slider_int("frame", c.clock.frame, 0, c.clock.frames - 1)
                if frame != c.clock.frame:
                    c.clock.go(frame)
            if not c.passive:
                slowest = len(SPEEDS) - 1
                c.clock.notch = slowest - w.gui.slider_int("speed", slowest - c.clock.notch, 0, slowest)
        if w.header("drawn", True):
            for k, (flag, name) in enumerate(FLAGS):
                if k % 2:
                    w.beside(150)
                c.flag(flag, w.gui.checkbox(name, c.has(flag)))
        if w.header("groups and colours", few):
            for name, groups in (("geoms", c.opt.geomgroup), ("sites", c.opt.sitegroup)):
                w.gui.text(f"{name} of groups")
                for group in range(6):
                    if group:
                        w.beside(8 + 45 * group)
                    groups[group] = w.gui.checkbox(f"{group}##{name}", bool(groups[group]))
            for name, key, now in (
                ("colours", "o", COLORS[COLORS.index(c.color)]),
                ("frames", "k", dict(zip(map(int, FRAMES), FRAMES)).get(c.opt.frame, FRAMES[0]).name[8:].lower()),
                ("labels", "l", dict(zip(map(int, LABELS), LABELS)).get(c.opt.label, LABELS[0]).name[8:].lower()),
                ("camera", "x", c.eye.about()),
            ):
                if w.gui.button(f"{name}: {now}"):
                    c.key(key)
        if w.header("panels"):
            for k, (panel, name) in enumerate(PANELS):
                if k % 2:
                    w.beside(150)
                setattr(c.panels, panel, w.gui.checkbox(name, getattr(c.panels, panel)))
            if w.direct and w.direct.fills:
                c.full_screen = w.gui.checkbox("full screen", c.full_screen)


def _controls(w, c, size):
    m = c.m
    rows = min(m.nu, SLIDERS) + min(m.neq, SLIDERS) + 2 + 3 * sum(n > SLIDERS for n in (m.nu, m.neq))
    with w.panel("controls", size[0] - MARGIN, MARGIN, WIDE, rows, size, right=True):
        if m.nu and w.header("actuators", True):
            first = w.page(c, "actuators", m.nu, SLIDERS)
            for i, (name, now, low, high) in enumerate(words.actuators(c, SLIDERS, first), first):
                value = w.slider(name, now, low, high)
                if abs(value - now) > 1e-6 * max(1.0, abs(high - low)):  # sliders round to f32
                    c.set_ctrl(i, value)
            if w.gui.button("all to zero"):
                c.set_ctrl(slice(None), 0.0)
        if m.neq and w.header("equalities", m.neq <= SLIDERS or not w.direct):
            first = w.page(c, "equalities", m.neq, SLIDERS)
            for i, (name, active) in enumerate(words.equalities(c, SLIDERS, first), first):
                on = w.gui.checkbox(f"{name}##equality", active)
                if on != active:
                    c.set_eq_active(i, on)


def _info(w, c, size, gauges):
    lines = list(gauges.info(c))
    with w.panel("info", MARGIN, max(size[1] - (len(lines) + 3) * ROW, MARGIN), WIDE, len(lines), size):
        for name, text in lines:
            w.gui.text(f"{name:<9} {text}")


def _sensors(w, c, size, sensors):
    n, most = int(c.m.nsensordata), max(3, min(SENSORS, (size[1] - 100) // CURVE))
    with w.panel("sensors", size[0] - WIDE - 2 * MARGIN, MARGIN, WIDE, min(n, most) + 3, size, right=True):
        if not n:
            w.gui.text("the model has no sensors")
        for name, curve in sensors.follow(c, w.page(c, "values", n, most), most):
            w.curve(name, curve)


def _profiler(w, size, curves):
    y = max(size[1] - 250, MARGIN)
    with w.panel("solver and timing", size[0] - MARGIN, y, WIDE, len(curves.values) + 1, size, right=True):
        for name, values in curves.values.items():
            w.curve(name, values)


def _help(w, size):
    lines = list(keys.lines(bool(w.direct)))
    half = -(-len(lines) // 2)
    with w.panel("keys and mouse", max(0.5 * size[0] - 370, MARGIN), 0.08 * size[1], 330, len(lines), size):
        for k in range(half if w.direct else len(lines)):
            for column, line in enumerate(lines[k::half] if w.direct else lines[k : k + 1]):
                if column:
                    w.beside(370)
                w.gui.text(f"{line[0]:<19} {line[1]}")


def _told(w, c, size):
    """What the window has to say, for some seconds."""
    said = words.note(c)
    if said:
        with w.panel("note", 0.3 * size[0], size[1] - 70, 360, 1, size):
            w.gui.text(said)


def draw_labels(window, c):
    """Texts in the scene, where ImGui is at hand: the selected body, and what the options ask for."""
    direct = window.direct
    if not direct:
        return
    for x, y, lines in words.labels(c, *window.get_window_shape()):
        direct.label(x + 16, y + 12, lines)  # beside an arrow upwards
