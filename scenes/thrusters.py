"""Forces at sites. Seed 001, "site transmission"."""

from tisim.scenes.common import FLOOR, color, document

CONTROLS = 50.0, 50.0, 5.0, 10.0, 10.0
# by cube, after the first, which falls freely: what acts at the site in its middle
_ACTUATORS = (
    '<motor site="f1" gear="0 1 0"/>',
    '<motor site="f2" gear="0 0 1"/>',
    '<motor site="f3" gear="0 0 0 0 1 0"/>',
    '<damper site="f4" kv="10" ctrlrange="0 1" gear="0 0 3"/>',
    '<damper site="f5" kv="10" ctrlrange="0 1" gear="0 3 0"/>',
)


def fire(m, d):
    """All of them from the beginning on."""
    d.ctrl[...] = CONTROLS


def thrusters():
    """Six falling cubes: free, pushed back, held up, spun, braked, and braked across its way, which does nothing."""
    world = [FLOOR, '    <camera name="fixed" pos="0 -2 1.5" xyaxes="1 0 0 0 0 1"/>']
    for i in range(6):
        x = round(-1 + 0.4 * i, 1)
        world.append(f'    <site type="cylinder" size=".01 3" pos="{x} 0 0" rgba=".3 .3 .3 .3"/>')
        world.append(
            f'    <body name="c{i}" pos="{x} 0 2">\n      <freejoint/>\n      <geom type="box" size=".1 .1 .1" '
            f'rgba="{color(i)}"/>\n      <site name="f{i}" size=".01"/>\n    </body>'
        )
    rest = "  <actuator>\n" + "".join(f"    {line}\n" for line in _ACTUATORS) + "  </actuator>"
    return document("thrusters", world, 0.002, rest=rest)
