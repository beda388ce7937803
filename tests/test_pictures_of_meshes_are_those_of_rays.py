"""What a picture shows of meshes is what `tisim.multi_ray` finds through the middles of its pixels: of closed and open
ones, convex ones and others, from inside, from afar; and their shadows lie where rays to the sun are blocked, on the
floor, on others and on themselves. The bits are the same for any number of threads and by Taichi's own launcher."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tisim
from tisim.model.tables import faces
from tisim.viewer import Camera, Look
from tisim.viewer.far import sun_of

W, H = 320, 180
CAMERA = Camera(azimuth=70, elevation=-25, distance=2.2, lookat=(0, 0, 0.35))
GROUPS = (1, 1, 1, 0, 0, 0)


def ball(detail=3):
    """Corners (n, 3) and faces (k, 3) of a round mesh of 20 * 4**detail faces."""
    m = tisim.Model.from_xml_string(
        f'<mujoco><asset><mesh name="b" builtin="sphere" params="{detail}"/></asset>'
        '<worldbody><geom type="mesh" mesh="b"/></worldbody></mujoco>'
    )
    return np.array(m.mesh_vert, float), np.array(m.mesh_face, int)


def mesh(kind):
    vert, face = ball()
    if kind in ("bumpy", "open"):
        vert = vert * (1 + 0.4 * np.sin(5 * vert[:, :1]) * np.cos(6 * vert[:, 1:2]))
    if kind == "open":
        face = face[vert[face].mean(1)[:, 2] < 0.5]
    return vert, face


def scene(kind):
    vert, face = mesh(kind)
    text = f'vertex="{" ".join(f"{x:.6f}" for x in 0.25 * vert.ravel())}" face="{" ".join(map(str, face.ravel()))}"'
    bodies = "".join(
        f'<body pos="{x} {y} {z}" euler="{40 * k} {70 * k} 0"><freejoint/><geom type="mesh" mesh="b"/></body>'
        for k, (x, y, z) in enumerate(
            ((0, 0, 0.3), (0.5, 0.2, 0.35), (-0.4, 0.3, 0.4), (0.1, -0.5, 0.5), (0, 0.1, 0.9))
        )
    )
    m = tisim.Model.from_xml_string(
        f'<mujoco><asset><mesh name="b" inertia="shell" {text}/></asset><worldbody>'
        f'<geom type="plane" size="0 0 1"/>{bodies}</worldbody></mujoco>'
    )
    d = tisim.Data(m)
    tisim.forward(m, d)
    return m, d


def rays_of(cam):
    focal = 0.5 * H / np.tan(0.5 * np.radians(cam.fovy))
    x, y = np.meshgrid(np.arange(W) + 0.5, np.arange(H) + 0.5)
    return np.stack([(x - 0.5 * W) / focal, (0.5 * H - y) / focal, -np.ones_like(x)], -1) @ cam.axes


def picture(m, d, cam, quality="sun"):
    with tisim.Renderer(m, H, W, quality=quality) as r:
        r.update_scene(d, cam, Look())
        return r.render_all()


@pytest.fixture(autouse=True, scope="module")
def start():
    tisim.init(arch="cpu", precision="f64")


INSIDE = Camera(azimuth=30, elevation=10, distance=0.01, lookat=(0, 0, 0.3))
AFAR = Camera(azimuth=70, elevation=-40, distance=200, lookat=(0, 0, 0.3))
NARROW = Camera(azimuth=70, elevation=-40, distance=60, lookat=(0, 0, 0.3), fovy=3)


@pytest.mark.parametrize("kind", ("ball", "bumpy", "open"))
@pytest.mark.parametrize("cam", (CAMERA, INSIDE, AFAR, NARROW), ids=("near", "inside", "afar", "narrow"))
def test_segmentation_and_depth_are_those_of_rays(kind, cam):
    m, d = scene(kind)
    _, depth, seg = picture(m, d, cam)
    x, geom = tisim.multi_ray(m, d, cam.position, rays_of(cam).reshape(-1, 3), geomgroup=GROUPS)
    x, geom = x.reshape(H, W), geom.reshape(H, W)
    same = seg[..., 0] == geom
    assert same.mean() >= 0.9995 and len(np.unique(geom)) > (cam is not INSIDE)
    hit = same & (geom >= 0)
    assert (np.abs(depth[hit] / x[hit] - 1) < 1e-5).mean() >= 0.9995


@pytest.mark.parametrize("kind", ("ball", "bumpy", "open"))
def test_shadows_lie_where_rays_to_the_sun_are_blocked(kind):
    m, d = scene(kind)
    light, depth, seg = picture(m, d, CAMERA, "plain")
    shaded = picture(m, d, CAMERA)[0]
    shown = seg[..., 0] >= 0
    v, sun = rays_of(CAMERA), sun_of(CAMERA)
    points = CAMERA.position + depth[..., None].clip(0, 1e3) * v
    across = np.cross(np.roll(points, 1, 1) - np.roll(points, -1, 1), np.roll(points, 1, 0) - np.roll(points, -1, 0))
    across *= -np.sign((across * v).sum(2))[..., None]
    lit = (across @ sun) / np.maximum(np.linalg.norm(across, axis=2), 1e-12) > 0.35
    for shift in ((0, 1), (0, -1), (1, 0), (-1, 0)):  # neighbours on the same thing
        lit &= np.roll(seg[..., 0], shift, (0, 1)) == seg[..., 0]
        lit &= np.abs(np.roll(depth, shift, (0, 1)) - depth) < 0.03
    take = shown & lit
    normal = across / np.maximum(np.linalg.norm(across, axis=2), 1e-12)[..., None]
    _, met = tisim.ray(m, d, (points + 2e-3 * normal)[take], sun, geomgroup=GROUPS)
    dark = (light.astype(int) - shaded).sum(2)[take] > 20
    own = met == seg[..., 0][take]
    assert take.sum() > 5000 and (met >= 0).sum() > 300 and ((own & (met >= 0)).any() or kind == "ball")
    assert (dark == (met >= 0)).mean() > 0.985  # edges of shadows are smoothed
    assert dark[own & (met >= 0)].mean() > 0.9 or kind == "ball"


def test_what_is_closed_and_what_is_convex_is_known():
    vert, face = ball(1)
    cases = dict(
        ball=(vert, face, faces.CLOSED | faces.CONVEX),
        bumpy=(*mesh("bumpy"), faces.CLOSED),
        open=(*mesh("open"), 0),
        inward=(vert, face[:, ::-1], 0),
        twice=(vert, np.concatenate([face, face]), 0),
        two=(np.concatenate([vert, vert + 3]), np.concatenate([face, face + len(vert)]), faces.CLOSED),
    )
    for name, (corners, sides, wanted) in cases.items():
        middle, half = 0.5 * (corners.min(0) + corners.max(0)), 0.5 * (corners.max(0) - corners.min(0))
        form, (within, around) = faces.form_of(corners, sides, middle, half)
        assert form == wanted, name
        sizes = (((corners - middle) / half) ** 2).sum(1)
        assert 0 <= within <= sizes.max() <= around, name
        assert (within > 0.5) == (name == "ball"), name


BITS = """
import hashlib, sys
import test_pictures_of_meshes_are_those_of_rays as t
t.tisim.init(arch="cpu", precision="f64", threads=int(sys.argv[1]))
h = hashlib.sha256()
for kind in ("ball", "open"):
    m, d = t.scene(kind)
    for quality in ("sun", "model"):
        for array in t.picture(m, d, t.CAMERA, quality):
            h.update(array.tobytes())
print(h.hexdigest())
"""


def test_the_bits_are_the_same_for_threads_and_by_taichis_own_launcher():
    paths = os.pathsep.join((os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")))
    found = set()
    for threads, road in ((1, "1"), (2, "1"), (2, "0")):
        done = subprocess.run([sys.executable, "-c", BITS, str(threads)], capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=paths, TISIM_NATIVE=road))  # fmt: skip
        assert done.returncode == 0, done.stderr
        found.add(done.stdout.splitlines()[-1])
    assert len(found) == 1
