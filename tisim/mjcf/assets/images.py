"""PNG files -> pixels, within a size limit that is checked before anything is unpacked."""

import io
import struct
import warnings
import zlib

import numpy as np

# pixels of an image; larger ones come from a hostile file
MAX_PIXELS = 2**26

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
# values per pixel by color type of a PNG
_VALUES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# first column and row, and steps, of the passes of an interlaced PNG (PNG specification, 8.2)
_PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def read_png(data, channels):
    """(pixels (height, width, channels) uint8, is_srgb) of a PNG.

    data  bytes;  channels  1 (grey), 3 or 4. ValueError where the bytes are no PNG, or too large an image. As in MuJoCo
    alpha is dropped where it is not asked for, 16 bits per channel are cut to the upper 8, and red counts as grey.
    """
    from PIL import Image  # here, since it takes a while and few models need it

    _check(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(data), formats=["PNG"])
            return _bytes(image, channels), "srgb" in image.info
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, EOFError, TypeError, LookupError) as e:
        raise ValueError(f"it is not a readable PNG: {e}") from None


def _check(data):
    """ValueError where a PNG is too large or cut: Pillow would fill up what is missing."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR" or len(data) < 33:
        raise ValueError("it is not a PNG")
    width, height, bits, color, _, _, interlaced = struct.unpack_from(">IIBBBBB", data, 16)
    if width * height > MAX_PIXELS:
        raise ValueError(f"it has {width} x {height} pixels, more than {MAX_PIXELS:,}")
    if not width * height or color not in _VALUES or bits > 16:
        raise ValueError("the header of the PNG is wrong")
    at, packed, kinds = 8, [], set()
    while data[at + 4 : at + 8] != b"IEND":
        if at + 12 > len(data):
            raise ValueError("the end of the PNG is missing")
        size, kind = struct.unpack_from(">I4s", data, at)
        kinds.add(kind)
        if kind == b"IDAT":
            packed.append(data[at + 8 : at + 8 + size])
        at += 12 + size
    if color == 3 and b"PLTE" not in kinds:
        raise ValueError("the palette of the PNG is missing")
    expected = 0
    for x, y, step_x, step_y in _PASSES if interlaced else [(0, 0, 1, 1)]:
        columns, rows = -((x - width) // step_x), -((y - height) // step_y)
        if columns > 0 and rows > 0:
            expected += rows * (1 + (columns * bits * _VALUES[color] + 7) // 8)
    try:
        found = len(zlib.decompressobj().decompress(b"".join(packed), expected))
    except zlib.error as e:
        raise ValueError(f"the pixels of the PNG cannot be unpacked: {e}") from None
    if found < expected:
        raise ValueError(f"the PNG has {found:,} bytes of pixels, not {expected:,}")


def _bytes(image, channels):
    if image.mode.startswith("I"):
        grey = (np.asarray(image).astype(np.int64) >> 8).astype(np.uint8)[..., None]
        alpha = np.full_like(grey, 255)
        return np.concatenate([np.repeat(grey, min(channels, 3), 2), alpha][: 1 + (channels == 4)], 2)
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    if channels == 1 and image.mode not in ("L", "LA", "1"):
        return np.asarray(image.convert("RGB"))[..., :1]
    return np.asarray(image.convert(_MODES[channels])).reshape(image.height, image.width, channels)
