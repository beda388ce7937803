"""`m.lcp`: parameters of the second dynamics (tisim/LCP.md), and what it does not do, refused by name."""

import math

import numpy as np

from tisim.enums import mjtEnableBit, mjtEq, mjtIntegrator, mjtJoint, mjtSensor, mjtSleepPolicy, mjtStage, mjtTrn
from tisim.errors import Error, FieldError, UnsupportedError, brief
from tisim.mjcf.format.names import nearest

from .listing import listing

NAME = "lcp"  # of m.opt.dynamics
CHOICES = dict(
    friction=("circle", "polygon", "box"), order=("colour", "ode"), armature=("refuse", "ignore"),
    rotation=("midpoint", "finite", "infinitesimal", "axle"),
)  # fmt: skip
FLAGS = dict(accelerate=False)
# numbers: default, least, greatest; whole ones have a whole default
RANGES = dict(
    erp=(0.2, 0.0, 1.0), cfm=(1e-10, 0.0, 1e10), substeps=(10, 1, 1000), sweeps=(1, 1, 1_000_000), eta=(4, 3, 1000),
    bounce=(0.0, 0.0, 1.0), bounce_vel=(0.01, 0.0, math.inf), max_vel=(1.0, 0.0, math.inf), sor=(1.0, 0.1, 1.9),
    warmstart=(1.0, 0.0, 1.0), direct=(0, 0, 64), slop=("auto", 0.0, 1e10), ease=(0.2, 0.0, 1.0),
    gap=("auto", 0.0, 1e10),
)  # fmt: skip
# parts of the mean size of moving geoms, where "auto" stands, and how far a contact may have moved
SLOP, GAP, REACH = 1 / 320, 1 / 80, 1 / 8
DEFAULT_SIZE = 0.16  # m, where nothing moves
MARGINS = ("geom_margin", "pair_margin")
JOINTS = (mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT)
LOOPS = (mjtEq.mjEQ_CONNECT, mjtEq.mjEQ_WELD)
MOST_UNKNOWNS = 1000  # eta + 2 a contact, of an island that is solved by pivots
LEAST_SINE = 1e-3  # of the angle between two hinges of a body
MOST_JOINTS = 3  # of a body
MOST_SERVOS = 11  # actuators of a joint (kernels/lcp/laws.py: 15 forces, of which springs, friction and limits are 4)


class Lcp:
    """Parameters of dynamics="lcp"; writing checks name, type and range. tisim/LCP.md tells what each does.

    edits  counts the writes.
    """

    def __init__(self, values=None):
        start = {name: choices[0] for name, choices in CHOICES.items()} | {n: v[0] for n, v in RANGES.items()} | FLAGS
        object.__setattr__(self, "_values", start)
        object.__setattr__(self, "edits", 0)
        self.take(values or {})

    def take(self, values):
        """Writes several: an Lcp, or a dict. All or nothing."""
        if not hasattr(values, "items"):
            raise Error(f"lcp: expected names and values, got {brief(values)}")
        self._values.update({name: _checked(name, value) for name, value in values.items()})
        object.__setattr__(self, "edits", self.edits + 1)

    def __getattr__(self, name):
        values = object.__getattribute__(self, "__dict__").get("_values", {})
        if name in values:
            return values[name]
        raise FieldError(f"lcp has no field {brief(name)}{nearest(name, values)}")

    def __setattr__(self, name, value):
        self.take({name: value})

    def __dir__(self):
        return [*super().__dir__(), *self._values]

    def __repr__(self):
        return listing("lcp", self._values.items())

    def __reduce__(self):
        return Lcp, (dict(self._values),)

    def __deepcopy__(self, memo):
        return Lcp(self._values)

    __copy__ = lambda self: Lcp(self._values)  # noqa: E731

    def items(self):
        """(name, value) pairs."""
        return self._values.items()


def _checked(name, value):
    if name in CHOICES:
        if not isinstance(value, str) or value not in CHOICES[name]:
            raise Error(f"lcp.{name} is one of {', '.join(map(repr, CHOICES[name]))}, got {brief(value)}")
        return value
    if name in FLAGS:
        if not isinstance(value, (bool, np.bool_)):
            raise Error(f"lcp.{name} is True or False, got {brief(value)}")
        return bool(value)
    if name not in RANGES:
        raise FieldError(f"lcp has no field {brief(name)}{nearest(str(name), [*CHOICES, *FLAGS, *RANGES])}")
    default, least, most = RANGES[name]
    if default == "auto" and isinstance(value, str) and value == "auto":
        return value
    whole = isinstance(default, int)
    number = None if isinstance(value, (bool, str, np.bool_)) or np.ndim(value) else value
    try:
        number = float(number)
    except (TypeError, ValueError):
        number = math.nan
    if not least <= number <= most or (whole and number != int(number)):
        words = "a whole number" if whole else "'auto' or a number" if default == "auto" else "a number"
        raise Error(f"lcp.{name} is {words} from {least:g} to {most:g}, got {brief(value)}")
    return int(number) if whole else number


