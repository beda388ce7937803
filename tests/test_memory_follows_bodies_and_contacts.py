"""A large scene takes less than 3 kB for each body and 1 kB for each contact, whatever it was before."""

import pytest

import tisim
from tisim import scenes

BODY, CONTACT = 3000, 1000  # bytes


@pytest.mark.parametrize(
    "scene, options, steps, least",
    [
        ("rows", dict(n=3003), 5, 8008),  # boxes, cylinders and balls on a plane, as benchmarks/large.py times them
        ("pile", dict(n=1000), 700, 3100),  # it falls, in close company, and has come to rest
        ("pyramids", dict(n=9, layers=5, sleep=True), 12, 4000),  # ten contacts a body
    ],
)
def test_a_scene_takes_little_memory(scene, options, steps, least):
    tisim.init(arch="cpu")
    m = tisim.Model.from_xml_string(scenes.build(scene, **options))
    d = tisim.Data(m)
    tisim.step(m, d, steps)
    assert d.ncon >= least
    assert sum(d.memory().values()) < BODY * m.nbody + CONTACT * d.ncon


def test_lists_that_grew_have_little_to_spare():
    """Contacts that are ten times as many as at the start are all there, in lists a quarter longer at most."""
    m = tisim.Model.from_xml_string(scenes.build("rows", n=900))
    d = tisim.Data(m, capacity=dict(nconmax=200, npairmax=200, nslotmax=200))
    tisim.step(m, d, 2)
    assert d.ncon == 2400
    assert d.capacity("nconmax") <= 1.25 * d.ncon + 64
