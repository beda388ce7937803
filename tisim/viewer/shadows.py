"""The sun's shadow map of a window that is drawn by Vulkan: depths along its rays, found by the caster.

The sun stands so far away that its rays are nearly parallel; the window's shaders use the same place, so that the map
is not distorted. Only what is opaque throws shadows, as in the caster's pictures.
"""

import numpy as np

from tisim.device import launch, runtime, session
from tisim.viewer.camera import Camera
from tisim.viewer.caster import PARALLEL
from tisim.viewer.far import sun_of
from tisim.viewer.renderer import Painter

SIDE = 512  # texels
WORDS = SIDE * SIDE // 2
FAR = 200.0  # distance of the sun, in half sides of what the map shows
SEEN = 2.0  # half side of what it shows, in distances of the camera, at most
FREE = 0xFFFF  # value of a texel in which nothing is in the sun's way
LIFT = 1.5  # how far surfaces are lifted out of their own shadow, in texels


class ShadowMap:
    """What stands in the sun's way.

    words (WORDS,) uint32: depth in each texel, row by row;  eye (3,) where it is seen from [m];  spread  tangent of
    half its angle;  depths (3,) [m] of the values 0 and FREE - 1, and by how much a surface is lifted.
    scene  a Scene that lists what throws shadows.
    """

    def __init__(self, m, scene):
        self._painter = Painter(m, SIDE, SIDE, scene)
        self.words = np.full(WORDS, 0xFFFFFFFF, np.uint32)
        self.eye, self.spread, self.depths = np.zeros(3), 1.0, (0.0, 1.0, 0.0)

    def shoot(self, d, world, look, camera, low, high):
        """Looks from the sun of a camera at what a Look shows; low, high (3,) corners of a box around it [m]."""
        center, radius = 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low)) + 1e-6
        if radius > SEEN * camera.distance:
            center, radius = np.asarray(camera.lookat, float), SEEN * camera.distance
        sun = sun_of(camera)
        right = np.cross([0, 0, 1.0], sun)
        right /= np.linalg.norm(right)
        self.spread = 1.0 / FAR
        view = Camera(distance=FAR * radius, lookat=tuple(center), fovy=2 * np.degrees(np.arctan(self.spread)),
                      rotation=np.array([right, np.cross(sun, right), sun]))  # fmt: skip
        self.eye = view.position
        self._painter.write(d, look, world)
        scene = self._painter.scene
        parallel = session.arch != "cpu" or scene.n >= PARALLEL
        launch.run(scene.m, d, [runtime.kernels("picture.records").keep_solid], parallel=parallel, npic=scene.n)
        _, depth, _ = self._painter.shoot(d, view, "plain", color=False)
        self._pack(depth, LIFT * 2 * radius / SIDE)

    def _pack(self, depth, lift):
        met = np.isfinite(depth)
        texels = np.full(depth.shape, FREE, np.uint16)
        if met.any():
            found = depth[met]
            near, far = float(found.min()), float(found.max())
            far = max(far, near + 1e-6)
            texels[met] = ((found - near) * ((FREE - 1) / (far - near)) + 0.5).astype(np.uint16)
            self.depths = near, far, lift
        self.words = texels.reshape(-1).view(np.uint32)