def chosen(m):
    """Whether the model is stepped by the second dynamics."""
    return m.opt._values["dynamics"] == NAME  # asked in each step


def size(m):
    """Mean size of the geoms that move [m]: the edge of a cube whose bounding sphere is as large."""
    edits, found = m._derived.get("size", (None, None))
    if edits != m.edits:
        m._derived["size"] = m.edits, (found := _size(m))
    return found


def _size(m):
    """The same, made anew."""
    moving = (np.asarray(m.body_dofnum)[np.asarray(m.geom_bodyid)] > 0) & (np.asarray(m.geom_rbound) > 0)
    return float(np.mean(np.asarray(m.geom_rbound)[moving])) * 2 / math.sqrt(3) if moving.any() else DEFAULT_SIZE


def length(m, name):
    """slop or gap [m]."""
    value = getattr(m.lcp, name)
    return dict(slop=SLOP, gap=GAP)[name] * size(m) if value == "auto" else value


def margins(m, name):
    """An array of the model as kernels see it: contacts are listed where their gap gets a row."""
    values = np.asarray(m._arrays[name])
    return np.maximum(values, length(m, "gap")) if name in MARGINS and chosen(m) else values


def renew(m):
    """Lets margins be made anew where they are others: before the arrays that were written are uploaded."""
    key = chosen(m) and (length(m, "gap") if m.lcp.gap != "auto" else "auto")
    if m._derived.get("margins", False) != key:
        m._derived["margins"] = key
        for name in MARGINS:
            m._changed.add(name)
        for name in [n for n in m._derived if n.startswith("mid_")]:
            del m._derived[name]


def refuse(m):
    """Raises UnsupportedError for what the second dynamics does not do. Looks where something was written since."""
    asked = m.edits, m.opt._edits, m.lcp.edits
    if m._derived.get("refused") != asked:
        _refuse(m)
        m._derived["refused"] = asked


def _refuse(m):
    """The same in any case."""
    if m.lcp.order == "ode" and m.lcp.friction != "box":
        raise _not_done(f'friction "{m.lcp.friction}" in the order of ODE, whose rows are of a box: friction="box"')
    if m.lcp.order == "ode" and m.lcp.accelerate:
        raise _not_done('accelerate in the order of ODE: order="colour"')
    if m.lcp.direct:
        _refuse_direct(m)
    if m._sizes["ntendon"]:
        raise _not_done(f"tendons (there are {m._sizes['ntendon']})")
    if len(bad := np.flatnonzero(~np.isin(m.eq_type, LOOPS))):
        kind = mjtEq(m.eq_type[bad[0]]).name[5:].lower()
        raise _not_done(f"{_name(m, 'equality', bad[0])}: {kind}")
    if jointed(m):
        _refuse_joints(m)
    elif m.nu:
        raise _not_done(f"actuators where only free bodies move (there are {m.nu})")
    lossy = np.isin(np.asarray(m.jnt_type)[np.asarray(m.dof_jntid)], (mjtJoint.mjJNT_FREE, mjtJoint.mjJNT_BALL))
    if len(bad := np.flatnonzero(lossy & (np.asarray(m.dof_frictionloss) > 0))):
        raise _not_done(f"{_name(m, 'joint', m.dof_jntid[bad[0]])}: frictionloss of free and ball joints")
    if np.any(m.dof_armature) and m.lcp.armature != "ignore":
        raise _not_done('armature, which has no counterpart here: m.lcp.armature = "ignore" leaves it out')
    dims = np.concatenate([np.asarray(m.geom_condim), np.asarray(m.pair_dim)])
    if (dims > 3).any():
        raise _not_done("torsional and rolling friction (condim 4 or 6): use condim=3")
    late = np.flatnonzero(np.asarray(m.sensor_needstage) == mjtStage.mjSTAGE_ACC)
    if len(late):
        s = int(late[0])
        kind = mjtSensor(m.sensor_type[s]).name[7:].lower()
        raise _not_done(f"sensor {m.id2name('sensor', s) or f'number {s}'}: {kind}, which needs accelerations")
    flags = int(m.opt.enableflags)
    for bit, word in ((mjtEnableBit.mjENBL_OVERRIDE, "override"), (mjtEnableBit.mjENBL_FWDINV, "fwdinv")):
        if flags & int(bit):
            raise _not_done(f"flag {word}")
    if flags & int(mjtEnableBit.mjENBL_SLEEP):
        if m.lcp.order == "ode":
            raise _not_done('flag sleep in the order of ODE: order="colour"')
        if np.any(np.asarray(m.tree_sleep_policy) == mjtSleepPolicy.mjSLEEP_INIT):
            raise _not_done("trees that start asleep (sleep='init')")
    if m.opt.integrator == mjtIntegrator.mjINT_RK4:
        raise _not_done("integrator RK4: velocities come first, then poses, whatever the others say")


