"""Model.save and Model.load give back every array, name and setting; a damaged file is refused with a clear error."""

import pathlib
import struct
import zipfile

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tisim

DATA = pathlib.Path(__file__).parent / "testdata"
FILES = sorted((DATA / "compile").glob("*.xml")) + sorted((DATA / "contacts").glob("*.xml"))[::10]


def same(a, b):
    """Asserts that two models are equal, bit by bit."""
    for name, array in a._arrays.items():
        other = b._arrays[name]
        assert array.dtype == other.dtype and np.array_equal(array, other, equal_nan=array.dtype.kind == "f"), name
    assert a._sizes == b._sizes
    assert {k: v for k, v in a._names.items() if v} == {k: v for k, v in b._names.items() if v}
    for group in ("opt", "stat", "vis"):
        assert repr(getattr(a, group)) == repr(getattr(b, group))
    assert (a.modelname, a.texts, a.textures) == (b.modelname, b.texts, b.textures)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_loaded_model_is_the_saved_one(path, tmp_path):
    m = tisim.Model.from_xml_path(path)
    m.save(tmp_path / "model.npz")
    same(m, tisim.Model.load(tmp_path / "model.npz"))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.npz"
    m = tisim.Model.from_xml_path(DATA / "compile" / "humanoid_like.xml")
    m.geom_friction[0, 0] = 0.25  # written after compiling: saved as it is now
    m.opt.timestep = 0.001
    m.save(path)
    return path


def test_what_was_written_after_compiling_is_saved(saved):
    m = tisim.Model.load(saved)
    assert m.geom_friction[0, 0] == 0.25 and m.opt.timestep == 0.001


def test_mjcf_is_not_written_where_it_would_lose_a_change(tmp_path):
    m = tisim.Model.from_xml_path(DATA / "compile" / "humanoid_like.xml")
    m.save(tmp_path / "a.xml")
    m.geom_friction[0, 0] = 0.25
    m.opt.timestep = 0.001
    with pytest.raises(tisim.Error, match="geom_friction, opt; save to .npz"):
        m.save(tmp_path / "b.xml")
    assert not (tmp_path / "b.xml").exists()


@pytest.mark.parametrize("name", ["model.txt", "model.mjb", "model.urdf", "model.xml.gz", "model"])
def test_what_is_neither_compiled_nor_mjcf_is_not_written(name, tmp_path):
    """Once each of these was an .npz file under another's name."""
    m = tisim.Model.from_xml_string("<mujoco/>")
    with pytest.raises(tisim.Error, match=f"{name}: expected a name that ends in .npz .compiled. or .xml"):
        m.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
    for good in ("a.npz", "b.NPZ"):
        m.save(tmp_path / good)
        same(m, tisim.Model.load(bytes(tmp_path / good)))


@settings(max_examples=150, deadline=None, database=None)
@given(st.data())
def test_a_damaged_file_is_an_error_or_the_same_model(saved, tmp_path_factory, data):
    good = saved.read_bytes()
    damaged = bytearray(good)
    kind = data.draw(st.sampled_from(["flip", "cut", "zero"]))
    at = data.draw(st.integers(0, len(good) - 1))
    if kind == "flip":
        damaged[at] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "cut":
        del damaged[at:]
    else:
        damaged[at : at + 64] = bytes(len(damaged[at : at + 64]))
    path = saved.with_name("damaged.npz")
    path.write_bytes(damaged)
    try:
        m = tisim.Model.load(path)
    except tisim.Error as e:
        assert str(path) in str(e)
    else:
        same(m, tisim.Model.load(saved))  # the damage is in what the format does not use, such as a date


def rewritten(saved, name, change):
    """The saved file with one entry's bytes changed, correctly packed again."""
    path = saved.with_name("rewritten.npz")
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            new.writestr(info.filename, change(data) if info.filename == name else data)
    return path


