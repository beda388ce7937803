"""Pictures of each quality have the bits that they had when tests/testdata/pictures.csv was written, on this kind of
processor. A change that is to change pictures writes the hashes anew: python tests/test_pictures_stay_as_they_are.py"""

import csv
import hashlib
import pathlib

import pytest
from shared.golden import processor_kind

import tisim
from tisim.viewer import Camera
from tisim.viewer.caster import QUALITY

TABLE = pathlib.Path(__file__).parent / "testdata" / "pictures.csv"


def picture_hash(quality):
    """Of colours, depths and ids of `shapes` after 20 steps, with overlays."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("shapes")
    d = tisim.Data(m)
    tisim.step(m, d, 20)
    option = tisim.MjvOption()
    for flag in ("CONTACTFORCE", "COM"):
        option.flags[tisim.mjtVisFlag[f"mjVIS_{flag}"]] = 1
    h = hashlib.sha256()
    with tisim.Renderer(m, 90, 160, quality=quality) as r:
        r.update_scene(d, Camera(120, -25, 6, (0, 0, 0.6)), option)
        for array in r.render_all():
            h.update(array.tobytes())
    return h.hexdigest()[:16]


def known():
    with open(TABLE, newline="") as f:
        return {(row["processor"], row["quality"]): row["hash"] for row in csv.DictReader(f)}


@pytest.mark.parametrize("quality", QUALITY)
def test_pictures_have_their_golden_bits(quality):
    wanted = known().get((processor_kind(), quality))
    if wanted is None:
        pytest.skip(f"no golden hashes of pictures for the processor kind {processor_kind()}")
    assert picture_hash(quality) == wanted


if __name__ == "__main__":
    found = known() if TABLE.exists() else {}
    found |= {(processor_kind(), quality): picture_hash(quality) for quality in QUALITY}
    with open(TABLE, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(("processor", "quality", "hash"))
        out.writerows((*key, value) for key, value in sorted(found.items()))
