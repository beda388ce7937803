"""What tests of queries share: a state given to both engines, worlds in different states, errors."""

import mujoco
import numpy as np

import tisim

from .smooth import copy_state, random_state, without_constraints

# free bodies of every condim on a floor, on a static body with an arm, and on a mocap body
CONTACTS = """<mujoco><option cone="{cone}" timestep=".005" impratio="{impratio}"/><worldbody>
<geom type="plane" size="3 3 .1"/><camera pos="0 -3 1"/>
<body name="base" pos="1 0 .1"><geom type="box" size=".3 .3 .1" condim="{dim}"/><site name="low" pos="0 .1 0"/>
  <body name="arm" pos="0 0 .5"><joint axis="0 1 0" damping=".1" range="-10 10" limited="true"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".04" condim="{dim}"/>
    <site name="high" pos=".2 0 0" euler="10 20 30"/><camera pos="0 .1 .2" euler="30 20 10"/>
    <body pos=".5 0 0"><joint type="ball" frictionloss=".01"/>
      <geom type="capsule" fromto="0 0 0 .3 .1 0" size=".04"/></body></body></body>
<body pos="1 0 .35" euler="5 0 3"><freejoint/><geom type="box" size=".1 .1 .1" condim="{dim}"/></body>
<body pos="0 0 .2" euler="5 0 3"><freejoint/>
  <geom type="capsule" size=".1 .1" condim="{dim}" friction=".8 .02 .01"/><site pos=".1 0 0"/></body>
<body pos="0 .1 .55"><freejoint/><geom type="box" size=".1 .2 .1" condim="{dim}"/></body>
<body mocap="true" pos="-.5 0 .3"><camera mode="trackcom" pos="0 0 1"/><geom type="box" size=".2 .2 .2"/></body>
<body pos="-.5 0 .6"><freejoint/><geom size=".11" condim="{dim}"/></body>
</worldbody></mujoco>"""

# a tree, free bodies and a static one that connects and welds, of bodies and sites, hold together
EQUALITIES = """<mujoco><option cone="{cone}"/><worldbody><geom type="plane" size="3 3 .1"/>
<body name="post" pos="0 -1 .5"><geom type="box" size=".1 .1 .1"/><site name="ps" pos="0 .2 .1"/></body>
<body name="arm" pos="0 1 .5"><joint name="j" axis="1 0 0" range="-10 10" limited="true"/>
  <geom type="capsule" fromto="0 0 0 0 .3 0" size=".03"/><site name="as" pos=".1 0 .2" euler="30 0 0"/>
  <body name="hand" pos="0 .3 0"><joint name="k" axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 .3 0" size=".03"/>
  </body></body>
<body name="a" pos="1 0 .06" euler="10 20 30"><freejoint/><geom type="box" size=".05 .06 .07"/>
  <site name="sa" pos="0 0 .1"/></body>
<body name="b" pos="1.2 0 .35" euler="-20 0 15"><freejoint/><geom type="box" size=".05 .04 .05"/></body>
<body name="c" pos=".02 1.65 .5"><freejoint/><geom size=".05"/><site name="sc" euler="0 40 0"/></body>
</worldbody><equality><weld body1="a" body2="b" torquescale=".7"/><connect body1="hand" body2="c" anchor="0 .3 0"/>
<joint joint1="j" joint2="k"/><weld site1="sc" site2="ps" solref=".03 1"/><connect site1="as" site2="sa"/>
<connect body1="post" body2="b" anchor=".1 0 0"/><connect body1="a" body2="world" anchor="0 0 .2"/></equality>
</mujoco>"""


def error(mine, theirs):
    """Largest difference relative to max(1, largest); shapes must be equal."""
    mine, theirs = np.asarray(mine, float), np.asarray(theirs, float)
    assert mine.shape == theirs.shape, (mine.shape, theirs.shape)
    return np.max(np.abs(mine - theirs), initial=0) / max(1, np.max(np.abs(theirs), initial=0))


class Worlds:
    """A model without constraints in both engines: mujoco's data, one of tisim in the same state, and one of tisim of
    three worlds, whose middle one is in that state, too.
    """

    def __init__(self, path, seed=0):
        tisim.init(precision="f64")
        self.rng = np.random.default_rng(seed)
        self.m = without_constraints(tisim.Model.from_xml_path(path))
        self.mm = mujoco.MjModel.from_xml_path(str(path))
        self.mm.opt.disableflags = self.m.opt.disableflags
        self.dd, self.d, self.many = mujoco.MjData(self.mm), tisim.Data(self.m), tisim.Data(self.m, nworld=3)
        random_state(self.mm, self.dd, self.rng)
        copy_state(self.mm, self.dd, self.m, self.d)
        mujoco.mj_forward(self.mm, self.dd)
        start, moved = tisim.get_state(self.m, self.many)[0], tisim.get_state(self.m, self.d)
        tisim.set_state(self.m, self.many, np.stack([start, moved, start]))
        for d in (self.d, self.many):
            tisim.forward(self.m, d)

    def zeros(self, *shape):
        return np.zeros((*shape, self.mm.nv))
