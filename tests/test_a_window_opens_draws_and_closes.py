"""`tisim view` opens a window, draws a scene that moves, ends with 0 when it is closed and leaves no file behind; where
there is no display, or no Vulkan, one line says what to do, with exit code 2. Skips where Xvfb is not installed."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from shared import display

from tisim.viewer import vulkan

VIEW = [sys.executable, "-m", "tisim", "view", "wall", "--n", "12", "--size", "640x240", "--arch", "cpu"]
PATIENCE = 120.0  # for the first picture, kernels may have to be made [s]


def wait_for(what, process):
    """Looks again and again until `what()` is true; fails where the process ends before or time runs out."""
    until = time.monotonic() + PATIENCE
    while not what():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "nothing was seen"
        time.sleep(0.2)


@pytest.mark.skipif(bool(display.missing() or vulkan.missing()), reason=str(display.missing() or vulkan.missing()))
def test_a_window_opens_draws_and_closes(tmp_path):
    here, frames = tmp_path / "here", tmp_path / "frames"
    here.mkdir(), frames.mkdir()
    with display.display(frames) as name:
        process = subprocess.Popen(
            VIEW,
            cwd=here,
            env=os.environ | {"DISPLAY": name},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:

            def scene():
                """The right half of the window, beside the words, which stands at (100, 100)."""
                return display.pixels(frames)[100:340, 430:740].astype(int)

            wait_for(lambda: len(np.unique(scene().reshape(-1, 3), axis=0)) > 50, process)
            first = scene()
            wait_for(lambda: (np.abs(scene() - first) > 30).any(axis=2).sum() > 50, process)
            assert display.close_windows(name)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 0 and not err, err
    assert "Traceback" not in out and list(here.iterdir()) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="displays are asked for by these names on Linux")
@pytest.mark.parametrize("what, words", [
    ("display", "DISPLAY is not set"), ("server", "DISPLAY is :9876"), ("Vulkan", "mesa-vulkan-drivers"),
])  # fmt: skip
def test_what_is_missing_is_one_line(tmp_path, what, words):
    if what != "Vulkan" and vulkan.missing():
        pytest.skip(vulkan.missing())
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    env |= {"DISPLAY": ":9876"} if what == "server" else {}
    program = "from tisim.viewer import vulkan\nfrom tisim.cli import app\n"
    program += "vulkan._devices = 'no Vulkan driver is installed'\n" if what == "Vulkan" else ""
    program += f"app.main({VIEW[3:]!r})"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 2 and words in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not done.stdout and list(tmp_path.iterdir()) == []
