"""Cameras and lights: from merged attributes to model arrays."""

import math

import numpy as np

from tisim.enums import mjtLightType, mjtObj
from tisim.errors import each

from .. import rotations
from ..scene.items import apply_frames, column, first, poses, user_data
from .object_names import Names


def _named(items, attribute, kind, out):
    """(n,) ids of the elements of a mjtObj that an attribute names, -1 where it names none."""
    ids, what = Names(out.names).of(kind), kind.name[6:].lower()

    def find(item):
        name = item.attrib[attribute]
        return item.find(ids, name, what) if name else -1

    return np.array(each(find, items), np.int32)


def compile_cameras(a, items, width, out):
    """Arrays cam_*: pose, lens and mode."""
    pos, quat = poses(items)
    apply_frames(items, pos, quat)
    resolution = column(items, "resolution", 2)
    sensor = column(items, "sensorsize", 2)
    fovy = column(items, "fovy")
    intrinsic = np.zeros((len(items), 4), np.float32)
    for i, item in enumerate(items):
        _lens(item, resolution[i], sensor[i], fovy, intrinsic, i, out.visual["map"]["znear"])
    a.update(
        cam_mode=column(items, "mode", dtype=np.int32), cam_bodyid=np.array([item.body for item in items], np.int32),
        cam_targetbodyid=_named(items, "target", mjtObj.mjOBJ_BODY, out), cam_pos=pos, cam_quat=quat,
        cam_orthographic=column(items, "orthographic", dtype=np.int32), cam_fovy=fovy, cam_ipd=column(items, "ipd"),
        cam_resolution=resolution.astype(np.int32), cam_sensorsize=sensor.astype(np.float32), cam_intrinsic=intrinsic,
        cam_user=user_data(items, width, "cam"),
    )  # fmt: skip


def _lens(item, resolution, sensor, fovy, intrinsic, i, znear):
    """Focal lengths and principal point [m] of a camera with a sensor size; else the clip-plane defaults."""
    attrib = item.attrib
    own = item.node.attrib
    if fovy[i] >= 180:
        raise item.node.error("'fovy' must be smaller than 180")
    if "sensorsize" in own and "fovy" in own:
        raise item.node.error("'fovy' and 'sensorsize' exclude each other")
    if "sensorsize" in own and "resolution" not in own:
        raise item.node.error("'sensorsize' needs a 'resolution'")
    for name in ("focal", "focalpixel", "principal", "principalpixel"):
        if name in own and "sensorsize" not in own:
            raise item.node.error(f"'{name}' needs a 'sensorsize'")
    if not (sensor > 0).all():
        intrinsic[i] = [znear, znear, 0, 0]
        return
    if (resolution <= 0).any():
        raise item.node.error("'sensorsize' needs a positive 'resolution'")
    pixel = sensor / resolution
    focal = np.float32([f if not p else p * s for f, p, s in zip(attrib["focal"], attrib["focalpixel"], pixel)])
    centre = [f if not p else p * s for f, p, s in zip(attrib["principal"], attrib["principalpixel"], pixel)]
    intrinsic[i] = [*focal, *centre]
    # in single precision, which is what MuJoCo keeps of a sensor
    fovy[i] = float(np.float32(math.atan2(sensor[1] / 2, focal[1]))) * 360 / np.pi


def compile_lights(a, items, out):
    """Arrays light_*."""
    both = [{"type", "directional"} <= item.node.attrib.keys() for item in items]
    first(items, both, "'type' and 'directional' exclude each other")
    pos, direction = column(items, "pos", 3), column(items, "dir", 3)
    norm = np.linalg.norm(direction, axis=1, keepdims=True)
    first(items, norm[:, 0] < 1e-14, "'dir' is too short")
    direction /= norm
    rows = apply_frames(items, pos, None)
    if rows:
        direction[rows] = rotations.rotate(np.array([items[i].frame[1] for i in rows]), direction[rows])
    kind = [
        item.attrib["type"]
        if item.attrib["directional"] is None
        else int(mjtLightType.mjLIGHT_DIRECTIONAL if item.attrib["directional"] else mjtLightType.mjLIGHT_SPOT)
        for item in items
    ]
    a.update(
        light_mode=column(items, "mode", dtype=np.int32),
        light_bodyid=np.array([item.body for item in items], np.int32),
        light_targetbodyid=_named(items, "target", mjtObj.mjOBJ_BODY, out), light_type=np.array(kind, np.int32),
        light_texid=_named(items, "texture", mjtObj.mjOBJ_TEXTURE, out),
        light_castshadow=column(items, "castshadow", dtype=np.uint8),
        light_active=column(items, "active", dtype=np.uint8), light_pos=pos, light_dir=direction,
    )  # fmt: skip
    for name, width in dict(
        bulbradius=None,
        intensity=None,
        range=None,
        attenuation=3,
        cutoff=None,
        exponent=None,
        ambient=3,
        diffuse=3,
        specular=3,
    ).items():
        a[f"light_{name}"] = column(items, name, width, np.float32)
