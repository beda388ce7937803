"""Every command works or prints one line saying what to do, with exit code 2; --debug shows the traceback; Ctrl-C
finishes the step, saves what was reached, says how to go on and exits with 130; Taichi's warnings stay unseen."""

import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

import numpy as np
import pytest
from shared.disk import full_disk

import tisim
from tisim import scenes
from tisim.cli import app as cli
from tisim.cli import info, simulate
from tisim.viewer import vulkan


def broken_file(folder):
    path = folder / "broken.xml"
    path.write_text('<mujoco>\n  <worldbody>\n    <geom type="cube" size="1"/>\n  </worldbody>\n</mujoco>\n')
    return path


# commands that step a scene; the first three draw pictures
HANDLER = signal.getsignal(signal.SIGINT)  # that of who runs the tests: a background job may have none
STEPS = [["run", "pendulum"], ["render", "pendulum", "-o", "a.png"], ["film", "pendulum", "-o", "a.webp"],
         ["export", "pendulum", "-o", "a.glb"], ["bench", "pendulum"], ["settle", "pendulum"],
         ["view", "pendulum"]]  # fmt: skip
MISTAKES = [
    (["run", "domino"], "did you mean dominos"),
    (["run", "nothing.xml"], "no file nothing.xml"),
    (["bench", "nothing.xm"], "no file nothing.xm"),
    (["info", "no/where"], "no file no/where: there is no folder no"),
    (["info", "broken"], "no scene is named 'broken'; there is a file broken.xml"),
    (["info", "brokn.xml"], "no file brokn.xml (did you mean 'broken.xml'?)"),
    (["run", "pendulum", "--from", "folder.xml"], "--from folder.xml: is a folder"),
    (["plot", "folder.xml"], "folder.xml: is a folder"),
    (["info", "folder.xml"], "folder.xml is a folder; give a file"),
    (["run", "broken.xml"], "broken.xml:3"),
    (["run", "dominos", "--n", "-3"], "at least 1"),
    (["run", "dominos", "--n", "many"], "--n"),
    (["run", "dominos", "-p", "colour=1"], "it takes n, cone, sleep"),
    (["run", "dominos", "-p", "sleep"], "KEY=VALUE"),
    (["run", "dominos", "-p", "sleep=maybe"], "False"),
    (["run", "pendulum", "--n", "3"], "no size --n"),
    (["run", "broken.xml", "--n", "3"], "belong to scenes"),
    (["run", "pendulum", "--seconds", "1", "--steps", "2"], "exclude each other"),
    (["run", "pendulum", "--steps", "0"], "positive"),
    (["run", "pendulum", "--seconds", "nan"], "--seconds nan: expected a number"),
    (["run", "pendulum", "--seconds", "1e999"], "--seconds inf: expected a number that is finite"),
    (["sweep", "broken.xml"], "a sweep is a Python file with model, "),
    (["info", ""], "found an empty name"),
    (["run", "pendulum", "--threads", "100000"], "threads=100000: expected a positive number"),
    (["run", "pendulum", "--time", "1", "--seconds", "1"], "exclude each other"),
    (["run", "pendulum", "--film", "film.avi"], ".mp4"),
    (["bench", "pendulum", "--settle", "1", "--time", "1"], "excludes"),
    (["render", "pendulum", "-o", "a.png", "--time", "-1"], "not be negative"),
    (["run", "pendulum", "--arch", "cpu", "--camera", "top"], "no camera 'top'"),
    (["run", "pendulum", "--arch", "cpu", "--camera", "1,2,-3"], "distance must be positive"),
    (["run", "pendulum", "--arch", "cpu", "--world", "1"], "--world 1"),
    (["run", "pendulum", "--arch", "cpu", "--color", "mood"], "expected geom, island, asleep, group, speed, force"),
    (["compile", "pendulum", "out.txt"], ".npz"),
    (["compile", "broken.xml", "out.npz"], "broken.xml:3"),
    (["compile", "pendulum", "no/folder/out.npz"], "cannot write"),
    (["run", "pendulum", "--arch", "abacus"], "--arch abacus: expected auto, cpu, cuda, vulkan, metal"),
    (["run", "pendulum", "--arch", "cpu", "--precision", "f16"], "--precision f16: expected f64, f32"),
    (["run", "pendulum", "--nworld", "0"], "positive"),
    (["run", "pendulum", "--steps", "1", "--arch", "cpu", "--no-picture", "--out", "broken.xml/x"], "broken.xml/x"),
    (["run"], "Missing argument 'SCENE_OR_FILE'; see `tisim run --help`"),
    (["run", "pendulum", "-n", "30"], "No such option: -n (did you mean --n?); see `tisim run --help`"),
    (["run", "pendulum", "-seconds=2"], "No such option: -s (did you mean --seconds?)"),
    (["run", "pendulum", "n=30"], "Got unexpected extra argument(s) (n=30) (did you mean --n?)"),
    (["run", "pendulum", "\N{EM DASH}n", "30"], "(did you mean --n?)"),
    (["run", "pendulum", "-f"], "No such option: -f; see `tisim run --help`"),
    (["run", "pendulum", "--seconds"], "Option '--seconds' requires an argument; see `tisim run --help`"),
    (["run", "pendulum", "--fast"], "--fast"),
    (["fly"], "No such command 'fly'"),
    (["bench", "pendulum", "--repeats", "0"], "--repeats"),
    (["render", "pendulum", "-o", "a.bmp"], ".png"),
    (["render", "pendulum", "-o", "a.gif"], "expected a name ending in .png, .webp, .jpg; films are by `tisim film`"),
    (["render", "pendulum", "-o", "a.png", "--size", "big"], "1280x720"),
    (["render", "pendulum", "-o", "a.png", "--color", "mood"], "expected geom, island, asleep, group, speed, force"),
    (["info", "."], "folder"),
    (["run", "pendulum", "--size", "9x99999"], "--size 9x99999: each side must be at most 16384"),
    (["run", "pendulum", "--record", "a.txt"], "--record a.txt: expected a name ending in .npz"),
    *((["run", "pendulum", f"--{of}-{what}"], f"--{of}-{what} belongs to --{of}")
      for of, what in (("record", "forces"), ("record", "solver"), ("log", "state"))),
    *((["run", "pendulum", option, "10"], f"{option} belongs to {of}")
      for option, of in (("--fps", "--film"), ("--record-fps", "--record"), ("--log-fps", "--log"))),
    (["render", "pendulum", "-o", "a.png", "--fps", "10"], "--fps belongs to a film"),
    *(([*words, "--dynamics", "soft"], "--dynamics soft: expected convex, lcp") for words in STEPS),
    *(([*words, "--quality", "poor"], "--quality poor: expected model, plain, sun, sky") for words in STEPS[:3]),
    (["render", "pendulum", "-o", "a.png", "--lamps", "40"], "a whole number from 0 to 32"),
    (["film", "pendulum", "-o", "a.webp", "--lamps", "3", "--quality", "sun"], "ask for quality='sky'"),
    (["bench", "pendulum", "--compare", "bullet"], "--compare bullet: expected mujoco"),
    (["bench", "pendulum", "--compare", "mujoco", "--dynamics", "lcp"], "leave --dynamics lcp out"),
    (["bench", "--device", "--dynamics", "lcp"], "--device excludes --dynamics"),
    (["sweep", "a.py", "--errors", "hide"], "--errors hide: expected raise, keep"),
    (["settle", "pendulum", "--timeout", "1", "--time", "1"], "exclude each other"),
    (["settle", "pendulum", "--time", "nan"], "--time nan: expected a number"),
    (["settle", "pendulum", "--below", "nan"], "--below nan: expected a number"),
    (["settle", "pendulum", "--tolerance", "-1"], "--tolerance -1.0: must not be negative"),
    (["settle", "pendulum", "--timeout", "inf"], "--timeout inf: expected a number that is finite"),
    (["settle", "pendulum", "--timeout", "1e300"], "--timeout 1e+300: more than 1,000,000,000,000,000 steps do not"),
    (["settle", "pendulum", "--box", "1,1,1,0,0,0"], "--box 1,1,1,0,0,0: expected two corners"),
    (["settle", "pendulum", "--box", "0,0,0,1,1,inf"], "of finite numbers"),
    *((["run", "pendulum", option, "1" + 40 * "0"], f"{option} 1") for option in ("--seconds", "--time", "--steps")),
    (["run", "pendulum", "--time", "1e300", "--resume"], "--time 1e+300: more than"),
    (["bench", "pendulum", "--repeats", "1" + 40 * "0"], "steps do not end"),
]  # fmt: skip


