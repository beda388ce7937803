"""What keys and the mouse do in the window, without one: pause holds the time, one step is one step, back goes to the
state before to the last bit, slow motion is slow, reset, reload and keyframes; a drag with ctrl pulls what a double
click has selected, and afterwards no force is left. Every function has a key that GGUI can read."""

import contextlib
import dataclasses
import types

import numpy as np
import pytest
from shared import drawn
from shared.pointing import XML, double_click, place

import tisim
from tisim.viewer import keys, panels, playing, raster
from tisim.viewer import window as window_file
from tisim.viewer.browser import pictures
from tisim.viewer.controls import Controls
from tisim.viewer.gauges import EVERY, Gauges


@pytest.fixture(scope="module")
def model():
    tisim.init(precision="f64")
    return tisim.Model.from_xml_string(XML)


@pytest.fixture(autouse=True)
def steps_take_no_time(monkeypatch):
    """A picture waits for its steps only so long: a machine that stands still must not leave steps out here."""
    monkeypatch.setattr(playing, "time", types.SimpleNamespace(perf_counter=lambda: 0.0))


@pytest.fixture
def window(model):
    d = tisim.Data(model)
    tisim.forward(model, d)
    return Controls(model, d, aspect=1.5)


def test_every_function_has_a_key_that_is_always_there():
    always = {*"abcdefghijklmnopqrstuvwxyz", *keys.OF_GGUI.values()}
    always |= {f"shift {key}" for key in always}
    firsts = [first for first, *_ in keys.KEYS if first]
    assert set(firsts) <= always and len(set(firsts)) == len(firsts)
    assert {name.removeprefix("shift ") for name in keys.ACTIONS} <= set(keys.CODES)
    assert {"0", "5", "[", "]", "-", "=", *(f"f{k}" for k in range(1, 8))} <= set(keys.FURTHER)
    without = {does for first, _, _, does in keys.KEYS if first is None}  # groups have boxes, GLFW fills the screen
    assert without == {"full_screen", *(f"group{k}" for k in range(6))}
    for name, action in keys.ACTIONS.items():
        assert action.isupper() or action.startswith("group") or hasattr(Controls, f"_key_{action}"), name


def test_pause_holds_and_a_step_is_one_step(window):
    window.advance(0.1)
    running = float(window.d.time)
    assert running == pytest.approx(0.1, abs=0.01)
    window.key("space")
    assert window.advance(0.1) == 0 and float(window.d.time) == running
    window.key("right")
    assert float(window.d.time) == pytest.approx(running + 0.002) and not window.clock.running
    window.key("space")
    window.advance(0.1)
    assert float(window.d.time) > running + 0.05


def test_back_is_the_state_before_to_the_last_bit(window):
    states = []
    for _ in range(5):
        states.append(tisim.get_state(window.m, window.d))
        window.key("right")
    for expected in reversed(states):
        window.key("left")
        assert (tisim.get_state(window.m, window.d) == expected).all()
    window.key("left")
    assert window.told == "no earlier state is recorded" and float(window.d.time) == 0


def test_slow_motion_is_slow(window):
    for _ in range(20):
        window.key("s")
    assert window.clock.speed == 0.01
    for _ in range(100):
        window.advance(0.02)
    assert float(window.d.time) == pytest.approx(0.02, abs=0.003)
    for _ in range(30):
        window.key("a")
    assert window.clock.speed == 1


def test_reset_keyframe_and_reload(window, model):
    window.advance(0.1)
    window.key("backspace")
    assert float(window.d.time) == 0 and window.d.qpos[2] == 0.3
    window.key("return")
    assert window.d.qpos[2] == 2 and window.told == "keyframe high"
    window.key("r")
    assert "no file" in window.told
    other = tisim.Model.from_xml_string(XML.replace("pos='0 0 .3'", "pos='0 0 .7'").replace('0 0 .3"', '0 0 .7"'))
    window = Controls(model, window.d, reload=lambda: (other, tisim.Data(other)))
    window.key("r")
    assert window.m is other and window.d.qpos[2] == 0.7


