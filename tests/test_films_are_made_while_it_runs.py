"""`tisim run --film` writes a film of the run that changes nothing in it, its camera only draws back, and where the
encoder is missing, one line says what to install, before anything is simulated."""

import json
import subprocess
import sys

import numpy as np
import pytest

import tisim
from tisim.cli import film
from tisim.viewer import Camera

RUN = ("run", "pile", "--n", "3", "--arch", "cpu", "--no-picture", "--json", "--steps", "21")
SMALL = ("--size", "64x48", "--fps", "20")


@pytest.mark.parametrize("name", ["a.gif", "a.webp"])
def test_a_film_shows_the_run_and_changes_nothing(call, name):
    from PIL import Image

    plain = json.loads(call(*RUN, "-o", "plain")[1])
    code, out, err = call(*RUN, "-o", "filmed", "--film", "films/" + name, *SMALL)
    assert code == 0 and json.loads(out)["state_hash"] == plain["state_hash"], err
    made = Image.open("films/" + name)
    assert made.size == (64, 48) and made.n_frames == 3  # at 0, 0.05 and 0.1 s
    pictures = []
    for k in range(3):
        made.seek(k)
        assert made.info.get("duration", 50) == 50
        pictures.append(np.asarray(made.convert("RGB")))
    assert (pictures[0] != pictures[2]).any()


def test_mp4_where_the_encoder_is(call):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    code, _, err = call(*RUN, "-o", "out", "--film", "a.mp4", *SMALL, "--contacts")
    assert code == 0, err
    assert ffmpeg.count_frames_and_secs("a.mp4")[0] == 3
    said = subprocess.run([ffmpeg.get_ffmpeg_exe(), "-i", "a.mp4"], capture_output=True, text=True).stderr
    assert "64x48" in said and "20 fps" in said


def test_what_is_missing_is_told_first(call, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    code, out, err = call(*RUN, "-o", "out", "--film", "a.mp4")
    assert code == 2 and "pip install imageio-ffmpeg" in err and "Traceback" not in err
    assert len(err.strip().splitlines()) == 1 and not (tmp_path / "out").exists()
    code, out, err = call(*RUN, "-o", "out", "--film", "a.mp4", "--size", "33x20")
    assert code == 2 and "even sides" in err
    (tmp_path / "folder.gif").mkdir()
    code, out, err = call(*RUN, "-o", "out", "--film", "folder.gif")
    assert code == 2 and "folder.gif" in err and not (tmp_path / "out").exists()
    code, out, err = call(*RUN, "-o", "out", "--film", "a.gif", "--fps", "0")
    assert code == 2 and "--fps 0" in err and not (tmp_path / "a.gif").exists()


def test_the_camera_of_a_film_only_draws_back():
    m = tisim.Model.from_xml_string(
        '<mujoco><worldbody><body><freejoint/><geom size=".1"/></body><body pos="1 0 0"><freejoint/>'
        '<geom size=".1"/></body></worldbody></mujoco>'
    )
    seen, places = np.full(4, -np.inf), []
    for x in (1.0, 3.0, 1.0, 0.5):
        camera = Camera.framing(m, np.array([[0, 0, 0], [x, 0, 0.0]]), 1.5, seen)
        places.append(-camera.position @ camera.forward)
    assert places[1] > places[0] + 1 and np.allclose(places[2:], places[1], rtol=0.1)


def test_pictures_are_due_at_equal_times(tmp_path):
    made = film.Film(tmp_path / "a.gif", (64, 48), 30, 0.002)
    due = []
    for made.number in range(61):
        due.append(made.next_step() * 0.002)
    assert np.allclose(due, np.arange(61) / 30, atol=0.001)
    made.close()
