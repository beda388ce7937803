"""Which collider treats which pair of geom types, the contacts it can make, and users' own colliders and filters."""

import inspect

import numpy as np

from tisim.device import program
from tisim.enums import mjtGeom
from tisim.errors import Error, brief
from tisim.mjcf.format.names import nearest
from tisim.model import callback

NTYPE = 8  # geom types that can collide, the first of mjtGeom
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = (int(mjtGeom(t)) for t in range(NTYPE))
# kinds of pairs; one of its own has a number before FIRST_USER, a line below and one in kernels/constants.py
(PLANE_ROUND, ROUND_ROUND, PLANE_BOX, ROUND_BOX, BOX_BOX, PLANE_CYLINDER, PLANE_CONVEX, SPHERE_CYLINDER, CONVEX,
 HEIGHT_FIELD, FIRST_USER) = range(11)  # fmt: skip
NKIND = 16  # the last ones are users'
# contact slots a pair of each kind needs. Boxes: before duplicates go, 16 crossings of edges and 4 corners of each face
SLOTS = {
    PLANE_ROUND: 2, ROUND_ROUND: 2, PLANE_BOX: 4, ROUND_BOX: 2, BOX_BOX: 24, PLANE_CYLINDER: 4, PLANE_CONVEX: 4,
    SPHERE_CYLINDER: 1, CONVEX: 1, HEIGHT_FIELD: 50,
}  # fmt: skip
MULTICCD_SLOTS = 8
# what a pair of each kind costs on one CPU thread, in microseconds, roughly
COST = np.full(NKIND, 0.1)
for _kind, _cost in {
    PLANE_ROUND: 0.025, ROUND_ROUND: 0.025, PLANE_BOX: 0.06, ROUND_BOX: 0.08, BOX_BOX: 0.2, PLANE_CYLINDER: 0.06,
    PLANE_CONVEX: 0.1, SPHERE_CYLINDER: 0.05, CONVEX: 2.0, HEIGHT_FIELD: 20.0,
}.items():  # fmt: skip
    COST[_kind] = _cost

WITH_PLANE = {
    SPHERE: PLANE_ROUND, CAPSULE: PLANE_ROUND, BOX: PLANE_BOX, CYLINDER: PLANE_CYLINDER, ELLIPSOID: PLANE_CONVEX,
    MESH: PLANE_CONVEX,
}  # fmt: skip
_users = {}  # (type 1, type 2) -> (kind, Taichi function, contacts)


def kind_of(t1, t2):
    """Kind of a pair of types, the lower first, or -1 where MuJoCo has no contacts."""
    if (t1, t2) in _users:
        return _users[t1, t2][0]
    if t1 == PLANE:
        return WITH_PLANE.get(t2, -1)
    if t1 == HFIELD:
        return HEIGHT_FIELD if t2 >= SPHERE else -1
    if t2 <= CAPSULE:
        return ROUND_ROUND
    if t2 == BOX and t1 in (SPHERE, CAPSULE, BOX):
        return BOX_BOX if t1 == BOX else ROUND_BOX
    return SPHERE_CYLINDER if (t1, t2) == (SPHERE, CYLINDER) else CONVEX


def tables(multiccd):
    """(kind by types (64,), slots by kind (16,)) for the kernels; the order of the two types does not matter."""
    kinds = np.array([kind_of(min(a, b), max(a, b)) for a in range(NTYPE) for b in range(NTYPE)])
    slots = np.array([SLOTS.get(kind, 0) for kind in range(NKIND)])
    if multiccd:
        slots[CONVEX] = MULTICCD_SLOTS
    for kind, _, contacts in _users.values():
        slots[kind] = contacts
    return kinds, slots


def users():
    """dict kind -> (Taichi function, contacts) of the registered colliders."""
    return {kind: (func, contacts) for kind, func, contacts in _users.values()}


def register_collider(type1, type2, func, contacts=1):
    """Replaces or adds the collider of a pair of geom types, for all models, from the next Data on.

    type1, type2  mjtGeom or words like "sphere"; in the function, geom 1 is the one of the lower type.
    func          a Taichi function `f(c, x1, R1, size1, x2, R2, size2)` that returns contact number c as a vector of 7:
                  distance [m] (negative in penetration), midpoint [m] and unit normal from geom 1 to geom 2, in the
                  world frame. x: position (vec3), R: orientation (3 x 3), size: geom_size (vec3). A distance above
                  the pair's margin means no contact. None takes a registered collider away.
    contacts      how many contacts it can make; it is called with c = 0 .. contacts - 1.

    Raises Error for types that cannot have a collider, or a function of another form.
    """
    pair = tuple(sorted((_type(type1), _type(type2))))
    _users.pop(pair, None)
    program.outdate()
    if func is None:
        return
    if not getattr(func, "_is_taichi_function", False):
        raise Error("a collider is a Taichi function: put @ti.func above it")
    wanted = ["c", "x1", "R1", "size1", "x2", "R2", "size2"]
    given = list(inspect.signature(inspect.unwrap(func)).parameters)
    if len(given) != len(wanted):
        raise Error(f"a collider takes {len(wanted)} arguments ({', '.join(wanted)}), this one takes {given}")
    if not isinstance(contacts, int) or not 1 <= contacts <= 50:
        raise Error(f"contacts={brief(contacts)}: expected 1 to 50")
    free = set(range(FIRST_USER, NKIND)) - {kind for kind, _, _ in _users.values()}
    if not free:
        raise Error(f"at most {NKIND - FIRST_USER} colliders can be registered; take one away with func=None")
    _users[pair] = (min(free), func, contacts)


def _type(word):
    names = {t.name.removeprefix("mjGEOM_").lower(): int(t) for t in mjtGeom if int(t) < NTYPE}
    found = names.get(word) if isinstance(word, str) else int(word) if int(word) in names.values() else None
    if found is None:
        raise Error(f"{brief(word)} is no geom type that can collide{nearest(word, names)}")
    return found


def filter_contacts(m, d, geom1, geom2, worldid):
    """(n,) bool: which pairs the model's contact_filter refuses. Raises Error where it returns anything else."""
    f = callback.of(m, "contactfilter")
    if callback.asked_singly(f):
        return np.array([bool(f(m, d, int(a), int(b))) for a, b in zip(geom1, geom2)], bool)
    refused = np.asarray(f(m, d, geom1, geom2, worldid))
    if refused.shape != geom1.shape or refused.dtype.kind not in "bi":
        raise Error(
            f"contact_filter returned an array of {refused.dtype} with shape {refused.shape}; expected one truth value "
            f"for each of the {len(geom1)} pairs"
        )
    return refused.astype(bool)
