"""Height field assets: a PNG, MuJoCo's binary format or inline numbers -> elevations from 0 to 1."""

import numpy as np

from tisim.enums import mjtObj

from ..scene.items import column, first, unique_names
from . import images
from .mesh import name_by_file, places, read_asset

EPS = 1e-14
# MuJoCo looks for the lowest and the highest elevation starting from these
LARGE = np.float32(1e10)
# points of all height fields together: more come from a mistyped or hostile number
MAX_POINTS = 2**26

PNG, CUSTOM = "image/png", "image/vnd.mujoco.hfield"


def compile_hfields(a, items, out):
    """Fills the arrays hfield_* and the names."""
    for item in items:
        name_by_file(item)
        if not item.name:
            raise item.node.error("a height field needs a name, or a file to take it from")
    out.names[mjtObj.mjOBJ_HFIELD] = unique_names(items, mjtObj.mjOBJ_HFIELD)
    size = column(items, "size", 4)
    first(items, ~(size > 0).all(1), "the four sizes of a height field must be positive")
    cache, fields, room = {}, [], MAX_POINTS
    for item in items:
        try:
            fields.append(_normalized(_elevation(item, cache, room)))
            room -= fields[-1].size
        except ValueError as e:
            raise item.node.error(f"height field '{item.name}': {e}") from None
    shape = np.array([field.shape for field in fields], np.int32).reshape(-1, 2)
    data = [field.ravel() for field in fields]
    a.update(
        hfield_size=size, hfield_nrow=shape[:, 0].copy(), hfield_ncol=shape[:, 1].copy(),
        hfield_adr=places(data)[1],
        hfield_data=np.concatenate([np.zeros(0, np.float32), *data]),
    )  # fmt: skip


def _elevation(item, cache, room):
    """(nrow, ncol) float32 elevations; row 0 is at the smallest y. room  points that are still allowed."""
    attrib = item.attrib
    nrow, ncol, inline = attrib["nrow"], attrib["ncol"], attrib["elevation"]
    if attrib["file"]:
        if inline:
            raise ValueError("a file and 'elevation' exclude each other")
        kind = attrib["content_type"] or (PNG if attrib["file"].lower().endswith(".png") else CUSTOM)
        if kind not in (PNG, CUSTOM):
            raise ValueError(f"the content type '{kind}' is not {PNG} or {CUSTOM}")
        data = read_asset(item, "meshdir", cache)
        if kind == PNG:
            found = images.read_png(data, 1)[0][::-1, :, 0].astype(np.float32)
        else:
            found = _read_custom(data)
        if found.size > room:
            raise ValueError(f"the height fields of the model have more than {MAX_POINTS:,} points together")
        return found
    if nrow < 1 or ncol < 1:
        raise ValueError("'nrow' and 'ncol' must be positive, or a file given")
    if nrow * ncol > room:
        raise ValueError(f"the height fields of the model have more than {MAX_POINTS:,} points together")
    if not inline:
        return np.zeros((nrow, ncol), np.float32)
    if len(inline) != nrow * ncol:
        raise ValueError(f"'elevation' has {len(inline)} numbers, nrow times ncol is {nrow * ncol}")
    # the text shows the field as seen from above, with y upwards
    return np.array(inline).astype(np.float32).reshape(nrow, ncol)[::-1]


def _read_custom(data):
    """MuJoCo's binary format: nrow and ncol as int32, then the elevations as float32, row by row."""
    if len(data) < 8:
        raise ValueError("the file is shorter than its header")
    nrow, ncol = (int(n) for n in np.frombuffer(data, "<i4", 2))
    if nrow < 1 or ncol < 1 or len(data) != 8 + 4 * nrow * ncol:
        raise ValueError(f"the file has {len(data):,} bytes; {nrow} rows and {ncol} columns do not fit that")
    return np.frombuffer(data, "<f4", nrow * ncol, 8).reshape(nrow, ncol)


def _normalized(field):
    """float32 elevations from 0 to 1; a flat field is 0."""
    if not np.isfinite(field).all():
        raise ValueError("it has elevations that are not finite")
    low, high = min(field.min(), LARGE), max(field.max(), -LARGE)
    if low > high:
        raise ValueError("its elevations are too large")
    field = field - low
    return field / (high - low) if high - low > EPS else field
