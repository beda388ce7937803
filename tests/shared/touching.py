"""Scenes in which things touch, for sensors of contacts: piles, a hand, gaps and listed pairs."""

import itertools

import numpy as np

FIELDS = dict(found=1, force=3, torque=3, dist=1, pos=3, normal=3, tangent=3)
REDUCTIONS = ("none", "mindist", "maxforce", "netforce")
# names of each scene by kind; subtree: bodies with others below them
NAMES = dict(
    pile=dict(geom="floor long ball lump", body="world two one three", subtree="two world", site="zone lens"),
    hand=dict(geom="palm tip lid", body="world finger block", subtree="hand finger", site="zone cup"),
    gaps=dict(geom="floor step wide", body="post wide ride", subtree="pole ride", site="zone rod"),
)  # fmt: skip
PILE = """<mujoco><option integrator="{integrator}" {option}/><default><geom condim="4"/></default>
<asset><mesh name="lump" vertex=".1 .1 .1 -.1 .1 .1 .1 -.1 .1 .1 .1 -.1 -.1 -.1 .1 .12 -.1 -.13 0 0 -.2 .2 0 0"/>
 </asset>
<worldbody><geom name="floor" type="plane" size="3 3 .1"/>
 <site name="zone" type="box" size=".25 .2 .15" pos="0 0 .1"/>
<site name="lens" type="ellipsoid" size=".5 .3 .2" euler="0 20 40"/>
<body name="two" pos="0 0 .25"><freejoint/><geom name="long" type="box" size=".2 .1 .05"/>
 <geom type="capsule" size=".06 .1" pos="0 .1 .08"/><site name="s1" type="sphere" size=".15" pos=".1 0 0"/>
 <body pos=".2 0 .05"><joint axis="0 1 0"/><geom size=".09"/><site name="s2" type="capsule" size=".05 .2"/></body>
 </body>
<body name="one" pos=".1 .1 .5"><freejoint/><geom name="ball" type="ellipsoid" size=".1 .14 .08"/>
 <site name="s3" type="box" size=".05 .2 .02" pos="0 0 -.08"/></body>
<body name="three" pos="-.15 .1 .45"><freejoint/><geom name="lump" type="mesh" mesh="lump"/>
 <geom type="cylinder" size=".07 .1" pos=".1 .1 0"/><site name="s4" type="cylinder" size=".2 .03" pos="0 0 -.1"/>
 </body>
<body pos="0 -.2 .3"><freejoint/><geom type="capsule" size=".1 .1" euler="80 0 0"/>
 <geom type="box" size=".05 .1 .1"/></body>
</worldbody><sensor>{sensors}</sensor></mujoco>"""
HAND = """<mujoco><option integrator="{integrator}" cone="elliptic" impratio="3" {option}/>
<default><geom condim="4" friction="1 .02 .001"/><joint damping=".5" armature=".01"/></default>
<worldbody><site name="zone" type="sphere" size=".25" pos=".1 0 .3"/>
<body name="hand" pos="0 0 .2"><joint type="slide" axis="0 0 1" stiffness="20"/>
 <geom name="palm" type="box" size=".2 .2 .04"/>
 <site name="cup" type="box" size=".25 .25 .1" pos="0 0 .05"/>
 <site name="s1" type="box" size=".2 .2 .01" pos="0 0 .04"/>
 <body name="finger" pos=".2 0 .04"><joint axis="0 1 0" stiffness="2" springref="-40"/>
  <geom type="capsule" fromto="0 0 .05 0 0 .2" size=".03"/>
  <body pos="0 0 .23"><joint axis="0 1 0" stiffness="2" springref="-40"/>
   <geom name="tip" type="capsule" fromto="0 0 .03 0 0 .12" size=".028"/><site name="s2" size=".04" pos="0 0 .12"/>
 </body>
 </body>
 <body pos="-.2 0 .04"><joint axis="0 1 0" stiffness="2" springref="40"/>
  <geom type="box" size=".02 .1 .1" pos="0 0 .15"/><site name="s3" type="cylinder" size=".1 .05" pos="0 0 .1"/>
 </body></body>
<body name="block" pos=".03 .02 .36"><freejoint/><geom type="box" size=".1 .08 .06" condim="6"/>
 <geom name="lid" type="cylinder" size=".05 .04" pos="0 0 .08"/>
 <site name="s4" type="ellipsoid" size=".1 .2 .05" pos="0 0 -.06"/>
</body><body pos="-.05 .05 .62"><freejoint/><geom size=".06" condim="1"/></body></worldbody>
<contact><pair geom1="tip" geom2="lid" condim="3"/><pair geom1="palm" geom2="lid" margin=".1" gap=".08"/>
 <pair geom1="palm" geom2="tip" margin=".5" gap=".5"/></contact>
<sensor>{sensors}</sensor></mujoco>"""
GAPS = """<mujoco><option integrator="{integrator}" {option}/><default><geom condim="6"/></default>
<worldbody><geom name="floor" type="plane" size="3 3 .1" margin=".05" gap=".04"/>
<geom name="step" type="box" size=".2 .5 .05" pos=".3 0 .03" euler="0 8 0"/>
 <site name="zone" type="box" size=".3 .5 .1"/>
<body name="pole"><geom type="cylinder" size=".05 .3" pos="-.3 0 .3"/>
 <body name="post" pos="-.3 0 .6"><geom size=".1"/><site name="s1" size=".2"/></body></body>
<body name="ride" mocap="true" pos="0 .3 .2" euler="10 20 0"><geom type="box" size=".1 .2 .05"/>
 <site name="rod" type="capsule" size=".3 .2"/>
</body><body name="wide" pos=".1 0 .25" euler="10 30 5"><freejoint/>
 <geom name="wide" type="box" size=".2 .15 .05" margin=".1" gap=".02"/>
 <geom size=".05" pos=".2 .15 0" margin=".2" gap=".2"/><site name="s2" type="box" size=".25 .2 .03"/></body>
<body pos="-.25 .05 .85"><freejoint/><geom type="capsule" size=".08 .2" euler="0 80 0" condim="6"/>
 <site name="s3" type="capsule" size=".1 .2" euler="0 80 0"/></body>
<body pos=".05 .3 .4"><freejoint/><geom type="box" size=".08 .06 .1"/><site name="s4" type="sphere" size=".12"/>
 </body>
</worldbody>
<sensor>{sensors}</sensor></mujoco>"""
SCENES = dict(pile=PILE, hand=HAND, gaps=GAPS)
SIDES = ("none", "geom", "body", "subtree")
RULES = [(a, b) for a in SIDES for b in SIDES] + [("site", b) for b in SIDES]


