"""README.md is true: its commands exist with their options, its Python example runs, its files, scenes and names are
there, what it says is refused is refused, f32 is as close as it says, its benchmarks take the options that it gives, CI
tests by its own line."""

import ast
import copy
import pathlib
import re
import shlex
import subprocess
import sys

import mujoco
import mujoco.rollout
import numpy as np
import pytest
import typer

import tisim
from tisim import scenes
from tisim.cli import app as cli
from tisim.mjcf.format.grammar import GRAMMAR, REFUSED_ATTRIBUTES

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MEASURED = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
COMMANDS = [part.strip() for line in README.splitlines() if line.startswith("    ")
            for part in line.split(" #")[0].split("&&") if part.strip().startswith(".venv/bin/tisim")]  # fmt: skip


def between(start, end):
    return README.split(start)[1].split(end)[0]


READ = between("Refused when the file is read:", "Compiled, but refused")
MADE = between("Compiled, but refused by the first step", "### Sleeping")

# what a step refuses: word in README -> MJCF inside <mujoco>
REFUSED = {
    "tactile": '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody><geom name="g" size="1"/>'
    '</worldbody><sensor><tactile geom="g" mesh="m"/></sensor>',
    "sleep": '<option integrator="RK4"><flag sleep="enable"/></option>',
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


def test_scenes_and_names_exist():
    for name in ("pile", "dominos", "wall", "pyramid", "bowl"):
        assert name in README and name in scenes.names()
    for name in re.findall(r"`tisim\.(\w+)", README):
        assert hasattr(tisim, name), name


EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.S)


def test_first_example_runs(tmp_path, monkeypatch):
    code = EXAMPLES[0]
    code = code.replace("n=100", "n=4").replace("nstep=500", "nstep=5").replace("render(m, d)", "render(m, d, 64, 48)")
    monkeypatch.chdir(tmp_path)
    tisim.init(arch="cpu")
    exec(compile(code, "README.md", "exec"), {})
    assert (tmp_path / "dominos.png").is_file()


@pytest.mark.parametrize("number", range(1, len(EXAMPLES)))
def test_further_example_runs(tmp_path, monkeypatch, number):
    """As a file of its own: Taichi reads the source of a function."""
    (tmp_path / "example.py").write_text(EXAMPLES[number])
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    if "to_file" in EXAMPLES[number]:
        made = [tisim.Model.from_xml_path(tmp_path / "gems.xml"), tisim.Model.load(tmp_path / "gems.npz")]
        assert [m.nbody for m in made] == [21, 21]


TABLE = [line.strip("| ").split("` | `") for line in between("| mujoco | tisim |", "### How to").splitlines()
         if line.startswith("| `")]  # fmt: skip
