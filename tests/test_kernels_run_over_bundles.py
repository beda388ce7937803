"""Kernels over the bundles run: what they name is read and written, a launch passes the numbers that are declared as
passed and no others, and Taichi tells mistakes with the lines of the source."""

import inspect
import warnings

import numpy as np
import pytest
import taichi as ti
from shared.toys import clear_first, mass, scale, speed

import tisim
from tisim.device import launch
from tisim.device.variant import Variant, kernel
from tisim.errors import Error
from tisim.model.features import EVERYTHING


@pytest.fixture(scope="module")
def scene():
    m = tisim.Model.from_scene("dominos", n=3)
    tisim.init(arch="cpu")
    return m, tisim.Data(m)


def test_kernels_read_and_write_the_arrays_of_these_names(scene):
    m, d = scene

    @kernel
    def combine(m, d, nray: ti.i32):
        for i in range(1):
            scale(0, 1.0, m.body_mass, d.qvel)
            d.qvel[1] = m.opt.timestep + m.opt.gravity[2]
            d.qvel[2] = nray + d.nworld + m.nbody
            d.xpos[1].y = speed(m, d, 1)
            clear_first(d.xpos[1])

    launch.run(m, d, [combine], parallel=False, nray=5)
    z = float(m.opt.timestep) + m.opt.gravity[2]
    assert np.allclose(np.asarray(d.qvel)[:3], [2 * m.body_mass[0], z, 6 + m.nbody])
    assert np.allclose(d.xpos[1][:2], [0, z])


def test_a_launch_passes_declared_numbers_only(scene):
    m, d = scene

    @kernel
    def count(m, d, nray: ti.i32):
        d.qvel[0] = nray + d.niter

    launch.run(m, d, [count], parallel=False, nray=5, niter=2, skin=0.5)  # others may ask for the skin
    assert d.qvel[0] == 7
    with pytest.raises(Error, match="launch of count: d.nrays is not declared"):
        launch.run(m, d, [count], parallel=False, nray=5, niter=2, nrays=5)
    with pytest.raises(Error, match="launch of count: nworld is no number that launches pass"):
        launch.run(m, d, [count], parallel=False, nray=5, niter=2, nworld=5)
    with pytest.raises(Error, match="launch of count: nobody passes niter"):
        launch.run(m, d, [count], parallel=False, nray=5)


def test_numbers_have_the_types_of_kernels(scene):
    def wrong(m, d, nray: ti.i64):
        d.qvel[0] = nray

    with pytest.raises(Error, match=f"{__file__}:.* nray: i64; a kernel's numbers are FP or ti.i32"):
        Variant(wrong, EVERYTHING)


def test_taichi_tells_the_lines_of_the_source(scene):
    @kernel
    def wrong(m, d):
        for i in range(1):
            d.qvel[i] = speed(m, d, i)
            d.qvel[i] = d.qacc[i] @ 3  # here

    lines, first = inspect.getsourcelines(wrong.function)
    line = first + next(k for k, text in enumerate(lines) if "# here" in text)
    with pytest.raises(ti.TaichiCompilationError) as error:
        wrong.variant(False, EVERYTHING).compiled()
    assert f'File "{__file__}", line {line}, in wrong' in str(error.value)


def test_making_a_kernel_warns_of_nothing(scene):
    @kernel
    def quiet(m, d):
        for i in range(1):
            d.qvel[i] = speed(m, d, i) + mass(m, d, i)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for parallel in (False, True):
            quiet.variant(parallel, EVERYTHING).compiled()
