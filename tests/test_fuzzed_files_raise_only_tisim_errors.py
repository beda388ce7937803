"""Whatever a model file holds, compiling it succeeds or raises tisim.Error, within seconds."""

import pathlib
import time
import warnings

import pytest
from mutate import mutated

import tisim

DATA = pathlib.Path(__file__).parent / "testdata"
FILES = sorted((DATA / "compile").glob("*.xml")) + sorted((DATA / "urdf").glob("*.urdf"))
SECONDS = 10


def compile_all(seeds):
    """How many mutated files compiled; fails on any exception but tisim.Error and on a slow file."""
    good = 0
    for seed in seeds:
        path = FILES[seed % len(FILES)]
        broken = path.with_name(f".fuzz{seed}.tmp")
        broken.write_bytes(mutated(path.read_bytes(), seed))
        start = time.perf_counter()
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
        seconds = time.perf_counter() - start
        assert seconds < SECONDS, f"seed {seed} of {path.name} took {seconds:.1f} s"
    return good


def test_mutated_files():
    good = compile_all(range(300))
    assert 20 < good < 280  # the mutator is neither toothless nor too blunt


@pytest.mark.slow
def test_many_mutated_files():
    compile_all(range(300, 2300))
