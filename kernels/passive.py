"""Passive forces of joints: springs (dampers and gravity compensation are one line each in velocity.py)."""

from tisim.kernels.constants import BALL, FREE
from tisim.kernels.rotation import at3, at4, normalize_quat, sub_quat
from tisim.kernels.types import ti, vec3, vec6


@ti.func
def spring_stretch(kind, q, s, qpos: ti.template(), qpos_spring: ti.template()):
    """Displacement of a joint from its rest: q, s are its addresses in qpos and qpos_spring. Free: translation, then
    rotation; ball: in the second half; hinge and slide: the fourth component.
    """
    lin = vec3(0.0, 0.0, 0.0)
    ang = vec3(qpos[q] - qpos_spring[s], 0.0, 0.0)
    skip = 0
    if kind == FREE:
        lin = at3(qpos, q) - at3(qpos_spring, s)
        skip = 3
    if kind == FREE or kind == BALL:
        ang = sub_quat(normalize_quat(at4(qpos, q + skip)), at4(qpos_spring, s + skip))
    return vec6(lin[0], lin[1], lin[2], ang[0], ang[1], ang[2])
