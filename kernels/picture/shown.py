"""What of a model's things pictures show, as MuJoCo's: those of some groups, those that may move, how clearly."""

from ..constants import NGROUP
from ..types import *


@func
def in_group(m, d, groups, group):
    """Whether a group is one of those shown; groups beyond the last are it."""
    return groups >> ti.max(0, ti.min(group, NGROUP - 1)) & 1 == 1


@func
def may_move(m, d, b):
    """Whether a body is not static in MuJoCo's pictures: joints move it, or it is a mocap body."""
    return m.body_weldid[b] != 0 or m.body_mocapid[b] >= 0


@func
def opacity_of(m, d, b, own, picalpha, picstatic):
    """Opacity of what belongs to a body: its own times picalpha where that may move; else, with picstatic 0, none."""
    out = own
    if may_move(m, d, b):
        out = own * picalpha
    elif picstatic == 0:
        out = 0.0
    return out
