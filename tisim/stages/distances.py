"""Sensors of distances: which pairs of geoms they ask about, and the kernel that finds their distances."""

import numpy as np

from tisim.device import launch, memory, runtime, session
from tisim.enums import mjtObj

from . import colliders, narrowphase
from .colliders import BOX_BOX, CONVEX, FIRST_USER, HEIGHT_FIELD, PLANE_BOX, PLANE_ROUND, ROUND_BOX, ROUND_ROUND

# sets of kinds for which the kernel is made, as those of narrowphase.py
FAMILIES = ((PLANE_ROUND, ROUND_ROUND, PLANE_BOX, ROUND_BOX), tuple(k for k in range(FIRST_USER) if k != BOX_BOX))
PARALLEL_PAIRS = 64  # pairs below which one CPU thread computes them
WORKERS = 256  # who share the pairs where none of them needs scratch memory


def kinds_of(type1, type2):
    """Kinds of pairs of types, the lower first, (n,): -1 where MuJoCo knows no distance. Boxes go by GJK."""
    known = colliders.kind_of(colliders.BOX, colliders.BOX) == BOX_BOX
    both, which = np.unique(type1 * 16 + type2, return_inverse=True)
    kinds = np.array([colliders.kind_of(int(t) // 16, int(t) % 16) if int(t) % 16 < 8 else -1 for t in both], int)
    if known:  # boxes have a distance by GJK, contacts by their own collider
        kinds[kinds == BOX_BOX] = CONVEX
    return kinds[which.ravel()]


def _geoms(m, kind, i):
    """Geoms of an object of a sensor."""
    if kind == mjtObj.mjOBJ_GEOM:
        return np.array([i])
    return int(m.body_geomadr[i]) + np.arange(int(m.body_geomnum[i]))


class Pairs:
    """The pairs of geoms of a model's sensors, each once for the sensors that ask the same, on a Data's device."""

    def __init__(self, m, d):
        self.key = _key(m)
        sensors = m.derived("distance_sensor")
        known, adr, num, of, pairs = {}, [], [], [], []
        for s in sensors.tolist():
            words = ("objtype", "objid", "reftype", "refid", "cutoff")
            asked = tuple(getattr(m, f"sensor_{word}")[s].item() for word in words)
            if asked not in known:
                first, second = _geoms(m, *asked[:2]), _geoms(m, *asked[2:4])
                known[asked] = len(of), len(first) * len(second)
                pairs.append(np.stack([np.repeat(first, len(second)), np.tile(second, len(first))], 1))
                of += [s] * known[asked][1]
            adr.append(known[asked][0])
            num.append(known[asked][1])
        pairs = np.concatenate([np.zeros((0, 2), int), *pairs]).astype(np.int64)
        gtype = np.asarray(m.geom_type)
        flip = gtype[pairs[:, 0]] > gtype[pairs[:, 1]]
        pairs[flip] = pairs[flip][:, ::-1]
        kind = kinds_of(gtype[pairs[:, 0]], gtype[pairs[:, 1]])
        slots = np.where(kind >= 0, colliders.tables(False)[1][kind], 0)
        self.kinds = tuple(sorted({*kind.tolist()} - {-1}))
        self.users = tuple((k, *user) for k, user in colliders.users().items() if k in self.kinds)
        self.scalars = dict(nreach=len(of), nreachslot=int(slots.sum()))
        for name, values in dict(
            reach_geom1=pairs[:, 0], reach_geom2=pairs[:, 1], reach_kind=kind, reach_flip=flip, reach_sensor=of,
            reach_slot=np.cumsum(slots) - slots, reach_adr=adr, reach_num=num,
        ).items():  # fmt: skip
            memory.upload(d.scratch(name, len(values)), np.ascontiguousarray(values, np.int32))
        for name in ("reach_dist", "reach_from", "reach_to"):
            d.scratch(name, d.nworld * len(of))

    def kernels(self):
        """Kernels in their order."""
        users = tuple(k for k in self.kinds if k >= FIRST_USER)
        family = next(f for f in FAMILIES if set(self.kinds) <= {*f, *users})
        k = runtime.kernels("sensor.distance")
        return [k.reach_pairs.of(family + users, self.users), k.distance_values]


def _key(m):
    """What the pairs follow from."""
    return m.edits, colliders.users()


def pairs_of(m, d):
    """The Pairs of a Data, made anew for another model or colliders than before."""
    pairs = d._info.get("reach")
    if pairs is None or pairs.key != _key(m):
        pairs = d._info["reach"] = Pairs(m, d)
    return pairs


def kernels(m, d):
    """Kernels in their order."""
    return pairs_of(m, d).kernels() if m.scalar("ndistance") else []


def sense(m, d):
    """Values of all sensors of distances."""
    if not m.scalar("ndistance"):
        return
    pairs = pairs_of(m, d)
    found = pairs.kernels()
    slots = d.nworld * pairs.scalars["nreachslot"]
    if d.capacity("nslotmax") < slots:
        d.grow("nslotmax", slots)
    many = session.arch != "cpu" or d.nworld * pairs.scalars["nreach"] >= PARALLEL_PAIRS
    scratch = dict(nccd=WORKERS if many else 1)
    if {CONVEX, HEIGHT_FIELD} & set(found[0].given[0]):
        scratch = narrowphase.ccd_scratch(m, d, (False, False), many)
    launch.run(m, d, found, many, **pairs.scalars, **scratch)
