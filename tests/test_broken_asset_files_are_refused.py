"""A broken or hostile file of a mesh, height field or texture gives an error with its place, soon, in little memory."""

import os
import resource
import struct
import time

import numpy as np
import pytest
from shared.images import png

from tisim import Model
from tisim.errors import Error, MjcfError

SECONDS = 10
MEGABYTES = 1500
TRIANGLE = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
FOUR = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
CUBE = np.float32([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


def stl(number, triangles):
    return bytes(80) + struct.pack("<I", number) + triangles


def msh(nvert, nnormal, ntexcoord, nface, data=b""):
    return struct.pack("<4i", nvert, nnormal, ntexcoord, nface) + data


def corner(x):
    """One triangle of an STL file with a corner at x."""
    return struct.pack("<12fH", 0, 0, 1, x, 0, 0, 1, 0, 0, 0, 1, 0, 0)


MESH_FILES = {
    "empty.stl": b"", "short.stl": bytes(83), "counts_4e9.stl": stl(2**32 - 1, TRIANGLE),
    "counts_none.stl": stl(0, b""),
    "counts_too_many.stl": stl(200_001, b""), "cut.stl": stl(3, TRIANGLE * 2 + TRIANGLE[:20]),
    "long.stl": stl(1, TRIANGLE * 2),
    "ascii.stl": b"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nendloop\nendfacet\nendsolid x\n" * 3,
    "nan.stl": stl(2, corner(float("nan")) * 2), "inf.stl": stl(2, corner(float("inf")) * 2),
    "large.stl": stl(2, corner(1e30) * 2), "one_triangle.stl": stl(1, TRIANGLE), "no_area.stl": stl(4, bytes(200)),
    "empty.msh": b"", "short.msh": bytes(15), "counts.msh": msh(2**31 - 1, 0, 0, 2**31 - 1),
    "negative.msh": msh(-5, 0, 0, 0),
    "negative_faces.msh": msh(8, 0, 0, -1, CUBE.tobytes()),
    "other_normals.msh": msh(8, 3, 0, 0, CUBE.tobytes() + bytes(36)),
    "cut.msh": msh(8, 0, 0, 0, CUBE.tobytes()[:-1]), "long.msh": msh(8, 0, 0, 0, CUBE.tobytes() + b"1"),
    "nan.msh": msh(8, 0, 0, 0, np.float32([np.nan] * 24).tobytes()),
    "no_vertex.msh": msh(8, 0, 0, 1, CUBE.tobytes() + struct.pack("<3i", 0, 1, 8)),
    "below_zero.msh": msh(8, 0, 0, 1, CUBE.tobytes() + struct.pack("<3i", 0, 1, -1)),
    "nan_normal.msh": msh(8, 8, 0, 0, CUBE.tobytes() + np.float32([np.nan] * 24).tobytes()),
    "flat.msh": msh(8, 0, 0, 0, (CUBE * np.float32([1, 1, 0])).tobytes()),
    "far.msh": msh(8, 0, 0, 0, (CUBE * np.float32(3e38)).tobytes()),
    "empty.obj": b"", "binary.obj": bytes(range(256)) * 40, "no_numbers.obj": b"v a b c\n" * 5,
    "nan.obj": b"v nan 0 0\n" * 5, "no_vertex.obj": FOUR + b"f 1 2 5\n", "zero.obj": FOUR + b"f 0 1 2\n",
    "before_the_first.obj": FOUR + b"f -1 -2 -9\n", "huge_index.obj": FOUR + b"f 1 2 99999999999999999999999\n",
    "many_corners.obj": FOUR + b"f" + b" 1 2 3 4" * 100_000 + b"\n",
    "long_line.obj": b"v " + b"0" * 5_000_000 + b"x\n", "no_normal.obj": FOUR + b"f 1/ 2/ 3/\n",
    "three_points.obj": FOUR[:24] + b"f 1 2\n", "no.ply": b"ply", "none": b"", "model.xml": b"<mujoco/>",
}  # fmt: skip
IMAGES = {
    "empty.png": b"", "no.png": b"hello", "header_only.png": png(4, 4)[:33], "cut.png": png(4, 4, bytes(52))[:-20],
    "claims.png": png(2**31 - 1, 2**31 - 1), "claims_64k.png": png(65536, 65536), "claims_wide.png": png(2**30, 1),
    "bomb.png": png(60_000, 60_000, bytes(200_000_000)), "no_pixels.png": png(0, 0),
    "bits.png": png(4, 4, bytes(99), bits=77),
    "few_rows.png": png(4, 4, bytes(13)), "no_end.png": png(4, 4, bytes(52), end=False),
    "color.png": png(4, 4, bytes(99), color=9), "palette.png": png(4, 4, bytes(20), color=3),
    "gif.png": b"GIF89a" + bytes(50),
    "jpeg.png": b"\xff\xd8\xff\xe0" + bytes(100),
}  # fmt: skip
FIELD_FILES = {
    "empty.bin": b"", "short.bin": bytes(7), "negative.bin": struct.pack("<2i", -1, -1),
    "counts.bin": struct.pack("<2i", 2**31 - 1, 2**31 - 1),
    "wraps.bin": struct.pack("<2i", 2**16, 2**16),
    "cut.bin": struct.pack("<2i", 2, 2) + bytes(15), "zero.bin": bytes(8),
    "nan.bin": struct.pack("<2i4f", 2, 2, float("nan"), 0, 0, 0),
    "inf.bin": struct.pack("<2i4f", 2, 2, float("inf"), 0, 0, 0),
}  # fmt: skip
TEXTURE_FILES = {
    "empty.tex": b"", "short.tex": bytes(7), "counts.tex": struct.pack("<2i", 2**31 - 1, 2**31 - 1),
    "zero.tex": bytes(8),
    "cut.tex": struct.pack("<2i", 2, 2) + bytes(11), "negative.tex": struct.pack("<2i", -1, 3), "x.ktx": b"KTX",
}  # fmt: skip
MESH = '<mesh name="m" file="{}"/>'
HFIELD = '<hfield name="h" file="{}" size="1 1 1 1"/>'
TEXTURES = [
    '<texture name="t" type="2d" file="{}"/>', '<texture name="t" file="{}"/>', '<texture name="t" fileup="{}"/>',
]  # fmt: skip
CASES = [
    *[(MESH, name, data) for name, data in MESH_FILES.items()],
    *[(element, name, data) for name, data in IMAGES.items() for element in (HFIELD, *TEXTURES)],
    *[(HFIELD, name, data) for name, data in FIELD_FILES.items()],
    *[(element, name, data) for name, data in TEXTURE_FILES.items() for element in TEXTURES],
]  # fmt: skip


def refused(text, assets=None):
    """The error that a model gives; checks its place, the time and the growth of the memory."""
    start, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Error) as caught:
        Model.from_xml_string(text, assets)
    assert time.process_time() - start < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEGABYTES * 1024
    assert caught.value.line > 0 and caught.value.column > 0
    return caught.value


def asset_model(asset):
    geom = '<worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody>' if "<mesh" in asset else ""
    return f"<mujoco>\n<asset>\n{asset}\n</asset>{geom}</mujoco>"


@pytest.mark.parametrize("element, name, data", CASES, ids=[f"{e[1:5]}-{n}" for e, n, _ in CASES])
def test_broken_files(element, name, data):
    error = refused(asset_model(element.format(name)), {name: data})
    assert error.line == 3


@pytest.mark.parametrize("asset", [MESH, HFIELD, *TEXTURES])
def test_what_is_no_file_is_not_read(asset, tmp_path):
    """Missing files, folders, devices that never end, and pipes that nobody writes to."""
    ending = {MESH: ".stl", HFIELD: ".png"}.get(asset, ".png")
    folder, pipe, link = (tmp_path / (name + ending) for name in ("folder", "pipe", "link"))
    folder.mkdir()
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    for path in (
        folder, pipe, link, tmp_path / ("none" + ending), "/dev/zero", "/dev/tty", "x" * 5000,
    ):  # fmt: skip
        assert isinstance(refused(asset_model(asset.format(path))), MjcfError)


@pytest.mark.parametrize("asset", [
    '<hfield name="h" size="1 1 1 1" nrow="2000000000" ncol="2000000000"/>',
    '<hfield name="h" size="1 1 1 1" nrow="100000" ncol="100000"/>',
    '<texture name="t" type="2d" builtin="flat" width="2000000000" height="2000000000"/>',
    '<texture name="t" builtin="gradient" width="30000"/>', '<texture name="t" builtin="flat" width="2147483647"/>',
    "".join(f'<texture name="t{i}" builtin="flat" width="5000"/>' for i in range(20)),
    '<mesh name="m" builtin="supersphere" params="2000000000 1 1"/>', '<mesh name="m" builtin="cone" params="2e9 0"/>',
    '<mesh name="m" builtin="cone" params="-1 0"/>', '<mesh name="m" builtin="supersphere" params="1e300 1 1"/>',
    '<mesh name="m" builtin="plate" params="100000 100000"/>',
    '<mesh name="m" builtin="wedge" params="1e9 1e9 10 10 0"/>',
    '<mesh name="m" builtin="sphere" params="-1e300"/>', '<mesh name="m" vertex="1e300 0 0 0 1 0 0 0 1 0 0 0"/>',
    '<mesh name="m" builtin="sphere" params="1" scale="1e300 1 1"/>',
    '<mesh name="m" builtin="sphere" params="1" refpos="1e308 0 0"/>',
    '<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 2000000000"/>',
    '<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" maxhullvert="2"/>',
], ids=lambda a: a[:60])  # fmt: skip
def test_absurd_numbers(asset):
    assert isinstance(refused(asset_model(asset)), MjcfError)


def test_a_large_file_is_not_read(tmp_path):
    """A file of a terabyte, which takes no room on disk."""
    path = tmp_path / "large.stl"
    with open(path, "wb") as f:
        f.truncate(2**40)
    refused(asset_model(MESH.format(path)))
    refused(f'<mujoco>\n<include file="{path}"/></mujoco>')


def test_random_damage(tmp_path):
    """Single bytes of good files changed, and files cut: loads or refuses, nothing else."""
    folder = os.path.join(os.path.dirname(__file__), "testdata", "compile", "assets")
    rng = np.random.default_rng(0)
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            good = f.read()
        ending = name.rpartition(".")[2]
        elements = [MESH] if ending in ("stl", "obj", "msh") else [HFIELD, TEXTURES[0]]
        for _ in range(12):
            bad = bytearray(good)
            for at in rng.integers(0, len(good), int(rng.integers(1, 4))):
                bad[at] = int(rng.integers(256))
            bad = bytes(bad[: int(rng.integers(len(bad)))] if rng.random() < 0.2 else bad)
            for element in elements:
                try:
                    Model.from_xml_string(asset_model(element.format(name)), {name: bad})
                except Error:
                    pass
