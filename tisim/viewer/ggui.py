"""The calls into Taichi's GGUI that take vertices straight from NumPy arrays (taichi==1.7.4)."""

import atexit
import contextlib
import os
import tempfile

import numpy as np

from tisim.device import runtime
from tisim.errors import Error
from tisim.viewer import vulkan

ORIGIN = np.eye(4, dtype=np.float32)[None]
LEFTOVER = "imgui.ini"  # GGUI writes it into the working folder now and then, and when a window closes
_leftover = None  # its path and what it held before, None where it was not there
_window = None  # Taichi 1.7.4 crashes when a process that had two windows at once ends


def open_window(title, width, height, show):
    """A GGUI window; raises Error where Vulkan or, with `show`, a display is missing, or where one is shown already."""
    global _window, _leftover
    vulkan.require(display=show)
    runtime.ensure()
    import taichi as ti

    if _window is None:
        atexit.register(close)  # before Taichi ends, which a window must not outlive
    elif _window.shown:
        raise Error("a window is open; close it before another picture is drawn (Taichi cannot have two)")
    close()
    path = os.path.abspath(LEFTOVER)
    _leftover = path, _read(path)
    _window = ti.ui.Window(title, (width, height), vsync=show, show_window=show)
    _window.shown, _window.size = show, (width, height)
    return _window


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
    import taichi as ti

    cam = ti.ui.Camera()
    cam.position(*map(float, position))
    cam.lookat(*map(float, target))
    cam.up(*map(float, up))
    cam.fov(float(fovy))
    cam.z_near(float(near))
    cam.z_far(float(far))
    scene.set_camera(cam)


def draw(scene, vertices, indices, first=0, count=None):
    """Draws triangles: vertices (n, 12: position, normal, texture, colour) f32, indices int32."""
    from taichi.ui.utils import get_field_info

    count = len(indices) - first if count is None else count
    if count > 0:
        # one instance at the origin: without, GGUI multiplies by zero what happens to lie in memory, and draws
        # nothing where that is not a number
        scene.scene.mesh_instance(
            get_field_info(vertices), True, get_field_info(indices), (1.0, 1.0, 1.0), False, get_field_info(ORIGIN),
            1, 0, count, first, len(vertices), 0, False,
        )  # fmt: skip
