"""Sleepers are drawn dark and counted; what sleeps is in no list that a step goes over, and waking one body adds its
island alone. Static bodies are placed once, and again after the model was written."""

import numpy as np

import tisim
from tests.shared.sleepers import STACKS, UPPER, free, scene
from tisim.device import memory
from tisim.model.tables.colors import ASLEEP
from tisim.viewer.raster import Raster

SHELF = '<body name="shelf" pos="3 0 .5"><geom type="box" size=".3 .3 .05"/></body>' + free("on", "3 0 .65", UPPER)


def settled(world, steps=150):
    m = tisim.Model.from_xml_string(scene(world))
    d = tisim.Data(m)
    tisim.step(m, d, steps)
    assert d.ntree_awake == 0
    return m, d


def colors(m, d):
    """Colour (3,) of each geom in the window, from 0 to 255."""
    raster = Raster(m)
    raster.paint_state(d, 0, "geom")
    return {int(g): b.records[k, 11:].copy().view(np.uint8)[:3].astype(int)
            for b in raster.batches for k, g in enumerate(b.members)}  # fmt: skip


def test_sleepers_are_dark():
    m, d = settled(free("a", "0 0 .1"))
    dark = colors(m, d)
    tisim.wake(m, d)
    bright = colors(m, d)
    box = int(m.name2id("geom", "a"))
    assert np.allclose(dark[box], ASLEEP * bright[box], atol=1)
    assert all(np.array_equal(dark[g], bright[g]) for g in dark if g != box)


def test_a_run_says_how_much_sleeps(call):
    code, out, _ = call("run", "rows", "--n", 9, "--sleep", "--seconds", 0.3, "--no-picture")
    assert code == 0 and "asleep 9 of 9 bodies, 9 of 9 trees" in " ".join(out.split())


def test_nothing_that_sleeps_is_in_a_list_of_what_is_awake():
    m, d = settled(STACKS)
    lists = ("ntawake", "nvawake", "nqawake", "nboxawake", "nlive", "ncon", "nefc")
    assert [int(d.count(name)) for name in lists] == [0] * len(lists) and d.count("ncpair") > 0
    d.qvel[0] = 0.1
    tisim.step(m, d)
    assert [d.ntree_awake, d.nbody_awake, d.nv_awake] == [2, 2 + 1, 12] and 0 < d.count("nlive") < d.count("ncpair")
    assert {int(g) for g in np.asarray(d.contact.geom).ravel()} <= {m.name2id("geom", n) for n in ("floor", "a", "b")}


def test_static_bodies_are_placed_once_and_again_after_an_edit():
    m, d = settled(SHELF)
    shelf = m.name2id("body", "shelf")
    tisim.wake(m, d)
    xpos = memory.download(d.device("xpos"))
    xpos.reshape(-1, 3)[shelf] = 7
    memory.upload(d.device("xpos"), xpos)
    tisim.step(m, d)
    assert d.xpos[shelf].tolist() == [7, 7, 7]
    m.body_pos[shelf, 2] = 0.4
    tisim.step(m, d)
    assert d.xpos[shelf].tolist() == [3, 0, 0.4]
