"""Whatever a model file holds, compiling it succeeds or raises tisim.Error, within seconds."""

import pathlib
import shutil
import time
import warnings

import pytest
from shared.mutate import mutated, mutated_bytes

import tisim

DATA = pathlib.Path(__file__).parent / "testdata"
FILES = sorted((DATA / "compile").glob("*.xml")) + sorted((DATA / "urdf").glob("*.urdf"))
SECONDS = 10


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """A copy of the test files, for mutated ones to stand beside what they refer to."""
    return shutil.copytree(DATA, tmp_path_factory.mktemp("fuzz") / "testdata")


def compile_all(seeds, beside):
    """How many mutated files compiled; fails on any exception but tisim.Error and on a slow file."""
    good = 0
    for seed in seeds:
        path = FILES[seed % len(FILES)]
        broken = beside / path.parent.name / f"fuzz{seed}{path.suffix}"
        broken.write_bytes(mutated(path.read_bytes(), seed))
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tisim.Model.from_xml_path(broken)
            good += 1
        except tisim.Error as e:
            assert str(e)
        except BaseException as e:
            raise AssertionError(f"seed {seed} of {path.name}: {type(e).__name__}: {e}") from e
        finally:
            broken.unlink()
        seconds = time.process_time() - start
        assert seconds < SECONDS, f"seed {seed} of {path.name} took {seconds:.1f} s"
    return good


def test_mutated_files(beside):
    good = compile_all(range(300), beside)
    assert 20 < good < 280  # the mutator is neither toothless nor too blunt


ASSETS = {
    "stl": '<mesh file="{}"/>', "obj": '<mesh file="{}"/>', "msh": '<mesh file="{}"/>', "skn": '<skin file="{}"/>',
    "png": '<texture type="2d" name="t" file="{0}"/><hfield size="1 1 1 1" file="{0}"/>',
    "bin": '<hfield size="1 1 1 1" file="{}"/>', "pixels": '<texture type="2d" name="t" file="{}"/>',
}  # fmt: skip
BODIES = '<body name="lower"><geom type="{}" size=".1" {}/></body><body name="upper"/>'


def compile_assets(seeds):
    """How many models with a mutated asset file compiled; fails as compile_all does."""
    good, files = 0, sorted(p for p in (DATA / "compile" / "assets").iterdir() if p.suffix[1:] in ASSETS)
    for seed in seeds:
        path = files[seed % len(files)]
        mesh = path.suffix in (".stl", ".obj", ".msh")
        body = BODIES.format(*(("mesh", f'mesh="{path.stem}"') if mesh else ("sphere", "")))
        asset = ASSETS.get(path.stem, ASSETS[path.suffix[1:]]).format(path.name)
        text = f"<mujoco><asset>{asset}</asset><worldbody>{body}</worldbody></mujoco>"
        start = time.process_time()
        try:
            tisim.Model.from_xml_string(text, {path.name: mutated_bytes(path.read_bytes(), seed)})
            good += 1
        except tisim.Error as e:
            assert str(e)
        except BaseException as e:
            raise AssertionError(f"seed {seed} of {path.name}: {type(e).__name__}: {e}") from e
        seconds = time.process_time() - start
        assert seconds < SECONDS, f"seed {seed} of {path.name} took {seconds:.1f} s"
    return good


def test_mutated_assets():
    good = compile_assets(range(400))
    assert 20 < good < 380


@pytest.mark.slow
def test_many_mutated_files(beside):
    compile_all(range(300, 2300), beside)
    compile_assets(range(400, 4000))
