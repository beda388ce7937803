"""tisim.settle: steps until all is at rest, and tells what is not."""

import contextlib
import warnings

import numpy as np

from tisim import pipeline
from tisim.data import asleep, given
from tisim.enums import mjtEnableBit
from tisim.errors import Error, OverlapWarning, ValuesError, brief
from tisim.model.watched import floats
from tisim.queries.arguments import number

from . import support

READY = -1  # tree_asleep of a tree that was at rest for so many steps that it may sleep
LOOK = 20  # steps between two looks at who sleeps


class Settled:
    """What tisim.settle found.

    settled   whether all that moves sleeps, or has left the scene, or is at rest where it may not sleep.
    time, steps   simulated [s], and in how many steps.
    moving    (k, 2) world and body of the trees, by their first body, that moved within the last ten steps.
    waiting   (k, 2) the same of those at rest that are awake all the same: with others of their island, which move, or
              as something of it may not sleep.
    left      (k, 2) world and body of those that are outside of what was given as the scene.
    deepest   Overlaps of the pair of bodies that is deepest inside each other, in any world; empty if none touches.
    forces    Forces: contacts that press, sleepers included.
    support   Support: who rests on whom.
    """

    def __init__(self, **found):
        vars(self).update(found)

    def __repr__(self):
        return f"<tisim Settled: {self}>"

    def __str__(self):
        words = (
            f"settled after {self.time:.3f} s" if self.settled else f"{len(self.moving)} move after {self.time:.3f} s"
        )
        words += f", {len(self.waiting)} at rest are awake with them" * bool(not self.settled and len(self.waiting))
        words += f", {len(self.left)} left the scene" * bool(len(self.left))
        if len(self.deepest):
            words += f", at most {self.deepest.depth[0] * 1e3:.3g} mm deep"
        return words


def settle(m, d, timeout=10.0, below=None, box=None, tolerance=None, show=None):
    """Steps until everything sleeps or the time is out, and tells what came of it. Seed 003, "Sleeping islands".

    timeout  simulated time at most [s].
    below    height [m]: a body whose frame is lower, along z, has left the scene; None: none has.
    box      two corners ((3,), (3,)) [m]: a body whose frame is outside has left; None: none has.
    tolerance  velocity [m/s, or rad/s times a length] below which a thing is at rest, in place of opt.sleep_tolerance.
    show     a function of (seconds simulated so far, trees that are awake in all worlds), called now and then; what it
             returns is true where settling shall end there.
    Trees fall asleep by the rules of the sleep flag, set meanwhile; those that may not sleep, such as driven ones,
    count as at rest while their velocities are within the tolerance. What has left is not waited for.
    Warns with an OverlapWarning of bodies that are inside each other at the start. Raises Error for wrong arguments.
    Returns a Settled.
    """
    given.check(m, d)
    timeout = number("timeout", timeout)
    if timeout < 0:
        raise Error(f"timeout={timeout:g}: expected seconds, 0 or more")
    if timeout > pipeline.MOST_STEPS * float(m.opt.timestep):
        raise Error(f"timeout={timeout:g}: more than {pipeline.MOST_STEPS:,} steps do not end")
    tolerance = None if tolerance is None else number("tolerance", tolerance)
    below = None if below is None else number("below", below)
    box = None if box is None else _box(box)
    show = (lambda time, awake: False) if show is None else show
    seen = support.evaluated(m, d)  # Data have no poses before a step
    warn_of_overlaps(support.inside(m, seen))
    steps, most = 0, round(timeout / float(m.opt.timestep))
    with _sleeping(m, tolerance):
        while True:
            left = _left(m, seen, below, box)
            awake, moves = _awake(m, d)
            moving = moves & ~left
            settled = not moving.any() and (steps or not most)  # a step tells whether what was written wakes sleepers
            if settled or steps >= most or show(steps * float(m.opt.timestep), int(awake.sum())):
                break
            k = min(LOOK if steps else 1, most - steps)
            pipeline.step(m, d, k)
            steps, seen = steps + k, d
        probe = support.evaluated(m, d, forces=True)
    roots = np.asarray(m.tree_bodyadr)
    found = support.forces(m, probe)
    return Settled(
        settled=not moving.any(), time=steps * float(m.opt.timestep), steps=steps, moving=_places(moving, roots),
        waiting=_places(awake & ~moves & ~left, roots), left=_places(left, roots),
        deepest=support.inside(m, probe, 0.0).rows(slice(1)), forces=found, support=support.of_contacts(found),
    )  # fmt: skip


def warn_of_overlaps(found):
    """Warns of Overlaps at the start, if there are any."""
    if len(found):
        warnings.warn(f"at the start {found}", OverlapWarning, stacklevel=3)


@contextlib.contextmanager
def _sleeping(m, tolerance):
    """The sleep flag and tolerance are set meanwhile."""
    kept = dict(enableflags=int(m.opt.enableflags), sleep_tolerance=float(m.opt.sleep_tolerance))
    wanted = dict(kept, enableflags=kept["enableflags"] | int(mjtEnableBit.mjENBL_SLEEP))
    if tolerance is not None:
        wanted["sleep_tolerance"] = tolerance
    try:
        _set(m, wanted)
        yield
    finally:
        _set(m, kept)


def _set(m, options):
    for name, value in options.items():
        if getattr(m.opt, name) != value:
            setattr(m.opt, name, value)


def _awake(m, d):
    """Two (nworld, ntree): whether a tree is awake; whether it moves and so keeps its island awake, or moved within the
    steps that are counted to rest. Of what may not sleep, and is never counted, whether it moves now."""
    count = d.host("tree_asleep").reshape(d.nworld, m.ntree)
    awake, moves = count < 0, count < READY
    may_not = np.isin(np.asarray(m.tree_sleep_policy), [k for k in range(8) if asleep.NEVER_SLEEPS >> k & 1])
    if may_not.any():
        fast = np.abs(d.host("qvel").reshape(d.nworld, m.nv)) * np.asarray(m.dof_length) > float(m.opt.sleep_tolerance)
        tree = np.zeros((d.nworld, m.ntree), bool)
        np.logical_or.at(tree, (slice(None), np.asarray(m.dof_treeid)), fast)
        moves &= tree | ~may_not
    return awake, moves


def _left(m, d, below, box):
    """(nworld, ntree) whether the first body of a tree is outside of the scene."""
    pos = d.host("xpos").reshape(d.nworld, m.nbody, 3)[:, np.asarray(m.tree_bodyadr)]
    out = np.zeros(pos.shape[:2], bool)
    if below is not None:
        out |= pos[..., 2] < below
    if box is not None:
        out |= ((pos < box[0]) | (pos > box[1])).any(-1)
    return out & (d.host("tree_asleep").reshape(out.shape) != asleep.GONE)


def _places(where, bodies):
    world, tree = np.nonzero(where)
    return np.column_stack([world, bodies[tree]])


def _box(box):
    try:
        corners = floats("box", box)
    except ValuesError:
        corners = np.empty(0)
    if corners.shape != (2, 3) or not np.isfinite(corners).all() or (corners[0] > corners[1]).any():
        raise Error(f"box={brief(box)}: expected two corners ((x, y, z), (x, y, z)), the lower one first")
    return corners
