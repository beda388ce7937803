"""Skins: triangle meshes that follow bodies ("bones"), for display only; from inline numbers or an SKN file.

The rules are those of MuJoCo's mjCSkin (Apache-2.0): numbers are single precision, the weights of a vertex sum to one,
names of bones that stand in a file are taken as they are. A face that names a vertex which does not exist is refused;
MuJoCo takes it.
"""

import struct

import numpy as np

from tisim.enums import mjtObj
from tisim.errors import each

from ..format.names import nearest
from ..numbers import EPS, MINVAL
from ..scene.items import column, first, unique_names
from ..scene.skin_names import bodies
from .mesh import inline_rows, places, read_asset, stem

GROUPS = 6
# a skin file with more bones comes from a hostile header
MAX_BONES = 100_000
_NAME = 40  # bytes of a body's name in a file; it ends with a zero


class Skin:
    """Arrays of one skin: vert (n, 3), texcoord (n or 0, 2), face (f, 3), bodies (list of names), bindpos (b, 3),
    bindquat (b, 4), vertnum (b,), and of all bones in a row vertid, vertweight."""


def compile_skins(a, items, materials, out):
    """Fills the arrays skin_* and the names. Raises MjcfError at a skin that is wrong.

    items  skin Items;  materials  those that exist;  out  Compiled, with the names of the bodies.
    """
    for item in items:
        if not item.name and item.attrib["file"]:
            item.name = stem(item.attrib["file"])
    out.names[mjtObj.mjOBJ_SKIN] = unique_names(items, mjtObj.mjOBJ_SKIN)
    group = column(items, "group", dtype=np.int32)
    first(items, (group < 0) | (group >= GROUPS), f"'group' of a skin is 0 to {GROUPS - 1}")
    cache, numbers = {}, {name: i for i, name in enumerate(out.names[mjtObj.mjOBJ_BODY]) if name}
    skins = each(lambda item: _compile(item, numbers, cache), items)
    a.update(_arrays(skins))
    # MuJoCo leaves the material of a skin as it is, even an attached one's
    ids = {item.name: i for i, item in enumerate(materials) if item.name}
    a["skin_matid"] = np.array(each(lambda item: _material(item, ids), items), np.int32)
    a["skin_group"], a["skin_inflate"] = group, column(items, "inflate", dtype=np.float32)
    a["skin_rgba"] = column(items, "rgba", 4, np.float32)


def _material(item, ids):
    name = item.attrib["material"]
    if name and name not in ids:
        raise item.node.error(f"material '{name}' is not defined{nearest(name, ids)}")
    return ids[name] if name else -1


def _compile(item, ids, cache):
    """One Skin with the ids of its bodies, `bodyid`."""
    try:
        skin = _read_file(item, cache) if item.attrib["file"] else _inline(item)
        _check(skin)
    except ValueError as e:
        raise item.node.error(f"skin '{item.name}': {e}") from None
    for i, name in enumerate(skin.bodies):
        if name not in ids:
            node = item.children[i] if item.children else item.node
            raise node.error(f"skin '{item.name}': body '{name}' is not defined{nearest(name, ids)}")
    skin.bodyid = [ids[name] for name in skin.bodies]

    total = np.zeros(len(skin.vert), np.float32)
    np.add.at(total, skin.vertid, skin.vertweight)  # one after the other, in single precision
    if not (total > MINVAL).all():
        raise item.node.error(f"skin '{item.name}': vertex {int(np.argmin(total > MINVAL))} needs a positive weight")
    skin.vertweight = skin.vertweight / total[skin.vertid]
    square = np.sum(skin.bindquat.astype(float) ** 2, 1, keepdims=True)
    skin.bindquat = (skin.bindquat / np.where(square < EPS, 1.0, np.sqrt(square))).astype(np.float32)
    return skin


def _inline(item):
    attrib, skin, bones = item.attrib, Skin(), [child.attrib for child in item.children]
    empty = np.zeros((0, 3), np.float32)
    for name, source, width, dtype in (
        ("vert", "vertex", 3, np.float32), ("texcoord", "texcoord", 2, np.float32), ("face", "face", 3, np.int32)
    ):  # fmt: skip
        value = inline_rows(attrib, source, width, dtype)
        setattr(skin, name, empty[:, :width].astype(dtype) if value is None else value)
    skin.bodies = bodies(item)
    for i, bone in enumerate(bones):
        if len(bone["vertid"]) != len(bone["vertweight"]):
            numbers = f"{len(bone['vertid'])} and {len(bone['vertweight'])}"
            raise ValueError(f"'vertid' and 'vertweight' of bone {i} have {numbers} numbers, not equally many")
    skin.bindpos = np.array([bone["bindpos"] for bone in bones], np.float32).reshape(-1, 3)
    skin.bindquat = np.array([bone["bindquat"] for bone in bones], np.float32).reshape(-1, 4)
    skin.vertnum = np.array([len(bone["vertid"]) for bone in bones], np.int32)
    skin.vertid = np.array([i for bone in bones for i in bone["vertid"]], np.int32)
    skin.vertweight = np.array([w for bone in bones for w in bone["vertweight"]], np.float32)
    return skin


