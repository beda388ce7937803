"""Commands have the same options under the same names, with units in their help, and with --json they print one JSON
value and nothing else."""

import contextlib
import inspect
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import threading

import pytest
import typer
from rich.console import Console

import tisim
from tisim.cli import app as cli
from tisim.cli import completion, draw, recording, report
from tisim.device import session
from tisim.model.options import DYNAMICS
from tisim.model.tables import colors
from tisim.recording.log import Log
from tisim.sweeping import results

GROUP = typer.main.get_command(cli.app)
SIMULATE = ("run", "bench", "settle", "render", "film", "export", "view")
DRAW = ("run", "render", "film", "view")
SILENT = ("view", "completion")  # print no numbers
PRINT = (
    "run",
    "plot",
    "settle",
    "sweep",
    "bench",
    "render",
    "film",
    "export",
    "info",
    "doctor",
    "scenes",
    "kernels",
    "compile",
)


def options(command):
    return {name for p in GROUP.commands[command].params for name in p.opts}


def test_options_have_the_same_names():
    for command in SIMULATE:
        assert options(command) >= {"--seconds", "--time", "--from", "--nworld", "--n", "--param", "--arch",
                                    "--precision", "--threads", "--dynamics"}, command  # fmt: skip
        assert "--sleep" in options(command) or command == "settle", "which lets all sleep"
    for command in DRAW:
        assert options(command) >= {"--size", "--camera", "--color", "--contacts", "--world"}, command
    for command in ("run", "render", "film"):
        assert options(command) >= {"--quality", "--lamps", "--chains"}, command
    for command in PRINT:
        assert "--json" in options(command), command
    for word in ("--dynamics", "--quality", "--lamps", "--color", "--arch", "--json"):
        assert len({p.help for c in GROUP.commands.values() for p in c.params if word in p.opts}) == 1, word
    assert set(GROUP.commands) == {*PRINT, *SILENT}


