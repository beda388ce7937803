"""d.body("x").xpos and its like read the element's values as mujoco's MjData does, and write inputs through."""

import mujoco
import numpy as np
import pytest
from shared.reference import Pair

import tisim

XML = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
  <body name="ball" pos="0 0 .09"><freejoint name="free"/><geom name="ball" size=".1"/>
    <site name="top" pos="0 0 .1"/></body>
  <body name="arm" pos="1 0 1"><joint name="hinge" axis="0 1 0"/><joint name="slide" type="slide"/>
    <geom name="rod" type="capsule" fromto="0 0 0 .5 0 0" size=".02"/>
    <body name="hand" pos=".5 0 0"><joint name="wrist" type="ball"/>
      <geom name="hand" type="box" size=".05 .03 .02"/></body>
  </body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def pair():
    p = Pair(XML)
    p.md.qvel[:] = np.linspace(-1, 1, p.mm.nv)
    p.forward()
    return p


@pytest.mark.parametrize("kind, name, fields", [
    ("body", "hand", "xpos xquat xmat xipos ximat subtree_com cinert cvel xfrc_applied"),
    ("geom", "rod", "xpos xmat"), ("site", "top", "xpos xmat"),
    ("joint", "free", "qpos qvel qacc qfrc_bias xanchor xaxis cdof"),
    ("joint", "wrist", "qpos qvel qacc_smooth qfrc_passive"), ("joint", "hinge", "qpos qvel qfrc_bias"),
])  # fmt: skip
def test_values_are_mujocos(pair, kind, name, fields):
    ours, theirs = getattr(pair.d, kind)(name), getattr(pair.md, kind)(name)
    assert (ours.id, ours.name) == (theirs.id, name)
    for field in fields.split():
        a, b = getattr(ours, field), getattr(theirs, field)
        assert np.asarray(a).shape == np.asarray(b).shape, field
        np.testing.assert_allclose(a, b, atol=1e-9, err_msg=field)


def test_inputs_and_state_are_written_through():
    m = tisim.Model.from_xml_string(XML)
    d = tisim.Data(m, nworld=2)
    d.joint("slide").qpos = 0.25
    d.body("hand").xfrc_applied = [1, 2, 3, 4, 5, 6]
    assert (d.qpos[:, m.joint("slide").qposadr[0]] == 0.25).all()
    assert (d.xfrc_applied[:, m.body("hand").id] == np.arange(1, 7)).all()
    assert d.joint("slide").qpos.shape == (2, 1)
    with pytest.raises(tisim.Error, match="xpos is computed"):
        d.body("hand").xpos = [0, 0, 0]
    with pytest.raises(tisim.Error, match="hand.*cannot write"):
        d.body("hand").xfrc_applied = [1, 2]


def test_elements_print_a_line_for_each_field(pair):
    ours, theirs = str(pair.d.joint("hinge")), str(pair.md.joint("hinge"))
    names = [{line.split(":")[0] for line in text.splitlines() if ":" in line} for text in (ours, theirs)]
    assert names[1] <= names[0]
    assert f"  qpos: {pair.md.joint('hinge').qpos!r}" in ours.splitlines()


def test_elements_print_what_hard_contacts_tell():
    m = tisim.Model.from_xml_string(XML)
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    tisim.step(m, d)
    assert "  xpos: " in str(d.body("ball")) and "xpos" in dir(d.body("ball"))
    assert "cfrc_int" not in str(d.body("ball")) + str(dir(d.body("ball")))


def test_a_wrong_name_lists_the_close_ones(pair):
    with pytest.raises(tisim.Error, match="no body named 'hnad'.*'hand'"):
        pair.d.body("hnad")
    with pytest.raises(AttributeError, match="no field 'xpso'.*'xpos'"):
        pair.d.body("hand").xpso
    with pytest.raises(IndexError, match="there are 4"):
        pair.d.body(9)


def test_contacts_are_read_one_by_one(pair):
    assert len(pair.d.contact) == pair.md.ncon > 0
    for ours, theirs in zip(pair.d.contact, pair.md.contact):
        assert ours.geom.tolist() == theirs.geom.tolist() and ours.dim == theirs.dim
        np.testing.assert_allclose(ours.dist, theirs.dist, atol=1e-12)
        np.testing.assert_allclose(ours.frame, theirs.frame, atol=1e-12)
    with pytest.raises(IndexError):
        pair.d.contact[pair.md.ncon]


def test_names_and_ids_are_mujocos(pair):
    for word in ("body", "geom", "joint", "site"):
        kind = getattr(mujoco.mjtObj, f"mjOBJ_{word.upper()}")
        for i in range(getattr(pair.mm, dict(body="nbody", geom="ngeom", joint="njnt", site="nsite")[word])):
            name = mujoco.mj_id2name(pair.mm, kind, i)
            assert pair.m.id2name(word, i) == name and pair.m.name2id(int(kind), name) == i


def test_contacts_are_sliced_and_listed_by_name(pair):
    contacts = pair.d.contact
    assert [c.id for c in contacts[: pair.d.ncon]] == [c.id for c in contacts] == list(range(pair.d.ncon))
    assert [c.dist for c in contacts[::-1]] == contacts.dist[::-1].tolist() and contacts[5:2] == []
    for named in (contacts, contacts[0], pair.d.world(0).contact, pair.d.world(0).contact[0]):
        names = {n for n in dir(named) if not n.startswith("_")}
        assert {"dist", "pos", "geom1", "geom"} <= names and all(hasattr(named, n) for n in names)
    assert [c.dist for c in pair.d.world(0).contact[:1]] == [contacts.dist[0]]
    assert repr(contacts) == f"<contacts of a Data: {pair.d.ncon}>"
    assert repr(pair.d.world(0).contact).endswith(f"time {pair.d.time:g}>>: {pair.d.ncon}>")


def test_a_contact_that_is_no_more_says_so():
    m = tisim.Model.from_xml_string(XML)
    d = tisim.Data(m)
    tisim.forward(m, d)
    contact = d.contact[0]
    assert contact.dist < 0
    d.joint("free").qpos[2] = 5
    tisim.forward(m, d)
    assert "no more" in repr(contact)
    with pytest.raises(tisim.Error, match="contact 0 is no more: there are 0"):
        contact.dist


def test_arrays_are_asked_and_printed_as_numpys(pair):
    """if d.qvel:, x in d.qvel and print(d.qvel) do what they do with an array."""
    m = tisim.Model.from_xml_string("<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>")
    d = tisim.Data(m)
    assert not d.qvel and not bool(np.asarray(d.qvel))
    d.qvel = 1
    assert d.qvel and str(d.qvel) == f"{d.qvel}" == "[1.]" and repr(d.qvel) == "array([1.])"
    assert 0 in pair.d.xfrc_applied and 7 not in pair.d.xfrc_applied
    with pytest.raises(ValueError, match="ambiguous"):
        bool(pair.d.qvel)


def test_ids_are_whole_numbers(pair):
    """Those that fields of an element hold are arrays of one number, which MuJoCo refuses, too."""
    m, of = pair.m, pair.m.geom("hand").bodyid
    assert m.body(of[0]).name == m.body(np.array(of[0])).name == "hand"
    for key, words in ((of, r"got \[3\]; ids in arrays of one number are taken out by \[0\]"),
                       ([1, 2], r"got \[1, 2\]$"),
                       (3.0, "a whole number, got 3.0$")):  # fmt: skip
        for x in (m, pair.d):
            with pytest.raises(tisim.Error, match=words) as caught:
                x.body(key)
            assert isinstance(caught.value, IndexError)
