"""One pendulum."""

from tisim.scenes.common import document

from tisim.errors import Error


def pendulum(joint="hinge", length=1.0, angle=60.0, damping=0.0):
    """A ball on a light rod swings without friction: a scene with a closed solution.

    joint  "hinge" or "ball";  length  of the rod [m];  angle  from the vertical at the start [degree];
    damping  of the joint [N m s/rad].
    """
    if joint not in ("hinge", "ball"):
        raise Error(f"scene pendulum: joint={joint!r}: expected 'hinge' or 'ball'")
    if length <= 0:
        raise Error(f"scene pendulum: length={length}: expected a positive number")
    axis = 'axis="0 1 0"' if joint == "hinge" else ""
    world = [
        f'    <body name="bob" pos="0 0 {1.5 * length}" euler="0 {-angle} 0">',
        f'      <joint name="pivot" type="{joint}" {axis} damping="{damping}"/>',
        f'      <geom type="capsule" fromto="0 0 0 0 0 {-length}" size="{0.01 * length}" mass="0" contype="0" '
        'conaffinity="0" rgba=".5 .52 .55 1"/>',
        f'      <geom type="sphere" pos="0 0 {-length}" size="{0.1 * length}" mass="1" rgba=".85 .3 .25 1"/>',
        "    </body>",
    ]
    return document("pendulum", world, 0.002, rest="")
