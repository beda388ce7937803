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

import tisim

SHAPES = dict(sphere='size=".1"', capsule='size=".08 .1"', ellipsoid='size=".1 .15 .08"', cylinder='size=".1 .12"',
              box='size=".1 .12 .08"', mesh='mesh="gem"')  # fmt: skip
BODIES = "".join(
    f'<body name="b_{k}" pos="{0.35 * i - 1:.2f} 0 .6"><freejoint/><geom name="g_{k}" type="{k}" {size}/>'
    f'<site name="s_{k}" type="{"box" if k == "mesh" else k}" size=".12 .14 .13" euler="20 40 10"/></body>'
    for i, (k, size) in enumerate(SHAPES.items())
)
ROOM = f"""<mujoco><option ccd_iterations="150"/>
<asset><mesh name="gem" vertex=".1 .1 .1 -.1 .1 .1 .1 -.1 .1 .1 .1 -.1 -.1 -.1 .1 .12 -.1 -.13 0 0 -.2 .2 0 0"/>
<mesh name="pad" builtin="plate" params="5 4" scale=".2 .2 .1"/>
<hfield name="hills" nrow="4" ncol="4" size="1 1 .2 .2" elevation="0 1 0 2 1 1 0 2 1 0 1 1 0 0 1 2"/></asset>
<worldbody><geom name="floor" type="plane" size="5 5 1"/><camera name="cam" pos="0 0 .7"/>
<body name="hills"><geom type="hfield" hfield="hills" pos="3 0 0" contype="2" conaffinity="2"/>
 <geom size=".1" pos="3 0 1"/>
 <geom name="ghost" size=".3" pos="0 0 1.5" rgba="0 0 0 0" contype="0" conaffinity="0"/></body>
<site name="up" pos="0 .1 .01"/><site name="down" pos="0 0 3" euler="180 0 0"/>
 <site name="side" pos="-2 0 .3" euler="0 90 0"/>
<body name="hand" pos="0 .3 .3"><freejoint/><geom name="pad" type="box" size=".2 .2 .1"/>
 <site name="palm" pos="0 0 .05"/>
 <body pos="0 0 -.1"><geom type="box" size=".2 .2 .05"/></body></body>{BODIES}</worldbody>
<sensor>%s</sensor></mujoco>"""
PAIRS = [(a, b) for a in SHAPES for b in SHAPES if a != b]
KINDS = dict(
    rangefinder=[f'<rangefinder site="{name}"{cut}/>' for cut in ("", ' cutoff=".3"')
                 for name in ("up", "down", "side", "palm", *(f"s_{k}" for k in SHAPES))],
    insidesite=[f'<insidesite site="s_{k}" objtype="{kind}" objname="{name}"/>' for k in SHAPES
                for kind, name in (("camera", "cam"), ("body", "hand"), ("xbody", "hand"), ("site", "palm"),
                                   *(("geom", f"g_{b}") for b in SHAPES))],
    tactile=['<tactile geom="pad" mesh="pad"/>', '<tactile geom="g_box" mesh="pad"/>'],
    distance=[f'<distance geom1="g_{a}" geom2="g_{b}" cutoff="1"/>' for a, b in PAIRS],
    normal=[f'<normal geom1="g_{a}" geom2="g_{b}" cutoff=".2"/>' for a, b in PAIRS],
    fromto=[f'<fromto geom1="g_{a}" geom2="g_{b}" cutoff="1"/>' for a, b in PAIRS],
    penetration=[f'<fromto geom1="g_{a}" body2="hand"/>' for a in SHAPES],
    body=[f'<{tag} body1="{a}" body2="b_{b}" cutoff=".6"/>' for tag in ("distance", "normal", "fromto")
          for a in ("world", "hand", "hills") for b in SHAPES],
)  # fmt: skip


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


def compare(pair, kind, bound):
    """(sensors that differ by more than a bound and are not at fault, at fault, with a value) of one state."""
    mm, wrong, faults, some = pair.mm, [], 0, 0
    ours, theirs = np.array(pair.d.sensordata), pair.md.sensordata
    for s in range(mm.nsensor):
        a = slice(mm.sensor_adr[s], mm.sensor_adr[s] + mm.sensor_dim[s])
        some += bool(np.any(theirs[a]))
        if error(ours[a], theirs[a]) > bound:
            fault = kind in ("distance", "normal", "fromto", "penetration", "body") and at_fault(pair, s)
            faults += fault
            wrong += [] if fault else [(KINDS[kind][s], ours[a], theirs[a].copy())]
    return wrong, faults, some


@pytest.mark.parametrize("kind", KINDS)
def test_values_equal_mujocos(kind):
    pair = Pair(ROOM % "".join(KINDS[kind]))
    rng, faults, some = np.random.default_rng(0), 0, 0
    for k in range(12):
        shake(pair, rng, k)
        pair.forward()
        more = compare(pair, kind, 1e-9 if kind in ("rangefinder", "insidesite", "tactile") else 5e-5)
        assert not more[0], (k, more[0])
        faults, some = faults + more[1], some + more[2]
    assert faults < 0.05 * 12 * len(KINDS[kind]) and some > 10


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
