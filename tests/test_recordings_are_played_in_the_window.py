"""`tisim view out.npz` plays a recording in the window: pause, frame by frame, to any frame, slower, from the start."""

import json
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from shared import display

import tisim
from tisim.viewer import vulkan
from tisim.viewer.controls import Controls
from tisim.viewer.replay import Replay

FRAMES, PERIOD = 50, 0.02
MISSING = display.missing() or vulkan.missing() or (None if shutil.which("xdotool") else "xdotool is not installed")
PROGRAM = """
import json, sys
import numpy as np
import tisim
from tisim.viewer.controls import Controls
from tisim.viewer.replay import Replay
from tisim.viewer.window import Show
tisim.init(arch="cpu")
recording = tisim.Recording(sys.argv[1])
d = recording.data()
c = Controls(recording.model, d, clock=Replay(recording, d))
show = Show(c, 640, 360)
going = True
while going:
    going = show.frame()
    print(json.dumps(dict(frame=c.clock.frame, running=c.clock.running, x=float(d.qpos[0]))), flush=True)
show.close()
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "fall.npz"
    m = tisim.Model.from_scene("wall", n=12)
    d = tisim.Data(m)
    with tisim.Recorder(path, m, d) as recorder:
        for k in range(FRAMES):
            tisim.step(m, d, round(PERIOD / m.opt.timestep))
            recorder.add()
    return path


def opened(recorded):
    recording = tisim.Recording(recorded)
    d = recording.data()
    return recording, d, Replay(recording, d)


def test_it_plays_in_real_time_and_stops_at_the_end(recorded):
    recording, d, clock = opened(recorded)
    assert clock.frame == 0 and clock.running and clock.frames == FRAMES
    assert clock.run(0.1) == pytest.approx(0.1) and clock.frame == 5
    assert np.array_equal(d.qpos, recording[5]["qpos"][0]) and float(d.time) == recording.time[5]
    for _ in range(10):
        clock.run(0.011)
    assert clock.frame == 10, "parts of a frame add up"
    clock.notch = 2
    clock.run(0.1)
    assert clock.frame == 13, "66 percent of real time"
    clock.notch = 0
    clock.run(9)
    assert clock.frame == FRAMES - 1 and not clock.running


def test_keys_pause_step_go_back_and_begin_again(recorded):
    recording, d, clock = opened(recorded)
    c = Controls(recording.model, d, clock=clock)
    c.key("space")
    assert not clock.running and c.advance(1.0) == 0 and clock.frame == 0
    c.key("right"), c.key("right"), c.key("left")
    assert clock.frame == 1
    c.key("left"), c.key("left")
    assert clock.frame == 0 and "no earlier" in c.told
    clock.go(30)
    assert np.array_equal(d.qpos, recording[30]["qpos"][0])
    clock.go(999)
    assert clock.frame == FRAMES - 1
    c.key("space")
    assert clock.running and clock.frame == 0, "behind the last frame it begins again"
    c.key("space"), c.key("right"), c.key("backspace")
    assert clock.frame == 0 and not clock.running
    c.pert.select = 3
    c.press("left", 0.5, 0.5, 1.0, ctrl=True)
    assert not c.pert.active, "what was recorded cannot be pulled"


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_in_a_window(recorded, tmp_path):
    with display.display(tmp_path) as name:
        run = subprocess.Popen([sys.executable, "-c", PROGRAM, str(recorded)], stdout=subprocess.PIPE, text=True,
                               env=os.environ | {"DISPLAY": name}, cwd=tmp_path)  # fmt: skip

        def until(what):
            for line in run.stdout:
                if line.startswith("{") and what(told := json.loads(line)):
                    return told
            raise AssertionError("it ended")

        def press(*words):
            subprocess.run(["xdotool", *words], env=os.environ | {"DISPLAY": name}, timeout=120, check=True)

        try:
            until(lambda told: told["frame"] >= 3)
            press("mousemove", "400", "300", "key", "space")
            held = until(lambda told: not told["running"])["frame"]
            if held == FRAMES - 1:  # a slow machine has played it all
                press("key", "Left")  # which stops it, whenever the other key is heard
                held = until(lambda told: told["frame"] < held)["frame"]
            press("key", "Right")
            assert until(lambda told: told["frame"] != held)["frame"] == held + 1
            press("key", "BackSpace")
            until(lambda told: told["frame"] == 0)
            press("key", "space")
            until(lambda told: told["frame"] == FRAMES - 1 and not told["running"])
            press("key", "q")
            run.stdout.read()
            assert run.wait(120) == 0 and not list(tmp_path.glob("*.ini"))
        finally:
            run.kill()


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_by_the_command_line(recorded, tmp_path):
    with display.display(tmp_path) as name:
        run = subprocess.Popen([sys.executable, "-m", "tisim", "view", str(recorded), "--size", "640x360"],
                               env=os.environ | {"DISPLAY": name}, cwd=tmp_path, stderr=subprocess.PIPE)  # fmt: skip
        try:
            end = time.monotonic() + 150
            while run.poll() is None:
                assert time.monotonic() < end
                subprocess.run(["xdotool", "mousemove", "400", "300", "key", "q", "sleep", "0.5"], timeout=120,
                               env=os.environ | {"DISPLAY": name})  # fmt: skip
            assert run.returncode == 0, run.stderr.read()
        finally:
            run.kill()


def test_what_belongs_to_simulations_is_refused(call, recorded):
    code, _, err = call("view", recorded, "--seconds", "1")
    assert code == 2 and "this is a recording" in err
