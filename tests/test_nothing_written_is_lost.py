"""What a user writes acts or is refused with a clear error; NaN and infinite inputs reset their world."""

import gc

import numpy as np
import pytest
from shared import golden
from taichi.lang._ndarray import Ndarray

import tisim
from tisim import scenes
from tisim.enums import mjtWarning


@pytest.fixture(scope="module")
def pile():
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(scenes.build("pile", n=30))
    d = tisim.Data(m)
    tisim.step(m, d, 300)
    return m, d, tisim.get_state(m, d)


@pytest.mark.parametrize("dense", [90, 0])
@pytest.mark.parametrize("name", ["qfrc_applied", "xfrc_applied", "qacc_warmstart"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_forces_on_touching_bodies_reset(pile, name, value, dense):
    m, _, state = pile
    d = tisim.Data(m)
    tisim.set_state(m, d, state)
    getattr(d, name)[(3, 1) if name == "xfrc_applied" else 3] = value
    with golden.force(dense_up_to=dense):
        tisim.step(m, d)
    assert d.warning[mjtWarning.mjWARN_BADQACC].number == 1
    assert np.isfinite(d.qpos).all() and d.time == m.opt.timestep


def test_writing_in_place():
    m = tisim.Model.from_xml_string(scenes.build("pile", n=3))
    d = tisim.Data(m)
    d.qvel += 1
    d.qvel *= 3
    assert (d.qvel[:] == 3).all()
    for wrong in (lambda: d.qvel.fill(0), lambda: d.qvel[:2].fill(0), lambda: d.qvel.sort()):
        with pytest.raises(ValueError, match="read-only"):
            wrong()
    with pytest.raises(AttributeError, match="qposs"):
        d.qposs = 1
    for nstep in (-1, 1.5, None):
        with pytest.raises(tisim.Error, match="nstep"):
            tisim.step(m, d, nstep)
    with pytest.raises(tisim.Error, match="another Model"):
        tisim.step(tisim.Model.from_xml_string(scenes.build("pile", n=4)), d)


def test_model_arrays_written_by_numpy_functions():
    m = tisim.Model.from_xml_string(scenes.build("pile", n=3))
    m.device("geom_friction")
    np.copyto(m.geom_friction, 0.5)
    assert "geom_friction" in m._changed
    m.device("geom_friction")
    m.geom_friction.flat[0] = 0.25
    assert "geom_friction" in m._changed


def test_old_data_after_another_start():
    m = tisim.Model.from_xml_string(scenes.build("pile", n=3))
    d = tisim.Data(m)
    tisim.init(arch="cpu", precision="f32")
    try:
        for use in (lambda: d.qpos[0], lambda: d.ncon, lambda: tisim.reset(m, d), lambda: tisim.step(m, d)):
            with pytest.raises(tisim.Error, match="make a new Data"):
                use()
    finally:
        tisim.init(arch="cpu", precision="f64")


def test_no_array_outlives_its_taichi(monkeypatch):
    """One that died after another start would free what then lies at its old address."""
    monkeypatch.setenv("TISIM_NATIVE", "0")  # where Taichi compiles, it makes arrays of its own
    m = tisim.Model.from_xml_string(scenes.build("pile", n=3))
    tisim.step(m, tisim.Data(m))

    def alive():
        return sum(issubclass(type(o), Ndarray) and o.arr is not None for o in gc.get_objects())

    gc.disable()  # garbage that is still there is the dangerous kind
    try:
        tisim.init(arch="cpu", precision="f32")
        tisim.step(m, tisim.Data(m))
        assert alive() > 0
        tisim.init(arch="cpu", precision="f64")
        assert alive() == 0
    finally:
        gc.enable()
        monkeypatch.undo()
        tisim.init(arch="cpu", precision="f32")
        tisim.init(arch="cpu", precision="f64")


@pytest.mark.parametrize("friction", [0.01, 0.001, 0.0])
def test_slippery_piles_converge(friction):
    """Pyramids of little friction are far stiffer than the bodies; a large island is solved all the same."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(scenes.build("pile", n=40))
    m.geom_friction[:] = friction
    d = tisim.Data(m)
    tisim.step(m, d, 150)
    assert np.abs(d.qvel[:]).max() < 100 and d.qpos[:].reshape(-1, 7)[:, 2].min() > 0.03
