"""Pictures without a window: GGUI draws depth, normals and colours, the light is computed from them.

Shadows and the light of the sky come from depth pictures taken from the lights (shadow maps); the sky is a handful
of lamps spread over the upper half sphere.
"""

import pathlib

import numpy as np

from tisim.errors import Error
from tisim.viewer import ggui, shade
from tisim.viewer.camera import Camera
from tisim.viewer.drawing import Drawing, contact_marks, contacts, island_of_geom, mark_length, poses

SUN_SIDE, SUN_HEIGHT = 75.0, 46.0  # where the sun stands: to the left of the camera, above the ground [degree]
SUN_LIGHT = np.float32([1.50, 1.42, 1.28])
SKY_LIGHT = np.float32([0.42, 0.46, 0.53])
SKY_TOP, SKY_LOW = np.float32([0.50, 0.64, 0.82]), np.float32([0.87, 0.91, 0.95])
MAP = 1400  # side of the shadow maps [pixel]
LAMPS = 14  # sky lamps: more are smoother and slower


def _sun(camera):
    """Direction towards the sun (3,) for a picture from this camera."""
    around, up = np.radians(camera.azimuth + 180 - SUN_SIDE), np.radians(SUN_HEIGHT)
    return np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])


def _sky_directions(n):
    """n directions spread over the upper half sphere, more of them high up."""
    k = np.arange(n)
    up = np.sqrt((k + 0.5) / n) * 0.97
    around = k * 2.399963
    side = np.sqrt(1 - up * up)
    return np.stack([side * np.cos(around), side * np.sin(around), up], 1)


class _Stage:
    """One window and what is drawn into it."""

    def __init__(self, width, height, drawing, marks):
        self.window = ggui.hidden_window(width, height)
        self.canvas, self.scene = self.window.get_canvas(), self.window.get_scene()
        self.drawing, self.marks = drawing, marks

    def shoot(self, camera, vertices, solid, background=(0, 0, 0)):
        """Draws once; camera is (position, target, up, fovy, near, far)."""
        ggui.set_camera(self.scene, *camera)
        self.scene.ambient_light((1.0, 1.0, 1.0))
        d = self.drawing
        ggui.draw(self.scene, vertices, d.indices, 0, d.opaque)
        if len(self.marks[1]):
            ggui.draw(self.scene, *self.marks)
        if not solid:
            ggui.draw(self.scene, vertices, d.indices, d.opaque)
        self.canvas.set_background_color(background)
        self.canvas.scene(self.scene)

    def distance(self, camera):
        """Distance of what is solid along the view (height, width) [m], infinite where there is nothing."""
        self.shoot(camera, self.drawing.vertices, solid=True)
        return ggui.distance(self.window, *camera[-2:])


def _add_lamp(stage, points, normals, direction, center, radius, light_out, weight_out):
    """Adds the light of a far lamp that points (n, 3) f32 receive; direction towards the lamp (3,)."""
    half = np.radians(3.0)
    far_away = 1.02 * radius / np.sin(half)
    position = center + direction * far_away
    up = np.array([0, 0, 1.0]) if abs(direction[2]) < 0.99 else np.array([0, 1.0, 0])
    near, far = far_away - 1.5 * radius, far_away + 3 * radius
    depth = stage.distance((position, center, up, 2 * np.degrees(half), near, far))
    right = np.cross(up, direction)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(direction, right), direction])
    height, width = depth.shape
    texel = 2.04 * radius / min(width, height)
    shade.look_up(points, normals, depth, 0.5 * height / np.tan(half), texel, position, axes, light_out, weight_out)


