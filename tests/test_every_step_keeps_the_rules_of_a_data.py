"""After every step validate() finds nothing wrong, and it finds what is wrong.

Contract: finite numbers, unit quaternions, sorted pairs and contacts, lists that hold everything once, and islands that
are the connected components, on every scene for 50 steps; for each rule an array that breaks it gives its message.
"""

import numpy as np
import pytest
from shared import checked, golden

import tisim
from tisim import scenes
from tisim.data.validate import validate
from tisim.device import memory

SMALL = dict(pile=60, dominos=25, wall=40, pyramid=30, ragdolls=2, shapes=20, chain=8, bowl=15, terrain=12, cards=15)


@pytest.mark.parametrize("name", scenes.names())
def test_scenes(name):
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene(name, **({"n": SMALL[name]} if name in SMALL else {}))
    checked.step(m, tisim.Data(m), 50)


@pytest.mark.parametrize(
    "variant", ["serial", "parallel", "team", pytest.param("shared", marks=pytest.mark.slow), "gpu_sort"]
)
def test_everything_at_once_on_every_road(variant):
    tisim.init(arch="cpu", precision="f64")
    with golden.force(variant):
        m, d, _ = golden.load(golden.Case("golden/everything.xml worlds=2", 60))
        checked.step(m, d, 60)
    assert d.count("nlarge") > 0 or variant not in ("team", "shared")


@pytest.fixture(scope="module")
def pile():
    """A Data with pairs, contacts, rows and islands of several trees in two worlds, and its Model."""
    tisim.init(arch="cpu", precision="f64")
    with golden.force("shared"):
        m, d, _ = golden.load(golden.Case("golden/everything.xml worlds=2", 20))
        checked.step(m, d, 20)
        yield m, d


def put(index, value):
    """Writes a value at a place of the flat array."""

    def change(values):
        values[index] = value

    return change


def swap(i, j):
    """Exchanges two elements of the flat array."""

    def change(values):
        values[[i, j]] = values[[j, i]]

    return change


def shift(values):
    values += 1


def lose(values):
    values[np.flatnonzero(values)[-1]] = 0


# name: (array, what is done to its elements, message)
BROKEN = {
    "a velocity": ("qvel", put(3, np.nan), "qvel is finite"),
    "a pose": ("geom_xpos", put(0, np.inf), "geom_xpos is finite"),
    "a depth": ("contact_dist", put(0, np.nan), "contact_dist is finite"),
    "a body's quaternion": ("xquat", put(4, 1.1), "xquat is of unit length"),
    "a state's quaternion": ("qpos", put(3, 2.0), "quaternions in qpos"),
    "a pair's geom": ("cpair_geom2", put(0, 10**6), "geoms of pairs exist"),
    "the order of pairs": ("cpair_geom1", swap(0, -1), "pairs are sorted"),
    "a pair in a bin": ("cpair_bin", put(0, 1), "the pairs of all colliders"),
    "the order of bins": ("cpair_bin", swap(0, -1), "listed by collider"),
    "a pair not computed": ("cpair_ncon", put(0, -2), "every pair was computed"),
    "slots": ("cpair_slot", put(slice(None), 0), "slots of their own"),
    "a contact's geom": ("contact_geom", put(0, -1), "contact geoms exist"),
    "a contact's world": ("contact_worldid", put(0, 2), "contact worlds exist"),
    "the order of contacts": ("contact_worldid", swap(0, -1), "contacts are sorted"),
    "how many contacts a pair has": ("cpair_ncon", lose, "contacts are those of their pairs"),
    "a contact's other geom": ("contact_geom", put(-1, 114), "contacts are those of their pairs"),
    "a frame": ("contact_frame", put(0, 0.5), "frames are orthonormal"),
    "a dimension": ("contact_dim", put(0, 5), "contact_dim is"),
    "rows of contacts": ("contact_efc_address", swap(0, -1), "rows of contacts tile"),
    "contacts of bodies": ("body_con", swap(0, -1), "contacts of bodies are listed"),
    "their number": ("body_connum", shift, "contacts of bodies are counted"),
    "their address": ("body_conadr", shift, "contacts of bodies tile"),
    "dofs of rows": ("J_dof", put(0, -1), "dofs of rows exist"),
    "the place of rows": ("row_adr", swap(0, -1), "Jacobians of rows tile"),
    "the order of dofs": ("J_dof", lambda v: np.copyto(v, v[::-1].copy()), "dofs of rows are sorted|rows of trees"),
    "rows of trees": ("seg_row", swap(0, -1), "rows of trees are listed"),
    "dofs of rows in trees": ("seg_num", shift, "rows of trees are listed"),
    "the tree of a row": ("row_tree", swap(0, -1), "rows know their trees"),
    "a body without rows": ("tree_single", lambda v: np.subtract(1, v, out=v), "single bodies have no rows"),
    "an island that is missing": ("tree_island", put(slice(None), -1), "where a constraint acts"),
    "two islands in one": ("tree_island", lambda v: np.minimum(v, 0, out=v), "connected components"),
    "a gap among islands": ("tree_island", lambda v: v.__setitem__(v == v.max(), v.max() + 1), "without gaps"),
    "the numbers of islands": ("tree_island", lambda v: v.__setitem__(v >= 0, v.max() - v[v >= 0]), "first trees"),
    "trees of islands": ("island_tree", swap(0, -1), "trees of islands are listed"),
    "contacts of islands": ("island_con", swap(0, -1), "contacts of islands are listed"),
    "rows of islands": ("island_row", swap(0, -1), "rows of islands are listed"),
    "dofs of islands": ("tree_dofstart", shift, "dofs of islands tile"),
    "islands to solve": ("island_shared", shift, "small or large"),
}
FILLED = dict(
    cpair="ncpair",
    contact="ncon",
    body_con=None,
    row="nrow",
    J="nJ",
    seg="nJ",
    island_row="nrow",
    island_shared="nisland",
)


def filled(d, name):
    """How many elements of an array are in use: of a list what is listed, else all."""
    if name == "body_con":
        return int(d.host("body_connum").sum())
    if name == "cpair_bin":
        return int((d.host("cpair_kind")[: d.count("ncpair")] >= 0).sum())
    if name == "island_con":
        return int((d.host("con_body")[: d.count("ncon")] >= 0).any(1).sum())
    if name == "island_tree":
        return int((d.host("tree_island") >= 0).sum())
    count = FILLED.get(name, FILLED.get(name.split("_")[0]))
    whole = d.host(name)
    return whole.size if count is None else whole[: d.count(count)].size


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_rule_is_named(pile, what):
    m, d = pile
    name, change, message = BROKEN[what]
    before = memory.download(d.device(name))
    broken, n = before.copy(), filled(d, name)
    assert n > 1
    part = broken[:n]
    change(part)
    validate(m, d)
    memory.upload(d.device(name), broken)
    try:
        with pytest.raises(tisim.Error, match=f"validate: .*{message}"):
            validate(m, d)
    finally:
        memory.upload(d.device(name), before)


def test_rules_hold_without_contacts():
    m = tisim.Model.from_scene("chain", n=3)
    d = tisim.Data(m)
    checked.step(m, d, 2)
    assert d.ncon == 0
    memory.upload(d.device("xquat"), np.zeros(4))
    with pytest.raises(tisim.Error, match="xquat is of unit length"):
        validate(m, d)
