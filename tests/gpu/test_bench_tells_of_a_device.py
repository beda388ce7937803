"""`tisim bench --device` tells of a GPU, for several sizes of a scene: time of a step and of each task, launches,
reads, bytes, hash, residual, device and driver; on the software device it says that its times mean nothing.

Contract: counts are those of one step, so the same size told twice gives the same counts and bits; what has no meaning
with --device is refused.
"""

import io
import json

import pytest
from rich.console import Console

from tisim.cli import app, bench_device

from .software import needs_compiler, start


@needs_compiler
@pytest.mark.slow
def test_all_is_told_and_the_software_device_is_named():
    words = "-m tisim bench --device --sizes 12,12 --settle 40 --repeats 2 --json".split()
    found = json.loads(start(*words, environment=dict(TISIM_ARCH="cuda", TISIM_PRECISION="f32")))
    device = found["device"]
    assert device["name"] == "software device" and device["software"] and "mean nothing" in device["meaning"]
    assert device["cuda"] == "12.4" and device["copy_bytes_per_second"] > 1e8
    one, other = found["sizes"]
    assert one["bodies"] == 12 and one["contacts"] > 0 and one["islands"] > 0
    counted = "hash_after_settling hash_at_end contacts islands launches kernels reads residual".split()
    assert {k: one[k] for k in counted} == {k: other[k] for k in counted}
    tasks = one["tasks"]
    assert one["launches"] == pytest.approx(sum(t["launches"] for t in tasks))
    assert one["launches"] >= one["kernels"] > 20
    assert one["tasks_ms"] == pytest.approx(sum(t["ms"] for t in tasks)) and all(t["ms"] >= 0 for t in tasks)
    assert {"body_poses", "narrowphase", "contact_terms"} <= {t["task"].split(".")[0] for t in tasks}
    assert 0 < one["reads"] <= 6 and 0 <= one["residual"] < 1e-3
    assert one["array_bytes"] > one["memory_bytes"] / 10 and one["median_ms"] > 0

    page = io.StringIO()
    bench_device.show(Console(file=page, width=200), found, False)
    assert "mean nothing" in page.getvalue() and one["hash_after_settling"] in page.getvalue()


@pytest.mark.parametrize(
    "options, complaint",
    [
        (["--arch", "cpu"], "measures a GPU, and this is the CPU"),
        (["--sizes", "100,none"], "--sizes 100,none: expected positive numbers"),
        (["--sizes", "0"], "--sizes 0: expected positive numbers"),
        (["--compare", "mujoco"], "--device excludes --compare"),
        (["--n", "5"], "--device excludes --n"),
    ],
)
def test_what_has_no_meaning_is_refused(options, complaint, capsys):
    with pytest.raises(SystemExit) as end:
        app.main(["bench", "--device", *options])
    assert end.value.code == 2 and complaint in capsys.readouterr().err
