"""`launch_passive` works as users of mujoco.viewer know it: a program steps and syncs, sets camera, options and geoms
of its own, pulls a body by `perturb`, hears of keys, and closes the window, after which another may open. What ImGui
and GLFW are asked for is found in Taichi's library and checked, or cleanly absent: then the window opens without, and
leaves no file either."""

import json
import os
import pathlib
import subprocess
import sys
import time

import mujoco
import numpy as np
import pytest
from shared import display, drawn

import tisim
from tisim.viewer import decor, imgui, overlays, vulkan
from tisim.viewer.controls import Controls
from tisim.viewer.few import CAPSULE, CYLINDER, ELLIPSOID

HERE = pathlib.Path(__file__).parent / "shared"
MISSING = display.missing() or vulkan.missing()


def started(program, name, folder, **env):
    return subprocess.Popen([sys.executable, *program], cwd=folder, env=os.environ | {"DISPLAY": name} | env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip


def green(frames):
    p = display.pixels(frames).astype(int)
    return int(((p[..., 1] > 120) & (p[..., 0] < 0.5 * p[..., 1]) & (p[..., 2] < 0.5 * p[..., 1])).sum())


@pytest.mark.skipif(bool(MISSING or not display.hand()), reason=str(MISSING or "xdotool is not installed"))
def test_a_program_steps_and_the_window_follows(tmp_path):
    here, frames = tmp_path / "here", tmp_path / "frames"
    here.mkdir(), frames.mkdir()
    with display.display(frames) as name:
        process = started([str(HERE / "passive_program.py")], name, here)
        try:
            until = time.monotonic() + 150
            while green(frames) < 200:  # its own sphere
                assert time.monotonic() < until and process.poll() is None
                time.sleep(0.1)
            subprocess.run(["xdotool", "mousemove", "400", "300", "key", "b"], env=os.environ | {"DISPLAY": name})
            out, err = process.communicate(timeout=150)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 0, err
    told = json.loads([line for line in out.splitlines() if line.startswith("{")][-1])
    m = tisim.Model.from_scene("wall", n=12)
    cam = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(mujoco.MjModel.from_xml_string(tisim.scenes.build("wall", n=12)), cam)
    assert told["camera"][0] == cam.azimuth and np.allclose(told["camera"][2], cam.lookat)
    assert told["camera"][1] == pytest.approx(cam.distance)
    assert told["pressed"] == [66] and told["distance"] == 5 and told["running"] and not told["after"]
    assert told["second"].startswith("a window is open")
    assert told["again"] and told["pictures"] >= 2
    assert told["time"] == pytest.approx(told["steps"] * m.opt.timestep)
    assert list(here.iterdir()) == []
    pull, stiffness, mass = told["pull"], m.vis.map.stiffness, m.body_mass[-2]
    np.testing.assert_allclose(pull["force"], [0, 0, 1e-3 + 0.5 * stiffness * mass, 0, 0, 0], rtol=1e-5, atol=1e-5)
    assert pull["rise"] > 0.2 and pull["left"] and pull["select"] == m.nbody - 2


def test_without_a_display_an_error_tells_so(monkeypatch):
    if vulkan.missing():
        pytest.skip(vulkan.missing())
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    m = tisim.Model.from_scene("wall", n=12)
    d = tisim.Data(m)
    for opened in (tisim.viewer.launch, tisim.viewer.launch_passive, tisim.viewer.view):
        with pytest.raises(tisim.Error, match="DISPLAY is not set.*no window can be opened"):
            opened(m, d)


GROWTH = """
import resource, sys, tisim
from tisim.viewer.controls import Controls
from tisim.viewer.window import Show
m = tisim.Model.from_scene("wall", n=12)
d = tisim.Data(m)
tisim.forward(m, d)
def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def window(pictures):
    show = Show(Controls(m, d), 200, 150, passive=True)
    for key in ("c", "j", "d", "h"):
        show.controls.key(key)
    for _ in range(pictures):
        show.frame()
    show.close()
for _ in range(3):
    window(100)
before = memory()
window(1500)
for _ in range(40):
    window(2)
print(memory() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=str(MISSING))
def test_pictures_and_windows_take_no_memory_with_them(tmp_path):
    with display.display(tmp_path) as name:
        process = started(["-c", GROWTH], name, tmp_path)
        out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert float(out.split()[-1]) < 20  # [MB]


WITHOUT = """
import tisim
from tisim.viewer import imgui
from tisim.viewer.controls import Controls
from tisim.viewer.window import Show
m = tisim.Model.from_xml_string("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
d = tisim.Data(m)
tisim.forward(m, d)
c = Controls(m, d)
show = Show(c, 400, 300)
assert (show.direct is None) == ({off} == 1), imgui.why
for key in ("h", "d"):
    c.key(key), c.key(key, shift=True)
for _ in range(8):
    show.frame()
c.key("f5")
show.frame()
assert c.full_screen == ({off} == 0), c.told
c.full_screen = False
show.frame()
c.key("p")
show.frame()
show.close()
print(imgui.why, "|", c.told)
"""


@pytest.mark.skipif(bool(MISSING), reason=str(MISSING))
@pytest.mark.parametrize("off", [0, 1])
def test_a_window_opens_without_imgui_and_leaves_only_the_screenshot(tmp_path, off):
    here, frames = tmp_path / "here", tmp_path / "frames"
    here.mkdir(), frames.mkdir()
    with display.display(frames) as name:
        process = started(["-c", WITHOUT.format(off=off)], name, here, **({"TISIM_IMGUI": "0"} if off else {}))
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert ("TISIM_IMGUI=0 is set" in out) == bool(off) and "saved tisim-1.png" in out
    assert [f.name for f in here.iterdir()] == ["tisim-1.png"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names are read from Linux's libraries")
def test_functions_are_found_by_name_or_cleanly_absent(tmp_path, monkeypatch):
    from taichi._lib import core

    names = [symbol for symbol, *_ in (imgui.FUNCTIONS | imgui.FILLING).values()]
    assert set(imgui.addresses(core.__file__, names)) == set(names)
    assert imgui.addresses(core.__file__, ["_ZN5ImGui9NoSuchOneEv"]) == {}
    other = tmp_path / "no.so"
    other.write_bytes(b"MZ" + bytes(100))
    assert imgui.addresses(str(other), names) == {}
    for change, words in (
        (dict(IMGUI="1.99"), "another version: 1.84"),
        (dict(FUNCTIONS={**imgui.FUNCTIONS, "New": ("_ZN5ImGui9NoSuchOneEv", None)}), "does not name New"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(imgui, "_found", False)
            patch.setattr(imgui, "why", "")
            for name, value in change.items():
                patch.setattr(imgui, name, value)
            assert imgui.load() is None and words in imgui.why
    with monkeypatch.context() as patch:  # without one of full screen all else is there
        patch.setattr(imgui, "_found", False)
        patch.setattr(imgui, "FILLING", {**imgui.FILLING, "New": ("glfwNoSuchOne", None)})
        direct = imgui.Direct(imgui.load(), 0)
        assert set(imgui.load()) == set(imgui.FUNCTIONS) and not direct.fills and not direct.fill(True)


def test_doctor_says_what_the_window_lacks(call, monkeypatch):
    monkeypatch.setattr(vulkan, "_devices", ["a card"])
    monkeypatch.setenv("DISPLAY", ":1")
    monkeypatch.setattr(imgui, "_found", None)
    monkeypatch.setattr(imgui, "why", "Taichi's library does not name Begin")
    code, out, _ = call("doctor", "--json")
    assert code == 0 and "no wheel" in json.loads(out)["window"] and "does not name Begin" in json.loads(out)["window"]


def records(flag=None, frame=0, scene="joints", **fields):
    """Shapes drawn with one flag, and with none."""
    m = tisim.Model.from_scene(scene)
    d = tisim.Data(m)
    tisim.step(m, d, 30)
    opt = tisim.MjvOption()
    opt.flags[:] = 0
    opt.sitegroup[:] = 0
    opt.frame = frame
    if flag:
        opt.flags[int(tisim.mjtVisFlag[f"mjVIS_{flag}"])] = 1
    return m, d, drawn.of_window(m, d, opt, **fields)


def test_overlays_stand_where_what_they_show_is():
    m, d, (kind, pos, mat, size, rgba) = records("INERTIA", scene="shapes")
    massive = np.flatnonzero(m.body_mass > 0)
    np.testing.assert_allclose(pos, d.xipos[massive])
    square, mass = size**2, m.body_mass[massive, None]  # a uniform box of that mass has that inertia
    np.testing.assert_allclose(square[:, [1, 2, 0]] + square[:, [2, 0, 1]], 3 * m.body_inertia[massive] / mass)
    m, d, (kind, pos, *_) = records("CONTACTPOINT", scene="shapes")
    np.testing.assert_allclose(pos, d.contact.pos)
    m, d, (kind, pos, mat, size, _) = records("JOINT")
    anchors = np.asarray(d.xanchor)
    assert all(np.linalg.norm(pos - a, axis=1).min() < m.stat.meansize for a in anchors)
    m, d, (kind, pos, *_) = records(frame=int(tisim.mjtFrame.mjFRAME_BODY))
    assert len(pos) == 3 * (m.nbody - 1)
    assert len(records()[2][0]) == 0


def test_a_contact_force_is_an_arrow_of_its_direction_and_size():
    ball = "<body pos='0 0 .1'><freejoint/><geom size='.1' mass='2'/></body>"
    m = tisim.Model.from_xml_string(f"<mujoco><worldbody><geom type='plane' size='1 1 .1'/>{ball}</worldbody></mujoco>")
    d = tisim.Data(m)
    tisim.step(m, d, 1000)
    opt = tisim.MjvOption()
    opt.flags[int(tisim.mjtVisFlag.mjVIS_CONTACTFORCE)] = 1
    kind, pos, mat, size, _ = drawn.of_window(m, d, opt)
    length = 2 * 9.81 * m.vis.map.force / m.stat.meanmass
    top = (pos[:, 2] + size[:, 1] * (kind == CYLINDER) + size[:, 2] * (kind == ELLIPSOID)).max()
    assert top - d.contact.pos[0, 2] == pytest.approx(length, rel=0.02) and np.abs(pos[:, :2]).max() < 1e-6


def test_connectors_reach_as_far_as_mujocos():
    """Capsules and cylinders from end to end, arrows half of it."""
    m, d, _ = records()
    for name, kind, reach in (("CAPSULE", CAPSULE, 2.0), ("CYLINDER", CYLINDER, 2.0), ("ARROW", CYLINDER, 1.0)):
        scene = tisim.MjvScene(maxgeom=1)
        scene.ngeom = 1
        tisim.mjv_connector(scene.geoms[0], tisim.mjtGeom[f"mjGEOM_{name}"], 0.1, [0, 0, 50], [0, 0, 52])
        found = decor.of(m, d, tisim.MjvOption(), user=scene)
        assert (found[0] == kind).all()
        top, bottom = (found[1][:, 2] + found[3][:, 1]).max(), (found[1][:, 2] - found[3][:, 1]).min()
        assert top == pytest.approx(50 + reach) and bottom == pytest.approx(50), name


def test_what_cannot_be_drawn_is_told():
    m, d, _ = records()
    scene = tisim.MjvScene(maxgeom=1)
    scene.ngeom, scene.geoms[0].type = 1, int(tisim.mjtGeom.mjGEOM_MESH)
    with pytest.raises(tisim.Error, match=r"user_scn.geoms\[0\].type mjGEOM_MESH"):
        decor.of(m, d, tisim.MjvOption(), user=scene)


GEMS = """<mujoco><asset><mesh name="cube" scale=".1 .1 .2"
    vertex="-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1"/></asset>
  <worldbody><body pos="0 0 1" euler="20 30 40"><freejoint/><geom type="mesh" mesh="cube"/></body>
  <body pos="1 0 1"><freejoint/><geom type="mesh" mesh="cube" group="4"/></body></worldbody></mujoco>"""


def test_hulls_are_drawn_by_their_edges():
    m = tisim.Model.from_xml_string(GEMS)
    d = tisim.Data(m)
    tisim.forward(m, d)
    begin, end = overlays.hull_edges(m, 0)
    assert sorted(np.linalg.norm(end - begin, axis=1).round(6)) == [0.2] * 8 + [0.4] * 4  # no diagonals of its sides
    c = Controls(m, d)
    assert not len(drawn.of_window(m, d, c.opt)[0])
    c.key("i")
    assert c.has("INERTIA") and not c.has("CONVEXHULL")
    c.key("i")
    assert c.has("CONVEXHULL") and not c.has("INERTIA")
    kind, pos, mat, size, _ = drawn.of_window(m, d, c.opt)
    assert len(kind) == 12 and (kind == CYLINDER).all()  # that of group 4 is not shown
    corners = np.concatenate([pos + s * size[:, 1:2] * mat[:, :, 2] for s in (-1, 1)])
    local = (corners - np.asarray(d.geom_xpos)[0]) @ np.asarray(d.geom_xmat)[0].reshape(3, 3)
    np.testing.assert_allclose(np.abs(local), np.tile([0.1, 0.1, 0.2], (24, 1)), atol=1e-6)
    c.key("i")
    assert not c.has("CONVEXHULL") and not c.has("INERTIA")


def test_names_of_mujocos_handle_are_there_or_tell():
    import mujoco.viewer

    from tisim.viewer.passive import Handle

    handle = Handle(None)
    for name in (n for n in dir(mujoco.viewer.Handle) if not n.startswith("_")):
        if not hasattr(Handle, name):
            with pytest.raises(tisim.Error, match=f"no '{name}'; ") as caught:
                getattr(handle, name)
            assert isinstance(caught.value, AttributeError)
    with pytest.raises(tisim.Error, match="did you mean 'sync'"):
        handle.synk()
