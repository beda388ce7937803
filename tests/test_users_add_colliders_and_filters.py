"""A user's collider and contact filter take part in the step like built-in ones."""

import numpy as np
import pytest
import taichi as ti

import tisim

SCENE = """<mujoco><worldbody><geom name="floor" type="box" size="1 1 .1" pos="0 0 -.1"/>
  <body name="a" pos="0 0 .09"><freejoint/><geom name="a" size=".1"/></body>
  <body name="b" pos=".5 0 .09"><freejoint/><geom name="b" size=".1"/></body></worldbody></mujoco>"""


@ti.func
def ball_on_lid(c, x1, R1, size1, x2, R2, size2):
    """A sphere touches only the upper face of a box, wherever it is beside it; d is a name of the user's own."""
    up = ti.Vector([R2[0, 2], R2[1, 2], R2[2, 2]])
    height = (x1 - x2).dot(up) - size2[2]
    d = height - size1[0]
    pos = x1 - (size1[0] + 0.5 * d) * up
    return ti.Vector([d, pos[0], pos[1], pos[2], -up[0], -up[1], -up[2]])


@pytest.fixture
def lid():
    tisim.init(arch="cpu", precision="f64")
    tisim.register_collider("box", tisim.mjtGeom.mjGEOM_SPHERE, ball_on_lid)
    yield
    tisim.register_collider("sphere", "box", None)


def contacts(xml, filter=None):
    m = tisim.Model.from_xml_string(xml)
    m.contact_filter = filter
    d = tisim.Data(m)
    tisim.forward(m, d)
    return m, d


def test_a_registered_collider_makes_the_contacts(lid):
    m, d = contacts(SCENE.replace('pos=".5 0 .09"', 'pos="5 0 .09"'))
    # the filter of boxes comes before any collider: the far ball never reaches it
    assert d.ncon == 1
    np.testing.assert_allclose(d.contact.dist, -0.01, atol=1e-12)
    np.testing.assert_allclose(np.reshape(d.contact.frame, (-1, 9))[0, :3], [0, 0, -1], atol=1e-12)
    tisim.step(m, d, 10)
    assert np.isfinite(d.qpos).all()


def test_taking_it_away_brings_the_built_in_back(lid):
    xml = SCENE.replace('pos="0 0 .09"', 'pos="1.05 0 -.05"')  # beside the lid
    _, d = contacts(xml)
    with_lid = d.contact.dist.min()
    tisim.register_collider("sphere", "box", None)
    _, d = contacts(xml)
    assert with_lid < -0.1 < d.contact.dist.min() < 0


def test_wrong_colliders_are_refused():
    for types, func, contacts, message in [
        (("sphere", "boxx"), ball_on_lid, 1, "'box'"), (("sphere", 12), ball_on_lid, 1, "12"),
        (("sphere", "box"), lambda c: 0, 1, "@ti.func"), (("sphere", "box"), ball_on_lid, 0, "1 to 50"),
    ]:  # fmt: skip
        with pytest.raises(tisim.Error, match=message):
            tisim.register_collider(*types, func, contacts)

    @ti.func
    def short(c, x1):
        return x1

    with pytest.raises(tisim.Error, match="7 arguments"):
        tisim.register_collider("sphere", "box", short)


def test_a_filter_takes_contacts_away():
    asked = []

    def not_b(m, d, geom1, geom2, worldid):
        asked.append((geom1.tolist(), geom2.tolist(), worldid.tolist()))
        return (geom1 == m.geom("b").id) | (geom2 == m.geom("b").id)

    m, d = contacts(SCENE, not_b)
    assert d.ncon == 1 and set(d.contact.geom[0]) == {0, 1}
    assert asked == [([1, 2], [0, 0], [0, 0])]
    m.contact_filter = None
    tisim.forward(m, d)
    assert d.ncon == 2
    tisim.step(m, d, 200)
    assert d.qpos[2] > 0.05


def test_a_filtered_body_falls_through_the_floor():
    m, d = contacts(SCENE, lambda m, d, geom1, geom2, worldid: geom1 == 2)
    tisim.step(m, d, 200)
    assert d.qpos[2] > 0.05 and d.qpos[9] < -0.3


def test_listed_pairs_are_not_asked_about():
    listed = SCENE.replace("</worldbody>", '</worldbody><contact><pair geom1="floor" geom2="b"/></contact>')
    _, d = contacts(listed, lambda m, d, geom1, geom2, worldid: np.ones(len(geom1), bool))
    assert d.ncon == 1 and 2 in d.contact.geom[0]


@pytest.mark.parametrize("answer", [None, True, [True], [0.5, 0.5], "yes"])
def test_wrong_filters_are_refused(answer):
    with pytest.raises(tisim.Error, match="contact_filter"):
        contacts(SCENE, lambda *_: answer)
    m = tisim.Model.from_xml_string(SCENE)
    with pytest.raises(tisim.Error, match="contact_filter"):
        m.contact_filter = 5
