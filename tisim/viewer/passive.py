"""`launch` and `launch_passive`, as in mujoco.viewer.

GGUI belongs to the main thread: there is no thread of the window, `sync` of the handle draws and looks at what the user
does. A program that does not call it has a window that stands still.
"""

import threading
import time

from tisim.device import runtime
from tisim.errors import Error, FieldError, brief
from tisim.mjcf.format.names import nearest
from tisim.viewer import vulkan
from tisim.viewer.camera import Camera
from tisim.viewer.controls import Controls
from tisim.viewer.window import PACE, Show, chosen, view

WIDTH, HEIGHT = 1280, 800


def launch(model, data=None, *, show_left_ui=True, show_right_ui=True):
    """Opens a window that runs the simulation; returns when it is closed.

    data  None: a new one;  show_left_ui, show_right_ui  taken as in mujoco.viewer, and change nothing.
    """
    import tisim

    if data is None:
        data = tisim.Data(model)
        tisim.forward(model, data)
    view(model, data)


def launch_from_path(path):
    """Opens a window that runs the model of the file of this path; r loads it again. Returns when it is closed."""
    import tisim

    def loaded():
        m = tisim.Model.from_xml_path(str(path))
        d = tisim.Data(m)
        tisim.forward(m, d)
        return m, d

    view(*loaded(), reload=loaded)


def launch_passive(model, data, *, key_callback=None, show_left_ui=True, show_right_ui=True):
    """Opens a window on a simulation that the program steps; returns its Handle.

    key_callback  called with GLFW's number of each key that is pressed, from `sync`.
    show_left_ui, show_right_ui  False for both: without panels at first.
    Raises Error where Vulkan or a display is missing, or where a window is open already.
    """
    if key_callback is not None and not callable(key_callback):
        raise Error(f"key_callback={brief(key_callback)}: expected a function of a key's number")
    vulkan.require(display=True)
    runtime.ensure()
    controls = Controls(model, data, Camera.default(model), aspect=WIDTH / HEIGHT)
    controls.panels.shown = bool(show_left_ui or show_right_ui)
    show = Show(controls, WIDTH, HEIGHT, chosen("auto", model), passive=True, on_key=key_callback)
    handle = Handle(show)
    handle.sync()
    return handle


# of mujoco.viewer's handle, and not here
_ASSETS = "; where assets of the model were written, close the window and open another"
_ADDED = "; geoms of user_scn are drawn beside the model, and tisim.Recorder and `tisim plot` keep and draw numbers"
_ELSEWHERE = dict.fromkeys(("update_hfield", "update_mesh", "update_texture"), _ASSETS) | dict.fromkeys(
    (f"{verb}_{what}" for verb in ("set", "clear") for what in ("figures", "images", "texts")), _ADDED
)


class Handle:
    """A window on a simulation that a program steps, and that is drawn by `sync`.

    cam, opt, perturb, user_scn  MjvCamera, MjvOption, MjvPerturb and MjvScene: read and written at will.
    """

    def __init__(self, show):
        self._show, self._lock, self._due, self._open = show, threading.RLock(), -1e9, True

    def __getattr__(self, name):
        hint = nearest(name, [n for n in dir(Handle) if not n.startswith("_")])
        raise FieldError(f"the window has no '{name}'{_ELSEWHERE.get(name) or hint}")

    @property
    def m(self):
        """The Model."""
        return self._show.controls.m

    @property
    def d(self):
        """The Data."""
        return self._show.controls.d

    @property
    def cam(self):
        """From where the window looks."""
        return self._show.controls.cam

    @property
    def opt(self):
        """What it draws."""
        return self._show.controls.opt

    @property
    def perturb(self):
        """What the mouse holds."""
        return self._show.controls.pert

    @property
    def user_scn(self):
        """What the program adds to what is drawn."""
        return self._show.controls.user_scn

    @property
    def viewport(self):
        """Width and height of the window [pixel]."""
        return self._show.size

    def is_running(self):
        """Whether the window is open."""
        return self._open and self._show.open()

    def lock(self):
        """For `with`: as in mujoco.viewer. Nothing runs beside the program, so nobody is held up."""
        return self._lock

    def sync(self, state_only=False):
        """Draws the state of now and does what the user asked for: keys, camera, a force in d.xfrc_applied.

        Called more often than the window shows pictures, 60 in a second and for half of the time, it only renews that
        force. Does nothing once the window is closed. state_only  changes nothing: the model is not copied.
        """
        if not self._open:
            return
        start = time.perf_counter()
        if start < self._due:
            return self._show.controls.push()
        if not self._show.frame():
            self.close()
        self._due = start + max(PACE, 2 * (time.perf_counter() - start))

    def close(self):
        """Closes the window; a second time it does nothing."""
        if self._open:
            self._open = False
            self._show.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
