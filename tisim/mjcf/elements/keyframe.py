"""Keyframes: saved states of the model.

After MuJoCo's compiler (Apache-2.0) for what fills a list that is too short: not the reference state, but numbers as
the file gives them, before frames, orientations and angles are resolved.
"""

import numpy as np

from tisim.enums import mjtJoint, mjtObj

from .. import rotations
from ..format.limits import MAX_NUMBERS
from ..numbers import EPS
from ..scene.items import column, unique_names

# how many numbers of a key's list are taken together
GROUP = {"qpos": 1, "qvel": 1, "act": 1, "ctrl": 1, "mpos": 3, "mquat": 4}


def compile_keys(a, items, scene, nkey, out):
    """Arrays key_* and the names of the keys.

    a  dict of arrays of the compiled model;  items  `key` Items;  scene  World;  nkey  adds unnamed keys up to this
    number. A list that a key leaves out is the reference state; one that is too long raises MjcfError.
    """
    count = max(len(items), nkey)
    mocap = np.flatnonzero(a["body_mocapid"] >= 0)
    nv, na = len(a["dof_bodyid"]), int(a["actuator_actnum"].sum()) if "actuator_actnum" in a else 0
    nu = len(a["actuator_actnum"]) if "actuator_actnum" in a else 0
    zeros = dict(qvel=np.zeros(nv), act=np.zeros(na), ctrl=np.zeros(nu))
    start = dict(qpos=a["qpos0"], **zeros, mpos=a["body_pos"][mocap].ravel(), mquat=a["body_quat"][mocap].ravel())
    numbers = count * sum(len(value) for value in start.values())
    if numbers > MAX_NUMBERS:
        message = f"the keyframes would hold {numbers:,} numbers, more than {MAX_NUMBERS:,}"
        raise scene.bodies[0].space.scope.root.error(message)
    moved = [scene.bodies[i] for i in mocap]
    fill = dict(
        qpos=_raw_reference(a, scene), **zeros, mpos=column(moved, "pos", 3).ravel(),
        mquat=column(moved, "quat", 4).ravel(),
    )  # fmt: skip
    for name, value in start.items():
        rows = np.tile(value, (count, 1))
        for i, item in enumerate(items):
            given = item.attrib.get(name)
            if given:
                if len(given) > len(value):
                    message = f"'{name}' of a key has {len(given)} numbers, at most {len(value)} fit the model"
                    raise item.node.error(message)
                # mocap poses count as a whole, the others number by number
                whole = len(given) // GROUP[name] * GROUP[name]
                if len(given) < len(value):
                    rows[i] = fill[name]
                rows[i, :whole] = given[:whole]
        a[f"key_{name}"] = np.where(np.isnan(rows), value, rows)  # nan: nothing is known (key_copies.py)
    kind, adr = a["jnt_type"], a["jnt_qposadr"]
    quat = np.concatenate([adr[kind == mjtJoint.mjJNT_FREE] + 3, adr[kind == mjtJoint.mjJNT_BALL]])
    place = quat[:, None] + np.arange(4)
    a["key_qpos"][:, place] = rotations.normalize(a["key_qpos"][:, place])
    quats = a["key_mquat"].reshape(count, len(mocap), 4)
    norm = np.linalg.norm(quats, axis=-1, keepdims=True)
    quats = np.where(norm < EPS, quats, quats / np.where(norm < EPS, 1.0, norm))
    a["key_mquat"] = quats.reshape(count, 4 * len(mocap))
    a["key_time"] = np.array([item.attrib.get("time", 0.0) for item in items] + [0.0] * (count - len(items)))
    out.names[mjtObj.mjOBJ_KEY] = unique_names(items, mjtObj.mjOBJ_KEY) + [""] * (count - len(items))


def _raw_reference(a, scene):
    """(nq,) that fills a short qpos: `ref` as the file has it, in degrees too; zeros and no turn elsewhere."""
    qpos = np.zeros(len(a["qpos0"]))
    kind, adr = a["jnt_type"], a["jnt_qposadr"]
    one = kind >= mjtJoint.mjJNT_SLIDE
    qpos[adr[one]] = column(scene.joints, "ref")[one]
    qpos[adr[kind == mjtJoint.mjJNT_BALL]] = 1
    qpos[adr[kind == mjtJoint.mjJNT_FREE] + 3] = 1
    return qpos
