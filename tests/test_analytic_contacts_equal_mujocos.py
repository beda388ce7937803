"""Contacts of the shapes with closed forms are MuJoCo 3.4.0's in any pose: their number, depth, point and normal.

f64. Sizes of 0.02, 1 and 5 m with aspect ratios up to 1000; poses at random, deep, touching, flat on each other, almost
so, and on a lattice (tests/poses.py). Numbers and depths differ in fewer than 0.1 % of them, points and normals in 1 %:
only where two faces are equally near or lie in one plane, and rounding decides between them, in either engine.
"""

import numpy as np
import pytest
from poses import apart, sweep

PAIRS = [("plane", shape) for shape in ("sphere", "capsule", "box", "cylinder", "ellipsoid", "mesh")]
PAIRS += [("sphere", shape) for shape in ("sphere", "capsule", "box", "cylinder")]
PAIRS += [("capsule", "capsule"), ("capsule", "box"), ("box", "box")]


def differences(pair, nmodel, npose, seed=0):
    """Number of poses, of those with contacts, of those that differ in number or depth, or in point or normal."""
    depth, place, touching = [], [], 0
    for mine, theirs in sweep(pair, nmodel, npose, seed):
        a, b = apart(mine, theirs)
        depth.append(a > 1e-6)
        place.append(b > 1e-6)
        touching += len(theirs["dist"]) > 0
    return len(depth), touching, int(np.sum(depth)), int(np.sum(place))


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_some_poses(pair):
    count, touching, depth, place = differences(pair, 9, 48)
    assert touching > count // 2
    assert depth <= (pair == ("box", "box"))  # two faces in one plane
    assert place <= 0.01 * count


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_many_poses(pair):
    count, touching, depth, place = differences(pair, 18, 300, seed=1)
    assert touching > count // 2
    assert depth < 0.001 * count
    assert place <= 0.01 * count
