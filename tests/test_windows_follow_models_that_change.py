"""A window goes on where its model is loaded again, or bodies come and go: what is gone is neither held nor shown."""

import numpy as np
import pytest
from shared.pointing import XML, double_click, place

import tisim
from tisim.viewer import decor
from tisim.viewer.camera import choose
from tisim.viewer.controls import Controls


@pytest.fixture(scope="module")
def model():
    tisim.init(precision="f64")
    return tisim.Model.from_xml_string(XML)


@pytest.fixture
def window(model):
    d = tisim.Data(model)
    tisim.forward(model, d)
    return Controls(model, d, aspect=1.5)


@pytest.mark.parametrize("kind", [tisim.Error, OSError])
def test_reload_of_a_broken_file_tells_and_keeps_the_model(window, model, kind):
    def broken():
        raise kind("a.xml:3: no such thing\nand more")

    window = Controls(model, window.d, reload=broken)
    window.key("r")
    assert window.m is model and window.told == "a.xml:3: no such thing"


def test_reload_without_the_camera_or_the_world_that_is_shown_tells_and_goes_on(model):
    other = tisim.Model.from_xml_string(XML.replace('name="side"', 'name="front"'))
    d = tisim.Data(model)
    tisim.forward(model, d)
    window = Controls(model, d, camera="side", reload=lambda: (other, tisim.Data(other)))
    window.key("r")
    assert window.m is other and "no camera 'side'" in window.told and window.eye.about() == "free camera"
    d = tisim.Data(model, nworld=3)
    tisim.forward(model, d)
    window = Controls(model, d, world=2, reload=lambda: (other, tisim.Data(other)))
    window.key("r")
    assert window.m is model and window.told == "world 2 is shown, and what was loaded has 1"
    assert window.camera.distance > 0 and window.advance(0.01) > 0


def test_back_brings_and_takes_bodies_as_they_were():
    m = tisim.Model.from_xml_string(XML)
    d = tisim.Data(m, nworld=2)
    tisim.forward(m, d)
    window = Controls(m, d)
    window.key("right")
    tisim.remove(m, d, "ball", worlds=1)
    window.key("right")
    tisim.add(m, d, "ball", worlds=1)
    tisim.remove(m, d, "box", worlds=0)
    for there in ([[1, 1, 1], [1, 1, 0]], [[1, 1, 1], [1, 1, 1]]):
        window.key("left")
        assert np.array_equal(d.body_present, np.array(there, bool))
    assert not np.asarray(d.time).any() and (np.asarray(d.qpos) == m.qpos0).all()


def test_what_is_removed_is_followed_no_more():
    m = tisim.Model.from_xml_string(XML)
    d = tisim.Data(m)
    tisim.forward(m, d)
    window = Controls(m, d)
    window.eye.track(m.body("box").id)
    seen = window.camera.lookat
    assert window.eye.about() == "following box"
    tisim.remove(m, d, "box")
    window.advance(0.01)
    assert window.eye.about() == "free camera" and np.allclose(window.camera.lookat, seen, atol=0.01)


def test_what_is_removed_is_neither_selected_nor_labelled_nor_framed():
    m = tisim.Model.from_xml_string(XML.replace(' group="3"', ""))
    d = tisim.Data(m)
    tisim.forward(m, d)
    window = Controls(m, d)
    x, y = place(window, d.xpos[1])
    double_click(window, x, y)
    window.press("left", x, y, 9.0, ctrl=True)
    window.drag(x, y - 0.1)
    window.advance(0.01)
    assert window.about_selected()[0] == "box" and np.asarray(d.xfrc_applied).any()
    framed = choose(None, m, d).distance
    tisim.remove(m, d, "box")
    window.advance(0.01)
    assert choose(None, m, d).distance < 0.8 * framed
    window.opt.label = tisim.mjtLabel.mjLABEL_BODY
    assert [text for _, text in decor.labels(m, d, window.opt)] == ["ball"]
    window.opt.label = tisim.mjtLabel.mjLABEL_GEOM
    assert [text for _, text in decor.labels(m, d, window.opt)] == ["geom 0", "geom 2"]
    assert window.about_selected() is None and not window.pert.active and not np.asarray(d.xfrc_applied).any()
