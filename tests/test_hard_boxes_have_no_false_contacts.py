"""Under dynamics="lcp" no contact of two boxes is deeper than they overlap along its normal.

MuJoCo 3.4.0, which the convex dynamics follows to the digit, has such contacts where two edges meet, by a variable that
its collider uses twice: soft contacts bear it, hard ones would kick.
"""

import numpy as np
import pytest

import tisim

SIZE = np.array([0.08, 0.06, 0.07])
BOX = "<body><freejoint/><geom type='box' size='0.08 0.06 0.07'/></body>"
BOXES = f"<mujoco><worldbody>{BOX * 2}</worldbody></mujoco>"
# two bricks of a heap that touch with an edge each, 0.05 mm deep
POSES = np.array([
    [-0.36402143674458631, -1.1113955486165012, 0.069998012744747498,
     0.99760127833840795, 0.00057652540376999383, 0.0005396465749600395, -0.069217525653606449],
    [-0.55340091094985433, -1.1788864619829962, 0.10582459542820638,
     0.88776651726412759, 0.026750418179293769, -0.45691723871696055, 0.048802283913998858],
])  # fmt: skip


def excess(dynamics, poses):
    """By how much the deepest contact of two boxes at each of these poses is deeper than they overlap [m]."""
    m = tisim.Model.from_xml_string(BOXES)
    m.opt.dynamics, m.opt.gravity = dynamics, [0, 0, 0]
    d = tisim.Data(m, nworld=len(poses))
    d.qpos = poses.reshape(len(poses), -1)
    tisim.forward(m, d) if dynamics == "convex" else tisim.step(m, d)
    world, depth = np.asarray(d.contact.worldid), -np.asarray(d.contact.dist)
    normal = np.asarray(d.contact.frame).reshape(-1, 9)[:, :3]
    turn = np.array([[matrix(q) for q in pair[:, 3:]] for pair in poses])[world]
    reach = (np.abs(np.einsum("nbij,ni->nbj", turn, normal)) @ SIZE).sum(1)
    apart = np.abs(np.einsum("ni,ni->n", (poses[:, 1, :3] - poses[:, 0, :3])[world], normal))
    found = np.zeros(len(poses))
    np.maximum.at(found, world, depth - (reach - apart))
    return found


def matrix(quat):
    """Rotation matrix of a quaternion w x y z."""
    w, v = quat[0], quat[1:]
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * skew + 2 * skew @ skew


@pytest.fixture(scope="module")
def poses():
    """The two bricks, and 300 times moved and turned by about 0.1 mm."""
    tisim.init(arch="cpu", precision="f64")
    moved = POSES + np.random.default_rng(0).normal(size=(300, 2, 7)) * 1e-4
    moved[..., 3:] /= np.linalg.norm(moved[..., 3:], axis=2, keepdims=True)
    return np.concatenate([POSES[None], moved])


def test_hard_ones_are_no_deeper_than_the_boxes_overlap(poses):
    assert excess("lcp", poses).max() < 1e-12


def test_soft_ones_are_mujocos_its_false_ones_too(poses):
    found = excess("convex", poses)
    assert found[0] > 0.19
    assert (found > 0.01).sum() > 5
