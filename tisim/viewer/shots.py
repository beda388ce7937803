"""What a window or a page on Controls shows, as a picture by rays, and names of files for it."""

import pathlib

from tisim.viewer import decor


def cast(c, painter):
    """The picture (height, width, 3) uint8 of Controls as they are now; painter  a Painter of its size."""
    painter.write(c.d, decor.look_of(c.m, c.opt, c.color, c.chains), c.world, records(c, False))
    return painter.shoot(c.d, c.camera, "sun", smooth=False, grow=True)[0]


def records(c, marks):
    """Records of what is drawn besides geoms, as decor.of has it."""
    return decor.of(c.m, c.d, c.opt, c.world, c.pert, c.user_scn, marks, c.chains).records()


def free_name(suffix):
    """A name in the current folder that no file has: tisim-1.png ..."""
    k = 1
    while pathlib.Path(f"tisim-{k}{suffix}").exists():
        k += 1
    return f"tisim-{k}{suffix}"
