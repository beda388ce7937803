"""The comparisons with MuJoCo pass on the (software) CUDA device in f64, with the tolerances that they have.

Contract: smooth dynamics, contacts, constrained accelerations, large islands, rollouts, rays.
"""

import pytest

from .software import HERE, needs_compiler, start

QUICK = ["smooth_dynamics_equal_mujocos"]  # a minute where nothing was compiled before, seconds later
SLOW = """contacts_equal_mujocos constrained_accelerations_equal_mujocos large_islands_converge
    rollouts_stay_with_mujocos rays_equal_mujocos""".split()
MARKED = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]


@needs_compiler
@pytest.mark.parametrize("name", MARKED)
def test_the_file_passes(name):
    told = start(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", HERE.parent / f"test_{name}.py", seconds=3000,
        environment=dict(TISIM_ARCH="cuda", TISIM_PRECISION="f64"),
    )  # fmt: skip
    assert " passed" in told.splitlines()[-1], told[-3000:]
