"""Scenes and recordings for USD: a point instancer for what moves, with a time sample a frame, and one for what stands.

Pixar, "Universal Scene Description", UsdGeomPointInstancer: prototypes, positions, orientations, invisibleIds.
"""

import numpy as np

from tisim.device.whole_file import whole
from tisim.errors import Error

from .frames import frames
from .instances import Instances

RATE = 60.0  # time codes per second


def to_usd(m, d, path, world=0, group=2):
    """Writes the scene, as its poses were last computed, to a .usda, .usdc or .usd file (needs usd-core).

    world  which one of the Data;  group  geoms of groups up to this one are written.
    """
    _write(path, m, [(0.0, d)], world, group)


def recording_to_usd(recording, path, world=0, group=2, show=None):
    """Writes a Recording with its motion; returns the number of frames.

    world  place in recording.worlds;  group  geoms of groups up to this one are written.
    show   a function of (frames done, frames), called after each; what it returns is true where that shall be the last.
    """
    return _write(path, recording.model, frames(recording, show), world, group)


def _library():
    try:
        import pxr.Usd
        import pxr.UsdGeom
        import pxr.Vt
    except ImportError:
        raise Error("USD files need usd-core: pip install 'tisim[usd]'") from None
    return pxr


def _write(path, m, states, world, group):
    pxr = _library()
    with whole(path, folder=True) as part:
        part.unlink(missing_ok=True)
        try:
            stage = pxr.Usd.Stage.CreateNew(str(part))
            number = _fill(pxr, stage, Instances(m, group), states, world)
            stage.Save()
        except pxr.Tf.ErrorException as e:
            raise Error(f"{path}: cannot write the file: {e}") from None
        del stage
    return number


def _fill(pxr, stage, things, states, world):
    Usd, Geom = pxr.Usd, pxr.UsdGeom
    Geom.SetStageUpAxis(stage, Geom.Tokens.z)
    Geom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(RATE)
    root = Geom.Xform.Define(stage, "/scene")
    stage.SetDefaultPrim(root.GetPrim())
    parts = [("still", ~things.moves), ("moving", things.moves)]
    made = {name: _instancer(pxr, stage, things, name, which) for name, which in parts if which.any()}
    last, number, seen = 0.0, 0, None
    for time, d in states:
        at, turn, there = things.poses(d, world)
        for name, which in parts:
            if name in made and (name == "moving" or not number):
                code = Usd.TimeCode(time * RATE) if name == "moving" else Usd.TimeCode.Default()
                _place(pxr, made[name], at[which], turn[which], code)
                if name == "moving" and (seen is None or (seen != there).any()):  # held until the next sample
                    gone = things.geoms[which & ~there]
                    made[name].CreateInvisibleIdsAttr().Set(pxr.Vt.Int64Array.FromNumpy(gone), code)
        last, number, seen = time, number + 1, there
    stage.SetStartTimeCode(0.0)
    stage.SetEndTimeCode(last * RATE)
    return number


def _instancer(pxr, stage, things, name, which):
    """A point instancer of some geoms, with the prototypes that they have."""
    Geom, Vt = pxr.UsdGeom, pxr.Vt
    out = Geom.PointInstancer.Define(stage, f"/scene/{name}")
    kinds, place = np.unique(things.kind[which], return_inverse=True)
    for k in kinds:
        path = f"/scene/{name}/shapes/shape{k}"
        mesh, shape = Geom.Mesh.Define(stage, path), things.meshes[k]
        mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(shape.vertices, np.float32)))
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(shape.faces), 3, np.int32)))
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(shape.faces, np.int32).ravel()))
        mesh.CreateSubdivisionSchemeAttr("none")
        out.CreatePrototypesRel().AddTarget(path)
    out.CreateProtoIndicesAttr(Vt.IntArray.FromNumpy(place.astype(np.int32)))
    out.CreateIdsAttr(Vt.Int64Array.FromNumpy(things.geoms[which]))
    rgba = things.rgba[which].astype(np.float32)
    api = Geom.PrimvarsAPI(out)
    linear = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(rgba[:, :3] ** np.float32(2.2)))
    for key, kind, values in (
        ("displayColor", pxr.Sdf.ValueTypeNames.Color3fArray, linear),
        (
            "displayOpacity",
            pxr.Sdf.ValueTypeNames.FloatArray,
            Vt.FloatArray.FromNumpy(np.ascontiguousarray(rgba[:, 3])),
        ),
    ):
        api.CreatePrimvar(key, kind, Geom.Tokens.vertex).Set(values)
    return out


def _place(pxr, instancer, at, turn, code):
    """Positions and orientations at a time."""
    Vt = pxr.Vt
    instancer.CreatePositionsAttr().Set(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(at, np.float32)), code)
    order = np.ascontiguousarray(turn[:, [1, 2, 3, 0]], np.float32)  # as in memory: the real part is the last
    instancer.CreateOrientationsfAttr().Set(Vt.QuatfArray.FromNumpy(order), code)
