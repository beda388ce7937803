"""Sensors of contacts, rays and distances sleep as MuJoCo 3.4.0's do.

Contract: along a rollout in which a stack and a box come to rest while a pendulum swings, sensordata is MuJoCo's in
every step: what sleeps keeps its values, contacts of all and of sites are looked for always, sensors of two static
objects stay as they are while anything sleeps, and what the user moves is looked at.
"""

import mujoco
import numpy as np
from shared.reference import Pair, error

import tisim

FIELDS = 'data="found force dist"'
SENSORS = [
    '<touch site="a"/>', '<touch site="c"/>', '<touch site="zone"/>', '<rangefinder site="eye"/>',
    '<rangefinder site="a"/>', '<insidesite site="zone" objtype="geom" objname="a"/>',
    '<insidesite site="zone" objtype="geom" objname="p"/>', '<distance geom1="a" geom2="c" cutoff="3"/>',
    '<distance geom1="a" geom2="b" cutoff="3"/>', '<distance geom1="a" geom2="wall" cutoff="3"/>',
    '<distance geom1="wall" geom2="m" cutoff="9"/>', '<fromto geom1="p" geom2="wall" cutoff="9"/>',
]  # fmt: skip
for _one in ("", 'geom1="a"', 'geom1="c"', 'geom1="floor"', 'site="zone"', 'body1="p"', 'subtree1="world"'):
    for _two in ("", 'geom2="floor"', 'body2="world"', 'body2="c"'):
        if _one.replace("1", "2") != _two or not _one:
            SENSORS.append(f'<contact {_one} {_two} reduce="netforce" {FIELDS}/>')
WORLD = f"""<mujoco><option timestep=".004"><flag sleep="enable"/></option><worldbody>
<geom name="floor" type="plane" size="5 5 1"/><site name="zone" type="box" size="3 3 .2"/>
<site name="eye" pos="0 0 2" euler="180 0 0"/><geom name="wall" type="box" size=".1 1 1" pos="-1 0 0"/>
<body name="a" pos="0 0 .0995"><freejoint/><geom name="a" type="box" size=".1 .1 .1"/>
 <site name="a" type="box" size=".12 .12 .12"/></body>
<body name="b" pos="0.01 0.02 .2995"><freejoint/><geom name="b" type="box" size=".08 .07 .1"/></body>
<body name="c" pos="1 0 .2"><freejoint/><geom name="c" type="box" size=".1 .12 .1"/>
 <site name="c" type="box" size=".2 .2 .2"/></body>
<body name="p" pos="3 0 .4"><joint axis="0 1 0"/><geom name="p" type="capsule" fromto="0 0 0 .4 0 0" size=".05"/></body>
<body name="m" mocap="true" pos="0 2 .1"><geom name="m" size=".1"/></body>
</worldbody><sensor>{"".join(SENSORS)}</sensor></mujoco>"""


def test_values_equal_mujocos():
    pair, slept = Pair(WORLD), set()
    for k in range(300):
        if k == 200:
            pair.md.mocap_pos[0] = [0, 1, 0.1]
            pair.d.mocap_pos[...] = pair.md.mocap_pos
        mujoco.mj_step(pair.mm, pair.md)
        tisim.step(pair.m, pair.d)
        slept.add(int((pair.md.tree_asleep >= 0).sum()))
        for s in range(pair.mm.nsensor):
            a = slice(pair.mm.sensor_adr[s], pair.mm.sensor_adr[s] + pair.mm.sensor_dim[s])
            ours, theirs = np.array(pair.d.sensordata)[a], pair.md.sensordata[a]
            assert error(ours, theirs) < 1e-6, (k, SENSORS[s], ours, theirs)
    assert {0, 2, 3} <= slept
