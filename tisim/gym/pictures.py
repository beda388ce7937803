"""Pictures of environments, as gymnasium's render modes name them."""

import numpy as np

from tisim.enums import mjtCamera
from tisim.errors import Error, brief
from tisim.viewer.camera import default_free_camera
from tisim.viewer.mjv import MjvCamera

MODES = ("rgb_array", "depth_array", "rgbd_tuple")


class Pictures:
    """Takes a picture of each world of a Data; nothing is made before the first.

    view  dict of fields of a MjvCamera;  camera_id, camera_name  one of the model's cameras in its place.
    """

    def __init__(self, m, mode, width, height, view=None, camera_id=None, camera_name=None):
        if mode is not None and mode not in MODES:
            raise Error(
                f"render_mode={brief(mode)}: expected None, {', '.join(map(repr, MODES))}; windows: tisim.viewer"
            )
        if camera_id is not None and camera_name is not None:
            raise Error("camera_id and camera_name: one of them")
        if view is not None and not isinstance(view, dict):
            raise Error(f"camera={brief(view)}: expected a dict of fields of a tisim.MjvCamera")
        self.m, self.mode, self.size = m, mode, (height, width)
        self.named, self.view, self.renderer = camera_name if camera_id is None else camera_id, view, None

    def take(self, d, n):
        """A list of one picture for each of the first n worlds of a Data.

        A picture is RGB (height, width, 3) uint8, the depth along the view (height, width) f32 [m], or both.
        """
        if self.renderer is None:
            from tisim.viewer.renderer import Renderer

            self.renderer = Renderer(self.m, *self.size)
        return [self._one(d, world) for world in range(n)]

    def _one(self, d, world):
        camera = self._camera() if self.named is None else self.named
        self.renderer.update_scene(d, camera, world=world)
        rgb, depth, _ = self.renderer.render_all()
        return {"rgb_array": rgb, "depth_array": depth, "rgbd_tuple": (rgb, depth)}[self.mode]

    def _camera(self):
        camera = MjvCamera()
        default_free_camera(self.m, camera)
        for name, value in (self.view or {}).items():
            setattr(camera, name, np.asarray(value, float) if name == "lookat" else value)
        if camera.trackbodyid >= 0:
            camera.type = mjtCamera.mjCAMERA_TRACKING
        return camera

    def close(self):
        if self.renderer is not None:
            self.renderer.close()
            self.renderer = None
