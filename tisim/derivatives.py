"""Derivatives of a step and of inverse dynamics by finite differences: all columns at once, as worlds of one Data.

Each world moves one coordinate; positions move in their tangent space. Where a velocity, an acceleration or a control
is moved, what depends on positions alone is not evaluated again. Seed 000, "Derivatives"; MuJoCo's mjd_transitionFD and
mjd_inverseFD.
"""

import weakref

import numpy as np

from tisim import pipeline
from tisim.data import asleep, given, varied
from tisim.data.data import Data
from tisim.data.state import STATE, write_worlds
from tisim.device import session
from tisim.enums import mjtDisableBit, mjtIntegrator, mjtStage
from tisim.errors import Error, UnsupportedError, brief
from tisim.queries.arguments import flag
from tisim.queries.positions import differentiate_pos, integrate_pos
from tisim.stages.actuation import fwd_actuation

BODIES = 200_000  # bodies of all worlds of a batch, at most: some 300 MB
EPS = dict(f64=1e-6, f32=1e-3)  # error of rounding and of the solver's tolerance against that of the difference
_batches = weakref.WeakKeyDictionary()  # Data -> the batch that was made for it last


def transition_fd(m, d, eps=None, centered=True):
    """Derivatives of a step: with the state x = (position, velocity, activation), the controls u and the sensors y,
    dx_next = A dx + B du and dy = C dx + D du, at the state of d, which is left as it is.

    eps       by how much each number is moved; None: 1e-6 in f64, 1e-3 in f32.
    centered  differences to both sides, of second order and twice the work; else to one.
    Returns A (n, n), B (n, nu), C (nsensordata, n), D (nsensordata, nu) with n = 2 nv + na, with several worlds
    (nworld, ...). Positions are those of the tangent space: nv of them.
    Controls are moved inwards where they stand at a limit.
    The solver's tolerance limits the accuracy; with much smaller ones than 1e-8 the differences are meaningful.
    Raises UnsupportedError for the integrator RK4, as MuJoCo does.
    """
    eps, centered = _start(m, d, eps), flag("centered", centered)
    if m.opt.integrator == mjtIntegrator.mjINT_RK4:
        raise UnsupportedError("transition_fd: integrator RK4 is not supported, as in MuJoCo; use another one")
    found = [_transition(m, _Batch(m, d, w), eps, centered) for w in range(d.nworld)]
    return tuple(_worlds(parts) for parts in zip(*found))


def inverse_fd(m, d, eps=None, actuation=False, centered=False):
    """Derivatives of inverse dynamics by positions q, velocities v and accelerations a, at those of d, which is left as
    it is: of the force f = qfrc_inverse, of the sensors s, of the inertia matrix.

    eps, centered  as for transition_fd.
    actuation      f is qfrc_inverse - qfrc_actuator; sensors of actuators' forces are taken as constant all the same.
    Returns DfDq, DfDv, DfDa (nv, nv), DsDq, DsDv, DsDa (nv, nsensordata), DmDq (nv, nM), with several worlds
    (nworld, ...). As MuJoCo's they are transposed: row i is the change with number i of q, v or a. The inertia matrix
    has MuJoCo's places dof_Madr.
    """
    eps, actuation, centered = _start(m, d, eps), flag("actuation", actuation), flag("centered", centered)
    found = [_inverse(m, _Batch(m, d, w), eps, actuation, centered) for w in range(d.nworld)]
    return tuple(_worlds(parts) for parts in zip(*found))


def _start(m, d, eps):
    given.check(m, d)
    asleep.refuse_removed(d, "derivatives")
    varied.refuse(d, "derivatives")
    pipeline.check(m, d)
    if eps is None:
        return EPS[session.precision]
    if isinstance(eps, bool) or not isinstance(eps, (int, float, np.number)) or not 0 < eps < 1:
        raise Error(f"eps={brief(eps)}: expected a small number above 0")
    return float(eps)


def _worlds(parts):
    return np.stack(parts) if len(parts) > 1 else parts[0]


