"""Passive forces of joints: springs (dampers and gravity compensation are one line each in velocity.py)."""

from ..constants import BALL, FREE
from ..rotation import at3, at4, normalize_quat, sub_quat
from ..spatial import join
from ..types import func, narrow, vec3, vec4


@func
def spring_stretch(m, d, w, j):
    """Displacement of joint j from its rest. Free: translation, then rotation; ball: in the second half; hinge and
    slide: the fourth component.
    """
    s = m.jnt_qposadr[j]
    q = w * m.nq + s
    lin = vec3(0.0)
    ang = vec3(narrow(d.qpos[q]) - m.qpos_spring[w, s], 0.0, 0.0)
    skip = 0
    if m.jnt_type[j] == FREE:
        lin = narrow(at3(d.qpos, q)) - vec3(m.qpos_spring[w, s], m.qpos_spring[w, s + 1], m.qpos_spring[w, s + 2])
        skip = 3
    if m.jnt_type[j] == FREE or m.jnt_type[j] == BALL:
        a = s + skip
        rest = vec4(m.qpos_spring[w, a], m.qpos_spring[w, a + 1], m.qpos_spring[w, a + 2], m.qpos_spring[w, a + 3])
        ang = sub_quat(normalize_quat(narrow(at4(d.qpos, q + skip))), rest)
    return join(lin, ang)
