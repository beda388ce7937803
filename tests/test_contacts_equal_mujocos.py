"""The contact list of a scene is MuJoCo 3.4.0's: which pairs, number, distance, point, frame, parameters, filters.

f64, 1e-9. Single pairs of shapes in all poses: test_analytic_contacts_equal_mujocos.py.
"""

import numpy as np
import pytest
from shared.contacts import both, collide, difference, quaternion, their_contacts

OTHER = {"sphere": ".06", "capsule": ".06 .05", "box": ".07 .09 .05"}


def scene(rng, extra="", option=""):
    """Forty mixed bodies over a plane and a wall with random parameters; some trees have children."""
    body = []
    for i in range(40):
        geoms = ""
        for _ in range(rng.integers(1, 3)):
            kind = rng.choice(["sphere", "capsule", "box"])
            geoms += (
                f'<geom name="g{len(body)}_{_}" type="{kind}" size="{OTHER[kind]}" condim="{rng.choice([1, 3, 4, 6])}" '
                f'priority="{rng.integers(0, 2)}" solmix="{rng.choice([0, 1, 2.5])}" gap="{rng.choice([0, 0.005])}" '
                f'margin="{rng.choice([0, 0.01, 0.03])}" solimp="{rng.uniform(0.5, 0.9):.3f} 0.95 0.01" '
                f'friction="{rng.uniform(0, 1):.3f} {rng.uniform(0, 0.1):.3f} 0" '
                f'solref="{rng.choice(["0.02 1", "0.1 0.5", "-100 -5"])}" '
                f'contype="{rng.choice([1, 1, 2])}" conaffinity="{rng.choice([1, 1, 3])}" '
                f'pos="{rng.uniform(-0.05, 0.05):.3f} 0 0"/>'
            )
        child = ""
        if i % 4 == 0:
            welded = '<body pos="0 .05 0"><geom size=".05"/></body>'
            child = f'<body name="c{i}" pos=".1 0 0"><joint/><geom name="d{i}" size=".07"/>{welded}</body>'
        body.append(f'<body name="b{i}"><freejoint/>{geoms}{child}</body>')
    wall = '<geom name="floor" type="plane" size="1 1 1" margin="0.01"/><geom type="box" size=".02 1 1" pos=".3 0 .5"/>'
    return f"<mujoco>{option}<worldbody>{wall}{''.join(body)}</worldbody>{extra}</mujoco>"


LISTED = """<contact><exclude body1="b1" body2="b2"/><exclude body1="b7" body2="b3"/><exclude body1="b0" body2="world"/>
<pair geom1="g3_0" geom2="g4_0" margin=".05" gap=".01" condim="4" friction="0 .2 .3 .4 .5" solreffriction=".1 .3"/>
<pair geom1="g9_0" geom2="floor" margin="1" solref="-50 -3"/><pair geom1="g9_0" geom2="floor" margin="1" condim="1"/>
<pair geom1="d4" geom2="g4_0" margin="1"/><pair geom1="g1_0" geom2="g2_0" margin=".1"/></contact>"""
OVERRIDE = """<option o_margin=".02" o_solref=".3 .4" o_solimp=".1 .2 .3 .4 .5" o_friction="0 .2 .3 .4 .5">
<flag override="enable"/></option>"""


@pytest.mark.parametrize(
    "extra, option",
    [("", ""), (LISTED, ""), (LISTED, OVERRIDE), (LISTED, '<option><flag filterparent="disable"/></option>')],
    ids=["plain", "listed", "override", "parents collide"],
)
def test_parameters_and_filters(extra, option):
    rng = np.random.default_rng(1)
    mm, dd, m, d = both(scene(rng, extra, option))
    for _ in range(3):
        free = mm.jnt_qposadr[mm.jnt_type == 0]
        for a in free:
            dd.qpos[a : a + 3] = rng.uniform(-0.35, 0.35, 3) + [0, 0, 0.3]
            dd.qpos[a + 3 : a + 7] = quaternion(rng)
        theirs = their_contacts(mm, dd)
        mine = collide(m, d, [dd])[0]
        assert len(theirs["dist"]) > 30
        assert difference(mine, theirs) < 1e-9


def test_flags_switch_contacts_off_and_contype_can_change():
    rng = np.random.default_rng(1)
    mm, dd, m, d = both(scene(rng))
    for a in mm.jnt_qposadr[mm.jnt_type == 0]:
        dd.qpos[a : a + 3] = rng.uniform(-0.35, 0.35, 3) + [0, 0, 0.3]
    theirs = their_contacts(mm, dd)
    assert len(theirs["dist"]) > 30
    assert difference(collide(m, d, [dd])[0], theirs) < 1e-9
    for flag in (1, 16):  # constraint, contact
        m.opt.disableflags = flag
        assert len(collide(m, d, [dd])[0]["dist"]) == 0
    m.opt.disableflags = 0
    m.geom_contype[5:20] = mm.geom_contype[5:20] = 0
    m.geom_conaffinity[5:20] = mm.geom_conaffinity[5:20] = 0
    theirs = their_contacts(mm, dd)
    assert difference(collide(m, d, [dd])[0], theirs) < 1e-9
