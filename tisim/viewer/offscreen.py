"""A picture in one call, and its file."""

import os
import pathlib

import numpy as np

from tisim.data import given
from tisim.errors import Error, brief
from tisim.viewer.camera import choose
from tisim.viewer.far import sky_lamps
from tisim.viewer.renderer import Painter
from tisim.viewer.scene import Look

CLEAR = 0.3  # opacity of what moves where contacts are shown


def render(
    m, d, width=1280, height=720, camera=None, color="geom", show_contacts=False, world=0, quality="sky",
    smooth=True, painter=None, chains=False, lamps=None,
):  # fmt: skip
    """Picture of a simulation, as its poses were last computed.

    width, height  of the picture [pixel].
    camera         a Camera, the name of one of the model's, or a text for Camera.parse; None shows all that moves.
    color          "geom": the model's colours; "island": what moves is coloured by its island; "asleep": blue if it
                   sleeps, orange if not; "speed", "force": by its speed or the normal forces of its contacts, from
                   blue, 0, to red; "group": all but floors by the geom's group. What sleeps is darker in the others.
    show_contacts  marks contacts with a bead and a stick along the normal, and makes bodies translucent.
    world          which world of the Data.
    quality        "plain": no shadows; "sun": its shadows; "sky": also light of the sky; "model": the light of the
                   model's lamps.  smooth  smooths edges.
    lamps          of the sky in quality "sky", from 0, its light is even, to 32; None: 14.
    chains         draws how forces go from body to body, and makes bodies translucent.
    painter        a Painter of earlier pictures: a film's floor keeps its chequer.
    What is smaller than a pixel is drawn as large as one.
    Returns (height, width, 3) uint8. Raises Error for wrong arguments.
    """
    given.check(m, d)
    sky_lamps(quality, lamps)
    painter = painter or Painter(m, width, height)
    painter.write(d, look_of_words(color, show_contacts, chains), world, quality=quality)
    camera = choose(camera, m, d, width / height, world)
    return painter.shoot(d, camera, quality, smooth, grow=True, geometry=False, lamps=lamps)[0]


def look_of_words(color="geom", show_contacts=False, chains=False):
    """The Look of these arguments of `render`."""
    return Look(color, show_contacts, alpha=CLEAR if show_contacts or chains else 1.0, chains=chains)


def save_png(path, picture):
    """Writes a picture (height, width, 3) uint8 to the file of this path, .png, .webp or .jpg; its folder is made.

    Raises Error for what is no such picture or name, and where it cannot be written.
    """
    from PIL import Image

    if not isinstance(path, (str, os.PathLike)):
        raise Error(f"path={brief(path)}: expected a str or a path, then the picture")
    path, picture = pathlib.Path(path), np.asarray(picture)
    if picture.dtype != np.uint8 or picture.ndim not in (2, 3):
        raise Error(f"picture: expected (height, width, 3) uint8, got {picture.dtype}{picture.shape}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(path, **(dict(method=6) if path.suffix.lower() == ".webp" else {}))
    except (OSError, ValueError, TypeError) as e:
        raise Error(f"{path}: cannot write the picture: {getattr(e, 'strerror', None) or e}") from None
