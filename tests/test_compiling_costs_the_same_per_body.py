"""Compiling a large scene does a fixed amount of work per body, and equal trees are treated as one batch."""

import gc
import sys

from tisim.mjcf.reference.inverse_weights import Trees
from tisim.model import Model


def scene(n):
    bodies = "".join(f'<body pos="{i} 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/></body>\n' for i in range(n))
    return f"<mujoco><worldbody>{bodies}</worldbody></mujoco>"


def calls(n):
    """Python function calls made while a scene of n free bodies compiles."""
    count, text = 0, scene(n)

    def profile(frame, event, arg):
        nonlocal count
        count += event == "call"

    gc.collect()
    gc.disable()  # what is collected meanwhile belongs to other tests
    sys.setprofile(profile)
    try:
        Model.from_xml_string(text)
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def test_calls_grow_linearly():
    few, some, many = calls(10), calls(110), calls(410)
    per_body = (some - few) / 100
    assert per_body < 100
    assert (many - some) / 300 < per_body * 1.01 + 1


def test_free_bodies_are_one_batch(monkeypatch):
    batches = []
    original = Trees.weigh
    monkeypatch.setattr(
        Trees, "weigh", lambda self, trees, *rest: (batches.append(len(trees)), original(self, trees, *rest))
    )
    m = Model.from_xml_string(scene(300))
    assert batches == [300] and m.nv == 1800


def test_a_scene_of_ten_thousand_free_bodies_compiles():
    m = Model.from_xml_string(scene(10_000))
    assert (m.nbody, m.nq, m.nv, m.ntree) == (10_001, 70_000, 60_000, 10_000)
    assert m.dof_invweight0.max() == m.dof_invweight0[3]
