"""Meshes of a tisim.Spec, and the builtin shapes that MjSpec makes by calls."""

from .element import SpecElement


class SpecMesh(SpecElement):
    """A mesh: a file, vertices and faces, or a shape of make_..., as in mujoco.MjSpec."""

    __slots__ = ()

    def _make(self, shape, *params):
        self.update(builtin=shape, params=[float(v) for v in params])

    def make_sphere(self, subdivision):
        """A unit sphere, of an icosahedron whose faces are cut in four so often."""
        self._make("sphere", subdivision)

    def make_hemisphere(self, resolution):
        """Half a unit sphere."""
        self._make("hemisphere", resolution)

    def make_cone(self, nedge, radius):
        """A cone or frustum; radius is that of the top."""
        self._make("cone", nedge, radius)

    def make_supersphere(self, resolution, e, n):
        """A superellipsoid with the exponents e and n."""
        self._make("supersphere", resolution, e, n)

    def make_supertorus(self, resolution, radius, s, t):
        """A supertoroid; radius is that of its tube, s and t are exponents."""
        self._make("supertorus", resolution, radius, s, t)

    def make_wedge(self, resolution=(0, 0), fov=(0.0, 0.0), gamma=0.0):
        """A shell of a sphere, as tactile sensors have it; fov [degrees]."""
        self._make("wedge", *resolution, *fov, gamma)

    def make_plate(self, resolution=(0, 0)):
        """A flat shell."""
        self._make("plate", *resolution)
