"""Contract: a process imports only what it uses, whatever it is that is asked of tisim; and ends without searching."""

import subprocess
import sys

import pytest

HEAVY = "taichi llvmlite scipy trimesh PIL urllib.request http.client ssl dill numpy.ma multiprocessing".split()
LOADED = "\nimport sys; print('loaded', *(n for n in {names!r} if n in sys.modules))"
COMMAND = "from tisim.cli import app\ntry:\n    app.main({words!r})\nexcept SystemExit as e:\n    assert not e.code, e"
STEP = """
import tisim
m = tisim.Model.from_xml_string("<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 1'><freejoint/>"
                                "<geom size='.1'/></body></worldbody></mujoco>")
"""


def loaded(script, *names):
    """Those of the modules that a process which runs the script has imported at its end."""
    done = subprocess.run([sys.executable, "-c", script + LOADED.format(names=names)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()[1:]


def test_import_loads_nothing_else():
    assert loaded("import tisim", "numpy", "lxml", "tisim.enums", "tisim.errors", *HEAVY) == []


@pytest.mark.parametrize("words", ["--version", "--help", "run --help", "scenes"])
def test_commands_that_need_no_model_load_none(words):
    assert loaded(COMMAND.format(words=words.split()), "tisim.mjcf", "tisim.data", *HEAVY) == []


def test_info_compiles_without_taichi():
    assert loaded(COMMAND.format(words=["info", "dominos"]), "tisim.spec", *HEAVY) == []


def test_a_model_needs_no_taichi_and_a_step_no_more_than_taichi():
    assert loaded(STEP, *HEAVY) == []
    assert set(loaded(STEP + "tisim.step(m, tisim.Data(m))", "tisim.spec", *HEAVY)) <= {"taichi", "llvmlite"}


def test_every_name_is_found_where_users_look():
    import tisim
    from tisim import enums

    for name in [*tisim.__all__, *(n for n in vars(enums) if n.startswith("mjt"))]:
        assert name in dir(tisim) and getattr(tisim, name) is not None, name
    for folder in "data device enums errors mjcf model pipeline queries spec stages scenes".split():
        assert getattr(tisim, folder).__name__ == f"tisim.{folder}"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tisim.nothing
    with pytest.raises(ImportError):
        from tisim import nothing  # noqa: F401


LEFT = """
import atexit, gc
atexit.register(lambda: print("frozen" if gc.get_freeze_count() > 10_000 else "not frozen"))
import tisim
tisim.init("cpu", threads=1)

class Dying:
    def __init__(self):
        self.me = self

    def __del__(self):
        print("let go")

Dying()
"""


def test_dead_objects_are_let_go_at_the_end_and_the_living_not_searched():
    done = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.split("\n")[:2] == ["let go", "frozen"], done
