"""One step on the (software) CUDA device: no thread reads or writes what another writes, no float is summed by atomics,
and launches, reads by the host and the longest serial thread stay below numbers.

Contract: no task of one thread but NOTES, no plain conflict at all. Integer counters of several threads are those in
COUNTERS, whose order must stay invisible (the other tests shuffle it); reads of what others change by atomics are those
in WATCHED.
"""

import json

import pytest

from .software import HERE, needs_compiler, on_cpu, start

# arrays whose whole numbers several threads change: sums, least numbers, places in lists that are sorted afterwards
COUNTERS = set(
    """counts bin_adr uf_parent uf_touched solver_queue
    island_dofnum island_nodenum island_bodynum island_single island_coupled island_joined
    lcp_head lcp_want
    """.split()
)
# reads of what others lower meanwhile: labels of trees end at the smallest in any order
WATCHED = {("uf_parent", "join_trees")}
PLAIN = ("read / write", "write / write", "float atomics")
# scene: size, steps until it lies, then the most launches, reads by the host
BUDGETS = {"dominos": (300, 60, 39, 2), "pile": (300, 400, 450, 3), "pile:lcp": (100, 300, 300, 3)}
LONGEST, OF_ISLAND = 20_000, 150_000  # instructions of one thread; of one that solves a small island of several bodies
ISLANDS = ("small_islands",)
NOTES = ("next_colors",)  # by one thread, of some numbers


@needs_compiler
@pytest.mark.parametrize("scene", ["dominos", pytest.param("pile", marks=pytest.mark.slow), "pile:lcp"])
def test_a_step(scene, tmp_path):
    n, steps, launches, reads = BUDGETS[scene]
    state = tmp_path / "settled.npz"
    on_cpu(scene, n, steps, state)
    text = start(
        HERE / "step.py", scene, n, 1, state, watch=True, sm=32,
        environment=dict(TISIM_ARCH="cuda", TISIM_PRECISION="f32"),
    )  # fmt: skip
    told = json.loads(text.splitlines()[-1])
    assert told["ncon"] > 0
    for kind, array, task in told["conflicts"]:
        assert kind not in PLAIN, (kind, array, task)
        if kind == "integer atomics":
            assert array in COUNTERS, (array, task)
        if kind == "atomic / plain":
            assert (array, task.split(".")[0]) in WATCHED, (array, task)
    assert sum(task["launches"] for task in told["tasks"].values()) <= launches
    assert told["calls"]["copy_to_host"] <= reads
    for name, task in told["tasks"].items():
        assert not name.endswith(".serial") or name.split(".")[0] in NOTES, name
        assert task["worst"] <= (OF_ISLAND if name.split(".")[0] in ISLANDS else LONGEST), name
    print({k: sum(t[k] for t in told["tasks"].values()) for k in ("launches", "quick")}, told["calls"]["copy_to_host"])
