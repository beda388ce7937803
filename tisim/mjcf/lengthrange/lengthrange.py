"""The range of lengths that actuators can reach: each is pushed both ways in a short simulation, as MuJoCo does.

Gravity, contacts, springs, dampers, friction loss and all other actuators are off; limits and equality constraints act.
After MuJoCo's mj_setLengthRange and mjCModel::LengthRange (3.4.0, Apache-2.0); seed 001, "lengthrange".
"""

import math

import numpy as np

from tisim.enums import mjtBias, mjtEq, mjtGain, mjtIntegrator, mjtTrn

from ..elements.tendon import wrap_trees
from ..numbers import MINVAL
from ..reference.transmission import transmission
from . import soft_equalities
from .dense_copies import Copies
from .soft_constraints import Rows, accelerations, joint_limits, tendon_limits

OPTIONS = dict(
    mode=1, useexisting=1, uselimit=0, accel=20.0, maxforce=0.0, timeconst=1.0, timestep=0.01, inttotal=10.0,
    interval=2.0, tolrange=0.05,
)  # fmt: skip
IMPLICIT = mjtIntegrator.mjINT_IMPLICIT, mjtIntegrator.mjINT_IMPLICITFAST
# transmissions and equalities that ask for no quaternions of bodies
PLAIN = mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT, mjtTrn.mjTRN_TENDON
LINEAR = mjtEq.mjEQ_JOINT, mjtEq.mjEQ_TENDON
NONE, MUSCLE, MUSCLE_USER, ALL = range(4)  # modes

# larger simulations than these come from a mistake, or would take minutes
MAX_STEPS, MAX_DOFS = 20_000, 300
# most numbers in matrices, times steps, and what the calls of a step cost in the same unit: some minutes
MAX_WORK, CALLS = 20e9, 100_000
# movement per step below which nothing moves [rad or m], and for how many steps: then the end is known
STILL, STILL_STEPS = 1e-14, 20
# beyond this, a simulation is unstable (mjMAXVAL); MuJoCo starts it again, for ever
MAX_VALUE = 1e10
# numbers in the matrices of the copies that are simulated at once
BATCH = 4_000_000


def read_options(sections):
    """dict of the attributes of compiler/lengthrange."""
    options = dict(OPTIONS)
    for node in sections:
        for child in node.children:
            options.update(child.attrib)
    return options


def set_length_range(a, items, options, option, meaninertia, sparse):
    """Fills actuator_lengthrange of the actuators that the mode selects.

    items  of the actuators, for errors;  options  of read_options;  option  mjOption's fields;  meaninertia  of the
    statistics;  sparse  whether MuJoCo's Jacobians are. Raises MjcfError where an actuator has no finite range, or
    where it would take too long to find it.
    """
    rows = _selected(a, options)
    if options["uselimit"]:
        rows = _copy_limits(a, rows)
    if not len(rows):
        return
    step = options["timestep"] if options["timestep"] > 0 else option["timestep"]
    if a["tendon_armature"].any():
        raise items[rows[0]].node.unsupported(
            "the length range of an actuator in a model with tendon armature is not computed: give it a 'lengthrange'",
            "armature",
        )
    node, steps = items[rows[0]].node, options["inttotal"] / step if step > 0 else math.inf
    if steps > MAX_STEPS:
        raise node.error(f"the length range of an actuator would take more than {MAX_STEPS:,} steps of {step:g} s")
    a = {**a, "wrap_tree": wrap_trees(a)}
    run = {**options, "step": step, "option": option, "meaninertia": meaninertia, "sparse": sparse}
    groups = _groups(a, items, rows)
    for trees, members in groups:
        number = int(a["tree_dofnum"][trees].sum())
        if number > MAX_DOFS:
            raise items[members[0]].node.error(
                f"the length range of this actuator involves {number} degrees of freedom, more than {MAX_DOFS}: "
                "give it a 'lengthrange', or set the mode of compiler/lengthrange to 'none'"
            )
    if steps * sum(_work(a, *group) for group in groups) > MAX_WORK:
        raise node.error("the length ranges of the actuators would take too long: give them a 'lengthrange', or "
                         "set the mode of compiler/lengthrange to 'none'")  # fmt: skip
    found = _ranges(a, _joined(a, groups), run)
    if not np.isfinite([found[i] for i in rows]).all():  # to tell which mechanism it is
        found = _ranges(a, groups, run)
    for _, members in groups:
        low, high = np.moveaxis(np.array([found[i] for i in members]), 1, 0)
        _check(items, members, low, high, options["tolrange"])
        a["actuator_lengthrange"][members] = np.stack([low[:, 0], high[:, 1]], 1)


def _size(a, trees):
    """Numbers in the matrices of one copy of these trees."""
    return int(a["tree_dofnum"][trees].sum()) ** 2 + 36 * int(a["tree_bodynum"][trees].sum())


