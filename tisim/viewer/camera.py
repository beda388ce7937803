"""The camera of MuJoCo's viewer, a point looked at, a distance and two angles; and the cameras of a model."""

import dataclasses

import numpy as np

from tisim.enums import mjtCamera, mjtCamLight
from tisim.errors import Error, brief
from tisim.mjcf.rotations import cross
from tisim.viewer.drawing import removed_geoms

PLANE, HFIELD = 0, 1
ASPECT = 16 / 9  # width of a picture by its height
MARGIN = 1.06  # of the distance from which everything is just in view
STRAY = 8  # what is so many times farther from the middle than nine tenths of the geoms is not framed


@dataclasses.dataclass
class Camera:
    """Where a picture is taken from.

    azimuth, elevation  direction of view [degree]: azimuth 90 looks along +y, elevation -90 looks straight down.
    distance  from the point looked at [m];  lookat  that point (3,) [m];  fovy  vertical field of view [degree].
    rotation  rows right, up and backward (3, 3), of a model's camera: then the angles only tell where the sun stands.
    """

    azimuth: float = 125.0
    elevation: float = -22.0
    distance: float = 4.0
    lookat: tuple = (0.0, 0.0, 0.5)
    fovy: float = 30.0
    rotation: object = None

    @property
    def forward(self):
        """Unit vector (3,) of the direction of view."""
        if self.rotation is not None:
            return -self.rotation[2]
        a, e = np.radians(self.azimuth), np.radians(self.elevation)
        return np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])

    @property
    def position(self):
        """Where the camera stands (3,) [m]."""
        return np.asarray(self.lookat, float) - self.distance * self.forward

    @property
    def axes(self):
        """Rows: right, up and backward of the picture in the world (3, 3)."""
        if self.rotation is not None:
            return self.rotation
        back = -self.forward
        a = np.radians(self.azimuth)
        right = np.array([np.sin(a), -np.cos(a), 0.0])
        return np.array([right, cross(back, right), back])

    @property
    def clip(self):
        """Near and far plane [m]; nothing is cut that one would see."""
        return 0.02 * self.distance, 100.0 * self.distance + 100.0

    @property
    def tile(self):
        """Side of a chequer's tile that suits what it shows [m]."""
        return float(max(0.25, 2.0 ** np.floor(np.log2(max(self.distance / 16, 0.25)))))

    def project(self, points, width, height):
        """Where a picture shows points: columns and rows (n, 2) [pixel], and distances along the view (n,) [m].

        points  (n, 3), in the world [m];  width, height  of the picture [pixel].
        """
        p = (np.atleast_2d(points) - self.position) @ self.axes.T
        depth = -p[:, 2]
        focal = 0.5 * height / np.tan(0.5 * np.radians(self.fovy))
        return np.stack([0.5 * width + focal * p[:, 0] / depth, 0.5 * height - focal * p[:, 1] / depth], 1), depth

    @classmethod
    def parse(cls, text, default=None):
        """Camera from a text, "azimuth,elevation,distance[,x,y,z]" [degree, m]. Raises Error for another.

        default  Camera of which an empty place keeps the value, None: that of Camera().
        """
        cam = dataclasses.replace(default or cls())
        parts = [p.strip() for p in text.split(",")]
        try:
            values = [float(p) if p else None for p in parts]
            if len(values) > 6:
                raise ValueError
        except ValueError:
            raise Error(
                f"camera {brief(text)}: expected azimuth,elevation,distance or these and x,y,z looked at"
            ) from None
        for name, value in zip(("azimuth", "elevation", "distance"), values):
            if value is not None:
                setattr(cam, name, value)
        look = list(cam.lookat)
        for i, value in enumerate(values[3:]):
            look[i] = look[i] if value is None else value
        cam.lookat = tuple(look)
        if not cam.distance > 0:
            raise Error(f"camera {brief(text)}: the distance must be positive")
        return cam

    def free(self):
        """The same view, or the nearest without a roll, by angles."""
        x, y, z = self.forward
        elevation = float(np.clip(np.degrees(np.arcsin(np.clip(z, -1, 1))), -89, 89))
        return dataclasses.replace(
            self, azimuth=float(np.degrees(np.arctan2(y, x))), elevation=elevation, rotation=None
        )

    @classmethod
    def framing(cls, m, positions, aspect=ASPECT, seen=None, **angles):
        """Camera that shows every geom that can move, wholly; positions (ngeom, 3) [m].

        aspect  width of the picture by its height;  seen (4,)  how far earlier pictures of a film reached, -inf at
        first: it is widened in place, so that the camera only draws back.
        """
        cam = cls(**angles)
        points, radius = _spheres(m, positions)
        if not len(points):
            return cam
        # a ball is above the lower face of the field of view if its x, y, z by the camera's axes, from the point looked
        # at, have distance * sin >= z * sin + |y| * cos + radius, and so for the other faces
        x, y, z = cam.axes @ points.T
        upper = 0.5 * np.radians(cam.fovy)
        side = np.arctan(aspect * np.tan(upper))
        reach = np.array([(z * np.sin(h) + s * v * np.cos(h) + radius).max()
                          for h, v in ((side, x), (upper, y)) for s in (1, -1)])  # fmt: skip
        if seen is not None:
            reach = seen[:] = np.maximum(seen, reach)
        middle = [0.5 * (reach[k] - reach[k + 1]) / np.cos(h) for k, h in ((0, side), (2, upper))]
        # distances from the plane of the world's origin across the view; the point looked at is put among the geoms
        needed = max(0.5 * (reach[k] + reach[k + 1]) / np.sin(h) for k, h in ((0, side), (2, upper)))
        depth = 0.5 * (z.min() + z.max())
        cam.distance = max(MARGIN * (needed - depth), 1e-2)
        cam.lookat = tuple(float(v) for v in np.array([*middle, depth]) @ cam.axes)
        return cam

    @classmethod
    def default(cls, m):
        """The free camera that MuJoCo starts with: at the middle of the model, by its `<visual>` and `<statistic>`."""
        angles = {k: float(getattr(m.vis.global_, k)) for k in ("azimuth", "elevation", "fovy")}
        return cls(**angles, distance=1.5 * float(m.stat.extent), lookat=tuple(map(float, m.stat.center)))

    @classmethod
    def of_model(cls, m, d, name, world=0):
        """The model's camera of this name or id, where it is now. Raises Error for an unknown or orthographic one.

        world  of which world of the Data.
        """
        k = m._id("camera", name)
        if m.cam_orthographic[k]:
            raise Error(f"camera {brief(name)} is orthographic; pictures are drawn in perspective")
        position, rotation = camera_pose(m, d, k, world)
        points, _ = _spheres(m, _places(m, d, world))
        ahead = -(points - position) @ rotation[2]
        distance = float(np.median(ahead)) if len(ahead) else 0.0
        distance = distance if distance > 0.1 else 1.0
        angles = {k: float(getattr(m.vis.global_, k)) for k in ("azimuth", "elevation")}
        return cls(**angles, distance=distance, lookat=tuple(position - distance * rotation[2]),
                   fovy=float(m.cam_fovy[k]), rotation=rotation)  # fmt: skip


