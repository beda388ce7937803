"""Rangefinders, sensors of distances, insidesite and tactile have MuJoCo 3.4.0's values.

Contract: in random states, and where the objects move, sensordata is MuJoCo's within 1e-9 of its scale (rays), or as
exact as the distances (5e-5 where curved shapes meet): every pair of shapes, geoms and bodies with many, with and
without cutoff; what is hidden, too far, or belongs to the site's own body; every shape of site; also in worlds and in
f32. Where MuJoCo says 0 for shapes with corners that are apart or overlap, tisim has the distance of its geom_distance.
"""

import itertools

import mujoco
import numpy as np
import pytest
from shared.contacts import quaternion
from shared.reference import Pair, error
from shared.rooms import KINDS, ROOM, ROOMS

import tisim

DISTANCES = [getattr(mujoco.mjtSensor, f"mjSENS_GEOM{word}") for word in ("DIST", "NORMAL", "FROMTO")]


def shake(pair, rng, k):
    """A random state; every fourth is above the hills."""
    q = pair.md.qpos.reshape(-1, 7)
    q[:, :3] = rng.uniform(-0.4, 0.4, (len(q), 3)) + [3 * (k % 4 == 3), 0, 0.3]
    q[:, 3:] = [quaternion(rng) for _ in q]
    pair.md.qvel[:] = rng.normal(size=pair.mm.nv)


def at_fault(pair, s):
    """Whether MuJoCo says 0 of a pair of geoms of sensor s where tisim.geom_distance does not."""
    mm, ids = pair.mm, []
    for word in ("obj", "ref"):
        i = getattr(mm, f"sensor_{word}id")[s]
        of_body = getattr(mm, f"sensor_{word}type")[s] == mujoco.mjtObj.mjOBJ_BODY
        ids.append(mm.body_geomadr[i] + np.arange(mm.body_geomnum[i]) if of_body else [i])
    segment, cutoff = np.zeros(6), mm.sensor_cutoff[s]
    for a, b in itertools.product(*ids):
        theirs = mujoco.mj_geomDistance(mm, pair.md, a, b, cutoff, segment)
        if theirs == 0 and abs(tisim.geom_distance(pair.m, pair.d, int(a), int(b), cutoff)[0]) > 1e-6:
            return True
    return False


def compare(pair):
    """(sensors that differ from MuJoCo's and are not at fault, how many are at fault, how many are not 0)."""
    mm, wrong, faults, some = pair.mm, [], 0, np.zeros(pair.mm.nsensor, bool)
    ours, theirs = np.array(pair.d.sensordata), pair.md.sensordata
    for s in range(mm.nsensor):
        a = slice(mm.sensor_adr[s], mm.sensor_adr[s] + mm.sensor_dim[s])
        some[s] = np.any(theirs[a])
        of_distance = mm.sensor_type[s] in DISTANCES
        if error(ours[a], theirs[a]) > (5e-5 if of_distance else 1e-9):
            fault = of_distance and at_fault(pair, s)
            faults += fault
            wrong += [] if fault else [(s, mujoco.mjtSensor(mm.sensor_type[s]), ours[a], theirs[a].copy())]
    return wrong, faults, some


@pytest.mark.parametrize("kind", KINDS)
def test_values_equal_mujocos(kind):
    pair = Pair(ROOM % "".join(KINDS[kind]))
    rng, faults, some = np.random.default_rng(0), 0, 0
    for k in range(12):
        shake(pair, rng, k)
        pair.forward()
        wrong, more, found = compare(pair)
        assert not wrong, (k, wrong)
        faults, some = faults + more, some + found.sum()
    assert faults < 0.05 * 12 * len(KINDS[kind]) and some > 10