def _read_file(item, cache):
    name, attrib = item.attrib["file"], item.attrib
    if item.children or attrib["vertex"] or attrib["texcoord"] or attrib["face"]:
        raise ValueError("a file and inline data exclude each other")
    if not name.lower().endswith(".skn"):
        raise ValueError("a skin file ends with .skn")
    return read_skn(read_asset(item, "meshdir", cache))


def read_skn(data):
    """Skin of the bytes of an SKN file; ValueError where they are wrong.

    nvert, ntexcoord, nface, nbone as int32; vertices, texture coordinates and faces; then for each bone the name of its
    body (40 bytes), bind position and quaternion, the number of vertices, their ids and weights.
    """
    if len(data) < 16:
        raise ValueError("the SKN file is shorter than its header")
    nvert, ntexcoord, nface, nbone = sizes = struct.unpack("<4i", data[:16])
    if min(sizes) < 0 or nbone > MAX_BONES:
        raise ValueError(f"the sizes in the SKN file are wrong: {nvert}, {ntexcoord}, {nface}, {nbone}")
    ends = np.cumsum([16, 12 * nvert, 8 * ntexcoord, 12 * nface], dtype=object).tolist()
    if len(data) < ends[3]:
        raise ValueError(f"the SKN file has {len(data):,} bytes, which is less than the sizes in its header say")
    skin = Skin()
    skin.vert, skin.texcoord, skin.face = (
        np.frombuffer(data, dtype, (b - a) // 4, a).reshape(-1, width).astype(dtype[1:])
        for dtype, width, a, b in zip(("<f4", "<f4", "<i4"), (3, 2, 3), ends, ends[1:])
    )
    place, head = ends[3], _NAME + 32
    skin.bodies, poses, numbers, ids, weights = [], [], [], [], []
    for i in range(nbone):
        if len(data) - place < head:
            raise ValueError(f"the SKN file ends before bone {i}")
        skin.bodies.append(data[place : place + _NAME - 1].partition(b"\0")[0].decode())
        poses.append(np.frombuffer(data, "<f4", 7, place + _NAME))
        number = struct.unpack_from("<i", data, place + head - 4)[0]
        place += head
        if number < 1 or len(data) - place < 8 * number:
            raise ValueError(f"the SKN file has no room for the {number:,} vertices of bone {i}")
        numbers.append(number)
        ids.append(np.frombuffer(data, "<i4", number, place))
        weights.append(np.frombuffer(data, "<f4", number, place + 4 * number))
        place += 8 * number
    if place != len(data):
        raise ValueError(f"the SKN file has {len(data):,} bytes; its contents end at {place:,}")
    poses = np.array(poses, np.float32).reshape(-1, 7)
    skin.bindpos, skin.bindquat, skin.vertnum = poses[:, :3], poses[:, 3:], np.array(numbers, np.int32)
    skin.vertid = np.concatenate([np.zeros(0, np.int32), *ids]).astype(np.int32)
    skin.vertweight = np.concatenate([np.zeros(0, np.float32), *weights]).astype(np.float32)
    return skin


def _check(skin):
    nvert = len(skin.vert)
    for name, array in (("vertices", skin.vert), ("faces", skin.face), ("bones", skin.bodies)):
        if not len(array):
            raise ValueError(f"it has no {name}")
    if len(skin.texcoord) not in (0, nvert):
        raise ValueError(f"there are {len(skin.texcoord)} texture coordinates for {nvert} vertices")
    for name in ("vert", "texcoord", "bindpos", "bindquat", "vertweight"):
        if not np.isfinite(getattr(skin, name)).all():
            raise ValueError(f"'{name}' has numbers that are not finite in single precision")
    if not skin.vertnum.all():
        raise ValueError(f"bone {int(np.argmin(skin.vertnum))} has no vertices")
    for name, array in (("a face", skin.face), ("'vertid' of a bone", skin.vertid)):
        bad = (array < 0) | (array >= nvert)
        if bad.any():
            raise ValueError(f"{name} names the vertex {array[bad][0]}; there are {nvert}")


def _arrays(skins):
    """The arrays skin_* that hold the skins' own numbers."""
    rows = {"vert": 3, "texcoord": 2, "face": 3, "bindpos": 3, "bindquat": 4}
    ints = ("face", "vertid", "vertnum", "bodyid")
    names = (*rows, "vertid", "vertweight", "vertnum", "bodyid")
    parts = {name: [getattr(skin, name) for skin in skins] for name in names}
    a = {}
    for name, values in parts.items():
        shape = (0, rows[name]) if name in rows else (0,)
        dtype = np.int32 if name in ints else np.float32
        full = name if name in ("vert", "texcoord", "face") else f"bone{name}"
        a[f"skin_{full}"] = np.concatenate([np.zeros(shape, dtype), *values]).astype(dtype)
    for name, part in (("vert", "vert"), ("face", "face"), ("bone", "vertnum")):
        a[f"skin_{name}num"], a[f"skin_{name}adr"] = places(parts[part])
    number, a["skin_texcoordadr"] = places(parts["texcoord"])
    a["skin_texcoordadr"][number == 0] = -1
    number = a["skin_bonevertnum"]
    a["skin_bonevertadr"] = (np.cumsum(number) - number).astype(np.int32)
    return a
