"""Pictures of a simulation, cast by Taichi, and an interactive window, drawn by its GGUI over Vulkan:

    from tisim.viewer import Camera, render, save_png, view
    save_png("pile.png", render(m, d, 1280, 720))
    view(m, d)

`launch` and `launch_passive` open it as mujoco.viewer's do. `tisim.Renderer` gives pictures, depth and segmentation as
mujoco.Renderer does. One window exists at a time.
"""

from tisim.mujoco_names import missing
from tisim.viewer.browser import view_in_browser
from tisim.viewer.camera import Camera
from tisim.viewer.mjv import MjvCamera, MjvOption, MjvPerturb
from tisim.viewer.offscreen import render, save_png
from tisim.viewer.passive import launch, launch_from_path, launch_passive
from tisim.viewer.renderer import Renderer
from tisim.viewer.scene import Look
from tisim.viewer.window import view

__all__ = [
    "Camera", "Look", "MjvCamera", "MjvOption", "MjvPerturb", "Renderer", "launch", "launch_from_path",
    "launch_passive", "render", "save_png", "view", "view_in_browser",
]  # fmt: skip


def __getattr__(name):
    raise missing(__name__, name, __all__)
