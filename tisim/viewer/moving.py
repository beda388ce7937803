"""Cameras that a mouse and keys move, by the laws of MuJoCo's mjv_moveCamera and mjv_updateCamera.

Distances of the mouse are parts of the picture's height, rightwards and downwards. A `fovy` is the vertical field of
view of free and tracking cameras [degree].
"""

import numpy as np

from tisim.enums import mjtCamera
from tisim.viewer.camera import default_free_camera, of_mjv
from tisim.viewer.mjv import MjvCamera

FREE, TRACKING, FIXED = (int(mjtCamera[f"mjCAMERA_{k}"]) for k in ("FREE", "TRACKING", "FIXED"))
STEEPEST = 89.0  # elevation [degree]
NEAREST, FARTHEST = 0.01, 100.0  # distance, in extents of the model
WHEEL = 0.05  # of a picture's height for one notch


def default_free(m):
    """MjvCamera that MuJoCo starts with."""
    cam = MjvCamera()
    default_free_camera(m, cam)
    return cam


def of_camera(camera):
    """A free MjvCamera with the view of a tisim Camera."""
    camera = camera.free() if camera.rotation is not None else camera
    cam = MjvCamera()
    cam.azimuth, cam.elevation, cam.distance = camera.azimuth, camera.elevation, camera.distance
    cam.lookat = camera.lookat
    return cam


def camera_of(m, d, cam, world=0, fovy=None):
    """The Camera that an MjvCamera stands for now; a tracking one moves its lookat along with the body's subtree."""
    found = of_mjv(m, d, cam, world, fovy)
    if cam.type == TRACKING:
        cam.lookat = found.lookat
    return found


def height_at(camera, depth):
    """Metres of the world that fill the picture's height at a depth along the view [m]."""
    return 2 * np.tan(0.5 * np.radians(camera.fovy)) * depth


def orbit(cam, dx, dy):
    """Turns a free or tracking camera about what it looks at."""
    cam.azimuth = (cam.azimuth - 180 * dx + 180) % 360 - 180
    cam.elevation = float(np.clip(cam.elevation - 180 * dy, -STEEPEST, STEEPEST))


def pan(cam, camera, dx, dy, level=False):
    """Moves what a free camera looks at, upright or, `level`, along the ground; camera  its Camera of now."""
    if cam.type == FREE:
        cam.lookat = cam.lookat - shift(camera, dx, dy, level) * height_at(camera, cam.distance)


def shift(camera, dx, dy, level):
    """Direction (3,) in the world of a move of the mouse: to the right, and up or, `level`, away."""
    right = camera.axes[0]
    away = np.array([-right[1], right[0], 0.0]) if level else np.array([0, 0, 1.0])
    return dx * right - dy * away


def zoom(m, cam, dy):
    """Brings a free or tracking camera nearer, dy > 0, or farther, the more the farther it is."""
    extent = float(m.stat.extent)
    nearer = np.log(1 + cam.distance / extent / 3) * dy * 9 * extent
    cam.distance = float(np.clip(cam.distance - nearer, NEAREST * extent, FARTHEST * extent))


class Eye:
    """The camera of a window: which of free, tracking and the model's it is, and how it moves.

    home  the Camera at the start;  name  of the model's camera that it is, None: it is a free one.
    """

    def __init__(self, m, home, name=None, fovy=None):
        self.m, self.home = m, home
        self.fovy = home.fovy if fovy is None else fovy
        self.cam = of_camera(home)
        if name is not None:
            self.cam.type, self.cam.fixedcamid = FIXED, int(m._id("camera", name))
            self.fovy = float(m.vis.global_.fovy)

    def camera(self, d, world):
        """The Camera of now."""
        return camera_of(self.m, d, self.cam, world, self.fovy)

    def let_go(self, d, world):
        """Makes a fixed camera free, in the same place, so that it can be moved."""
        if self.cam.type == FIXED:
            seen = camera_of(self.m, d, self.cam, world)
            self.fovy = seen.fovy
            self.take(of_camera(seen))

    def take(self, cam):
        """Looks as another MjvCamera does; this one stays the object it is."""
        for name in cam._FIELDS:
            setattr(self.cam, name, getattr(cam, name))

    def align(self):
        """Back to the free camera of the start."""
        self.fovy = self.home.fovy
        self.take(of_camera(self.home))

    def track(self, body):
        """Follows a body; what is no body is not followed."""
        if 0 < body < self.m.nbody:
            self.cam.type, self.cam.trackbodyid = TRACKING, int(body)

    def cycle(self, step, body=0):
        """The next, or with step=-1 the last, of: free, tracking the body, the model's cameras."""
        m, cam = self.m, self.cam
        order = [(FREE, -1)] + ([(TRACKING, -1)] if 0 < body < m.nbody else [])
        order += [(FIXED, k) for k in range(m.ncam) if not m.cam_orthographic[k]]
        now = (cam.type, cam.fixedcamid if cam.type == FIXED else -1)
        kind, which = order[((order.index(now) if now in order else 0) + step) % len(order)]
        if kind == TRACKING:
            return self.track(body)
        cam.type, cam.fixedcamid = kind, which

    def about(self):
        """In words, what camera this is."""
        cam, m = self.cam, self.m
        if cam.type == FIXED:
            return f"camera {m.id2name('camera', cam.fixedcamid) or cam.fixedcamid}"
        if cam.type == TRACKING:
            return f"following {m.id2name('body', cam.trackbodyid) or f'body {cam.trackbodyid}'}"
        return "free camera"

    def zoomed(self, d, world, dy):
        """Zooms, whatever the camera is."""
        self.let_go(d, world)
        zoom(self.m, self.cam, dy)

    def dragged(self, d, world, how, dx, dy, level=False):
        """Moves by a drag: how  "orbit", "pan" or "zoom"."""
        self.let_go(d, world)
        if how == "orbit":
            orbit(self.cam, dx, dy)
        elif how == "zoom":
            zoom(self.m, self.cam, dy)
        else:
            pan(self.cam, self.camera(d, world), dx, dy, level)


def ray_through(camera, x, y, aspect):
    """Point (3,) and direction (3,), of depth 1, of the ray through a place of the picture.

    x, y  parts of the picture's width and height, from the left and from above;  aspect  width by height.
    """
    half = np.tan(0.5 * np.radians(camera.fovy))
    v = np.array([(2 * x - 1) * half * aspect, (1 - 2 * y) * half, -1.0])
    return np.asarray(camera.position, float), v @ np.asarray(camera.axes, float)
