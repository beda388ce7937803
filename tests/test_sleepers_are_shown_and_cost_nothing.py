"""Sleepers are drawn dark and counted; what sleeps is in no list that a step goes over, and waking one body adds its
island alone. Static bodies are placed once, and again after the model was written."""

import numpy as np
import pytest
from scipy import ndimage
from shared.sleepers import STACKS, UPPER, free, scene

import tisim
from tisim.device import memory
from tisim.model.tables.colors import ASLEEP
from tisim.viewer.camera import Camera
from tisim.viewer.controls import Controls
from tisim.viewer.measures import color_bytes
from tisim.viewer.raster import Raster
from tisim.viewer.scene import Look

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


def shown(m, d):
    """(picture, geom of each pixel) of a look from the side, without shadows."""
    with tisim.Renderer(m, 90, 160, quality="plain") as renderer:
        renderer.update_scene(d, Camera(90, -20, 2, (0, 0, 0.1)), Look())
        picture, _, record = renderer.render_all()
    return picture.astype(float), record[..., 0]


def test_sleepers_are_dark_in_pictures():
    m, d = settled(free("a", "0 0 .1"))
    dark, geom = shown(m, d)
    tisim.wake(m, d)
    bright, _ = shown(m, d)
    box = geom == m.name2id("geom", "a")
    inner = box[1:-1, 1:-1] & box[2:, 1:-1] & box[:-2, 1:-1] & box[1:-1, 2:] & box[1:-1, :-2]
    assert inner.sum() > 200
    assert (dark[1:-1, 1:-1][inner] < 0.8 * bright[1:-1, 1:-1][inner]).all(), "0.4 of the colour, as the eye sees it"
    away = ~ndimage.binary_dilation(box, np.ones((3, 3)), 2)  # edges are smoothed
    assert np.array_equal(dark[away], bright[away])


def test_sleepers_are_dark_on_pages():
    pytest.importorskip("viser")
    from tisim.viewer.browser import objects

    m, d = settled(free("a", "0 0 .1"))
    page = objects.Shapes(Controls(m, d, running=False), "127.0.0.1", 0)
    try:
        box = [int(g) for g in page._shapes.geoms].index(m.name2id("geom", "a"))
        batch = next(b for b in page.batches if box in b.members)
        row = batch.rows.start + list(batch.members).index(box)
        dark = page._page.rgba(row)[:3].astype(int)
        tisim.wake(m, d)
        page.update()
        bright = page._page.rgba(row)[:3].astype(int)
        assert np.allclose(dark, ASLEEP * bright, atol=1) and bright.max() > 50
    finally:
        page.close()


def test_an_island_keeps_one_colour_when_all_sleeps():
    m, d = settled(STACKS)
    rgb = color_bytes(m, d, 0, "island")[:, :3]
    tree = np.asarray(m.body_treeid)[np.asarray(m.geom_bodyid)]
    first, asleep = {}, np.asarray(d.tree_asleep)
    for t in range(m.ntree):
        k, circle = int(asleep[t]), [t]
        while k != t:
            circle.append(k)
            k = int(asleep[k])
        first[t] = min(circle)
    colors = [(first[t], tuple(rgb[g].tolist())) for g, t in enumerate(tree) if t >= 0]
    assert len(set(first.values())) < m.ntree, "some sleep together"
    assert len(set(colors)) == len({island for island, _ in colors}) == len({color for _, color in colors})


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
