"""A scene as a .glb file for other programs: one mesh for each shape and colour, one node for each body, and the motion
of a recording as an animation. Meshes and file are made by trimesh; it knows no animations, which are added behind.

Khronos Group, "glTF 2.0 Specification": sections 3.5 (nodes), 3.11 (animations), 4.4 (GLB).
"""

import json
import struct

import numpy as np
import trimesh
from trimesh.visual.material import PBRMaterial

from tisim.data import varied
from tisim.device.whole_file import whole
from tisim.enums import mjtGeom
from tisim.mjcf.rotations import from_matrix
from tisim.viewer.drawing import geom_colors, removed_geoms
from tisim.viewer.frames import frames

UPRIGHT = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1.0]])  # glTF has y upwards
ENDLESS = 50.0  # half size of a plane that has none [m]
FLOAT = 5126  # componentType of 32-bit floats
HEADER, CHUNK = struct.Struct("<4sII"), struct.Struct("<I4s")


def to_glb(m, d, path, world=0, group=2):
    """Writes the scene, as its poses were last computed, to a .glb file.

    world  which one of the Data;  group  geoms of groups up to this one are written.
    Raises Error where the file cannot be written.
    """
    _write(path, _document(m, d, world, group))


def recording_to_glb(recording, path, world=0, group=2, show=None):
    """Writes the scene of a Recording with its motion as an animation, a key for each frame; returns their number.

    world  place in recording.worlds;  group  geoms of groups up to this one are written.
    show   a function of (frames done, frames), called after each; what it returns is true where that shall be the last.
    """
    m, start = recording.model, None
    times, positions, rotations = [], [], []
    for time, d in frames(recording, show):
        times.append(time)
        positions.append(_of(d.xpos, m.nbody, world))
        rotations.append(_of(d.xquat, m.nbody, world))
        start = start or _document(m, d, world, group)
    _write(path, _animated(m, start, np.array(times), np.array(positions), np.array(rotations)))
    return len(times)


def _of(values, n, world):
    """(n, width) of a world."""
    values = np.asarray(values, float)
    return values.reshape(-1, n, values.shape[-1])[world]


def _document(m, d, world, group):
    """Bytes of the .glb file."""
    varied.refuse(d, "a .glb file", "geom_size")
    scene = trimesh.Scene()
    scene.graph.update(frame_from=scene.graph.base_frame, frame_to="scene", matrix=UPRIGHT)
    pos, quat = _of(d.xpos, m.nbody, world), _of(d.xquat, m.nbody, world)
    for b in range(m.nbody):
        scene.graph.update(frame_from="scene", frame_to=node_name(m, b), matrix=_matrix(pos[b], quat[b]))
    colors, gone, meshes = geom_colors(m), removed_geoms(m, d, world), {}
    for g in range(m.ngeom):
        if gone[g] or m.geom_group[g] > group or colors[g, 3] <= 0:
            continue
        kind, data = int(m.geom_type[g]), int(m.geom_dataid[g])
        key = (kind, data, *np.asarray(m.geom_size[g]).tolist(), *colors[g].tolist())
        if key not in meshes:
            meshes[key] = f"shape{len(meshes)}"
            shape = shape_of(m, g)
            shape.visual = trimesh.visual.TextureVisuals(material=_material(colors[g]))
            scene.geometry[meshes[key]] = shape
        scene.graph.update(
            frame_from=node_name(m, int(m.geom_bodyid[g])), frame_to=f"geom {g}", geometry=meshes[key],
            matrix=_matrix(m.geom_pos[g], m.geom_quat[g]),
        )  # fmt: skip
    return scene.export(file_type="glb")


def node_name(m, b):
    """Name of a body's node."""
    return f"body {m.id2name('body', b) or b}"


def _matrix(pos, quat):
    out = trimesh.transformations.quaternion_matrix(np.asarray(quat, float))
    out[:3, 3] = pos
    return out


def _material(rgba):
    opaque = rgba[3] >= 0.999
    return PBRMaterial(
        baseColorFactor=np.append(rgba[:3] ** 2.2, rgba[3]).tolist(), metallicFactor=0.0, roughnessFactor=0.6,
        alphaMode="OPAQUE" if opaque else "BLEND",
    )  # fmt: skip


