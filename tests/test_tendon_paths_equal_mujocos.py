"""Lengths and moments of tendons are MuJoCo's in any pose: round spheres and cylinders, inside, over pulleys."""

import mujoco
import numpy as np
import pytest

from tisim import Model
from tisim.mjcf.reference.kinematics import pose
from tisim.mjcf.reference.tendon_path import tendon_moment


def numbers(rng, n, low=-1.0, high=1.0):
    return " ".join(f"{x:.6g}" for x in rng.uniform(low, high, n))


def random_model(rng, ntendon=150):
    """Tendons from the world to a chain of bodies with all joints, each round its own geom, many with a side site."""
    fixed, moving, tendons = "", "", ""
    for i in range(ntendon):
        kind = rng.choice(["sphere", "cylinder"])
        geom = f'<geom name="g{i}" type="{kind}" size="{numbers(rng, 2, 0.05, 0.8)}" mass="1" quat="{numbers(rng, 4)}"'
        geom = f'{geom} pos="{numbers(rng, 3, -0.3, 0.3)}"/>'
        near = 1.0 if rng.random() < 0.5 else 0.3
        geom += f'<site name="s{i}" pos="{numbers(rng, 3, -near, near)}"/><site name="b{i}" pos="{numbers(rng, 3)}"/>'
        if rng.random() < 0.5:
            fixed += geom
        else:
            moving += geom
        moving += f'<site name="a{i}" pos="{numbers(rng, 3)}"/>'
        side = f'sidesite="s{i}"' if rng.random() < 0.7 else ""
        wrap = f'<site site="a{i}"/><geom geom="g{i}" {side}/><site site="b{i}"/>'
        pulley = f'<pulley divisor="{rng.uniform(0.5, 3):.3g}"/>' if rng.random() < 0.5 else ""
        tendons += f'<spatial>{wrap}{pulley}<site site="end"/><site site="a{i}"/></spatial>'
    tendons += '<fixed><joint joint="h" coef="2"/><joint joint="s" coef="-1"/></fixed>'
    joints = f'<joint type="slide" name="s" axis="{numbers(rng, 3)}"/>'
    joints += f'<joint name="h" axis="{numbers(rng, 3)}" pos=".1 0 0"/>'
    ball = f'<body pos=".2 0 0"><joint type="ball" pos="{numbers(rng, 3)}"/><geom size=".1"/><site name="end"/></body>'
    free = f'<body><freejoint/><geom size=".1"/><body quat="{numbers(rng, 4)}">{joints}{moving}{ball}</body></body>'
    return f"<mujoco><worldbody>{fixed}{free}</worldbody><tendon>{tendons}</tendon></mujoco>"


@pytest.mark.parametrize("seed", range(3))
def test_random_paths_in_random_poses(seed):
    rng = np.random.default_rng(seed)
    text = random_model(rng)
    ours, theirs = Model.from_xml_string(text), mujoco.MjModel.from_xml_string(text)
    arrays = {name: np.asarray(value) for name, value in ours._arrays.items()}
    d = mujoco.MjData(theirs)
    wraps = set()
    for _ in range(4):
        d.qpos[:] = rng.normal(size=theirs.nq)
        mujoco.mj_normalizeQuat(theirs, d.qpos)
        mujoco.mj_fwdPosition(theirs, d)
        wraps |= set(d.ten_wrapnum.tolist())
        length, rows, cols, values = tendon_moment(arrays, pose(arrays, d.qpos.copy()))
        moment = np.zeros((theirs.ntendon, theirs.nv))
        moment[rows, cols] = values
        np.testing.assert_allclose(length, d.ten_length, rtol=1e-11)
        np.testing.assert_allclose(moment, dense(theirs, d), atol=1e-10)
    assert len(wraps) > 2  # some paths touch their geoms, some do not


def dense(m, d):
    """ten_J (ntendon, nv), however MuJoCo stores it."""
    if not mujoco.mj_isSparse(m):
        return d.ten_J.reshape(m.ntendon, m.nv)
    out, values, columns = np.zeros((m.ntendon, m.nv)), d.ten_J.ravel(), d.ten_J_colind.ravel()
    for i, (start, n) in enumerate(zip(d.ten_J_rowadr, d.ten_J_rownnz)):
        out[i, columns[start : start + n]] = values[start : start + n]
    return out


def test_moments_are_the_gradient_of_the_lengths():
    """Central differences by the dofs, in a pose where nothing starts or stops to touch."""
    text = random_model(np.random.default_rng(7), 20)
    arrays = {name: np.asarray(value) for name, value in Model.from_xml_string(text)._arrays.items()}
    m = mujoco.MjModel.from_xml_string(text)
    qpos = np.array(arrays["qpos0"])
    length, rows, cols, values = tendon_moment(arrays, pose(arrays, qpos))
    moment = np.zeros((m.ntendon, m.nv))
    moment[rows, cols] = values
    step = 1e-6
    for dof in range(m.nv):
        lengths = []
        for sign in (1, -1):
            moved, velocity = qpos.copy(), np.zeros(m.nv)
            velocity[dof] = sign * step
            mujoco.mj_integratePos(m, moved, velocity, 1)
            lengths.append(tendon_moment(arrays, pose(arrays, moved))[0])
        np.testing.assert_allclose((lengths[0] - lengths[1]) / (2 * step), moment[:, dof], atol=2e-4)
