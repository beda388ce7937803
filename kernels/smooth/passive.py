"""Passive forces of joints: springs (dampers and gravity compensation are one line each in velocity.py)."""

from ..constants import BALL, FREE
from ..rotation import at3, at4, normalize_quat, sub_quat
from ..types import (
    func,
    vec3,
    vec6,
)


@func
def spring_stretch(m, d, kind, q, s):
    """Displacement of a joint from its rest: q, s are its addresses in qpos and qpos_spring. Free: translation, then
    rotation; ball: in the second half; hinge and slide: the fourth component.
    """
    lin = vec3(0.0, 0.0, 0.0)
    ang = vec3(d.qpos[q] - m.qpos_spring[s], 0.0, 0.0)
    skip = 0
    if kind == FREE:
        lin = at3(d.qpos, q) - at3(m.qpos_spring, s)
        skip = 3
    if kind == FREE or kind == BALL:
        ang = sub_quat(normalize_quat(at4(d.qpos, q + skip)), at4(m.qpos_spring, s + skip))
    return vec6(lin[0], lin[1], lin[2], ang[0], ang[1], ang[2])