@pytest.mark.parametrize("name, change, message", [
    ("geom_bodyid.npy", lambda b: b[:-4] + struct.pack("<i", 10**6), r"geom_bodyid\[8\] is 1000000, expected 0"),
    ("jnt_qposadr.npy", lambda b: b[:-4] + struct.pack("<i", -5), r"jnt_qposadr\[.*\] is -5"),
    ("M_rownnz.npy", lambda b: b[:-4] + struct.pack("<i", 9999), r"M_rownnz\[.*\] is 9999"),
    ("qpos0.npy", lambda b: b[:-8], "does not fit its data"),
    ("header.json", lambda b: b.replace(b'"version": 1', b'"version": 9'), "version 9"),
    ("header.json", lambda b: b.replace(b'"nbody": ', b'"nbody": 1'), "shape"),
    ("header.json", lambda b: b"{}", "not a saved model"),
    ("header.json", lambda b: b"[" * 100000, "damaged"),
])  # fmt: skip
def test_wrong_contents_are_named(saved, name, change, message):
    with pytest.raises(tisim.Error, match=message):
        tisim.Model.load(rewritten(saved, name, change))


def test_other_files_are_refused(tmp_path, saved):
    for content in (b"", b"PK\x03\x04", b"<mujoco/>"):
        (tmp_path / "x.npz").write_bytes(content)
        with pytest.raises(tisim.Error, match="x.npz"):
            tisim.Model.load(tmp_path / "x.npz")
    np.savez(tmp_path / "y.npz", a=np.array([object()], object))
    with pytest.raises(tisim.Error, match="not a saved model"):
        tisim.Model.load(tmp_path / "y.npz")
    for path in (tmp_path, tmp_path / "missing.npz", "/dev/null"):
        with pytest.raises(tisim.Error):
            tisim.Model.load(path)
    with pytest.raises(tisim.Error, match="cannot write"):
        tisim.Model.load(saved).save(tmp_path / "no" / "folder.npz")


# sides of meshes that cannot collide, and the order of a hull vertex's neighbours (see test_mesh_assets_equal_mujocos)
OTHER_IN_MUJOCO = ("mesh_poly", "mesh_graph")


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_from_mujoco_equals_compiling(path):
    m = tisim.Model.from_xml_path(path)
    n = tisim.Model.from_mujoco(mujoco.MjModel.from_xml_path(str(path)))
    for name, array in m._arrays.items():
        if not name.startswith(OTHER_IN_MUJOCO):
            np.testing.assert_allclose(n._arrays[name], array, rtol=1e-7, atol=1e-8, err_msg=name)
    same = {"memory", *(size for size in m._sizes if size.startswith("nmeshpoly"))}
    assert m._sizes == n._sizes | {size: m._sizes[size] for size in same}
    assert {k: v for k, v in m._names.items() if any(v)} == {k: v for k, v in n._names.items() if any(v)}


def test_what_comes_from_mujoco_is_saved_and_loads(tmp_path):
    """mujoco's Python gives two colours without elements."""
    text = '<mujoco><visual><rgba haze=".1 .2 .3 1"/></visual><worldbody><geom size="1"/></worldbody></mujoco>'
    m = tisim.Model.from_mujoco(mujoco.MjModel.from_xml_string(text))
    for name, color in tisim.Model.from_xml_string(text).vis.rgba.items():
        np.testing.assert_allclose(getattr(m.vis.rgba, name), color, atol=1e-7, err_msg=name)
    m.save(tmp_path / "m.npz")
    assert repr(tisim.Model.load(tmp_path / "m.npz").vis) == repr(m.vis)


def test_from_mujoco_refuses_what_is_no_model():
    with pytest.raises(tisim.Error, match="MjModel"):
        tisim.Model.from_mujoco("scene.xml")
    flex = """<mujoco><worldbody><body name="b"><flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1"
        radius=".01" dim="2"/></body></worldbody></mujoco>"""
    with pytest.raises(tisim.UnsupportedError, match="flex"):
        tisim.Model.from_mujoco(mujoco.MjModel.from_xml_string(flex))