class _Batch:
    """Worlds that all begin in the state of one world of d; the first stays there."""

    def __init__(self, m, d, world):
        self.m = m
        self.chunk = max(1, min(max(m.nv, m.nu), BODIES // m.nbody))
        batch = _batches.get(d)
        if batch is None or batch._generation != session.generation or batch.nworld != self.chunk + 1:
            batch = _batches[d] = Data(m, self.chunk + 1)
        self.d = batch
        self.state = {name: d.host(name)[world] for name in ("qacc", *(name for _, name in STATE))}
        self.qpos, self.qvel, self.qacc, self.act, self.ctrl = (
            self.state[name].astype(float) for name in ("qpos", "qvel", "qacc", "act", "ctrl")
        )
        for name in self.state:
            self.write(name, self.state[name])

    def write(self, name, values):
        """Values of all worlds, or the same for each."""
        if np.size(values):
            write_worlds(self.d, name, np.arange(self.d.nworld), values)

    def moved(self, name, first, steps):
        """(The array `name`, with the numbers from `first` on moved by these steps in one world each, how many)."""
        base = getattr(self, name)
        size = self.m.nv if name == "qpos" else len(base)
        n = min(self.chunk, size - first)
        moves = np.zeros((self.chunk + 1, size))
        moves[1 + np.arange(n), first + np.arange(n)] = np.broadcast_to(steps, size)[first : first + n]
        if name != "qpos":
            return base + moves, n
        rows = integrate_pos(self.m, np.broadcast_to(base, (self.chunk + 1, len(base))), moves, 1.0)
        rows[0] = base
        return rows, n

    def chunks(self, name):
        """First numbers of the parts into which an array's are divided."""
        return range(0, self.m.nv if name == "qpos" else len(getattr(self, name)), self.chunk)


def _transition(m, batch, eps, centered):
    n, ns = 2 * m.nv + m.na, m.nsensordata
    A, B, C, D = np.zeros((n, n)), np.zeros((n, m.nu)), np.zeros((ns, n)), np.zeros((ns, m.nu))
    where = dict(qpos=(A, C, 0), qvel=(A, C, m.nv), act=(A, C, 2 * m.nv), ctrl=(B, D, 0))
    fresh = True  # nothing was evaluated so far
    for name, known in (("ctrl", mjtStage.mjSTAGE_VEL), ("act", mjtStage.mjSTAGE_VEL), ("qvel", mjtStage.mjSTAGE_POS),
                        ("qpos", mjtStage.mjSTAGE_NONE)):  # fmt: skip
        matrix, sensed, place = where[name]
        up, down = _steps(m, batch, name, eps, centered)
        for first in batch.chunks(name):
            high = _end(m, batch, name, first, up, mjtStage.mjSTAGE_NONE if fresh else known)
            fresh = False
            low = _end(m, batch, name, first, -down, known) if np.any(down) else _first(high)
            columns = np.arange(first, min(first + batch.chunk, len(up)))
            h = (up + down)[columns]
            rows = slice(1, len(columns) + 1)
            change = [differentiate_pos(m, 1.0, low[0], high[0]), *(b - a for a, b in zip(low[1:], high[1:]))]
            with np.errstate(invalid="ignore"):
                change = np.nan_to_num(np.concatenate(change, 1)[rows].T / h)  # 0 where no step was possible
            matrix[:, place + columns], sensed[:, place + columns] = change[:n], change[n:]
    if m.disabled(mjtDisableBit.mjDSBL_SENSOR):  # what stands there is of other states
        C[:], D[:] = 0, 0
    return A, B, C, D


def _steps(m, batch, name, eps, centered):
    """How far each number is moved up and down; controls stay within their ranges."""
    size = m.nv if name in ("qpos", "qvel") else len(batch.state[name])
    up, down = np.full(size, eps), np.full(size, eps * centered)
    if name == "ctrl":
        free, range_ = ~np.asarray(m.actuator_ctrllimited, bool), np.asarray(m.actuator_ctrlrange)
        u = batch.ctrl
        can_rise = free | (u >= range_[:, 0]) & (u + eps <= range_[:, 1])
        can_fall = free | (u - eps >= range_[:, 0]) & (u <= range_[:, 1])
        up, down = np.where(can_rise, eps, 0.0), np.where(can_fall & (centered | ~can_rise), eps, 0.0)
        down = np.where(can_fall | can_rise, down, 0.0)
    return up, down


def _first(end):
    """The first world's state, for all."""
    return tuple(np.broadcast_to(part[:1], part.shape) for part in end)


def _end(m, batch, name, first, steps, known):
    """(qpos, qvel, act, sensordata) after a step with numbers of the array `name`, from `first` on, moved in one world
    each."""
    for word in ("qpos", "qvel", "act", "ctrl", "world_time", "qacc_warmstart"):
        batch.write(word, batch.state[word])
    batch.write(name, batch.moved(name, first, steps)[0])
    pipeline.step_skip(m, batch.d, known)
    return tuple(batch.d.host(word).astype(float) for word in ("qpos", "qvel", "act", "sensordata"))


def _inverse(m, batch, eps, actuation, centered):
    derivatives = {name: np.zeros((m.nv, m.nv)) for name in ("qpos", "qvel", "qacc")}
    sensed = {name: np.zeros((m.nv, m.nsensordata)) for name in derivatives}
    inertia = np.zeros((m.nv, m.nM))
    places = _places_of_inertia(m)
    known = mjtStage.mjSTAGE_NONE
    for name, stage in (("qacc", mjtStage.mjSTAGE_VEL), ("qvel", mjtStage.mjSTAGE_POS), ("qpos", None)):
        for first in batch.chunks(name):
            ends = []
            for step in (eps, -eps) if centered else (eps,):
                rows, count = batch.moved(name, first, step)
                batch.write(name, rows)
                pipeline.inverse_skip(m, batch.d, min(known, stage or 0))
                known = mjtStage.mjSTAGE_VEL
                f = batch.d.host("qfrc_inverse").astype(float)
                if actuation:
                    fwd_actuation(m, batch.d)
                    f -= batch.d.host("qfrc_actuator")
                ends.append((f, batch.d.host("M").astype(float), batch.d.host("sensordata").astype(float)))
            to, (of, h) = ends[0], (ends[1], 2 * eps) if centered else (_first(ends[0]), eps)
            rows = slice(first, first + count)
            derivatives[name][rows] = ((to[0] - of[0]) / h)[1 : count + 1]
            sensed[name][rows] = ((to[2] - of[2]) / h)[1 : count + 1]
            if name == "qpos":
                inertia[rows, places] = ((to[1] - of[1]) / h)[1 : count + 1]
        batch.write(name, batch.state[name])
    forces = np.asarray(m.sensor_adr)[m.derived("accvalue_sensor")]  # of actuators, which inverse dynamics leave alone
    for change in sensed.values():
        change[:, slice(None) if m.disabled(mjtDisableBit.mjDSBL_SENSOR) else forces] = 0
    return (*derivatives.values(), *sensed.values(), inertia)


def _places_of_inertia(m):
    """Place by dof_Madr of each number of M, whose rows end with the diagonal."""
    length = np.asarray(m.M_rownnz)
    row = np.repeat(np.arange(m.nv), length)
    back = np.asarray(m.M_rowadr)[row] + length[row] - 1 - np.arange(m.nC)
    return np.asarray(m.dof_Madr)[row] + back
