"""A simulation on a page in a browser: as a stream of pictures, and as shapes by viser.

Without a browser here: the page's requests are made by hand, viser's callbacks called as its clients would. Tests
marked slow use Chromium, where it is (test_browsers_show_and_steer.py).
"""

import contextlib
import http.client
import io
import json
import socket
import sys
import threading
import time
import types

import numpy as np
import pytest

import tisim
from tisim import viewer
from tisim.errors import Error
from tisim.viewer.browser import events, objects, pictures
from tisim.viewer.controls import Controls

XML = """<mujoco><worldbody><geom type="plane" size="3 3 .1"/>
  <body name="box" pos="0 0 .3"><freejoint/><geom type="box" size=".2 .15 .1"/></body>
  <body name="ball" pos="1 0 .5"><freejoint/><geom size=".2"/></body>
  <body pos="0 1 .5"><joint name="j"/><geom size=".1"/></body></worldbody>
  <actuator><motor name="push" joint="j" ctrlrange="-2 2" ctrllimited="true"/></actuator></mujoco>"""
PATIENCE = 60.0  # for what is to come [s]


@pytest.fixture(scope="module")
def model():
    tisim.init(precision="f64")
    return tisim.Model.from_xml_string(XML)


def controls(model, **options):
    d = tisim.Data(model)
    tisim.forward(model, d)
    return Controls(model, d, aspect=1.5, **options)


@pytest.fixture
def page(model):
    page = pictures.Pages(controls(model, running=False), 240, 160, "127.0.0.1", 0)
    yield page
    page.close()


def request(page, method, path, body=None, **headers):
    """(status, body) of a request, while the page goes on."""
    found = []

    def ask():
        link = http.client.HTTPConnection("127.0.0.1", page.server.port, timeout=PATIENCE)
        link.request(method, path, body, headers)
        answer = link.getresponse()
        found.append((answer.status, answer.read()))
        link.close()

    asking = threading.Thread(target=ask)
    asking.start()
    while asking.is_alive():
        page.frame()
    return found[0]


def do(page, *done):
    assert request(page, "POST", "/events", json.dumps([list(event) for event in done]))[0] == 204
    page.frame()


@contextlib.contextmanager
def looking(page):
    """A visitor that looks; gives (sent, after): the pictures that came, and a function that returns the next one.

    after(seconds) has the page go on until a picture comes that is none of those seen before; None where none does.
    """
    link = http.client.HTTPConnection("127.0.0.1", page.server.port, timeout=PATIENCE)
    link.request("GET", "/pictures")
    line = link.sock
    answer = link.getresponse()
    assert answer.headers["Content-Type"].startswith("multipart/x-mixed-replace")
    sent, seen, came = [], set(), threading.Event()

    def read():
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
            while True:
                head = {}
                while (said := answer.readline()).strip() or not head:
                    if not said:
                        return
                    if b":" in said:
                        head[said.split(b":")[0]] = said.split(b":")[1]
                sent.append(answer.read(int(head[b"Content-Length"])))
                came.set()

    def after(seconds=PATIENCE):
        from PIL import Image

        end = time.monotonic() + seconds
        while not (new := [picture for picture in sent if picture not in seen]):  # the last one comes twice
            if time.monotonic() > end:
                return None
            page.frame()
            came.wait(0.15)
            came.clear()
        seen.update(new)
        return np.asarray(Image.open(io.BytesIO(new[-1])))

    threading.Thread(target=read, daemon=True).start()
    yield sent, after
    line.shutdown(socket.SHUT_RDWR)


def test_the_last_picture_comes_twice_and_then_nothing(page):
    """Chromium shows a picture of a stream when the next one has begun."""
    with looking(page) as (sent, after):
        assert after() is not None
        end = time.monotonic() + PATIENCE
        while len(sent) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        assert after(2.0) is None
        assert len(sent) == 2 and sent[0] == sent[1]


def test_pictures_come_where_something_changes(page):
    with looking(page) as (_, after):
        first = after()
        assert first.shape == (160, 240, 3) and first.std() > 5
        assert after(1.0) is None  # time stands still, and nobody did anything
        do(page, ("wheel", 5))
        nearer = after()
        assert np.abs(nearer.astype(int) - first).mean() > 2
        page.controls.d.qvel[2] = 10.0
        do(page, ("key", "right", False))
        assert after() is not None and float(page.controls.d.time) == pytest.approx(0.002)


