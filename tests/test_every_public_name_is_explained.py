"""The reference is made of docstrings without a complaint: every public name has one that tells its parameters; lengths
and times have units."""

import re
import subprocess
import sys

import tisim
from tisim.cli import reference


def test_the_reference_is_built_without_complaints():
    text, told = reference.build()
    assert told == []
    for name in (*tisim.__all__, "save_png", "Rollout", "Handle"):
        if not name.startswith("__"):
            assert f"\n### {name}\n" in text, name
    assert "| w | qpos | nq | m, rad, - | joint positions, quaternions w x y z |" in text
    assert "| geom_size | float64 | ngeom x 3 |" in text and "`Handle.sync(state_only=False)`" in text
    assert text.count("[m]") > 20 and text.count("[s]") > 5 and text.count("Raises") > 30


def test_a_name_without_words_is_told():
    others = dict(known="radius [m]")
    assert reference.complaints("f", [], "", others) == ["f: no docstring"]
    assert reference.complaints("f", ["m", "radius"], "Makes a ball.", others) == ["f: nothing is said of radius"]
    assert reference.complaints("f", ["m", "radius"], "Arguments as in known.", others) == []


def test_it_is_written_to_a_file(tmp_path):
    command = [sys.executable, "-m", "tisim.cli.reference", str(tmp_path / "r.md")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "" and re.search(r"r.md: 1\d\d names", done.stdout), done.stderr
    assert (tmp_path / "r.md").read_text(encoding="utf-8").startswith("# Reference of tisim")