@pytest.mark.parametrize("name", GROUP.commands)
def test_help_has_an_example_that_is_understood_and_the_exit_codes(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    with pytest.raises(SystemExit) as end:
        cli.main([name, "--help"])
    out = capsys.readouterr().out
    assert end.value.code == 0 and "Exit codes: 0 done" in out and "130 stopped by Ctrl-C" in out
    command = GROUP.commands[name]
    example = re.search(r"Example: (tisim .+)", command.help).group(1)
    assert re.sub(r"\s+", " ", example) in re.sub(r"\s+", " ", out)
    parts = [shlex.split(part) for part in example.split("&&")]
    assert name in [words[1] for words in parts]
    for words in parts:
        assert words[0] == "tisim"
        GROUP.commands[words[1]].make_context(words[1], words[2:])  # raises where an option is wrong
    for param in command.params:
        assert param.name == "help" or param.help, (name, param.name)


def test_ctrl_c_is_one_line_and_130(call, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    for name in GROUP.commands:
        command = GROUP.commands[name]
        monkeypatch.setattr(command, "callback", stop)
        code, out, err = call_with(call, name, command, monkeypatch)
        assert (code, out, err) == (130, "", "tisim: interrupted\n"), name


def call_with(call, name, command, monkeypatch):
    """Calls a command with what it needs to be given."""
    monkeypatch.setattr(cli.typer.main, "get_command", lambda app: GROUP)
    monkeypatch.setattr(cli, "app", GROUP)
    words = [name]
    for param in command.params:
        if param.required:
            words += [*[o for o in param.opts if o.startswith("--")][:1], "x"]
    return call(*words)


BEGUN = "compiling pendulum", "starting Taichi"


@pytest.mark.parametrize("words, steps", [
    ("info pile --n 20000", ["compiling pile"]),
    ("run pendulum --steps 20 --film a.webp --record a.npz --log a.csv",
     [*BEGUN, "evaluating the state", "simulating", "finishing the files", "drawing the picture"]),
    ("plot a.csv", ["reading a.csv", "drawing the curves"]),
    ("render pendulum --time .1 -o a.png", [*BEGUN, "simulating", "evaluating the state", "drawing the picture"]),
    ("render a.npz -o a.png", ["reading a.npz", "drawing the picture"]),
    ("render a.npz -o b.webp", ["reading a.npz", "drawing", "finishing the film"]),
    ("film pendulum --seconds .1 -o b.webp", [*BEGUN, "filming", "finishing the film"]),
    ("export pendulum -o a.glb", ["loading the viewer", *BEGUN, "evaluating the state", "writing a.glb"]),
    ("export a.npz -o a.glb", ["reading a.npz", "writing a.glb"]),
    ("settle pendulum --timeout .1", [*BEGUN, "settling"]),
    ("bench pendulum --settle 2 --repeats 2", [*BEGUN, "evaluating the state", "settling", "timing the stages"]),
    ("compile pendulum a.xml", ["compiling pendulum", "writing a.xml"]),
    ("doctor", ["looking at the installation"]),
], ids=lambda v: v.split(" -")[0] if isinstance(v, str) else "")  # fmt: skip
def test_what_takes_long_says_so_on_a_terminal(words, steps, folder):
    if words.startswith("plot"):
        pytest.importorskip("matplotlib")
    read, write = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "tisim", *words.split(), "--json"], stderr=write,
                               stdout=subprocess.PIPE, text=True, cwd=folder,
                               env=dict(os.environ, TERM="xterm", COLUMNS="200"))  # fmt: skip
    os.close(write)
    out = []
    listener = threading.Thread(target=lambda: out.append(process.communicate()[0]))
    listener.start()
    said = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while part := os.read(read, 4096):
            said += part
    os.close(read)
    listener.join()
    text, at = said.decode(errors="replace"), 0
    assert process.returncode in (0, 1) and json.loads(out[0]), text
    for step in steps:
        at = text.find(step, at)
        assert at >= 0, (step, text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a recording a.npz and a log a.csv."""
    path = tmp_path_factory.mktemp("folder")
    m = tisim.Model.from_scene("pendulum")
    d = tisim.Data(m)
    with tisim.Recorder(path / "a.npz", m, d) as recorder, Log(path / "a.csv", m, d) as log:
        for _ in range(9):
            log.begin()
            tisim.step(m, d)
            log.end()
            recorder.add()
    return path


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_every_command_and_option(call, shell):
    code, out, err = call("completion", shell)
    assert (code, err) == (0, "")
    for name, command in GROUP.commands.items():
        assert re.search(rf"\b{name}\b", out), name
        for option in {o for p in command.params for o in (*p.opts, *p.secondary_opts) if o.startswith("--")}:
            assert re.search(rf"-l {option[2:]}\b" if shell == "fish" else rf"{option}\b", out), (name, option)
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=out, text=True, capture_output=True).returncode == 0
    assert call("completion", "csh")[0] == 2


STEPPED = "dominos", "--n", "3", "--arch", "cpu"


@pytest.mark.parametrize("words", [
    ["run", "--seconds", ".05", "--no-picture"], ["bench", "--settle", "9", "--repeats", "2"],
    ["settle", "--timeout", ".05"], ["render", "-o", "a.png", "--time", ".05", "--size", "32x24"],
    ["film", "-o", "a.webp", "--seconds", ".05", "--size", "32x24"], ["export", "-o", "a.glb", "--time", ".05"],
    ["view", "--time", ".05"],
], ids=lambda words: words[0])  # fmt: skip
def test_a_command_steps_by_the_dynamics_that_is_asked_for(call, monkeypatch, words):
    made, prepare = [], tisim.pipeline.prepare
    monkeypatch.setattr(tisim.pipeline, "prepare", lambda m, d: (prepare(m, d), made.append((m, d))))
    monkeypatch.setattr(draw, "viewer_of", lambda *_: lambda m, d, *_, reload, **__: reload())
    for dynamics in DYNAMICS:
        code, _, err = call(words[0], *STEPPED, *words[1:], "--dynamics", dynamics)
        assert code == (words[0] == "settle"), err
        assert {m.opt.dynamics for m, _ in made} == {dynamics} and (len({*map(id, made)}) > 1 or words[0] != "view")
        assert (made[0][1].count("nlcp") > 0) == (dynamics == "lcp"), "impulses of hard contacts"
        made.clear()


def test_a_saved_model_keeps_its_dynamics(call, tmp_path):
    m = tisim.Model.from_scene("pendulum")
    m.opt.dynamics = "lcp"
    m.save(tmp_path / "hard.npz")
    for more, dynamics in (([], "lcp"), (["--dynamics", "convex"], "convex")):
        code, out, _ = call("run", "hard.npz", "--steps", "1", "--no-picture", "--json", "--arch", "cpu", *more)
        assert code == 0 and json.loads(out)["dynamics"] == dynamics


def test_run_draws_picture_and_film_of_the_quality_that_is_asked_for(call, tmp_path):
    small, looks = ("--size", "64x48"), dict(plain=["--quality", "plain"], sky=[], dark=["--lamps", "3"])
    for name, look in looks.items():
        for words in (["run", "--film", f"run_{name}.webp", "-o", name], ["film", "-o", f"film_{name}.webp"]):
            code, _, err = call(words[0], *STEPPED, "--seconds", ".1", *small, *look, *words[1:])
            assert code == 0, err
        code, _, err = call("render", *STEPPED, "--from", f"{name}/state.npz", *small, *look, "-o",
                            f"render_{name}.png")  # fmt: skip
        assert code == 0, err
    for own, run in (("film_{}.webp", "run_{}.webp"), ("render_{}.png", "{}/picture.png")):
        drawn = [[(tmp_path / file.format(name)).read_bytes() for name in looks] for file in (own, run)]
        assert drawn[0] == drawn[1] and len(set(drawn[0])) == len(looks), run


WORDS = {
    "--color": colors.MODES, "--quality": colors.QUALITY, "--dynamics": DYNAMICS, "--errors": results.ERRORS,
    "--arch": ("auto", *session.ARCHS), "--precision": session.PRECISIONS, "--compare": ("mujoco",),
    "--workers": ("all", "ray"),
}  # fmt: skip


def test_every_option_that_takes_a_few_words_has_them_completed(call):
    """An option of text says by its metavar what is free to choose, as FILE, or takes the words of a table."""
    known = set()
    for registered in cli.app.registered_commands:
        name = registered.name or registered.callback.__name__
        takes = inspect.signature(registered.callback).parameters
        for param in GROUP.commands[name].params:
            words = completion.choices(param)
            if words and param.opts[0] in WORDS:
                known.add(param.opts[0])
                assert words == list(WORDS[param.opts[0]]), (name, param.opts)
                assert all(re.search(rf"\b{word}\b", f"{param.help} {param.metavar}") for word in words), (name, words)
            elif not words and takes[param.name].annotation in (str, list[str]):
                free = param.metavar and re.search("[A-Z]", param.metavar) and param.metavar != "WORD"
                assert free, (name, param.opts, "which words does it take?")
    assert known == {*WORDS}
    script = call("completion", "bash")[1]
    for option, words in WORDS.items():
        assert f'{option}) words="{" ".join(words)}" ;;' in script


@pytest.mark.parametrize("words, found", [
    (["re"], {"render"}), (["run", "pen"], {"pendulum"}), (["film", "wall", "--co"], {"--color", "--contacts"}),
    (["bench", "wall", "--precision", ""], {"f64", "f32"}), (["completion", "z"], {"zsh"}),
    (["film", "wall", "--color", ""], set(colors.MODES)), (["settle", "wall", "--dynamics", "l"], {"lcp"}),
    (["run", "wall", "--no-"], {"--no-picture"}), (["view", "wall", "--ras"], {"--raster"}),
])  # fmt: skip
def test_bash_completes(call, words, found):
    if not shutil.which("bash"):
        pytest.skip("no bash is installed")
    script = call("completion", "bash")[1]
    line = " ".join(shlex.quote(w) for w in ["tisim", *words])
    asked = f'COMP_WORDS=({line}); COMP_CWORD={len(words)}; _tisim; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash"], input=f"{script}\n{asked}\n", capture_output=True, text=True)
    assert set(done.stdout.split()) == found, done.stderr


def test_help_shows_units(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    with pytest.raises(SystemExit):
        cli.main(["run", "--help"])
    out = capsys.readouterr().out
    for words in ("how long to simulate [s]", "of picture and film [pixel]", "elevation [degree]", "tisim[film]"):
        assert words in out, words


@pytest.mark.parametrize("argv, words", [
    (["run", "pendulum", "--steps", "3", "--arch", "cpu", "--no-picture"], dict(steps=3, bodies=1, stopped=False)),
    (["bench", "pendulum", "--settle", "2", "--repeats", "3", "--arch", "cpu"], dict(repeats=3, settle=2)),
    (["info", "pile", "--n", "30"], dict(geoms=dict(plane=1, sphere=10, capsule=10, box=14), can_be_simulated=True)),
    (["doctor"], dict(tisim=tisim.__version__, auto="cpu")),
    (["compile", "pendulum", "a.npz"], dict(nv=1)),
], ids=lambda v: v[0] if isinstance(v, list) else "")  # fmt: skip
def test_json_is_all_that_is_printed(argv, words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        cli.main([*argv, "--json"])
    assert end.value.code == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert printed.err == ""
    assert {k: found[k] for k in words if k != "auto"} == {k: v for k, v in words.items() if k != "auto"}


def test_lists_are_json_too(capsys, monkeypatch):
    found = []
    for argv in (["scenes"], ["kernels"], ["kernels", "--flow"]):
        with pytest.raises(SystemExit):
            cli.main([*argv, "--json"])
        found.append(json.loads(capsys.readouterr().out))
    scenes, kernels, flow = found
    assert dict(n=1000, shape="mixed", cone="pyramidal", seed=0, sleep=False) in [s["parameters"] for s in scenes]
    assert "body_poses" in [k["kernel"] for k in kernels]
    assert [stage["stage"] for stage in flow] == list(recording.record())


def test_a_narrow_terminal_cuts_no_number(capsys):
    """Once 100.0 was "10..." there."""
    console = Console(width=40)
    report.table(console, "", ("stage", "ms", "%", "launches"), [("      pos_kinematics", 1234.567, 100.0, 123.5)])
    out = capsys.readouterr().out
    assert "1234.567" in out and "100.0" in out and "123.5" in out and max(map(len, out.splitlines())) <= 40


def test_json_survives_what_is_no_number(capsys):
    from tisim.cli.report import print_json

    print_json(dict(a=float("nan"), b=[float("inf"), 1]))
    assert json.loads(capsys.readouterr().out) == dict(a=None, b=[None, 1])


def test_version_is_printed_before_anything_is_loaded():
    program = "import sys\nfrom tisim.cli import app\ntry:\n    app.main(['--version'])\n" \
              "finally:\n    print('taichi' in sys.modules)"  # fmt: skip
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
    assert re.fullmatch(rf"tisim {re.escape(tisim.__version__)}\nFalse\n", out), out
