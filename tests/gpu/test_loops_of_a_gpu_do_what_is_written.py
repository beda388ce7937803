"""A parallel loop of a GPU is one task whose threads compute its bound, and does each of its rounds once, also where
there are fewer threads than rounds; what a kernel changes is read before it is changed, as it is written.

Contract: no serial task where the bound stays as it is; one where the loop, or one before it, changes it.
"""

import json

import pytest

from .software import HERE, needs_compiler, start


@needs_compiler
@pytest.mark.parametrize("grid", ["2", "7"])
def test_rounds(grid):
    told = start(HERE / "loops.py", environment=dict(TISIM_ARCH="cuda", TISIM_PRECISION="f32", TISIM_GRID=grid))
    told = json.loads(told.splitlines()[-1])
    once = told["each_once"]
    assert once["applied"] == [i if 2 <= i < 53 else 0 for i in range(54)] and once["serial"] == 0
    assert told["grows"]["ncon"] == 10 and told["grows"]["serial"] == 1
    assert told["two_loops"]["applied"][:5] == [-1, -1, -1, 3, 4] and told["two_loops"]["serial"] == 1
