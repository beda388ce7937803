"""Under hard contacts what rolls and rocks gains no energy, and moves with long steps as it does with short ones."""

import numpy as np
import pytest

import tisim

ELLIPSOID = '<body pos="0 0 .06" euler="0 15 0"><freejoint/><geom type="ellipsoid" size=".05 .04 .03"/></body>'
BOWED = '<geom type="ellipsoid" size=".3 .3 .1" pos="0 0 .1"/>'
THIN = '<body pos=".002 0 .2305"><freejoint/><geom type="ellipsoid" size=".15 .12 .03" mass="1"/></body>'
# what stands on what is round, a little beside its middle
ROCKERS = {
    "an ellipsoid on a plane": ELLIPSOID,
    "an ellipsoid on another": BOWED + THIN,
    "an ellipsoid on a free one": '<body pos="0 0 .1"><freejoint/>'
                                  '<geom type="ellipsoid" size=".3 .3 .1" mass="50"/></body>' + THIN,
    "a box on a ball": '<geom type="sphere" size=".3"/><body pos=".01 0 .33"><freejoint/>'
                       '<geom type="box" size=".1 .1 .03"/></body>',
    "a ball with a weight": '<body pos="0 0 .2" euler="0 40 0"><freejoint/><geom type="sphere" size=".2" mass="1"/>'
                            '<geom type="sphere" size=".03" pos="0 0 -.15" mass="2"/></body>',
    "a ball with a weight that holds a mast":
        '<geom type="box" size="3 3 .05"/><body pos="0 0 .25" euler="0 40 0"><freejoint/>'
        '<geom type="sphere" size=".2" mass="1"/><geom type="sphere" size=".03" pos="0 0 -.15" mass="2"/>'
        '<body pos="0 0 .2"><joint axis="0 1 0" stiffness="20" damping=".01"/>'
        '<geom type="capsule" size=".02" fromto="0 0 0 0 0 .15" mass=".1"/></body></body>',
    "a coin on an ellipsoid": '<geom type="ellipsoid" size=".3 .3 .2"/><body pos=".01 0 .23"><freejoint/>'
                              '<geom type="cylinder" size=".1 .03"/></body>',
}  # fmt: skip
PLATE = '<geom type="cylinder" size=".1 .5" pos="0 0 .1" euler="90 0 0"/>' \
        '<body pos=".02 0 .2101"><freejoint/><geom type="box" size=".2 .1 .01"/></body>'  # fmt: skip


def hard(bodies, h, **given):
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep="{h}"><flag energy="enable"/></option><worldbody>'
        f'<geom type="plane" size="5 5 .1"/>{bodies}</worldbody></mujoco>'
    )
    m.opt.dynamics = "lcp"
    m.lcp.take(given)
    return m, tisim.Data(m)


def energies(m, d, seconds, parts):
    """Means over parts of a time: energy [J] over that of the place where it began."""
    found = []
    n = round(seconds / parts / float(m.opt.timestep))
    for _ in range(parts):
        sums = []
        for _ in range(n):
            tisim.step(m, d)
            sums.append(float(np.sum(d.energy)))
        found.append(np.mean(sums))
    return np.array(found)


@pytest.mark.parametrize("name", ROCKERS)
def test_what_rocks_gains_no_energy(name):
    m, d = hard(ROCKERS[name], 0.005)
    weight = 9.81 * float(np.sum(m.body_mass))
    found = energies(m, d, 8.0, 8)[1:] / weight  # it has come down in the first second
    assert np.diff(found).max() < 2e-5, found  # [m]; without places of the middle 2e-4 to 2e-3
    assert np.abs(d.qpos[2]) < 1.0


def test_what_only_rolls_keeps_its_speed_on_what_is_free():
    """Seen from the mean of both bodies, a ball touched a free plank ahead of its middle, and lost a tenth a second."""
    plank = '<body pos="0 0 .05"><freejoint/><geom type="box" size="3 .3 .05" mass="50"/></body>'
    for kind in ("sphere", "capsule", "cylinder"):
        rolling = f'<body pos="-2 0 .2" euler="90 0 0"><freejoint/><geom type="{kind}" size=".1 .2"/></body>'
        m, d = hard(plank + rolling, 0.005)
        d.qvel[6], d.qvel[11] = 1.0, -10.0  # about its own axis, which is -y
        tisim.step(m, d, 400)
        assert abs(np.linalg.norm(d.qvel[9:12]) - 10.0) < 0.01, (kind, d.qvel[9:12])


def test_a_capsule_comes_to_rest_between_two_others():
    """Which only roll on each other: with places of the middle it rolled on for ever from the third of these starts."""
    beside = "".join(f'<geom type="capsule" size=".1 .5" pos="0 {y} .1" euler="0 90 0"/>' for y in (0.12, -0.12))
    for y in (0.01, 0.02, 0.03, 0.04):
        m, d = hard(
            beside + f'<body pos="0 {y} .35" euler="0 90 0"><freejoint/><geom type="capsule" size=".08 .3"/></body>',
            0.005,
        )
        tisim.step(m, d, 1000)
        assert np.abs(d.qvel).max() < 1e-5, y


def test_a_plate_rocks_with_long_steps_as_with_short_ones():
    places = {}
    for h in (0.005, 0.0005):
        m, d = hard(PLATE, h)
        places[h] = []
        for _ in range(20):
            tisim.step(m, d, round(0.1 / h))
            places[h].append(np.array(d.qpos[[0, 2, 3, 5]]))
    swing = np.abs(np.ptp(places[0.0005], axis=0)).max()
    assert swing > 0.05
    assert np.abs(np.subtract(places[0.005], places[0.0005])).max() < 0.04 * swing


def test_one_substep_acts_where_contacts_are():
    m, d = hard(ROCKERS["an ellipsoid on another"], 0.005, substeps=1, sweeps=20)
    tisim.step(m, d, 100)
    n = d.ncon
    assert n > 0 and (d.host("lcp_middle")[:n] == d.host("contact_pos")[:n]).all()
    m.lcp.substeps = 10
    tisim.step(m, d, 2)
    assert (d.host("lcp_middle")[: d.ncon] != d.host("contact_pos")[: d.ncon]).any()


def test_what_lies_on_a_face_acts_where_it_is():
    m, d = hard('<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>', 0.005)
    d.qvel[0] = 1.0
    tisim.step(m, d, 20)
    assert d.ncon == 4 and (d.host("lcp_middle")[:4] == d.host("contact_pos")[:4]).all()
