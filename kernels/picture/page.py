"""What a page in a browser shows of geoms: poses, colours and who is there, and of which batches something changed."""

from ..constants import PAGE_CAME, PAGE_MOVED, PAGE_PAINTED
from ..rotation import mul_quat
from ..sleep.awake import is_body_gone
from ..types import *
from .colors import word_of
from .shapes import bits


@kernel
def place_page(m, d, picworld: ti.i32, npicbatch: ti.i32, picpainted: ti.i32):
    """Place, quaternion and presence of each geom of a page, in bits of f32, and its colour; parallel over batches.

    picpainted  1: colours are those of a mode, 0: the geoms' own.
    """
    ti.loop_config(serialize=SERIAL)
    for b in range(npicbatch):
        change = 0
        for k in range(d.pic_batch[b], d.pic_batch[b + 1]):
            g = d.pic_page[k]
            body = m.geom_bodyid[g]
            x = narrow(d.geom_xpos[picworld * m.ngeom + g])
            q = mul_quat(narrow(d.xquat[picworld * m.nbody + body]), narrow(m.geom_quat[picworld, g]))
            there = ti.cast(1.0, ti.f32)
            if is_body_gone(m, d, picworld, body):
                there = ti.cast(0.0, ti.f32)
            rgba = m.geom_color[g]
            if picpainted == 1:
                rgba = d.pic_color[g]
            for a in ti.static(range(8)):
                word = bits(there)
                if ti.static(a < 3):
                    word = bits(ti.cast(x[a], ti.f32))
                elif ti.static(a < 7):
                    word = bits(ti.cast(q[a - 3], ti.f32))
                if word != d.pic_pose[k][a]:
                    change = change | ti.static(PAGE_CAME if a == 7 else PAGE_MOVED)
                    d.pic_pose[k][a] = word
            hue = word_of(rgba)
            if hue != d.pic_hue[k]:
                change = change | PAGE_PAINTED
                d.pic_hue[k] = hue
        d.pic_change[b] = change
