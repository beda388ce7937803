"""A hundred steps from the start of a scene end where MuJoCo 3.4.0's do.

Contract: qpos and qvel within 1e-4 of their scale after 100 steps with converged solvers.
"""

import pathlib

import mujoco
import pytest
from shared.reference import Pair

import tisim
from tisim import scenes

CONTACTS = sorted((pathlib.Path(__file__).parent / "testdata" / "contacts").glob("*.xml"))
SCENES = {
    "pile": dict(n=30), "dominos": dict(n=15), "ragdolls": dict(n=2), "wall": {}, "pyramid": dict(n=91), "chain": {},
}  # fmt: skip


def compare(pair):
    pair.copy_state()
    mujoco.mj_step(pair.mm, pair.md, 100)
    tisim.step(pair.m, pair.d, 100)
    assert pair.d.time == pytest.approx(pair.md.time)
    assert pair.error("qpos") < 1e-4
    assert pair.error("qvel") < 1e-4


@pytest.mark.parametrize("name", SCENES)
def test_scenes(name):
    compare(Pair(scenes.build(name, **SCENES[name])))


@pytest.mark.parametrize("path", CONTACTS, ids=lambda p: p.stem)
def test_contact_models(path):
    """sphere_box_4_elliptic once held the line search up at the tip of a cone."""
    compare(Pair(None, path))
