"""A hanging bridge."""

from tisim.scenes.common import FLOOR, arena, color, document, rainbow

PITCH = 0.2  # from hinge to hinge [m]
WIDE = 0.6  # half width [m]
SAG = 0.1  # from pier to pier at the start, as a share of the length
SPANS = 4  # from pier to pier
EVERY = 10  # planks for each box on the bridge
BOX = 0.15  # half size of a box [m]

_BEAM = """    <body name="beam{k}" pos="{x:.6f} 0 {z:.6f}"><freejoint/>
      <geom type="cylinder" fromto="0 -{wide} 0 0 {wide} 0" size=".035" density="2000" contype="2" conaffinity="0"
        rgba=".4 .42 .46 1"/>"""
_PLANK = """      <body name="plank{i}" pos="{x:.6f} 0 {z:.6f}">
      <joint type="hinge" axis="0 1 0" damping="{damping}"/>
      <geom type="box" pos="{px:.6f} 0 {pz:.6f}" xyaxes="{px:.6f} 0 {pz:.6f} 0 1 0" size=".085 {wide} .02" density="600"
        contype="2" conaffinity="0" rgba="{shade}"/>"""
_PIER = """    <geom type="box" pos="{x:.4f} 0 {z:.4f}" size=".1 {wide} {z:.4f}" rgba=".55 .55 .58 1"/>"""
_LOAD = """    <body pos="{x:.4f} {y:.4f} {z:.4f}"><freejoint/>
      <geom type="box" size="{size} {size} {size}" density="300" conaffinity="3" rgba="{shade}"/></body>"""

# what a weld holds is a point of its second body, and each bears much more than its planks
_WELD = '    <weld body1="{}" body2="{}" solref=".01 1" solimp=".99 .999 .002"/>'


def bridge(n=50, span=25, damping=0.5, cone="pyramidal", sleep=False):
    """A hanging bridge of n hinged planks, whose spans are welded together and to piers, bears boxes.

    span  hinges of each, four from pier to pier;  damping  of a hinge [N m s/rad].
    """
    span = max(1, min(span, n))
    x, z, piers = _line(n, SPANS * span)
    world, welds = [FLOOR], []
    for i in piers:
        side = 0.5 * PITCH * ((i == n) - (i == 0))
        world.append(_PIER.format(x=x[i] + side, z=0.5 * z[i] - 0.05, wide=WIDE))
    for begin in range(0, n, span):
        world.append(_BEAM.format(k=begin, x=x[begin], z=z[begin], wide=WIDE))
        if begin:
            welds.append(_WELD.format(f"plank{begin - 1}", f"beam{begin}"))
        if begin in piers:
            welds.append(_WELD.format("world", f"beam{begin}"))
        end = min(begin + span, n)
        for i in range(begin, end):
            dx, dz = (0, 0) if i == begin else (x[i] - x[i - 1], z[i] - z[i - 1])
            px, pz = 0.5 * (x[i + 1] - x[i]), 0.5 * (z[i + 1] - z[i])
            world.append(_PLANK.format(i=i, x=dx, z=dz, px=px, pz=pz, wide=WIDE, damping=damping,
                                       shade=rainbow(i / n, 0.45, 0.75)))  # fmt: skip
        world.append("    " + "</body>" * (end - begin + 1))
    welds.append(_WELD.format("world", f"plank{n - 1}"))
    for k, i in enumerate(range(EVERY // 2, n, EVERY)):
        world.append(_LOAD.format(x=x[i], y=0.3 * (k % 3 - 1), z=z[i] + 0.4, size=BOX, shade=color(k)))
    rest = "\n".join(["  <equality>", *welds, "  </equality>"])
    return document("bridge", world, 0.004, cone, sleep, rest, memory=arena(4 * n))


def _line(n, bay):
    """Where the hinges are, a parabola from pier to pier, and the end; indices of those on piers."""
    piers = [*range(0, n, bay), n]
    x = [(i - 0.5 * n) * PITCH for i in range(n + 1)]
    z = [0.0] * (n + 1)
    high = 0.6 + SAG * PITCH * min(n, bay)
    for begin, end in zip(piers, piers[1:]):
        for i in range(begin, end + 1):
            z[i] = high - SAG * (end - begin) * PITCH * (1 - (2 * (i - begin) / (end - begin) - 1) ** 2)
    return x, z, piers