def _refuse_direct(m):
    """The same for m.lcp.direct."""
    if m.lcp.order == "ode":
        raise _not_done('direct in the order of ODE: order="colour"')
    if m.lcp.friction != "polygon":
        raise _not_done(f'direct with friction "{m.lcp.friction}", whose rows are none of a matrix: friction="polygon"')
    if jointed(m):
        raise _not_done("direct where bodies have joints, or are connected or welded")
    if m.lcp.direct * (m.lcp.eta + 2) > MOST_UNKNOWNS:
        raise _not_done(f"direct with {m.lcp.direct} contacts of {m.lcp.eta} corners: {MOST_UNKNOWNS} unknowns at most")


def loops(m):
    """Whether there are connects or welds."""
    return bool(np.isin(m.eq_type, LOOPS).any())


def jointed(m):
    """Whether something moves that is no free body, or is connected or welded: then the bodies of trees have poses of
    their own."""
    rides = (np.asarray(m.body_treeid) >= 0) & (np.asarray(m.body_dofnum) == 0)
    return bool(np.any(np.asarray(m.jnt_type) != mjtJoint.mjJNT_FREE) or rides.any() or loops(m))


def _refuse_joints(m):
    """The same for what is asked of bodies with joints alone."""
    moving = np.asarray(m.body_treeid) >= 0
    _refuse_combinations(m, np.flatnonzero(moving & (np.asarray(m.body_jntnum) > 1)))
    if len(bad := np.flatnonzero(np.asarray(m.jnt_actfrclimited))):
        raise _not_done(f"{_name(m, 'joint', bad[0])}: actuatorfrcrange")
    if len(bad := np.flatnonzero(np.asarray(m.actuator_trntype) == mjtTrn.mjTRN_BODY)):
        raise _not_done(f"{_name(m, 'actuator', bad[0])}: adhesion")
    many = np.bincount(np.asarray(m.actuator_trnid)[:, 0][np.isin(m.actuator_trntype, JOINTS)], minlength=1)
    if many.max() > MOST_SERVOS:
        raise _not_done(f"{_name(m, 'joint', many.argmax())}: more than {MOST_SERVOS} actuators")
    light = moving & ((np.asarray(m.body_mass) <= 0) | (np.asarray(m.body_inertia) <= 0).any(axis=1))
    if light.any():
        raise _not_done(f"{_name(m, 'body', np.flatnonzero(light)[0])}: without mass or inertia, which each body needs")


def _refuse_combinations(m, bodies):
    """The same for joints of these bodies, which have several."""

    def refuse(bad, what):
        if bad.any():
            raise _not_done(f"{_name(m, 'body', bodies[bad][0])}: {what}")

    count, first = np.asarray(m.body_jntnum)[bodies], np.asarray(m.body_jntadr)[bodies]
    refuse(count > MOST_JOINTS, f"more than {MOST_JOINTS} joints")
    j = first[:, None] + np.minimum(np.arange(MOST_JOINTS), count[:, None] - 1)
    there = np.arange(MOST_JOINTS) < count[:, None]
    kind, axis, at = (np.asarray(a)[j] for a in (m.jnt_type, m.jnt_axis, m.jnt_pos))
    slide, hinge = there & (kind == mjtJoint.mjJNT_SLIDE), there & (kind == mjtJoint.mjJNT_HINGE)
    refuse((there & ~slide & ~hinge).any(1), "several joints that are no slides and hinges")
    refuse(slide[:, 1] & hinge[:, 0] & hinge[:, 2] | hinge[:, 1] & slide[:, 0] & slide[:, 2],
           "a joint between two of the other kind")  # fmt: skip
    anchor = np.take_along_axis(at, np.argmax(hinge, axis=1)[:, None, None], 1)
    refuse((hinge & (np.abs(at - anchor).max(2) > 1e-9)).any(1), "hinges whose anchors differ")
    for some, word in ((slide, "slides"), (hinge, "hinges")):
        n = some.sum(1)
        order = np.argsort(~some, axis=1, kind="stable")
        a, b, c = (np.take_along_axis(axis, order[:, k, None, None], 1)[:, 0] for k in range(MOST_JOINTS))
        sine = np.linalg.norm(np.cross(a, b), axis=1)
        refuse((n == 2) & (sine < LEAST_SINE), f"two {word} whose axes are parallel")
        if word == "slides":
            refuse((n == 3) & (np.abs((np.cross(a, b) * c).sum(1)) < LEAST_SINE), "three slides in one plane")
        else:
            beside = np.maximum(np.abs((a * b).sum(1)), np.abs((b * c).sum(1)))
            flat = np.linalg.norm(np.cross(a, c), axis=1) < LEAST_SINE
            words = "three hinges, but for those whose middle axis is orthogonal to the others, which are not parallel"
            refuse((n == 3) & ((beside > 1e-6) | flat), words)


def _name(m, kind, i):
    """How an object is called in messages."""
    return f"{kind} {m.id2name(kind, int(i)) or f'number {int(i)}'}"


def _not_done(what):
    return UnsupportedError(f'dynamics lcp does not do {what}; opt.dynamics = "convex" does')
