"""tisim/SLOW.md: its commands run, its code runs, and what it names stands in what `tisim bench` prints."""

import pathlib
import re
import shlex

import tisim
from tisim.data.timer import STAGES
from tisim.mjcf.format import grammar

PAGE = (pathlib.Path(__file__).resolve().parent.parent / "tisim" / "SLOW.md").read_text(encoding="utf-8")


def test_its_commands_run_and_print_what_it_names(call):
    assert call("run", "pile", "--n", 100, "--steps", 200, "--no-picture", "--arch", "cpu")[0] == 0
    commands = re.findall(r"^    (tisim .+)$", PAGE, re.M)
    assert len(commands) == 3
    said = ""
    for command in commands:
        code, out, err = call(*shlex.split(command)[1:], "--arch", "cpu")
        assert code == 0, err
        said += out
    cells = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    names = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    assert len(names) > 8
    words = said + " ".join(STAGES)
    for name in names:
        assert name in words or f"{name}s" in words, name
    for name in ("pairs", "contacts", "rows", "rounds of the solver"):
        assert name in said, name


def test_its_code_runs(capsys):
    tisim.init(arch="cpu", precision="f64")
    code = re.search(r"```python\n(.*?)```", PAGE, re.S).group(1)
    found = {}
    exec(code, found)
    out = capsys.readouterr().out
    times = dict(re.findall(r"^(\w+) +([\d.]+) ms$", out, re.M))
    assert set(times) == {"STEP", "POS_COLLISION", "CONSTRAINT", "ADVANCE"}
    assert float(times["STEP"]) > float(times["CONSTRAINT"]) > 0
    assert "contacts" in out and "MiB" in out and found["highest"] > 0


def test_the_attributes_it_recommends_are_mjcfs():
    known = re.findall(r"\w+", pathlib.Path(grammar.__file__).read_text(encoding="utf-8"))
    for word in ("maxhullvert", "contype", "conaffinity", "exclude", "condim", "solref", "iterations", "tolerance",
                 "timestep", "solver"):  # fmt: skip
        assert word in PAGE and word in known, word
