"""Scenes of things that come to rest, and their rollouts beside MuJoCo's."""

import mujoco
import numpy as np

import tisim
from tisim.data.validate import validate

DOLL = """<body name="{name}" pos="{pos}"><freejoint/><geom type="capsule" size=".05 .1"/>
<body pos="0 0 .2"><joint type="ball" range="0 60" limited="true" damping=".1"/>
<geom type="capsule" size=".04 .1" pos="0 0 .1"/></body>
<body pos="0 0 -.2"><joint type="hinge" axis="0 1 0" range="-30 30" limited="true" frictionloss=".05" damping=".1"/>
<geom type="capsule" size=".04 .1" pos="0 0 -.1"/></body></body>"""


def scene(world, option="", flag="", rest="", sleep=True):
    """MJCF of bodies on a plane."""
    sleep = 'sleep="enable"' if sleep else ""
    return f"""<mujoco><option timestep=".005" {option}><flag {sleep} {flag}/></option>
<worldbody><geom name="floor" type="plane" size="5 5 .1"/>{world}</worldbody>{rest}</mujoco>"""


def free(name, pos, shape='type="box" size=".1 .1 .1"', body=""):
    """A free body with one geom."""
    return f'<body name="{name}" pos="{pos}" {body}><freejoint/><geom name="{name}" {shape}/></body>'


def sited(name, pos, body=""):
    """A free box with a site in its middle."""
    return free(name, pos, body=body).replace("<geom", f'<site name="{name}"/><geom')


def jointed(name, pos="0 0 1", joint='type="slide" axis="1 0 0"'):
    """A ball behind one damped joint, with a site, all of one name."""
    return f'''<body name="{name}" pos="{pos}"><joint name="{name}" {joint} damping="1"/>
<geom name="{name}" size=".1"/><site name="{name}"/></body>'''


BALL = 'type="sphere" size=".1"'
UPPER = 'type="box" size=".08 .07 .1"'  # smaller than what it lies on: no edges that coincide
PLAIN = free("a", "0 0 .1") + free("b", "0 0 .3", UPPER) + free("c", "1 0 .1")
STACKS = PLAIN + free("e", "1 0 .3", UPPER) + free("f", "1 0 .5", BALL)


class Both:
    """A scene in MuJoCo and in tisim, stepped side by side."""

    def __init__(self, xml):
        self.theirs = mujoco.MjModel.from_xml_string(xml)
        self.theirs.opt.tolerance, self.theirs.opt.iterations = 0, 200
        self.ours = tisim.Model.from_xml_string(xml)
        self.ours.opt.tolerance, self.ours.opt.iterations = 1e-14, 200
        self.data = mujoco.MjData(self.theirs), tisim.Data(self.ours)

    def poke(self, act):
        """act(model, data) on both sides."""
        act(self.theirs, self.data[0])
        act(self.ours, self.data[1])

    def step(self):
        """One step of both, and all rules of our Data."""
        mujoco.mj_step(self.theirs, self.data[0])
        tisim.step(self.ours, self.data[1])
        validate(self.ours, self.data[1])

    def apart(self):
        """How far positions and velocities are apart."""
        a, b = self.data
        return max(np.abs(a.qpos - np.asarray(b.qpos)).max(), np.abs(a.qvel - np.asarray(b.qvel)).max())

    def same_sleepers(self):
        """Whether the same trees sleep; those that do not have waited as long."""
        return np.array_equal(self.data[0].tree_asleep, np.asarray(self.data[1].tree_asleep))

    def same(self):
        """Whether the same trees sleep, in the same islands, and those awake are in the same ones."""
        a, b = self.data
        asleep = np.asarray(b.tree_asleep)
        awake = asleep < 0
        islands = a.tree_island[awake], np.asarray(b.tree_island)[awake]
        counts = [(x.nbody_awake, x.ntree_awake, x.nv_awake, x.nisland) for x in self.data]
        return (
            self.same_sleepers()
            and (not a.nisland or np.array_equal(*islands))
            and np.array_equal(a.body_awake, b.body_awake)
            and counts[0] == counts[1]
        )
