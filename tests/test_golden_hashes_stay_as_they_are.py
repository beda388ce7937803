"""The engine computes, bit for bit, what it did when tests/testdata/golden.csv was written (tests/shared/golden.py).

Contract: hashes of state, contacts, rows, islands and smooth dynamics of every case equal the golden ones of this kind
of processor; where there are none the test is skipped. Serial and parallel loops agree on every kind of processor.
"""

import dataclasses

import numpy as np
import pytest
from shared import golden

import tisim

FAST = [case for case in golden.CASES if case.fast]
SLOW = [case for case in golden.CASES if not case.fast]


def name_of(case):
    return " ".join(case.key)


def compare(case):
    known = golden.golden()
    if not known:
        pytest.skip(f"no golden hashes for the processor kind {golden.processor_kind()}")
    tisim.init(arch="cpu", precision=case.precision)
    assert golden.compute(case) == known[case.key]


@pytest.mark.parametrize("case", FAST, ids=name_of)
def test_fast_cases(case):
    compare(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW, ids=name_of)
def test_all_other_cases(case):
    compare(case)


@pytest.mark.parametrize("case", [golden.Case("pile n=100", 80), golden.Case("golden/everything.xml queries=1", 100)],
                         ids=name_of)  # fmt: skip
def test_one_thread_and_all_compute_the_same(case):
    tisim.init(arch="cpu", precision="f64")
    serial, parallel = (golden.compute(dataclasses.replace(case, variant=v)) for v in ("serial", "parallel"))
    assert serial == parallel


def test_the_table_holds_exactly_the_cases():
    known = golden.golden()
    if not known:
        pytest.skip(f"no golden hashes for the processor kind {golden.processor_kind()}")
    ours = [key for key in known if not key[0].startswith(golden.BY_BENCHMARK)]
    assert sorted(ours) == sorted(case.key for case in golden.CASES)


def test_a_difference_tells_its_part():
    tisim.init(arch="cpu", precision="f64")
    m, d, _ = golden.load(golden.Case("pile n=3", 1))
    tisim.step(m, d)
    before = golden.digest(d)
    d.qvel[2] = np.nextafter(d.qvel[2], 1)
    assert golden.differing(before, golden.digest(d)) == ["state"]