def test_a_drag_turns_and_the_wheel_zooms(window):
    before = window.cam.azimuth, window.cam.distance
    window.press("left", 0.5, 0.5, 0.0)
    window.drag(0.6, 0.5)
    window.release("left")
    window.drag(0.9, 0.9)
    turned = (window.cam.azimuth - before[0] + 180) % 360 - 180
    assert turned == pytest.approx(-180 * 0.15)
    window.wheel(2)
    assert window.cam.distance < 0.95 * before[1]
    window.wheel(-4)
    assert window.cam.distance > before[1]


def test_ctrl_and_a_drag_pull_what_is_selected_and_leave_no_force(window):
    own = np.arange(18.0).reshape(3, 6) * 1e-3
    window.d.xfrc_applied[:] = own
    x, y = place(window, window.d.xpos[1])
    double_click(window, x, y)
    assert window.about_selected()[0] == "box"
    window.press("left", x, y, 5.0, ctrl=True)
    for k in range(50):
        window.drag(x, y - min(0.03 * k, 1.2))
        window.advance(0.02)
    assert window.d.qpos[2] > 0.5
    assert np.asarray(window.d.xfrc_applied)[1, 2] > own[1, 2] + 1
    window.release("left")
    assert (np.asarray(window.d.xfrc_applied) == own).all()
    azimuth = window.cam.azimuth
    window.drag(0.9, 0.9)
    assert window.cam.azimuth == azimuth and window.pert.active == 0


def test_ctrl_and_a_right_drag_turn_it_and_a_body_held_in_pause_is_put_there(window):
    x, y = place(window, window.d.xpos[1])
    double_click(window, x, y)
    window.key("space")
    window.press("right", x, y, 5.0, ctrl=True)
    window.drag(x + 0.1, y)
    window.advance(0.02)
    assert abs(window.d.qpos[6]) > 0.2 and float(window.d.time) == 0  # about the vertical
    window.release("right")
    window.press("left", x, y, 9.0, ctrl=True)
    window.drag(x, y - 0.2)
    window.advance(0.02)
    assert window.d.qpos[2] > 0.4 and float(window.d.time) == 0
    window.release("left")
    assert not np.asarray(window.d.xfrc_applied).any()


def test_only_what_is_shown_is_selected(window):
    x, y = place(window, window.d.xpos[2])
    double_click(window, x, y)
    assert window.about_selected() is None  # the floor behind it
    window.key("g")
    double_click(window, x, y, now=9.0)
    assert window.about_selected()[0] == "ball"
    window.key("3")
    double_click(window, x, y, now=12.0)
    assert window.about_selected() is None
    window.key("3")
    double_click(window, x, y, "right", now=15.0, ctrl=True)
    assert window.eye.about() == "following ball"
    window.key("escape")
    assert window.eye.about() == "free camera" and window.pert.select == 0


def test_flags_frames_labels_and_colours_go_round(window):
    for key, flag in (("c", "CONTACTPOINT"), ("f", "CONTACTFORCE"), ("j", "JOINT"), ("t", "TRANSPARENT")):
        assert not window.has(flag)
        window.key(key)
        assert window.has(flag)
    window.key("n")
    assert window.colors == "island"
    for mode in ("asleep", "group", "speed", "force", "geom"):
        window.key("o")
        assert window.colors == mode
    for key, field in (("k", "frame"), ("l", "label")):
        seen = []
        for _ in range(9):
            window.key(key)
            seen.append(int(getattr(window.opt, field)))
        assert 0 in seen and len(set(seen)) >= 6


def test_f_keys_and_shift_open_the_panels_of_simulate(window):
    for names, panel in ((("f1", "h"), "help"), (("f2", "shift h"), "info"), (("f3", "d"), "profiler"),
                         (("f4", "shift d"), "sensors")):  # fmt: skip
        for name in names:
            before = dataclasses.asdict(window.panels)
            window.key(name.removeprefix("shift "), name.startswith("shift "))
            changed = {k for k, v in dataclasses.asdict(window.panels).items() if v != before[k]}
            assert changed == {panel}, name
    window.key("f5")
    assert window.full_screen
    window.key("5", shift=True)
    assert window.opt.sitegroup[5] and not window.opt.geomgroup[5]


