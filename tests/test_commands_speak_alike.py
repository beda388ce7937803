"""Commands have the same options under the same names, with units in their help, and with --json they print one JSON
value and nothing else."""

import json
import re
import subprocess
import sys

import pytest
import typer

import tisim
from tisim.cli import app as cli
from tisim.cli import recording

GROUP = typer.main.get_command(cli.app)
SIMULATE = ("run", "bench", "render", "view")
DRAW = ("run", "render", "view")
PRINT = ("run", "settle", "sweep", "bench", "render", "export", "info", "doctor", "scenes", "kernels", "compile")


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
    assert set(GROUP.commands) == {*SIMULATE, *PRINT}


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
