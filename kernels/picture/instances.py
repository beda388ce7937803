"""Records of what a window draws by Vulkan, as its shaders read them: words of 32 bits, twelve for each geom."""

from ..rotation import mul_quat
from ..sleep.awake import is_body_gone
from ..types import *
from .shapes import bits

NOWHERE = 1e9  # place of what is not to be seen [m]


@kernel
def place_instances(m, d, picworld: ti.i32, npicinstance: ti.i32):
    """Place and rotation of each geom in the words of its record, the others stay; parallel over these geoms."""
    ti.loop_config(serialize=SERIAL)
    for k in range(npicinstance):
        g = d.pic_member[k][0]
        at = d.pic_member[k][1]
        b = m.geom_bodyid[g]
        x = narrow(d.geom_xpos[picworld * m.ngeom + g])
        q = mul_quat(narrow(d.xquat[picworld * m.nbody + b]), narrow(m.geom_quat[picworld, g]))
        sum = ti.abs(x[0]) + ti.abs(x[1]) + ti.abs(x[2]) + ti.abs(q[0]) + ti.abs(q[1]) + ti.abs(q[2]) + ti.abs(q[3])
        if is_body_gone(m, d, picworld, b) or not (sum < NOWHERE):
            x = vec3(NOWHERE, NOWHERE, NOWHERE)
            q = vec4(1.0, 0.0, 0.0, 0.0)
        for a in ti.static(range(3)):
            d.pic_drawn[at + a] = bits(ti.cast(x[a], ti.f32))
        for a in ti.static(range(4)):
            d.pic_drawn[at + 4 + a] = bits(ti.cast(q[a], ti.f32))
