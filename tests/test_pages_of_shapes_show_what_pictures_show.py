"""A page of shapes shows what pictures show besides geoms, from the same records: sites, tendons, contacts, forces,
chains, frames, joints and the rest, each where, as large and in the colours that it has for the caster. What is off is
not sent, nor what is as before."""

import asyncio
import threading
import types

import numpy as np
import pytest
from scipy import optimize

import tisim
from tisim import viewer
from tisim.device import memory
from tisim.enums import mjtFrame, mjtGeom
from tisim.mjcf.rotations import matrix
from tisim.viewer import playing, shots
from tisim.viewer.controls import Controls
from tisim.viewer.panels import FLAGS
from tisim.viewer.scene import Scene

objects = pytest.importorskip("tisim.viewer.browser.objects")
beside = pytest.importorskip("tisim.viewer.browser.beside")
pytest.importorskip("viser")

XML = """<mujoco><option timestep=".002"/><visual><scale com=".2" constraint=".3"/></visual>
<asset><mesh name="gem" builtin="sphere" params="1" scale=".08 .06 .04"/></asset><worldbody>
  <geom name="floor" type="plane" size="3 3 .1"/>
  <site name="hook" pos="-.9 0 1.3" size=".03"/>
  <site type="capsule" pos="-.9 .4 1" euler="30 20 0" size=".03 .2" rgba="0 .5 1 .5"/>
  <site type="ellipsoid" pos="-.9 .6 1" euler="0 20 40" size=".03 .2 .1"/><site name="far" group="4" pos="0 0 2"/>
  <body name="arm" pos="-.6 0 .9"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/>
    <site name="tip" pos=".3 0 0" size=".03"/>
    <body pos=".3 0 0"><joint type="slide" axis="0 0 1" range="0 .1" limited="true"/><geom size=".06"/></body></body>
  <body name="low" pos=".5 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body name="high" pos=".5 0 .25"><freejoint/><geom type="box" size=".08 .08 .05" group="1"/></body>
  <body name="held" pos="-.2 0 1.1"><freejoint/><geom type="mesh" mesh="gem"/></body>
  <body pos="0 0 1.5"><joint type="ball"/><geom size=".03"/></body></worldbody>
  <equality><connect body1="held" anchor="0 0 .2"/></equality>
  <tendon><spatial width=".02" rgba="1 0 0 1"><site site="hook"/><site site="tip"/></spatial></tendon></mujoco>"""
WIDTH = dict(kind=1, pos=3, mat=9, size=3, rgba=4)
SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX = (
    int(mjtGeom[f"mjGEOM_{name}"]) for name in "SPHERE CAPSULE ELLIPSOID CYLINDER BOX".split()
)


@pytest.fixture(scope="module")
def model():
    tisim.init(precision="f64")
    return tisim.Model.from_xml_string(XML)


@pytest.fixture
def page(model):
    d = tisim.Data(model)
    tisim.step(model, d, 150)
    tisim.forward(model, d)
    page = objects.Shapes(Controls(model, d, running=False), "127.0.0.1", 0)
    page.server.get_clients = lambda: {0: None}
    yield page
    page.close()


@pytest.fixture
def sent(page, monkeypatch):
    """Names of nodes of the scene, and what of them was sent."""
    found, queue = [], page.server.scene._queue_scene_message

    def note(message):
        found.append((message.name, *getattr(message, "updates", {})))
        queue(message)

    monkeypatch.setattr(page.server.scene, "_queue_scene_message", note)
    return found


def nothing(c):
    """Switches off all but geoms."""
    for flag in ("TENDON", "RANGEFINDER"):
        c.flag(flag, False)
    c.opt.sitegroup[:] = 0


