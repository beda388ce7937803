"""NumPy, torch and jax look at the arrays of a Data by DLPack: no copy is made, and steps read what they write."""

import copy

import numpy as np
import pytest
from shared.arm_and_ball import XML

import tisim


def torch_view(a):
    return pytest.importorskip("torch").from_dlpack(a)


CONSUMERS = dict(numpy=np.from_dlpack, torch=torch_view)


def model(sleep=False):
    m = tisim.Model.from_xml_string(XML)
    m.opt.enableflags |= int(tisim.mjtEnableBit.mjENBL_SLEEP) * sleep
    return m


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_a_control_written_outside_is_read_by_the_next_step(consumer):
    m = model()
    d, wanted = tisim.Data(m, nworld=3), tisim.Data(m, nworld=3)
    ctrl, qpos = CONSUMERS[consumer](d.ctrl), CONSUMERS[consumer](d.qpos)
    assert tuple(ctrl.shape) == (3, 1) and tuple(qpos.shape) == (3, m.nq)
    for k in range(5):
        ctrl[1, 0] = 3.0 + k
        wanted.ctrl[1, 0] = 3.0 + k
        for x in (d, wanted):
            tisim.step(m, x, 3)
    assert d.ctrl[1, 0] == 7 and d.qvel[1, 0] != d.qvel[0, 0]
    assert np.array_equal(d.qpos, wanted.qpos) and np.array_equal(np.asarray(qpos), wanted.qpos)


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_a_view_stays_one_across_resets_and_longer_lists(consumer):
    m = tisim.Model.from_scene("pile", n=20)
    d = tisim.Data(m, capacity=dict(nconmax=1))
    qpos, xpos = CONSUMERS[consumer](d.qpos), CONSUMERS[consumer](d.xpos)
    tisim.step(m, d, 60)
    assert d.ncon > 1 and np.array_equal(np.asarray(qpos), d.qpos) and np.array_equal(np.asarray(xpos), d.xpos)
    tisim.reset(m, d)
    assert np.array_equal(np.asarray(qpos), m.qpos0)


def test_one_world_is_shared_alone():
    m = model()
    d = tisim.Data(m, nworld=3)
    np.from_dlpack(d.world(2).ctrl)[0] = 5
    assert np.asarray(d.ctrl).ravel().tolist() == [0, 0, 5]


def test_what_is_written_outside_wakes_sleepers():
    m = model(sleep=True)
    d = tisim.Data(m)
    push = np.from_dlpack(d.xfrc_applied)
    tisim.step(m, d, 200)
    assert d.tree_asleep[1] >= 0
    push[2, 0] = 2.0
    tisim.step(m, d)
    assert d.tree_asleep[1] < 0 and d.joint(1).qpos[0] > 3


def test_a_step_keeps_its_bits_where_arrays_are_shared():
    m = model(sleep=True)
    a, b = tisim.Data(m), tisim.Data(m)
    for name in ("qpos", "qvel", "xfrc_applied", "qfrc_applied"):
        np.from_dlpack(getattr(a, name))
    for x in (a, b):
        x.qvel[1] = 1
        tisim.step(m, x, 300)
    assert np.array_equal(a.qpos, b.qpos) and np.array_equal(a.tree_asleep, b.tree_asleep)


def test_what_is_read_otherwise_is_a_copy():
    m = model()
    d = tisim.Data(m)
    ctrl, kept, other = np.from_dlpack(d.ctrl), np.asarray(d.ctrl), copy.copy(d)
    ctrl[0] = 1
    assert kept[0] == 0 == other.ctrl[0] and d.ctrl[0] == 1


def test_jax_reads_without_a_copy():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    m = model()
    d = tisim.Data(m, nworld=2)
    tisim.step(m, d, 3)
    seen = jax.dlpack.from_dlpack(d.xpos)
    assert seen.shape == d.xpos.shape and np.array_equal(seen, d.xpos)
    assert seen.unsafe_buffer_pointer() == np.from_dlpack(d.xpos).ctypes.data
