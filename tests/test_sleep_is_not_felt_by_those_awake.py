"""What is awake moves bit for bit as without sleeping, as long as nothing asleep would have moved; worlds sleep each on
their own; the answer does not depend on the number of threads or the process."""

import os
import subprocess
import sys

import numpy as np
import pytest
from shared.sleepers import BALL, DOLL, STACKS, UPPER, free, jointed, scene, sited

import tisim
from tisim.data.validate import validate

MOVERS = (
    DOLL.format(name="doll", pos="3 0 .6")
    + free("m0", "4 0 .1", BALL)
    + free("m1", "4.5 0 .4")
    + free("m2", "4.5 0 .8", UPPER)
)
# pairs that equalities, tendons and actuators join: of the first everybody is awake, of the second all sleep
PAIRS = "".join(sited(name, f"{x} 5 .1") for x, name in enumerate("pqxy")) + "".join(
    jointed(f"{name}j", f"{x} 6 1") for x, name in enumerate("pqxy")
)
TIES = """<equality><weld body1="p" body2="q"/><weld body1="x" body2="y"/><joint joint1="pj" joint2="qj"/>
<joint joint1="xj" joint2="yj"/></equality>
<tendon><spatial name="s" limited="true" range="0 .99" frictionloss=".1"><site site="p"/><site site="q"/></spatial>
<spatial name="t" limited="true" range="0 .99" frictionloss=".1"><site site="x"/><site site="y"/></spatial>
<fixed name="u" armature=".1" stiffness="1" damping="1"><joint joint="pj" coef="1"/></fixed>
<fixed name="v" armature=".1" stiffness="1" damping="1"><joint joint="xj" coef="1"/></fixed></tendon>
<actuator><motor joint="pj"/><motor joint="xj"/><muscle tendon="s" lengthrange="0 2" force="1"/>
<muscle tendon="t" lengthrange="0 2" force="1"/><general site="p" dyntype="filter" dynprm=".1" gear="1 0 0 0 0 0"/>
<general site="x" dyntype="filter" dynprm=".1" gear="1 0 0 0 0 0"/></actuator>"""
PROGRAM = """
import tisim
tisim.init(arch="cpu", threads={threads})
m = tisim.Model.from_xml_string({text})
d = tisim.Data(m)
d.ctrl[...] = 0.05
most = 0
for _ in range({calls}):
    tisim.step(m, d, 5)
    most = max(most, m.ntree - d.ntree_awake)
from tisim.data.digest import state_hash
print(state_hash(d), d.tree_asleep.tolist(), most)
"""

SCENES = """
import tisim
from tisim.data.digest import state_hash
tisim.init(arch="cpu", threads={threads})
for name, n in dict(rows=90, pyramids=3, dominos=30, tower=8).items():
    m = tisim.Model.from_xml_string(tisim.scenes.build(name, n=n, sleep=True))
    d, least, most = tisim.Data(m), m.ntree, 0
    for i in range(60):
        if i == 40:
            d.qvel[1::60] = 1.0
        tisim.step(m, d, 10)
        least, most = min(least, d.ntree_awake), max(most, d.ntree_awake)
    print(name, state_hash(d), d.tree_asleep.tolist(), least < most)
"""


def pairs(awake, asleep):
    """PAIRS, with these policies of the first four trees and the others."""
    parts = [part.partition(" pos=") for part in PAIRS.split("<body ")[1:]]
    words = [f'sleep="{awake if part[0][6] in "pq" else asleep}"' for part in parts]
    return "".join(f"<body {a} {word} pos={b}" for (a, _, b), word in zip(parts, words))


def model(world, sleep, rest="", **options):
    m = tisim.Model.from_xml_string(scene(world, rest=rest, sleep=sleep))
    for name, value in options.items():
        setattr(m.opt, name, value)
    return m


def test_movers_do_not_feel_sleepers():
    """Those that never sleep; the stacks beside them would creep on by their last bits, which nobody feels."""
    movers = MOVERS.replace("<body name=", '<body sleep="never" name=')
    on, off = (model(movers + STACKS, sleep) for sleep in (True, False))
    d, e = tisim.Data(on), tisim.Data(off)
    first, slept = int(on.jnt_dofadr[on.body_jntadr[on.name2id("body", "a")]]), 0
    for i in range(300):
        if i % 40 == 0:
            for data in (d, e):
                data.qvel[0], data.qvel[first - 8] = 0.5, 0.3
        tisim.step(on, d)
        tisim.step(off, e)
        validate(on, d)
        for name in ("qvel", "qacc", "qfrc_constraint", "qLDiagInv"):
            assert np.array_equal(getattr(d, name)[:first], getattr(e, name)[:first]), (name, i)
        slept = max(slept, on.ntree - d.ntree_awake)
    assert slept == 5


@pytest.mark.parametrize("integrator", [0, 2, 3])
def test_movers_do_not_feel_sleepers_that_are_tied_together(integrator):
    """Two boxes and two joints that stay awake, and the same again asleep: equalities, tendons, actuators of each."""
    world = pairs("never", "allowed")
    on, off = (model(world, sleep, TIES, sleep_tolerance=0.02, integrator=integrator) for sleep in (True, False))
    d, e = tisim.Data(on), tisim.Data(off)
    own, slept = np.r_[0:12, 24:26], 0
    for i in range(120):
        for data in (d, e):
            data.ctrl[0], data.ctrl[2] = np.sin(0.1 * i), 0.05
        tisim.step(on, d)
        tisim.step(off, e)
        validate(on, d)
        for name in ("qvel", "qacc", "qfrc_constraint", "qfrc_passive", "qfrc_actuator", "qLDiagInv"):
            assert np.array_equal(getattr(d, name)[own], getattr(e, name)[own]), (name, i)
        for name in ("actuator_force", "act_dot", "ten_length", "ten_velocity"):
            assert np.array_equal(getattr(d, name)[::2], getattr(e, name)[::2]), (name, i)
        slept = max(slept, on.ntree - d.ntree_awake)
    assert slept == 4