def shape_of(m, g):
    """Mesh of a geom in its own frame."""
    size, kind, data = np.asarray(m.geom_size[g], float), int(m.geom_type[g]), int(m.geom_dataid[g])
    if kind == mjtGeom.mjGEOM_PLANE:
        half = [size[0] or ENDLESS, size[1] or ENDLESS]
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
        return trimesh.Trimesh(np.column_stack([corners, np.zeros(4)]), [[0, 1, 2], [0, 2, 3]], process=False)
    if kind == mjtGeom.mjGEOM_BOX:
        return trimesh.creation.box(2 * size)
    if kind == mjtGeom.mjGEOM_CYLINDER:
        return trimesh.creation.cylinder(size[0], 2 * size[1], sections=32)
    if kind == mjtGeom.mjGEOM_CAPSULE:
        shape = trimesh.creation.capsule(2 * size[1], size[0], count=[24, 24])
        shape.apply_translation(-shape.bounds.mean(axis=0))  # versions of trimesh differ in where it stands
        return shape
    if kind in (mjtGeom.mjGEOM_SPHERE, mjtGeom.mjGEOM_ELLIPSOID):
        ball = trimesh.creation.icosphere(3)
        ball.apply_scale(size if kind == mjtGeom.mjGEOM_ELLIPSOID else size[0])
        return ball
    if kind == mjtGeom.mjGEOM_MESH:
        first, faces = int(m.mesh_vertadr[data]), int(m.mesh_faceadr[data])
        return trimesh.Trimesh(
            np.asarray(m.mesh_vert, float)[first : first + int(m.mesh_vertnum[data])],
            np.asarray(m.mesh_face)[faces : faces + int(m.mesh_facenum[data])], process=False,
        )  # fmt: skip
    return _terrain(m, data)


def _terrain(m, k):
    """Mesh of a height field: its surface."""
    rows, columns, first = int(m.hfield_nrow[k]), int(m.hfield_ncol[k]), int(m.hfield_adr[k])
    size = np.asarray(m.hfield_size[k], float)
    height = np.asarray(m.hfield_data, float)[first : first + rows * columns] * size[2]
    x, y = np.meshgrid(np.linspace(-size[0], size[0], columns), np.linspace(-size[1], size[1], rows))
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    faces = np.concatenate([np.stack([a, a + 1, a + columns], 1), np.stack([a + 1, a + columns + 1, a + columns], 1)])
    return trimesh.Trimesh(np.stack([x.ravel(), y.ravel(), height], 1), faces, process=False)


def _animated(m, data, times, positions, rotations):
    """A .glb with translations and rotations of all bodies that move: times (k,), positions (k, nbody, 3), rotations
    (k, nbody, 4)."""
    document, binary = _parts(data)
    places = {node.get("name"): node for node in document["nodes"]}
    index = {node.get("name"): k for k, node in enumerate(document["nodes"])}
    binary = bytearray(binary + bytes(-len(binary) % 4))

    def accessor(values, kind):
        view = dict(buffer=0, byteOffset=len(binary), byteLength=values.nbytes)
        binary.extend(values.tobytes())
        document["bufferViews"].append(view)
        out = dict(bufferView=len(document["bufferViews"]) - 1, componentType=FLOAT, count=len(values), type=kind)
        if kind == "SCALAR":
            out |= dict(min=[float(values.min())], max=[float(values.max())])
        document["accessors"].append(out)
        return len(document["accessors"]) - 1

    samplers, channels, keys = [], [], accessor(times.astype("<f4"), "SCALAR")
    for b in range(m.nbody):
        node = places[node_name(m, b)]
        if "matrix" in node:  # what is animated has no matrix
            matrix = np.array(node.pop("matrix"), float).reshape(4, 4).T
            w, x, y, z = from_matrix(matrix[:3, :3]).tolist()
            node |= dict(translation=matrix[:3, 3].tolist(), rotation=[x, y, z, w])
        turns = _continuous(rotations[:, b])[:, [1, 2, 3, 0]]  # x, y, z, w
        for path, values, kind in (("translation", positions[:, b], "VEC3"), ("rotation", turns, "VEC4")):
            if (values != values[0]).any():
                samplers.append(dict(input=keys, output=accessor(values.astype("<f4"), kind), interpolation="LINEAR"))
                target = dict(node=index[node_name(m, b)], path=path)
                channels.append(dict(sampler=len(samplers) - 1, target=target))
    if channels:
        document["animations"] = [dict(name="recording", samplers=samplers, channels=channels)]
    document["buffers"][0]["byteLength"] = len(binary)
    return _joined(document, bytes(binary))


def _continuous(quats):
    """The same rotations (k, 4), each in the sign that is nearer to the one before."""
    flips = (quats[1:] * quats[:-1]).sum(1) < 0
    return quats * np.concatenate([[1], np.where(flips, -1, 1)]).cumprod()[:, None]


def _parts(data):
    """(JSON document, binary part) of a .glb file."""
    length, _ = CHUNK.unpack_from(data, HEADER.size)
    start = HEADER.size + CHUNK.size
    second, _ = CHUNK.unpack_from(data, start + length)
    begin = start + length + CHUNK.size
    return json.loads(data[start : start + length]), data[begin : begin + second]


def _joined(document, binary):
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary += bytes(-len(binary) % 4)
    length = HEADER.size + 2 * CHUNK.size + len(text) + len(binary)
    return b"".join([HEADER.pack(b"glTF", 2, length), CHUNK.pack(len(text), b"JSON"), text,
                     CHUNK.pack(len(binary), b"BIN\0"), binary])  # fmt: skip


def _write(path, data):
    with whole(path, folder=True) as part:
        part.write_bytes(data)
