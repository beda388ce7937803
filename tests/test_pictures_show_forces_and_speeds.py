"""Colours tell speeds and forces of bodies, who sleeps and groups, and chains how forces go from body to body."""

import mujoco
import numpy as np
import pytest
from shared import drawn

import tisim
from tisim.model.tables import colors
from tisim.viewer import measures
from tisim.viewer.camera import Camera
from tisim.viewer.raster import Raster
from tisim.viewer.scene import Look

STACK = """<mujoco><option timestep=".002"/><worldbody><geom type="plane" size="9 9 1"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="3"/></body>
  <body pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
  <body pos="0 0 .5"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>"""
G = 9.81


def at_rest():
    m = tisim.Model.from_xml_string(STACK)
    d = tisim.Data(m)
    tisim.step(m, d, 1500)
    tisim.forward(m, d)
    return m, d


def test_forces_are_those_of_a_stack():
    m, d = at_rest()
    assert measures.measured(m, d, 0, "force") == pytest.approx([0, 9 * G, 4 * G, G], rel=1e-3)
    red = measures.color_bytes(m, d, 0, "force")[:, :3] / 255.0
    assert red[1] == pytest.approx(colors.STOPS[-1], abs=3e-3) and (np.diff(red[1:, 0] - red[1:, 2]) < 0).all()
    assert measures.measured(m, d, 0, "speed") == pytest.approx([0] * 4, abs=1e-4)


def test_speeds_are_mujocos():
    m = tisim.Model.from_scene("ragdolls", n=2)
    d = tisim.Data(m)
    tisim.step(m, d, 150)
    mm = mujoco.MjModel.from_xml_string(tisim.scenes.build("ragdolls", n=2))
    md = mujoco.MjData(mm)
    md.qpos[:], md.qvel[:] = d.qpos, d.qvel
    mujoco.mj_forward(mm, md)
    tisim.forward(m, d)
    twist = np.zeros((mm.nbody, 6))
    for b in range(mm.nbody):
        mujoco.mj_objectVelocity(mm, md, mujoco.mjtObj.mjOBJ_BODY, b, twist[b], 0)
    assert measures.measured(m, d, 0, "speed") == pytest.approx(np.linalg.norm(twist[:, 3:], axis=1), abs=1e-6)


def test_chains_go_from_centres_to_contacts_and_thicken_with_force():
    m, d = at_rest()
    kind, middle, turn, size, *_ = drawn.overlays(m, d, Look(chains=True))
    radius, half = size[:, 0], size[:, 1]
    assert len(middle) == 4 + 8 + 8, "four contacts on the floor, which has no centre, and twice four between boxes"
    ends = middle + half[:, None] * turn[:, :, 2]
    begins = middle - half[:, None] * turn[:, :, 2]
    places = np.asarray(d.contact.pos)
    assert all(np.abs(places - e).max(axis=1).min() < 1e-9 for e in ends)
    assert all(np.abs(np.asarray(d.xipos)[1:] - b).max(axis=1).min() < 1e-9 for b in begins)
    assert np.linalg.det(turn) == pytest.approx(1)
    low = radius[np.abs(ends[:, 2]) < 0.01]
    high = radius[np.abs(ends[:, 2] - 0.4) < 0.01]
    assert (low.mean() / high.mean()) ** 2 == pytest.approx(6, rel=0.02)


def test_pictures_have_them_and_nothing_else_changes():
    m, d = at_rest()
    camera, pictures = Camera(90, -10, 2.5, (0, 0, 0.3)), {}
    with tisim.Renderer(m, 120, 160, quality="plain") as renderer:
        for name, look in (
            ("plain", Look()), ("force", Look("force")), ("speed", Look("speed")),
            ("chains", Look(chains=True, alpha=0.3)), ("again", Look()),
        ):  # fmt: skip
            renderer.update_scene(d, camera, look)
            pictures[name] = renderer.render().astype(int)
        renderer.enable_segmentation_rendering()
        boxes = (renderer.render()[..., 0] > 0) & (renderer.render()[..., 1] == tisim.mjtObj.mjOBJ_GEOM)
    assert np.array_equal(pictures["plain"], pictures["again"])
    for name in ("force", "speed"):
        changed = (pictures[name] != pictures["plain"]).any(axis=2)
        assert changed[boxes].mean() > 0.9 and changed[~boxes].mean() < 0.02
    rows = np.flatnonzero(boxes.any(axis=1))
    bottom, top = pictures["force"][rows[-4]][boxes[rows[-4]]], pictures["force"][rows[3]][boxes[rows[3]]]
    assert bottom[:, 0].mean() > bottom[:, 2].mean() + 40 and top[:, 2].mean() > top[:, 0].mean() + 40
    reds = (pictures["chains"][..., 0] > pictures["chains"][..., 1] + 60).sum()
    assert reds > 50 > (pictures["plain"][..., 0] > pictures["plain"][..., 1] + 60).sum()