def default_free_camera(m, cam):
    """Sets cam, a MjvCamera, to the free camera that pictures of a Model start with, as mjv_defaultFreeCamera does."""
    default = Camera.default(m)
    cam.type, cam.fixedcamid, cam.trackbodyid, cam.orthographic = mjtCamera.mjCAMERA_FREE, -1, -1, 0
    cam.azimuth, cam.elevation, cam.distance, cam.lookat = (
        default.azimuth, default.elevation, default.distance, default.lookat,
    )  # fmt: skip


def mjv_defaultFreeCamera(m, cam):
    """default_free_camera by MuJoCo's name; arguments as in default_free_camera."""
    default_free_camera(m, cam)


def of_mjv(m, d, view, world=0, fovy=None):
    """The Camera of a MjvCamera: free, tracking a body's centre of mass, or one of the model's. Raises Error.

    fovy  [degree] of the first two, None: the model's.
    """
    if view.orthographic:
        raise Error("an orthographic MjvCamera: pictures are drawn in perspective")
    if view.type == mjtCamera.mjCAMERA_FIXED:
        if not 0 <= view.fixedcamid < m.ncam:
            raise Error(f"fixedcamid={view.fixedcamid}: the model has {m.ncam} cameras")
        return Camera.of_model(m, d, view.fixedcamid, world)
    if view.type not in (mjtCamera.mjCAMERA_FREE, mjtCamera.mjCAMERA_TRACKING):
        raise Error(f"a MjvCamera of type {view.type}: expected mjCAMERA_FREE, mjCAMERA_TRACKING or mjCAMERA_FIXED")
    at = view.lookat
    if view.type == mjtCamera.mjCAMERA_TRACKING:
        if not 0 <= view.trackbodyid < m.nbody:
            raise Error(f"trackbodyid={view.trackbodyid}: the model has {m.nbody} bodies")
        at = np.asarray(d.subtree_com, float).reshape(-1, m.nbody, 3)[world][view.trackbodyid]
    fovy = float(m.vis.global_.fovy if fovy is None else fovy)
    return Camera(view.azimuth, view.elevation, view.distance, tuple(map(float, at)), fovy)