def test_a_model_camera_is_the_one_that_was_asked_for(model, window):
    other = Controls(model, window.d, camera="side")
    assert other.eye.about() == "camera side"
    np.testing.assert_allclose(other.camera.position, [0, -3, 1])


class Gui:
    """Stands in for GGUI's widgets: keeps the texts, and moves what `moves` names."""

    def __init__(self, **moves):
        self.moves, self.texts, self.seen = moves, [], []

    @contextlib.contextmanager
    def sub_window(self, name, x, y, width, height):
        assert 0 <= x < 1 and 0 <= y < 1 and width > 0 and height > 0
        yield

    def text(self, text):
        self.texts.append(text)

    def _widget(self, name, value, *_):
        assert name not in self.seen  # ImGui tells widgets of a panel apart by their names
        self.seen.append(name)
        return self.moves.get(name, value)

    slider_float = slider_int = checkbox = _widget

    def button(self, name):
        return bool(self._widget(name, False))


def panels_of(window, gauges=None, **moves):
    """Draws the panels once, with these widgets moved; the Gui."""
    gui = Gui(**moves)
    stand_in = types.SimpleNamespace(get_gui=lambda: gui, direct=None, boxes=panels.Boxes(),
                                     get_window_shape=lambda: (900, 600))  # fmt: skip
    panels.draw(stand_in, window, gauges or Gauges(), [])
    gui.boxes = stand_in.boxes
    return gui


DRIVEN = """<mujoco><worldbody><body><joint name="up" type="slide" axis="0 0 1"/><geom size=".1"/></body></worldbody>
  <equality><joint name="held" joint1="up"/></equality>
  <actuator><motor name="lift" joint="up" ctrllimited="true" ctrlrange="-2 5"/></actuator></mujoco>"""


@pytest.mark.parametrize("worlds", [1, 2])
def test_sliders_drive_actuators_and_boxes_switch_equalities_and_groups(worlds):
    m = tisim.Model.from_xml_string(DRIVEN)
    d = tisim.Data(m, nworld=worlds)
    tisim.forward(m, d)
    window = Controls(m, d, world=worlds - 1)
    assert {"lift", "held##equality", "contacts", "run"} <= set(panels_of(window).seen)
    assert not np.asarray(d.ctrl).any() and np.asarray(d.eq_active).all() and window.clock.running
    moves = {"held##equality": False, "2##geoms": False, "0##sites": False, "4##sites": True}
    panels_of(window, lift=3.5, run=False, joints=True, **moves)
    assert np.asarray(d.ctrl).reshape(worlds, -1)[:, 0].tolist() == [0.0] * (worlds - 1) + [3.5]
    assert np.asarray(d.eq_active).reshape(worlds, -1)[:, 0].tolist() == [True] * (worlds - 1) + [False]
    assert not window.clock.running and window.has("JOINT") and not window.opt.geomgroup[2]
    assert np.asarray(window.opt.sitegroup).tolist() == [0, 1, 1, 0, 1, 0]
    panels_of(window, **{"all to zero": True, "step": True})
    assert not np.asarray(d.ctrl).any() and np.atleast_1d(d.time)[0] == 0.002
    window.passive = True  # a program steps
    gui = panels_of(window)
    assert "reset" in gui.seen and not {"run", "step", "back", "speed"} & set(gui.seen)
    assert not any("real time" in text or "paused" in text for text in gui.texts)


def many(n):
    """A model with n slides, each with a motor, an equality and a sensor."""
    bodies = "".join(f'<body><joint name="j{i}" type="slide"/><geom size=".1"/></body>' for i in range(n))
    motors = "".join(f'<motor name="motor {i}" joint="j{i}" ctrllimited="true" ctrlrange="-2 5"/>' for i in range(n))
    held = "".join(f'<joint name="held {i}" joint1="j{i}" active="false"/>' for i in range(n))
    sensors = "".join(f'<jointpos name="at {i}" joint="j{i}"/>' for i in range(n))
    flags = '<option><flag energy="enable" contact="disable"/></option>'
    return f"""<mujoco>{flags}<worldbody>{bodies}</worldbody><equality>{held}</equality><actuator>{motors}</actuator>
      <sensor><framepos name="where" objtype="body" objname="world"/>{sensors}</sensor></mujoco>"""


