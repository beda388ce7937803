"""Robot arms that are driven by servos."""

import numpy as np
from tisim.scenes.common import FLOOR, arena, color, document

SPACING = 1.2  # between the feet of two arms [m]

_ARM = """    <body name="a{i}_foot" pos="{x:.3f} {y:.3f} .05">
      <geom type="cylinder" size=".1 .05" rgba=".3 .32 .35 1"/>
      <body name="a{i}_turret" pos="0 0 .05">
        <joint name="a{i}_yaw" axis="0 0 1" range="-170 170" damping=".4" armature=".02"/>
        <geom type="capsule" fromto="0 0 .08 0 0 .2" size=".06" mass="1" rgba="{shade}"/>
        <body name="a{i}_upper" pos="0 0 .22">
          <joint name="a{i}_shoulder" axis="0 1 0" range="-100 100" damping=".4" armature=".02"/>
          <geom type="capsule" fromto="0 0 0 0 0 .3" size=".04" mass=".8" rgba="{shade}"/>
          <body name="a{i}_fore" pos="0 0 .32">
            <joint name="a{i}_elbow" axis="0 1 0" range="-130 130" damping=".2" armature=".01"/>
            <geom type="capsule" fromto="0 0 .03 0 0 .25" size=".035" mass=".5" rgba="{light}"/>
            <body name="a{i}_hand" pos="0 0 .27">
              <joint name="a{i}_wrist" axis="0 1 0" range="-100 100" damping=".1" armature=".005"/>
              <geom type="box" size=".03 .05 .04" pos="0 0 .05" mass=".2" rgba=".3 .32 .35 1"/>
              <site name="a{i}_tip" pos="0 0 .1"/>
            </body>
          </body>
        </body>
      </body>
    </body>"""
_SERVO = (
    '    <position name="a{i}_{joint}" joint="a{i}_{joint}" kp="{kp}" kv="{kv}" ctrlrange="-2 2" forcerange="-60 60"/>'
)
_SERVOS = dict(yaw=(60, 4), shoulder=(90, 6), elbow=(50, 3), wrist=(15, 0.8))
_SENSORS = """    <framepos objtype="site" objname="a{i}_tip"/>
    <framelinvel objtype="site" objname="a{i}_tip"/>
    <accelerometer site="a{i}_tip"/>
    <gyro site="a{i}_tip"/>"""
_JOINT = """    <jointpos joint="a{i}_{joint}"/>
    <jointvel joint="a{i}_{joint}"/>
    <actuatorfrc actuator="a{i}_{joint}"/>"""


def wave(m, d):
    """Each arm goes to its pose and to the mirrored one, to and fro."""
    d.ctrl[...] = np.asarray(m.key_ctrl[0]) * np.sin(1.5 * np.asarray(d.time))[..., None]


def arms(n=9, sensors=False, cone="pyramidal", seed=0):
    """n arms of four hinges, driven by servos, wave to and fro, each in its own way.

    sensors  of the joints, servos and hands, 24 numbers for each arm;  seed  of the poses, those of the key "poses".
    """
    rng = np.random.default_rng(seed)
    side = int(np.ceil(np.sqrt(n)))
    world, rest = [FLOOR], ["  <actuator>"]
    for i in range(n):
        x, y = (SPACING * (c - (side - 1) / 2) for c in (i % side, i // side))
        world.append(_ARM.format(i=i, x=x, y=y, shade=color(i), light=color(i, 0.35)))
        rest += [_SERVO.format(i=i, joint=joint, kp=kp, kv=kv) for joint, (kp, kv) in _SERVOS.items()]
    rest.append("  </actuator>")
    if sensors:
        joints = "\n".join(_JOINT.replace("{joint}", joint) for joint in _SERVOS)
        every = [(_SENSORS + "\n" + joints).format(i=i) for i in range(n)]
        rest += ["  <sensor>", *every, "  </sensor>"]
    ctrl = rng.uniform(-1, 1, (n, 4)) * [2, 0.8, 1.2, 1.0]
    poses = " ".join(f"{c:.3f}" for c in ctrl.ravel())
    rest += ["  <keyframe>", f'    <key name="poses" ctrl="{poses}"/>', "  </keyframe>"]
    return document("arms", world, 0.002, cone, False, "\n".join(rest), memory=arena(4 * n))
