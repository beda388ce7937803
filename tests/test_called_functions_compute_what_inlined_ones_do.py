"""A function that is called (tisim/device/called.py) computes the bits of an inlined one, on both roads: with structs,
numbers and flags as arguments, vectors as results, loops and calls within. It stays a function in the machine code,
for models with its feature only, and Newton's kernel has its long ones so."""

import re

import numpy as np
import pytest
import taichi as ti
from shared.roads import need_machine_code

import tisim
from tisim.device import launch, native, runtime
from tisim.device.bundle import func
from tisim.device.called import called
from tisim.device.variant import kernel


def kernel_of(mark):
    """A kernel with a function, of which another is a part, both marked so."""
    vec3 = ti.types.vector(3, ti.f64)

    @ti.dataclass
    class Span:
        begin: ti.i32
        end: ti.i32

    @ti.func
    def limited(x):
        y = x
        if x > 3.0:
            for _ in range(2):
                y = 0.5 * y
        return y

    @mark
    def kick(m, d, i: ti.i32, much: ti.f64) -> ti.f64:
        k = 0
        while k < 3:
            d.qvel[i] = d.qvel[i] * 1.1 + much * m.opt.timestep
            k += 1
        return limited(d.qvel[i])

    @mark
    def wander(m, d, span: Span, twice: ti.u1, much: ti.f64) -> vec3:
        sums = vec3(0.0)
        for i in range(span.begin, span.end):
            sums[i % 3] += kick(m, d, i, much)
            if twice and not d.qvel[i] > 0.5:
                sums += d.qfrc_applied[i] * kick(m, d, i, -0.3 * much)
        return sums

    @kernel
    def act(m, d):
        for _ in range(1):
            x = wander(m, d, Span(begin=0, end=m.nv), d.nworld == 1, 2.0)
            for k in ti.static(range(3)):
                d.qfrc_applied[k] = x[k]

    return act


@pytest.fixture(scope="module", autouse=True)
def started():
    tisim.init(arch="cpu", precision="f64")


def data_of(scene):
    m = tisim.Model.from_scene(scene, n=3)
    d = tisim.Data(m)
    d.qvel[:] = np.linspace(-1, 1, m.nv)
    d.qfrc_applied[:] = np.linspace(0.1, 0.3, m.nv)
    return m, d


@pytest.mark.parametrize("scene", ["arms", "dominos"])
def test_a_called_function_computes_the_same(scene):
    found = []
    for mark in (called("jointed"), func):
        m, d = data_of(scene)
        assert m.features().jointed == (scene == "arms")
        launch.run(m, d, [kernel_of(mark)], parallel=False)
        found.append([*np.array(d.qvel), *np.array(d.qfrc_applied)])
    assert found[0] == found[1] and len(set(found[0])) > 5


@pytest.mark.parametrize("scene, number", [("arms", 2), ("dominos", 0)])
def test_it_stays_a_function_for_models_with_its_feature(scene, number, monkeypatch):
    need_machine_code()
    m, _ = data_of(scene)
    texts, plain = [], native.promises.promise
    monkeypatch.setattr(native.promises, "promise", lambda *a: texts.append(plain(*a)) or texts[-1])
    variant = kernel_of(called("jointed")).variant(True, m.features())
    record = native._make(variant, native.road().target)
    assert len(record.tasks) == 1 and len(variant.arguments.called) == number
    for f in variant.arguments.called.values():
        (define,) = re.findall(rf"^define internal .*@{f.name}_\d+_0\(.*$", texts[0], re.M)
        assert "noinline" in define
        assert re.search(rf"call fastcc .*@{f.name}_\d+_0\(", texts[0])


def test_newtons_long_functions_are_called():
    m = tisim.Model.from_scene("ragdolls", n=2)
    variant = runtime.kernels("solver.newton").solve_islands.variant(True, m.features())
    variant.compiled()
    assert {f.__name__ for f in variant.arguments.called} >= {"factored_direction", "solve_linear", "factor_halves"}
