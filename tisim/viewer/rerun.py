"""Scenes and recordings for the Rerun viewer: a mesh for each shape and colour, its instances posed frame by frame."""

import numpy as np

from tisim.device.whole_file import whole
from tisim.errors import Error

from .frames import frames
from .instances import Instances

COLORS = 64  # shapes of different colours beyond which colours are rounded
LEVELS = 5  # of each channel of a rounded colour, but for the lowest


def to_rerun(m, d, path, world=0, group=2):
    """Writes the scene, as its poses were last computed, to an .rrd file (needs rerun-sdk).

    world  which one of the Data;  group  geoms of groups up to this one are written.
    """
    _write(path, m, [(0.0, d)], world, group)


def recording_to_rerun(recording, path, world=0, group=2, show=None):
    """Writes a Recording with its motion, on the timeline `time`; returns the number of frames.

    world  place in recording.worlds;  group  geoms of groups up to this one are written.
    show   a function of (frames done, frames), called after each; what it returns is true where that shall be the last.
    """
    return _write(path, recording.model, frames(recording, show), world, group)


def _library():
    try:
        import rerun
    except ImportError:
        raise Error("files of Rerun need its library: pip install 'tisim[rerun]'") from None
    return rerun


def _write(path, m, states, world, group):
    rr = _library()
    with whole(path, folder=True) as part:
        try:
            stream = rr.RecordingStream("tisim")
            stream.save(str(part))
            things = Instances(m, group)
            number = _fill(rr, stream, things, _entities(things), states, world)
            stream.flush()
            stream.disconnect()
        except RuntimeError as e:
            raise Error(f"{path}: cannot write the file: {e}") from None
    return number


def _entities(things):
    """List of (name, kind, colour, places of the geoms) that one mesh stands for."""
    rgba = things.rgba
    if len(np.unique(np.column_stack([things.kind, rgba]), axis=0)) > COLORS:
        rgba = np.round(rgba * LEVELS) / LEVELS
    keys, place = np.unique(np.column_stack([things.kind, things.moves, rgba]), axis=0, return_inverse=True)
    return [
        (f"scene/shape{int(key[0])}/{k}", int(key[0]), key[2:], np.flatnonzero(place.ravel() == k))
        for k, key in enumerate(keys)
    ]


def _fill(rr, stream, things, entities, states, world):
    stream.log("scene", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    for name, kind, rgba, _ in entities:
        mesh = things.meshes[kind]
        stream.log(
            name, rr.Mesh3D(vertex_positions=np.asarray(mesh.vertices, np.float32),
                            triangle_indices=np.asarray(mesh.faces, np.uint32),
                            vertex_normals=np.asarray(mesh.vertex_normals, np.float32),
                            albedo_factor=np.round(255 * np.asarray(rgba)).astype(np.uint8)), static=True,
        )  # fmt: skip
    number = 0
    for time, d in states:
        stream.set_time("time", duration=time)
        at, turn, there = things.poses(d, world)
        for name, _, _, which in entities:
            if number and not things.moves[which[0]]:
                continue
            poses = rr.InstancePoses3D(
                translations=at[which].astype(np.float32), quaternions=turn[which][:, [1, 2, 3, 0]].astype(np.float32),
                scales=np.repeat(there[which].astype(np.float32)[:, None], 3, 1),
            )  # fmt: skip
            stream.log(name, poses)
        number += 1
    return number
