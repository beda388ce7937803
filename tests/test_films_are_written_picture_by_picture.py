"""`tisim film` makes films of scenes and recordings in every format; pictures go straight to the encoder, which works
beside the drawing: memory is flat, what was drawn stays, after Ctrl-C and, but for a few last pictures, after a kill.
Slow motion and sizes are as asked."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

import tisim
from tisim.cli.film import Film
from tisim.viewer import encode

SMALL = ("--size", "64x48", "--fps", "20", "--arch", "cpu", "--quality", "plain")


def pictures(path):
    """Those of a .gif or .webp (n, height, width, 3), and the time each is shown [ms]."""
    found, times = [], []
    with Image.open(path) as film:
        for k in range(film.n_frames):
            film.seek(k)
            found.append(np.asarray(film.convert("RGB")))
            times.append(film.info.get("duration"))
    return np.array(found), times


def drawn(n, width=64, height=48, seed=0):
    """n pictures of a square that moves over a floor of noise."""
    floor = np.random.default_rng(seed).integers(90, 110, (height, width, 3), dtype=np.uint8)
    for k in range(n):
        picture = floor.copy()
        x = 3 * k % (width - 12)
        picture[10:20, x : x + 10] = 250, 20, 20
        yield picture


@pytest.mark.parametrize("name", ["a.gif", "a.webp"])
def test_what_is_read_back_is_what_was_drawn(tmp_path, name):
    film = encode.writer(tmp_path / name, (64, 48), 25)
    whole = []
    for picture in drawn(12):
        film.add(picture)
        whole.append(pictures(tmp_path / name)[0])  # at any moment the file is a film
    film.close()
    assert [len(w) for w in whole] == list(range(1, 13))
    found, times = pictures(tmp_path / name)
    assert set(times) <= {40, None} or times[1:] == 11 * [40]
    for read, picture in zip(found, drawn(12)):
        assert np.abs(read.astype(int) - picture).mean() < 8
        assert np.abs(read[:, :, 0].astype(int) - picture[:, :, 0]).max() < 130 and read[15].max() > 200


def test_pictures_alike_and_odd_sizes_are_kept(tmp_path):
    for name in ("a.gif", "a.webp"):
        film = encode.writer(tmp_path / name, (33, 21), 30)
        picture = next(drawn(1, 33, 21))
        for k in range(4):
            film.add(picture)
        picture = picture.copy()
        picture[-1, -1] = 255
        film.add(picture)
        film.close()
        found, _ = pictures(tmp_path / name)
        assert found.shape == (5, 21, 33, 3) and (found[4] != found[3]).any()
        assert np.abs(found[3].astype(int) - found[0]).max() < 20


@pytest.mark.parametrize("name", ["a.gif", "a.webp"])
@pytest.mark.parametrize("n", [1500, pytest.param(10000, marks=pytest.mark.slow)])
def test_memory_is_flat(tmp_path, name, n):
    film, most = encode.writer(tmp_path / name, (64, 48), 30), []
    for k, picture in enumerate(drawn(n)):
        film.add(picture)
        if k in (300, n - 1):
            most.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    film.close()
    assert most[1] - most[0] < 3000, "KiB; the pictures have 9.2 each"
    with Image.open(tmp_path / name) as made:
        assert made.n_frames == n


def test_a_palette_serves_while_it_does(tmp_path):
    """One more palette when new colours come, and none before; each picture has its own colours."""
    film = encode.writer(tmp_path / "a.gif", (64, 48), 25)
    pictures_drawn, before = [*drawn(8)], None
    for k, picture in enumerate(drawn(8)):
        picture[24:40] = (20, 40, 200) if k > 3 else (20, 160, 60)
        pictures_drawn[k] = picture
        film.add(picture)
        palette = film._palette
        assert k in (0, 4) or palette is before, k
        before = palette
    film.close()
    found, _ = pictures(tmp_path / "a.gif")
    assert np.abs(found.astype(int) - pictures_drawn).max() < 20


@pytest.mark.parametrize("name", ["a.gif", "a.webp"])
def test_a_hundred_pictures_a_second_are_encoded_beside_the_drawing(tmp_path, name):
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("wall", n=60)
    d = tisim.Data(m)
    for _ in range(10):  # whoever shares caches and units of the processor makes it slower: the best counts
        tisim.reset(m, d)
        film = Film(tmp_path / name, (640, 360), 25, float(m.opt.timestep), quality="plain")
        for _ in range(25):
            tisim.step(m, d, film.next_step() - round(float(d.time) / film.timestep))
            film.add(m, d)
        film.close()
        if film.encoding < 25 / 100:
            break
    assert film.encoding < 25 / 100, "seconds of the processor that encodes; others draw meanwhile"
    with Image.open(tmp_path / name) as made:
        assert made.n_frames == 25


def test_python_looks_after_threads_more_often_while_films_are_written(tmp_path):
    before = sys.getswitchinterval()
    films = [encode.Beside(encode.writer(tmp_path / name, (64, 48), 20)) for name in ("a.gif", "b.gif")]
    assert sys.getswitchinterval() < 1e-3 < before
    films[0].close()
    assert sys.getswitchinterval() < 1e-3
    films[1].close()
    assert sys.getswitchinterval() == before


def test_what_goes_wrong_while_encoding_is_told_by_the_thread_that_draws():
    class Bad:
        closed = False

        def add(self, picture):
            raise OSError("disk is full")

        def close(self):
            self.closed = True

    for n in (1, 20):
        bad = Bad()
        film = encode.Beside(bad)
        with pytest.raises(OSError, match="disk is full"):
            for picture in drawn(n):
                film.add(picture)
            film.close()
        film.close()
        assert bad.closed


@pytest.mark.parametrize("name", ["a.gif", "a.webp"])
def test_a_scene_is_filmed_and_slowed(call, name):
    code, out, err = call("film", "pile", "--n", 3, "--seconds", 0.2, "-o", name, *SMALL, "--json")
    assert code == 0 and not err, err
    found = json.loads(out)
    assert found["pictures"] == 5 and found["bytes"] == os.path.getsize(name) and not found["stopped"]
    made, _ = pictures(name)
    assert made.shape == (5, 48, 64, 3) and (made[0] != made[4]).any() and os.listdir() == [name]
    code, out, _ = call(
        "film", "pile", "--n", 3, "--seconds", 0.2, "-o", "slow/" + name, *SMALL, "--speed", 0.5, "--json"
    )
    assert code == 0 and json.loads(out)["pictures"] == 9


def test_a_recording_is_filmed(call):
    assert call("run", "pile", "--n", 3, "--seconds", 0.2, "--record", "p.npz", "--no-picture", "--arch", "cpu")[0] == 0
    code, out, err = call("film", "p.npz", "-o", "a.webp", "--size", "64x48", "--fps", 20, "--json")
    assert code == 0, err
    assert json.loads(out)["pictures"] == len(pictures("a.webp")[0]) == 5
    code, _, err = call("film", "p.npz", "-o", "a.webp", "--seconds", 3)
    assert code == 2 and "--seconds belongs to what is simulated" in err


def test_an_mp4_is_made_by_ffmpeg(call):
    try:
        program = encode.ffmpeg()
    except Exception as error:
        pytest.skip(str(error))
    code, _, err = call("film", "pile", "--n", 3, "--seconds", 0.2, "-o", "a.mp4", *SMALL)
    assert code == 0, err
    said = subprocess.run([program, "-i", "a.mp4"], capture_output=True, text=True).stderr
    assert "64x48" in said and "20 fps" in said and "h264" in said and "00:00:00.25" in said


def test_an_ffmpeg_that_fails_is_told_in_its_words(tmp_path, monkeypatch, call):
    program = tmp_path / "bin" / "ffmpeg"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho this one cannot encode >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    code, _, err = call("film", "pile", "--n", 3, "--seconds", 0.1, "-o", "a.mp4", *SMALL)
    assert code == 2 and "this one cannot encode" in err and "Traceback" not in err


@pytest.mark.parametrize("how, code", [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_what_was_drawn_stays_when_it_is_stopped(tmp_path, how, code):
    path = tmp_path / "a.webp"
    command = [sys.executable, "-m", "tisim", "film", "pile", "--n", "3", "--seconds", "9999", "-o", str(path), *SMALL]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 300
    while not (path.exists() and path.stat().st_size > 2000):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.1)
    process.send_signal(how)
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, err
    assert len(pictures(path)[0]) >= 2
    if how == signal.SIGINT:
        assert "the film has what there was" in out + err


def test_wrong_films_are_refused_first(call):
    for words, told in (
        (("-o", "a.avi"), "a.avi: expected a name ending in .mp4"),
        (("-o", "a.gif", "--fps", 0), "--fps 0"),
        (("-o", "a.gif", "--speed", 0), "--speed 0"),
        (("-o", "a.mp4", "--size", "33x20"), "even sides"),
        (("-o", "a.gif", "--quality", "best"), "--quality best"),
    ):
        code, _, err = call("film", "pile", "--n", 3, *words)
        assert code == 2 and told in err and len(err.strip().splitlines()) == 1, err
    assert os.listdir() == []
