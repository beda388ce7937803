"""All that a window knows and does apart from drawing: keys and the mouse act on the camera, on time and on bodies."""

import dataclasses

import numpy as np

from tisim.data import asleep
from tisim.enums import mjtFrame, mjtLabel, mjtVisFlag
from tisim.errors import Error
from tisim.model.tables.colors import MODES
from tisim.pipeline import forward
from tisim.viewer import decor, keys, measures, moving, perturb
from tisim.viewer.camera import choose
from tisim.viewer.mjv import MjvOption, MjvPerturb, MjvScene
from tisim.viewer.playing import Clock, start_again

DOUBLE = 0.35  # two presses within this, and within NEAR of each other, are a double click [s]
NEAR = 0.02  # of the picture's height
ZOOM_KEY = 0.6  # of the picture's height in a second that an arrow key is held
COLORS = tuple(mode for mode in MODES if mode != "island")  # those that a key goes through; islands have their own
FRAMES = tuple(mjtFrame[f"mjFRAME_{k}"] for k in ("NONE", "BODY", "GEOM", "SITE", "CONTACT", "WORLD"))
LABELS = tuple(mjtLabel[f"mjLABEL_{k}"] for k in ("NONE", "BODY", "JOINT", "GEOM", "SITE", "TENDON", "CONTACTFORCE"))
DRAGS = dict(left="orbit", right="pan", middle="zoom")


@dataclasses.dataclass
class Panels:
    """Which panels are open; pages  {list: the first of its items that is shown}."""

    shown: bool = True
    help: bool = False
    info: bool = False
    profiler: bool = False
    sensors: bool = False
    pages: dict = dataclasses.field(default_factory=dict)


