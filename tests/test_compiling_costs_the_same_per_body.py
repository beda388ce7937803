"""Compiling a large scene does a fixed amount of work per body, and equal trees are treated as one batch."""

from shared.cost import calls

from tisim import Model
from tisim.mjcf.reference.inverse_weights import Trees


def scene(n):
    bodies = "".join(f'<body pos="{i} 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/></body>\n' for i in range(n))
    return f"<mujoco><worldbody>{bodies}</worldbody></mujoco>"


def test_calls_grow_linearly():
    few, some, many = (calls(lambda text=scene(n): Model.from_xml_string(text)) for n in (10, 110, 410))
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