@pytest.mark.parametrize("argv, words", MISTAKES, ids=lambda v: " ".join(v) if isinstance(v, list) else None)
def test_a_mistake_is_one_line(call, tmp_path, argv, words):
    broken_file(tmp_path)
    (tmp_path / "folder.xml").mkdir()
    code, out, err = call(*argv)
    assert code == 2
    lines = err.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("tisim: ") and words in lines[0], err
    assert "Traceback" not in out + err


def test_a_scene_is_meant_where_a_folder_has_its_name(call, tmp_path):
    (tmp_path / "pendulum").mkdir()
    assert call("info", "pendulum")[0] == 0


def test_debug_shows_the_traceback(tmp_path):
    broken_file(tmp_path)
    with pytest.raises(tisim.MjcfError):
        cli.main(["info", str(tmp_path / "broken.xml"), "--debug"])


def test_as_a_module(tmp_path):
    done = subprocess.run([sys.executable, "-m", "tisim", "--version"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == f"tisim {tisim.__version__}\n"


def test_without_arguments_help_is_all_that_is_printed(tmp_path):
    done = subprocess.run([sys.executable, "-m", "tisim"], capture_output=True, text=True, cwd=tmp_path)
    assert "Usage: tisim" in done.stdout and done.stderr == ""


@pytest.mark.parametrize("words", [["info", "pendulum"], ["info", "pendulum", "--json"], ["scenes"], ["--help"],
                                   ["completion", "bash"]], ids=" ".join)  # fmt: skip
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_takes_no_more_is_told_by_name(words, unbuffered):
    """As on a full disk, be it found while something is printed or behind it."""
    env = dict(os.environ, PYTHONUNBUFFERED=unbuffered)
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "tisim", *words], stdout=full, stderr=subprocess.PIPE, text=True,
                              env=env)  # fmt: skip
    assert done.returncode == 2 and done.stderr == "tisim: standard output: No space left on device\n"


