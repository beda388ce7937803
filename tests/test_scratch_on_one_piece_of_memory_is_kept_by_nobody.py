"""What the search, the colliders and the solver need in turn lies on one piece of memory: none reads what it did not
write itself, and lists that are cut when they have long been too long give the same bits."""

import numpy as np
import pytest

import tisim
from tisim import scenes
from tisim.stages import collision

SCENES = dict(pile=dict(n=60), ragdolls=dict(n=2), joints={})
LISTS = ("npairmax", "nslotmax", "nconmax", "ndensemax")
STEPS = 60


def states(m, d, spoil):
    found = []
    for _ in range(STEPS):
        tisim.step(m, d)
        spoil(d)
        found.append(tisim.get_state(m, d))
    return np.array(found)


@pytest.fixture(scope="module", params=SCENES)
def model(request):
    tisim.init(arch="cpu", precision="f64")
    return tisim.Model.from_xml_string(scenes.build(request.param, **SCENES[request.param]))


def test_what_is_left_there_by_others_is_not_read(model):
    def spoil(d):
        assert d._overlay.memory().size > 1000
        d._overlay.memory()[:] = 255  # NaN, -1

    calm = states(model, tisim.Data(model), lambda d: None)
    assert np.array_equal(states(model, tisim.Data(model), spoil), calm)


def test_lists_are_cut_without_a_trace(model):
    """Lists that are far too long, as after a collapse, are short again some searches later."""
    plain, long = tisim.Data(model), tisim.Data(model)
    tisim.step(model, plain)
    tisim.step(model, long)
    for name in LISTS:
        long.grow(name, 50_000)
    for d in (plain, long):
        tisim.step(model, d)
    most = sum(long.memory().values())
    calm = states(model, plain, collision.forget)
    assert np.array_equal(states(model, long, collision.forget), calm)
    assert all(long.capacity(name) <= 1.25 * (1.25 * plain.capacity(name) + 64) for name in LISTS)
    assert sum(long.memory().values()) < most / 3
    assert np.array_equal(long.contact.dist, plain.contact.dist)
