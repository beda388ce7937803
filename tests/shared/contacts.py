"""Helpers of the collision tests: poses from MuJoCo, contacts of both engines in one form."""

import mujoco
import numpy as np

import tisim
from tisim.device import memory
from tisim.stages import collision

# name -> number of components
FIELDS = dict(dist=1, pos=3, frame=9, includemargin=1, friction=5, solref=2, solreffriction=2, solimp=5, dim=1, geom=2,
              exclude=1)  # fmt: skip


def both(xml, nworld=1):
    """The model and a data of either engine."""
    mm = mujoco.MjModel.from_xml_string(xml)
    m = tisim.Model.from_xml_string(xml)
    return mm, mujoco.MjData(mm), m, tisim.Data(m, nworld=nworld)


def their_contacts(mm, dd):
    """MuJoCo's contacts of dd.qpos as a dict of arrays; the poses stay in dd."""
    mujoco.mj_kinematics(mm, dd)
    mujoco.mj_comPos(mm, dd)
    mujoco.mj_collision(mm, dd)
    return {f: np.array(getattr(dd.contact, f)).reshape(dd.ncon, size) for f, size in FIELDS.items()}


def collide(m, d, datas, keep=True):
    """tisim's contacts at the poses of MuJoCo datas, one per world: a list of dicts.

    keep   whether pairs of an earlier search may serve again; without, the pairs are those of these poses exactly.
    """
    for name in ("geom_xpos", "geom_xmat", "xpos", "xmat"):
        values = np.concatenate([np.ravel(getattr(x, name)) for x in datas])
        memory.upload(d.device(name), values.astype(memory.download(d.device(name)).dtype))
    collision.collide(m, d, keep)
    return ours(d)


def age(d):
    """How many steps the pairs of the last search have served."""
    return collision.of(d.model, d).pairs.age


def ours(d):
    """tisim's contacts, a dict of arrays per world."""
    n = d.count("ncon")
    world = np.asarray(d.contact.worldid)
    whole = {f: np.asarray(getattr(d.contact, f)).reshape(n, size) for f, size in FIELDS.items()}
    return [{f: v[world == w] for f, v in whole.items()} for w in range(d.nworld)]


def difference(a, b, fields=FIELDS):
    """Largest difference of two sets of contacts, matched per geom pair; inf if their numbers differ."""
    if len(a["dist"]) != len(b["dist"]):
        return np.inf
    flat_a, flat_b = (np.concatenate([c[f].astype(float) for f in fields], 1) for c in (a, b))
    key_a, key_b = (np.concatenate([c["geom"], c["pos"], c["dim"]], 1).astype(float) for c in (a, b))
    worst, free = 0.0, list(range(len(flat_b)))
    for i in range(len(flat_a)):
        j = min(free, key=lambda j: np.abs(key_a[i] - key_b[j]).max())
        free.remove(j)
        worst = max(worst, np.abs(flat_a[i] - flat_b[j]).max())
    return worst


def quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def scatter(dd, rng, size):
    """Random poses of a model of free bodies: positions uniform in a box."""
    q = dd.qpos.reshape(-1, 7)
    q[:, :3] = rng.uniform(-1, 1, (len(q), 3)) * size
    q[:, 3:] = [quaternion(rng) for _ in q]
