"""Contacts do not depend on when the last search for pairs was, and a search happens only when it must."""

import mujoco
import numpy as np
import pytest
from shared.contacts import age, both, ours

import tisim
from tisim.stages import collision, dynamics

XML = """<mujoco><option o_margin="0.02"><flag override="{}"/></option>
  <asset><hfield name="h" nrow="6" ncol="6" size="2 2 .2 .1" elevation="{}"/></asset>
  <worldbody>
    <geom type="plane" size="3 3 .1" euler="5 0 0" pos="0 0 -.3"/><geom type="hfield" hfield="h" pos="0 0 -.2"/>
    {}
    <body name="hand" mocap="true" pos="0 0 .5"><geom type="box" size=".2 .1 .1"/><geom size=".2" pos=".3 0 0"/></body>
    {}
  </worldbody></mujoco>"""
KINDS = ["box", "sphere", "capsule", "cylinder", "ellipsoid"]


def scene(rng, override="disable"):
    """MJCF with planes, a height field, static geoms, a mocap body, single geoms and bodies of many geoms."""

    def geom(i, spread):
        x, y, z = rng.uniform(-1, 1, 3) * spread
        return (f'<geom type="{KINDS[i % 5]}" size=".08 .06 .07" pos="{x} {y} {z}" euler="{40 * i} 20 0" mass="1" '
                f'margin="{0.01 * (i % 2)}"/>')  # fmt: skip

    static = "".join(geom(i, [1, 1, 0.2]) for i in range(30))
    counts = [20, 20] + 60 * [1]
    bodies = "".join(
        f"<body><freejoint/>{''.join(geom(i + k, [0.3, 0.3, 0.1] if n > 1 else [0, 0, 0]) for k in range(n))}</body>"
        for i, n in enumerate(counts)
    )
    heights = " ".join(f"{h:.2f}" for h in rng.uniform(0, 1, 36))
    return XML.format(override, heights, static, bodies), len(counts)


@pytest.mark.parametrize("override", ["disable", "enable"])
def test_contacts_are_those_of_a_new_search(override):
    rng = np.random.default_rng(0)
    xml, n = scene(rng, override)
    m = tisim.Model.from_xml_string(xml)
    d, fresh = tisim.Data(m), tisim.Data(m)
    pos = rng.uniform(-1, 1, (n, 3)) * [1, 1, 0.3]
    quat = rng.normal(size=(n, 4))
    found, searches = 0, 0
    for step in range(60):
        pos += rng.normal(size=(n, 3)) * (0.002 if step < 50 else 0.1)
        quat += rng.normal(size=(n, 4)) * 0.005
        hand = [0.1 * np.sin(0.1 * step), 0, 0.4]
        for x in (d, fresh):
            x.qpos = np.concatenate([pos, quat / np.linalg.norm(quat, axis=1, keepdims=True)], 1).ravel()
            x.mocap_pos = hand
            dynamics.fwd_position(m, x)
        collision.collide(m, d)
        collision.collide(m, fresh, keep=False)
        searches += age(d) == 1
        (a,), (b,) = ours(d), ours(fresh)
        assert all(np.array_equal(a[f], b[f]) for f in a)
        found += len(a["dist"])
    assert found > 60 * 100 and 10 < searches < 40


