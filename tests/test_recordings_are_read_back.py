"""A recording holds what was seen, needs no other file, and opens wherever it was cut off."""

import json
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from shared.disk import full_disk

import tisim
from tisim.recording import recorder as recorders

SCENE = """<mujoco><option><flag sleep="enable"/></option><worldbody><geom type="plane" size="9 9 1"/>
  <body name="hand" mocap="true" pos="0 0 3"><geom size=".1"/></body>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body pos="0 1 1"><freejoint/><geom size=".1"/></body>
  <body pos="3 0 2"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".05"/></body>
</worldbody></mujoco>"""


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    """What is written when is said by these tests, not by how long a step took."""
    monkeypatch.setattr(recorders, "PAUSE", float("inf"))


def recorded(path, frames=12, nworld=1, **options):
    """(Model, Data behind a forward, states at each frame) of a recording."""
    m = tisim.Model.from_xml_string(SCENE)
    d, seen = tisim.Data(m, nworld=nworld), []
    with tisim.Recorder(path, m, d, **options) as recorder:
        for k in range(frames):
            d.mocap_pos[..., 0] = 0.1 * k
            tisim.step(m, d, 10)
            recorder.add()
            seen.append(np.array(d.qpos))
            if k % 5 == 4:
                recorder.flush()
    return m, d, np.array(seen)


def test_frames_are_what_was_seen(tmp_path):
    path = tmp_path / "a.npz"
    m, d, seen = recorded(path, solver=True, forces=True)
    r = tisim.Recording(path)
    assert len(r) == 12 and r.whole and r.worlds == [0] and r.time == pytest.approx(0.02 * np.arange(1, 13))
    assert r.model.nbody == m.nbody and r.model.id2name("body", 1) == "hand"
    for k in (0, 4, 5, 11, -1):
        assert np.array_equal(r[k]["qpos"][0], seen[k].astype(np.float32))
        assert r[k]["mocap"][0, 0, 0] == np.float32(0.1 * (k % 12))
    last = r[11]
    assert last["solver"].tolist() == [d.ncon, d.nefc, d.nisland, np.max(d.solver_niter, initial=0)]
    assert len(last["contact_geom"]) == d.ncon and np.array_equal(last["contact_geom"][:, 1:], d.contact.geom)
    assert last["contact_pos"] == pytest.approx(np.asarray(d.contact.pos), abs=1e-6)
    early = r[2]  # before it falls asleep
    down = early["contact_force"][(early["contact_geom"][:, 1:] == [0, 2]).all(axis=1)].sum(axis=0)
    assert down == pytest.approx([0, 0, 8 * 9.81], abs=1), "the box presses on the floor"
    assert issubclass(tisim.errors.IdError, IndexError)
    with pytest.raises(tisim.errors.IdError, match="no frame 12: there are 12"):
        r[12]


def test_a_frame_is_shown_by_a_data_of_its_own(tmp_path):
    m, d, _ = recorded(tmp_path / "a.npz", frames=60)
    r = tisim.Recording(tmp_path / "a.npz")
    shown = r.data()
    for k in (3, 59):
        r.show(shown, k)
    assert d.ntree_awake == shown.ntree_awake == 1  # the box and the ball sleep, the pendulum swings
    tisim.forward(m, d)
    assert np.asarray(shown.xpos) == pytest.approx(np.asarray(d.xpos), abs=1e-6)
    assert np.asarray(shown.geom_xmat) == pytest.approx(np.asarray(d.geom_xmat), abs=1e-6)
    assert shown.time == pytest.approx(d.time)


def test_chosen_worlds_are_recorded(tmp_path):
    m = tisim.Model.from_xml_string(SCENE)
    d = tisim.Data(m, nworld=3)
    d.qpos[:, 2] = [1, 2, 3]
    with tisim.Recorder(tmp_path / "a.npz", m, d, worlds=[2, 0], forces=True) as recorder:
        tisim.step(m, d, 2)
        recorder.add()
    r = tisim.Recording(tmp_path / "a.npz")
    assert r.worlds == [2, 0] and r[0]["qpos"][:, 2] == pytest.approx([3, 1], abs=1e-3)
    assert r.data().nworld == 2
    with pytest.raises(tisim.Error, match="world index"):
        tisim.Recorder(tmp_path / "b.npz", m, d, worlds=5)