@pytest.mark.parametrize("room", ("shelf", "rover"))
def test_other_scenes(room):
    """All of these types in one model, whose bodies hang on joints, stand still, or are mocap ones."""
    pair = Pair(ROOMS[room])
    rng, kinds, found = np.random.default_rng(1), np.array(pair.mm.sensor_type), np.zeros(pair.mm.nsensor)
    for _ in range(25):
        mujoco.mj_resetData(pair.mm, pair.md)
        mujoco.mj_integratePos(pair.mm, pair.md.qpos, rng.normal(0, 0.3, pair.mm.nv), 1)
        pair.md.qvel[:] = rng.normal(size=pair.mm.nv)
        pair.md.mocap_pos[:] += rng.uniform(-0.3, 0.3, pair.md.mocap_pos.shape)
        pair.forward()
        wrong, faults, some = compare(pair)
        assert not wrong and faults < 2, wrong
        found += some
    assert all(found[kinds == kind].sum() > 5 for kind in kinds), [
        (mujoco.mjtSensor(k).name, found[kinds == k]) for k in set(kinds)
    ]


def test_along_a_rollout():
    pair = Pair(ROOM % "".join(KINDS["rangefinder"] + KINDS["insidesite"] + KINDS["tactile"]))
    shake(pair, np.random.default_rng(4), 0)
    pair.copy_state()
    found = set()
    for _ in range(20):
        mujoco.mj_step(pair.mm, pair.md, 3)
        tisim.step(pair.m, pair.d, 3)
        assert error(pair.d.sensordata, pair.md.sensordata) < 1e-5
        found.add(np.array(pair.md.sensordata).tobytes())
    assert len(found) == 20


def test_worlds_are_like_single_ones():
    sensors = [text for kind in KINDS for text in KINDS[kind][:9]]
    pair = Pair(ROOM % "".join(sensors))
    d, rng, states = tisim.Data(pair.m, nworld=3), np.random.default_rng(8), []
    for w in range(3):
        shake(pair, rng, w)
        d.qpos[w], d.qvel[w] = pair.md.qpos, pair.md.qvel
        states.append((pair.md.qpos.copy(), pair.md.qvel.copy()))
    tisim.forward(pair.m, d)
    for w, (qpos, qvel) in enumerate(states):
        one = tisim.Data(pair.m)
        one.qpos, one.qvel = qpos, qvel
        tisim.forward(pair.m, one)
        assert np.array_equal(one.sensordata, d.sensordata[w])


def test_sensors_go_on_after_a_reset():
    pair = Pair(ROOM % "".join(text for kind in KINDS for text in KINDS[kind][:9]))
    d, rng = pair.d, np.random.default_rng(9)
    tisim.step(pair.m, d, 2)
    for reset in (tisim.reset, lambda m, d: tisim.reset(m, d, [0])):
        reset(pair.m, d)
        shake(pair, rng, 0)
        one = tisim.Data(pair.m)
        for data in (d, one):
            data.qpos, data.qvel = pair.md.qpos, pair.md.qvel
            tisim.forward(pair.m, data)
        assert np.array_equal(d.sensordata, one.sensordata)


def test_single_precision_follows():
    pair = Pair(ROOM % "".join(KINDS["rangefinder"] + KINDS["tactile"]), precision="f32")
    rng = np.random.default_rng(0)
    for k in range(6):
        shake(pair, rng, k)
        pair.forward()
        assert error(pair.d.sensordata, pair.md.sensordata) < 1e-4


def test_many_rays_and_geoms():
    """Enough of both that rays go through the tree of boxes."""
    grid = "".join(f'<geom type="box" size=".1 .1 .1" pos="{i % 8} {i // 8} {i % 3}"/>' for i in range(64))
    turns = "".join(f'<site name="r{i}" pos="3 3 5" euler="{i * 7} {180 - i * 3} 0"/>' for i in range(24))
    sensors = "".join(f'<rangefinder site="r{i}"/>' for i in range(24))
    pair = Pair(
        f"<mujoco><worldbody>{grid}<geom type='plane' size='9 9 1' pos='0 0 -2'/><body><freejoint/><geom size='.2'/>"
        f"{turns}</body></worldbody><sensor>{sensors}</sensor></mujoco>"
    )
    for _ in pair.states(4, 30):
        assert error(pair.d.sensordata, pair.md.sensordata) < 1e-9
    assert (pair.md.sensordata > 0).sum() > 5


def test_a_mesh_without_tangents_is_refused():
    m = tisim.Model.from_xml_string(ROOM % '<tactile name="palm" geom="pad" mesh="gem"/>')
    with pytest.raises(tisim.UnsupportedError, match="palm.*gem"):
        tisim.forward(m, tisim.Data(m))