def test_scenes_lists_every_scene(call):
    code, out, _ = call("scenes")
    assert code == 0 and all(name in out for name in scenes.names()) and "shape=mixed" in out


def test_doctor_tells_what_is_there(call):
    code, out, _ = call("doctor")
    assert code == 0
    for words in ("taichi 1.7.4", "cpu", "kernel cache", "Vulkan", "TISIM_DEBUG"):
        assert words in out


def test_doctor_tells_of_a_cache_that_cannot_be_looked_at(call, monkeypatch):
    """As where one of its folders may not be searched: Python's is_dir raises then."""
    monkeypatch.setenv("TISIM_CACHE", "/tmp/" + 300 * "n")
    code, out, err = call("doctor")
    assert code == 0 and "0.0 MiB" in out, err


def test_names_with_brackets_are_told_whole(call, monkeypatch):
    code, out, err = call("render", "pendulum", "-o", "a[red].png", "--size", "32x24", "--arch", "cpu")
    assert code == 0 and "a[red].png" in out, err
    monkeypatch.setattr(info, "_browser", lambda: "pip install 'tisim[web]'")
    assert "tisim[web]" in call("doctor")[1]


def test_info_counts(call):
    code, out, _ = call("info", "pile", "--n", "30")
    assert code == 0
    for words in ("nbody 31", "30 free", "10 sphere", "newton", "0.005 s", "can be simulated"):
        assert words in out, words


def test_compile_replaces_its_own_source_only_when_told(call, tmp_path):
    text = "<mujoco><include file='part.xml'/></mujoco>"
    part = "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>"
    (tmp_path / "own.xml").write_text(text)
    (tmp_path / "part.xml").write_text(part)
    for out in ("own.xml", str(tmp_path / "own.xml"), "./own.xml"):
        code, _, err = call("compile", "own.xml", out)
        assert code == 2 and "--overwrite" in err and (tmp_path / "own.xml").read_text() == text
    code, _, _ = call("compile", "own.xml", "own.xml", "--overwrite")
    assert code == 0 and "include" not in (tmp_path / "own.xml").read_text()


