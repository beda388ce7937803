"""tisim.rollout takes mujoco.rollout's arguments and gives its states and sensor data, whatever the chunks."""

import mujoco
import numpy as np
import pytest
from mujoco import rollout as reference

import tisim
from tisim import rollout

XML = """<mujoco><option timestep=".01"/><worldbody><geom type="plane" size="5 5 1"/>
  <body name="hand" mocap="true" pos="0 2 1"><geom size=".1"/></body>
  <body pos="0 0 1"><joint name="a" type="hinge" axis="0 1 0" damping=".1"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
    <body pos=".3 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body>
  </body>
  <body name="ball" pos="0 1 .3"><freejoint/><geom size=".1"/></body></worldbody>
  <actuator><motor joint="a"/><general joint="b" gear="2" dyntype="filter" dynprm=".1"/></actuator>
  <sensor><jointpos joint="a"/><framelinvel objtype="body" objname="ball"/><actuatorfrc actuator="motor"/></sensor>
</mujoco>""".replace('<motor joint="a"/>', '<motor name="motor" joint="a"/>')
FULL = int(tisim.mjtState.mjSTATE_FULLPHYSICS)
NBATCH, NSTEP = 5, 30


@pytest.fixture(scope="module")
def both():
    m, mm = tisim.Model.from_xml_string(XML), mujoco.MjModel.from_xml_string(XML)
    return m, mm, mujoco.MjData(mm)


def inputs(m, nbatch=NBATCH, nstep=NSTEP, spec=tisim.mjtState.mjSTATE_CTRL):
    rng = np.random.default_rng(0)
    start = np.tile(tisim.get_state(m, tisim.Data(m), FULL), (nbatch, 1))
    start[:, 1:3] += rng.normal(size=(nbatch, 2))
    control = rng.normal(size=(nbatch, nstep, tisim.state_size(m, int(spec))))
    return start, control


def equal(found, wanted, tolerance=1e-9):
    for a, b in zip(found, wanted):
        assert a.shape == b.shape and a == pytest.approx(b, abs=tolerance)


@pytest.mark.parametrize("one_start, one_control, one_step", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)])
def test_states_and_sensors_are_mujocos(both, one_start, one_control, one_step):
    m, mm, md = both
    start, control = inputs(m)
    start = start[:1] if one_start else start
    control = control[:1] if one_control else control
    control = control[:, :1] if one_step else control
    nstep = NSTEP if one_step else None
    equal(rollout.rollout(m, None, start, control, nstep=nstep), reference.rollout(mm, md, start, control, nstep=nstep))


def test_controls_may_hold_forces_and_mocap_poses(both):
    m, mm, md = both
    spec = int(tisim.mjtState.mjSTATE_CTRL | tisim.mjtState.mjSTATE_QFRC_APPLIED | tisim.mjtState.mjSTATE_MOCAP_POS
               | tisim.mjtState.mjSTATE_MOCAP_QUAT)  # fmt: skip
    start, control = inputs(m, spec=spec)
    equal(rollout.rollout(m, None, start, control, control_spec=spec),
          reference.rollout(mm, md, start, control, control_spec=spec), 1e-6)  # fmt: skip


def test_warm_starts_and_no_controls(both):
    m, mm, _ = both  # MuJoCo takes the controls that are left in its data
    start, _ = inputs(m)
    warm = np.random.default_rng(1).normal(size=(NBATCH, m.nv))
    equal(rollout.rollout(m, None, start, nstep=NSTEP, initial_warmstart=warm),
          reference.rollout(mm, mujoco.MjData(mm), start, nstep=NSTEP, initial_warmstart=warm))  # fmt: skip
    assert rollout.rollout(m, None, start[0])[0].shape == (1, 1, start.shape[1])


def test_a_trajectory_that_diverges_stays_as_it_was(both):
    m, mm, md = both
    start, control = inputs(m)
    start[2, 1 + m.nq] = 1e11
    control[3, 7, 0] = 1e12
    with pytest.warns(tisim.DivergedWarning):
        found = rollout.rollout(m, None, start, control)
    equal(found, reference.rollout(mm, md, start, control))
    assert np.array_equal(found[0][3, 8], found[0][3, -1]) and not np.array_equal(found[0][4, 8], found[0][4, -1])