def objects(scene, first, second):
    """MJCF attributes of a contact sensor, for each pair of names of these kinds that differ."""
    one, two = (NAMES[scene].get(kind, "").split() or [None] for kind in (first, second))
    for a, b in itertools.product(one, two):
        if first != second or a != b or a is None:
            words = ["site" if first == "site" else first + "1", second + "2"]
            yield " ".join(f'{word}="{name}"' for word, name in zip(words, (a, b)) if name)


def contact_sensors(scene, rule, num=None):
    """MJCF of contact sensors of one matching rule: every field and reduction, 1 to 5 slots."""
    number = itertools.count()
    return [
        f'<contact {words} data="{field}" reduce="{reduce}" num="{num or 1 + next(number) % 5}"/>'
        for reduce in REDUCTIONS for field in FIELDS for words in objects(scene, *rule)
    ]  # fmt: skip


def scatter(mm, md, rng, size=0.05):
    """A state near the scene's own, with random velocities; bodies are moved and turned a little."""
    import mujoco

    mujoco.mj_resetData(mm, md)
    mujoco.mj_integratePos(mm, md.qpos, rng.normal(0, size, mm.nv), 1.0)
    md.qvel[:] = rng.normal(0, 0.3, mm.nv)
    md.mocap_quat[:] += rng.normal(0, 0.1, md.mocap_quat.shape)
    md.mocap_quat[:] /= np.linalg.norm(md.mocap_quat, axis=1, keepdims=True)
