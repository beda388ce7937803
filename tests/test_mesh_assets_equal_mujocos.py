"""Meshes, height fields and textures have MuJoCo 3.4.0's arrays, and are refused where MuJoCo refuses them."""

import pathlib
import time

import mujoco
import numpy as np
import pytest
from shared.compiled import array_differences, differences, disagreements

from tisim import Model
from tisim.mjcf.assets import obj_file
from tisim.mjcf.assets.hull import convex_hull
from tisim.mjcf.assets.obj_file import read_obj
from tisim.mjcf.assets.polygons import polygons
from tisim.model.fields import FIELDS

FOLDER = pathlib.Path(__file__).parent / "testdata" / "compile"
FILES = sorted(path for kind in ("mesh", "hfield", "texture") for path in FOLDER.glob(f"{kind}_*.xml"))
# what a mesh without a hull has in MuJoCo only, and the graph, whose neighbours have no order to rely on
APART = {name for name in FIELDS if "poly" in name} | {"mesh_graph"}
ASSETS = [name for name in FIELDS if name.startswith(("mesh_", "hfield_", "tex_", "light_texid")) and name not in APART]

# MuJoCo keeps meshes by file name, and would ignore a changed file or reference frame
mujoco.mj_setCacheCapacity(mujoco.mj_getCache(), 0)


def mesh_model(attributes, geom='type="mesh"'):
    return f"""<mujoco><asset><mesh name="m" {attributes}/><material name="x"/></asset>
    <worldbody><body><freejoint/><geom {geom} mesh="m"/></body></worldbody></mujoco>"""


def different(ours, theirs):
    """dict array -> how it differs."""
    out = array_differences(ours, theirs, ASSETS, single=1e-6)
    for i in range(theirs.nmesh):
        if hull(ours, i) != hull(theirs, i):
            out[f"hull of mesh {i}"] = f"{hull(ours, i)}, expected {hull(theirs, i)}"
        if theirs.mesh_graphadr[i] >= 0 and sides(ours, i) != sides(theirs, i):
            out[f"sides of mesh {i}"] = f"{sides(ours, i)}, expected {sides(theirs, i)}"
    return out


def hull(m, i):
    """(neighbours of each vertex of a mesh's hull, its faces in order)."""
    start = m.mesh_graphadr[i]
    if start < 0:
        return None
    return unpacked(m.mesh_graph[start:])


def unpacked(graph):
    nvert, nface = graph[:2]
    parts = np.cumsum([nvert, nvert, nvert + 3 * nface, 3 * nface])
    address, number, edge, face, _ = np.split(graph[2:], parts)
    neighbours = {}
    for at, vertex in zip(address, number):
        end = at + np.argmax(edge[at:] < 0)
        neighbours[int(vertex)] = set(number[edge[at:end]].tolist())
    return neighbours, face.tolist()


def sides(m, i):
    """Polygons of a mesh with their normals, and the polygons of each vertex."""
    rows = slice(m.mesh_polyadr[i], m.mesh_polyadr[i] + m.mesh_polynum[i])
    places = zip(m.mesh_polyvertadr[rows], m.mesh_polyvertnum[rows])
    vertices = slice(m.mesh_vertadr[i], m.mesh_vertadr[i] + m.mesh_vertnum[i])
    owners = zip(m.mesh_polymapadr[vertices], m.mesh_polymapnum[vertices])
    return (
        [m.mesh_polyvert[at : at + n].tolist() for at, n in places], np.round(m.mesh_polynormal[rows], 6).tolist(),
        [m.mesh_polymap[at : at + n].tolist() for at, n in owners],
    )  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_asset_of_a_file(path):
    assert different(Model.from_xml_path(path), mujoco.MjModel.from_xml_path(str(path))) == {}


def solids():
    """Point sets: random, on a grid, boxes, prisms, frustums, half of them flat, all in single precision."""
    rng = np.random.default_rng(5)
    cube = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), -1).reshape(-1, 3)
    for _ in range(12):
        n = int(rng.integers(5, 60))
        points = rng.normal(size=(n, 3))
        unit = points / np.linalg.norm(points, axis=1, keepdims=True)
        turn = np.arange(n) * 2 * np.pi / n
        ring, zero = np.stack([np.cos(turn), np.sin(turn)], 1), np.zeros((n, 1))
        yield from (
            points, unit, np.round(rng.normal(size=(n + 12, 3)) * 2), np.concatenate([cube, points]),
            cube * rng.uniform(0.1, 2, 3), np.concatenate([unit, unit * [1, 1, 0]]),
            np.block([[ring, zero], [ring * rng.uniform(0.3, 2), zero + 1]]),
            np.block([[ring, zero], [ring, zero + 1]]),
        )  # fmt: skip


