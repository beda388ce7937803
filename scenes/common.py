"""What the scenes share: the frame of a document, the floor and colours."""

import colorsys

from tisim.errors import Error

_FRAME = """<mujoco model="{name}">
  <option timestep="{timestep}" {option}>{flags}</option>
  <size memory="{memory}"/>
  <visual><headlight ambient=".35 .35 .35" diffuse=".6 .6 .6"/><global azimuth="125" elevation="-22"/></visual>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1=".45 .6 .8" rgb2=".9 .93 .96" width="64" height="384"/>
    <texture name="checker" type="2d" builtin="checker" rgb1=".80 .82 .84" rgb2=".66 .69 .72" width="64" height="64"/>
    <material name="floor" texture="checker" texrepeat="1 1" texuniform="true" reflectance=".1"/>
  </asset>
  <worldbody>
    <light pos="2 -2 6" dir="-.3 .3 -1" directional="true" diffuse=".7 .7 .7"/>
{world}
  </worldbody>
{rest}
</mujoco>
"""
SINK = 2e-5  # by which stacked things start inside each other [m]: at an exact touch rounding decides what touches
FLOOR = '    <geom name="floor" type="plane" size="50 50 1" material="floor"/>'


def document(name, world, timestep=0.005, cone="pyramidal", sleep=False, rest="", option="", memory="64M"):
    """MJCF text around the lines of a world body.

    timestep [s];  cone "pyramidal" or "elliptic";  sleep  bodies at rest sleep;  memory  MuJoCo's arena, unused here.
    """
    if cone not in ("pyramidal", "elliptic"):
        raise Error(f"scene {name}: cone={cone!r}: expected 'pyramidal' or 'elliptic'")
    return _FRAME.format(
        name=name, timestep=timestep, option=f'cone="{cone}" {option}'.strip(), rest=rest, memory=memory,
        flags='<flag sleep="enable"/>' if sleep else "", world="\n".join(world),
    )  # fmt: skip


def arena(n):
    """Memory MuJoCo needs for a scene of n free bodies in contact; tisim allocates what it needs."""
    return f"{max(64, min(2048, 2 * n), n // 4)}M"


def color(i, saturation=0.6, value=0.9):
    """The i-th of many well separated colours, as rgba text."""
    r, g, b = colorsys.hsv_to_rgb((0.56 + 0.61803399 * i) % 1, saturation, value)
    return f"{r:.3f} {g:.3f} {b:.3f} 1"


def rainbow(t, saturation=0.65, value=0.92):
    """Colour at t in 0..1 along a rainbow, as rgba text."""
    r, g, b = colorsys.hsv_to_rgb((0.98 + 0.8 * t) % 1, saturation, value)
    return f"{r:.3f} {g:.3f} {b:.3f} 1"


def jitter(i, k=0):
    """A fixed number in [-1, 1] for thing i, direction k: nothing built by hand is aligned to the last bit."""
    return ((i * 0.6180339887 + k * 0.7548776662) % 1.0) * 2.0 - 1.0