def test_compile_writes_what_loads_again(call, tmp_path):
    for name in ("model.npz", "model.xml"):
        code, out, _ = call("compile", "dominos", name, "--n", "5")
        assert code == 0 and "6 bodies" in out
        code, out, _ = call("info", name)
        assert code == 0 and "nbody 6" in out
    code, out, _ = call("compile", "model.xml", "again.npz")
    assert code == 0 and (tmp_path / "again.npz").stat().st_size > 1000


def test_run_saves_the_state(call, tmp_path):
    code, out, err = call("run", "pendulum", "--steps", "25", "--arch", "cpu", "--no-picture", "-o", "here")
    assert code == 0, err
    saved = np.load(tmp_path / "here" / "state.npz")
    assert np.isclose(saved["time"], 25 * 0.002) and saved["qpos"].shape == (1,) and saved["scene"] == "pendulum"
    for words in ("real time", "25 steps", "energy", "none", "state hash"):
        assert words in out, words
    # a pendulum keeps its energy
    potential, kinetic, start = (float(v) for v in re.search(
        r"potential (\S+) J, kinetic (\S+) J \(at the start (\S+) J\)", out).groups())  # fmt: skip
    assert abs(potential + kinetic - start) < 0.01


def test_without_vulkan_pictures_are_made_and_the_window_names_the_packages(call, monkeypatch):
    monkeypatch.setattr(vulkan, "_devices", "no Vulkan driver is installed")
    code, out, _ = call("run", "pendulum", "--steps", "1", "--arch", "cpu")
    assert code == 0 and "picture" in out
    code, _, err = call("render", "pendulum", "-o", "a.png", "--size", "32x24")
    assert code == 0, err
    code, _, err = call("view", "pendulum")
    assert code == 2 and "apt-get install -y mesa-vulkan-drivers libvulkan1" in " ".join(err.split())


def test_kernels_are_listed_with_what_they_read(call, tmp_path):
    code, out, _ = call("kernels")
    assert code == 0 and re.search(r"^body_poses +smooth/kinematics.py +\d+ +Frames of bodies", out, re.M), out
    code, flow, _ = call("kernels", "--flow")
    assert code == 0 and "dynamics.fwd_position: Poses" in flow and "xpos xquat" in flow
    code, out, _ = call("kernels", "--write", "flow.txt")
    assert code == 0 and (tmp_path / "flow.txt").read_text() == flow
    code, _, err = call("kernels", "--write", "nowhere/flow.txt")
    assert code == 2 and "nowhere/flow.txt: No such file" in err


def test_render_writes_a_picture(call, tmp_path):
    code, out, err = call("render", "pendulum", "-o", "p.png", "--size", "96x64", "--arch", "cpu", "--camera", "90,-10")
    assert code == 0 and "pendulum at 0.000 s" in out, err
    from PIL import Image

    assert Image.open(tmp_path / "p.png").size == (96, 64)
    for name, kind in (("p.webp", "WEBP"), ("p.jpg", "JPEG")):
        assert call("render", "pendulum", "-o", name, "--size", "96x64", "--arch", "cpu")[0] == 0
        assert Image.open(tmp_path / name).format == kind


def test_bench_measures_a_step(call):
    code, out, err = call("bench", "pendulum", "--settle", "3", "--repeats", "5", "--arch", "cpu")
    assert code == 0, err
    assert "ms median" in out and "5 steps after 3" in out


@pytest.mark.parametrize("argv", [
    ["run", "pendulum", "--out", "broken.xml"],
    ["run", "pendulum", "--log", "folder.npz"],
    ["render", "pendulum", "--time", "9", "-o", "broken.xml/a.png"],
    ["export", "pendulum", "--time", "9", "-o", "broken.xml/a.glb"],
    ["settle", "pendulum", "-o", "folder.npz"],
    ["settle", "pendulum", "--forces", "nowhere/a.csv"],
], ids=" ".join)  # fmt: skip
def test_what_cannot_be_written_is_told_before_it_is_simulated(call, tmp_path, monkeypatch, argv):
    broken_file(tmp_path)
    (tmp_path / "folder.npz").mkdir()
    for name in ("step", "settle"):
        monkeypatch.setattr(tisim, name, lambda *_: pytest.fail("it simulates"))
    code, _, err = call(*argv, "--arch", "cpu")
    assert code == 2 and argv[-1] in err and "cannot write" in err, err
    assert {path.name for path in tmp_path.iterdir()} == {"broken.xml", "folder.npz"}