def check(camera, m):
    """Whether a text names one of the model's cameras. Raises Error if it does not and is no text for Camera.parse."""
    cameras = [m.id2name("camera", k) for k in range(m.ncam)]
    if camera in cameras:
        return True
    if not set(camera) <= set("0123456789.,+-eE "):
        there = f"it has {', '.join(c for c in cameras if c)}" if any(cameras) else "it has none with a name"
        raise Error(f"the model has no camera {brief(camera)}, {there}; or give azimuth,elevation,distance[,x,y,z]")
    Camera.parse(camera)
    return False


def choose(camera, m, d, aspect=ASPECT, world=0, seen=None):
    """The Camera that a user asked for: a Camera, the name of one of the model's, a text for Camera.parse, or None.

    None, and what a text leaves out, is as Camera.framing has it; aspect and seen as there.
    """
    if isinstance(camera, Camera):
        return camera
    if camera and check(camera, m):
        return Camera.of_model(m, d, camera, world)
    angles = Camera.parse(camera or "")
    framed = Camera.framing(m, _places(m, d, world), aspect, seen, azimuth=angles.azimuth, elevation=angles.elevation)
    return Camera.parse(camera, framed) if camera else framed


def _places(m, d, world):
    """(ngeom, 3) where the geoms of a world are [m], not a number for those that were removed."""
    positions = np.array(d.geom_xpos, float).reshape(d.nworld, m.ngeom, 3)[world]
    if m.comes_and_goes:
        positions[removed_geoms(m, d, world)] = np.nan
    return positions


def _spheres(m, positions):
    """Centres (n, 3) and radii (n,) [m] of what is to be in view: geoms that can move, else all that are bounded."""
    shown = (np.asarray(m.geom_type) > HFIELD) & (np.asarray(m.geom_group) < 3)
    shown &= np.isfinite(positions).all(1)
    moving = shown & (np.asarray(m.body_weldid)[np.asarray(m.geom_bodyid)] != 0)
    chosen = moving if moving.any() else shown
    points, radius = positions[chosen], np.asarray(m.geom_rbound, float)[chosen]
    if len(points):
        away = np.linalg.norm(points - np.median(points, axis=0), axis=1)
        near = away <= STRAY * (np.quantile(away, 0.9) + np.median(radius))  # what was flung away moves no camera
        points, radius = points[near], radius[near]
    return points, radius


def camera_pose(m, d, k, world):
    """Position (3,) and axes, rows right, up, backward (3, 3), of a model's camera, as mj_camlight has them."""
    body, mode = int(m.cam_bodyid[k]), mjtCamLight(int(m.cam_mode[k]))
    xpos, com = (np.asarray(getattr(d, a), float).reshape(-1, m.nbody, 3)[world] for a in ("xpos", "subtree_com"))
    turn = np.asarray(d.xmat, float).reshape(-1, m.nbody, 3, 3)[world][body]
    if mode == mjtCamLight.mjCAMLIGHT_TRACK:
        return xpos[body] + m.cam_pos0[k], np.asarray(m.cam_mat0[k], float).reshape(3, 3).T
    if mode == mjtCamLight.mjCAMLIGHT_TRACKCOM:
        return com[body] + m.cam_poscom0[k], np.asarray(m.cam_mat0[k], float).reshape(3, 3).T
    position = xpos[body] + turn @ m.cam_pos[k]
    w, x, y, z = m.cam_quat[k]
    own = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    target = int(m.cam_targetbodyid[k])
    if mode == mjtCamLight.mjCAMLIGHT_FIXED or target < 0:
        return position, (turn @ own).T
    back = position - (xpos if mode == mjtCamLight.mjCAMLIGHT_TARGETBODY else com)[target]
    back /= max(np.linalg.norm(back), 1e-15)
    right = np.cross([0, 0, 1.0], back)
    right /= max(np.linalg.norm(right), 1e-15)
    return position, np.array([right, np.cross(back, right), back])
