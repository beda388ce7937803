"""The command line, called in this process."""

import pytest

from tisim.cli import app


@pytest.fixture
def call(capsys, monkeypatch, tmp_path):
    """A function of a command's words, run in an empty folder, that returns (exit code, stdout, stderr)."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)

    def run(*argv):
        with pytest.raises(SystemExit) as end:
            app.main([str(a) for a in argv])
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return run
