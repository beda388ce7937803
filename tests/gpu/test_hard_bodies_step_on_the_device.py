"""The second dynamics on the (software) CUDA device is that of the CPU: the same contacts in the same colours, and in
f64 the same numbers but for rounding; what all threads do not do is refused by name.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

import tisim
from tisim.data.arrays.lcp import LCP_LONG
from tisim.device import session
from tisim.stages import lcp_queue

from .software import HERE, needs_compiler, start

F64 = dict(TISIM_ARCH="cuda", TISIM_PRECISION="f64")
STEPS = dict(pile=(95, 4), robots=(60, 40))  # on the CPU, then on both
LANES = 8  # kinds of a colour


def on_cpu(*words):
    subprocess.run(
        [sys.executable, HERE / "hard.py", *map(str, words)], check=True, timeout=600,
        env=os.environ | dict(TISIM_ARCH="cpu", TISIM_PRECISION="f64"),
    )  # fmt: skip


@needs_compiler
@pytest.mark.parametrize("case", STEPS)
def test_steps_are_the_cpus(case, tmp_path):
    before, steps = STEPS[case]
    settled, cpu, device = (tmp_path / f"{name}.npz" for name in ("settled", "cpu", "device"))
    on_cpu(case, before, settled)
    on_cpu(case, steps, cpu, settled)
    start(HERE / "hard.py", case, steps, device, settled, sm=32, order=2, environment=F64)
    ours, theirs = np.load(device), np.load(cpu)
    assert np.array_equal(ours["lcp_geom"], theirs["lcp_geom"]) and len(ours["lcp_geom"]) > 2
    assert ours["colors"] == theirs["colors"]
    for name in ("qpos", "qvel", "lcp_impulse", "time"):
        assert np.abs(ours[name] - theirs[name]).max() < 1e-8, name


@needs_compiler
def test_a_long_row_gets_colours(tmp_path):
    """Of two manifolds of a colour no body is the same, where each waits for the one before, longer than LCP_LONG
    rounds; which they get does not depend on how many rounds are queued at once."""
    start(HERE / "hard.py", "row", 3, tmp_path / "out.npz", sm=32, environment=F64)
    told = np.load(tmp_path / "out.npz")
    n = int(told["manifolds"])
    kinds, pairs = told["lcp_kind"].ravel()[:n], told["lcp_geom"][told["lcp_first"].ravel()[:n]]
    assert n > 2 * LCP_LONG and (kinds >= 0).all()
    seen = [(kind // LANES, geom) for kind, pair in zip(kinds, pairs) for geom in pair if geom > 0]
    assert len(seen) == len(set(seen)) and told["fresh"]


@pytest.mark.parametrize("name, value", [("order", "ode"), ("direct", 3), ("accelerate", True)])
def test_the_rest_is_refused_by_name(name, value, monkeypatch):
    m = tisim.Model.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    m.opt.dynamics = "lcp"
    setattr(m.lcp, name, value)
    monkeypatch.setattr(session, "arch", "cuda")
    with pytest.raises(tisim.UnsupportedError, match=f"{name}.*runs on the CPU so far"):
        lcp_queue.check(m)
