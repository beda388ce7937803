"""What is awake moves bit for bit as without sleeping, as long as nothing asleep would have moved; worlds sleep each on
their own; the answer does not depend on the number of threads or the process."""

import os
import subprocess
import sys

import numpy as np

import tisim
from tests.shared.sleepers import BALL, DOLL, STACKS, UPPER, free, scene
from tisim.data.validate import validate

MOVERS = (
    DOLL.format(name="doll", pos="3 0 .6")
    + free("m0", "4 0 .1", BALL)
    + free("m1", "4.5 0 .4")
    + free("m2", "4.5 0 .8", UPPER)
)
PROGRAM = """
import tisim
tisim.init(arch="cpu", threads={})
m = tisim.Model.from_xml_string(tisim.scenes.build("wall", n=60, sleep=True))
d = tisim.Data(m)
most = 0
for _ in range(150):
    tisim.step(m, d, 5)
    most = max(most, m.ntree - d.ntree_awake)
from tisim.data.digest import state_hash
print(state_hash(d), d.tree_asleep.tolist(), most)
"""


def model(world, sleep, **options):
    m = tisim.Model.from_xml_string(scene(world, sleep=sleep))
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


def test_all_awake_is_the_same_bits():
    on, off = (model(MOVERS + STACKS, sleep, sleep_tolerance=1e-300) for sleep in (True, False))
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


def test_threads_and_processes_agree():
    answers = set()
    for threads in (1, 2, 3, 8, 2):
        run = subprocess.run([sys.executable, "-c", PROGRAM.format(threads)], capture_output=True, text=True,
                             env=os.environ, check=True)  # fmt: skip
        answers.add(run.stdout)
    assert len(answers) == 1 and int(answers.pop().split()[-1]) > 5
