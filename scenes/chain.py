"""A hanging chain."""

from tisim.scenes.common import document, rainbow

from tisim.errors import Error

LINK = 0.1  # length of a link [m]


def chain(n=20, joint="ball", damping=0.01):
    """A chain of n links, held out sideways, falls and swings: one deep tree.

    joint  "ball", "hinge" (in one plane) or "mixed" (hinges in turn about y and x);
    damping  of each joint [N m s/rad].
    """
    if joint not in ("ball", "hinge", "mixed"):
        raise Error(f"scene chain: joint={joint!r}: expected 'ball', 'hinge' or 'mixed'")
    lines = []
    for i in range(n):
        pos = f"0 0 {n * LINK + 0.3:.3f}" if i == 0 else f"{LINK} 0 0"
        axis = {"ball": "", "hinge": 'axis="0 1 0"', "mixed": 'axis="1 0 0"' if i % 2 else 'axis="0 1 0"'}[joint]
        kind = "ball" if joint == "ball" else "hinge"
        lines += [
            f'    <body pos="{pos}">',
            f'      <joint type="{kind}" {axis} damping="{damping}" armature=".0005"/>',
            f'      <geom type="capsule" fromto="{0.15 * LINK:.3f} 0 0 {0.85 * LINK:.3f} 0 0" size="{0.2 * LINK:.3f}" '
            f'rgba="{rainbow(i / max(1, n - 1))}"/>',
        ]
    return document("chain", lines + ["    </body>"] * n, 0.002)