def test_a_start_that_is_no_state_ends_its_own_trajectory_only(both):
    """Unlike tisim.set_state, which refuses a time of nan."""
    m, mm, md = both
    start, control = inputs(m)
    start[1], start[3, 0] = np.nan, np.nan
    with pytest.warns(tisim.DivergedWarning):
        found = rollout.rollout(m, None, start, control)
    wanted = reference.rollout(mm, md, start, control)
    for a, b in zip(found, wanted):
        assert a.shape == b.shape and np.allclose(a, b, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("part, bad", [("POS", 0), ("QUAT", 0), ("QUAT", 2)])
def test_a_mocap_body_that_is_nowhere_ends_the_trajectory_of_what_it_holds(part, bad):
    """Once an orientation of nan was that of the world, and what was welded to it went on."""
    text = XML.replace("<actuator>", '<equality><weld body1="hand" body2="ball"/></equality><actuator>')
    m, mm = tisim.Model.from_xml_string(text), mujoco.MjModel.from_xml_string(text)
    spec = int(tisim.mjtState[f"mjSTATE_MOCAP_{part}"])
    start, control = inputs(m, 3, 6, spec)
    control[...] = (0, 2, 1) if part == "POS" else (1, 0, 0, 0)
    control[1, 3, bad] = np.nan
    with pytest.warns(tisim.DivergedWarning):
        found = rollout.rollout(m, None, start, control, control_spec=spec)
    equal(found, reference.rollout(mm, mujoco.MjData(mm), start, control, control_spec=spec), 1e-6)
    assert np.array_equal(found[0][1, 3], found[0][1, -1]) and not np.array_equal(found[0][0, 3], found[0][0, -1])


def test_chunks_do_not_show(both):
    m = both[0]
    start, control = inputs(m)
    whole = rollout.rollout(m, None, start, control)
    for size in (1, 2, 4):
        for a, b in zip(whole, rollout.rollout(m, None, start, control, chunk_size=size)):
            assert np.array_equal(a, b)


def test_parameters_of_worlds_are_those_of_trajectories_or_refused(both):
    """Once chunks of as many trajectories as a Data has worlds took its parameters over and over, and a rest none."""
    m = both[0]
    start, control = inputs(m)
    masses = np.tile(np.array(m.body_mass), (NBATCH, 1)) * np.linspace(1, 2, NBATCH)[:, None]
    for nworld, size in ((2, 2), (3, 3), (3, None), (NBATCH, 2)):
        d = tisim.Data(m, nworld=nworld)
        d.vary("body_mass", masses[:nworld])
        with pytest.raises(tisim.Error, match="a rollout of another number of worlds would use the model's body_mass"):
            rollout.rollout(m, d, start, control, chunk_size=size)
    d = tisim.Data(m, nworld=NBATCH)
    d.vary("body_mass", masses)
    whole = rollout.rollout(m, d, start, control)[0]
    assert np.array_equal(rollout.rollout(m, d, start, control, chunk_size=NBATCH + 2)[0], whole)
    assert not np.array_equal(whole, rollout.rollout(m, None, start, control)[0])
    with pytest.raises(tisim.Error, match="chunk_size='2': expected a positive number"):
        rollout.rollout(m, d, start, control, chunk_size="2")


def test_a_rollout_object_serves_on_after_another_start():
    """It keeps Data, of which the user knows nothing."""
    m = tisim.Model.from_xml_string(XML)
    with rollout.Rollout() as r:
        for precision in ("f32", "f64"):
            tisim.init(arch="cpu", precision=precision)
            start, control = inputs(m)
            found, wanted = r.rollout(m, None, start, control), rollout.rollout(m, None, start, control)
            assert all(np.array_equal(a, b) for a, b in zip(found, wanted))


def test_memory_that_is_short_makes_chunks(both, monkeypatch):
    m = both[0]
    start, control = inputs(m)
    whole, made = rollout.rollout(m, None, start, control), []

    def data(model, nworld):
        made.append(nworld)
        if nworld > 2:
            raise tisim.CapacityError("too many")
        return tisim.Data(model, nworld=nworld)

    monkeypatch.setattr(rollout, "Data", data)
    assert np.array_equal(rollout.rollout(m, None, start, control)[0], whole[0])
    assert made == [5, 3, 2, 1]


def test_data_are_kept_and_outputs_written_to(both):
    m = both[0]
    start, control = inputs(m)
    whole, d = rollout.rollout(m, None, start, control), tisim.Data(m, nworld=NBATCH)
    state, sensordata = np.empty_like(whole[0]), np.empty_like(whole[1])
    with rollout.Rollout(nthread=2) as r:
        for _ in range(2):
            found = r.rollout(m, None, start, control, state=state, sensordata=sensordata)
            assert found[0] is state and found[1] is sensordata and np.array_equal(state, whole[0])
            assert np.array_equal(sensordata, whole[1])
            state[...] = 0
        kept = dict(r._kept)
        r.rollout(m, d, start, control)
        assert d.time == pytest.approx([0.3] * NBATCH) and r._kept == kept, "the user's Data serves where it fits"
    with pytest.raises(tisim.Error, match="closed"):
        r.rollout(m, None, start)


@pytest.mark.parametrize("change, told", [
    (dict(initial_state=np.zeros((2, 3))), r"initial_state has shape \(2, 3\), expected \(nbatch or 1, "),
    (dict(control=np.zeros((NBATCH, 4, 7))), r"control has shape .* expected \(nbatch or 1, nstep or 1, 2\)"),
    (dict(control=np.zeros((3, 4, 2))), "nbatch: arguments are of different lengths: initial_state 5, control 3"),
    (dict(nstep=0), "nstep=0: expected a positive number"),
    (dict(nstep=7), "nstep: arguments are of different lengths: nstep 7, control 30"),
    (dict(nstep=1), "nstep: arguments are of different lengths: nstep 1, control 30"),
    (dict(state=np.zeros((5, 1, 19))), "nstep: arguments are of different lengths: control 30, state 1"),
    (dict(control_spec=2), "expected bits of mjSTATE_USER"), (dict(initial_state="x"), "initial_state: expected num"),
    (dict(state=np.zeros((5, 2, 2))), "state: expected an array of float64"), (dict(chunk_size=0), "chunk_size=0"),
    (dict(control_spec="ctrl"), "control_spec='ctrl': expected bits"), (dict(control_spec=None), "control_spec=None"),
    (dict(control_spec=32.0), "control_spec=32.0: expected bits of mjSTATE_USER"),
    (dict(initial_state=np.zeros(19, complex)), "initial_state: expected numbers"),
    (dict(initial_state=np.ma.masked_all(19)), "initial_state: expected numbers, got a masked array"),
    (dict(state=np.broadcast_to(0.0, (5, 30, 19))), "state: this array is read-only"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(both, change, told):
    m = both[0]
    start, control = inputs(m)
    arguments = dict(initial_state=start, control=control) | change
    with pytest.raises(tisim.Error, match=told):
        rollout.rollout(m, None, **arguments)


def test_pools_of_threads_and_lists_of_mujocos_work_or_tell(both):
    m, d = both[0], tisim.Data(both[0])
    for nthread in (None, 0, 3):
        with rollout.Rollout(nthread=nthread) as ours, reference.Rollout(nthread=nthread) as theirs:
            assert ours.nthread == theirs.nthread
    for nthread in (-1, 2.5, "x", True):
        with pytest.raises(tisim.Error, match=f"nthread={nthread!r}: expected a number from 0 on"):
            rollout.Rollout(nthread=nthread)
    start, control = inputs(m)
    rollout.rollout(m, None, start, control, persistent_pool=True)
    rollout.shutdown_persistent_pool()
    with pytest.raises(tisim.Error, match=r"data: got 2, .* one tisim\.Data or None, whatever the threads"):
        rollout.rollout(m, [d, d], start)
    with pytest.raises(tisim.Error, match=r"model: got 2, a rollout is of one tisim\.Model; data\.vary"):
        rollout.rollout([m, m], None, start)