def test_what_has_no_room_on_a_panel_is_counted_and_stands_on_its_next_pages():
    m = tisim.Model.from_xml_string(many(70))
    d = tisim.Data(m)
    tisim.forward(m, d)
    window = Controls(m, d, running=False)
    gui = panels_of(window)
    assert "motor 29" in gui.seen and "motor 30" not in gui.seen
    assert {"1 ... 30 of 70 actuators, 40 more", "1 ... 30 of 70 equalities, 40 more"} <= set(gui.texts)
    moves = {">##actuators": True, "<##equalities": True}
    gui = panels_of(window, **moves, **{"motor 31": 3.5, "held 60##equality": True})
    assert {"31 ... 60 of 70 actuators, 40 more", "61 ... 70 of 70 equalities, 60 more"} <= set(gui.texts)
    assert np.flatnonzero(d.ctrl).tolist() == [31] and np.flatnonzero(d.eq_active).tolist() == [60]
    gui = panels_of(window, **{"motor 30": 1.0, "<##actuators": True})
    assert "motor 0" in gui.seen and d.ctrl[30] == 0
    assert not any("more" in text for text in panels_of(Controls(*few())).texts)


def few():
    m = tisim.Model.from_xml_string(DRIVEN)
    d = tisim.Data(m)
    tisim.forward(m, d)
    return m, d


def test_sensors_are_told_by_name_with_curves_and_the_rest_counted():
    m = tisim.Model.from_xml_string(many(20))
    d = tisim.Data(m)
    tisim.forward(m, d)
    window, gauges = Controls(m, d, running=False), Gauges()
    window.key("f4")
    d.qpos[:] = np.arange(20) - 2.0
    panels_of(window, gauges)
    tisim.forward(m, d)
    gui = panels_of(window, gauges)
    assert [text for text in gui.texts if " where " in text or " at " in text] == [
        "0 where 0", "0 where 1", "0 where 2", *(f"{k - 2} at {k}" for k in range(9))]  # fmt: skip
    assert "1 ... 12 of 23 values, 11 more" in gui.texts
    curves = dict(gauges.sensors.follow(window, 0, 12))
    assert curves["at 8"][-3:].tolist() == [0, 6, 6]
    gui = panels_of(window, gauges, **{">##values": True})
    assert [text for text in gui.texts if " at " in text][0] == "7 at 9"
    window.m, window.d = few()
    assert "the model has no sensors" in panels_of(window, gauges).texts


def test_info_tells_what_simulate_tells():
    m = tisim.Model.from_xml_string(many(3))
    d = tisim.Data(m)
    tisim.forward(m, d)
    d.qvel[:] = [1.0, 0, 0]
    tisim.step(m, d)
    window, gauges = Controls(m, d, running=False), Gauges()
    window.key("f2")
    for k in range(3):
        gauges.see(window, 10.0 + k * EVERY, 0.02, 0.0, 0.0)
        tisim.step(m, d, 25)
    said = list(gauges.info(window))
    told = dict(said)
    lines = panels_of(window, gauges).texts
    assert all(any(name in line and text in line for line in lines) for name, text in said)
    assert told["time"] == "0.152 s" and told["model"] == "4 bodies, 3 geoms, 3 dofs"
    assert {"3 actuators, 4 sensors", "3 equalities"} <= {text for _, text in said} and told["contacts"] == "0"
    assert told["speed"] == f"{25 / EVERY:.0f} steps/s, {1 / EVERY:.0f} pictures/s"
    assert told["energy"].startswith(f"{float(np.sum(d.energy)):.5g} J") and float(np.sum(d.energy)) > 1
    assert told["memory"] == f"{sum([*m.memory().values(), *d.memory().values()]) / 2**20:.1f} MiB"
    assert "energy" not in dict(gauges.info(Controls(*few())))
    d = tisim.Data(m, nworld=3)
    told = dict(gauges.info(Controls(m, d, world=2)))
    assert told["time"] == "0.000 s, world 2 of 3" and told["rows"] == "0, 0 islands of all worlds"


