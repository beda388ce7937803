"""In a settled pile of meshes no pair is deeper than solref and solimp imply for the force and the motion at hand.

Seed 003, "Computation: the constraint model": a contact of depth r, impedance d, stiffness k and damping b is balanced
by R f = k d r - b v - a in each edge of its pyramid, edges that would pull left out. So its depth is at most
(R f / edges + b v + a) / (k d), with f the normal force, v and a the normal velocity and acceleration there.
"""

import importlib.util
import pathlib

import numpy as np
import pytest

import tisim
from tisim.settling.support import evaluated

spec = importlib.util.spec_from_file_location(
    "settle", pathlib.Path(__file__).resolve().parent.parent / "benchmarks" / "settle.py"
)
heaps = importlib.util.module_from_spec(spec)
spec.loader.exec_module(heaps)


def implied(m, d):
    """(depth, the depth that is implied now, that without the motion) of all contacts [m]."""
    contact = d.contact
    first = np.asarray(contact.efc_address)
    held = first >= 0
    edges = first[held, None] + np.arange(4)  # friction of two directions
    assert (np.asarray(contact.dim) == 3).all() and int(m.opt.cone) == 0
    depth = -np.asarray(contact.dist)[held]
    time, ratio = np.asarray(contact.solref)[held].T
    time = np.maximum(time, 2 * m.opt.timestep)  # refsafe
    low, high, width, middle, power = np.asarray(contact.solimp)[held].T
    assert (middle == 0.5).all() and (power == 2).all()
    x = np.minimum(depth / width, 1)
    d_ = low + (high - low) * np.where(x < 0.5, 2 * x**2, 1 - 2 * (1 - x) ** 2)
    k, b = 1 / (high * time * ratio) ** 2, 2 / (high * time)
    r = (1 - d_) / d_ * np.asarray(d.efc_diagApprox)[edges[:, 0]]
    force = r * np.asarray(d.efc_force)[edges].sum(1)
    rows = d.efc_J
    v, a = ((rows @ np.asarray(q, float))[edges].mean(1) for q in (d.qvel, d.qacc))
    return depth, (force / 4 + b * v + a) / (k * d_), force / 4 / (k * d_)


def check(n, timeout):
    m = heaps.scene(n).compile()
    d = tisim.Data(m)
    tisim.settle(m, d, timeout)
    depth, now, still = implied(m, evaluated(m, d))
    assert len(depth) > 3 * n
    assert (depth <= now + 1e-9).all()
    assert np.quantile(depth - still, 0.95) < 5e-4, "stones that hardly move lie as deep as their load says"
    assert depth.max() < 5e-3


def test_a_hundred_stones():
    check(100, 4.0)


@pytest.mark.slow
def test_five_hundred_stones():
    check(500, 8.0)
