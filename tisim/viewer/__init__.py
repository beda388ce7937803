"""Pictures of a simulation, cast by Taichi, and an interactive window, drawn by its GGUI over Vulkan:

    from tisim.viewer import Camera, render, save_png, view
    save_png("pile.png", render(m, d, 1280, 720))
    view(m, d)

`tisim.Renderer` gives pictures, depth and segmentation as mujoco.Renderer does. One window exists at a time.
"""

from tisim.mujoco_names import missing
from tisim.viewer.camera import Camera
from tisim.viewer.offscreen import render, save_png
from tisim.viewer.options import MjvCamera, MjvOption, MjvPerturb
from tisim.viewer.renderer import Renderer
from tisim.viewer.scene import Look
from tisim.viewer.window import view

__all__ = ["Camera", "Look", "MjvCamera", "MjvOption", "MjvPerturb", "Renderer", "render", "save_png", "view"]


def __getattr__(name):
    raise missing(__name__, name, __all__)