def test_words_are_there_before_the_first_picture(page):
    link = http.client.HTTPConnection("127.0.0.1", page.server.port, timeout=PATIENCE)
    link.request("GET", "/words")
    assert json.loads(link.getresponse().read())["lines"][1] == "paused"
    link.close()


def test_nobody_looks_and_nothing_is_drawn(page):
    do(page, ("key", "space", False))
    for _ in range(3):
        page.frame()
    assert page._painter is None and float(page.controls.d.time) > 0


def test_the_mouse_selects_pulls_and_leaves_no_force(page):
    c = page.controls
    (column, row), _ = (v[0] for v in c.camera.project(c.d.xpos[1], 1.5, 1.0))
    at = column / 1.5, row
    press = ("press", "left", *at)
    do(page, (*press, 1.0, False), ("release", "left"), (*press, 1.1, False), ("release", "left"))
    assert c.pert.select == 1
    words = json.loads(request(page, "GET", "/words")[1])
    assert words["labels"][0][2][0] == "box" and words["lines"][1] == "paused"
    do(page, (*press, 3.0, True), ("drag", at[0], at[1] - 0.3, False), ("key", "space", False))
    for _ in range(40):
        page.frame()
    assert c.d.xfrc_applied[1].any() and c.d.qpos[2] > 0.15  # it lay at 0.1
    do(page, ("release", "left"))
    assert not c.d.xfrc_applied.any()


def test_sliders_and_boxes_set_what_they_say(page):
    c = page.controls
    assert json.loads(request(page, "GET", "/words")[1])["actuators"] == [["push", 0.0, -2.0, 2.0]]
    do(page, ("ctrl", 0, 1.5), ("flag", "JOINT", True), ("group", 0, False), ("ctrl", 7, 1.0))
    assert c.d.ctrl[0] == 1.5 and c.has("JOINT") and not c.opt.geomgroup[0]
    distance = c.cam.distance
    do(page, ("hold", True, False))
    for _ in range(5):
        page.frame()
    do(page, ("hold", False, False))
    near = c.cam.distance
    page.frame()
    assert near < distance and c.cam.distance == near


def test_a_key_films_what_is_shown(page, tmp_path, monkeypatch):
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")  # an ffmpeg would make an .mp4
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    c = page.controls
    c.clock.running = True
    do(page, ("key", "w", False))
    for _ in range(30):
        page.frame()
    assert c.filming and list(tmp_path.glob("*.webp"))
    do(page, ("key", "w", False))
    (path,) = tmp_path.iterdir()
    assert path.name == "tisim-1.webp" and not c.filming
    film = Image.open(path)
    assert film.size == (240, 160) and film.n_frames >= 20
    do(page, ("key", "w", False), ("key", "p", False))
    page.close()
    assert {p.name for p in tmp_path.iterdir()} == {"tisim-1.webp", "tisim-2.webp", "tisim-1.png"}


def test_a_folder_that_cannot_be_written_to_is_told_and_ends_nothing(page, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for key, what in (("p", "picture"), ("w", "film")):
        page.controls.key(key)
        assert page.frame() and page.frame() and not page.controls.filming
        assert page._words()["said"].endswith(f"cannot write the {what}: No such file or directory")


def test_what_is_no_number_is_said_as_json_has_it(page):
    page.controls.d.ctrl[0] = np.nan
    do(page)
    said = json.loads(request(page, "GET", "/words")[1], parse_constant=lambda name: pytest.fail(name))
    assert said["actuators"] == [["push", None, -2, 2]]


def test_other_pages_can_neither_look_nor_steer(page):
    port = page.server.port
    for headers in (
        {"Host": f"evil.example:{port}"},
        {"Host": f"127.0.0.1:{port}", "Origin": "http://evil.example"},
        {"Host": f"127.0.0.1:{port}", "Origin": "null"},
    ):
        assert request(page, "POST", "/events", "[]", **headers)[0] == 403, headers
    assert request(page, "GET", "/words", **{"Host": "evil.example"})[0] == 403
    own = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}
    assert request(page, "POST", "/events", "[]", **own)[0] == 204