def of_caster(c):
    """What the caster draws besides geoms: shape, place, rotation, size as scale, colour of each; capsules apart."""
    scene, d = Scene(c.m), c.d
    scene.write(d, shots.look_of(c), c.world, shots.records(c), real=True)
    kind, pos, mat, size, rgba = (
        memory.part(d.device(f"pic_{name}"), w * c.m.ngeom, w * (scene.n - c.m.ngeom)).reshape(-1, w)
        for name, w in WIDTH.items()
    )
    out = []
    for t, x, R, s, color in zip(kind[:, 0], pos, mat.reshape(-1, 3, 3), size, rgba):
        color = np.floor(255 * np.clip(color, 0, 1) + 0.5)
        if t == CAPSULE:
            out += [(SPHERE, x + side * s[1] * R[:, 2], R, s[[0, 0, 0]], color) for side in (-1, 1)]
        if t in (CAPSULE, CYLINDER):
            out.append((CYLINDER, x, R, s[[0, 0, 1]], color))
        elif t >= 0:
            assert t in (SPHERE, ELLIPSOID, BOX)
            out.append((BOX if t == BOX else SPHERE, x, R, s[[0, 0, 0]] if t == SPHERE else s, color))
    return out


def of_page(page):
    """The same of what a browser has been told."""
    out, inks = [], dict((int(light), k) for k, light in reversed(list(enumerate(beside.LIGHT))))
    for k, handle in enumerate(page.beside.handles):
        if handle is None or not handle.visible:
            continue
        n = len(handle.batched_positions)
        clear = handle.batched_opacities
        assert (clear is not None) == (k >= 3) and (clear is None or (clear < 1).all())
        assert all(len(a) == n for a in (handle.batched_wxyzs, handle.batched_scales, handle.batched_colors))
        assert {a.dtype for a in (handle.batched_positions, handle.batched_wxyzs, handle.batched_scales)} == {
            np.dtype(np.float32)
        }
        for i in range(n):
            color = [inks[int(v)] for v in handle.batched_colors[i]] + [255 if clear is None else 255 * clear[i]]
            R = matrix(handle.batched_wxyzs[i : i + 1].astype(float))[0]
            kind = (SPHERE, CYLINDER, BOX)[k % 3]
            out.append((kind, handle.batched_positions[i], R, handle.batched_scales[i], np.array(color)))
    return out


def rows(things):
    """(n, 20): shape, place, rotation, scale, colour as light and opacity, from 0 to 1."""
    out = np.array([np.concatenate([[t], x, R.ravel(), s, color]) for t, x, R, s, color in things]).reshape(-1, 20)
    out[:, 16:19] = beside.LIGHT[out[:, 16:19].astype(int)] / 255
    out[:, 19] /= 255
    return out


def compare(page):
    """Asserts that a page shows what the caster does, in any order; their number."""
    page.update()
    shown, drawn = rows(of_page(page)), rows(of_caster(page.controls))
    assert len(shown) == len(drawn)
    away = np.abs(shown[:, None] - drawn).max(2)
    first, second = optimize.linear_sum_assignment(away)
    assert away[first, second].max(initial=0.0) < 2e-5
    return len(shown)


def show_sites(c):
    c.opt.sitegroup[:] = 1


def show_frames(c, frame):
    """Frames of a kind; those of sites only where their groups are shown."""
    c.opt.frame = frame
    if frame == mjtFrame.mjFRAME_SITE:
        show_sites(c)


CHOICES = dict(
    {flag: (lambda c, flag=flag: c.flag(flag, True)) for flag, _ in FLAGS if flag not in ("TRANSPARENT", "ISLAND")},
    CONTACTSPLIT=lambda c: [c.flag(flag, True) for flag in ("CONTACTFORCE", "CONTACTSPLIT")],
    sites=lambda c: show_sites(c),
    clear_sites=lambda c: [show_sites(c), c.flag("TRANSPARENT", True)],
    clear_tendons=lambda c: [c.flag(flag, True) for flag in ("TENDON", "TRANSPARENT")],
    moving_sites=lambda c: [show_sites(c), c.flag("STATIC", False)],
    chains=lambda c: c.key("u"),
    selected=lambda c: c.choose(2, (0.5, 0, 0.2)),
    **{f.name: (lambda c, f=f: show_frames(c, f)) for f in mjtFrame if 0 < f < mjtFrame.mjNFRAME},
)


