"""Pictures of each quality have the bits that they had when tests/testdata/pictures.csv was written, on this kind of
processor. A change that is to change pictures writes the hashes anew: python tests/test_pictures_stay_as_they_are.py"""

import csv
import ctypes
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from shared.golden import processor_kind

import tisim
from tisim.device import native, unpaired
from tisim.viewer import Camera
from tisim.viewer.far import QUALITY

TABLE = pathlib.Path(__file__).parent / "testdata" / "pictures.csv"


def picture_hash(quality):
    """Of colours, depths and ids of `shapes` after 20 steps, with overlays."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("shapes")
    d = tisim.Data(m)
    tisim.step(m, d, 20)
    option = tisim.MjvOption()
    for flag in ("CONTACTFORCE", "COM"):
        option.flags[tisim.mjtVisFlag[f"mjVIS_{flag}"]] = 1
    h = hashlib.sha256()
    with tisim.Renderer(m, 90, 160, quality=quality) as r:
        r.update_scene(d, Camera(120, -25, 6, (0, 0, 0.6)), option)
        for array in r.render_all():
            h.update(array.tobytes())
    return h.hexdigest()[:16]


def known():
    with open(TABLE, newline="") as f:
        return {(row["processor"], row["quality"]): row["hash"] for row in csv.DictReader(f)}


@pytest.mark.parametrize("quality", QUALITY)
def test_pictures_have_their_golden_bits(quality):
    wanted = known().get((processor_kind(), quality))
    if wanted is None:
        pytest.skip(f"no golden hashes of pictures for the processor kind {processor_kind()}")
    assert picture_hash(quality) == wanted


def test_pictures_have_the_same_bits_by_taichis_own_launcher():
    """Machine code from disk computes eight samples at once where Taichi's computes one or two."""
    code = "import json, test_pictures_stay_as_they_are as t; print(json.dumps([t.picture_hash(q) for q in t.QUALITY]))"
    paths = os.pathsep.join((str(TABLE.parent.parent), os.environ.get("PYTHONPATH", "")))
    found = [
        json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                                  env=dict(os.environ, PYTHONPATH=paths, TISIM_NATIVE=road)).stdout.splitlines()[-1])
        for road in ("0", "1")
    ]  # fmt: skip
    assert found[0] == found[1]


def test_all_kernels_of_pictures_are_machine_code_from_disk():
    for quality in QUALITY:
        picture_hash(quality)
    road = native.road()
    if road is None:
        pytest.skip(f"no machine code from disk here: {native.why}")
    assert road.plain == {}


PAIRS = """\
define float @f(<2 x float>* %0, float %1, i1 %way) {
entry:
  %2 = load <2 x float>, <2 x float>* %0, align 4
  br i1 %way, label %there, label %end

there:
  %3 = insertelement <2 x float> poison, float %1, i64 0
  %4 = shufflevector <2 x float> %3, <2 x float> poison, <2 x i32> zeroinitializer
  %5 = fmul <2 x float> %2, %4
  %6 = fcmp ogt <2 x float> %5, <float 1.0, float 2.0>
  %7 = select <2 x i1> %6, <2 x float> %5, <2 x float> zeroinitializer
  %8 = call <2 x float> @llvm.fabs.v2f32(<2 x float> %7)
  store <2 x float> %8, <2 x float>* %0, align 4
  br label %end

end:
  %9 = phi <2 x float> [ %2, %entry ], [ %8, %there ]
  %10 = extractelement <2 x float> %9, i64 1
  ret float %10
}

declare <2 x float> @llvm.fabs.v2f32(<2 x float>)
"""


def test_pairs_are_taken_apart_to_the_same_numbers():
    """And what is not known stays as it was."""
    llvm = pytest.importorskip("llvmlite.binding")
    apart = unpaired.take_apart(PAIRS)
    assert " fmul <2 x" in PAIRS and not any(f" {word} <2 x" in apart for word in ("fmul", "fcmp", "select", "phi"))
    llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    found = []
    for text in (PAIRS, apart):
        module = llvm.parse_assembly(text)
        module.verify()
        machine = llvm.Target.from_default_triple().create_target_machine()
        with llvm.create_mcjit_compiler(module, machine) as engine:
            engine.finalize_object()
            kind = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.POINTER(ctypes.c_float), ctypes.c_float, ctypes.c_bool)
            call = kind(engine.get_function_address("f"))
            for way in (False, True):
                numbers = (ctypes.c_float * 2)(-3.0, 0.75)
                found.append((call(numbers, -3.0, way), *numbers))
    assert found[:2] == found[2:] == [(0.75, -3.0, 0.75), (0.0, 9.0, 0.0)]
    odd = PAIRS.replace("fmul <2 x float> %2, %4", "call <2 x float> @other(<2 x float> %2)")
    odd = unpaired.take_apart(odd + "declare <2 x float> @other(<2 x float>)\n")
    assert "call <2 x float> @other" in odd and not re.search(r"%\d", odd)  # as it was, but lines may be moved
    llvm.parse_assembly(odd).verify()


BITS = """\
define i32 @f(float* %0, i32 %n) {
entry:
  %1 = bitcast float* %0 to <2 x float>*
  %2 = load <2 x float>, <2 x float>* %1, align 4
  %3 = fcmp ogt <2 x float> %2, <float 1.0, float 2.0>
  %4 = bitcast <2 x i1> %3 to i2
  %5 = zext i2 %4 to i32
  %6 = shufflevector <2 x float> %2, <2 x float> poison, <4 x i32> zeroinitializer
  br label %vector.body

vector.body:
  %7 = phi i32 [ 0, %entry ], [ %9, %vector.body ]
  %8 = fadd <4 x float> %6, <float 1.0, float 2.0, float 3.0, float 4.0>
  %9 = add i32 %7, 1
  %10 = icmp slt i32 %9, %n
  br i1 %10, label %vector.body, label %middle.block

middle.block:
  %11 = extractelement <4 x float> %8, i64 3
  %12 = fptosi float %11 to i32
  %13 = mul i32 %12, 4
  %14 = add i32 %5, %13
  ret i32 %14
}
"""


def test_truths_become_a_word_and_loops_keep_the_vectors_they_ask_for():
    llvm = pytest.importorskip("llvmlite.binding")
    apart = unpaired.take_apart(BITS)
    assert "bitcast <2 x i1>" not in apart and "fadd <4 x float>" in apart
    llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    found = []
    for text in (BITS, apart):
        module = llvm.parse_assembly(text)
        module.verify()
        machine = llvm.Target.from_default_triple().create_target_machine()
        with llvm.create_mcjit_compiler(module, machine) as engine:
            engine.finalize_object()
            kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_float), ctypes.c_int)
            call = kind(engine.get_function_address("f"))
            found.append([call((ctypes.c_float * 2)(*pair), 3) for pair in ((0, 3), (3, 0), (0, 0), (5, 5))])
    assert found[0] == found[1] == [2 + 16, 1 + 28, 16, 3 + 36]


if __name__ == "__main__":
    found = known() if TABLE.exists() else {}
    found |= {(processor_kind(), quality): picture_hash(quality) for quality in QUALITY}
    with open(TABLE, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(("processor", "quality", "hash"))
        out.writerows((*key, value) for key, value in sorted(found.items()))
