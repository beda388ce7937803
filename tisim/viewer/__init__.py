"""Pictures and an interactive window of a simulation, drawn by Taichi's GGUI over Vulkan. A picture, and the window:

    from tisim.viewer import Camera, render, save_png, view
    save_png("pile.png", render(m, d, 1280, 720))
    view(m, d)

One window exists at a time.
"""

from tisim.mujoco_names import missing
from tisim.viewer.camera import Camera
from tisim.viewer.offscreen import render, save_png
from tisim.viewer.window import view

__all__ = ["Camera", "render", "save_png", "view"]


def __getattr__(name):
    raise missing(__name__, name, __all__)
