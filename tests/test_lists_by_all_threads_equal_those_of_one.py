"""Islands and the lists of contacts and rows that all threads of a GPU make are equal to those that one thread makes.

Contract: every list, label and count of contact_lists, row_lists, find_islands and cut_blocks, on random graphs of
contacts and rows, and on none, one, 100,000, all between the same two bodies, and a chain through all trees.
"""

import numpy as np
import pytest

import tisim
from tisim.device import launch, runtime
from tisim.stages import lists, solver

COUNTS = "nefc nisland ndense nlarge nsmall ntblk ncblk nrblk".split()
OF_CONTACTS, OF_ROWS = "contact_efc_address con_tree".split(), "row_tree row_coupled".split()
OF_BODIES = "body_conadr body_connum".split()
OF_TREES = "tree_segadr tree_segnum tree_single tree_island".split()
OF_ISLANDS = """treeadr treenum conadr connum rowadr rownum joined coupled dofnum single factored denseadr shared
    nodeadr""".split()
OF_LARGE = "tblkadr tblkend cblkadr cblkend rblkadr rblkend".split()
OF_PARTS = "seg_row seg_adr seg_num".split()
WORLDS, BODIES = 40, 20


@pytest.fixture(scope="module")
def scene():
    """A model of free bodies and limited hinges, and a Data with room for many contacts and rows."""
    free = "<body><freejoint/><geom size='.1'/></body>"
    hinged = "<body><joint range='0 1' limited='true'/><geom size='.1'/></body>"
    text = f"<mujoco><worldbody>{(free + hinged) * BODIES}</worldbody></mujoco>"
    m = tisim.Model.from_xml_string(text)
    d = tisim.Data(m, WORLDS, capacity=dict(nconmax=100_000, nrowmax=30_000, nJmax=100_000))
    return m, d


def put(d, name, values):
    flat = d.device(name).host
    flat[: np.size(values)] = np.reshape(values, -1)


def contacts(d, pairs, rng):
    """Contacts between these bodies, -1: static; some are excluded, and all have some dimension."""
    excluded = rng.random(len(pairs)) < 0.1
    put(d, "con_body", np.where(excluded[:, None], -1, pairs))
    put(d, "contact_exclude", excluded)
    put(d, "contact_dim", rng.choice([1, 3, 4, 6], len(pairs)))
    d.set_counts(ncon=len(pairs))


def rows(d, dofs):
    """Rows with entries at these dofs; where the same array comes again they are those of a connect or weld."""
    number = np.array([len(x) for x in dofs], int)
    again = np.array([a is b for a, b in zip(dofs, dofs[1:])], bool)
    pose = np.zeros(len(dofs) + 1, int)
    pose[:-2][again] = 1
    pose[1:-1][again] = -1
    put(d, "row_pose", pose[:-1])
    put(d, "row_adr", np.cumsum(number) - number)
    put(d, "row_num", number)
    put(d, "J_dof", np.concatenate([*dofs, []]))
    d.set_counts(nrow=len(dofs), nJ=int(number.sum()))


def found(d):
    """All that is listed, with the parts of the arrays that mean something."""
    n = {name: d.count(name) for name in (*COUNTS, "ncon", "nrow")}

    def of(names, length, before=""):
        return {name: d.host(before + name).reshape(-1)[:length].copy() for name in names}

    out = of(OF_CONTACTS, n["ncon"]) | of(OF_ROWS, n["nrow"]) | of(OF_BODIES, None) | of(OF_TREES, None)
    out |= of(OF_ISLANDS, n["nisland"], "island_") | of(OF_PARTS, out["tree_segnum"].sum())
    out |= of(["body_con"], out["body_connum"].sum()) | of(["island_small"], n["nsmall"])
    out |= of(["island_large"], n["nlarge"]) | of(["island_tree"], out["treenum"].sum())
    out |= of(["island_con"], out["connum"].sum()) | of(["island_row"], out["rownum"].sum())
    out |= {name: d.host(f"island_{name}").reshape(-1)[out["island_large"]] for name in OF_LARGE}
    for block in ("tblk", "cblk", "rblk"):
        out |= of([f"{block}_{part}" for part in ("island", "begin", "end")], n[f"n{block}"])
    out["tree_dofstart"] = d.host("tree_dofstart").reshape(-1)[out["island_tree"]]
    return out | n


