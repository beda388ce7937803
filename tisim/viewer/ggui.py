"""The calls into Taichi's GGUI that take vertices straight from NumPy arrays (taichi==1.7.4)."""

import numpy as np

from tisim import runtime
from tisim.viewer import vulkan

_hidden = {}


def open_window(title, width, height, show):
    """A GGUI window; raises Error where Vulkan or, with `show`, a display is missing."""
    vulkan.require(display=show)
    runtime.ensure()
    import taichi as ti

    return ti.ui.Window(title, (width, height), vsync=show, show_window=show)


def hidden_window(width, height):
    """The window of this size that is never shown; one is kept for each size."""
    key = (width, height, runtime.generation)
    for old in [k for k in _hidden if k[2] != runtime.generation]:
        del _hidden[old]
    if key not in _hidden:
        _hidden[key] = open_window("tisim", width, height, show=False)
    return _hidden[key]


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
        scene.scene.mesh(
            get_field_info(vertices), True, get_field_info(indices), (1.0, 1.0, 1.0), False, count, first,
            len(vertices), 0, False,
        )  # fmt: skip


def image(window):
    """What was drawn as (height, width, 3) f32 from 0 to 1; one picture gives either its image or its distance."""
    return np.ascontiguousarray(np.asarray(window.get_image_buffer_as_numpy())[:, ::-1, :3].swapaxes(0, 1))


def distance(window, near, far):
    """Distance of what was drawn along the view [m], (height, width) f32; infinite where there is nothing."""
    z = np.ascontiguousarray(window.get_depth_buffer_as_numpy()[:, ::-1].T)
    with np.errstate(divide="ignore"):
        return np.where(z > 0, near * far / (z * (far - near) + near), np.inf).astype(np.float32)