TABLE = [tuple(cell.strip("`").replace(r"\|", "|") for cell in row) for row in TABLE]
SEEN = ("Renderer", "viewer")  # need a display or OpenGL in MuJoCo
SCENE = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/><body name="box" pos="0 0 .095">
<freejoint/><geom name="ball" size=".1"/></body></worldbody><keyframe><key name="home" qpos="0 0 1 1 0 0 0"/></keyframe>
</mujoco>"""


def outcome(code, names):
    """Runs a cell; returns the value of its last expression, None where that is no number, name or list."""
    *body, last = ast.parse(code).body
    exec("\n".join(map(ast.unparse, body)), names)
    if not isinstance(last, ast.Expr):
        return exec(ast.unparse(last), names)
    value = eval(ast.unparse(last), names)
    plain = isinstance(value, (int, float, str, list, tuple, np.ndarray)) or hasattr(value, "__array__")
    return value if plain and not isinstance(value, bool) else None


def test_what_stands_side_by_side_does_the_same(tmp_path, monkeypatch):
    """Line after line in both engines; values of lines that have one, and all states between the lines, agree."""
    assert len(TABLE) >= 30 and all(len(row) == 2 for row in TABLE)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scene.xml").write_text(SCENE)
    tisim.init(arch="cpu", precision="f64")
    sig = int(tisim.mjtState.mjSTATE_FULLPHYSICS)
    both = dict(text=SCENE, np=np, copy=copy, sig=sig, f=lambda *_: False)
    theirs = dict(both, mujoco=mujoco, fromto=np.zeros(6), geomid=np.zeros(1, np.int32))
    theirs.update(force=np.zeros(6), jacp=np.zeros((3, 6)), jacr=np.zeros((3, 6)), M=np.zeros((6, 6)),
                  A=np.zeros((12, 12)), B=np.zeros((12, 0)))  # fmt: skip
    ours, compared = dict(both, tisim=tisim), 0
    for left, right in TABLE:
        if any(word in left for word in SEEN):
            if "viewer" in left:
                assert "tisim.viewer.launch_passive(m, d)" == right and callable(tisim.viewer.launch_passive)
            else:
                outcome(right, ours)
                assert ours["picture"].shape == (48, 64, 3)
            continue
        if "rollout" in left:
            start = np.zeros((2, ours["state"].size))
            start[:, 1:9] = [0, 0, 0, 1, 1, 0, 0, 0]
            start[:, 8] = [0, 0.5]
            theirs["starts"] = ours["starts"] = start
        a, b = outcome(left, theirs), outcome(right, ours)
        if a is not None and b is not None:
            compared += 1
            assert "ncon" not in left or a[0] > 0
            for x, y in zip(a, b) if isinstance(a, tuple) else [(a, b)]:
                if isinstance(x, str):
                    assert x == y == "box"
                else:
                    np.testing.assert_allclose(np.asarray(y, float), np.asarray(x, float), atol=1e-6, err_msg=left)
        if "FD" in left:  # MuJoCo leaves what it computed last
            mujoco.mj_forward(theirs["m"], theirs["d"]), tisim.forward(ours["m"], ours["d"])
        if "rollout" in left:
            np.testing.assert_allclose(ours["states"], theirs["states"], atol=1e-6)
            ours["d"], theirs["d"] = tisim.Data(ours["m"]), mujoco.MjData(theirs["m"])
        elif "contactfilter" in left:
            mujoco.set_mjcb_contactfilter(None)
        elif "d" in ours and "m = " not in left:
            for name in ("qpos", "qvel", "qacc", "xfrc_applied", "time"):
                np.testing.assert_allclose(
                    getattr(ours["d"], name), getattr(theirs["d"], name), atol=1e-5, err_msg=left
                )
    assert compared >= 8
    for name in ("fromto", "force", "jacp", "jacr", "M", "A"):  # those that MuJoCo fills
        np.testing.assert_allclose(ours[name], theirs[name], atol=1e-4 * np.abs(theirs[name]).max(), err_msg=name)
        assert theirs[name].any()
    assert theirs["geomid"][0] == ours["geomid"] == 1


def test_all_dominos_fall_in_the_time_of_the_first_command():
    m = tisim.Model.from_scene("dominos", n=30)
    d = tisim.Data(m)
    tisim.step(m, d, round(scenes.seconds("dominos", n=30) / m.opt.timestep))
    assert np.all(np.asarray(d.xmat).reshape(-1, 9)[1:, 8] < 0.8)


def test_pictures_are_small_and_one_moves():
    from PIL import Image

    named = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert {ROOT / name for name in named} == set((ROOT / "models" / "pictures").iterdir())
    first = Image.open(ROOT / named[0])
    assert first.n_frames > 40 and README.index(named[0]) < README.index("## Start")
    assert sum((ROOT / name).stat().st_size for name in named) < 1.5e6


def test_every_picture_has_the_command_that_makes_it():
    by_scripts = {"window.webp", "page.webp"} | {f"two-{k}-{t}.webp" for k in ("convex", "lcp") for t in ("0.5", "4")}
    assert "python tests/shared/screenshots.py models" in README and "`scenes/examples/two_physics.py`" in README
    for name in re.findall(r"\(models/pictures/([^)]+)\)", README):
        example = ROOT / "scenes" / "examples" / name.replace(".webp", ".py")
        drawn = example.is_file() and f"`{example.name}`" in README.replace("[", "`").replace("]", "`")
        assert name in by_scripts or drawn or re.search(rf"(-o|--film|look.py) {re.escape(name)}", README), name


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
    tisim.step1(m, d)
    m.opt.integrator = tisim.mjtIntegrator.mjINT_RK4
    with pytest.raises(tisim.UnsupportedError, match="RK4"):
        tisim.step1(m, d)


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


BENCHMARKS = sorted(set(re.findall(r"`python (benchmarks/[^`]+)`", README + MEASURED)))


@pytest.mark.parametrize("command", BENCHMARKS)
def test_the_benchmark_of_a_table_takes_its_options(command):
    """What a benchmark measures is not tested: the machine decides it."""
    script, *options = shlex.split(command)
    out = subprocess.run([sys.executable, ROOT / script, "--help"], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr[-2000:]
    known = re.findall(r"--[\w-]+", out.stdout)
    assert all(word in known for word in options if word.startswith("-"))


def test_each_table_says_how_it_is_measured():
    programs = [p for p in (ROOT / "benchmarks").glob("*.py") if "__main__" in p.read_text()]
    assert {command.split()[0] for command in BENCHMARKS} == {f"benchmarks/{p.name}" for p in programs}
    for page in (README, MEASURED):
        assert "python benchmarks/" in page.split("ratio |")[0]


def test_versions_are_those_of_the_package():
    project = (ROOT / "pyproject.toml").read_text()
    assert re.search(r"pinned to (\S+),", README).group(1) == re.search(r'taichi==([^"]+)"', project).group(1)
    assert "MuJoCo 3.4.0 is the reference" in README and "mujoco==3.4.0" in project
    assert "Python 3.9 to 3.13" in README and 'requires-python = ">=3.9,<3.14"' in project
    assert f"## {tisim.__version__}" in (ROOT / "tisim" / "CHANGELOG.md").read_text()


def test_ci_runs_readmes_lines():
    line = next(line for line in README.splitlines() if "pytest" in line)
    script = (ROOT / ".ci" / "run").read_text()
    command = re.search(r"&& (\.venv/bin/python -m pytest) -n 2 --dist loadfile$", line.strip()).group(1)
    assert "grep -m1 'pytest' README.md" in script and f'tests="{command}"' in script
    assert 'suite=$tests${line#*"$tests"}' in script and "\n$suite || exit" in script
    assert subprocess.run(["bash", "-n", ROOT / ".ci" / "run"]).returncode == 0
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