def _work(a, trees, members):
    """What a step of the simulation of a group costs."""
    return 2 * _size(a, trees) * len(members) + CALLS + 36 * int((a["body_treeid"] < 0).sum())


def _joined(a, groups):
    """The same groups, joined where they cost less together: each call of NumPy is one for all copies."""
    out = []
    for group in sorted(groups, key=lambda group: _size(a, group[0])):
        if out:
            both = tuple(np.concatenate(parts) for parts in zip(out[-1], group))
            both = np.sort(both[0]), both[1]
            small = a["tree_dofnum"][both[0]].sum() <= MAX_DOFS
            if small and _work(a, *both) < _work(a, *out[-1]) + _work(a, *group):
                out[-1] = both
                continue
        out.append(group)
    return out


def _ranges(a, groups, run):
    """{actuator: (low, high)}, each the ends (2,) of both simulations; not a number where one is unstable."""
    found = {}
    for trees, members in groups:
        batch = max(1, BATCH // (2 * _size(a, trees)))
        for part in np.split(members, range(batch, len(members), batch)):
            try:
                low, high = _simulate(a, trees, part, run)
            except np.linalg.LinAlgError:  # an inertia matrix without inverse
                low = high = np.full((len(part), 2), math.nan)
            found.update(zip(part.tolist(), zip(low, high)))
    return found


def _selected(a, options):
    """Ids of the actuators whose range is to be found."""
    gain, bias = a["actuator_gaintype"], a["actuator_biastype"]
    muscle = (gain == mjtGain.mjGAIN_MUSCLE) | (bias == mjtBias.mjBIAS_MUSCLE)
    user = (gain == mjtGain.mjGAIN_USER) | (bias == mjtBias.mjBIAS_USER)
    mode = options["mode"]
    chosen = {NONE: np.zeros(len(gain), bool), MUSCLE: muscle, MUSCLE_USER: muscle | user, ALL: muscle | True}[mode]
    known = a["actuator_lengthrange"][:, 0] < a["actuator_lengthrange"][:, 1]
    return np.flatnonzero(chosen & ~known if options["useexisting"] else chosen)


def _copy_limits(a, rows):
    """Takes the limits of joints and tendons as they are, without the gear; returns the ids of the others.

    MuJoCo 3.4.0 looks up the target of actuator i in place i of actuator_trnid as a flat list, and so do we, for the
    same numbers: only for the first actuator is that its own target. What is no id there counts as unlimited.
    """
    kind, target = a["actuator_trntype"][rows], a["actuator_trnid"].ravel()[rows]
    left = np.ones(len(rows), bool)
    for what, kinds in (("jnt", (mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT)), ("tendon", (mjtTrn.mjTRN_TENDON,))):
        limited = a[f"{what}_limited"]
        mine = np.flatnonzero(np.isin(kind, kinds) & (target >= 0) & (target < len(limited)))
        mine = mine[limited[target[mine]] > 0]
        a["actuator_lengthrange"][rows[mine]] = a[f"{what}_range"][target[mine]]
        left[mine] = False
    return rows[left]


def _groups(a, items, rows):
    """[(ids of trees, ids of actuators)]: trees that move together when one of these actuators pulls."""
    parent = np.arange(len(a["tree_bodyadr"]))

    def root(tree):
        while parent[tree] != tree:
            parent[tree] = tree = parent[parent[tree]]
        return tree

    def join(trees):
        for tree in trees[1:]:
            parent[root(tree)] = root(trees[0])

    for tendon in np.flatnonzero(a["tendon_limited"]):
        join(_tendon_trees(a, tendon))
    for i in np.flatnonzero(a["eq_active0"]):
        join(soft_equalities.trees_of(a, i))
    own = {int(i): _actuator_trees(a, i) for i in rows}
    groups = {}
    for trees in own.values():
        join(trees)
    for i, trees in own.items():
        if not trees:
            raise _invalid(items, i, 0.0, 0.0)
        groups.setdefault(root(trees[0]), []).append(i)
    everyone = np.array([root(tree) for tree in range(len(parent))])
    return [(np.flatnonzero(everyone == first), np.array(members)) for first, members in groups.items()]


def _tendon_trees(a, tendon):
    """Ids of the trees a tendon runs through."""
    path = slice(a["tendon_adr"][tendon], a["tendon_adr"][tendon] + a["tendon_num"][tendon])
    return sorted({int(t) for t in a["wrap_tree"][path] if t >= 0})


def _actuator_trees(a, i):
    """Ids of the trees an actuator acts on; an adhesion actuator, without contacts, on none."""
    kind, (first, second) = int(a["actuator_trntype"][i]), a["actuator_trnid"][i].tolist()
    if kind == mjtTrn.mjTRN_TENDON:
        return _tendon_trees(a, first)
    if kind == mjtTrn.mjTRN_BODY:
        return []
    if kind in (mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT):
        bodies = [a["jnt_bodyid"][first]]
    else:
        bodies = [a["site_bodyid"][s] for s in (first, second) if s >= 0]
    return sorted({int(t) for t in a["body_treeid"][bodies] if t >= 0})


def _simulate(a, trees, members, run):
    """(low, high), each (actuators, 2): the least and greatest length near the end, pushed to either side."""
    tendons = [t for t in np.flatnonzero(a["tendon_limited"]).tolist() if np.isin(_tendon_trees(a, t), trees).any()]
    equalities = [i for i in np.flatnonzero(a["eq_active0"]) if np.isin(soft_equalities.trees_of(a, i), trees).any()]
    tendons += soft_equalities.tendons_of(a, equalities)
    pulled = a["actuator_trnid"][members, 0][a["actuator_trntype"][members] == mjtTrn.mjTRN_TENDON]
    plain = np.isin(a["actuator_trntype"][members], PLAIN).all() and np.isin(a["eq_type"][equalities], LINEAR).all()
    c = Copies(a, trees, np.repeat(members, 2), np.array(sorted({*tendons, *pulled.tolist()}), int), plain)
    own = np.where(a["actuator_trntype"][members] == mjtTrn.mjTRN_TENDON, a["actuator_trnid"][members, 0], -1)
    c.keep_tendons(np.array(sorted({*tendons}), int), np.repeat(own, 2))
    side = np.tile([-1.0, 1.0], len(members))
    low, high = np.full(c.count, math.inf), np.full(c.count, -math.inf)
    step, slower = run["step"], math.exp(-run["step"] / max(0.01, run["timeconst"]))
    scale = 1 / (run["meaninertia"] * max(1, c.nv))
    integrator = run["option"]["integrator"]
    qacc, time, still = np.zeros((c.count, c.nv)), 0.0, 0
    while time < run["inttotal"]:
        c.qvel *= slower
        c.refresh()
        c.pose.sparse = run["sparse"]
        c.pose.tendons = c.tendons()
        m, bias = c.dynamics()
        length, *entries = transmission(c.arrays, c.pose)
        smooth = _smooth(m, c.dense(*entries, 1)[:, 0], bias, side, run)
        rows = Rows()
        soft_equalities.equalities(c, a, rows, equalities)
        joint_limits(c, a, rows)
        tendon_limits(c, a, rows)
        qacc, residue = accelerations(m, smooth, rows, c.qvel, step, qacc, scale, run["option"])
        moved = qacc
        if integrator in IMPLICIT:  # these start from the forces, not from the acceleration that the solver found
            inertia = m + step * c.bias_derivative() if integrator == IMPLICIT[0] else m
            moved = np.linalg.solve(inertia, m @ qacc[..., None] - residue[..., None])[..., 0]
        c.integrate(moved, step)
        time += step
        if not (np.abs(np.concatenate([c.qpos, c.qvel, qacc], 1)) < MAX_VALUE).all():
            unstable = np.full((len(members), 2), math.nan)
            return unstable, unstable
        still = still + 1 if np.abs(step * c.qvel).max(initial=0.0) < STILL else 0
        if still == STILL_STEPS:
            return length.reshape(-1, 2), length.reshape(-1, 2)
        if time > run["inttotal"] - run["interval"]:
            low, high = np.minimum(low, length), np.maximum(high, length)
    return low.reshape(-1, 2), high.reshape(-1, 2)


def _smooth(m, moment, bias, side, run):
    """Accelerations (copies, nv) without constraints: a force along the moment, of a size that alone gives
    accelerations of norm `accel`, less the bias force.
    """
    solved = np.linalg.solve(m, np.stack([moment, bias], 2))
    size = run["accel"] / np.maximum(MINVAL, np.linalg.norm(solved[..., 0], axis=1))
    if run["maxforce"] > 0:
        norm = np.linalg.norm(moment, axis=1) * size
        size = np.where(norm > run["maxforce"], size * run["maxforce"] / np.maximum(MINVAL, norm), size)
    return (size * side)[:, None] * solved[..., 0] - solved[..., 1]


def _invalid(items, i, low, high):
    return items[i].node.error(
        f"the length range of this actuator is empty ({low:g}, {high:g}): give it a 'lengthrange'"
    )


def _check(items, members, low, high, tolerance):
    for k, i in enumerate(members.tolist()):
        dif = high[k, 1] - low[k, 0]
        if not math.isfinite(dif):
            raise items[i].node.error("the simulation that finds the length range of this actuator, or of one in the "
                                      "same mechanism, is unstable: give it a 'lengthrange'")  # fmt: skip
        if not dif > 0:
            raise _invalid(items, i, low[k, 0], high[k, 1])
        for side in (0, 1):
            if high[k, side] - low[k, side] > tolerance * dif:
                raise items[i].node.error(
                    "the length range of this actuator does not converge: it still moves between "
                    f"{low[k, side]:g} and {high[k, side]:g} at the end. Limit its joint or tendon, or give it a "
                    "'lengthrange'"
                )
