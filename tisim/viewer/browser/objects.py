"""A simulation as shapes in a browser, by viser: each shape is sent once, afterwards what moved: 28 bytes a body.

Bodies of one shape are drawn as batches; a batch of which nothing moved is not sent. What is shown besides geoms, see
beside.py, is sent where it changes.
"""

import collections
import contextlib
import io
import re
import socket
import time

import numpy as np

from tisim.data.pictures import CAME, MOVED, PAINTED
from tisim.enums import mjtGeom
from tisim.errors import Error
from tisim.viewer import perturb, words
from tisim.viewer.browser.beside import LIGHT, Beside
from tisim.viewer.browser.page import Page
from tisim.viewer.controls import COLORS, FRAMES
from tisim.viewer.far import sun_of
from tisim.viewer.gauges import Curves
from tisim.viewer.instances import Instances
from tisim.viewer.panels import FLAGS, SLIDERS
from tisim.viewer.playing import SPEEDS
from tisim.viewer.scene import GROUPS

PACE = 1 / 25  # between updates [s]
TELL = 0.5  # between texts [s]
PLANE = int(mjtGeom.mjGEOM_PLANE)
SKY, SUN = 1.5, 2.0  # light from everywhere, and from the sun: pi shows a colour as it is
BATCH = 1000  # bodies in a batch, at most
PULL = "cmd/ctrl"  # held while a drag pulls
PLOTTED = ("contacts", "iterations")


def package():
    """The module viser. Raises Error where it is missing."""
    try:
        import viser
    except ImportError:
        raise Error(
            "shapes in a browser need viser: pip install 'tisim[web]'; pictures need nothing: --web --pictures"
        ) from None
    return viser


class Batch:
    """Geoms of one shape that are drawn together.

    members  places in Instances.geoms;  handle  viser's;  rows  their places on the Page.
    """

    def __init__(self, server, name, shape, members, rows, page, alpha):
        self.members, self.rows = members, rows
        rgba, (pos, quat) = page.rgba(rows), page.poses(rows)
        self.handle = server.scene.add_batched_meshes_simple(
            name, shape.vertices, shape.faces, quat, pos, batched_colors=LIGHT[rgba[:, :3]],
            batched_scales=page.there(rows), batched_opacities=self._clear(page, alpha), lod="off",
            flat_shading=bool(len(shape.faces) < 100), side="double",
        )  # fmt: skip

    def _clear(self, page, alpha):
        """Opacities, or None where all is opaque."""
        clear = page.rgba(self.rows)[:, 3] / np.float32(255) * alpha[self.members]
        return clear.astype(np.float32) if (clear < 1).any() else None

    def fade(self, page, alpha):
        """Sends opacities; alpha  of all geoms of the Instances, times their own."""
        self.handle.batched_opacities = self._clear(page, alpha)

    def send(self, page, change):
        """Sends what has changed: bits MOVED, CAME, PAINTED."""
        if change & MOVED:
            self.handle.batched_positions, self.handle.batched_wxyzs = page.poses(self.rows)
        if change & PAINTED:
            self.handle.batched_colors = LIGHT[page.rgba(self.rows)[:, :3]]
        if change & CAME:
            self.handle.batched_scales = page.there(self.rows)


