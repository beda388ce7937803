"""What refers to the world by name or is kept for display: assets, cameras, lights, pairs."""

import math

import numpy as np

from tisim.enums import mjtLightType, mjtObj
from tisim.errors import each

from .. import rotations
from ..scene.items import apply_frames, column, first, poses, unique_names, user_data

# mat_texid has one column per mjtTextureRole
NTEXROLE = 10


def _ids(names):
    return {name: i for i, name in enumerate(names) if name}


def check_materials(items):
    """Checks the Items of material assets and gives them `layers`, the nodes of their layers."""
    for item in items:
        node = item.node
        if item.children:
            item.attrib["layers"] = item.children
            if "texture" in node.attrib:
                raise node.error("'texture' and layers exclude each other")
        if not item.name:
            raise node.error("a material needs a name")


def compile_materials(a, materials, out):
    """Arrays mat_*."""
    ids = _ids(out.names[mjtObj.mjOBJ_TEXTURE])
    texid = np.full((len(materials), NTEXROLE), -1, np.int32)
    for row, item in zip(texid, materials):
        if item.attrib["texture"]:
            row[1] = item.find(ids, item.attrib["texture"], "texture")
        for layer in item.attrib.get("layers", ()):
            row[layer.attrib["role"]] = item.find(ids, layer.attrib["texture"], "texture")
    a["mat_texid"] = texid
    a["mat_texuniform"] = column(materials, "texuniform", dtype=np.uint8)
    a["mat_texrepeat"] = column(materials, "texrepeat", 2, np.float32)
    for name in ("emission", "specular", "shininess", "reflectance", "metallic", "roughness"):
        a[f"mat_{name}"] = column(materials, name, dtype=np.float32)
    a["mat_rgba"] = column(materials, "rgba", 4, np.float32)


def _named(items, attribute, kind, out):
    """(n,) ids of the elements of a mjtObj that an attribute names, -1 where it names none."""
    ids, what = _ids(out.names[kind]), kind.name[6:].lower()

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


def compile_contacts(a, pairs, excludes, out):
    """Arrays pair_* and exclude_signature, sorted by the pair of bodies as in MuJoCo."""
    geom_ids, body_ids = _ids(out.names[mjtObj.mjOBJ_GEOM]), _ids(out.names[mjtObj.mjOBJ_BODY])

    def ends(items, attributes, ids, what):
        wanted = [(item, name) for item in items for name in attributes]
        found = each(lambda p: p[0].find(ids, p[0].attrib.get(p[1], ""), what), wanted)
        return np.array(found, np.int64).reshape(-1, 2)

    ask = [(pairs, ("geom1", "geom2"), geom_ids, "geom"), (excludes, ("body1", "body2"), body_ids, "body")]
    geom, excluded = each(lambda question: ends(*question), ask)
    body = a["geom_bodyid"][geom].reshape(-1, 2)
    swap = body[:, 0] > body[:, 1]
    geom[swap], body[swap] = geom[swap, ::-1], body[swap, ::-1]
    signature = _signature(body)
    order = np.argsort(signature, kind="stable")
    pairs = [pairs[i] for i in order]
    condim = column(pairs, "condim", dtype=np.int32)
    first(pairs, ~np.isin(condim, [1, 3, 4, 6]), "'condim' is 1, 3, 4 or 6")
    a.update(
        pair_dim=condim, pair_geom1=geom[order, 0].astype(np.int32), pair_geom2=geom[order, 1].astype(np.int32),
        pair_signature=signature[order], pair_solref=column(pairs, "solref", 2),
        pair_solreffriction=column(pairs, "solreffriction", 2), pair_solimp=column(pairs, "solimp", 5),
        pair_margin=column(pairs, "margin"), pair_gap=column(pairs, "gap"), pair_friction=column(pairs, "friction", 5),
    )  # fmt: skip

    body = np.sort(excluded, axis=1)
    signature = _signature(body)
    order = np.argsort(signature, kind="stable")
    a["exclude_signature"] = signature[order]
    out.names[mjtObj.mjOBJ_PAIR] = unique_names(pairs, mjtObj.mjOBJ_PAIR)
    out.names[mjtObj.mjOBJ_EXCLUDE] = unique_names([excludes[i] for i in order], mjtObj.mjOBJ_EXCLUDE)


def _signature(body):
    """(n,) int32 of body pairs, as MuJoCo packs them: 16 bits each, wrapping around in larger models."""
    packed = (body[:, 0] << 16) + body[:, 1]
    return packed.astype(np.uint32).astype(np.int32)
