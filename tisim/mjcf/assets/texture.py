"""Texture assets: builtin patterns, PNG files and MuJoCo's binary format -> the arrays tex_*. For display only.

The patterns are those of MuJoCo's user_objects.cc (Apache-2.0), pixel for pixel.
"""

import numpy as np

from tisim.enums import mjtObj, mjtTexture

from ..scene.items import column, unique_names
from . import images
from .mesh import name_by_file, places, read_asset
from .random_dots import uniform

# bytes of all textures of a model together: what a careless or hostile file may take
MAX_BYTES = 2**29

LINEAR, SRGB = 1, 2
GRADIENT, CHECKER, FLAT = 1, 2, 3
EDGE, CROSS, RANDOM = 1, 2, 3
PNG, KTX, CUSTOM = "image/png", "image/ktx", "image/vnd.mujoco.texture"
SIDES = ["fileright", "fileleft", "fileup", "filedown", "filefront", "fileback"]
LETTERS = "RLUDFB"
# squares of a picture that has the sides of a cube
MAX_SQUARES = 12


class Texture:
    """Pixels (height, width, nchannel) uint8 of a texture, and its color space."""

    def __init__(self, pixels, colorspace):
        self.pixels, self.colorspace = pixels, colorspace


def compile_textures(a, items, out):
    """Fills the arrays tex_*, the names, and out.textures: one dict of attributes per texture."""
    for item in items:
        name_by_file(item)
        if not item.name and item.attrib["type"] != mjtTexture.mjTEXTURE_SKYBOX:
            raise item.node.error("a texture needs a name, or a file, or to be a skybox")
    out.names[mjtObj.mjOBJ_TEXTURE] = unique_names(items, mjtObj.mjOBJ_TEXTURE)
    textures, used, cache = [], 0, {}
    for item in items:
        try:
            textures.append(_texture(item, cache, MAX_BYTES - used))
        except ValueError as e:
            raise item.node.error(f"texture '{item.name}': {e}") from None
        used += textures[-1].pixels.size
    shape = np.array([t.pixels.shape for t in textures], np.int32).reshape(-1, 3)
    data = [t.pixels.ravel() for t in textures]
    a.update(
        tex_type=column(items, "type", dtype=np.int32), tex_height=shape[:, 0].copy(), tex_width=shape[:, 1].copy(),
        tex_nchannel=shape[:, 2].copy(), tex_colorspace=np.array([t.colorspace for t in textures], np.int32),
        tex_adr=places(data)[1],
        tex_data=np.concatenate([np.zeros(0, np.uint8), *data]),
    )  # fmt: skip
    out.textures = [{"name": item.name, **item.attrib} for item in items]


def _texture(item, cache, room):
    attrib = item.attrib
    layout, squares = attrib["gridlayout"], attrib["gridsize"][0] * attrib["gridsize"][1]
    if layout is not None and len(layout) != squares:
        raise ValueError(f"'gridlayout' needs {squares} letters")
    if layout is not None and squares > MAX_SQUARES:
        raise ValueError(f"'gridlayout' has {squares} letters, no more than {MAX_SQUARES} can be")
    flat = attrib["type"] == mjtTexture.mjTEXTURE_2D
    if attrib["builtin"]:
        return Texture(_builtin(attrib, flat, room), attrib["colorspace"])
    if attrib["file"]:
        picture = _load(item, "file", cache, room)
        return picture if flat else Texture(_cube(attrib, picture.pixels, room), picture.colorspace)
    if flat:
        raise ValueError("a 2d texture needs 'builtin' or the name of its file")
    return _cube_of_files(item, cache, room)


def _check_room(width, height, channels, room):
    if width * height * channels > room:
        raise ValueError(f"{width} x {height} pixels: the textures of a model can have {MAX_BYTES:,} bytes together")


