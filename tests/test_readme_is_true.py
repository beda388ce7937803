"""Each command in README.md exists with its options, its Python example runs, its files and scenes are there, and CI
installs and tests by README's own line."""

import pathlib
import re
import shlex
import subprocess

import pytest
import typer

import tisim
from tisim import cli, scenes
from tisim.viewer import vulkan

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [part.strip() for line in README.splitlines() if line.startswith("    ")
            for part in line.split(" #")[0].split("&&") if part.strip().startswith(".venv/bin/tisim")]  # fmt: skip


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
    if len(words) > 1 and not words[1].endswith(".xml"):
        assert words[1] in scenes.names()


def test_scenes_and_files_exist():
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", README):
        assert (ROOT / target).exists(), target
    for name in ("pile", "dominos", "wall", "pyramid", "ragdolls"):
        assert name in README and name in scenes.names()


def test_python_example_runs(tmp_path, monkeypatch):
    code = re.search(r"```python\n(.*?)```", README, re.S).group(1)
    if vulkan.missing():
        code = code.split("from tisim.viewer")[0]
    code = code.replace("n=100", "n=4").replace("nstep=500", "nstep=5").replace("render(m, d)", "render(m, d, 64, 48)")
    monkeypatch.chdir(tmp_path)
    tisim.init(arch="cpu")
    exec(compile(code, "README.md", "exec"), {})
    assert vulkan.missing() or (tmp_path / "dominos.png").is_file()


def test_ci_runs_readmes_lines():
    line = next(line for line in README.splitlines() if "pytest" in line)
    script = (ROOT / ".ci" / "run").read_text()
    assert "grep -m1 'pytest' README.md" in script and line.strip().endswith(".venv/bin/python -m pytest")
    assert subprocess.run(["bash", "-n", ROOT / ".ci" / "run"]).returncode == 0
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
