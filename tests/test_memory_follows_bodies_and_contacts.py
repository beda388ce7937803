"""A large scene takes less than 3 kB for each body and 1 kB for each contact."""

import tisim
from tisim import scenes

BODY, CONTACT = 3000, 1000  # bytes


def test_rows_of_shapes_take_little_memory():
    """Boxes, cylinders and balls in rows on a plane, as benchmarks/large.py times them."""
    m = tisim.Model.from_xml_string(scenes.build("rows", n=3003))
    d = tisim.Data(m)
    tisim.step(m, d, 5)
    assert d.ncon == 8008
    assert sum(d.memory().values()) < BODY * m.nbody + CONTACT * d.ncon


def test_lists_that_grew_have_little_to_spare():
    """Contacts that are ten times as many as at the start are all there, in lists a quarter longer at most."""
    m = tisim.Model.from_xml_string(scenes.build("rows", n=900))
    d = tisim.Data(m, capacity=dict(nconmax=200, npairmax=200, nslotmax=200))
    tisim.step(m, d, 2)
    assert d.ncon == 2400
    assert d.capacity("nconmax") <= 1.25 * d.ncon + 64