def _load(item, name, cache, room):
    """Texture of one file, flipped as the attributes say."""
    attrib = item.attrib
    channels, kind = attrib["nchannel"], attrib["content_type"]
    if kind not in (PNG, KTX, CUSTOM):
        kind = PNG if not kind and attrib[name].lower().endswith(".png") else CUSTOM
        if attrib[name].lower().endswith(".ktx"):
            kind = KTX
    if kind == KTX:
        raise item.node.unsupported("textures in the format KTX are not supported", "ktx")
    data = read_asset(item, "texturedir", cache, name)
    if kind == PNG:
        if channels not in (1, 3, 4):
            raise ValueError(f"'nchannel' of a PNG texture is 1, 3 or 4, found {channels}")
        pixels, srgb = images.read_png(data, channels)
    else:
        pixels, srgb = _read_custom(data, channels), False
    _check_room(pixels.shape[1], pixels.shape[0], channels, room)
    pixels = pixels[:, ::-1] if attrib["hflip"] else pixels
    pixels = pixels[::-1] if attrib["vflip"] else pixels
    return Texture(pixels, attrib["colorspace"] or (SRGB if srgb else LINEAR))


def _read_custom(data, channels):
    """MuJoCo's binary format: width and height as int32, then three bytes per pixel; fewer channels take the first."""
    if len(data) < 8:
        raise ValueError("the file is shorter than its header")
    width, height = (int(n) for n in np.frombuffer(data, "<i4", 2))
    if width < 1 or height < 1 or len(data) != 8 + 3 * width * height:
        raise ValueError(f"the file has {len(data):,} bytes; {width} x {height} pixels do not fit that")
    if not 1 <= channels <= 3:
        raise ValueError(f"'nchannel' of a texture in MuJoCo's binary format is 1 to 3, found {channels}")
    return np.frombuffer(data, np.uint8, width * height * channels, 8).reshape(height, width, channels)


def _color(rgb):
    """Three numbers from 0 to 1 as bytes; others wrap around."""
    return (255 * np.array(rgb)).astype(np.int64).astype(np.uint8)


