"""The one window of Taichi's GGUI (taichi==1.7.4) that may exist at a time, with tisim's shaders in it."""

import atexit
import contextlib
import os
import tempfile

from tisim.device import runtime
from tisim.errors import Error
from tisim.viewer import imgui, raster, vulkan

LEFTOVER = "imgui.ini"  # GGUI writes it into the working folder now and then, and when a window closes
PLACE, FASTEST = (100, 100), 1000  # where a window opens [pixel]; pictures in a second, at most
_leftover = None  # its path and what it held before, None where it was not there
_camera = None  # Taichi's, which is pointed anew for each picture
_window = None  # Taichi 1.7.4 crashes when a process that had two windows at once ends


def open_window(title, width, height, show):
    """A GGUI window; raises Error where Vulkan or, with `show`, a display is missing, or where one is shown already."""
    global _window, _leftover
    vulkan.require(display=show)
    runtime.ensure()
    if _window is None:
        atexit.register(close)  # before Taichi ends, which a window must not outlive
    elif _window.shown:
        raise Error("a window is open; close it before another picture is drawn (Taichi cannot have two)")
    close()
    path = os.path.abspath(LEFTOVER)
    _leftover = path, _read(path)
    _window = _made(title, (width, height), show)
    _window.shown, _window.size = show, (width, height)
    _window.direct = imgui.Direct.of()
    return _window


def _made(title, size, show):
    """A ti.ui.Window whose shaders come from tisim's folder."""
    import taichi as ti
    from taichi._lib import core
    from taichi.lang.impl import default_cfg, get_runtime

    window = ti.ui.Window.__new__(ti.ui.Window)
    window.window = core.PyWindow(
        get_runtime().prog, title, size, PLACE, show, show, FASTEST, str(raster.folder()), default_cfg().arch
    )
    return window


def close():
    """Destroys the window; called when it is closed, before Taichi starts again and at the end of the process."""
    global _window
    if _window is not None:
        with _elsewhere():
            _window.destroy()
        _window = None
        path, before = _leftover
        if before is None:
            with contextlib.suppress(OSError):
                os.remove(path)
        elif before != _read(path):
            with open(path, "wb") as file:
                file.write(before)


def _read(path):
    """Bytes of a file, None if there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


@contextlib.contextmanager
def _elsewhere():
    """Another working folder for a moment, which is thrown away."""
    here = os.open(".", os.O_RDONLY)
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                yield
            finally:
                os.chdir(here)
    finally:
        os.close(here)


def set_camera(scene, position, target, up, fovy, near, far):
    """Points the scene's camera; fovy is the vertical field of view [degree]."""
    global _camera
    if _camera is None:
        import taichi as ti

        _camera = ti.ui.Camera()
    cam = _camera.ptr  # what Taichi's own class wraps, and keeps in vectors of its own besides
    cam.position(*map(float, position))
    cam.lookat(*map(float, target))
    cam.up(*map(float, up))
    cam.fov(float(fovy))
    cam.z_near(float(near))
    cam.z_far(float(far))
    scene.set_camera(_camera)
