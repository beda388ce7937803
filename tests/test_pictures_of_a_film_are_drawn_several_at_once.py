"""A film's pictures come in order and are those of `viewer.render`, but for chequers of floors, however many threads
draw them; scratch that grows a little each time is not made anew each time."""

import numpy as np
import pytest

import tisim
from tisim import viewer
from tisim.viewer.camera import choose
from tisim.viewer.several import EACH, Pictures

SIZE = 160, 90


def falling(threads):
    tisim.init(arch="cpu", precision="f64", threads=threads)
    m = tisim.Model.from_scene("wall", n=20)
    return m, tisim.Data(m)


def filmed(threads, n, **look):
    m, d = falling(threads)
    found, wanted = [], []
    pictures = Pictures(m, *SIZE, found.append)
    painter = viewer.renderer.Painter(m, *SIZE)
    for _ in range(n):
        tisim.step(m, d, 20)
        camera = choose(None, m, d, SIZE[0] / SIZE[1])
        wanted.append(viewer.render(m, d, *SIZE, camera=camera, painter=painter, **look))
        pictures.add(d, camera, **look)
    pictures.close()
    return found, wanted


@pytest.mark.parametrize("look", [dict(quality="sun"), dict(quality="plain", color="speed"), dict(quality="model"),
                                  dict(quality="sun", show_contacts=True)])  # fmt: skip
def test_they_are_those_of_render_in_order(look):
    found, wanted = filmed(None, 2 * EACH + 1, **look)
    assert len(found) == len(wanted)
    for mine, theirs in zip(found, wanted):
        off = np.abs(mine.astype(int) - theirs)
        few = 1e-3 if look.get("show_contacts") else 0.0  # thin shadows of marks are fainter than a chequer
        assert off.mean() < 0.3 and (off > 8).mean() <= few
    assert all((a != b).any() for a, b in zip(wanted, wanted[1:]))


def test_their_bits_do_not_depend_on_threads():
    one, two = (filmed(threads, EACH + 1, quality="sun")[0] for threads in (1, None))
    assert all((a == b).all() for a, b in zip(one, two))


def test_edges_of_shadows_on_the_floor_are_smooth():
    """Where only chequers are left out, a shadow's edge has the colours that render gives it."""
    m = tisim.Model.from_xml_string(
        '<mujoco><worldbody><geom type="plane" size="0 0 1"/><body pos="0 0 .5"><freejoint/><geom size=".3"/></body>'
        "</worldbody></mujoco>"
    )
    d = tisim.Data(m)
    tisim.forward(m, d)
    camera, found = choose(None, m, d, 16 / 9), []
    pictures = Pictures(m, *SIZE, found.append)
    pictures.add(d, camera, quality="sun")
    pictures.close()
    smooth, raw = (
        viewer.render(m, d, *SIZE, camera=camera, quality="sun", smooth=s).astype(int) for s in (True, False)
    )
    edges = np.abs(smooth - raw).sum(2) > 40
    assert edges.sum() > 50
    assert np.abs(found[0] - smooth)[edges].max() <= 8


def test_what_grows_a_little_each_time_is_seldom_made_anew():
    m, d = falling(None)
    tisim.step(m, d)
    made = {id(d.scratch("pic_pick", n)): n for n in range(100, 1000)}
    assert len(made) < 15


def test_a_picture_that_cannot_be_drawn_is_told_once():
    m, d = falling(None)
    tisim.forward(m, d)
    found = []
    pictures = Pictures(m, *SIZE, found.append)
    pictures.add(d, choose(None, m, d, 16 / 9), quality="sun")
    pictures._drawn = lambda noted: 1 / 0
    pictures._waiting *= 2
    with pytest.raises(ZeroDivisionError):
        pictures.close()
    pictures.close()
    assert not found