class Controls:
    """A simulation, what is seen of it, and what keys and the mouse do to both.

    camera, world, color, show_contacts, chains  as in `view`;  aspect  width of the picture by its height.
    step, restart  called as f(m, d);  reload  returns another (m, d), None: there is no file to load again.
    clock  in place of a Clock: a Replay.
    Places of the mouse are parts of the picture's width and height, from the left and from above.
    """

    def __init__(
        self, m, d, camera=None, world=0, step=None, restart=None, reload=None, aspect=16 / 9, color="geom",
        show_contacts=False, running=True, clock=None, chains=False,
    ):  # fmt: skip
        self.aspect, self.world, self._step, self._restart, self._reload = aspect, world, step, restart, reload
        self.opt, self.pert, self.user_scn = MjvOption(), MjvPerturb(), MjvScene()
        self.panels, self.quit, self.screenshot, self.filming = Panels(), False, False, False
        self.full_screen = self.passive = False  # passive: a program steps, not the clock
        self.told, self.said, self.until = "", "", 0.0  # what is to be said; what is, and how long
        self.color = "geom" if color == "island" else color
        self.flag("ISLAND", color == "island")
        self.chains = bool(chains)
        self.flag("CONTACTPOINT", show_contacts)
        self.flag("TRANSPARENT", show_contacts or chains)
        self._asked, self._given = camera, clock
        self._take(m, d, running, camera)

    def _take(self, m, d, running, camera):
        import tisim

        home = choose(camera, m, d, self.aspect, self.world)
        self.m, self.d = m, d
        named = isinstance(camera, str) and home.rotation is not None
        self.eye = moving.Eye(m, home, camera if named else None)
        self.clock = self._given or Clock(m, d, self._step or tisim.step, self._restart or start_again, running)
        self.hand, self._down, self._last, self._click = perturb.Hand(), {}, None, (-1e9, 0.0, 0.0, "")

    # what is drawn

    @property
    def cam(self):
        """The MjvCamera."""
        return self.eye.cam

    @property
    def camera(self):
        """The Camera of now."""
        return self.eye.camera(self.d, self.world)

    @property
    def colors(self):
        """The colour mode of now, as in `render`."""
        return "island" if self.has("ISLAND") else self.color

    def has(self, flag):
        """Whether a visual flag is set, by its name without mjVIS_."""
        return decor.has(self.opt, flag)

    def flag(self, flag, on):
        """Sets a visual flag."""
        self.opt.flags[int(mjtVisFlag[f"mjVIS_{flag}"])] = bool(on)

    # keys

    def key(self, name, shift=False):
        """A key was pressed: acts if it is one of keys.ACTIONS."""
        action = keys.action(name, shift)
        if action is None:
            return
        if action.isupper():
            self.flag(action, not self.has(action))
        elif action.startswith("group"):
            self._toggle_groups(self.opt.sitegroup if shift else self.opt.geomgroup, action[5:])
        else:
            getattr(self, f"_key_{action}")()

    @staticmethod
    def _toggle_groups(groups, which):
        if which == "s":  # 3 to 5, together
            groups[3:] = not groups[3:].any()
        else:
            groups[int(which)] = not groups[int(which)]

    def _key_pause(self):
        self.clock.toggle()

    def _key_step(self):
        self.clock.single(self.push)

    def _key_back(self):
        self.let_go()
        if not self.clock.back():
            self.told = "no earlier state is recorded"

    def _key_slower(self):
        self.clock.slower()

    def _key_faster(self):
        self.clock.slower(-1)

    def _key_reset(self):
        self.let_go()
        self.clock.reset()

    def _key_reload(self):
        self.let_go()
        if self._reload is None:
            self.told = "there is no file to load again"
            return
        try:
            m, d = self._reload()
            forward(m, d)
            if self.world >= d.nworld:
                raise Error(f"world {self.world} is shown, and what was loaded has {d.nworld}")
        except (Error, OSError) as error:  # the old model is still there to look at
            self.told = str(error).splitlines()[0]
            return
        cam = self.cam if self.cam.type == moving.FREE else None
        try:
            self._take(m, d, self.clock.running, self._asked)
        except Error as error:  # the camera is not there any more
            self.told = str(error).splitlines()[0]
            self._take(m, d, self.clock.running, None)
        self.pert.select = 0
        if cam is not None:
            self.eye.take(cam)

    def _key_keyframe(self):
        self.let_go()
        key = self.clock.keyframe()
        self.told = f"keyframe {self.m.id2name('key', key) or key}" if key >= 0 else "the model has no keyframes"

    def _key_nearer(self):
        pass  # held keys zoom: see `hold`

    _key_farther = _key_nearer

    def _key_next_camera(self):
        self.eye.cycle(1, self.pert.select)

    def _key_last_camera(self):
        self.eye.cycle(-1, self.pert.select)

    def _key_track(self):
        self.eye.track(self.pert.select)

    def _key_align(self):
        self.let_go()
        self.pert.select = 0
        self.eye.align()

    def _key_frames(self):
        self.opt.frame = FRAMES[(FRAMES.index(self.opt.frame) + 1) % len(FRAMES)] if self.opt.frame in FRAMES else 0

    def _key_labels(self):
        self.opt.label = LABELS[(LABELS.index(self.opt.label) + 1) % len(LABELS)] if self.opt.label in LABELS else 0

    def _key_solids(self):
        """Inertia boxes, then the hulls of meshes, then neither."""
        boxes, hulls = self.has("INERTIA"), self.has("CONVEXHULL")
        self.flag("INERTIA", not (boxes or hulls))
        self.flag("CONVEXHULL", boxes and not hulls)

    def _key_chains(self):
        self.chains = not self.chains
        self.flag("TRANSPARENT", self.chains)

    def _key_colors(self):
        self.flag("ISLAND", False)
        self.color = COLORS[(COLORS.index(self.color) + 1) % len(COLORS)]

    def _key_groups(self):
        self._toggle_groups(self.opt.geomgroup, "s")

    def _key_sites(self):
        self._toggle_groups(self.opt.sitegroup, "s")

    def _key_panels(self):
        self.panels.shown = not self.panels.shown

    def _key_profiler(self):
        self.panels.profiler = not self.panels.profiler

    def _key_info(self):
        self.panels.info = not self.panels.info

    def _key_sensors(self):
        self.panels.sensors = not self.panels.sensors

    def _key_full_screen(self):
        self.full_screen = not self.full_screen

    def _key_help(self):
        self.panels.help = not self.panels.help

    def _key_screenshot(self):
        self.screenshot = True

    def _key_film(self):
        self.filming = not self.filming

    def _key_quit(self):
        self.quit = True

    def hold(self, up, down, seconds):
        """The arrow keys up and down were held for so long: zooms."""
        if up != down:
            self.eye.zoomed(self.d, self.world, (ZOOM_KEY if up else -ZOOM_KEY) * seconds)

    # mouse

    def ray(self, x, y):
        """Point and direction (3,) of the ray through a place of the picture."""
        return moving.ray_through(self.camera, x, y, self.aspect)

    def wheel(self, notches):
        """The wheel was turned, away from the user: nearer."""
        self.eye.zoomed(self.d, self.world, moving.WHEEL * notches)

    def press(self, button, x, y, now, ctrl=False, late=0.0):
        """A button, "left", "right" or "middle", was pressed at a time [s], or up to `late` before."""
        self._down[button] = ctrl
        self._last = x, y
        before, bx, by, which = self._click
        near = abs(x - bx) * self.aspect < NEAR and abs(y - by) < NEAR
        double = which == button and now - late - before < DOUBLE and near
        self._click = (-1e9 if double else now), x, y, button
        if double and button == "left":
            self.select(x, y)
        elif double and button == "right":
            self.look_at(x, y, ctrl)
        if ctrl and button != "middle" and self._given is None and perturb.selected(self.m, self.pert):
            perturb.begin(self.m, self.d, self.camera, self.pert, self.world)
            self.pert.active = perturb.PULL if button == "left" else perturb.TURN

    def release(self, button):
        """A button was let go."""
        ctrl = self._down.pop(button, False)
        if ctrl and button != "middle":
            self.let_go()

    def drag(self, x, y, shift=False):
        """The mouse is at another place, perhaps with a button held."""
        if not self._down or self._last is None:
            return
        dx, dy = (x - self._last[0]) * self.aspect, y - self._last[1]
        self._last = x, y
        if dx == 0 and dy == 0:
            return
        button = next(iter(self._down))
        if self.pert.active:
            turning = self.pert.active == perturb.TURN
            perturb.move(self.m, self.d, self.camera, self.pert, dx, dy, turning, shift, self.world)
        else:
            self.eye.dragged(self.d, self.world, DRAGS[button], dx, dy, shift)

    def _hit(self, x, y):
        groups = np.asarray(self.opt.geomgroup)
        return perturb.select(self.m, self.d, *self.ray(x, y), groups, self.world)

    def select(self, x, y):
        """Selects the body seen at a place; nothing, or the world itself, deselects."""
        self.let_go()
        body, at = self._hit(x, y)
        self.pert.select = max(body, 0)
        if body > 0:
            self.pert.localpos = at

    def choose(self, body, point):
        """Selects a body by its number, at a point (3,) of the world; 0 deselects."""
        self.let_go()
        self.pert.select = body
        turn = perturb.of_body(self.d, "xmat", self.world, body).reshape(3, 3)
        self.pert.localpos = turn.T @ (np.asarray(point, float) - perturb.of_body(self.d, "xpos", self.world, body))

    def pull(self, point):
        """Pulls what is selected to a point (3,) of the world, in a plane or along a line that the caller chose."""
        if self._given is not None or not perturb.selected(self.m, self.pert):
            return
        if not self.pert.active:
            perturb.begin(self.m, self.d, self.camera, self.pert, self.world)
            self.pert.active = perturb.PULL
        away = np.asarray(point, float) - self.pert.refselpos
        self.pert.refpos, self.pert.refselpos = self.pert.refpos + away, self.pert.refselpos + away

    def look_at(self, x, y, follow):
        """Looks at what is seen at a place, or follows that body."""
        body, at = self._hit(x, y)
        if body < 0:
            return
        if follow:
            return self.eye.track(body)
        self.eye.let_go(self.d, self.world)
        turn = perturb.of_body(self.d, "xmat", self.world, body).reshape(3, 3)
        self.cam.lookat = perturb.of_body(self.d, "xpos", self.world, body) + turn @ at

    # time

    def push(self):
        """Applies the hand, before a step; leaves xfrc_applied as the user has it where nothing is held."""
        if self.pert.active | self.pert.active2:
            self.hand.apply(self.m, self.d, self.pert, self.world)
            perturb.mjv_apply_perturb_pose(self.m, self.d, self.pert, 0, self.world)

    def let_go(self):
        """Takes the hand off what is pulled."""
        self.pert.active = self.pert.active2 = 0
        self.hand.release(self.d)

    def advance(self, elapsed):
        """Simulates what passed of real time [s]; a body that is held while time stands still is put where it is
        held. Returns seconds simulated."""
        if not self.clock.running and self.pert.active:
            perturb.mjv_apply_perturb_pose(self.m, self.d, self.pert, 1, self.world)
            forward(self.m, self.d)
        done = self.clock.run(elapsed, self.push)
        self.forget_removed()
        return done

    def forget_removed(self):
        """What was removed is neither selected nor followed any more; the camera stays where it is."""
        body, cam = perturb.selected(self.m, self.pert), self.eye.cam
        if not self.m.comes_and_goes or not (body or cam.type == moving.TRACKING):
            return
        there = asleep.body_present(self.m, self.d)[self.world]
        if body and not there[body]:
            self.let_go()
            self.pert.select = 0
        if cam.type == moving.TRACKING and not there[cam.trackbodyid]:
            cam.type = moving.FREE

    # values

    def set_ctrl(self, i, value):
        """Sets a control, or a slice of them."""
        self.d.ctrl[perturb.place(self.d, self.world, i)] = value

    def set_eq_active(self, i, on):
        """Switches an equality."""
        self.d.eq_active[perturb.place(self.d, self.world, i)] = bool(on)

    # words

    def name(self, kind, i):
        """Name of an element, or its kind and number."""
        return self.m.id2name(kind, i) or f"{kind} {i}"

    def about_selected(self):
        """(name, mass [kg], speed of the centre of mass [m/s], number of contacts) of the selected body, or None."""
        body = perturb.selected(self.m, self.pert)
        if not body:
            return None
        m, d = self.m, self.d
        twist = perturb.of_body(d, "cvel", self.world, body)
        about = perturb.of_body(d, "subtree_com", self.world, int(m.body_rootid[body]))
        at = perturb.of_body(d, "xipos", self.world, body)
        speed = float(np.linalg.norm(twist[3:] + np.cross(twist[:3], at - about)))
        ncon = measures.touching(m, d, self.world, body)
        return self.name("body", body), float(m.body_mass[body]), speed, ncon