def _light(stage, camera, width, height, shadows):
    """The picture (height, width, 3) f32 before it is made smaller."""
    d = stage.drawing
    near, far = camera.clip
    view = (camera.position, camera.lookat, camera.axes[1], camera.fovy, near, far)
    background = tuple(float(v) for v in SKY_LOW)
    stage.shoot(view, d.vertices, False, background)
    color = ggui.image(stage.window)
    normal_vertices = d.vertices.copy()
    normal_vertices[:, 8:11] = 0.5 + 0.5 * d.vertices[:, 3:6]
    marks = stage.marks
    stage.marks = (np.concatenate([marks[0][:, :8], 0.5 + 0.5 * marks[0][:, 3:6], marks[0][:, 11:]], 1), marks[1])
    depth = stage.distance(view)
    stage.shoot(view, normal_vertices, True)
    normals = ggui.image(stage.window)
    stage.marks = marks

    hit = np.isfinite(depth)
    row, column = (v.astype(np.float32) for v in np.nonzero(hit))
    focal = np.float32(0.5 * height / np.tan(np.radians(camera.fovy / 2)))
    rays = np.stack([(column + 0.5 - 0.5 * width) / focal, (0.5 * height - row - 0.5) / focal, -np.ones_like(row)], 1)
    rays = rays @ camera.axes.astype(np.float32)
    away = depth[hit]
    normal = normals[hit] * 2 - 1
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-6)
    origin = camera.position.astype(np.float32)

    center, radius = _bounds(d, camera)
    points = origin + rays * away[:, None] + normal * np.float32(3 * radius / MAP)
    albedo = color[hit] ** np.float32(2.2)
    direction_of_sun = _sun(camera)
    sun, full = np.zeros((2, len(points)), np.float32)
    dome = 0.55 + 0.45 * normal[:, 2]
    if shadows:
        lamps = _Stage(MAP, MAP, d, marks)
        _add_lamp(lamps, points, normal, direction_of_sun, center, radius, sun, full)
        light, weight = np.zeros((2, len(points)), np.float32)
        for direction in _sky_directions(LAMPS):
            _add_lamp(lamps, points, normal, direction, center, radius, light, weight)
        dome *= np.where(weight > 0, light / np.maximum(weight, 1e-6), 1)
    else:
        sun = np.clip(normal @ direction_of_sun.astype(np.float32), 0, 1)
    lit = np.float32(0.06) + np.float32(0.08) * np.clip(-normal[:, 2:], 0, 1)  # light that bounced more than once
    lit = lit + SUN_LIGHT * sun[:, None] + SKY_LIGHT * dome[:, None]
    # a soft highlight of the sun
    toward = -rays / np.linalg.norm(rays, axis=1, keepdims=True)
    middle = toward + direction_of_sun.astype(np.float32)
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    shine = np.clip((normal * middle).sum(1), 0, 1) ** 60 * 0.22 * sun
    shaded = albedo * lit + shine[:, None]
    shaded = np.clip(1 - np.exp(-1.25 * shaded), 0, 1) ** np.float32(1 / 2.2)
    # far ground fades into the sky
    fade = 1 - np.exp(-((away / np.float32(3.2 * max(radius, camera.distance))) ** 2))
    shaded = shaded + (SKY_LOW - shaded) * fade[:, None]
    rise = np.linspace(1, 0, height, dtype=np.float32)[:, None, None] ** 1.5
    picture = color * (1 + (SKY_TOP - SKY_LOW) / SKY_LOW * 0.55 * rise)
    picture[hit] = shaded
    return picture


def _bounds(drawing, camera):
    """Centre (3,) and radius [m] of the ball in which shadows are computed."""
    used = [b for b in drawing.batches if b.shape.tint is None and drawing.vertices[b.start, 11] > 0.999]
    if not used:
        return np.asarray(camera.lookat, float), camera.distance
    points = np.concatenate([drawing.vertices[b.start : b.stop : 7, :3] for b in used]).astype(float)
    points = points[np.isfinite(points).all(1)]
    low, high = np.quantile(points, 0.002, axis=0), np.quantile(points, 0.998, axis=0)
    center = 0.5 * (low + high)
    return center, min(0.6 * np.linalg.norm(high - low) + 1e-3, 3 * camera.distance)


def render(
    m, d, width=1280, height=720, camera=None, color="geom", show_contacts=False, world=0, samples=2, shadows=True
):
    """Picture of a simulation.

    width, height  of the picture [pixel];  camera  a Camera, None: everything that moves is in view.
    color          "geom": the model's colours; "island": what moves is coloured by its island.
    show_contacts  marks contacts with a bead and a stick along the normal, and makes bodies translucent.
    world          which world of the Data;  samples  rays per pixel side (antialiasing);  shadows  False is faster.
    Returns (height, width, 3) uint8. Raises Error where Vulkan is missing.
    """
    if color not in ("geom", "island"):
        raise Error(f"color={color!r}: expected 'geom' or 'island'")
    if not (0 < width * samples <= 16384 and 0 < height * samples <= 16384):
        raise Error(f"size {width}x{height}: each side must be positive and at most {16384 // samples}")
    if not 0 <= world < getattr(d, "nworld", 1):
        raise Error(f"world={world}: this Data has {getattr(d, 'nworld', 1)} worlds")
    positions, rotations = poses(m, d, world)
    camera = camera or Camera.framing(m, positions)
    drawing = Drawing(m, positions, alpha=0.3 if show_contacts else 1.0)
    drawing.place(positions, rotations)
    if color == "island":
        drawing.paint_islands(island_of_geom(m, d, world))
    marks = (np.zeros((0, 12), np.float32), np.zeros(0, np.int32))
    if show_contacts:
        marks = contact_marks(*contacts(m, d, world), mark_length(m))
    w, h = width * samples, height * samples
    picture = _light(_Stage(w, h, drawing, marks), camera, w, h, shadows)
    small = picture.reshape(height, samples, width, samples, 3).mean((1, 3))
    return (np.clip(small, 0, 1) * 255 + 0.5).astype(np.uint8)


def save_png(path, picture):
    """Writes a picture (height, width, 3) uint8 to a file; its folder is made."""
    from PIL import Image

    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(path)
