"""What a parallel loop asks of a GPU: buffers where few can be bound, arrays, registers and stack.

Contract: on Vulkan and Metal, where arrays lie in arenas, no kernel takes more than 24 buffers (Mesa's software Vulkan
of 2022 has 32, Metal 31). On CUDA a loop reads at most 24 arrays, its threads have at most 128 registers, and no stack,
but for the tasks that are listed here with what they take; registers and stack are ptxas's, for sm_90.
"""

import json

import pytest

from tisim.cli import recording
from tisim.device import arena, cubin, own, session

from .ptxas import rows_of
from .software import HERE, needs_compiler, on_cpu, start

BUFFERS, ARRAYS, REGISTERS = 24, 24, 128
# arrays of the tasks that read more of them: solvers, which know bodies, contacts, rows, dofs and trees at once
MORE_ARRAYS = {
    "small_islands": 122, "linear_step": 66, "start_round": 46, "start_direction": 41, "begin_rounds": 40, "move": 40,
    "write_contacts": 40, "tree_inertia": 36, "tree_velocity": 36, "limit_rows": 31, "lone_islands": 31, "project": 29,
    "hfield": 27, "place_islands": 27, "contact_terms": 27, "fill_islands": 27, "body_poses": 26,
    "tree_acceleration": 26,
}  # fmt: skip
# registers and bytes of stack, the larger of what ptxas 12.9 and 13.0 take: searches of depths have f64 numbers
# (ARCHITECTURE, Precision), of which height fields have 96 bytes more at once than fit
MORE_REGISTERS = dict(hfield=255, convex=234, small_islands=222, narrowphase=188, body_poses=140)
STACK = dict(hfield=64)
SCENES = dict(dominos=(20, 60), pile=(40, 300), ragdolls=(3, 1000), bowl=(12, 1000), terrain=(12, 1000))
HOT = [pytest.param(name, marks=() if name == "dominos" else pytest.mark.slow) for name in SCENES]


@pytest.fixture(scope="module")
def steps():
    return [step for _, steps in recording.record().values() for step in steps if step.kernel]


@pytest.mark.parametrize("arch", ["vulkan", "metal"])
@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_few_buffers_where_arrays_lie_in_arenas(arch, precision, steps, monkeypatch):
    monkeypatch.setattr(session, "arch", arch)
    monkeypatch.setattr(session, "precision", precision)
    taken = {step.name: max(len(v.arenas) for v in step.variants) for step in steps}
    arrays = {step.name: max(sum(e.is_array for e in v.entries) for v in step.variants) for step in steps}
    assert arrays["small_islands"] > 100 and 5 < taken["small_islands"]
    assert max(taken.values()) <= BUFFERS, taken


def test_elsewhere_arrays_have_memory_of_their_own(steps, monkeypatch):
    for arch in ("cpu", "cuda"):
        monkeypatch.setattr(session, "arch", arch)
        assert not arena.used() and not any(v.arenas for step in steps for v in step.variants)


@needs_compiler
@pytest.mark.parametrize("name", HOT)
def test_tasks_on_cuda(name, tmp_path):
    n, steps = SCENES[name]
    state = tmp_path / "settled.npz"
    on_cpu(name, n, steps, state)
    given = dict(TISIM_ARCH="cuda", TISIM_PRECISION="f32", TISIM_OWN_LAUNCHES="1")
    kept = json.loads(start(HERE / "own.py", name, n, 1, state, environment=given).splitlines()[-1])["kept"]
    ptxas = cubin.assembler()
    rows = [row for key in kept for row in rows_of(own.folder() / f"{key}.ptx", ptxas)]
    assert len(rows) > 20 and sum(row["arrays"] > 5 for row in rows) > 5
    limits = dict(arrays=(ARRAYS, MORE_ARRAYS), registers=(REGISTERS, MORE_REGISTERS), stack=(0, STACK))
    over = [
        (row["task"], what, row[what])
        for row in rows
        for what, (most, more) in limits.items()
        if row.get(what, 0) > more.get(row["task"].split(".")[0], most)
    ]
    assert not over
    if ptxas is None:
        pytest.skip("ptxas is not installed: arrays were counted, registers and stack were not")