@pytest.mark.parametrize("choice", CHOICES)
def test_each_thing_is_what_the_caster_draws(page, choice):
    c = page.controls
    nothing(c)
    c.flag("SELECT", True)
    assert compare(page) == 0
    CHOICES[choice](c)
    some = compare(page)
    assert some > 0 or choice in ("mjFRAME_CAMERA", "mjFRAME_LIGHT")  # there are none
    for _ in range(10):
        tisim.step(c.m, c.d, 3)
        compare(page)


def test_all_at_once_is_what_the_caster_draws(page):
    for choose in CHOICES.values():
        choose(page.controls)
    assert compare(page) > 100
    tisim.remove(page.controls.m, page.controls.d, [3])
    assert compare(page) > 50


def test_what_is_off_is_not_sent(page, sent):
    c = page.controls
    nothing(c)
    page.update()
    assert page.beside.handles == [None] * 6 and not sent
    c.flag("JOINT", True)
    page.update()
    begun = {name for name, *_ in sent}
    assert begun == {"/beside", *(f"/beside/{name}" for name in ("balls", "rods", "boxes"))}
    sent.clear()
    c.flag("JOINT", False)
    page.update()
    assert {name for name, *_ in sent} == begun - {"/beside"} and not any(what for _, *what in sent), (
        "hidden, and no numbers"
    )
    sent.clear()
    for _ in range(3):
        tisim.step(c.m, c.d, 5)
        page.update()
    assert not [name for name, *_ in sent if name.startswith("/beside")]
    c.flag("JOINT", True)
    compare(page)


def test_what_is_as_before_is_not_sent(page, sent):
    c = page.controls
    for choose in CHOICES.values():
        choose(c)
    page.update()
    sent.clear()
    for _ in range(3):
        page.update()
    assert not sent
    nothing(c)
    c.opt.frame, c.pert.select = 0, 0
    for flag, _ in FLAGS:
        c.flag(flag, flag in ("JOINT", "TRANSPARENT"))
    c.chains = False
    page.update()
    sent.clear()
    c.d.qpos[c.m.jnt_qposadr[2]] += 0.1  # a box, and its joint's
    tisim.forward(c.m, c.d)
    page.update()
    assert [what for name, *what in sent if name.startswith("/beside")] == [["batched_positions"]]


def test_nothing_is_sent_of_what_sleeps(monkeypatch):
    tisim.init(precision="f64")
    m = tisim.Model.from_scene("pyramids", n=2, sleep=True)
    d = tisim.Data(m)
    for _ in range(40):
        tisim.step(m, d, 50)
        if (np.asarray(d.tree_asleep) >= 0).all():
            break
    assert (np.asarray(d.tree_asleep) >= 0).all()
    page = objects.Shapes(Controls(m, d, running=True, show_contacts=True, chains=True), "127.0.0.1", 0)
    try:
        page.controls.flag("CONTACTFORCE", True)
        page.update()
        queued, queue = [], page.server.scene._queue_scene_message
        page.server.scene._queue_scene_message = lambda message: [queued.append(message), queue(message)]
        before = float(d.time)
        monkeypatch.setattr(playing, "time", types.SimpleNamespace(perf_counter=lambda: 0.0))  # steps take none of it
        for _ in range(5):
            page.controls.advance(0.04)
            page.update()
        assert float(d.time) - before > 0.1 and not queued
    finally:
        page.close()


def press(page, name, on):
    """What viser does where a visitor clicks at a box."""
    (box,) = [box for box, _ in page._boxes if box.label == name]
    box._impl.value = on
    call = box._impl.update_cb[0](types.SimpleNamespace(client=object(), target=box))
    thread = threading.Thread(target=lambda: asyncio.run(call))
    thread.start()
    thread.join()
    page.frame()


