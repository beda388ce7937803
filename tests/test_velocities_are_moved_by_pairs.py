"""Numbers of four things that are copied to lie side by side, and back, are moved by pairs, to the same bits; where
something else may happen in between they are copied one by one (tisim/device/transposed.py)."""

import ctypes

import numpy as np
import pytest

from tisim.device import machine_code, transposed

N = 64


def lines_of(moves, between=()):
    """(lines, places) of a function f(a, b) that makes moves [(array, values, number, array, values, number)]: all are
    read, then `between`, then all are written. A place is 8 * (the array's i-th number) + number for values "i"."""
    lines = ["define void @f(double* %a0, double* %a1) {", "entry:"]
    places = {}

    def pointer(array, i, number, name):
        lines.append(f"  {name} = getelementptr double, double* %a{array}, i64 {8 * i + number}")
        places[name] = array, ((f"%v{i}", 8),), number

    for k, (array, i, number, *_) in enumerate(moves):
        pointer(array, i, number, f"%from{k}")
        lines.append(f"  %x{k} = load double, double* %from{k}, align 8, !tbaa !1")
    lines += between
    for k, (*_, array, i, number) in enumerate(moves):
        pointer(array, i, number, f"%to{k}")
        lines.append(f"  store double %x{k}, double* %to{k}, align 8")
    return [*lines, "  ret void", "}"], places


def forth(order=(0, 1, 2, 3)):
    """Two numbers of four things of array 0 to lie side by side in array 1."""
    return [(0, i, 2 + e, 1, 4, 4 * e + k) for e in range(2) for k, i in enumerate(order)]


def back(order=(0, 1, 2, 3), numbers=(2, 3)):
    """Two numbers side by side in array 1 back to four things of array 0."""
    return [(1, 4, 4 * e + k, 0, i, numbers[e]) for k, i in enumerate(order) for e in range(2)]


def changed(lines):
    """What arrays 0 and 1 hold behind the function."""
    llvm = pytest.importorskip("llvmlite.binding")
    text = "\n".join(lines).replace(", !tbaa !1", "")
    machine_code._machine("x86-64")
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    a, b = np.arange(N) + 0.5, -np.arange(N) - 0.25
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(engine.get_function_address("f"))(
        a.ctypes.data, b.ctypes.data
    )
    return a, b


def moved(moves, between=()):
    """Whether they are moved by pairs; both ways change the same."""
    lines, places = lines_of(moves, between)
    new = transposed.transpose(lines, places)
    for one, other in zip(changed(lines), changed(new)):
        np.testing.assert_array_equal(one, other)
    pairs = any("<2 x double>" in line for line in new)
    assert pairs == (not any(" = load double," in line and line.startswith("  %x") for line in new))
    return pairs


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 0, 2, 1)])
def test_four_things_are_moved_by_pairs(order):
    assert moved(forth(order))
    assert moved(back(order))


def test_the_last_of_those_that_are_the_same_is_the_one_that_stays():
    """Two of the four lie at one place, which no name tells."""
    lines, places = lines_of(back((0, 1, 2, 3)))
    for k in (2, 3):  # the second one's numbers are written to the first one's
        at = next(i for i, line in enumerate(lines) if line.startswith(f"  %to{k} = "))
        lines[at] = lines[at].replace(f"i64 {8 + k}", f"i64 {k}")
    new = transposed.transpose(lines, places)
    assert any("<2 x double>" in line for line in new)
    for one, other in zip(changed(lines), changed(new)):
        np.testing.assert_array_equal(one, other)


def test_they_stay_as_they_are_where_they_are_not_alone():
    assert not moved(forth()[:7])
    assert not moved([*forth()[:7], (0, 3, 3, 1, 4, 8)]), "not side by side"
    assert not moved(back(numbers=(3, 4))), "a pair begins with an even number"
    assert not moved([back()[k] for k in (0, 2, 1, 3, 4, 5, 6, 7)]), "another order, which matters where two are one"
    written = ["  store double 1.0, double* %from0, align 8"]
    assert not moved(forth(), written), "what is read is written meanwhile"
    read = ["  %there = getelementptr double, double* %a1, i64 33", "  %y = load double, double* %there, align 8",
            "  store double %y, double* %from0, align 8"]  # fmt: skip
    assert not moved(forth(), read)
    unknown = ["  %there = getelementptr double, double* %a1, i64 33", "  %y = load double, double* %there, align 8"]
    assert not moved(forth(), unknown), "what is read there may be what is written"
    twice = ["  %twice = fadd double %x0, %x0", "  store double %twice, double* %a1, align 8"]
    assert not moved(back(), twice), "a number serves elsewhere, too"
