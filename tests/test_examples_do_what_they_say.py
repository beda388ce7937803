"""The scripts under scenes/examples do what their first lines say, here in a small form."""

import ast
import json
import math
import re

import numpy as np
import pytest
import trimesh
from shared.examples import FOLDER, load

import tisim
from tisim.viewer.scene import FLAGS


def test_pallets_that_are_tilted_and_shaken():
    pallets = load("pallets")
    assert math.degrees(pallets.tips()) == pytest.approx(20.556, abs=1e-3)
    stands = pallets.verdicts([0, 0.93 * pallets.tips(), 1.07 * pallets.tips()], [0, 2], seconds=2)
    assert stands.tolist() == [[True, True], [True, False], [False, False]]


def test_stable_poses_of_a_box_and_of_a_mesh():
    poses = load("stable_poses")
    box = trimesh.creation.box((1, 2, 3))
    sides, parts = poses.expected(box)
    assert len(sides) == 6 and parts.sum() == pytest.approx(1)
    for mesh, least in ((box, 4), (trimesh.creation.icosahedron(), 10)):
        sides, _ = poses.expected(mesh)
        found, counts = poses.rests(mesh, worlds=64)
        assert counts.sum() >= 60 and len(found) >= least
        assert (np.max(found @ sides.T, axis=1) > np.cos(poses.SAME)).all(), "it rests on sides of its hull"


def test_one_box_is_taken_out_of_a_pyramid():
    m, d, on, moved = load("take_one_out").take_out(base=4)
    assert m.nbody == 11 and moved.shape == (10, 10) and not d.body_present[3, 4]
    assert (moved <= on[1:, 1:]).all(), "only what lay on it moves"
    assert not moved[9].any(), "nothing lies on the top"
    assert moved[1].any() and moved.any(axis=1).sum() >= 4, "some hold others"


def test_a_friction_is_found_by_a_sweep(call, tmp_path):
    friction = load("friction")
    table = tisim.sweep(friction.model, friction.cases, friction.steps, friction.measure, prepare=friction.prepare)
    found, error = friction.fit(table)
    assert found == pytest.approx(friction.MU, abs=0.005)
    friction.picture(error, found, tmp_path / "a.png")
    code, out, _ = call("sweep", FOLDER / "friction.py", "--json", "-o", tmp_path / "out")
    assert code == 0 and json.loads(out)["hash"] == table.hash
    lines = (tmp_path / "out" / "table.csv").read_text().splitlines()
    assert lines[0] == "case,seed,mu,tilt,way,warnings" and len(lines) == 76


def test_a_heap_settles_and_tells_who_carries_whom(tmp_path):
    m, d, found = load("heap").settled(40)
    assert found.settled and not len(found.left)
    weight = float(m.body_mass[1:].sum()) * 9.81
    assert found.support.lift[found.support.below == 0].sum() == pytest.approx(weight, rel=0.05)
    assert found.deepest.depth[0] < 2e-3
    found.forces.to_csv(tmp_path / "forces.csv")
    assert len((tmp_path / "forces.csv").read_text().splitlines()) == 1 + len(found.forces)


def test_a_killed_run_goes_on_and_its_recording_opens(tmp_path):
    interrupted = load("interrupted")
    whole = interrupted.finished(40, tmp_path / "whole")
    recording = tisim.Recording(interrupted.killed(40, tmp_path / "part", 0.1))
    rest = interrupted.finished(40, tmp_path / "part", "--resume")
    assert rest["state_hash"] == whole["state_hash"] and len(recording) > 0


def test_rings_hang_on_a_post_as_convex_parts(tmp_path, monkeypatch):
    pytest.importorskip("coacd")
    monkeypatch.setenv("TISIM_CACHE", str(tmp_path))
    rings = load("rings")
    assert not rings.thrown(2, parts=False, seconds=1.0)[2].any()
    _, _, on, parts = rings.thrown(2, seconds=1.0)
    assert on.all() and parts > 5


def test_an_arch_stands_under_hard_contacts_alone():
    """Beside a wall that a ball has hit and a bridge of hinges; with MuJoCo's default softness it falls."""
    two = load("two_physics")
    for dynamics, stands in (("convex", False), ("lcp", True)):
        _, m, d = list(two.simulated(dynamics, (0.5, 4.0) if stands else (4.0,)))[-1]
        tisim.forward(m, d)
        tops = np.array(d.xpos)[[b for b in range(m.nbody) if m.geom_type[m.body_geomadr[b]] == 7], 2]
        assert (tops.max() > 1.7) == stands
        depth, gap, speed = two.told(m, d)
        assert not stands or (depth < 2 and gap < 1 and speed < 1)


