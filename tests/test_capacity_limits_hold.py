"""A limit on a list raises CapacityError at the step that needs more; the state is as before that step, and raising the
limit goes on to the bits of a run without one."""

import numpy as np
import pytest

import tisim
from tisim import scenes

# what a scene needs of each list, by the name of its length in counts
COUNTS = dict(npairmax="ncpair", nentrymax="nentry", nslotmax="nslot", nconmax="ncon", nefcmax="nefc",
              ndensemax="ndense", nrowmax="nrow", nJmax="nJ")  # fmt: skip
SCENES = dict(ragdolls=dict(n=2), joints={})
STEPS = 60


@pytest.fixture(scope="module", params=SCENES)
def calm(request):
    """(MJCF, states of an undisturbed run after each step, counts of each step)."""
    tisim.init(arch="cpu", precision="f64")
    xml = scenes.build(request.param, **SCENES[request.param])
    m = tisim.Model.from_xml_string(xml)
    d, states, counts = tisim.Data(m), [], []
    for _ in range(STEPS):
        states.append(tisim.get_state(m, d))
        tisim.step(m, d)
        counts.append({name: d.count(count) for name, count in COUNTS.items()})
    return xml, [*states, tisim.get_state(m, d)], counts


@pytest.mark.parametrize("early", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("part", [0, 1, 0.5])
@pytest.mark.parametrize("name", COUNTS)
def test_a_limit_is_kept(calm, name, part, early):
    """early: the limit is there before the Data, else it comes when lists are already longer."""
    xml, states, counts = calm
    most = max(c[name] for c in counts)
    if not most:
        pytest.skip("the scene needs no such list")
    limit = {0: 0, 1: most - 1}.get(part, int(part * most))
    m = tisim.Model.from_xml_string(xml)
    if early:
        m.capacity_limit[name] = limit
    d, first = tisim.Data(m), 0
    if not early:
        tisim.step(m, d, 2)
        first = 2
        m.capacity_limit[name] = limit
    due = next((i for i, c in enumerate(counts) if c[name] > limit and i >= first), None)
    if due is None:
        pytest.skip("nothing is longer then")
    done = first
    with pytest.raises(tisim.CapacityError, match=f"{name}.* is {limit}"):
        for _ in range(STEPS - first):
            tisim.step(m, d)
            done += 1
    # a search lists more pairs than a later step counts; of the rest every item is wanted in each step
    assert done == due or (name in ("npairmax", "nentrymax", "nslotmax") and done <= due)
    if early:
        assert d.capacity(name) <= limit
    for _ in range(2):
        assert np.array_equal(tisim.get_state(m, d), states[done])
        with pytest.raises(tisim.CapacityError):
            tisim.step(m, d, 5)
    m.capacity_limit[name] = 10 * most + 1000
    tisim.step(m, d, STEPS - done)
    assert np.array_equal(tisim.get_state(m, d), states[-1])


def test_a_limit_that_suffices_changes_nothing(calm):
    xml, states, counts = calm
    m = tisim.Model.from_xml_string(xml)
    for name in ("nconmax", "nefcmax", "nrowmax", "nJmax"):
        m.capacity_limit[name] = max(c[name] for c in counts)
    d = tisim.Data(m)
    tisim.step(m, d, STEPS)
    assert np.array_equal(tisim.get_state(m, d), states[-1])
    assert all(d.capacity(name) <= limit for name, limit in m.capacity_limit.items())
    assert len(d.efc_force) == d.nefc
