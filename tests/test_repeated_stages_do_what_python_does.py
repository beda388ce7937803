"""A step that machine code repeats from records computes, bit for bit, what Python's stages do, whatever happens
between steps; and Python has next to nothing left to do in it."""

import collections
import signal
import types

import numpy as np
import pytest
from shared.cost import calls

import tisim
from tisim import pipeline, scenes
from tisim.device import native, program, record, team
from tisim.enums import mjtDisableBit, mjtEnableBit

WORDS = ("qpos", "qvel", "qacc", "qacc_warmstart", "tree_island", "qfrc_constraint")
SCENES = {
    "pile": lambda: scenes.build("pile", n=5),
    "ragdoll": lambda: scenes.build("ragdolls", n=1),
    "joints": lambda: scenes.build("joints"),
    "chain": lambda: scenes.build("chain", n=4),
    "ball": lambda: "<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body pos='0 0 .099'><freejoint/>"
                    "<geom size='.1' condim='6'/></body></worldbody></mujoco>",
}  # fmt: skip


def flip(m, name, bit):
    setattr(m.opt, name, int(getattr(m.opt, name)) ^ int(bit))


def write(array, value):
    array[...] = value


# what a user may do between two steps, or between their halves
EVENTS = (
    lambda m, d, x: write(d.qfrc_applied, x),
    lambda m, d, x: write(d.qvel, d.qvel[...] + x),
    lambda m, d, x: d.qpos.__setitem__(2, d.qpos[2] + x),
    lambda m, d, x: d.qpos.__setitem__(0, np.nan),
    lambda m, d, x: d.qacc_warmstart.__setitem__(0, np.inf),
    lambda m, d, x: m.opt.gravity.__setitem__(0, x),
    lambda m, d, x: setattr(m.opt, "timestep", 0.002 + 0.001 * abs(x)),
    lambda m, d, x: setattr(m.opt, "cone", int(x > 0)),
    lambda m, d, x: flip(m, "disableflags", mjtDisableBit.mjDSBL_CONTACT),
    lambda m, d, x: flip(m, "disableflags", mjtDisableBit.mjDSBL_AUTORESET),
    lambda m, d, x: flip(m, "enableflags", mjtEnableBit.mjENBL_ENERGY),
    lambda m, d, x: flip(m, "enableflags", mjtEnableBit.mjENBL_OVERRIDE),
    lambda m, d, x: m.opt.o_friction.__setitem__(0, abs(x)),
    lambda m, d, x: write(m.geom_friction, abs(x)),
    lambda m, d, x: write(m.dof_damping, abs(x)),
    lambda m, d, x: write(m.dof_frictionloss, abs(x) * (x > 0)),
    lambda m, d, x: setattr(m, "contact_filter", (lambda m, d, a, b, world: (a + b) % 2 == 0) if x > 0 else None),
    lambda m, d, x: tisim.reset(m, d),
    lambda m, d, x: tisim.forward(m, d),
    lambda m, d, x: tisim.geom_distance(m, d, 0, m.ngeom - 1, 1.0),
    lambda m, d, x: d.efc_type,
    lambda m, d, x: d.grow("nconmax", d.count("ncon")),
)


def story(xml, seed, nworld):
    """All states of a Data to which this and that happens; the same for the same seed."""
    rng = np.random.default_rng(seed)
    m = tisim.Model.from_xml_string(xml)
    d, states = tisim.Data(m, nworld=nworld, capacity=dict(nconmax=1, npairmax=1, ndensemax=1)), []
    for _ in range(60):
        for _ in range(rng.integers(3)):
            if nworld == 1 and rng.random() < 0.5:
                EVENTS[rng.integers(len(EVENTS))](m, d, rng.normal())
        if rng.random() < 0.2:
            tisim.step1(m, d)
            write(d.qfrc_applied, rng.normal())
            tisim.step2(m, d)
        else:
            tisim.step(m, d, rng.integers(12))
        words = [np.ravel(d.host(word)) for word in WORDS]
        states.append(np.concatenate([*words, np.ravel(d.time), [d.count("ncon")]]))
    return states


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scene", SCENES)
def test_results_are_those_of_pythons_stages(monkeypatch, scene, seed):
    tisim.init(arch="cpu", precision="f64")
    if native.road() is None:
        pytest.skip(native.why)
    stories = [story(SCENES[scene](), seed, 1 + 2 * (seed == 5))]
    monkeypatch.setattr("tisim.device.program.Program.start", lambda program: None)
    stories.append(story(SCENES[scene](), seed, 1 + 2 * (seed == 5)))
    for step, (repeated, pythons) in enumerate(zip(*stories)):
        assert np.array_equal(repeated, pythons, equal_nan=True), step


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that interrupts")
def test_an_interrupt_leaves_whole_steps():
    """Wherever it lands, the next call goes on from a state that an undisturbed run has, too."""
    tisim.init(arch="cpu", precision="f64")
    if native.road() is None:
        pytest.skip(native.why)
    m = tisim.Model.from_xml_string(scenes.build("pile", n=5))
    calm, d, rng, hits = tisim.Data(m), tisim.Data(m), np.random.default_rng(0), 0

    def interrupt(*_):
        raise KeyboardInterrupt

    tisim.step(m, d, 3)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        while d.time < 4:
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(2e-5, 1e-3))
                tisim.step(m, d, 10000)
            except KeyboardInterrupt:
                hits += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    while calm.time < d.time:
        tisim.step(m, calm)
    assert hits > 3 and calm.time == d.time
    for word in ("qpos", "qvel", "qacc_warmstart"):
        assert np.array_equal(getattr(calm, word), getattr(d, word)), word


