"""On a machine without a Vulkan driver, or without a display, `render`, `film` and `Renderer` work; `view` says in one
line what to install, or that there is no display, with exit code 2."""

import os
import subprocess
import sys

import pytest
from shared import display

NOWHERE = dict(VK_DRIVER_FILES="/nowhere", VK_ICD_FILENAMES="/nowhere", DISPLAY="", WAYLAND_DISPLAY="")
RENDERER = """
import tisim
m = tisim.Model.from_scene("wall", n=12)
d = tisim.Data(m)
tisim.forward(m, d)
with tisim.Renderer(m) as r:
    r.update_scene(d)
    print(r.render().std() > 10)"""


def run(*words, folder, **env):
    env = {k: v for k, v in (os.environ | env).items() if v}
    return subprocess.run([sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=200)


@pytest.mark.parametrize("words, file", [
    (("render", "wall", "--n", "12", "--size", "160x90", "-o", "a.png"), "a.png"),
    (("film", "wall", "--n", "12", "--size", "160x90", "--seconds", "0.1", "-o", "a.webp"), "a.webp"),
])  # fmt: skip
def test_pictures_need_no_vulkan(tmp_path, words, file):
    done = run("-m", "tisim", *words, folder=tmp_path, **NOWHERE)
    assert done.returncode == 0, done.stderr
    assert [f.name for f in tmp_path.iterdir()] == [file] and (tmp_path / file).stat().st_size > 500


def test_renderer_needs_no_vulkan(tmp_path):
    done = run("-c", RENDERER, folder=tmp_path, **NOWHERE)
    assert done.returncode == 0 and done.stdout.split() == ["True"], done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Vulkan is asked for by these names on Linux")
@pytest.mark.skipif(bool(display.missing()), reason=str(display.missing()))
def test_view_says_what_to_install(tmp_path):
    (tmp_path / "here").mkdir(), (tmp_path / "frames").mkdir()
    view = "-m", "tisim", "view", "wall", "--n", "12"
    with display.display(tmp_path / "frames") as name:
        done = run(*view, folder=tmp_path / "here", **NOWHERE | {"DISPLAY": name})
    assert done.returncode == 2 and not done.stdout and len(done.stderr.splitlines()) == 1, done.stderr
    assert "mesa-vulkan-drivers" in done.stderr and list((tmp_path / "here").iterdir()) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="displays are asked for by these names on Linux")
def test_view_says_that_there_is_no_display(tmp_path):
    from tisim.viewer import vulkan

    if vulkan.missing():
        pytest.skip(vulkan.missing())
    done = run("-m", "tisim", "view", "wall", "--n", "12", folder=tmp_path, DISPLAY="", WAYLAND_DISPLAY="")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "DISPLAY is not set" in done.stderr
