"""dynamics="lcp": a contact farther than `gap` is listed where it closes within the step, and only there.

So what is fast is stopped where it meets, not a step later and inside.
"""

import mujoco
import numpy as np
import pytest

import tisim
from tisim.model import lcp

BALL = '<geom size="{}" pos="{} {} {}"/>'
H = 0.005


def scene(rng):
    """MJCF of balls: on a plane, static, single ones, two bodies of 20 each, and chains of hinges and slides."""

    def ball(spread, x=(0, 0, 0)):
        return BALL.format(rng.uniform(0.03, 0.08), *(np.array(x) + rng.uniform(-spread, spread, 3)))

    static = "".join(ball(0.5) for _ in range(12))
    singles = "".join(f"<body><freejoint/>{ball(0.02)}</body>" for _ in range(30))
    groups = "".join(f"<body><freejoint/>{''.join(ball(0.2) for _ in range(20))}</body>" for _ in range(2))
    chain = """<body pos="{} 0 .4"><joint axis="0 1 0" pos=".05 0 0"/>{}<body pos=".2 0 0">
      <joint type="slide" axis="1 0 1"/>{}<body pos="0 .2 0">
      <joint type="ball" pos="0 -.1 0"/>{}</body></body></body>"""
    chains = "".join(chain.format(x, ball(0), ball(0), ball(0)) for x in (-0.4, 0.4))
    return f"""<mujoco><option timestep="{H}"/><worldbody><geom type="plane" size="3 3 .1" pos="0 0 -.6"/>
      {static}{chains}{singles}{groups}</worldbody></mujoco>"""


def ways(mm, dd):
    """(centres of mass, their ways within a step, turns) of bodies, by MuJoCo's Jacobians."""
    way, turn = np.zeros((mm.nbody, 3)), np.zeros((mm.nbody, 3))
    jacp, jacr = np.zeros((3, mm.nv)), np.zeros((3, mm.nv))
    for b in range(1, mm.nbody):
        mujoco.mj_jacBodyCom(mm, dd, jacp, jacr, b)
        way[b] = H * (jacp @ dd.qvel) + H**2 * mm.opt.gravity
        turn[b] = H * (jacr @ dd.qvel)
    return dd.xipos, way, turn


def expected(mm, dd, gap):
    """Pairs of geoms, all tried, that are nearer than `gap` or whose own normal velocity closes them."""
    centre, way, turn = ways(mm, dd)
    body, size, x = mm.geom_bodyid, mm.geom_size[:, 0], dd.geom_xpos
    root = mm.body_weldid[mm.body_parentid]
    found = set()
    for g in range(1, mm.ngeom):
        for e in range(g):
            a, b = body[e], body[g]
            if a == b or (a and b and (root[a] == b or root[b] == a)):
                continue
            n = np.array([0.0, 0, 1]) if e == 0 else (x[g] - x[e]) / np.linalg.norm(x[g] - x[e])
            dist = n @ (x[g] - x[e]) - size[g] - (0 if e == 0 else size[e])
            at = x[g] - n * (size[g] + dist / 2)
            closes = n @ (way[a] + np.cross(turn[a], at - centre[a]) - way[b] - np.cross(turn[b], at - centre[b]))
            if dist <= gap or closes >= dist:
                found.add((e, g))
    return found


