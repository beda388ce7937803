"""PNG files -> pixels, within a size limit that is checked before anything is unpacked."""

import io
import warnings

import numpy as np
from PIL import Image

# pixels of an image; larger ones come from a hostile file
MAX_PIXELS = 16384 * 16384 // 4

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def read_png(data, channels):
    """(pixels (height, width, channels) uint8, is_srgb) of a PNG.

    data  bytes;  channels  1 (grey), 3 or 4. ValueError where the bytes are no PNG, or too large an image. Alpha is
    dropped where it is not asked for, 16 bits per channel are cut to the upper 8, and red counts as grey.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(data), formats=["PNG"])
            if image.width * image.height > MAX_PIXELS:
                raise ValueError(f"it has {image.width} x {image.height} pixels, more than {MAX_PIXELS:,}")
            srgb = "srgb" in image.info
            pixels = _bytes(image, channels)
    except (OSError, SyntaxError, Image.DecompressionBombError, EOFError, TypeError, IndexError, KeyError) as e:
        raise ValueError(f"it is not a readable PNG: {e}") from None
    return pixels, srgb


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