def test_panels_tell_and_hold_the_mouse_where_imgui_is_not_there(window):
    x, y = place(window, window.d.xpos[1])
    double_click(window, x, y)
    window.key("h")
    window.key("d")
    window.key("r")
    gui = panels_of(window)
    assert any(line.startswith("box: 24 kg, 0.00 m/s, ") for line in gui.texts)
    assert "there is no file to load again" in gui.texts and any("ms per picture" in line for line in gui.texts)
    assert sum("pause, go on" in line for line in gui.texts) == 1 and not any("wheel" in line for line in gui.texts)
    assert gui.boxes.hold(0.05, 0.05) and not gui.boxes.hold(0.99, 0.5)
    window.key("tab")
    assert "run" not in panels_of(window).seen


def test_the_hand_reaches_into_the_world_that_is_shown(model):
    d = tisim.Data(model, nworld=2)
    tisim.forward(model, d)
    window = Controls(model, d, world=1, aspect=1.5)
    x, y = place(window, d.xpos[1, 1])
    double_click(window, x, y)
    assert window.about_selected()[0] == "box"
    window.press("left", x, y, 5.0, ctrl=True)
    for _ in range(40):
        window.drag(x, y - 0.9)
        window.advance(0.02)
    assert d.qpos[1, 2] > d.qpos[0, 2] + 0.05 and not np.asarray(d.xfrc_applied)[0].any()
    window.release("left")
    assert not np.asarray(d.xfrc_applied).any()
    window.key("space")
    window.key("left")
    window.key("backspace")
    assert (np.asarray(d.time) == 0).all()


def test_chains_of_forces_go_from_the_resting_box_to_its_contacts(window, model):
    for _ in range(400):
        tisim.step(model, window.d)
    tisim.forward(model, window.d)
    assert not len(drawn.of_window(model, window.d, window.opt, window.chains)[0])
    window.key("u")
    kind, middle, _, size, _ = drawn.of_window(model, window.d, window.opt, window.chains)
    assert window.has("TRANSPARENT") and len(kind) == int(window.d.ncon) > 3
    ends = (
        np.asarray(window.d.contact.pos),
        np.asarray(window.d.xipos)[[1 if g < 2 else 2 for g in window.d.contact.geom[:, 1]]],
    )
    assert np.allclose(np.sort(middle, axis=0), np.sort(sum(ends) / 2, axis=0), atol=1e-6)
    assert (size[:, 0] > 0).all()
    window.key("u")
    assert not window.has("TRANSPARENT")


def test_a_model_without_anything_can_be_looked_at():
    m = tisim.Model.from_xml_string("<mujoco/>")
    d = tisim.Data(m)
    tisim.forward(m, d)
    window = Controls(m, d)
    for name in keys.ACTIONS:
        window.key(name)
    window.key("tab")
    window.flag("INERTIA", True)
    double_click(window, 0.5, 0.5)
    raster.Raster(m).place(d, 0, window.camera)
    assert len(drawn.of_window(m, d, window.opt)[0]) in (0, 6) and window.about_selected() is None
    assert window.quit and "run" in panels_of(window).seen


@pytest.mark.parametrize("kind", [window_file.Show, pictures.Pages])
def test_a_film_that_cannot_be_finished_leaves_nothing_open(kind, monkeypatch):
    def broken():
        raise OSError("the disk is full")

    closed, let_go = [], []
    show = kind.__new__(kind)
    show._closed, show._filming = False, types.SimpleNamespace(end=broken)
    show.controls = types.SimpleNamespace(d=None, hand=types.SimpleNamespace(release=let_go.append))
    show.server = types.SimpleNamespace(close=lambda: closed.append(1))
    monkeypatch.setattr(window_file.ggui, "close", lambda: closed.append(1))
    with pytest.raises(OSError, match="disk is full"):
        show.close()
    assert closed == [1] and let_go == [None]