def test_hulls_and_their_sides():
    """Faces in MuJoCo's order, the same neighbours, and the same polygons, corner by corner."""
    for points in solids():
        points = points.astype(np.float32)
        text = " ".join(repr(float(x)) for x in points.ravel())
        theirs = mujoco.MjModel.from_xml_string(mesh_model(f'vertex="{text}"'))
        face, graph = convex_hull(points.astype(float))
        assert face.tolist() == theirs.mesh_face.tolist()
        assert unpacked(graph) == unpacked(theirs.mesh_graph)
        assert polygons(points.astype(float), face) == sides(theirs, 0)[0]


def test_hulls_of_four_vertices_of_many():
    """Once one in five had a vertex twice and another one not at all."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        text = " ".join(f"{x:.4f}" for x in rng.normal(size=3 * int(rng.integers(5, 12))))
        model = mesh_model(f'maxhullvert="4" vertex="{text}"')
        ours, theirs = Model.from_xml_string(model), mujoco.MjModel.from_xml_string(model)
        assert ours.mesh_graph[:10].tolist() == theirs.mesh_graph[:10].tolist()
        assert hull(ours, 0) == hull(theirs, 0)


def test_faces_of_an_obj_file_are_cut_the_same(tmp_path):
    """Polygons of four to eight corners: convex, star-shaped, and not even flat."""
    rng = np.random.default_rng(1)
    for trial in range(60):
        k = int(rng.integers(4, 9))
        turn = np.arange(k) * 2 * np.pi / k
        radius = rng.uniform(0.3, 1, k) if trial % 3 == 1 else 1
        points = np.stack([radius * np.cos(turn), radius * np.sin(turn), 0 * turn], 1) + rng.normal(size=3) * 3
        if trial % 3 == 2:
            points = rng.normal(size=(k, 3))
        points = np.concatenate([points, rng.normal(size=(4, 3)) * 5])
        text = "".join(f"v {x:.4f} {y:.4f} {z:.4f}\n" for x, y, z in points)
        text += "f " + " ".join(map(str, range(1, k + 1))) + "\n"
        path = tmp_path / f"{trial}.obj"
        path.write_text(text)
        model = mesh_model(f'file="{path}" inertia="shell"').replace("<body><freejoint/>", "").replace("</body>", "")
        theirs = mujoco.MjModel.from_xml_string(model)
        assert read_obj(text.encode(), False)["face"].tolist() == theirs.mesh_face.tolist()


def test_many_large_faces_of_a_file_are_cut_the_same_and_soon(tmp_path):
    """Stars and spirals of 4 to 100 corners; once each size was cut on its own, which took ten times as long."""
    rng, lines, faces, at = np.random.default_rng(4), [], [], 1
    for k in [*range(4, 101)] * 2:
        turn = np.arange(k) * 2 * np.pi / k
        points = rng.uniform(0.3, 1, k)[:, None] * np.stack([np.cos(turn), np.sin(turn)], 1)
        if len(faces) % 2:
            turn = np.concatenate([np.arange(k // 2), np.arange(k - k // 2)[::-1]]) * 0.4
            radius = 1 + turn + np.repeat([0, 0.5], [k // 2, k - k // 2])
            points = radius[:, None] * np.stack([np.cos(turn), np.sin(turn)], 1)
        lines += [f"v {x:.4f} {y:.4f} {len(faces)}" for x, y in points]
        faces.append("f " + " ".join(map(str, range(at, at + k))))
        at += k
    (tmp_path / "a.obj").write_text("\n".join(lines + faces))
    model = mesh_model(f'file="{tmp_path / "a.obj"}" inertia="shell"')
    model = model.replace("<body><freejoint/>", "").replace("</body>", "")
    start = time.process_time()
    ours = read_obj((tmp_path / "a.obj").read_bytes(), False)["face"]
    assert time.process_time() - start < 1.5
    assert ours.tolist() == mujoco.MjModel.from_xml_string(model).mesh_face.tolist()


def test_even_lines_of_an_obj_file_are_read_as_those_that_are_not():
    """Negative numbers, other spaces and short lines have each line read on its own."""
    v = "v 0 0 0{0}\nv 1 0 0{0}\nv 0 1 .5{0}\nv 0 -1e-2 1{0}\n"
    rest = "vn 0 0 1\nvt 1 2\nvn 0 1 0\nvt 0 .5\n"
    for words in ("1 2 3", "1/1 2/2 3/1", "1//1 2//2 3//1", "1/2/1 2/1/2 3/1/2", "1 2/1 3/2/1", "1 2 3 4"):
        for end in ("", "g a\nf 4 3 2\n", "# a\n\nusemtl f\ns 1\n"):
            for color in ("", " 1 1 1"):
                text = f"{v.format(color)}{rest}f {words}\r\nf 2 3 4 1\n{end}"
                assert obj_file._even_lines(text.encode())
                even = read_obj(text.encode(), False)
                negative, short = text.replace("f 2 3 4 1", "f -3 -2 -1 -4"), text.replace("v 0 0 0\n", "v 0\n")
                for other in (f" {text}", negative, short):
                    found = read_obj(other.encode(), False)
                    assert found.keys() == even.keys()
                    assert all(np.array_equal(found[name], even[name]) for name in even)


@pytest.mark.parametrize("k", [100, 101])
def test_faces_of_more_than_a_hundred_corners_are_left_out(k, tmp_path, recwarn):
    """A prism whose two ends have k corners. Once such a file was refused."""
    ring = [(np.cos(turn), np.sin(turn)) for turn in np.arange(k) * 2 * np.pi / k]
    lines = [f"v {x:.5f} {y:.5f} {z}" for z in (0, 1) for x, y in ring]
    lines += ["f " + " ".join(map(str, end)) for end in (range(k, 0, -1), range(k + 1, 2 * k + 1))]
    lines += [f"f {i + 1} {(i + 1) % k + 1} {(i + 1) % k + k + 1} {i + k + 1}" for i in range(k)]
    (tmp_path / "a.obj").write_text("\n".join(lines))
    model = mesh_model(f'file="{tmp_path / "a.obj"}"')
    ours, theirs = Model.from_xml_string(model), mujoco.MjModel.from_xml_string(model)
    assert different(ours, theirs) == {} and differences(ours, theirs) == {}
    told = [str(w.message) for w in recwarn]
    assert len(told) == (k > 100)
    assert all(w.startswith("<string>:1: mesh 'm': faces of up to 101") and w.endswith(": 2") for w in told)


POINTS = "0 0 0  1 0 0  0 2 0  0 0 3"
OUT, IN, MIXED = "0 2 1 0 3 2 0 1 3 1 2 3", "0 1 2 0 2 3 0 3 1 1 3 2", "0 1 2 0 1 3 0 2 3 1 3 2"
MESHES = [
    *[f'vertex="{POINTS}" face="{face}" inertia="{kind}"' for face in (OUT, IN, MIXED)
      for kind in ("convex", "exact", "legacy", "shell")],
    *[f'vertex="{POINTS}" {a}' for a in (
        'face="0 1"', 'face="0 1 9"', 'face="0 1 -1"', 'face="0 1 1.5"', 'face=""', 'normal="1 0 0"', 'normal="1 0"',
        'normal="0 0 0 1 0 0 0 1 0 0 0 1"', 'texcoord="1 0"', 'texcoord="1"', 'texcoord="1 0 1 0 1 0 1 0"',
        'scale="0 1 1"', 'scale="-1 1 1"', 'scale="1e-6 1e-6 1e-6"', 'scale="1e-4 1e-4 1e-4"', 'refquat="0 0 0 0"',
        'refpos="1 2"', 'maxhullvert="3"', 'maxhullvert="4"', 'maxhullvert="0"', 'maxhullvert="-1"', 'params="1"',
        'content_type="x"', 'inertia="exactly"', 'smoothnormal="true"', 'material="x"', 'material="y"',
        'builtin="sphere" params="1"', 'class="x"', 'scale="1e9 1e9 1e9"',
    )],
    "", 'vertex="0 0 0 1 0 0 0 1 0"', 'vertex="0 0 0 1 0 0 0 1 0 1"', 'vertex="0 0 0 1 0 0 0 1 0 1 1 0"',
    'vertex="0 0 0 1 0 0 0 1 0 1 1 0" inertia="shell"', 'vertex="1 1 1 1 1 1 1 1 1 1 1 1"', 'vertex="a"',
    'vertex="0 0 0 1 0 0 0 1 0 0 0 1 .1 .1 .1 0 0 0"', 'file="none.stl"', 'file=""',
    *[f'builtin="{a}"' for a in (
        "none", 'none" params="1', "sphere", 'sphere" params="', 'sphere" params="1 2', 'sphere" params="5',
        'sphere" params="-1', 'sphere" params="1.9', 'hemisphere" params="11', 'hemisphere" params="0',
        'cone" params="2 0', 'cone" params="2 1', 'cone" params="3 0', 'cone" params="3 -1', 'cone" params="3 2',
        'supersphere" params="2 1 1', 'supersphere" params="3 1 1', 'supersphere" params="5 -1 1',
        'supersphere" params="5 0 0', 'supertorus" params="3 1 1 1', 'supertorus" params="5 0 1 1',
        'supertorus" params="5 1.1 1 1', 'supertorus" params="5 .5 0 1', 'wedge" params="1 1 10 10 0',
        'wedge" params="3 3 10 10 2', 'wedge" params="3 3 181 10 0', 'wedge" params="3 3 180 90 1',
        'plate" params="0 1',
        'plate" params="1 4', 'plate" params="2 2', "torus",
    )],
]  # fmt: skip
GEOMS = [
    'type="mesh" size="9 9 9"', 'type="mesh" shellinertia="true"', 'type="box" shellinertia="true"',
    'type="box" fitscale="-1"', 'type="box" fitscale="2"', 'type="mesh" fitscale="2"', 'type="plane" size="1 1 1"',
    'type="mesh" fromto="0 0 0 1 1 1"', 'type="box" fromto="0 0 0 1 1 1"', 'type="hfield"', "", 'type="mesh" mass="0"',
    'type="mesh" density="-1"', 'type="mesh" mass="5"', 'type="capsule" fitscale="3"',
    'type="mesh" fluidshape="ellipsoid"',
]  # fmt: skip
FIELDS_AND_TEXTURES = [
    *[f'<hfield {a}/>' for a in (
        'name="h"', 'name="h" size="1 1 1 1"', 'name="h" size="1 1 1 1" nrow="2" ncol="2"',
        'size="1 1 1 1" nrow="2" ncol="2"',
        'name="h" size="1 1 1 0" nrow="2" ncol="2"', 'name="h" size="1 1 1" nrow="2" ncol="2"',
        'name="h" size="1 1 1 1" nrow="2" ncol="2" elevation="1 2 3"',
        'name="h" size="1 1 1 1" elevation="1 2 3 4"', 'name="h" size="1 1 1 1" nrow="-2" ncol="-2"',
        'name="h" size="1 1 1 1" nrow="2" ncol="2" elevation="-1e9 2 3e10 4"',
        'name="h" size="1 1 1 1" nrow="2" ncol="2" file="none.png"',
    )],
    *[f'<texture {a}/>' for a in (
        'name="t" builtin="flat" width="0"', 'name="t" type="2d" builtin="flat" width="2"', 'type="2d" name="t"',
        'name="t" builtin="flat" width="2"', 'builtin="flat" width="2"', 'type="skybox" builtin="flat" width="2"',
        'name="t" type="2d" builtin="flat" width="100000" height="100000"', 'name="t" file="none.png"', 'name="t"',
        'name="t" fileup="none.png"', 'name="t" type="2d" fileup="none.png"', 'name="t" builtin="flat" width="-3"',
        'name="t" type="2d" builtin="flat" width="2" height="2" rgb1="2 -1 0.5"',
        'name="t" gridsize="2" builtin="flat"',
        *[f'name="t" builtin="flat" width="2" gridlayout="{a}"' for a in (
            ".", "RL", "RLUDFB", "", '" gridsize="0 2', 'RL" gridsize="1 2', 'xy" gridsize="1 2', 'R" gridsize="1 2',
            '............" gridsize="3 4', '..............." gridsize="3 5',
        )],
    )],
]  # fmt: skip
CASES = [
    *[mesh_model(a) for a in MESHES], *[mesh_model(f'vertex="{POINTS}"', a) for a in GEOMS],
    *[f"<mujoco><asset>{a}</asset></mujoco>" for a in FIELDS_AND_TEXTURES],
    '<mujoco><asset><hfield name="h" size="1 1 1 1" nrow="2" ncol="2"/></asset>'
    '<worldbody><geom hfield="h"/></worldbody></mujoco>',
    '<mujoco><worldbody><geom type="mesh" mesh="x"/></worldbody></mujoco>',
    '<mujoco><worldbody><site type="mesh"/></worldbody></mujoco>',
    '<mujoco><worldbody><light texture="x"/></worldbody></mujoco>',
]  # fmt: skip


def test_what_is_accepted_is_what_mujoco_accepts():
    """Wrong and unusual assets, one at a time: both accept (and then agree), or both refuse."""
    assert disagreements(CASES, different) == {}
