"""README.md is true: its commands exist with their options, its Python example runs, its files, scenes and names are
there, what it says is refused is refused, f32 is as close as it says, its benchmarks take the options that it gives, CI
tests by its own line."""

import pathlib
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
import typer

import tisim
from tisim import scenes
from tisim.cli import app as cli
from tisim.mjcf.format.grammar import GRAMMAR, REFUSED_ATTRIBUTES
from tisim.viewer import vulkan

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [part.strip() for line in README.splitlines() if line.startswith("    ")
            for part in line.split(" #")[0].split("&&") if part.strip().startswith(".venv/bin/tisim")]  # fmt: skip


def between(start, end):
    return README.split(start)[1].split(end)[0]


READ = between("Refused when the file is read:", "Compiled, but refused")
MADE = between("Compiled, but refused by the first step", "### Your own collider")

# what a step refuses: word in README -> MJCF inside <mujoco>
ARM = '<worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>'
REFUSED = {
    "equality": ARM + '<equality><joint joint1="j"/></equality>',
    "tendon": ARM + '<tendon><fixed><joint joint="j" coef="1"/></fixed></tendon>',
    "actuator": ARM + '<actuator><motor joint="j"/></actuator>',
    "sensor": ARM + '<sensor><jointpos joint="j"/></sensor>',
    **{word: f'<option integrator="{word}"/>' for word in ("implicit", "implicitfast", "RK4")},
    **{word: f'<option solver="{word}"/>' for word in ("CG", "PGS")},
    "noslip_iterations": '<option noslip_iterations="1"/>',
    **{word: f'<option {word}="1"/>' for word in ("density", "viscosity")},
    **{word: f'<option><flag {word}="enable"/></option>' for word in ("fwdinv", "invdiscrete")},
}


def test_readme_shows_commands():
    assert len(COMMANDS) >= 7


@pytest.mark.parametrize("command", COMMANDS)
def test_command_exists_with_its_options(command):
    words = shlex.split(command)[1:]
    group = typer.main.get_command(cli.app)
    sub = group.commands[words[0]]
    known = {name for p in sub.params for name in p.opts}
    for word in words[1:]:
        if word.startswith("-"):
            assert word in known, word
    if len(words) > 1 and not words[1].endswith((".xml", ".urdf")):
        assert words[1] in scenes.names()


def test_scenes_files_and_names_exist():
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", README):
        assert (ROOT / target).exists(), target
    for name in ("pile", "dominos", "wall", "pyramid", "bowl"):
        assert name in README and name in scenes.names()
    for name in re.findall(r"`tisim\.(\w+)", README):
        assert hasattr(tisim, name), name


EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.S)


def test_first_example_runs(tmp_path, monkeypatch):
    code = EXAMPLES[0]
    if vulkan.missing():
        code = code.split("from tisim.viewer")[0]
    code = code.replace("n=100", "n=4").replace("nstep=500", "nstep=5").replace("render(m, d)", "render(m, d, 64, 48)")
    monkeypatch.chdir(tmp_path)
    tisim.init(arch="cpu")
    exec(compile(code, "README.md", "exec"), {})
    assert vulkan.missing() or (tmp_path / "dominos.png").is_file()


@pytest.mark.parametrize("number", range(1, len(EXAMPLES)))
def test_further_example_runs(tmp_path, monkeypatch, number):
    """As a file of its own: Taichi reads the source of a function."""
    (tmp_path / "example.py").write_text(EXAMPLES[number])
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    if "to_file" in EXAMPLES[number]:
        made = [tisim.Model.from_xml_path(tmp_path / "gems.xml"), tisim.Model.load(tmp_path / "gems.npz")]
        assert [m.nbody for m in made] == [21, 21]


