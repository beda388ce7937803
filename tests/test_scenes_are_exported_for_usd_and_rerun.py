"""`tisim export` writes point instancers for USD and instance poses for Rerun, with the motion of a recording."""

import json
import sys

import numpy as np
import pytest

import tisim
from tisim.viewer.instances import Instances

FRAMES, GONE_FROM = 6, 3


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Path of a recording of a hopper, of which one grain is taken out on the way."""
    path = tmp_path_factory.mktemp("recorded") / "hopper.npz"
    m = tisim.Model.from_scene("hopper", n=20)
    d = tisim.Data(m)
    with tisim.Recorder(path, m, d) as recorder:
        for k in range(FRAMES):
            if k == GONE_FROM:
                tisim.remove(m, d, [int(m.tree_bodyadr[4])])
            tisim.step(m, d, 10)
            recorder.add()
    return path


def test_instances_lie_where_the_geoms_are():
    m = tisim.Model.from_scene("shapes", n=12)
    d = tisim.Data(m)
    tisim.forward(m, d)
    things = Instances(m)
    at, turn, there = things.poses(d)
    assert there.all() and np.allclose(at, np.asarray(d.geom_xpos)[things.geoms])
    for k, g in enumerate(things.geoms):
        mesh = things.meshes[things.kind[k]]
        x, y, z, w = turn[k][[1, 2, 3, 0]]
        turned = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                           [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                           [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip
        assert np.allclose(turned, np.asarray(d.geom_xmat[g]).reshape(3, 3))
        if m.geom_rbound[g] > 0:  # no plane
            assert np.linalg.norm(mesh.vertices, axis=1).max() <= 1.001 * m.geom_rbound[g]
    assert (things.moves == (np.asarray(m.geom_bodyid)[things.geoms] > 0)).all()


def test_usd(call, recorded, tmp_path):
    pytest.importorskip("pxr", reason="needs usd-core: pip install 'tisim[usd]'")
    from pxr import Usd, UsdGeom

    code, out, _ = call("export", recorded, "-o", tmp_path / "a.usda", "--json")
    assert code == 0 and json.loads(out)["frames"] == FRAMES
    recording = tisim.Recording(recorded)
    things, d = Instances(recording.model), recording.data()
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    assert UsdGeom.GetStageUpAxis(stage) == "Z" and stage.GetDefaultPrim().GetName() == "scene"
    moving = UsdGeom.PointInstancer(stage.GetPrimAtPath("/scene/moving"))
    still = UsdGeom.PointInstancer(stage.GetPrimAtPath("/scene/still"))
    assert len(still.GetPositionsAttr().Get()) == (~things.moves).sum()
    ids = list(moving.GetIdsAttr().Get())
    assert ids == things.geoms[things.moves].tolist()
    for k in range(FRAMES):
        recording.show(d, k)
        at, turn, there = (a[things.moves] for a in things.poses(d))
        code = Usd.TimeCode((recording.time[k] - recording.time[0]) * stage.GetTimeCodesPerSecond())
        assert np.allclose(moving.GetPositionsAttr().Get(code), at, atol=1e-6)
        found = np.array([[q.GetReal(), *q.GetImaginary()] for q in moving.GetOrientationsfAttr().Get(code)])
        assert np.allclose(found, turn, atol=1e-6)
        gone = [i for i, here in zip(ids, there) if not here]
        assert list(moving.GetInvisibleIdsAttr().Get(code)) == gone and len(gone) == (k >= GONE_FROM)
    shape = UsdGeom.Mesh(stage.GetPrimAtPath(moving.GetPrototypesRel().GetTargets()[0]))
    assert len(shape.GetPointsAttr().Get()) > 100 and set(shape.GetFaceVertexCountsAttr().Get()) == {3}


def test_rerun(call, recorded, tmp_path):
    pytest.importorskip("rerun", reason="needs rerun-sdk: pip install 'tisim[rerun]'")
    chunk = pytest.importorskip("rerun.chunk", reason="this Rerun does not read its own files")
    code, out, _ = call("export", recorded, "-o", tmp_path / "a.rrd", "--json")
    assert code == 0 and json.loads(out)["frames"] == FRAMES
    recording = tisim.Recording(recorded)
    things, d = Instances(recording.model), recording.data()
    rows = {}
    for part in chunk.RrdReader(tmp_path / "a.rrd").stream():
        batch = part.to_record_batch()
        for name in batch.schema.names:
            if name.endswith(":translations"):
                rows.setdefault(part.entity_path, []).extend(batch.column(name).to_pylist())
    seen = [at for values in rows.values() if len(values) == FRAMES for at in values[-1]]
    recording.show(d, FRAMES - 1)
    at = things.poses(d)[0][things.moves]
    assert len(seen) == len(at)
    assert np.allclose(np.sort(np.array(seen), axis=0), np.sort(at, axis=0), atol=1e-6)


@pytest.mark.parametrize("library, file, extra", [("pxr", "a.usdc", "usd"), ("rerun", "a.rrd", "rerun")])
def test_without_the_library_its_extra_is_named(call, library, file, extra, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    code, _, err = call("export", "pendulum", "-o", tmp_path / file)
    assert code == 2 and f"tisim[{extra}]" in err and not (tmp_path / file).exists()
