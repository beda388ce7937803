"""Large piles are laid out in the solver along a curve through space, and nobody but the clock can tell.

Contract: neighbours in the solver's lists are neighbours in the scene; what it finds is, to its tolerance, what it
finds where nothing is laid out, and contacts keep their order; numbers of bodies do not matter to the lists; any number
of workers, and a state that was saved, give the same bits.
"""

import numpy as np
import pytest
from shared import checked, golden

import tisim


@pytest.fixture(autouse=True)
def f64():
    tisim.init(arch="cpu", precision="f64")


def pile(variant="packed", n=200, steps=150, cone="pyramidal", worlds=1, workers=None):
    """Model and Data of a pile that has fallen."""
    with golden.force(variant, workers=workers):
        m = tisim.Model.from_scene("pile", n=n, cone=cone)
        m.opt.tolerance, m.opt.iterations = 1e-12, 200
        d = tisim.Data(m, nworld=worlds)
        if worlds > 1:
            d.qvel = np.random.default_rng(0).normal(size=(worlds, m.nv)) * 0.3
        checked.step(m, d, steps)
    return m, d


def packed(d):
    """Of each island, whether its members sit along the curve."""
    shared, single = (d.host(f"island_{name}").reshape(-1)[: d.nisland] for name in ("shared", "single"))
    return (shared > 0) & (single == 1)


def largest(d):
    """Trees and contacts of the largest island, in the order of its lists."""
    trees = d.host("island_treenum").reshape(-1)[: d.nisland]
    k = int(trees.argmax())

    def listed(name):
        first = d.host(f"island_{name}adr").reshape(-1)[k]
        return d.host(f"island_{name}").reshape(-1)[first : first + d.host(f"island_{name}num").reshape(-1)[k]]

    return k, listed("tree"), listed("con")


def test_neighbours_in_lists_are_neighbours_in_the_scene():
    m, d = pile()
    k, trees, contacts = largest(d)
    assert packed(d)[k]
    assert len(trees) > 150
    at = d.xipos[m.body_treeid >= 0]
    apart = np.linalg.norm(np.diff(at[trees], axis=0), axis=1).mean()
    by_number = np.linalg.norm(np.diff(at[np.sort(trees)], axis=0), axis=1).mean()
    assert apart < 0.7 * by_number
    body = d.host("con_body")[contacts]
    tree = np.where(body >= 0, np.asarray(m.body_treeid)[body], -1)
    place = np.full(m.ntree, -1)
    place[trees] = np.arange(len(trees))
    first = np.where(tree[:, 0] >= 0, place[tree[:, 0]], place[tree[:, 1]])
    assert (np.diff(first) >= 0).all(), "contacts follow their bodies"


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("worlds", [1, 3])
def test_it_finds_what_is_found_without(cone, worlds):
    m, d = pile(n=120, cone=cone, worlds=worlds)
    before = d.qacc_warmstart.copy()
    found = {}
    for variant in ("packed", "team"):
        with golden.force(variant):
            other = tisim.Model.from_scene("pile", n=120, cone=cone)
            other.opt.tolerance, other.opt.iterations = 1e-12, 200
            e = tisim.Data(other, nworld=worlds)
            e.qpos, e.qvel, e.qacc_warmstart = d.qpos, d.qvel, before
            tisim.forward(other, e)
            found[variant] = e
    one, none = found["packed"], found["team"]
    assert packed(one).any()
    assert np.array_equal(one.contact.geom, none.contact.geom)
    scale = np.abs(none.qfrc_constraint).max()
    assert np.abs(one.qacc - none.qacc).max() < 1e-6 * np.abs(none.qacc).max()
    assert np.abs(one.qfrc_constraint - none.qfrc_constraint).max() < 1e-6 * scale
    force = [e.host("con_force")[: np.sum(e.ncon), :3] for e in (one, none)]
    assert np.abs(force[0] - force[1]).max() < 1e-4 * np.abs(force[1]).max()
    assert np.abs(one.efc_force - none.efc_force).max() < 1e-4 * np.abs(none.efc_force).max()


def test_any_number_of_workers_gives_the_same_bits():
    tisim.init(arch="cpu", precision="f64", threads=3)
    m, d = pile(n=60, steps=80)
    state, bits = tisim.get_state(m, d), set()
    for workers in (1, 2, 3):
        with golden.force("packed", workers=workers):
            e = tisim.Data(m)
            tisim.set_state(m, e, state)
            tisim.step(m, e, 3)
            bits.add(golden.digest(e))
    assert len(bits) == 1


def test_a_saved_state_goes_on_to_the_same_bits():
    m, d = pile(steps=60)
    with golden.force("packed"):
        e = tisim.Data(m)
        tisim.set_state(m, e, tisim.get_state(m, d))
        for data in (d, e):
            tisim.step(m, data, 20)
    assert golden.digest(d) == golden.digest(e)


def test_asleep_bodies_are_left_out():
    with golden.force("packed"):
        m = tisim.Model.from_scene("pile", n=60)
        m.opt.enableflags = int(m.opt.enableflags) | int(tisim.mjtEnableBit.mjENBL_SLEEP)
        m.opt.sleep_tolerance = 0.2  # m/s: a pile that is nearly at rest falls asleep in parts
        d = tisim.Data(m)
        some = 0
        for _ in range(60):
            checked.step(m, d, 10)
            some += 0 < d.ntree_awake < 60 and packed(d).any()
    assert some
