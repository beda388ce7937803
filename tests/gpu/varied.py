"""Prints whether each of three worlds with parameters of their own is the same world alone, on the device at hand."""

import json
import operator

import numpy as np

import tisim

XML = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="1 0 .5"><joint axis="0 1 0" damping=".1"/><geom type="capsule" size=".05" fromto="0 0 0 .3 0 0"/></body>
</worldbody></mujoco>"""
FIELDS = "geom_friction", "body_mass", "body_inertia", "opt.gravity", "dof_damping"


def world(m, d):
    """The state of a Data after some steps."""
    d.qvel[..., 0] = 2
    tisim.step(m, d, 30)
    return np.array(d.qpos)


m = tisim.Model.from_xml_string(XML)
d = tisim.Data(m, nworld=3)
for field in FIELDS:
    d.vary(field, lambda rng, value: value * rng.uniform(0.5, 1.5), seed=2)
batch, equal = world(m, d), []
for k in range(3):
    one = tisim.Model.from_xml_string(XML)
    for field, values in d.varied.items():
        operator.attrgetter(field)(one)[...] = values[k]
    tisim.set_const(one)
    equal.append(bool(np.array_equal(world(one, tisim.Data(one)), batch[k])))
print(json.dumps(dict(equal=equal, apart=bool((batch[0] != batch[1]).any()))))
