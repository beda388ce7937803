"""The software CUDA device computes what kernels say, sees their races, and shows where order changes results.

A sound kernel and four with known faults: a read of what another thread writes, two writers of one place, a sum of
floats by atomics, a list filled in the order of the threads.
"""

import json

from .software import HERE, KINDS, needs_compiler, start

EXPECTED = dict(
    sound=([], False), reads_its_neighbour=(["read / write"], True), two_write_one_place=(["write / write"], True),
    sums_floats=(["float atomics"], True), appends=(["integer atomics"], True),
)  # fmt: skip


@needs_compiler
def test_each_fault_is_seen_and_only_those():
    told = json.loads(start(HERE / "faults.py", watch=True, sm=16).splitlines()[-1])
    contracted, apart = told.pop("contracted"), told.pop("apart")
    assert {name: ([KINDS[k] for k in seen], changes) for name, (seen, changes) in told.items()} == EXPECTED
    assert contracted == 500, "Taichi contracts products on CUDA although fast_math is off: a * b - b * a is not 0"
    assert apart == 0, "a maximum with a number that is smaller keeps a product out of that"


@needs_compiler
def test_a_graph_keeps_what_it_was_made_of_and_shows_a_missing_dependency():
    told = json.loads(start(HERE / "graphs.py"))
    assert told["missing"] is None and told["chained"] == [[14]] * 3 and told["changed"] == [14]
    assert told["loose"][0] == [14] and [17] in told["loose"]  # what nothing holds back runs in any order
    assert told["foreign"] == "error 209 in cuModuleLoadDataEx"