class Shapes:
    """A page on Controls, update by update. host, port  where it listens; port 0: any that is free."""

    def __init__(self, controls, host, port):
        viser = package()
        self.controls, self._events = controls, collections.deque()
        port = free_port(host, port)
        with contextlib.redirect_stdout(io.StringIO()):  # it says where it is, and so do we
            self.server = viser.ViserServer(host=host, port=port, verbose=False)
        self.url = f"http://{'localhost' if host in ('0.0.0.0', '127.0.0.1') else host}:{self.server.get_port()}"
        self._last, self._told, self._said, self._label = None, -TELL, None, None
        self._moved, self._folder, self.curves, self._boxes = False, None, Curves(PLOTTED), []
        self.beside, self._floors = Beside(self.server), []
        self._build()

    # what is there

    def _build(self):
        c, scene = self.controls, self.server.scene
        scene.set_up_direction("+z")
        camera = c.camera
        scene.configure_environment_map(None)
        scene.configure_default_lights(False)  # so bright that colours are pale
        scene.add_light_ambient("/lights/sky", intensity=SKY)
        sun = tuple(float(x) for x in 20 * sun_of(camera))
        scene.add_light_directional("/lights/sun", intensity=SUN, position=sun)
        first = self.server.initial_camera
        first.position, first.look_at, first.fov = camera.position, camera.lookat, np.radians(camera.fovy)
        first.far = 10 * max(camera.clip[1], 100.0)
        gui = self.server.gui
        self._text = gui.add_markdown("")
        with gui.add_folder("time"):
            self._run = gui.add_checkbox("run", c.clock.running)
            self._run.on_update(self._later(lambda e: self._run.value != c.clock.running and c.clock.toggle()))
            for words_, key in (("step", "right"), ("back", "left"), ("reset", "backspace"), ("load again", "r")):
                gui.add_button(words_).on_click(self._later(lambda e, key=key: c.key(key)))
            if c.clock.frames > 1:
                self._frame = gui.add_slider("frame", 0, c.clock.frames - 1, 1, c.clock.frame)
                self._frame.on_update(self._later(lambda e: e.client and c.clock.go(self._frame.value)))
            speeds = [f"{s:g} %" for s in SPEEDS]
            speed = gui.add_dropdown("speed", speeds, initial_value=speeds[c.clock.notch])
            speed.on_update(self._later(lambda e: setattr(c.clock, "notch", speeds.index(speed.value))))
        with gui.add_folder("drawn"):
            color = gui.add_dropdown("colours", (*COLORS, "island"), initial_value=c.colors)
            color.on_update(self._later(lambda e: self._color(color.value)))
            self._choices()
        self._show_model()
        with gui.add_folder("solver", expand_by_default=False):
            self._plots = {
                name: gui.add_uplot(self._line(name), ({}, dict(label=name, stroke="#2b6cb0")), title=name, height=120)
                for name in PLOTTED
            }

    def _choices(self):
        """What else is drawn, as in the window."""
        c, gui = self.controls, self.server.gui
        for flag, name in FLAGS:
            if flag != "ISLAND":  # a colour here
                self._box(name, lambda flag=flag: c.has(flag), lambda on, flag=flag: c.flag(flag, on))
        self._box("sites", lambda: c.opt.sitegroup.any(), self._sites)
        self._box("chains of forces", lambda: c.chains, lambda on: on != c.chains and c.key("u"))
        names = [f.name[8:].lower() for f in FRAMES]
        frames = gui.add_dropdown("frames", names, initial_value=names[0])
        frames.on_update(self._later(lambda e: setattr(c.opt, "frame", FRAMES[names.index(frames.value)])))
        with gui.add_folder("groups", expand_by_default=False):
            for k in range(6):
                self._box(f"group {k}", lambda k=k: c.opt.geomgroup[k], lambda on, k=k: self._group(k, on))

    def _box(self, name, now, act):
        """A check box of something that now() tells and act(on) changes."""
        box = self.server.gui.add_checkbox(name, bool(now()))

        async def happened(event):
            if event.client is not None:
                on = box.value
                self._events.append(lambda: act(on))

        box.on_update(happened)
        self._boxes.append((box, now))

    def _sites(self, on):
        self.controls.opt.sitegroup[:] = GROUPS if on else 0

    def _group(self, k, on):
        self.controls.opt.geomgroup[k] = on

    def _controls(self):
        c, gui = self.controls, self.server.gui
        if self._folder is not None:
            self._folder.remove()
        self._folder = gui.add_folder("controls") if c.m.nu + c.m.neq else None
        self._sliders, self._switches = [], []
        with self._folder or contextlib.nullcontext():
            for i, (name, now, low, high) in enumerate(words.actuators(c, SLIDERS)):
                step = (high - low) / 1000 or 1e-3
                slider = gui.add_slider(name, low, high, step, float(np.clip(now, low, high)))
                slider.on_update(self._later(lambda e, i=i, s=slider: e.client and c.set_ctrl(i, s.value)))
                self._sliders.append(slider)
            for i, (name, active) in enumerate(words.equalities(c, SLIDERS)):
                box = gui.add_checkbox(name, active)
                box.on_update(self._later(lambda e, i=i, b=box: e.client and c.set_eq_active(i, b.value)))
                self._switches.append(box)
            for number, kind in ((c.m.nu, "actuators"), (c.m.neq, "equalities")):
                if number > SLIDERS:
                    gui.add_markdown(f"the first {SLIDERS} of {number} {kind}")

    def _show_model(self):
        c = self.controls
        self._shown, self._shapes = self._key(), Instances(c.m, groups=c.opt.geomgroup, static=c.has("STATIC"))
        self._alpha = self._opacity()
        s, parts, floors = self._shapes, [], np.zeros(0, int)
        for kind in range(len(s.meshes)):
            mine = s.kind == kind
            if int(c.m.geom_type[s.geoms[np.flatnonzero(mine)[0]]]) == PLANE:
                floors = np.append(floors, np.flatnonzero(mine))
                continue
            for still in (True, False):
                these = np.flatnonzero(mine & (s.moves != still))
                for first in range(0, len(these), BATCH):
                    name = f"/shapes/{kind}/{'still' if still else 'moving'}/{first}"
                    parts.append((name, kind, these[first : first + BATCH]))
        starts = np.cumsum([0] + [len(part) for *_, part in parts] + [len(floors)])
        order = np.concatenate([*(part for *_, part in parts), floors]).astype(int)
        self._page, self.batches = Page(c.m, s.geoms[order], starts), []
        self._page.find(c.d, c.world, c.colors)
        for k, (name, kind, part) in enumerate(parts):
            rows = slice(starts[k], starts[k + 1])
            batch = Batch(self.server, name, s.meshes[kind], part, rows, self._page, self._alpha)
            self._listen(batch)
            self.batches.append(batch)
        for floor in self._floors:
            floor.remove()
        self._floors = []
        if len(floors):
            rows = slice(starts[-2], starts[-1])
            for g, pos, quat, rgba in zip(s.geoms[floors], *self._page.poses(rows), self._page.rgba(rows)):
                self._floors.append(self._show_floor(int(g), np.append(pos, quat), rgba))
        self._controls()

    def _key(self):
        c = self.controls
        return id(c.m), c.m.edits, c.opt.geomgroup.tobytes(), c.has("STATIC")

    def _opacity(self):
        """(n,) what the opacity of each geom's colour is to be taken times: where Controls ask for it, what moves is
        translucent."""
        self._translucent = self.controls.has("TRANSPARENT")
        return np.where(self._shapes.moves & self._translucent, self.controls.m.vis.map.alpha, 1.0).astype(np.float32)

    def _show_floor(self, geom, pose, rgba):
        size = np.asarray(self.controls.m.geom_size[geom], float)
        endless = not (size[0] and size[1])
        cell = self.controls.camera.tile
        line = tuple(int(0.8 * v) for v in rgba[:3])
        return self.server.scene.add_grid(
            f"/floors/{geom}", 2 * (size[0] or 1.0), 2 * (size[1] or 1.0), infinite_grid=endless, position=pose[:3],
            wxyz=pose[3:], cell_size=cell, section_size=4 * cell, cell_color=line, section_color=line,
            plane_color=tuple(int(v) for v in rgba[:3]), plane_opacity=float(rgba[3]) / 255,
            fade_distance=100 * cell,
        )  # fmt: skip

    def _listen(self, batch):
        """A click selects, a drag with ctrl pulls; both come from viser's thread and wait for ours."""

        async def clicked(event):
            self._events.append(lambda: self._select(batch, event))

        async def dragged(event):
            self._events.append(lambda: self._drag(batch, event))

        batch.handle.on_click(clicked)
        if self._shapes.moves[batch.members[0]]:
            batch.handle.on_drag("left", modifier=PULL)(dragged)

    def _later(self, act):
        async def happened(event):
            self._events.append(lambda: act(event))

        return happened

    # what visitors do

    def _body(self, batch, event):
        geom = self._shapes.geoms[batch.members[event.instance_index or 0]]
        return int(self.controls.m.geom_bodyid[geom])

    def _select(self, batch, event):
        c, body = self.controls, self._body(batch, event)
        start, along = np.asarray(event.ray_origin, float), np.asarray(event.ray_direction, float)
        met, at = perturb.select(c.m, c.d, start, along, np.asarray(c.opt.geomgroup), c.world)
        c.choose(body, perturb.of_body(c.d, "xipos", c.world, body))
        if met == body:
            c.pert.localpos = at

    def _drag(self, batch, event):
        c = self.controls
        if event.phase == "end":
            return c.let_go()
        if event.phase == "start":
            c.choose(self._body(batch, event), event.start_position)
        c.pull(event.end_position)

    def _color(self, mode):
        c = self.controls
        c.flag("ISLAND", mode == "island")
        c.color = c.color if mode == "island" else mode

    # what is sent

    def _line(self, name):
        values = self.curves.values[name].astype(float)
        return np.arange(-len(values) + 1.0, 1.0), values

    def frame(self):
        """What visitors did, the time that has passed, what moved. Returns whether to go on."""
        c, now = self.controls, time.perf_counter()
        elapsed = max(now - self._last, 1e-6) if self._last is not None else PACE
        self._last = now
        while self._events:
            self._events.popleft()()
        c.advance(elapsed)
        if self.server.get_clients():
            self.update()
        if now - self._told >= TELL:
            self._told = now
            self._say()
        rest = PACE - (time.perf_counter() - now)
        if rest > 0:
            time.sleep(rest)
        return not c.quit

    def update(self):
        """Sends what moved and what changed its colour; returns whether anything moved."""
        c = self.controls
        if self._shown != self._key():
            for batch in self.batches:
                batch.handle.remove()
            self._show_model()
        change = self._page.find(c.d, c.world, c.colors)[: len(self.batches)]
        moved = bool((change & MOVED).any())
        with self.server.atomic():
            if self._translucent != c.has("TRANSPARENT"):
                self._alpha = self._opacity()
                for batch in self.batches:
                    batch.fade(self._page, self._alpha)
            for k in np.flatnonzero(change):
                self.batches[k].send(self._page, change[k])
            if self._label is not None and c.pert.select and moved:
                self._label.position = perturb.held_point(c.m, c.d, c.pert, c.world)
            self.beside.update(c)
        if moved:
            self.curves.add(contacts=float(c.d.count("ncon")), iterations=float(np.max(c.d.solver_niter, initial=0)))
        self._moved = moved
        return moved

    def _say(self):
        c = self.controls
        selected = ", ".join(words.of_selected(c))
        said = [*words.lines(c), selected and f"**{plain(selected)}**", plain(words.note(c))]
        text = "  \n".join(line for line in said if line)
        if text != self._said:
            self._text.content = self._said = text
        if self._run.value != c.clock.running:
            self._run.value = c.clock.running
        for box, now in self._boxes:
            box.value = bool(now())
        for slider, (_, now, low, high) in zip(self._sliders, words.actuators(c, SLIDERS)):
            if np.isfinite(now) and abs(slider.value - (now := float(np.clip(now, low, high)))) > 0.5 * slider.step:
                slider.value = now
        for box, (_, active) in zip(self._switches, words.equalities(c, SLIDERS)):
            box.value = active
        if c.clock.frames > 1 and self._frame.value != c.clock.frame:
            self._frame.value = c.clock.frame
        name = c.about_selected()[0] if c.pert.select else ""
        if name != (self._label.text if self._label is not None else ""):
            if self._label is not None:
                self._label.remove()
            at = perturb.held_point(c.m, c.d, c.pert, c.world) if name else None
            self._label = self.server.scene.add_label("/selected", name, position=at) if name else None
        if self._moved:
            for name, plot in self._plots.items():
                plot.data = self._line(name)

    def close(self):
        """Ends the page; what a mouse held is let go."""
        self.controls.hand.release(self.controls.d)
        self.server.stop()


def plain(text):
    """Markdown that shows a text as it is: names and messages of files may hold what Markdown means something by."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$&])", r"\\\1", text)


def free_port(host, port):
    """The port, or any that is free for 0. Raises Error where it cannot be had; viser would take another."""
    with contextlib.closing(socket.socket()) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind((host, port))
        except (OSError, OverflowError) as error:
            raise Error(f"cannot listen on {host}:{port}: {error}; give another --host or --port") from None
        return s.getsockname()[1]
