"""`tisim run --log`: energy, contacts, iterations, sensors and states over time, as CSV and NPZ, aligned with the state
they belong to; `tisim plot` draws them."""

import os
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

import tisim
from tisim.cli import plot
from tisim.errors import Error
from tisim.recording import log

XML = """<mujoco><option timestep="0.01"><flag energy="enable"/></option><worldbody><geom type="plane" size="3 3 .1"/>
  <body name="ball" pos="0 0 1"><freejoint/><geom size=".1"/><site name="s" size=".12"/></body></worldbody>
  <sensor><framepos name="where" objtype="body" objname="ball"/><touch name="felt" site="s"/></sensor></mujoco>"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "ball.xml"
    path.write_text(XML)
    return str(path)


def run(*words):
    from typer.testing import CliRunner

    from tisim.cli.app import app

    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output


def test_rows_are_moments_of_the_fall(path, tmp_path):
    out = tmp_path / "numbers.csv"
    run("run", path, "--seconds", 1, "--log", out, "--log-fps", 50, "--out", tmp_path, "--no-picture", "--arch", "cpu")
    got = log.read(out)
    np.testing.assert_allclose(got["time"], np.arange(51) * 0.02, atol=1e-12)
    falling = got["contacts"] == 0
    t = got["time"][falling][:20]
    z = 1 - 0.5 * 9.81 * t * (t + 0.01)  # Euler's
    np.testing.assert_allclose(got["where[2]"][falling][:20], z, atol=1e-12)
    mass = 1000 * 4 / 3 * np.pi * 0.1**3
    np.testing.assert_allclose(got["potential"][falling][:20], mass * 9.81 * z, rtol=1e-12)
    np.testing.assert_allclose(got["kinetic"][falling][:20], 0.5 * mass * (9.81 * t) ** 2, rtol=1e-9, atol=1e-12)
    assert got["felt"][~falling].max() > 0 and not got["felt"][falling].any() and got["iterations"].max() > 0


def test_both_files_hold_the_same_with_states(path, tmp_path):
    for name in ("a.csv", "a.npz"):
        run("run", path, "--seconds", 0.6, "--log", tmp_path / name, "--log-state", "--out", tmp_path, "--no-picture",
            "--arch", "cpu")  # fmt: skip
    a, b = log.read(tmp_path / "a.csv"), log.read(tmp_path / "a.npz")
    for name in b:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    with np.load(tmp_path / "a.npz") as f:
        assert f["qpos"].shape == (61, 7) and f["qvel"].shape == (61, 6) and f["sensordata"].shape == (61, 4)
        np.testing.assert_array_equal(f["qpos"][:, 2], a["qpos[2]"])
        np.testing.assert_array_equal(f["qpos"][:, 2], a["where[2]"])  # one moment


def test_each_world_has_its_own(path, tmp_path):
    m = tisim.Model.from_xml_path(path)
    d = tisim.Data(m, nworld=2)
    d.qpos[1, 2] = 2.0
    with log.Log(tmp_path / "w.csv", m, d, world=1) as out:
        for _ in range(3):
            out.begin()
            tisim.step(m, d)
            out.end()
    assert log.read(tmp_path / "w.csv")["where[2]"][0] == 2.0
    with pytest.raises(Error, match="world=2"):
        log.Log(tmp_path / "w.csv", m, d, world=2)


def test_a_log_that_was_cut_off_is_read(path, tmp_path):
    out = tmp_path / "cut.csv"
    run("run", path, "--seconds", 0.3, "--log", out, "--out", tmp_path, "--no-picture", "--arch", "cpu")
    whole = out.read_text()
    out.write_text(whole[: len(whole) - 20])
    assert len(log.read(out)["time"]) in (30, 29)


def test_curves_are_drawn(path, tmp_path):
    pytest.importorskip("matplotlib")
    from PIL import Image

    out = tmp_path / "numbers.csv"
    run("run", path, "--seconds", 0.5, "--log", out, "--out", tmp_path, "--no-picture", "--arch", "cpu")
    (kept,) = tmp_path.glob("*.npz")
    with pytest.raises(Error, match=f"{kept.name} is a state, not a log, which `tisim run ... --log FILE` writes"):
        plot.plot(None, str(kept), str(tmp_path / "state.png"), False)
    assert "51 rows" in run("plot", out, "-o", tmp_path / "numbers.png").replace("\n", "")
    assert np.asarray(Image.open(tmp_path / "numbers.png").convert("RGB")).std() > 10
    axes = plot.figure(log.read(out), "numbers").axes
    assert [a.get_ylabel() for a in axes] == ["energy [J]", "contacts", "iterations", "sensors"]
    total = axes[0].lines[2].get_ydata()
    assert axes[0].lines[2].get_label() == "sum" and np.ptp(total[:30]) < 0.1 * total[0]


def test_mistakes_are_told(path, tmp_path, monkeypatch):
    m = tisim.Model.from_xml_path(path)
    d = tisim.Data(m)
    with pytest.raises(Error, match=r"numbers.txt: expected a name ending in .csv or .npz"):
        log.Log("numbers.txt", m, d)
    with pytest.raises(Error, match="call begin"):
        log.Log(tmp_path / "n.csv", m, d).end()
    with pytest.raises(Error, match="no such file"):
        log.read(tmp_path / "none.csv")
    (tmp_path / "bad.npz").write_bytes(b"PK")
    with pytest.raises(Error, match="no log that tisim wrote"):
        log.read(tmp_path / "bad.npz")
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(Error, match=r"tisim\[plot\]"):
        plot.require()


def test_sensors_named_as_other_columns_hide_none(tmp_path):
    """One named time does not take the place of the time, as one named iterations not that of the iterations."""
    sensors = '<jointpos name="time" joint="j"/><jointvel name="iterations" joint="j"/><jointpos name="x" joint="j"/>'
    m = tisim.Model.from_xml_string(
        f"""<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody><sensor>{sensors}</sensor>
        </mujoco>"""
    )
    for suffix in (".csv", ".npz"):
        d = tisim.Data(m)
        d.qpos = 0.5
        with log.Log(tmp_path / f"a{suffix}", m, d) as out:
            out.begin()
            tisim.step(m, d)
            out.end()
        got = log.read(tmp_path / f"a{suffix}")
        assert got["time"] == 0 and got["iterations"] == 0 and got["sensor time"] == got["x"] == 0.5
        assert got["sensor iterations"] == 0


def test_a_damaged_log_is_no_log(path, tmp_path):
    m = tisim.Model.from_xml_path(path)
    d = tisim.Data(m)
    with log.Log(tmp_path / "a.npz", m, d) as out:
        for _ in range(3):
            out.begin()
            tisim.step(m, d)
            out.end()
    good, rng = (tmp_path / "a.npz").read_bytes(), np.random.default_rng(0)
    for _ in range(200):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= 1 << int(rng.integers(8))
        (tmp_path / "a.npz").write_bytes(bad[: rng.integers(1, len(bad))] if rng.random() < 0.3 else bad)
        try:
            log.read(tmp_path / "a.npz")
        except Error as e:
            assert "no log that tisim wrote" in str(e)


def test_a_full_disk_is_told(path, tmp_path):
    m = tisim.Model.from_xml_path(path)
    d = tisim.Data(m)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with pytest.raises(Error, match="cannot write the log: File too large"):
            with log.Log(tmp_path / "a.csv", m, d) as out:
                resource.setrlimit(resource.RLIMIT_FSIZE, (out.path.stat().st_size + 9, resource.RLIM_INFINITY))
                out.begin()
                out.end()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        signal.signal(signal.SIGXFSZ, old)


def test_names_of_sensors_are_written_alike_wherever_one_is(tmp_path):
    """Once a log was written in the letters of the place, which broke off where these lack one."""
    (tmp_path / "a.xml").write_text(XML.replace('"where"', '"höhe"'), encoding="utf-8")
    env = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = "run a.xml --steps 3 --no-picture --arch cpu --log a.csv".split()
    done = subprocess.run([sys.executable, "-m", "tisim", *words], cwd=tmp_path, env=env, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert sum(name.startswith("höhe") for name in log.read(tmp_path / "a.csv")) == 3
