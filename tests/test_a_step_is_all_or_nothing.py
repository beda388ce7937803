"""Whatever exception ends a step, wherever it comes: the next one goes on to the bits of an undisturbed run."""

import sys

import numpy as np
import pytest

import tisim
from tisim import scenes
from tisim.data.storage import Storage
from tisim.device import launch, native, program
from tisim.stages import collision

# short lists, so that they grow; bodies that fall far, so that pairs are searched for again
SHORT = dict(nconmax=1, npairmax=1, nslotmax=1, ndensemax=1)
STEPS = 12
SCENES = {
    "pile": lambda: scenes.build("pile", n=6),
    "joints": lambda: scenes.build("joints"),
}  # fmt: skip


def made(scene, filtered=False):
    m = tisim.Model.from_xml_string(SCENES[scene]())
    if filtered:
        m.contact_filter = lambda m, d, a, b, world: (a + b) % 3 == 0
    d = tisim.Data(m, capacity=SHORT)
    d.qvel[...] = np.random.default_rng(0).normal(size=m.nv) * 3
    return m, d


def states(scene, filtered=False):
    """State after each step of an undisturbed run, and the steps that search for pairs."""
    m, d = made(scene, filtered)
    out, searched = [tisim.get_state(m, d)], []
    for step in range(STEPS + 3):
        before = d._info["collision"].pairs.age if step else 0
        tisim.step(m, d)
        out.append(tisim.get_state(m, d))
        searched += [step] if d._info["collision"].pairs.age <= before else []
    return out, searched


def goes_on(m, d, calm):
    """The state is one of the undisturbed run's, and so are those that follow."""
    at = round(d.time / m.opt.timestep)
    for state in calm[at : at + 4]:
        now = tisim.get_state(m, d)
        if not np.array_equal(state, now):
            return False
        tisim.step(m, d)
    return True


@pytest.fixture(params=["native", "plain"])
def road(request, monkeypatch):
    """Both ways of launching."""
    monkeypatch.setenv("TISIM_NATIVE", "1" if request.param == "native" else "0")
    tisim.init(arch="cpu", precision="f32")  # starts Taichi again, whatever ran
    tisim.init(arch="cpu", precision="f64")
    if request.param == "native" and native.road() is None:
        pytest.skip(native.why)
    yield request.param
    monkeypatch.undo()
    tisim.init(arch="cpu", precision="f32")
    tisim.init(arch="cpu", precision="f64")


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("road, scene", [
    ("native", "pile"), ("native", "joints"), ("plain", "pile"),
    pytest.param("plain", "joints", marks=pytest.mark.slow),  # Taichi compiles for minutes
], indirect=["road"])  # fmt: skip
def test_at_every_launch(monkeypatch, road, scene, error):
    """Before and after each launch of the first step, of one with a new search, and of one without."""
    run, left = launch.run, [None]

    def broken(*args, **kwargs):
        if left[0] is not None:
            left[0] -= 1
            if left[0] == 0:
                raise error
        run(*args, **kwargs)
        if left[0] is not None:
            left[0] -= 1
            if left[0] == 0:
                raise error

    monkeypatch.setattr(launch, "run", broken)
    calm, searched = states(scene)
    steps = {0, *[s for s in searched if s > 1][:1], 5}
    for step in steps:
        for place in range(1, 200):
            m, d = made(scene)
            tisim.step(m, d, step)
            program.outdate()  # so that Python launches all of it
            left[0] = place
            try:
                tisim.step(m, d)
                finished = True
            except error:
                finished = False
            left[0] = None
            assert goes_on(m, d, calm), (step, place)
            if finished:
                break
        assert place > 6


def test_as_lists_are_lengthened(monkeypatch):
    """Behind each freeing of arrays that a longer list is to take the place of."""
    tisim.init(arch="cpu", precision="f64")
    calm, _ = states("pile")
    resize, drop = Storage._resize, Storage.drop
    for place in range(1, 30):
        m, d = made("pile")
        left = [place]

        def stopped(self, name, length):
            def dropped(self, *names):
                drop(self, *names)
                left[0] -= 1
                if left[0] == 0:
                    raise KeyboardInterrupt

            with monkeypatch.context() as patch:
                patch.setattr(Storage, "drop", dropped)
                resize(self, name, length)

        with monkeypatch.context() as patch:
            patch.setattr(Storage, "_resize", stopped)
            try:
                tisim.step(m, d, STEPS)
            except KeyboardInterrupt:
                pass
        assert goes_on(m, d, calm), place
        if left[0] > 0:
            break
    assert place > 3


@pytest.mark.parametrize("first", [0, 1, 6])
@pytest.mark.parametrize("scene", SCENES)
def test_at_lines_of_python(scene, first):
    """Before lines chosen at random of all that a step runs."""
    tisim.init(arch="cpu", precision="f64")
    calm, _ = states(scene)
    rng = np.random.default_rng(first)
    total = lines(scene, first, None)[0]
    for place in sorted(rng.choice(np.arange(1, total), min(total - 1, 25), replace=False)):
        _, m, d = lines(scene, first, place)
        assert goes_on(m, d, calm), (first, place)


def lines(scene, first, stop):
    """(lines that a step runs, m, d); at line number `stop` of these it is interrupted."""
    m, d = made(scene)
    tisim.step(m, d, first)
    program.outdate()
    count, folder = [0], tisim.__path__[0]

    def trace(frame, event, argument):
        if not frame.f_code.co_filename.startswith(folder):
            return None
        if event == "line":
            count[0] += 1
            if count[0] == stop:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        tisim.step(m, d)
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return count[0], m, d


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, tisim.CapacityError])
def test_in_a_contact_filter(error):
    tisim.init(arch="cpu", precision="f64")
    calm, _ = states("pile", filtered=True)
    for place in range(1, 9):
        m, d = made("pile", filtered=True)
        keep, left = m.contact_filter, [place]

        def broken(*args):
            left[0] -= 1
            if not left[0]:
                raise error("no")
            return keep(*args)

        m.contact_filter = broken
        with pytest.raises(error):
            tisim.step(m, d, STEPS)
        m.contact_filter = keep
        assert goes_on(m, d, calm), place


def test_scenes_do_what_is_asked_of_them():
    """They search again, lists grow, and collision is at work."""
    tisim.init(arch="cpu", precision="f64")
    for scene in SCENES:
        _, searched = states(scene)
        assert searched, scene
    m, d = made("pile")
    tisim.step(m, d, STEPS)
    assert d.capacity("npairmax") > 1 and collision.of(m, d).pairs.of is not None