def test_every_refused_element_is_named():
    """And what is named as refused is an element, or a type of geom, that is refused."""
    refused, seen, todo = set(), set(), [GRAMMAR]
    while todo:
        element = todo.pop()
        if id(element) in seen:  # default and body hold themselves
            continue
        seen.add(id(element))
        for name, child in element.children.items():
            if child.refused:
                refused.add(name)
            else:
                todo.append(child)
    assert not REFUSED_ATTRIBUTES
    assert set(re.findall(r"`(\w+)`", READ)) == refused | {"sdf"}
    with pytest.raises(tisim.UnsupportedError, match="sdf"):
        tisim.Model.from_xml_string('<mujoco><worldbody><geom type="sdf" size="1"/></worldbody></mujoco>')


@pytest.mark.parametrize("word", REFUSED)
def test_what_a_step_refuses_is_named(word):
    assert f"`{word}`" in MADE
    m = tisim.Model.from_xml_string(f"<mujoco>{REFUSED[word]}</mujoco>")
    d = tisim.Data(m)
    for call in (tisim.forward, tisim.step):
        with pytest.raises(tisim.UnsupportedError, match=f"(?i){word}"):
            call(m, d)


def test_options_are_checked_before_every_step():
    m = tisim.Model.from_scene("pendulum")
    d = tisim.Data(m)
    m.opt.integrator = tisim.mjtIntegrator.mjINT_RK4
    with pytest.raises(tisim.UnsupportedError, match="RK4"):
        tisim.step(m, d)


def test_nothing_else_is_said_to_be_refused():
    assert set(re.findall(r"`(\w+)`", MADE)) == set(REFUSED)


def test_f32_is_as_close_to_f64_as_readme_says(tmp_path):
    bound = float(re.search(r"in f64 to (\S+) of the largest", README).group(1))
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("pile", n=30)
    d = tisim.Data(m)
    tisim.step(m, d, 300)
    state = tisim.get_state(m, d)
    tisim.forward(m, d)
    np.savez(tmp_path / "f64.npz", state=state, qacc=np.asarray(d.qacc))
    program = (
        "import sys, numpy as np, tisim\n"
        "tisim.init(arch='cpu', precision='f32')\n"
        "m = tisim.Model.from_scene('pile', n=30); d = tisim.Data(m); f = np.load(sys.argv[1])\n"
        "tisim.set_state(m, d, f['state']); tisim.forward(m, d)\n"
        "print(np.abs(np.asarray(d.qacc) - f['qacc']).max() / np.abs(f['qacc']).max(), d.qacc.dtype)"
    )
    out = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "f64.npz")], capture_output=True, text=True, timeout=300
    )
    assert out.returncode == 0, out.stderr[-2000:]
    error, dtype = out.stdout.split()
    assert dtype == "float32" and 0 < float(error) < bound


BENCHMARKS = re.findall(r"`python (benchmarks/[^`]+)`", README)


@pytest.mark.parametrize("command", BENCHMARKS)
def test_the_benchmark_of_a_table_takes_its_options(command):
    """What a benchmark measures is not tested: the machine decides it."""
    script, *options = shlex.split(command)
    out = subprocess.run([sys.executable, ROOT / script, "--help"], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr[-2000:]
    known = re.findall(r"--[\w-]+", out.stdout)
    assert all(word in known for word in options if word.startswith("-"))


def test_readme_says_how_its_tables_are_measured():
    assert len(BENCHMARKS) >= 2


def test_versions_are_those_of_the_package():
    project = (ROOT / "pyproject.toml").read_text()
    assert re.search(r"pinned to (\S+),", README).group(1) == re.search(r'taichi==([^"]+)"', project).group(1)
    assert "MuJoCo 3.4.0 is the reference" in README and "mujoco==3.4.0" in project
    assert "Python 3.9 to 3.13" in README and 'requires-python = ">=3.9,<3.14"' in project
    assert f"## {tisim.__version__}" in (ROOT / "tisim" / "CHANGELOG.md").read_text()


def test_ci_runs_readmes_lines():
    line = next(line for line in README.splitlines() if "pytest" in line)
    script = (ROOT / ".ci" / "run").read_text()
    assert "grep -m1 'pytest' README.md" in script and line.strip().endswith(".venv/bin/python -m pytest")
    assert subprocess.run(["bash", "-n", ROOT / ".ci" / "run"]).returncode == 0
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
