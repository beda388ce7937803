"""The inertia matrix M, products and solves with it, and inverse dynamics. Seed 003, "Data layout"; seed 000, "General
framework".

M = L' D L is as the poses were last computed (forward, step). It is stored in the sparsity of the kinematic trees, and
so is its factor: time and memory of all functions but full_m grow with the number of entries there.
"""

import numpy as np

from tisim.device import launch, memory, runtime, session
from tisim.errors import CapacityError, Error
from tisim.stages.dynamics import parallel

from .arguments import flag, numbers, shaped, start

MOST = 2**31 - 1  # numbers of an array, and rounds of a loop


def full_m(m, d):
    """The inertia matrix as a dense array (nv, nv), with several worlds (nworld, nv, nv) [kg, kg m, kg m2].

    Raises CapacityError where the machine has no memory for it; d.M are its entries that can differ from zero.
    """
    start(m, d)
    if 8 * d.nworld * m.nv**2 > memory.most_bytes():
        raise CapacityError(f"a dense inertia matrix of {m.nv} dofs does not fit into memory; use d.M, mul_m, solve_m")
    row = np.repeat(np.arange(m.nv), np.asarray(m.M_rownnz))
    col, values = np.asarray(m.M_colind), d.host("M").astype(float)
    out = np.zeros((d.nworld, m.nv, m.nv))
    out[:, row, col] = values
    out[:, col, row] = values
    return shaped(d, out)


def mul_m(m, d, vec):
    """Product M vec with the inertia matrix.

    vec  (nv,) or (..., nv);  with several worlds (nv,) for all, or (nworld, nv), (nworld, ..., nv).
    Returns an array of that shape, with several worlds (nworld, ..., nv). Raises Error for another shape.
    """
    return _of_vectors(m, d, "vec", vec, "multiply_inertia")


def mul_m2(m, d, vec):
    """Product sqrt(D) L vec with a root of the inertia matrix: its square is vec' M vec. vec as in mul_m."""
    return _of_vectors(m, d, "vec", vec, "multiply_root")


def solve_m(m, d, y):
    """Solution x of M x = y, by the factor of the inertia matrix. y as vec in mul_m."""
    return _of_vectors(m, d, "y", y, "solve_inertia")


def solve_m2(m, d, y):
    """Half of a solve, sqrt(D)^-1 L'^-1 y: its square is y' M^-1 y. y as vec in mul_m."""
    return _of_vectors(m, d, "y", y, "solve_root")


def rne(m, d, flg_acc=True):
    """Recursive Newton-Euler: the joint forces of inverse dynamics, C(qpos, qvel) + M qacc but for armature.

    flg_acc  False: without the part of qacc, which leaves qfrc_bias.
    Returns (nv,), with several worlds (nworld, nv) [N, N m], with d.qacc as it is now, the rest as last computed.
    """
    start(m, d)
    force = d.host("qfrc_bias").astype(float)
    if flag("flg_acc", flg_acc) and m.nv:
        force += _launch(m, d, "inertial_forces", d.nworld * m.nv).reshape(d.nworld, -1)
    return shaped(d, force)


def _of_vectors(m, d, name, value, kernel):
    start(m, d)
    vec = numbers(name, value)
    many = d.nworld > 1
    lead = "(nv,) or (..., nv)" if not many else f"(nv,), ({d.nworld}, nv) or ({d.nworld}, ..., nv)"
    if not vec.ndim or vec.shape[-1] != m.nv or (many and vec.ndim > 1 and vec.shape[0] != d.nworld):
        raise Error(f"{name} has shape {vec.shape}: expected {lead}, nv is {m.nv}")
    if many and vec.ndim == 1:
        vec = np.broadcast_to(vec, (d.nworld, m.nv))
    if vec.size > MOST:
        raise CapacityError(f"{name} has {vec.size} numbers: give fewer than {MOST} at once")
    if not vec.size:
        return np.zeros(vec.shape)
    memory.upload(d.scratch("vec_in", vec.size), vec.reshape(-1).astype(session.numpy_float()))
    nvec = vec.size // (m.nv * d.nworld)
    return _launch(m, d, kernel, vec.size, nvec * d.nworld > 1 and vec.size > 10_000, nvec=nvec).reshape(vec.shape)


def _launch(m, d, kernel, size, worth=False, **scalars):
    """The first numbers of vec_out after a kernel. worth: whether there is work for several threads in any case."""
    out = d.scratch("vec_out", size)
    launch.run(m, d, [getattr(runtime.kernels("queries.inertia"), kernel)], worth or parallel(m, d), **scalars)
    return memory.download(out)[:size].astype(float)
