"""Ctrl-C ends an export, a settling or a decomposition with one line and 130: what was computed is kept where that is
of use, and no half file is left where it is not."""

import json
import pathlib
import re
import shlex
import signal

import numpy as np
import pytest
import trimesh

import tisim
from tisim.recording import recording as recordings
from tisim.settling import settle as settling
from tisim.viewer import glb

HANDLER = signal.getsignal(signal.SIGINT)  # that of who runs the tests: a background job may have none
FRAMES, PRESSED = 9, 4


def press():
    signal.raise_signal(signal.SIGINT)


def pressed_at(number, act):
    """`act`, in whose call of this number, from 1 on, Ctrl-C is pressed."""
    calls = []

    def acted(*args, **more):
        calls.append(1)
        if len(calls) == number:
            press()
        return act(*args, **more)

    return acted


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Path of a recording of a falling stack."""
    path = tmp_path_factory.mktemp("recorded") / "wall.npz"
    m = tisim.Model.from_scene("dominos", n=4)
    d = tisim.Data(m)
    with tisim.Recorder(path, m, d) as recorder:
        for _ in range(FRAMES):
            tisim.step(m, d, 5)
            recorder.add()
    return path


def frames_of_glb(path):
    document, _ = glb._parts(path.read_bytes())
    (animation,) = document["animations"]
    return {document["accessors"][sampler["input"]]["count"] for sampler in animation["samplers"]}


def frames_of_usd(path):
    from pxr import Usd

    stage = Usd.Stage.Open(str(path))
    samples = Usd.PrimRange(stage.GetPseudoRoot())
    return {n for prim in samples for a in prim.GetAttributes() if (n := a.GetNumTimeSamples()) > 1}


def frames_of_rerun(path):
    from rerun import chunk

    rows = {}
    for part in chunk.RrdReader(path).stream():
        batch = part.to_record_batch()
        if any(name.endswith(":translations") for name in batch.schema.names):
            rows[part.entity_path] = rows.get(part.entity_path, 0) + batch.num_rows
    return set(rows.values()) - {1}  # of what stands


EXPORTS = [("a.glb", None, frames_of_glb), ("a.usda", "pxr", frames_of_usd), ("a.rrd", "rerun", frames_of_rerun)]


@pytest.mark.parametrize("file, library, frames", EXPORTS, ids=[file for file, *_ in EXPORTS])
def test_an_export_has_the_frames_until_then(call, recorded, monkeypatch, tmp_path, file, library, frames):
    if library:
        pytest.importorskip(library)
    show = recordings.Recording.show
    monkeypatch.setattr(recordings.Recording, "show", pressed_at(PRESSED, show))
    code, out, err = call("export", recorded, "-o", file, "--json")
    assert code == 130
    told = f"stopped after {PRESSED} of {FRAMES} frames; the file has these"
    assert err.splitlines() == [told]
    assert {k: json.loads(out)[k] for k in ("frames", "stopped")} == dict(frames=PRESSED, stopped=True)
    assert frames(tmp_path / file) == {PRESSED} and [p.name for p in tmp_path.iterdir()] == [file]
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    code, out, err = call("export", recorded, "-o", file)
    assert (code, err) == (0, "") and f"{FRAMES} frames" in out and "stopped" not in out
    assert frames(tmp_path / file) == {FRAMES}
    assert signal.getsignal(signal.SIGINT) is HANDLER


def test_a_second_ctrl_c_leaves_no_half_file(call, recorded, monkeypatch, tmp_path):
    show = pressed_at(PRESSED, pressed_at(PRESSED, recordings.Recording.show))
    monkeypatch.setattr(recordings.Recording, "show", show)
    code, out, err = call("export", recorded, "-o", "a.glb")
    assert (code, out, err) == (130, "", "tisim: interrupted\n") and not list(tmp_path.iterdir())


def test_a_ctrl_c_while_a_file_is_written_leaves_what_was_there(call, recorded, monkeypatch, tmp_path):
    (tmp_path / "a.glb").write_text("before")
    write = pathlib.Path.write_bytes

    def halfway(path, data):
        write(path, data[:100])
        raise KeyboardInterrupt

    monkeypatch.setattr(pathlib.Path, "write_bytes", halfway)
    for source in (recorded, "pendulum"):
        code, _, err = call("export", source, "-o", "a.glb", "--arch", "cpu")
        assert (code, err) == (130, "tisim: interrupted\n")
        assert (tmp_path / "a.glb").read_text() == "before" and len(list(tmp_path.iterdir())) == 1


def test_an_export_of_a_scene_shows_it_as_it_was_then(call, monkeypatch, tmp_path):
    monkeypatch.setattr(tisim, "step", pressed_at(2, tisim.step))
    code, out, err = call("export", "pendulum", "-o", "a.glb", "--time", "100", "--arch", "cpu")
    assert (code, err) == (130, "") and (tmp_path / "a.glb").stat().st_size > 1000
    assert re.search(r"^stopped at 0\.\d{3} s; the file has what was there then$", out, re.M), out


def test_a_settling_says_how_to_go_on(call, monkeypatch, tmp_path):
    monkeypatch.setattr(settling.pipeline, "step", pressed_at(2, settling.pipeline.step))
    code, out, err = call("settle", "chain", "-p", "n=3", "--timeout", "0.5", "--out", "a b.npz", "--below", "-9",
                          "--arch", "cpu")  # fmt: skip
    assert (code, err) == (130, "") and "chain stopped" in out
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    again = shlex.split(out.split("go on with: tisim ")[1].splitlines()[0])
    assert again[0] == "settle" and again[again.index("--below") + 1] == "-9.0"
    before = float(np.load(tmp_path / "a b.npz")["time"])
    code, out, err = call(*again, "--json")
    assert code == 1, err
    found = json.loads(out)
    assert found["time"] == pytest.approx(0.5) and found["simulated"] == pytest.approx(0.5 - before) and before > 0


def test_a_sweep_goes_on_to_the_same_table(call, tmp_path, monkeypatch):
    """Once what it printed forgot --csv and --threads: the table that was asked for kept its first rows."""
    (tmp_path / "sums.py").write_text(
        "import pathlib, signal, tisim\n"
        "model, cases, steps = tisim.Spec(), 5, 1\n"
        "def measure(m, d, case):\n"
        "    if case.index == 2 and not pathlib.Path('pressed').exists():\n"
        "        pathlib.Path('pressed').touch()\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "    return case.rng.random()\n"
    )
    words = "sweep", "sums.py", "--csv", "a b.csv", "--threads", "1", "--arch", "cpu"
    monkeypatch.setenv("COLUMNS", "40")
    code, out, err = call(*words)
    assert (code, err) == (130, ""), err
    assert len((tmp_path / "a b.csv").read_text().splitlines()) == 1 + 3
    again = shlex.split(out.split("go on with: tisim ")[1].splitlines()[0])  # however narrow a terminal is
    assert again[again.index("--threads") + 1] == "1"
    code, out, err = call(*again)
    assert code == 0, err
    table = (tmp_path / "a b.csv").read_text()
    assert call(*words, "--out", "whole")[0] == 0
    assert (tmp_path / "a b.csv").read_text() == table and len(table.splitlines()) == 1 + 5


def test_a_decomposition_keeps_the_parts_of_each_mesh_and_writes_no_other_model(call, monkeypatch, tmp_path):
    monkeypatch.setenv("TISIM_CACHE", str(tmp_path / "cache"))
    coacd = pytest.importorskip("coacd")
    spec = tisim.Spec()
    for name, hole in (("ring", 0.5), ("washer", 0.8)):
        mesh = trimesh.creation.annulus(hole, 1, 0.4, sections=8)
        spec.add_mesh(name=name, uservert=mesh.vertices.ravel(), userface=mesh.faces.ravel())
        spec.worldbody.add_geom(type="mesh", meshname=name)
    (tmp_path / "rings.xml").write_text(spec.to_xml())
    search, found = coacd.run_coacd, []
    monkeypatch.setattr(coacd, "run_coacd", pressed_at(1, lambda *a, **k: found.append(1) or search(*a, **k)))
    for out in ("parts.xml", "parts.npz"):
        code, words, err = call("compile", "rings.xml", out, "--decompose")
        if out == "parts.xml":
            told = f"stopped: 1 of 2 meshes have their parts, kept for the next time; {out} is not written\n"
            assert (code, words, err) == (130, told, "")
            assert not (tmp_path / out).exists() and len(found) == 1
    assert code == 0 and len(found) == 2 and re.search(r"convex parts: ring \d+, washer \d+", words), err
    assert (tmp_path / "parts.npz").exists() and signal.getsignal(signal.SIGINT) is HANDLER


def test_a_ctrl_c_while_a_model_is_written_leaves_what_was_there(call, monkeypatch, tmp_path):
    (tmp_path / "a.xml").write_text("before")
    write = pathlib.Path.write_text

    def halfway(path, data, **more):
        write(path, data[:100], **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(pathlib.Path, "write_text", halfway)
    code, _, err = call("compile", "pendulum", "a.xml")
    assert (code, err) == (130, "tisim: interrupted\n")
    monkeypatch.undo()
    assert (tmp_path / "a.xml").read_text() == "before" and len(list(tmp_path.iterdir())) == 1