def test_worlds_that_began_anew_have_times_of_their_own(tmp_path):
    m = tisim.Model.from_scene("pile", n=3)
    d = tisim.Data(m, nworld=3)
    seen = []
    with tisim.Recorder(tmp_path / "r.npz", m, d, worlds=[0, 1]) as recorder:
        for k in range(6):
            tisim.step(m, d, 2)
            if k == 3:
                tisim.reset(m, d, 1)
            recorder.add()
            seen.append(d.time[:2].copy())
    assert seen[2][0] == seen[2][1] and seen[3][0] != seen[3][1]
    recording = tisim.Recording(tmp_path / "r.npz")
    shown = recording.data()
    for k, time_of in enumerate(seen):
        assert ("world_time" in recording[k]) == (k >= 3)
        recording.show(shown, k)
        assert (shown.time == time_of).all()


def test_a_recording_cut_off_anywhere_opens(tmp_path):
    _, _, seen = recorded(tmp_path / "a.npz")
    data, cut, found = (tmp_path / "a.npz").read_bytes(), tmp_path / "cut.npz", []
    static = data.index(b"time_000000") - 30
    for end in sorted({*np.linspace(0, len(data) - 1, 300).astype(int), static, len(data) - 1}):
        cut.write_bytes(data[:end])
        try:
            r = tisim.Recording(cut)
        except tisim.Error as e:
            assert end <= static and ("cut off before the model" in str(e) or "no recording" in str(e))
            continue
        found.append(len(r))
        assert not r.whole
        for k in {0, len(r) - 1} if len(r) else ():
            assert np.array_equal(r[k]["qpos"][0], seen[k].astype(np.float32))
    assert found == sorted(found) and {0, 5, 10, 12} >= set(found) and found[-1] == 12


def test_what_is_damaged_is_told(tmp_path):
    path = tmp_path / "a.npz"
    recorded(path)
    data = bytearray(path.read_bytes())
    at = data.index(b"qpos_000001") + 200
    data[at] ^= 1
    path.write_bytes(data)
    r = tisim.Recording(path)
    assert r[0]["time"] > 0
    with pytest.raises(tisim.Error, match="damaged: qpos_000001"):
        r[7]
    for content in (b"", b"no zip", b"PK\x03\x04" + bytes(60)):
        path.write_bytes(content)
        with pytest.raises(tisim.Error, match="no recording of tisim"):
            tisim.Recording(path)
    with pytest.raises(tisim.Error, match="cannot read the recording"):
        tisim.Recording(tmp_path / "gone.npz")
    m = tisim.Model.from_xml_string(SCENE)
    with pytest.raises(tisim.Error, match="cannot write the recording"):
        tisim.Recorder(tmp_path / "no" / "a.npz", m, tisim.Data(m))


def test_recording_changes_nothing(tmp_path):
    m, d, _ = recorded(tmp_path / "a.npz", forces=True, solver=True)
    other = tisim.Data(m)
    for k in range(12):
        other.mocap_pos[..., 0] = 0.1 * k
        tisim.step(m, other, 10)
    assert np.array_equal(tisim.get_state(m, d), tisim.get_state(m, other))


def test_a_run_that_is_killed_leaves_a_recording(tmp_path):
    path = tmp_path / "a.npz"
    run = subprocess.Popen([sys.executable, "-m", "tisim", "run", "pile", "--n", "20", "--time", "1e6", "--no-picture",
                            "--record", path], cwd=tmp_path, stdout=subprocess.DEVNULL)  # fmt: skip
    try:
        began = time.monotonic()
        while time.monotonic() - began < 300 and not (path.exists() and _frames(path)):
            time.sleep(0.2)
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    r = tisim.Recording(path)
    assert len(r) > 0 and not r.whole and r.model.nbody == 21
    assert r[len(r) - 1]["qpos"].shape == (1, 140)


def _frames(path):
    try:
        return len(tisim.Recording(path))
    except tisim.Error:
        return 0