@pytest.mark.parametrize("ties", ["", TIES])
def test_all_awake_is_the_same_bits(ties):
    world = MOVERS + STACKS + (pairs("never", "never") if ties else "")
    on, off = (model(world, sleep, ties, sleep_tolerance=1e-300) for sleep in (True, False))
    d, e = tisim.Data(on), tisim.Data(off)
    for _ in range(60):
        tisim.step(on, d, 2)
        tisim.step(off, e, 2)
        if d.ntree_awake < on.ntree:
            break
        for name in ("qpos", "qvel", "qacc", "M", "qfrc_constraint", "subtree_com", "tree_island"):
            assert np.array_equal(getattr(d, name), getattr(e, name)), name
        assert np.array_equal(d.contact.dist, e.contact.dist)


def test_worlds_sleep_each_on_their_own():
    m = model(STACKS, True)
    d, singles = tisim.Data(m, nworld=3), [tisim.Data(m) for _ in range(3)]
    for i in range(120):
        if i == 60:
            d.qvel[1, 2] = 1.0
            singles[1].qvel[2] = 1.0
        tisim.step(m, d)
        for w, single in enumerate(singles):
            tisim.step(m, single)
            assert np.array_equal(d.tree_asleep[w], single.tree_asleep), (i, w)
            assert np.array_equal(d.qpos[w], single.qpos), (i, w)
        validate(m, d)
    assert d.ntree_awake.tolist() != [5, 5, 5] and d.body_awake.shape == (3, m.nbody)
    assert d.nbody_awake.tolist() == [s.nbody_awake for s in singles]


@pytest.mark.parametrize("option", ["", 'integrator="implicit"', 'integrator="implicitfast"'])
@pytest.mark.parametrize("damping", [0, 0.3])
def test_worlds_do_not_feel_who_falls_asleep_in_others(damping, option):
    """Where something falls asleep, activations are advanced before accelerations are made once more; here alone."""
    pushed = sited("a", "0 0 .1", 'sleep="allowed"') + sited("b", "1 0 .1")
    swing = f'''<body pos="0 2 1"><joint axis="0 1 0" damping="{damping}"/><geom size=".1" pos=".3 0 0"/></body>'''
    rest = """<actuator><general site="b" gear="1 0 0 0 0 0" dyntype="filter" dynprm=".3" gainprm="9"/></actuator>
        <sensor><accelerometer site="b"/></sensor>"""
    m = tisim.Model.from_xml_string(scene(pushed + swing, option, rest=rest))
    every, single = tisim.Data(m, nworld=3), [tisim.Data(m) for _ in range(3)]
    fell = np.zeros(3, int)
    for d, speed, ctrl in ((every, (0.0, 0.3, 0.9), (1.0, 0.8, 0.5)), *zip(single, (0.0, 0.3, 0.9), (1.0, 0.8, 0.5))):
        d.qvel[..., 0], d.ctrl[...] = speed, np.reshape(ctrl, np.shape(d.ctrl))
    for step in range(120):
        before = np.asarray(every.tree_asleep) >= 0
        tisim.step(m, every)
        fell += ((np.asarray(every.tree_asleep) >= 0) & ~before).any(1) * (step + 1)
        for w, one in enumerate(single):
            tisim.step(m, one)
            for name in ("qpos", "qvel", "act", "qacc", "qacc_warmstart", "qfrc_constraint", "sensordata"):
                assert np.array_equal(getattr(every, name)[w], getattr(one, name)), (step, w, name)
    assert len(set(fell)) == 3 and fell.min() > 0  # each at another step


def test_a_world_without_constraints_sleeps_where_others_have_some():
    """Without islands nobody falls asleep while there are constraints, as in MuJoCo: in his own world."""
    world = free("a", "0 0 .1") + jointed("j", "3 3 1")
    m = tisim.Model.from_xml_string(scene(world, flag='island="disable"'))
    d, single = tisim.Data(m, nworld=3), [tisim.Data(m) for _ in range(3)]
    for w, height in enumerate((0.1, 50, 0.1)):
        d.qpos[w, 2] = single[w].qpos[2] = height
    tisim.step(m, d, 40)
    for w, one in enumerate(single):
        tisim.step(m, one, 40)
        assert np.array_equal(d.tree_asleep[w], one.tree_asleep) and one.ntree_awake == (2, 1, 2)[w]


def only_answer(program):
    """What a program prints with any number of threads, and in another process."""
    answers = set()
    for threads in (1, 2, 3, 8, 2):
        run = subprocess.run([sys.executable, "-c", program.replace("{threads}", str(threads))],
                             capture_output=True, text=True, env=os.environ, check=True)  # fmt: skip
        answers.add(run.stdout)
    assert len(answers) == 1
    return answers.pop()


@pytest.mark.parametrize("world", ["wall", "ties"])
def test_threads_and_processes_agree(world):
    text, calls, least = 'tisim.scenes.build("wall", n=60, sleep=True)', 150, 5
    if world == "ties":
        text, calls, least = repr(scene(pairs("never", "allowed"), 'sleep_tolerance=".02"', rest=TIES)), 30, 3
    answer = only_answer(PROGRAM.replace("{text}", text).replace("{calls}", str(calls)))
    assert int(answer.split()[-1]) > least


def test_threads_and_processes_agree_on_scenes_of_the_benchmark():
    answer = only_answer(SCENES)
    assert answer.count("True") == 4