@pytest.mark.parametrize("scene", SCENES)
def test_python_does_next_to_nothing(monkeypatch, scene):
    """A step more costs no call of a Python function, as long as the stages do what they did."""
    monkeypatch.setattr(program, "SECONDS", float("inf"))  # how long steps took, and what other tests left behind,
    monkeypatch.setattr(team, "_rest", 0)  # must not change what is counted
    tisim.init(arch="cpu", precision="f64")
    if native.road() is None:
        pytest.skip(native.why)
    m = tisim.Model.from_xml_string(SCENES[scene]())
    m.opt.gravity = np.zeros(3)  # nothing moves far, so nothing is searched for
    d = tisim.Data(m)
    tisim.step(m, d, 3)
    one = calls(lambda: tisim.step(m, d))
    assert one <= 20
    assert calls(lambda: tisim.step(m, d, 10)) <= one + 2
    if scene in ("pile", "chain"):  # the others move so much that pairs are searched for
        turns = 1000 // d.program._steps + 1  # one call of machine code repeats no more steps than that
        assert calls(lambda: tisim.step(m, d, 1000)) <= turns * one


BOUNCING = """
<mujoco><worldbody><geom type="plane" size="5 5 .1" solref="-3000 0"/>
  <body pos="0 0 .12"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom size=".1" solref="-3000 0" condim="1"/></body>
</worldbody></mujoco>"""


def test_contacts_that_come_and_go_leave_nothing_to_python(monkeypatch):
    """A stage that goes another way than before is repeated as soon as it was seen to go both: a ball bounces a hundred
    times, and Python runs no stage but collision, which it does only now and then to choose how to search for pairs."""
    tisim.init(arch="cpu", precision="f64")
    if native.road() is None:
        pytest.skip(native.why)
    m = tisim.Model.from_xml_string(BOUNCING)
    by_python, keep = collections.Counter(), program.Program.keep

    def counted(self, stage):
        by_python[pipeline.STAGES[stage].__name__] += 1
        keep(self, stage)

    def fall():
        d, heights, touches, ages = tisim.Data(m), [], [], []
        d.qvel[0] = 3
        for k in range(2000):
            if k == 300:
                by_python.clear()
            tisim.step(m, d, 3)
            ages.append(d._info["collision"].pairs.age)
            heights.append(d.qpos[1])
            touches.append(d.ncon)
        return heights, touches, np.count_nonzero(np.diff(ages[300:]) < 0)

    monkeypatch.setattr(program.Program, "keep", counted)
    heights, touches, searches = fall()
    assert np.count_nonzero(np.diff(touches)) > 100 and searches > 50
    assert set(by_python) <= {"collide"} and by_python["collide"] < searches / 5, (by_python, searches)
    monkeypatch.setattr(program.Program, "start", lambda program: None)
    assert fall()[:2] == (heights, touches)


ALL = record.WAYS


@pytest.mark.parametrize("ways", [ALL, 2])
def test_any_ways_of_a_stage_are_repeated(monkeypatch, ways):
    """What a stage writes follows from what it asks, through questions within questions and of several numbers, between
    other stages, and in several steps of one call; also where fewer ways are kept than there are."""
    tisim.init(arch="cpu", precision="f64")
    if native.road() is None:
        pytest.skip(native.why)
    monkeypatch.setattr(record, "WAYS", ways)
    m = tisim.Model.from_xml_string(BOUNCING)
    d = tisim.Data(m)
    asked, wrote = (types.SimpleNamespace(host=np.zeros(6, np.int32)) for _ in range(2))
    rng, runs = np.random.default_rng(0), collections.Counter()

    def ask(first, n, limit):
        answer = (asked.host[first : first + n] > limit).any()
        d.program.asked(asked, first, n, limit, answer)
        return answer

    def write(place, value):
        wrote.host[place] = value
        d.program.wrote(wrote, place, 1, value)

    def branches():
        write(0, -1)
        if ask(0, 1, 3):
            write(1, 1 + ask(1, 1, -2))
        elif ask(2, 3, 5):
            write(1, 3)
            write(2, 3)
        write(3, 4 if ask(5, 1, 0) else 5)

    def nothing():
        pass

    stages = [nothing, branches, nothing, lambda: write(4, 7), branches]

    def step(times, repeat):
        at = 0
        while times:
            done = 0
            if repeat:
                at, done = d.program.run(m, d, range(len(stages)), at, times)
            times -= done
            if times and (at > 0 or not done):
                runs[repeat] += 1
                if repeat:
                    d.program.start()
                stages[at]()
                if repeat:
                    d.program.keep(at)
                at += 1
                if at == len(stages):
                    at, times = 0, times - 1

    for _ in range(300):
        asked.host[:] = rng.integers(-4, 9, 6)
        before, times = wrote.host.copy(), rng.integers(1, 4)
        step(times, True)
        repeated, wrote.host[:] = wrote.host.copy(), before
        after = wrote.host
        step(times, False)
        assert np.array_equal(repeated, after)
    few = 2 * 8 + 3 + 4  # eight ways of two stages; where all three numbers were above, one that is not stops the table
    assert (runs[True] <= few) == (ways == ALL), runs