SWEEP = "import tisim\nmodel, cases, steps = tisim.Spec(), 2, 1\ndef measure(m, d, case): return 1"


@pytest.mark.parametrize("arguments, file, words", [
    (("film", "pendulum", "--seconds", 0.1, "--size", "64x48", "-o", "p.webp"), "p.webp", "film"),
    (("film", "pendulum", "--seconds", 0.1, "--size", "64x48", "-o", "p.gif"), "p.gif", "film"),
    (("plot", "log.csv", "-o", "p.png"), "p.png", "picture"),
])  # fmt: skip
def test_a_full_disk_is_told_with_the_file_that_had_no_room(call, arguments, file, words):
    if arguments[0] == "plot":
        pytest.importorskip("matplotlib")
    pathlib.Path("log.csv").write_text("time,potential,kinetic,contacts,rows,islands,iterations\n0,0,0,0,0,0,0\n")
    assert call(*arguments)[0] == 0  # kernels are made
    pathlib.Path(file).unlink()
    with full_disk() as fill:
        fill(40)
        code, out, err = call(*arguments)
    assert code == 2 and f"{file}: cannot write the {words}: File too large" in err
    assert arguments[0] == "film" or not pathlib.Path(file).exists()


@pytest.mark.parametrize("csv, words", [("nowhere/a.csv", "cannot write the table"), (".", "no name of a file")])
def test_a_table_that_cannot_be_written_is_told_before_a_sweep(call, tmp_path, monkeypatch, csv, words):
    """Once it was told behind the last case."""
    (tmp_path / "a.py").write_text(SWEEP)
    monkeypatch.setattr(tisim, "sweep", lambda **_: pytest.fail("it simulates"))
    code, out, err = call("sweep", "a.py", "--csv", csv, "--arch", "cpu")
    assert code == 2 and words in err and "Traceback" not in out + err, err
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]


def test_a_table_may_lie_in_the_folder_that_a_sweep_makes(call, tmp_path):
    (tmp_path / "a.py").write_text(SWEEP)
    code, out, err = call("sweep", "a.py", "--out", "made", "--csv", "made/a.csv", "--arch", "cpu")
    assert code == 0 and len((tmp_path / "made/a.csv").read_text().splitlines()) == 3, out + err


def test_a_sweep_whose_file_exits_is_told(call, tmp_path):
    (tmp_path / "quits.py").write_text("model = 3\nraise SystemExit(0)\n")
    code, out, err = call("sweep", "quits.py", "--arch", "cpu")
    assert code == 2 and err == "tisim: quits.py, line 2: SystemExit: 0\n" and not out


def test_the_state_is_saved_where_a_film_cannot_be_finished(call, tmp_path, monkeypatch):
    from tisim.cli import film

    finish = film.Film.close

    def close(self):
        finish(self)
        raise tisim.Error("the disk is full")

    monkeypatch.setattr(film.Film, "close", close)
    code, _, err = call(
        "run", "pendulum", "--steps", "3", "--film", "a.webp", "--size", "32x18", "--arch", "cpu", "-o", "a"
    )
    assert code == 2 and "the disk is full" in err
    assert np.isclose(np.load(tmp_path / "a" / "state.npz")["time"], 0.006)


def test_results_are_no_models_and_say_what_they_are_for(call):
    code, _, err = call(
        "run", "pendulum", "--steps", "3", "--record", "r.npz", "--no-picture", "--arch", "cpu", "-o", "a"
    )
    assert code == 0, err
    assert "r.npz is a recording, not a model: tisim view" in call("run", "r.npz")[2]
    assert "a/state.npz is a state, not a model" in call("info", "a/state.npz")[2]


