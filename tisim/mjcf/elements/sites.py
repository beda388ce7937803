"""Sites: from merged attributes to model arrays, a whole column at a time."""

import numpy as np

from ..scene.items import apply_frames, column, first, poses, user_data
from . import shapes
from .geoms import check_sizes, from_to
from .materials import material_ids


def compile_sites(items, materials, width):
    """Arrays site_* of the sites."""
    kind = column(items, "type", dtype=np.int32)
    pos, quat = poses(items)
    size = column(items, "size", 3)
    allowed = [int(t) for t in shapes.SIZES]
    first(items, ~np.isin(kind, allowed), "a site is a sphere, capsule, ellipsoid, cylinder or box")
    from_to(items, kind, pos, quat, size)
    check_sizes(items, kind, size)
    apply_frames(items, pos, quat)
    return dict(
        site_type=kind, site_bodyid=np.array([item.body for item in items], np.int32),
        site_matid=material_ids(items, materials), site_group=column(items, "group", dtype=np.int32), site_size=size,
        site_pos=pos, site_quat=quat, site_user=user_data(items, width, "site"),
        site_rgba=column(items, "rgba", 4, np.float32),
    )  # fmt: skip