def check_grains(n):
    grains = load("grains")
    counted = []
    m, d, side = grains.pour(n, lambda m, d, poured: counted.append((poured, int(d.body_present[2:].sum()))))
    assert all(poured == present for poured, present in counted) and counted[-1][0] == n
    pressing, weight = grains.weighed(m, d)
    assert pressing == pytest.approx(weight, rel=0.02), "the vessel carries all of them"
    at = np.asarray(d.xpos)[2:]
    assert (np.abs(at[:, :2]) < side).all() and (at[:, 2] > 0.5 * grains.RADIUS).all(), "none is lost"
    assert not any(d.warning[k].number for k in range(len(d.warning)))


def test_grains_are_poured_and_weighed():
    check_grains(300)


@pytest.mark.slow
def test_five_thousand_grains_are_poured_and_weighed():
    check_grains(5000)


@pytest.mark.parametrize("name", sorted(f.stem for f in FOLDER.glob("*.py")))
def test_its_first_lines_say_how_it_is_run(name):
    doc = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text()))
    assert f"python scenes/examples/{name}.py" in doc and doc.splitlines()[0].endswith((".", "?"))


def test_hello_falls():
    m, d = load("hello").fall(n=20, seconds=1.0)
    assert d.time == pytest.approx(1.0) and d.ncon > 10 and np.isfinite(d.qpos).all()


def test_looking_shows_the_wall_and_its_contacts():
    color, depth, seg = load("look").look(160, 90)
    geoms = seg[..., 1] == 5
    assert color.shape == (90, 160, 3) and len(np.unique(seg[geoms][:, 0])) > 30
    assert 2 < depth[geoms].min() < 4 and (color[geoms].std(axis=0) > 10).all()


def test_the_gallery_has_every_overlay():
    """Each differs from the picture without; PICTURES.md shows each, in less than 80 kB."""
    gallery = load("gallery")
    found = gallery.overlays(width=200, height=125)
    plain = found.pop("none")
    assert all((picture != plain).any(2).sum() >= 10 for picture in found.values())
    shown = {flag.name.removeprefix("mjVIS_") for flag in FLAGS.values()} | {"TRANSPARENT", "ISLAND"}
    frames = {frame.name.removeprefix("mjFRAME_").lower() for frame in tisim.mjtFrame} - {"none", "mjnframe"}
    assert set(found) == shown | frames
    page = (FOLDER.parent.parent / "tisim" / "PICTURES.md").read_text(encoding="utf-8")
    files = {*FOLDER.parent.parent.joinpath("models", "gallery").iterdir()}
    assert {f"../models/gallery/{f.name}" for f in files} == set(re.findall(r"\]\((\S+\.webp)\)", page))
    assert all(f.stat().st_size < 80_000 for f in files)
    names = {f"overlay_{k}_frame" if k.islower() else f"overlay_{k.lower()}" for k in found}
    assert names | {"overlay_none"} == {f.stem for f in files if f.stem.startswith("overlay_")}


def test_an_arm_follows_its_path():
    wanted, reached, hand = load("own_model").follow(seconds=1.0)
    assert np.abs(wanted - reached).max() < math.radians(12) and np.ptp(hand[:, 0]) > 0.2
    assert np.allclose(np.linalg.norm(hand - [0, 0, 1], axis=1) <= 0.7 + 1e-6, True)


def test_the_controller_balances_what_falls_without_it():
    controller = load("controller")
    angles = controller.balance(seconds=3.0)
    assert angles[0] > 0.2 and abs(angles[-1]) < 0.03
    controller.gain = lambda m, d: np.zeros((1, 4))
    assert np.abs(controller.balance(seconds=3.0)).max() > 1.5


def test_a_push_fells_all_or_none():
    speeds, fallen = load("many_worlds").pushes(worlds=8, n=5, seconds=1.0)
    assert fallen[0] == 0 and fallen[-1] == 5 and set(fallen) == {0, 5} and (np.diff(fallen) >= 0).all()


def test_a_stack_weighs_what_lies_above(tmp_path):
    weigh = load("weigh")
    m, d = weigh.stack(n=3, recording=tmp_path / "stack.npz")
    force = weigh.pressing(m, d)
    above = {("world", "box0"): 6, ("box0", "box1"): 5, ("box1", "box2"): 3}
    assert set(force) == set(above)
    assert all(force[pair] == pytest.approx(9.81 * mass, rel=0.02) for pair, mass in above.items())
    import tisim

    recording = tisim.Recording(tmp_path / "stack.npz")
    assert len(recording) == 20 and recording[0]["qpos"][0, 2] > recording[19]["qpos"][0, 2]


def test_there_are_ten():
    assert len(list(FOLDER.glob("*.py"))) >= 10
