"""Random articulated models with tendons, actuators of every transmission and sensors of every type have MuJoCo's.

Contract: in states of a rollout, with random controls, sensordata is MuJoCo's within 1e-6 of each sensor's scale. What
rounding decides may differ in a few states: a contact that just touches, and which of two contacts comes first that are
equally near or push equally; so may what MuJoCo's GJK gets wrong, and rows that it does not list.
"""

import mujoco
import numpy as np
import pytest
from shared.random_sensed import text
from shared.reference import Pair, error

CONTACT, DISTANCES = mujoco.mjtSensor.mjSENS_CONTACT, (
    mujoco.mjtSensor.mjSENS_GEOMDIST, mujoco.mjtSensor.mjSENS_GEOMNORMAL, mujoco.mjtSensor.mjSENS_GEOMFROMTO,
)  # fmt: skip


def wrong(pair):
    """[(type, ours, theirs)] of the sensors that differ."""
    found, ours, theirs = [], np.array(pair.d.sensordata), pair.md.sensordata
    for s in range(pair.mm.nsensor):
        a = slice(pair.mm.sensor_adr[s], pair.mm.sensor_adr[s] + pair.mm.sensor_dim[s])
        bound = 1e-4 if pair.mm.sensor_type[s] in DISTANCES else 1e-6
        if not error(ours[a], theirs[a]) < bound:
            found.append((mujoco.mjtSensor(pair.mm.sensor_type[s]).name, s, ours[a], theirs[a].copy()))
    return found


def compare(seed, count=4, steps=8):
    """(sensors compared, [what differs]) of a model."""
    pair, rng, compared, found = Pair(text(seed)), np.random.default_rng(seed), 0, []
    for opt in (pair.m.opt, pair.mm.opt):
        opt.tolerance = 1e-15
    pair.md.qvel[:] = rng.normal(size=pair.mm.nv) * 0.5
    pair.md.act[:] = rng.uniform(0, 0.5, pair.mm.na)
    for k in range(count):
        pair.md.ctrl[:] = rng.uniform(0, 1, pair.mm.nu)
        pair.forward()
        if not np.isfinite(pair.md.qacc).all() or np.abs(pair.md.qacc).max() > 1e6:
            break
        if pair.d.ncon == pair.md.ncon and pair.error("qacc") < 1e-8:
            compared += pair.mm.nsensor
            found += [(seed, k, *what) for what in wrong(pair)]
        mujoco.mj_step(pair.mm, pair.md, steps)
    return compared, found


def agree(seeds):
    results = [compare(seed) for seed in seeds]
    compared, found = sum(r[0] for r in results), [what for r in results for what in r[1]]
    allowed = (CONTACT.name, *(kind.name for kind in DISTANCES))
    assert not [what for what in found if what[2] not in allowed], found
    assert len(found) <= 1 + compared / 1000, found
    assert compared > 60 * len(results)


def test_twenty_models():
    agree(range(20))


@pytest.mark.slow
def test_three_hundred_models():
    agree(range(20, 320))