def seen(m, d, color, distance=3.0):
    """What a picture has in a colour mode: its mean hue (3,), of sum 1, by geom."""
    look, camera = Look(color, geomgroup=(1,) * 6), Camera(90, -30, distance, (0, 0, 0.1))
    with tisim.Renderer(m, 120, 200, quality="plain") as renderer:
        renderer.update_scene(d, camera, look)
        picture, _, record = renderer.render_all()
    of = {}
    for geom in np.unique(record[..., 0][record[..., 1] == tisim.mjtObj.mjOBJ_GEOM]):
        rgb = picture[(record[..., 0] == geom) & (record[..., 1] == tisim.mjtObj.mjOBJ_GEOM)].astype(float).mean(0)
        of[int(geom)] = rgb / rgb.sum()
    return of


def test_sleepers_and_those_awake_have_a_colour_each():
    """One box lies and sleeps, another is thrown up; without sleep both are awake."""
    m = tisim.Model.from_xml_string("""<mujoco><option timestep=".002" sleep_tolerance=".001"><flag sleep="enable"/>
      </option><worldbody><geom type="plane" size="9 9 1"/>
      <body pos="-.4 0 .1" sleep="init"><freejoint/><geom type="box" size=".1 .1 .1" rgba=".2 .9 .2 1"/></body>
      <body pos=".4 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" rgba=".2 .9 .2 1"/></body>
      </worldbody></mujoco>""")
    d = tisim.Data(m)
    d.qvel[8] = 1.0
    tisim.step(m, d, 20)
    tisim.forward(m, d)
    assert d.tree_asleep[0] >= 0 > d.tree_asleep[1]
    of = seen(m, d, "asleep")
    assert of[1][2] > of[1][0] + 0.1 and of[2][0] > of[2][2] + 0.3, "blue sleeps, orange is awake"
    own = seen(m, d, "geom")
    assert own[0] == pytest.approx(of[0], abs=1e-3), "the floor, which cannot move, keeps its own"
    m.opt.enableflags = 0
    d = tisim.Data(m)
    tisim.forward(m, d)
    of = seen(m, d, "asleep")
    assert of[1] == pytest.approx(of[2], abs=0.02) and of[1][0] > of[1][2] + 0.3


def test_the_fastest_is_red_and_what_rests_is_blue():
    m, d = at_rest()
    d.qpos[12:14], d.qvel[12:15] = (0.5, 0.0), (0.0, 0.0, 2.0)  # the top box flies beside the two that rest
    tisim.forward(m, d)
    of = seen(m, d, "speed")
    assert of[3][0] > of[3][2] + 0.4 and of[1][2] > of[1][0] + 0.2 and of[2][2] > of[2][0] + 0.2
    d.qvel[:] = 0
    tisim.forward(m, d)
    assert seen(m, d, "speed")[3][2] > 0.4, "where nothing moves nothing is red"


def test_each_group_has_a_colour():
    bodies = "".join(
        f'<body pos="{0.3 * (k - 2.5)} {y} .1"><freejoint/><geom type="{t}" size=".1 .1 .1" group="{k}"/></body>'
        for k in range(6)
        for y, t in ((-0.2, "box"), (0.2, "sphere"))
    )
    m = tisim.Model.from_xml_string(
        f"<mujoco><worldbody><geom type='plane' size='9 9 1'/>{bodies}</worldbody></mujoco>"
    )
    d = tisim.Data(m)
    tisim.forward(m, d)
    of = seen(m, d, "group")
    assert of[0] == pytest.approx(seen(m, d, "geom")[0], abs=1e-3)
    for k in range(6):
        box, ball = of[2 * k + 1], of[2 * k + 2]
        assert box == pytest.approx(ball, abs=0.03)
        assert all(np.abs(box - of[2 * j + 1]).max() > 0.08 for j in range(6) if j != k)


def test_the_window_has_every_mode():
    m, d = at_rest()
    raster = Raster(m)
    for mode in colors.MODES:
        raster.paint_state(d, 0, mode)
        Look(mode)


def test_the_command_line_knows_them(call):
    code, out, err = call("render", "dominos", "--n", 6, "--time", 0.3, "-o", "a.png", "--size", "96x54",
                          "--color", "speed", "--chains")  # fmt: skip
    assert (code, err) == (0, "")
    code, _, err = call("render", "dominos", "--n", 6, "-o", "a.png", "--color", "heat")
    assert code == 2 and "--color heat: expected geom, island, asleep, group, speed, force" in err
