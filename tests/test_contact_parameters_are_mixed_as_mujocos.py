"""Whatever priority, solmix, condim, friction, solref, solimp, margin and gap two geoms have, their contact has the
parameters that MuJoCo 3.4.0 mixes from them (kernels/collision/mix.py).

f64, to 1e-12. Pairs that the model lists and options that replace all: test_contacts_equal_mujocos.py.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.contacts import both, collide, their_contacts

import tisim

MIXED = ("dim", "friction", "solref", "solreffriction", "solimp", "includemargin", "exclude")
SCENE = """<mujoco><worldbody><geom name="still" size=".1" condim="1"/>
<body pos=".15 0 0"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""


def numbers(low, high, *special):
    """Numbers in a range, and special ones often."""
    return st.floats(low, high) | st.sampled_from(special)


TIME = st.tuples(numbers(1e-3, 1, 0.02), numbers(0, 2, 1.0))  # time constant, damping ratio
DIRECT = st.tuples(numbers(-1e4, 0, -0.0, 0.0), numbers(-1e3, 0, 0.0))  # -stiffness, -damping
GEOM = st.fixed_dictionaries(
    dict(
        priority=st.integers(-1, 1),
        solmix=numbers(0, 10, 0.0, 1e-16, 1e-15, 1.0),
        condim=st.sampled_from([1, 3, 4, 6]),
        friction=st.tuples(*[numbers(0, 2, 0.0, 1e-6)] * 3),
        solref=TIME | DIRECT,
        solimp=st.tuples(*[numbers(0, 1, 0.9)] * 4, numbers(1, 4, 2.0)),
        margin=numbers(0, 0.1, 0.0),
        gap=numbers(0, 0.1, 0.0),
    )
)


@pytest.fixture(scope="module")
def engines():
    tisim.init(arch="cpu", precision="f64")
    return both(SCENE)


def contact_of(engines, geoms):
    """The one contact of either engine, once the geoms have these parameters."""
    mm, dd, m, d = engines
    for g, values in enumerate(geoms):
        for name, value in values.items():
            for model in (mm, m):
                getattr(model, f"geom_{name}")[g] = value
    theirs = their_contacts(mm, dd)
    mine = collide(m, d, [dd])[0]
    assert len(theirs["dist"]) == len(mine["dist"]) == 1
    return mine, theirs


@settings(max_examples=300, deadline=None)
@given(st.tuples(GEOM, GEOM))
def test_any_two_geoms(engines, geoms):
    mine, theirs = contact_of(engines, geoms)
    for field in MIXED:
        np.testing.assert_allclose(mine[field], theirs[field], rtol=1e-12, atol=1e-15, err_msg=field)


def test_each_rule_has_a_case(engines):
    """Numbers by hand: priority takes all, solmix weighs, a direct solref makes the lower one count."""
    first = dict(priority=0, solmix=1, condim=3, friction=(1, 0.2, 0.1), solref=(0.02, 1))
    other = dict(first, solmix=3, condim=4, friction=(0.5, 0.3, 0.1), solref=(0.04, 2))
    mixed, _ = contact_of(engines, (first, other))
    assert mixed["dim"] == 4 and np.allclose(mixed["friction"], [[1, 1, 0.3, 0.1, 0.1]])
    assert np.allclose(mixed["solref"], [[0.035, 1.75]])
    mixed, _ = contact_of(engines, (dict(first, priority=1), other))
    assert mixed["dim"] == 3 and np.allclose(mixed["friction"], [[1, 1, 0.2, 0.1, 0.1]])
    assert np.allclose(mixed["solref"], [[0.02, 1]])
    mixed, _ = contact_of(engines, (dict(first, solref=(-100, -5)), other))
    assert np.allclose(mixed["solref"], [[-100, -5]])