def both(m, d, **border):
    """What one thread lists and what all do."""
    border = dict(maxcon=20, mindof=0, maxdense=24, maxfactor=0, maxjoined=0, maxchain=0, maxtied=0) | border
    k = {name: runtime.kernels(f"constraint.{name}") for name in ("contacts", "row", "island")}
    serial = [k["contacts"].contact_lists, k["row"].row_lists, k["island"].find_islands, k["island"].cut_blocks]
    listed = []
    for make in (
        lambda: launch.run(m, d, serial, False, **border, **solver.BLOCKS),
        lambda: lists.make(m, d, [], **border, **solver.BLOCKS),
    ):
        for name, array in d._device.items():
            if name.startswith(("island_", "seg_", "body_con", "tree_", "tblk_", "cblk_", "rblk_", "uf_")):
                array.host[:] = -7
        make()
        listed.append(found(d))
    return listed


def graphs(total_bodies, total_dofs, nv, rng):
    """(name, pairs of bodies, dofs of rows)."""
    moving = np.arange(total_bodies)[np.arange(total_bodies) % (2 * BODIES + 1) > 0]
    none = np.zeros((0, 2), int)

    def random_rows(n, spread):
        first = rng.integers(0, total_dofs, n)
        width = rng.integers(1, spread + 1, n)
        return [np.arange(a, min(a + w, a // nv * nv + nv)) for a, w in zip(first, width)]

    def random_pairs(n, spread):
        one = rng.integers(0, len(moving), n)
        other = np.clip(one + rng.integers(-spread, spread + 1, n), 0, len(moving) - 1)
        pairs = np.stack([moving[one], moving[other]], 1)
        pairs[pairs[:, 0] == pairs[:, 1], 0] = -1
        pairs[rng.random(n) < 0.1] = -1
        return pairs

    chain = np.stack([moving[:-1], moving[1:]], 1)
    yield "none", none, []
    yield "one contact", np.array([[moving[3], moving[5]]]), []
    yield "one row", none, [np.array([4, 5, 8])]
    yield "alone", random_pairs(300, 0), random_rows(100, 1)
    yield "some", random_pairs(400, 3), random_rows(60, 9)
    yield "many", random_pairs(3000, 2), random_rows(500, 6)
    yield "100,000", random_pairs(100_000, 500), random_rows(20_000, 4)
    yield "all equal", np.tile(moving[[7, 4]], (20_000, 1)), [np.arange(4) for _ in range(3000)]
    ties = [[x] * n for x, n in zip(random_rows(300, 9), rng.choice([1, 3, 6], 300))]
    yield "connects and welds", random_pairs(100, 3), [x for tie in ties for x in tie]
    yield "a chain", chain, []
    yield "a chain, backwards", chain[::-1], []
    yield "a shuffled chain", rng.permutation(chain), []


@pytest.mark.parametrize("border", [{}, dict(maxfactor=30, maxjoined=60, maxdense=12)], ids=["dense", "factored"])
def test_all_lists_are_equal(scene, border):
    m, d = scene
    rng = np.random.default_rng(0)
    seen = set()
    for name, pairs, dofs in graphs(WORLDS * m.nbody, WORLDS * m.nv, m.nv, rng):
        contacts(d, pairs, rng)
        rows(d, dofs)
        one, every = both(m, d, **border)
        assert one.keys() == every.keys()
        for what in one:
            assert np.array_equal(one[what], every[what]), (name, what)
        seen |= {what for what in ("nlarge", "nsmall", "ntblk", "nrblk", "ndense") if one[what]}
    assert len(seen) == 5, "large and small islands, blocks and dense matrices are among them"