@pytest.mark.parametrize(
    "sent", ["{", "3", '["key"]', '[["key", "rm -rf", false]]', '[["wheel", NaN]]', '[["drag", 1, 2]]', '[["_held"]]',
             '[["ctrl", 0.5, 1]]', '[["press", "left", 0.1, 0.2, 1, 1]]', '[["group", true, true]]', "[" * 5000],
)  # fmt: skip
def test_what_is_no_event_is_refused(page, sent):
    assert request(page, "POST", "/events", sent)[0] == 400
    assert not page.server.take()


def test_long_and_unknown_requests_are_refused(page):
    assert request(page, "POST", "/events", json.dumps([["wheel", 1]] * 20000))[0] == 404
    assert request(page, "GET", "/../pyproject.toml")[0] == 404


def test_the_page_is_whole_and_has_no_holes(page):
    html = request(page, "GET", "/")[1].decode()
    setup = json.loads(html.split("const setup = ")[1].split(";\n")[0])
    assert setup["width"] == 240 and ["space", "pause, go on"] in setup["keys"] and "/*SETUP*/" not in html
    assert set(events.TEXTS["flag"]) == {flag for flag, _ in setup["flags"]}


def test_a_port_that_is_taken_is_told(page, model):
    with pytest.raises(Error, match=rf"cannot listen on 127.0.0.1:{page.server.port}.*--port"):
        pictures.Pages(controls(model), 240, 160, "127.0.0.1", page.server.port)


def test_many_bodies_are_shown_as_pictures(monkeypatch, model):
    pages = []

    class Page:
        url = "there"

        def __init__(self, kind):
            pages.append(kind)

        def frame(self):
            return False

        def close(self):
            pages.append("closed")

    monkeypatch.setattr(viewer.browser, "Pages", lambda *_: Page("pictures"))
    monkeypatch.setattr(viewer.browser, "Shapes", lambda *_: Page("shapes"))
    d = tisim.Data(model)
    tisim.forward(model, d)
    viewer.view_in_browser(model, d, ready=pages.append)
    viewer.view_in_browser(model, d, pictures=True)
    monkeypatch.setattr(viewer.browser, "MANY", 2)
    viewer.view_in_browser(model, d)
    assert pages == ["shapes", "there", "closed", "pictures", "closed", "pictures", "closed"]
    fresh, seen = tisim.Data(model), []
    fresh.qacc_warmstart[0] = 0.5
    before = tisim.get_state(model, fresh)
    monkeypatch.setattr(viewer.browser, "Pages", lambda c, *_: seen.append(c) or Page("pictures"))
    viewer.view_in_browser(model, fresh, pictures=True)  # of one that was not stepped
    assert np.allclose(seen[0].camera.lookat, viewer.camera.choose(None, model, d).lookat)
    assert (fresh.geom_xpos[1] == [0, 0, 0.3]).all() and (tisim.get_state(model, fresh) == before).all()
    for wrong in (dict(world=3), dict(color="red")):
        with pytest.raises(Error, match="world=3|color='red'"):
            viewer.view_in_browser(model, d, **wrong)


# shapes, by viser


@pytest.fixture
def shapes(model):
    pytest.importorskip("viser")
    page = objects.Shapes(controls(model, running=False), "127.0.0.1", 0)
    page.server.get_clients = lambda: {0: None}
    yield page
    page.close()


def test_shapes_are_sent_once_and_then_what_moved(shapes, monkeypatch):
    batch = shapes.batches[0]
    assert [len(b.members) for b in shapes.batches] == [1, 1, 1] and len(batch.handle.vertices) == 8
    assert batch.handle.batched_positions.dtype == np.float32 == batch.handle.batched_wxyzs.dtype
    assert not shapes.update()
    shapes.controls.d.qpos[2] += 0.5
    tisim.forward(shapes.controls.m, shapes.controls.d)
    sent, send = [], objects.Batch.send
    monkeypatch.setattr(objects.Batch, "send", lambda b, *what: [sent.append((b, what[1])), send(b, *what)])
    assert shapes.update() and not shapes.update()
    assert sent == [(batch, objects.MOVED)]
    np.testing.assert_allclose(batch.handle.batched_positions, [[0, 0, 0.8]], atol=1e-6)


