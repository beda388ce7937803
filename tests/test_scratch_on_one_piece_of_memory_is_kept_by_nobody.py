"""What the search, the colliders and the solver need in turn lies on one piece of memory: none reads what it did not
write itself, and lists that are cut when they have long been too long give the same bits."""

import numpy as np
import pytest

import tisim
from tisim import scenes
from tisim.data.overlay import Overlay
from tisim.stages import collision

SCENES = dict(pile=dict(n=60), ragdolls=dict(n=2), joints={})
LISTS = ("npairmax", "nentrymax", "nslotmax", "nconmax", "ndensemax")
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


def test_what_is_left_there_by_others_is_not_read(model, monkeypatch):
    def spoil(d):
        assert d._overlay.memory().size > 1000
        d._overlay.memory()[:] = 255  # NaN, -1

    spoilt = states(model, tisim.Data(model), spoil)
    monkeypatch.setattr(Overlay, "takes", lambda overlay, name: False)
    assert np.array_equal(states(model, tisim.Data(model), lambda d: None), spoilt)


def test_a_filter_may_ask_for_rays():
    """Contacts wait for it in scratch, and rays among many geoms need scratch for their sort."""
    tisim.init(arch="cpu", precision="f64")
    found = []
    for asks in (False, True):
        m = tisim.Model.from_scene("rows", n=60)
        d = tisim.Data(m)

        def keep(m, d, geom1, geom2, world, asks=asks):
            if asks:
                tisim.ray(m, d, np.tile([0.0, 0.0, 5.0], (20, 1)), [[0.1 * k, 0, -1] for k in range(20)])
            return np.zeros(len(geom1), bool)

        m.callback.contactfilter = keep
        tisim.step(m, d, 5)
        assert len(d.contact) > 60
        found.append((d.qpos.copy(), np.array(d.contact.dist)))
    assert all(np.array_equal(a, b) for a, b in zip(*found))


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
