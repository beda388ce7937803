"""The camera of MuJoCo's viewer: a point looked at, a distance and two angles."""

import dataclasses

import numpy as np

from tisim.errors import Error

PLANE, HFIELD = 0, 1


@dataclasses.dataclass
class Camera:
    """Where a picture is taken from.

    azimuth, elevation  direction of view [degree]: azimuth 90 looks along +y, elevation -90 looks straight down.
    distance  from the point looked at [m];  lookat  that point (3,) [m];  fovy  vertical field of view [degree].
    """

    azimuth: float = 125.0
    elevation: float = -22.0
    distance: float = 4.0
    lookat: tuple = (0.0, 0.0, 0.5)
    fovy: float = 30.0

    @property
    def forward(self):
        """Unit vector (3,) of the direction of view."""
        a, e = np.radians(self.azimuth), np.radians(self.elevation)
        return np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])

    @property
    def position(self):
        """Where the camera stands (3,) [m]."""
        return np.asarray(self.lookat, float) - self.distance * self.forward

    @property
    def axes(self):
        """Rows: right, up and backward of the picture in the world (3, 3)."""
        back = -self.forward
        a = np.radians(self.azimuth)
        right = np.array([np.sin(a), -np.cos(a), 0.0])
        return np.array([right, np.cross(back, right), back])

    @property
    def clip(self):
        """Near and far plane [m]; nothing is cut that one would see."""
        return 0.02 * self.distance, 100.0 * self.distance + 100.0

    def project(self, points, width, height):
        """Pixel coordinates of world points: (n, 3) -> column, row (n, 2) and distance along the view (n,)."""
        p = (np.atleast_2d(points) - self.position) @ self.axes.T
        depth = -p[:, 2]
        focal = 0.5 * height / np.tan(0.5 * np.radians(self.fovy))
        return np.stack([0.5 * width + focal * p[:, 0] / depth, 0.5 * height - focal * p[:, 1] / depth], 1), depth

    @classmethod
    def parse(cls, text, default=None):
        """Camera from "azimuth,elevation,distance[,x,y,z]"; an empty place keeps the default's value."""
        cam = dataclasses.replace(default or cls())
        parts = [p.strip() for p in text.split(",")]
        try:
            values = [float(p) if p else None for p in parts]
            if len(values) > 6:
                raise ValueError
        except ValueError:
            raise Error(f"camera {text!r}: expected azimuth,elevation,distance or these and x,y,z looked at") from None
        for name, value in zip(("azimuth", "elevation", "distance"), values):
            if value is not None:
                setattr(cam, name, value)
        look = list(cam.lookat)
        for i, value in enumerate(values[3:]):
            look[i] = look[i] if value is None else value
        cam.lookat = tuple(look)
        if not cam.distance > 0:
            raise Error(f"camera {text!r}: the distance must be positive")
        return cam

    @classmethod
    def framing(cls, m, positions, **angles):
        """Camera that shows every geom that can move; positions (ngeom, 3) [m]."""
        shown = (np.asarray(m.geom_type) > HFIELD) & (np.asarray(m.geom_group) < 3)
        bodies = np.asarray(m.geom_bodyid)
        moving = shown & (np.asarray(m.body_weldid)[bodies] != 0)
        chosen = moving if moving.any() else shown
        if not chosen.any() or not np.isfinite(positions[chosen]).all():
            return cls(**angles)
        points, radius = positions[chosen], np.asarray(m.geom_rbound)[chosen, None]
        # a few stragglers do not move the camera
        low, high = np.quantile(points - radius, 0.005, axis=0), np.quantile(points + radius, 0.995, axis=0)
        half = 0.5 * np.linalg.norm(high - low)
        cam = cls(lookat=tuple(0.5 * (low + high)), **angles)
        cam.distance = max(0.8 * half / np.tan(0.5 * np.radians(cam.fovy)), 1e-2)
        return cam
