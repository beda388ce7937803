"""State vectors take any parts in any way and give them back bit for bit; a state that is saved, copied or moved to
another process with another number of threads goes on to the same bits. extract_state, copy_state and set_keyframe do
what MuJoCo 3.4.0's functions do."""

import functools
import os
import subprocess
import sys

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tisim
from tisim import mjtState

WHOLE = int(mjtState.mjSTATE_INTEGRATION)
# something in each part of the state that is simulated
XML = """<mujoco><size nuserdata="3"/><option timestep=".005"/><worldbody><geom type="plane" size="3 3 .1"/>
<body mocap="true" pos="1 0 .3"><geom type="box" size=".2 .2 .2"/></body>
<body pos="0 0 1"><joint axis="0 1 0" range="-60 60" limited="true" frictionloss=".01"/>
<geom type="capsule" size=".05 .2"/>
<body pos="0 0 -.3"><joint type="ball"/><geom type="box" size=".05 .05 .2"/></body></body>
<body pos="1 0 .7"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="1.05 0 1"><freejoint/><geom type="capsule" size=".1 .1"/></body></worldbody>
<keyframe><key name="home" time="1"/><key qpos=".1 1 0 0 0 1 0 .7 1 0 0 0 1 0 2 1 0 0 0"/></keyframe></mujoco>"""


@functools.cache
def models():
    tisim.init(arch="cpu", precision="f64")
    return tisim.Model.from_xml_string(XML), mujoco.MjModel.from_xml_string(XML)


sigs = st.integers(0, WHOLE)
numbers = st.floats(-1e6, 1e6)


@settings(max_examples=60, deadline=None)
@given(st.data(), sigs, st.integers(1, 3))
def test_what_is_set_is_got(data, sig, nworld):
    m, _ = models()
    d = tisim.Data(m, nworld=nworld)
    before = np.atleast_2d(tisim.get_state(m, d, WHOLE))
    size = tisim.state_size(m, sig)
    one = data.draw(st.booleans())
    values = np.array(data.draw(st.lists(numbers, min_size=size, max_size=size)))
    state = values if one else np.stack([values + w for w in range(nworld)])
    tisim.set_state(m, d, state if nworld > 1 or one else state[0], sig)
    after = np.atleast_2d(tisim.get_state(m, d, sig))
    assert np.array_equal(after, np.broadcast_to(np.atleast_2d(state), after.shape))
    rest = WHOLE & ~sig
    assert np.array_equal(np.atleast_2d(tisim.get_state(m, d, rest)), tisim.extract_state(m, before, WHOLE, rest))


@settings(max_examples=60, deadline=None)
@given(sigs, sigs, st.integers(0, 1000))
def test_extracted_and_copied_parts_are_mujocos(a, b, seed):
    (m, mm), rng = models(), np.random.default_rng(seed)
    state = rng.normal(size=mujoco.mj_stateSize(mm, a))
    assert tisim.state_size(m, a) == state.size
    out = np.zeros(mujoco.mj_stateSize(mm, a & b))
    mujoco.mj_extractState(mm, state, a, out, a & b)
    assert np.array_equal(tisim.extract_state(m, state, a, a & b), out)
    if b & ~a:
        with pytest.raises(tisim.Error, match="srcsig"):
            tisim.extract_state(m, state, a, b)
    whole = rng.normal(size=tisim.state_size(m, WHOLE))
    src, dst, ss, dd = tisim.Data(m), tisim.Data(m, nworld=2), mujoco.MjData(mm), mujoco.MjData(mm)
    tisim.set_state(m, src, whole)
    mujoco.mj_setState(mm, ss, whole, WHOLE)
    tisim.copy_state(m, src, dst, a)
    mujoco.mj_copyState(mm, ss, dd, a)
    theirs = np.zeros(whole.size)
    mujoco.mj_getState(mm, dd, theirs, WHOLE)
    assert np.allclose(tisim.get_state(m, dst), theirs, rtol=0, atol=1e-15)


def test_keyframes_are_written_as_mujocos():
    m, mm = models()
    d, dd = tisim.Data(m, nworld=2), mujoco.MjData(mm)
    state = np.random.default_rng(0).normal(size=tisim.state_size(m, WHOLE))
    tisim.set_state(m, d, np.stack([0 * state, state]))
    mujoco.mj_setState(mm, dd, state, WHOLE)
    mujoco.mj_setKeyframe(mm, dd, 0)
    tisim.set_keyframe(m, d, "home", world=1)
    for name in "time qpos qvel act ctrl mpos mquat".split():
        assert np.array_equal(getattr(m, f"key_{name}"), getattr(mm, f"key_{name}")), name
    tisim.reset_keyframe(m, d, 0, worlds=0)
    mujoco.mj_resetDataKeyframe(mm, dd, 0)
    assert np.array_equal(np.asarray(d.qpos)[0], dd.qpos) and np.array_equal(np.asarray(d.mocap_quat)[0], dd.mocap_quat)
    for wrong in (lambda: tisim.set_keyframe(m, d, 2), lambda: tisim.set_keyframe(m, d, "hom"),
                  lambda: tisim.set_keyframe(m, d, 0, None), lambda: tisim.set_keyframe(m, d, 0, 2)):  # fmt: skip
        with pytest.raises(tisim.Error):
            wrong()


def push(d, k):
    """What a user changes on the way."""
    if k % 20 == 7:
        d.mocap_pos[..., 2] += 0.01
        d.qfrc_applied[..., 0] = 0.1 * k
        d.xfrc_applied[..., 5, 2] = 3.0


def test_a_saved_state_goes_on_to_the_same_bits():
    """From each of some moments, in a fresh Data, in one that was elsewhere, and in worlds beside others."""
    m, _ = models()
    d, used = tisim.Data(m), tisim.Data(m, nworld=3)
    saved = {}
    for k in range(120):
        if k % 30 == 10:
            saved[k] = tisim.get_state(m, d)
        push(d, k)
        tisim.step(m, d)
    assert d.ncon
    end = tisim.get_state(m, d)
    for start, state in saved.items():
        fresh = tisim.Data(m)
        tisim.set_state(m, fresh, state)
        tisim.copy_state(m, fresh, used)
        used.qpos[0, 0] += 0.3
        for k in range(start, 120):
            for other in (fresh, used):
                push(other, k)
                tisim.step(m, other)
        assert np.array_equal(tisim.get_state(m, fresh), end)
        assert all(np.array_equal(x, end) for x in tisim.get_state(m, used)[1:])


GO_ON = """
import sys, numpy as np, tisim
tisim.init(arch="cpu", precision="f64")
m = tisim.Model.from_scene("pile", n=60)
d = tisim.Data(m, nworld=2)
tisim.set_state(m, d, np.load(sys.argv[1]))
tisim.step(m, d, 40)
np.save(sys.argv[2], tisim.get_state(m, d))
"""


def test_it_goes_on_in_other_processes_with_other_threads(tmp_path):
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("pile", n=60)
    d = tisim.Data(m, nworld=2)
    tisim.step(m, d, 60)
    np.save(tmp_path / "state.npy", tisim.get_state(m, d))
    tisim.step(m, d, 40)
    assert min(d.ncon) > 10
    for threads in ("1", "2"):
        out = tmp_path / f"{threads}.npy"
        done = subprocess.run([sys.executable, "-c", GO_ON, str(tmp_path / "state.npy"), str(out)],
                              env=dict(os.environ, TISIM_THREADS=threads), capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert np.array_equal(np.load(out), tisim.get_state(m, d)), threads
