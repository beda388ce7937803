"""A .glb holds one mesh for each shape and colour and one node for each body, and the motion of a recording."""

import json

import numpy as np
import pytest
import trimesh

import tisim
from tisim.viewer import glb

UP = glb.UPRIGHT[:3, :3]


def shapes(steps=50):
    m = tisim.Model.from_scene("shapes", n=20)
    d = tisim.Data(m)
    tisim.step(m, d, steps)
    tisim.forward(m, d)
    return m, d


def test_every_geom_is_where_it_is(tmp_path):
    m, d = shapes()
    glb.to_glb(m, d, tmp_path / "a.glb")
    scene = trimesh.load(tmp_path / "a.glb")
    assert len(scene.graph.nodes_geometry) == m.ngeom and len(scene.geometry) < 10
    for g in range(m.ngeom):
        pose, shape = scene.graph.get(f"geom {g}")
        turn = UP @ np.asarray(d.geom_xmat[g]).reshape(3, 3)
        assert pose[:3, 3] == pytest.approx(UP @ d.geom_xpos[g], abs=1e-5) and pose[:3, :3] == pytest.approx(
            turn, abs=1e-5
        )
        if m.geom_rbound[g]:
            reach = np.linalg.norm(scene.geometry[shape].vertices, axis=1).max()
            assert reach == pytest.approx(m.geom_rbound[g], rel=1e-3)
    box = int(np.flatnonzero(np.asarray(m.geom_type) == tisim.mjtGeom.mjGEOM_BOX)[0])
    mesh = scene.geometry[scene.graph.get(f"geom {box}")[1]]
    assert mesh.extents == pytest.approx(2 * np.asarray(m.geom_size[box]), rel=1e-5)


def test_the_motion_of_a_recording_is_an_animation(tmp_path):
    m, d = shapes(0)
    seen = []
    with tisim.Recorder(tmp_path / "a.npz", m, d) as recorder:
        for _ in range(15):
            tisim.step(m, d, 10)
            recorder.add()
            tisim.forward(m, d)
            seen.append((np.array(d.xpos), np.array(d.xquat)))
    recording = tisim.Recording(tmp_path / "a.npz")
    glb.recording_to_glb(recording, tmp_path / "a.glb")
    document, binary = glb._parts((tmp_path / "a.glb").read_bytes())
    (animation,) = document["animations"]

    def values(k, width):
        accessor = document["accessors"][k]
        view = document["bufferViews"][accessor["bufferView"]]
        return np.frombuffer(binary, "<f4", accessor["count"] * width, view["byteOffset"]).reshape(-1, width)

    names = {glb.node_name(m, b): b for b in range(m.nbody)}
    found = 0
    for channel in animation["channels"]:
        sampler, path = animation["samplers"][channel["sampler"]], channel["target"]["path"]
        b = names[document["nodes"][channel["target"]["node"]]["name"]]
        assert values(sampler["input"], 1).ravel() == pytest.approx(recording.time - recording.time[0], abs=1e-6)
        if path == "translation":
            assert values(sampler["output"], 3) == pytest.approx(np.array([x[b] for x, _ in seen]), abs=1e-5)
        else:
            quats = values(sampler["output"], 4)
            same = np.abs((quats[:, [3, 0, 1, 2]] * np.array([q[b] for _, q in seen])).sum(1))
            assert same == pytest.approx(1, abs=1e-5) and ((quats[1:] * quats[:-1]).sum(1) > 0).all()
        found += 1
    assert found >= m.nbody - 1
    scene = trimesh.load(tmp_path / "a.glb")
    assert len(scene.graph.nodes_geometry) == m.ngeom, "other programs read it"


def test_terrain_meshes_and_what_is_hidden(tmp_path):
    for name in ("terrain", "bowl"):
        m = tisim.Model.from_scene(name, n=3)
        d = tisim.Data(m)
        m.geom_group[m.ngeom - 1] = 4
        tisim.remove(m, d, [int(m.tree_bodyadr[0])])
        tisim.forward(m, d)
        glb.to_glb(m, d, tmp_path / "a.glb")
        scene = trimesh.load(tmp_path / "a.glb")
        assert len(scene.graph.nodes_geometry) == m.ngeom - 2
        if name == "terrain":
            field = next(s for s in scene.geometry.values() if len(s.vertices) == m.hfield_nrow[0] * m.hfield_ncol[0])
            assert field.extents[:2] == pytest.approx(2 * np.asarray(m.hfield_size[0, :2])) and field.area > 0


def test_the_command_line_exports(call):
    code, out, err = call("export", "dominos", "--n", 9, "--time", 0.2, "-o", "a.glb", "--json")
    assert (code, err) == (0, "") and json.loads(out)["bodies"] == 9
    assert len(trimesh.load("a.glb").graph.nodes_geometry) == 10
    call("run", "dominos", "--n", 9, "--time", 0.5, "--no-picture", "--record", "a.npz")
    code, out, _ = call("export", "a.npz", "-o", "b.glb")
    assert code == 0 and "31 frames" in out
    for arguments, told in (
        (("dominos", "-o", "a.obj"), "expected a name ending in .glb"),
        (("a.npz", "-o", "b.glb", "--world", 3), "--world 3"),
        (("a.npz", "-o", "b.glb", "--time", 1), "--time belongs to what is simulated"),
    ):  # fmt: skip
        code, _, err = call("export", *arguments)
        assert code == 2 and told in err