@pytest.mark.parametrize("speed", [0.0, 2.0, 20.0])
def test_the_list_is_what_closes_of_all_pairs(speed):
    rng = np.random.default_rng(5)
    xml = scene(rng)
    m, mm = tisim.Model.from_xml_string(xml), mujoco.MjModel.from_xml_string(xml)
    m.opt.dynamics = "lcp"
    gap = lcp.length(m, "gap")
    d, dd = tisim.Data(m), mujoco.MjData(mm)
    more = 0
    qpos = dd.qpos.copy()
    for j in np.flatnonzero(mm.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        a = mm.jnt_qposadr[j]
        qpos[a : a + 3] = rng.uniform(-0.6, 0.6, 3)
    for _ in range(12):
        dd.qvel[:] = speed * rng.normal(size=mm.nv)
        dd.qpos[:] = qpos
        mujoco.mj_integratePos(mm, dd.qpos, rng.normal(size=mm.nv), 0.002)
        qpos = dd.qpos.copy()
        mujoco.mj_forward(mm, dd)
        d.qpos[:], d.qvel[:] = dd.qpos, dd.qvel
        tisim.forward(m, d)
        found = {tuple(sorted(pair)) for pair in np.asarray(d.contact.geom).tolist()}
        assert found == expected(mm, dd, gap)
        more += int((np.asarray(d.contact.dist) > gap).sum())
    assert (more > 3) == (speed > 0)


def thrown(shape, speed, **given):
    """Where a small, fast body is that was thrown down at a plate 4 mm thick, after 0.1 s; its contacts' depth."""
    m = tisim.Model.from_xml_string(f"""<mujoco><option timestep="{H}"/><worldbody>
      <body pos="0 0 -.002" mocap="true"><geom type="box" size=".5 .5 .002"/></body>
      <body pos="0 0 .4137"><freejoint/><geom {shape}/></body></worldbody></mujoco>""")
    m.opt.dynamics = "lcp"
    m.lcp.take(given)
    d = tisim.Data(m)
    d.qvel[2] = -speed
    deepest = 0.0
    for _ in range(20):
        tisim.step(m, d)
        deepest = max(deepest, -np.asarray(d.contact.dist).min(initial=0.0))
    return d.qpos[2], deepest


@pytest.mark.parametrize("speed", [5, 30, 200])
@pytest.mark.parametrize(
    "shape, most, longer",
    [
        ('size=".01"', 1e-6, 0),
        ('type="box" size=".01 .01 .01"', 1e-3, 0),
        ('type="capsule" size=".01 .02"', 1e-6, 1e-8),
    ],
)
def test_a_small_fast_body_does_not_get_into_a_thin_plate(shape, most, longer, speed):
    """At rest on it, or off it again: one sweep leaves a box that meets with four corners turning, and a capsule that
    meets with both ends deeper by a hundred-millionth of its way in a second."""
    z, deepest = thrown(shape, speed)
    assert z > 0.0099 and deepest < most + longer * speed
    assert thrown(shape, speed, gap=0.0)[0] < -0.01  # no rows for gaps are asked for: it gets in, or through


def test_what_rests_gets_no_contacts_by_it():
    """A pile of boxes and balls that has come to rest lists nothing beyond `gap`."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("pile", n=100)
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    tisim.step(m, d, 600)
    assert d.ncon > 200 and np.asarray(d.contact.dist).max() < lcp.length(m, "gap")


def test_a_heap_that_falls_together_meets_the_ground_and_not_itself():
    """Balls 30 mm apart that fall at 8 m/s close nothing between them; on the ground each has its contact."""
    balls = "".join(
        f'<body pos="{0.23 * i} {0.23 * j} .3"><freejoint/><geom size=".1"/></body>' for i in range(4) for j in range(4)
    )
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep="{H}"/><worldbody><geom type="plane" size="9 9 1"/>{balls}</worldbody></mujoco>'
    )
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    d.qvel.reshape(-1, 6)[:, 2] = -8.0
    most = 0
    for _ in range(8):
        tisim.step(m, d)
        most = max(most, d.ncon)
    assert most == 16


@pytest.mark.parametrize("rise", [0.0, 0.6])
@pytest.mark.parametrize("height", [0.002, 0.02])
def test_a_ball_over_a_height_field_has_its_true_distance(rise, height):
    """MuJoCo raises the field by the margin and tells the distance from there, so that bodies hovered over it."""
    n, r, half = 9, 0.05, 1.0
    field = np.linspace(0, 1, n)[None].repeat(n, 0)
    normal = np.array([-rise, 0.0, 2 * half]) / np.hypot(rise, 2 * half)
    x = np.array([0.1, 0.03, rise * 0.55]) + (r + height) * normal
    m = tisim.Model.from_xml_string(f"""<mujoco><option timestep="{H}" gravity="0 0 0"/>
      <asset><hfield name="h" nrow="{n}" ncol="{n}" size="{half} {half} {rise or 1} .1"/></asset>
      <worldbody><geom type="hfield" hfield="h"/>
        <body pos="{x[0]} {x[1]} {x[2]}"><freejoint/><geom size="{r}"/></body></worldbody></mujoco>""")
    m.hfield_data[:] = (field if rise else 0 * field).ravel()
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    d.qvel[:3] = -4.5 * normal
    tisim.forward(m, d)
    dist, pos = np.asarray(d.contact.dist), np.asarray(d.contact.pos)
    k = dist.argmin()
    assert abs(dist[k] - height) < 1e-9
    assert np.abs(pos[k] - (x - (r + height / 2) * normal)).max() < 1e-9
    assert np.abs(d.contact.frame[k].reshape(3, 3)[0] - normal).max() < 1e-9