def test_a_page_says_of_how_many_it_has_sliders(monkeypatch):
    pytest.importorskip("viser")
    motors = "".join(f'<motor name="{k}" joint="j"/>' for k in range(31))
    m = tisim.Model.from_xml_string(f"""<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
      <actuator>{motors}</actuator></mujoco>""")
    d, said = tisim.Data(m), []
    tisim.forward(m, d)
    page = objects.Shapes(Controls(m, d, running=False), "127.0.0.1", 0)
    try:
        monkeypatch.setattr(page.server.gui, "add_markdown", said.append)
        page._controls()
        assert said == ["the first 30 of 31 actuators"]
    finally:
        page.close()


def test_sliders_and_boxes_of_shapes_follow_the_simulation():
    pytest.importorskip("viser")
    tie = '<equality><joint joint1="j"/></equality></mujoco>'
    m = tisim.Model.from_xml_string(XML.replace("</mujoco>", tie))
    d = tisim.Data(m)
    tisim.forward(m, d)
    page = objects.Shapes(Controls(m, d, running=False), "127.0.0.1", 0)
    try:
        (slider,), (box,) = page._sliders, page._switches
        d.ctrl[0], d.eq_active[0] = 1.5, False
        page._say()
        assert slider.value == 1.5 and not box.value
        page.controls.key("backspace")
        page._say()
        assert slider.value == 0 and box.value
        d.ctrl[0] = np.nan
        page._say()
        assert slider.value == 0
    finally:
        page.close()


def test_names_and_messages_are_no_markup(shapes):
    shapes.controls.told = "a.xml:3: <geomm> is *not* {known}"
    shapes._say()
    assert shapes._text.content.endswith(r"a.xml:3: \<geomm\> is \*not\* \{known\}")


def test_thousands_of_bodies_are_some_batches(model):
    pytest.importorskip("viser")
    m = tisim.Model.from_scene("pile", n=2400)
    d = tisim.Data(m)
    tisim.forward(m, d)
    page = objects.Shapes(Controls(m, d, running=False), "127.0.0.1", 0)
    try:
        members = np.concatenate([b.members for b in page.batches])
        planes = int((m.geom_type == int(tisim.mjtGeom.mjGEOM_PLANE)).sum())
        assert len(set(members)) == len(members) == len(page._shapes.geoms) - planes
        assert max(len(b.members) for b in page.batches) <= objects.BATCH
    finally:
        page.close()


def call(entry, **event):
    """Calls a callback as viser does, from a thread with a loop."""
    import asyncio

    thread = threading.Thread(target=lambda: asyncio.run(entry.callback(types.SimpleNamespace(**event))))
    thread.start()
    thread.join()


def test_a_click_selects_and_a_drag_pulls(shapes):
    c, handle = shapes.controls, shapes.batches[0].handle
    call(handle._impl.click_cb[0], instance_index=0, ray_origin=(0, 0, 3), ray_direction=(0, 0, -1))
    shapes.frame()
    assert c.pert.select == 1
    np.testing.assert_allclose(c.pert.localpos, [0, 0, 0.1], atol=1e-9)
    (drag,) = handle._impl.drag_cb
    assert drag.button == "left" and drag.modifier == "cmd/ctrl"
    at = dict(instance_index=0, start_position=(0, 0, 0.3))
    call(drag, phase="start", end_position=(0, 0, 0.3), **at)
    call(drag, phase="update", end_position=(0, 0, 0.9), **at)
    c.clock.running = True
    for _ in range(40):
        shapes.frame()
    assert c.d.xfrc_applied[1, 2] != 0 and c.d.qpos[2] > 0.32
    call(drag, phase="end", end_position=(0, 0, 0.9), **at)
    shapes.frame()
    assert not c.d.xfrc_applied.any()


def test_colours_follow_the_mode_and_removed_bodies_are_gone(shapes):
    c, batch = shapes.controls, shapes.batches[0]
    before = batch.handle.batched_colors.copy()
    shapes._color("speed")
    c.d.qvel[2] = 3.0
    tisim.forward(c.m, c.d)
    shapes.update()
    assert not np.array_equal(batch.handle.batched_colors, before)
    tisim.remove(c.m, c.d, [1])
    shapes.update()
    assert batch.handle.batched_scales[0] == 0


def test_without_viser_it_says_what_to_install(monkeypatch, model):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(Error, match=r"tisim\[web\].*--pictures"):
        viewer.browser.require(False)
    viewer.browser.require(True)