def _cube(attrib, picture, room):
    """(6 w, w, c) pixels of a cube whose sides lie in the grid of one picture, or (w, w, c) for one that all share."""
    rows, columns = attrib["gridsize"]
    height, width, channels = picture.shape
    if rows < 1 or columns < 1 or rows * columns > MAX_SQUARES:
        raise ValueError(f"'gridsize' must be positive, with no more than {MAX_SQUARES} squares")
    if width // columns != height // rows or width % columns or height % rows:
        raise ValueError(f"{width} x {height} pixels are not a grid of {columns} x {rows} squares")
    if rows * columns == 1:
        return picture
    layout = attrib["gridlayout"]
    if layout is None:
        layout = "." * (rows * columns)
    w = width // columns
    _check_room(w, 6 * w, channels, room)
    cube = _empty_cube(attrib, w, channels)
    for k, letter in enumerate(layout):
        if letter != ".":
            if letter not in LETTERS:
                raise ValueError(f"'gridlayout' has the letters {LETTERS} and dots only")
            r, c = w * (k // columns), w * (k % columns)
            cube[LETTERS.index(letter)] = picture[r : r + w, c : c + w]
    return cube.reshape(6 * w, w, channels)


def _empty_cube(attrib, width, channels):
    """(6, w, w, c) pixels of the color rgb1."""
    color = np.resize(_color(attrib["rgb1"]), channels)
    return np.broadcast_to(color, (6, width, width, channels)).copy()


def _cube_of_files(item, cache, room):
    """Texture of a cube that has a file for some of its sides."""
    cube, colorspace = None, item.attrib["colorspace"]
    for i, name in enumerate(SIDES):
        if item.attrib[name]:
            side = _load(item, name, cache, room)
            height, width, channels = side.pixels.shape
            if height != width:
                raise ValueError(f"'{name}' is {width} x {height} pixels, not square")
            if cube is None:
                _check_room(width, 6 * width, channels, room)
                cube = _empty_cube(item.attrib, width, channels)
            if cube.shape[1] != width:
                raise ValueError(f"'{name}' is {width} pixels wide, another side {cube.shape[1]}")
            cube[i] = side.pixels
            colorspace = colorspace or side.colorspace
    if cube is None:
        raise ValueError("it needs 'builtin' or the name of a file")
    return Texture(cube.reshape(-1, *cube.shape[2:]), colorspace)


def _builtin(attrib, flat, room):
    """Pixels of a builtin pattern. It has three channels; further ones stay empty at the end, as in MuJoCo."""
    width, height = attrib["width"], attrib["height"] if flat else 6 * attrib["width"]
    channels = attrib["nchannel"]
    if width < 1 or height < 1:
        raise ValueError("a builtin texture needs a positive 'width', and 'height' if it is 2d")
    if channels not in (3, 4):
        raise ValueError(f"'nchannel' of a builtin texture is 3 or 4, found {channels}")
    _check_room(width, height, channels, room)
    with np.errstate(all="ignore"):
        sides = _sides_2d(attrib, width, height) if flat else _sides_cube(attrib, width)
    if attrib["mark"] == EDGE:
        sides[:, :, [0, -1]] = sides[:, [0, -1]] = _color(attrib["markrgb"])
    elif attrib["mark"] == CROSS:
        sides[:, :, sides.shape[2] // 2] = sides[:, sides.shape[1] // 2] = _color(attrib["markrgb"])
    elif attrib["mark"] == RANDOM and attrib["random"] > 0:
        dots = uniform(width * height) < attrib["random"]
        sides.reshape(-1, 3)[dots] = _color(attrib["markrgb"])
    out = np.zeros(width * height * channels, np.uint8)
    out[: sides.size] = sides.ravel()
    return out.reshape(height, width, channels)


def _blend(rgb1, rgb2, where):
    """Bytes between two colors: rgb2 at -1, rgb1 at 1, along a sigmoid in between."""
    alpha = np.clip(0.5 * (1 + where / np.sqrt(1 + where * where) / (1 / np.sqrt(2))), 0, 1)[..., None]
    mixed = 255 * (alpha * np.array(rgb1) + (1 - alpha) * np.array(rgb2))
    return np.nan_to_num(mixed, nan=0).astype(np.int64).astype(np.uint8)


def _checker(width, height, first, second):
    side = np.empty((height, width, 3), np.uint8)
    r, c = height // 2, width // 2
    side[:r, :c] = side[r:, c:] = first
    side[:r, c:] = side[r:, :c] = second
    return side


def _axes(width, height):
    """Coordinates (height, width) from -1 to 1: x to the right, y upwards."""
    x = 2 * np.arange(width) / (width - 1.0) - 1
    y = 1 - 2 * np.arange(height)[:, None] / (height - 1.0)
    return x, y


def _sides_2d(attrib, width, height):
    """(1, height, width, 3) pixels."""
    rgb1, rgb2 = attrib["rgb1"], attrib["rgb2"]
    if attrib["builtin"] == GRADIENT:
        x, y = _axes(width, height)
        return _blend(rgb2, rgb1, 2 * np.sqrt(x * x + y * y) - 1)[None]
    if attrib["builtin"] == CHECKER:
        return _checker(width, height, _color(rgb1), _color(rgb2))[None]
    return np.broadcast_to(_color(rgb1), (1, height, width, 3)).copy()


def _sides_cube(attrib, width):
    """(6, width, width, 3) pixels: right, left, up, down, front, back."""
    rgb1, rgb2 = attrib["rgb1"], attrib["rgb2"]
    sides = np.empty((6, width, width, 3), np.uint8)
    if attrib["builtin"] == GRADIENT:
        x, y = _axes(width, width)
        r = np.sqrt(1 + x * x + y * y)
        up = 1 - np.arccos(1.0 / r) / (0.5 * np.pi)
        sides[:] = _blend(rgb1, rgb2, np.arcsin(y / r) / (0.5 * np.pi))
        sides[2], sides[3] = _blend(rgb1, rgb2, up), _blend(rgb1, rgb2, -up)
    elif attrib["builtin"] == CHECKER:
        sides[:4] = _checker(width, width, _color(rgb1), _color(rgb2))
        sides[4:] = _checker(width, width, _color(rgb2), _color(rgb1))
    else:
        sides[:] = _color(rgb1)
        sides[3] = _color(rgb2)
    return sides