def test_boxes_on_the_page_choose_what_is_shown(page):
    c = page.controls
    nothing(c)
    for flag, name in FLAGS:
        if flag != "ISLAND":
            press(page, name, True)
            assert c.has(flag), flag
            press(page, name, False)
            assert not c.has(flag), flag
    press(page, "sites", True)
    assert c.opt.sitegroup.tolist() == [1, 1, 1, 0, 0, 0] and compare(page) == 6
    press(page, "sites", False)
    assert compare(page) == 0
    press(page, "chains of forces", True)
    assert c.chains and c.has("TRANSPARENT") and compare(page) > 0
    page._told = -1.0
    page.frame()
    assert {box.label for box, _ in page._boxes if box.value} == {
        "chains of forces", "translucent", "group 0", "group 1", "group 2"
    }  # fmt: skip


def test_what_moves_becomes_translucent_and_groups_are_hidden(page):
    c, s = page.controls, page._shapes
    assert all(b.handle.batched_opacities is None for b in page.batches)
    c.flag("TRANSPARENT", True)
    page.update()
    for b in page.batches:
        np.testing.assert_allclose(b.handle.batched_opacities, c.m.vis.map.alpha, atol=1e-6)
    c.flag("TRANSPARENT", False)
    page.update()
    assert all(b.handle.batched_opacities is None for b in page.batches)
    shown = set(s.geoms)
    press(page, "group 1", False)
    page.update()
    assert shown - set(page._shapes.geoms) == set(np.flatnonzero(c.m.geom_group == 1)) and len(page._floors) == 1
    press(page, "group 0", False)
    page.update()
    assert not len(page._shapes.geoms) and not page.batches and not page._floors


def test_mocap_bodies_move_and_what_stands_still_is_hidden_with_static():
    """Geoms as well as sites, as in MuJoCo's pictures."""
    tisim.init(precision="f64")
    m = tisim.Model.from_xml_string(
        """<mujoco><visual><map alpha=".25"/></visual><worldbody><geom type="plane" size="1 1 .1"/><site/>
        <body mocap="true"><geom size=".1"/><site/></body><body><geom size=".1" group="-1"/><site/></body>
        <body><freejoint/><geom size=".1" rgba="1 0 0 .8"/><site/></body></worldbody></mujoco>"""
    )
    d = tisim.Data(m)
    tisim.forward(m, d)
    page = objects.Shapes(Controls(m, d, running=False), "127.0.0.1", 0)
    page.server.get_clients = lambda: {0: None}
    try:
        for alpha in (1.0, 0.25):
            page.controls.flag("TRANSPARENT", alpha < 1)
            page.controls.flag("STATIC", True)
            assert compare(page) == 4
            assert opacities(page) == pytest.approx({1: alpha, 2: 1.0, 3: 0.8 * alpha}, abs=0.01) and page._floors
            page.controls.flag("STATIC", False)
            assert compare(page) == 2
            assert opacities(page) == pytest.approx({1: alpha, 3: 0.8 * alpha}, abs=0.01) and not page._floors
    finally:
        page.close()


def opacities(page):
    """Of each geom but floors that a browser has been told of."""
    out = {}
    for b in page.batches:
        clear = b.handle.batched_opacities
        out |= zip(page._shapes.geoms[b.members].tolist(), np.ones(len(b.members)) if clear is None else clear)
    return out


def test_forces_that_are_not_known_are_told(page, monkeypatch):
    c = page.controls
    c.flag("CONTACTFORCE", True)
    assert compare(page) > 0

    def refuse(m, d):
        raise tisim.Error("forces of another pose\nand more")

    monkeypatch.setattr("tisim.viewer.overlays.find_forces", refuse)
    page.update()
    assert c.told == "forces of another pose" and not of_page(page)
    c.told = ""
    page.update()
    assert not c.told, "told once"
    monkeypatch.undo()
    assert compare(page) > 0


def test_contacts_and_chains_may_be_asked_for_at_once(model, monkeypatch):
    d = tisim.Data(model)
    tisim.step(model, d, 150)
    pages = []

    def frame(page):
        pages.append(page)
        page.update()
        return False

    monkeypatch.setattr(objects.Shapes, "frame", frame)
    viewer.view_in_browser(model, d, show_contacts=True, chains=True, pictures=False, port=0, running=False)
    (page,) = pages
    assert page.controls.has("CONTACTPOINT") and page.controls.chains and len(of_page(page)) > 10
