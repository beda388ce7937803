"""Whoever installs a wheel that was built as README says compiles nothing: no kernel of any scene is missing in it."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from tisim import scenes
from tisim.device import images, machine_code

ROOT = pathlib.Path(__file__).parent.parent
RUN = """
import json, sys
sys.modules["llvmlite"] = None
import tisim
from tisim.data.digest import state_hash
from tisim.device import images, native

done = {}
for name, params in json.loads(sys.argv[1]):
    for precision in ("f64", "f32") if name == "pile" else ("f64",):
        tisim.init(arch="cpu", precision=precision)
        m = tisim.Model.from_scene(name, **params)
        d = tisim.Data(m)
        tisim.step(m, d, 3)
        road = native.road()
        assert road is not None, native.why
        done[f"{name} {precision}"] = [len(road.codes), road.made, road.plain, state_hash(d)]
print(json.dumps([tisim.__file__, images.state(), done]))
"""


def call(*command, cwd="/", **env):
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=dict(os.environ, **env), timeout=1500)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(images.target() is None or not machine_code.available(), reason="no images can be made here")
def test_no_kernel_is_made_where_a_wheel_is_installed(tmp_path):
    clone, installed = str(tmp_path / "clone"), str(tmp_path / "installed")
    call("git", "clone", "-q", str(ROOT), clone)
    call(sys.executable, "-c", "from tisim.cli import main; main(['kernels', '--build'])", PYTHONPATH=clone, cwd=clone)
    pip = sys.executable, "-m", "pip"
    call(*pip, "wheel", "-q", "--no-deps", "-w", str(tmp_path), clone)
    (wheel,) = tmp_path.glob("*.whl")
    call(*pip, "install", "-q", "--no-deps", "--target", installed, str(wheel))
    small = [(name, dict(n=5) if "n" in scenes.params(name) else {}) for name in scenes.names()]
    args = sys.executable, "-c", RUN, json.dumps(small)
    cache = str(tmp_path / "cache")
    file, (shipped, own, _), done = json.loads(call(*args, PYTHONPATH=installed, TISIM_CACHE=cache, HOME=str(tmp_path)))
    assert file.startswith(installed) and shipped > 100 and own == 0
    assert all(made == 0 and not plain and codes for codes, made, plain, _ in done.values()), done
    _, _, plain = json.loads(call(
        *args[:2], RUN.replace("assert road is not None, native.why", "from types import SimpleNamespace\n"
        "        road = SimpleNamespace(codes=[], made=0, plain={})"), args[3],
        PYTHONPATH=installed, TISIM_NATIVE="0",
    ))  # fmt: skip
    assert {k: v[3] for k, v in done.items()} == {k: v[3] for k, v in plain.items()}