def test_a_recording_is_drawn_and_filmed(call):
    from PIL import Image

    call("run", "dominos", "--n", 12, "--time", 1, "--no-picture", "--record", "a.npz")
    code, out, err = call("render", "a.npz", "-o", "late.png", "--size", "160x90")
    assert (code, err) == (0, "") and "frame 60 at 1.000 s" in out
    call("render", "a.npz", "-o", "early.png", "--size", "160x90", "--time", 0.01)
    call("render", "dominos", "--n", 12, "--time", 1, "-o", "straight.png", "--size", "160x90")
    early, late, straight = (np.asarray(Image.open(f), int) for f in ("early.png", "late.png", "straight.png"))
    assert np.abs(late - straight).mean() < 0.5 < np.abs(late - early).mean()
    code, out, _ = call("render", "a.npz", "-o", "fall.gif", "--size", "96x54", "--fps", 10, "--json")
    assert code == 0 and json.loads(out)["pictures"] == 11 == Image.open("fall.gif").n_frames
    pathlib.Path("cut.npz").write_bytes(pathlib.Path("a.npz").read_bytes()[:-30])
    code, out, _ = call("render", "cut.npz", "-o", "cut.png", "--size", "160x90")
    assert code == 0 and "which was cut off" in out
    for options, told in (
        (("--nworld", 2), "--nworld belongs to what is simulated"), (("--world", 1), "the recording has 1"),
    ):  # fmt: skip
        code, _, err = call("render", "a.npz", "-o", "b.png", *options)
        assert code == 2 and told in err


def test_the_command_line_records(call):
    code, out, err = call("run", "pile", "--n", 9, "--steps", 40, "--no-picture", "--json", "--record", "a.npz",
                          "--record-fps", 50, "--record-solver", "--record-forces")  # fmt: skip
    found = json.loads(out)
    assert (code, err) == (0, "") and found["frames"] == 11 and found["recording"] == "a.npz"
    r = tisim.Recording("a.npz")
    assert r.time == pytest.approx(0.02 * np.arange(11)) and {"solver", "contact_force"} <= set(r[10])
    assert np.array_equal(r[10]["qpos"][0], np.load(pathlib.Path("out/pile/state.npz"))["qpos"].astype(np.float32))
    code, _, err = call("run", "pile", "--n", 9, "--steps", 4, "--record", "a.npz", "--record-fps", 0)
    assert code == 2 and "--record-fps 0.0: must be positive" in err


def test_a_name_that_is_damaged_loses_no_frames_in_silence(tmp_path):
    """Names of entries have no checksum: frames that are not found are told of, or the recording is not whole."""
    path = tmp_path / "a.npz"
    recorded(path, solver=True, forces=True)
    good = path.read_bytes()
    for name in (b"qpos_000001", b"contact_geom_000001", b"contact_first_000001", b"solver_000001"):
        at = good.index(name)
        path.write_bytes(good[: at + 1] + b"?" + good[at + 2 :])
        r = tisim.Recording(path)
        assert r[0]["qpos"].size
        with pytest.raises(tisim.Error, match=f"damaged: {name.decode()}.* is missing"):
            r[5]
    for name in (b"time_000001", b"time_000002"):
        at = good.index(name)
        path.write_bytes(good[:at] + b"?" + good[at + 1 :])
        with pytest.raises(tisim.Error, match="damaged: times of some frames are missing"):
            tisim.Recording(path)
    path.write_bytes(good[: at - 30] + b"?" + good[at - 29 :])
    assert len(tisim.Recording(path)) < 12 and not tisim.Recording(path).whole


def test_a_name_of_what_is_not_always_recorded_is_not_lost_in_silence(tmp_path):
    """Once frames of such a chunk had no mocap bodies, or nothing asleep, removed or at another time."""
    path, m = tmp_path / "a.npz", tisim.Model.from_xml_string(SCENE)
    d = tisim.Data(m, nworld=2)
    with tisim.Recorder(path, m, d) as recorder:
        for k in range(4):
            if k == 2:
                tisim.remove(m, d, 2, worlds=0)
                tisim.reset(m, d, worlds=[1])
            tisim.step(m, d)
            recorder.add()
            recorder.flush()
    good = path.read_bytes()
    wanted = [tisim.Recording(path)[k] for k in range(4)]
    for name in (b"mocap_000001", b"mocap_000003", b"removed_000002", b"world_time_000002"):
        for at, damage in ((0, b"?"), (0, bytes([name[0] ^ 128])), (len(name) - 1, b"0"), (len(name) - 1, b"9")):
            at += good.index(name)
            path.write_bytes(good[:at] + damage + good[at + 1 :])
            r, told = tisim.Recording(path), set()
            for k in range(4):
                try:
                    found = r[k]
                except tisim.Error as e:
                    assert "is the name of nothing that frame" in str(e) or "is there twice" in str(e)
                    told.add(k)
                else:
                    assert all(np.array_equal(found[key], a) for key, a in wanted[k].items())
            assert int(name[-1:]) in told and told <= {0, int(name[-1:])}