def test_letters_that_a_terminal_has_not_are_written_in_others(tmp_path):
    (tmp_path / "é.xml").write_text("<mujoco/>")
    done = subprocess.run([sys.executable, "-m", "tisim", "info", "é.xml"], capture_output=True, cwd=tmp_path,
                          env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"})  # fmt: skip
    assert done.returncode == 0 and b"\\xe9" in done.stdout, done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_mistake(tmp_path, closed):
    """Once a command in such a place, as that of a daemon, ended without a word and without results."""
    line = f"{sys.executable} -m tisim run pendulum --steps 2 --no-picture --arch cpu -o a {closed}"
    assert subprocess.run(line, shell=True, cwd=tmp_path).returncode == 0
    assert (tmp_path / "a" / "state.npz").is_file()


def test_ctrl_c_finishes_the_step_and_saves(call, tmp_path, monkeypatch):
    step, calls = tisim.step, []

    def interrupted(m, d, nstep=1):
        step(m, d, nstep)
        calls.append(nstep)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(tisim, "step", interrupted)
    code, out, err = call("run", "pendulum", "--steps", "100000", "--arch", "cpu", "--no-picture", "-o", "here")
    assert code == 130 and "stopped early" in out, err
    assert "go on with: tisim run pendulum --from here/state.npz --time 200 --out here --arch cpu --no-picture" in out
    assert np.isclose(np.load(tmp_path / "here" / "state.npz")["time"], sum(calls) * 0.002)
    assert signal.getsignal(signal.SIGINT) is HANDLER


def test_what_goes_on_after_ctrl_c_can_be_pasted(call, tmp_path, monkeypatch):
    """The command that is printed reaches the time that was asked for first."""
    step = tisim.step

    def interrupted(m, d, nstep=1):
        step(m, d, nstep)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(tisim, "step", interrupted)
    options = ["--arch", "cpu", "--no-picture", "--nworld", "2", "--world", "1", "--size", "64x48", "-o", "a b"]
    code, out, _ = call("run", "chain", "--n", "3", "--steps", "20", "--save-every", "0.01", *options)
    assert code == 130 and "--size 64x48 --world 1 --save-every 0.01" in out
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    words = shlex.split(out.split("go on with: tisim ")[1].splitlines()[0])
    code, out, err = call(*words)
    assert code == 0, err
    saved, timestep = np.load(tmp_path / "a b" / "state.npz"), tisim.Model.from_scene("chain", n=3).opt.timestep
    assert np.isclose(saved["time"], 20 * timestep).all()


def test_the_end_that_is_told_after_ctrl_c_has_all_its_digits(call, monkeypatch):
    step = tisim.step

    def interrupted(m, d, nstep=1):
        step(m, d, 1)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(tisim, "step", interrupted)
    code, out, _ = call("run", "pendulum", "--steps", "1000001", "--arch", "cpu", "--no-picture", "-o", "a")
    assert code == 130 and "--time 2000.002 " in out


def test_a_ctrl_c_elsewhere_is_told(call, monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(simulate.scenes, "build", pressed)
    code, _, err = call("info", "pendulum")
    assert code == 130 and err.strip() == "tisim: interrupted"


def test_a_warning_is_one_line(tmp_path):
    (tmp_path / "robot.urdf").write_text('<robot name="r"><link name="a"/><gazebo/><transmission/></robot>')
    done = subprocess.run(
        [sys.executable, "-m", "tisim", "info", "robot.urdf"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0 and re.fullmatch(r"tisim: warning: [^\n]+ no effect here: [^\n]+\n", done.stderr)


def test_taichi_warns_nobody(tmp_path):
    """It writes past Python's streams; nothing but what was asked for is written into the folder."""
    run = [sys.executable, "-m", "tisim", "run", "pendulum", "--steps", "2", "--no-picture", "-o", "o", "--arch"]
    for arch, code in (("cuda", (0, 2)), ("metal", (0, 2)), ("cpu", (0,))):
        done = subprocess.run([*run, arch], capture_output=True, text=True, cwd=tmp_path)
        lines = done.stderr.strip().splitlines()
        assert done.returncode in code and "[W" not in done.stdout + done.stderr
        assert len(lines) == (done.returncode == 2), done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["o"]


def test_parameters_are_read_by_their_kind():
    values = simulate.parse_params("pile", 5, ["sleep=yes", "seed=3", "shape=box"])
    assert values == dict(n=5, sleep=True, seed=3, shape="box")
