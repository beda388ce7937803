"""A step on a GPU whose large islands are at rest waits for the device twice: for the contacts, which tell of a bad
state, too, and for the end of the solver, which tells of a bad acceleration; divergence is told as on a CPU."""

import json

from .software import HERE, needs_compiler, on_cpu, start


@needs_compiler
def test_a_pile(tmp_path):
    state = tmp_path / "settled.npz"
    on_cpu("pile", 300, 300, state)
    device = dict(TISIM_ARCH="cuda", TISIM_PRECISION="f32")
    found = json.loads(start(HERE / "reads.py", "pile", 300, 6, state, environment=device, sm=32))
    assert found["large"] >= 1
    assert min(found["reads"]) == 2, found["reads"]  # more in a search for pairs, and where rounds are queued again
    assert len(found["qacc"]) == 1 and found["qacc"][0].startswith("qacc["), found["qacc"]
    assert len(found["qvel"]) == 1 and found["qvel"][0].startswith("qvel[9]"), found["qvel"]
    assert found["again"] == []