def test_a_recording_that_is_gone_says_so(tmp_path):
    path = tmp_path / "a.npz"
    recorded(path)
    r = tisim.Recording(path)
    path.unlink()
    assert r.whole and len(r) == 12
    with pytest.raises(tisim.Error, match="a.npz: cannot read the recording: No such file"):
        r[0]
    for wrong in (None, 3):
        with pytest.raises(TypeError):
            tisim.Recording(wrong)


def test_a_full_disk_is_told_and_leaves_what_was_written(tmp_path):
    path, m = tmp_path / "a.npz", tisim.Model.from_xml_string(SCENE)
    d = tisim.Data(m)
    with pytest.raises(tisim.Error, match="cannot write the recording: File too large"):
        with full_disk() as fill, tisim.Recorder(path, m, d) as recorder:
            recorder.add()
            recorder.flush()
            fill(path.stat().st_size + 100)
            recorder.add()
    r = tisim.Recording(path)
    assert len(r) == 1 and not r.whole


def test_what_a_full_disk_refused_is_written_once_there_is_room(tmp_path):
    path, m = tmp_path / "a.npz", tisim.Model.from_xml_string(SCENE)
    d = tisim.Data(m)
    with tisim.Recorder(path, m, d, forces=True) as recorder:
        for room in (0, 100, 600, 1000):
            tisim.step(m, d)
            with full_disk() as fill, pytest.raises(tisim.Error, match="File too large"):
                fill(path.stat().st_size + room)
                recorder.add()
                recorder.flush()
            recorder.flush()
    r = tisim.Recording(path)
    assert r.whole and np.allclose(r.time, 0.002 * np.arange(1, 5))
    assert [len(r[k]["qpos"]) for k in range(4)] == [1] * 4
    with np.load(path) as f:
        assert len(set(f.files)) == len(f.files) and all(f[name] is not None for name in f.files)


def test_a_recording_whose_file_was_removed_says_so(tmp_path):
    """Frames went on into a file that nobody could find."""
    path, m = tmp_path / "a.npz", tisim.Model.from_xml_string(SCENE)
    recorder = tisim.Recorder(path, m, tisim.Data(m))
    recorder.add()
    path.unlink()
    for call in (recorder.flush, recorder.close):
        with pytest.raises(tisim.Error, match="cannot write the recording: the file was removed"):
            call()


def test_no_two_things_are_written_to_one_file(call):
    """What is written last took the place of the other, even of the model or of the state that the run went on from."""
    files = {name: pathlib.Path(name) for name in ("model.npz", "saved.npz")}
    tisim.Model.from_xml_string(SCENE).save(files["model.npz"])
    files["saved.npz"].write_bytes(b"a state")
    pathlib.Path("link.npz").symlink_to("model.npz")
    for words, told in (
        (("--record", "a.npz", "--log", "./a.npz"), "--log ./a.npz: this is the file of --record, too"),
        (("--record", "model.npz"), "--record model.npz: this is the file of the model, too"),
        (("--log", "link.npz"), "--log link.npz: this is the file of the model, too"),
        (("--out", "o", "--record", "o/state.npz"), "--record o/state.npz: this is the file of the state, too"),
        (("--from", "saved.npz", "--record", "saved.npz"), "--record saved.npz: this is the file of --from, too"),
    ):
        before = {name: file.read_bytes() for name, file in files.items()}
        code, _, err = call("run", "model.npz", "--steps", 2, "--no-picture", *words)
        assert code == 2 and told in err, err
        assert before == {name: file.read_bytes() for name, file in files.items()}
