"""Pictures without a window: GGUI draws depth, normals and colours, the light is computed from them.

Shadows and the light of the sky come from depth pictures taken from the lights (shadow maps); the sky is a handful
of lamps spread over the upper half sphere.
"""

import pathlib

import numpy as np

from tisim.errors import Error
from tisim.viewer import ggui, shade
from tisim.viewer.camera import choose
from tisim.viewer.drawing import Drawing, contact_marks, contacts, mark_length, poses

SUN_SIDE, SUN_HEIGHT = 75.0, 46.0  # where the sun stands: to the left of the camera, above the ground [degree]
SUN_LIGHT = np.float32([1.50, 1.42, 1.28])
SKY_LIGHT = np.float32([0.42, 0.46, 0.53])
SKY_TOP, SKY_LOW = np.float32([0.50, 0.64, 0.82]), np.float32([0.87, 0.91, 0.95])
MAP, MAP_SHARE = 1400, 0.8  # side of the sun's shadow map [pixel]: at most, and as a share of the picture drawn
SKY_SHARE = 2  # how many times smaller those of the sky's lamps are
SKY_SEGMENTS = 12  # of round shapes, as the sky's lamps see them
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

    def depth(self, camera):
        """GGUI's depth of what is solid."""
        self.shoot(camera, self.drawing.vertices, solid=True)
        return ggui.depth(self.window)


def _lamp(stage, direction, center, radius, place):
    """A far lamp: its numbers and its depth picture; direction towards the lamp (3,), place of the picture."""
    half = np.radians(3.0)
    far_away = 1.02 * radius / np.sin(half)
    position = center + direction * far_away
    up = np.array([0, 0, 1.0]) if abs(direction[2]) < 0.99 else np.array([0, 1.0, 0])
    near, far = far_away - 1.5 * radius, far_away + 3 * radius
    depth = stage.depth((position, center, up, 2 * np.degrees(half), near, far))
    right = np.cross(up, direction)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(direction, right), direction])
    side = stage.window.size[0]
    return shade.lamp(position, axes, 0.5 * side / np.tan(half), 2.04 * radius / side, near, far, side, place), depth


def _lamps(drawing, rough, marks, camera, center, radius, side):
    """The sun and the sky's lamps, which see a rough Drawing: their numbers (k, LAMP) and depth pictures."""
    numbers, maps, place = [], [], 0
    stage = _Stage(side, side, drawing, marks)
    for direction in [_sun(camera), *_sky_directions(LAMPS)]:
        row, depth = _lamp(stage, direction, center, radius, place)
        if not numbers:  # the sky's shadows are soft
            stage = _Stage(side // SKY_SHARE, side // SKY_SHARE, rough, marks)
        numbers.append(row)
        maps.append(depth)
        place += len(depth)
    return np.stack(numbers), np.concatenate(maps)


def _light(drawing, rough, marks, camera, width, height, samples):
    """The picture (height, width, 3) f32, from one with `samples` times as many pixels a side; rough  see _lamps."""
    wide, high = width * samples, height * samples
    near, far = camera.clip
    view = (camera.position, camera.lookat, camera.axes[1], camera.fovy, near, far)
    stage = _Stage(wide, high, drawing, marks)
    stage.shoot(view, drawing.vertices, False, tuple(float(v) for v in SKY_LOW))
    color = ggui.image(stage.window)
    depth = stage.depth(view)
    normals = drawing.vertices.copy()
    normals[:, 8:11] = 0.5 + 0.5 * normals[:, 3:6]
    stage.marks = (np.concatenate([marks[0][:, :8], 0.5 + 0.5 * marks[0][:, 3:6], marks[0][:, 11:]], 1), marks[1])
    stage.shoot(view, normals, True)
    painted = ggui.image(stage.window)

    center, radius = _bounds(drawing, camera)
    lamps, maps = np.zeros((0, shade.LAMP), np.float32), np.zeros(1, np.float32)
    if rough:
        side = min(MAP, max(MAP // 4, int(MAP_SHARE * max(wide, high))))
        lamps, maps = _lamps(drawing, rough, marks, camera, center, radius, side)
    return shade.shade(
        color, depth, painted, lamps, maps, samples, 0.5 * high / np.tan(np.radians(camera.fovy / 2)), near, far,
        camera.position, camera.axes, _sun(camera), (SUN_LIGHT, SKY_LIGHT, SKY_TOP, SKY_LOW),
        3.2 * max(radius, camera.distance),
    )  # fmt: skip


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


def draw(m, d, show_contacts=False, world=0):
    """The Drawing that pictures of a world are made from; what moves is translucent where contacts are shown."""
    return Drawing(m, poses(m, d, world)[0], alpha=0.3 if show_contacts else 1.0)


def render(
    m, d, width=1280, height=720, camera=None, color="geom", show_contacts=False, world=0, samples=2, shadows=True,
    drawing=None,
):  # fmt: skip
    """Picture of a simulation.

    width, height  of the picture [pixel].
    camera         a Camera, the name of one of the model's, or a text for Camera.parse; None shows all that moves.
    color          "geom": the model's colours; "island": what moves is coloured by its island. What sleeps is darker.
    show_contacts  marks contacts with a bead and a stick along the normal, and makes bodies translucent.
    world          which world of the Data;  samples  rays per pixel side (antialiasing);  shadows  False is faster.
    drawing        of an earlier picture, made by `draw`: a film's floor keeps its chequer.
    Returns (height, width, 3) uint8. Raises Error where Vulkan is missing.
    """
    if color not in ("geom", "island"):
        raise Error(f"color={color!r}: expected 'geom' or 'island'")
    if not (0 < width * samples <= 16384 and 0 < height * samples <= 16384):
        raise Error(f"size {width}x{height}: each side must be positive and at most {16384 // samples}")
    if not 0 <= world < getattr(d, "nworld", 1):
        raise Error(f"world={world}: this Data has {getattr(d, 'nworld', 1)} worlds")
    positions, rotations = poses(m, d, world)
    camera = choose(camera, m, d, width / height, world)
    drawing = drawing or draw(m, d, show_contacts, world)
    drawing.place(positions, rotations, camera, height * samples)
    drawing.paint_state(m, d, world, color == "island")
    marks = (np.zeros((0, 12), np.float32), np.zeros(0, np.int32))
    if show_contacts:
        marks = contact_marks(*contacts(m, d, world), mark_length(m))
    rough = shadows and Drawing(m, positions, 0.3 if show_contacts else 1.0, SKY_SEGMENTS)
    if rough:
        rough.place(positions, rotations, camera, height * samples)
    picture = _light(drawing, rough, marks, camera, width, height, samples)
    return (np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8)


def save_png(path, picture):
    """Writes a picture (height, width, 3) uint8 to a file; its folder is made."""
    from PIL import Image

    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(path)
