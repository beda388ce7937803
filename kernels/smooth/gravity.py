"""Gravity, which may differ between worlds."""

from ..constants import DSBL_GRAVITY
from ..types import func, vec3


@func
def gravity_of(m, w):
    """Gravity in world w; zero where a flag switches it off."""
    gravity = vec3(m.opt.gravity[w, 0], m.opt.gravity[w, 1], m.opt.gravity[w, 2])
    if m.opt.disableflags & DSBL_GRAVITY != 0:
        gravity = vec3(0.0)
    return gravity