BALL = '<body><freejoint/><geom size="{}"/></body>'
FIFTEEN = 15 * '<geom size=".01"/>'
TURNED = (0.8660254, 0.2886751, 0.2886751, 0.2886751)  # its box is 5/3 as wide as the cube, along all axes
# what stands in the model, poses at which nothing touches, poses at which two bodies do
MEETINGS = {
    "a rod turns on the spot": (
        '<body><freejoint/><geom type="capsule" size=".05 1"/></body>' + BALL.format(0.1),
        [(0, 0, 0, 1, 0, 0, 0), (0.6, 0, 0, 1, 0, 0, 0)], [(0, 0, 0, 1, 0, 1, 0), (0.6, 0, 0, 1, 0, 0, 0)],
    ),
    "a cube's corner comes where its box was": (
        '<body><freejoint/><geom type="box" size=".1 .1 .1"/></body>' + BALL.format(0.01),
        [(0, 0, 0, *TURNED), (0.15, 0.15, 0.15, 1, 0, 0, 0)],
        [(0.07, 0.07, 0.07, 1, 0, 0, 0), (0.15, 0.15, 0.15, 1, 0, 0, 0)],
    ),
    "a body of many geoms turns on the spot": (
        f"""<body><freejoint/><geom type="box" size=".1 .1 .1"/>{FIFTEEN}</body>""" + BALL.format(0.01),
        [(0, 0, 0, *TURNED), (0.1, 0.1, -0.1, 1, 0, 0, 0)], [(0, 0, 0, 1, 0, 0, 0), (0.1, 0.1, -0.1, 1, 0, 0, 0)],
    ),
    "a body of many geoms and a ball approach": (
        f"""<body><freejoint/>{"".join(f'<geom size=".1" pos="{0.2 * i} 0 0"/>' for i in range(-8, 8))}</body>"""
        + BALL.format(0.1),
        [(0, 0, 0, 1, 0, 0, 0), (0, 0, 0.31, 1, 0, 0, 0)], [(0, 0, 0.06, 1, 0, 0, 0), (0, 0, 0.25, 1, 0, 0, 0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("meeting", MEETINGS)
def test_no_meeting_is_missed(meeting):
    bodies, apart, together = MEETINGS[meeting]
    m = tisim.Model.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    d = tisim.Data(m)
    for poses, some in ((apart, False), (together, True)):
        d.qpos = np.ravel(poses)
        dynamics.fwd_position(m, d)
        collision.collide(m, d)
        assert (d.ncon > 0) == some


def test_nothing_is_searched_while_nothing_moves_far():
    m = tisim.Model.from_xml_string(scene(np.random.default_rng(1))[0])
    d = tisim.Data(m)
    dynamics.fwd_position(m, d)
    for _ in range(5):
        collision.collide(m, d)
    assert age(d) == 5


CHANGES = {
    "geom_margin": lambda m: m.geom_margin.__setitem__(slice(1, 3), 0.3),
    "geom_pos of a static geom": lambda m: m.geom_pos.__setitem__((0, 2), -0.15),
    "geom_size": lambda m: (m.geom_rbound.__setitem__(2, 0.4), m.geom_size.__setitem__(2, 0.4),
                            m.geom_aabb.__setitem__((2, slice(3, 6)), 0.4)),  # fmt: skip
    "geom_contype": lambda m: m.geom_contype.__setitem__(1, 4),
    "o_margin": lambda m: (setattr(m.opt, "o_margin", 0.3), setattr(m.opt, "enableflags", 1)),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_an_edited_model_is_searched_again(change):
    xml = """<mujoco><worldbody><geom type="box" size="1 1 .1" pos="0 0 -.35"/>
        <body><freejoint/><geom size=".1"/></body><body pos=".4 0 0"><freejoint/><geom size=".1"/></body>
        </worldbody></mujoco>"""
    mm, dd, m, d = both(xml)
    tisim.forward(m, d)
    CHANGES[change](m)
    CHANGES[change](mm)
    tisim.forward(m, d)
    mujoco.mj_forward(mm, dd)
    assert d.ncon == dd.ncon and (change == "geom_contype" or d.ncon > 0)
    assert np.allclose(np.sort(d.contact.dist), np.sort(dd.contact.dist), atol=1e-9)


def test_a_distance_query_in_between_changes_nothing():
    m = tisim.Model.from_xml_string(scene(np.random.default_rng(2))[0])
    d, other = tisim.Data(m), tisim.Data(m)
    for x in (d, other):
        tisim.forward(m, x)
    for g in (30, 60):
        tisim.geom_distance(m, d, g, g + 40, 1.0)
    for x in (d, other):
        tisim.forward(m, x)
    (a,), (b,) = ours(d), ours(other)
    assert len(a["dist"]) > 20 and all(np.array_equal(a[f], b[f]) for f in a)


@pytest.mark.parametrize("speed", [2.0, 8.0, 30.0])
def test_what_closes_within_a_step_is_found_whenever_the_last_search_was(speed):
    """dynamics="lcp": velocities change at each pose, and with them how far contacts are listed."""
    rng = np.random.default_rng(3)
    xml, n = scene(rng)
    m = tisim.Model.from_xml_string(xml)
    m.opt.dynamics = "lcp"
    d, fresh, slow = tisim.Data(m), tisim.Data(m), tisim.Data(m)
    pos = rng.uniform(-1, 1, (n, 3)) * [1, 1, 0.3]
    quat = rng.normal(size=(n, 4))
    quat /= np.linalg.norm(quat, axis=1, keepdims=True)
    searches, more = 0, 0
    for _ in range(40):
        pos += rng.normal(size=(n, 3)) * 0.001
        v = speed * rng.normal(size=(n, 6)) * (rng.random((n, 1)) < 0.3)
        for x in (d, fresh, slow):
            x.qpos = np.concatenate([pos, quat], 1).ravel()
            x.qvel = v.ravel() * (x is not slow)
            dynamics.fwd_position(m, x)
        collision.collide(m, d)
        for x in (fresh, slow):
            collision.collide(m, x, keep=False)
        searches += age(d) == 1
        (a,), (b,), (c,) = ours(d), ours(fresh), ours(slow)
        assert all(np.array_equal(a[f], b[f]) for f in a)
        more += len(a["dist"]) - len(c["dist"])
    assert more > 5 and (searches < 40 or speed > 10)
