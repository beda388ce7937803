"""Commands have the same options under the same names, with units in their help, and with --json they print one JSON
value and nothing else."""

import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import typer

import tisim
from tisim.cli import app as cli
from tisim.cli import recording

GROUP = typer.main.get_command(cli.app)
SIMULATE = ("run", "bench", "render", "film", "view")
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
                                    "--precision", "--threads"}, command  # fmt: skip
    for command in DRAW:
        assert options(command) >= {"--size", "--camera", "--color", "--contacts", "--world"}, command
    for command in PRINT:
        assert "--json" in options(command), command
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


def test_what_takes_long_says_so_on_a_terminal():
    read, write = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "tisim", "info", "pile", "--n", "20000", "--json"], stderr=write,
                               stdout=subprocess.PIPE, text=True, env=dict(os.environ, TERM="xterm"))  # fmt: skip
    out = process.communicate()[0]
    os.close(write)
    said = os.read(read, 100_000).decode(errors="replace")
    os.close(read)
    assert process.returncode == 0 and json.loads(out)["sizes"]["nbody"] == 20_001
    assert "compiling pile" in said


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_every_command_and_option(call, shell):
    code, out, err = call("completion", shell)
    assert (code, err) == (0, "")
    for name, command in GROUP.commands.items():
        assert re.search(rf"\b{name}\b", out), name
        for option in {o for p in command.params for o in p.opts if o.startswith("--")}:
            assert re.search(rf"-l {option[2:]}\b" if shell == "fish" else rf"{option}\b", out), (name, option)
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=out, text=True, capture_output=True).returncode == 0
    assert call("completion", "csh")[0] == 2


@pytest.mark.parametrize("words, found", [
    (["re"], {"render"}), (["run", "pen"], {"pendulum"}), (["film", "wall", "--co"], {"--color", "--contacts"}),
    (["bench", "wall", "--precision", ""], {"f64", "f32"}), (["completion", "z"], {"zsh"}),
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


def test_json_survives_what_is_no_number(capsys):
    from tisim.cli.report import print_json

    print_json(dict(a=float("nan"), b=[float("inf"), 1]))
    assert json.loads(capsys.readouterr().out) == dict(a=None, b=[None, 1])


def test_version_is_printed_before_anything_is_loaded():
    program = "import sys\nfrom tisim.cli import app\ntry:\n    app.main(['--version'])\n" \
              "finally:\n    print('taichi' in sys.modules)"  # fmt: skip
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
    assert re.fullmatch(rf"tisim {re.escape(tisim.__version__)}\nFalse\n", out), out
