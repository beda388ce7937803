"""Colours tell speeds and forces of bodies, and chains how forces go from body to body."""

import mujoco
import numpy as np
import pytest

import tisim
from tisim.viewer import measures
from tisim.viewer.camera import Camera
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
    assert measures.forces(m, d, 0) == pytest.approx([0, 9 * G, 4 * G, G], rel=1e-3)
    red = measures.colors_of(measures.forces(m, d, 0))
    assert red[1] == pytest.approx(measures.STOPS[-1]) and (np.diff(red[1:, 0] - red[1:, 2]) < 0).all()
    assert measures.speeds(m, d, 0) == pytest.approx([0] * 4, abs=1e-4)


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
    assert measures.speeds(m, d, 0) == pytest.approx(np.linalg.norm(twist[:, 3:], axis=1), abs=1e-6)


def test_chains_go_from_centres_to_contacts_and_thicken_with_force():
    m, d = at_rest()
    middle, turn, radius, half = measures.chains(m, d, 0)
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


def test_the_command_line_knows_them(call):
    code, out, err = call("render", "dominos", "--n", 6, "--time", 0.3, "-o", "a.png", "--size", "96x54",
                          "--color", "speed", "--chains")  # fmt: skip
    assert (code, err) == (0, "")
    code, _, err = call("render", "dominos", "--n", 6, "-o", "a.png", "--color", "heat")
    assert code == 2 and "--color heat: expected geom, island, speed, force" in err
