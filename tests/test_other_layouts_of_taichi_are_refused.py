"""Machine code relies on layouts of Taichi 1.7.4, and looks for them before it relies on them.

Contract: IR with another context, another runtime, other fields in use, other arguments or missing tasks makes no
image, nor is one used with a runtime whose pointers are not where they belong; Taichi then launches the kernels itself,
to the same bits, and why is kept. Taichi's 512 iterations, which a worker takes at least, are found and made fewer.
"""

import json
import os
import re
import subprocess
import sys

import pytest
from shared.roads import need_machine_code

import tisim
from tisim.device import images, machine_code, native, runtime
from tisim.device.machine_code import Unsupported
from tisim.model.features import EVERYTHING


@pytest.fixture(scope="module")
def kernel():
    """(IR, parameters) of a kernel that one thread begins and all go on with."""
    tisim.init(arch="cpu", precision="f64")
    tisim.Data(tisim.Model.from_xml_string("<mujoco/>"))
    need_machine_code()
    made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "record_of", lambda *given: made.append(given))
        native._make(runtime.kernels("smooth.kinematics").body_poses.variant(True, EVERYTHING), images.target())
    ((text, parameters, *_),) = made
    return text, parameters


def tasks(text, parameters):
    return machine_code.tasks(text, machine_code.type_of([kind for _, kind, _ in parameters]))


def test_the_ir_of_this_taichi_is_taken(kernel):
    assert [re.sub(".*_kernel_", "", name) for name in tasks(*kernel)] == ["0_serial", "1_range_for"]
    record = native.record_of(*kernel, images.target())
    assert len(record.tasks) == 2 and {name for name, _ in record.externals} >= {"sin", "cos"}


def test_loops_of_few_iterations_are_shared_out(kernel):
    text, _ = kernel
    least = re.findall(r"smax\.i32\(i32 %[\w.]+, i32 (\d+)\)", text)
    assert least == [str(machine_code.GRAIN)] * text.count("@function_body(")
    assert machine_code.GRAIN * tisim.device.native.CHUNKS <= 512


CONTEXT, RUNTIME = r"%struct.RuntimeContext[.\d]*", r"%struct.LLVMRuntime[.\d]*"
ARGUMENTS = rf"(bitcast {CONTEXT}\* %\w+ to )"
EDITS = {
    "a field more in the context": (rf"({CONTEXT} = type \{{ i8\*,)", r"\1 i64,", "another RuntimeContext"),
    "a wider thread number": (rf"({RUNTIME}\*), i32, i64\* \}}", r"\1, i64, i64* }", "another RuntimeContext"),
    "a field more in the runtime": (rf"({RUNTIME} = type \{{)", r"\1 i8*,", "another LLVMRuntime"),
    "a field less in the runtime": (rf"({RUNTIME} = type \{{) %struct[^,]*,", r"\1", "another LLVMRuntime"),
    "another field of the runtime": (rf"({RUNTIME}\* %\d+, i64 0), i32 10\b", r"\1, i32 12", r"\[12\]"),
    "such a field, not in bounds": (rf"inbounds ({RUNTIME}, .*\* %\d+, i64 0), i32 9\b", r"\1, i32 7", r"\[7\]"),
    "a field of the next runtime": (rf"({RUNTIME}\* %\d+), i64 0, i32 9\b", r"\1, i64 1, i32 9", r"\[-1\]"),
    "the runtime as bytes": (rf"(\n +%\d+) = load ({RUNTIME})\*, .*", r"\g<0>\1b = bitcast \2* %8 to i64*", r"\[-1\]"),
    "arguments found in another way": (rf"({CONTEXT}\* %\w+, i64 0), i32 1\b", r"\1, i32 0", "another way"),
    "an array less": (rf"{ARGUMENTS}\{{ \{{ \{{ i32 \}}, \w+\* \}}, ", r"\1{ ", "struct of arguments"),
    "a float for a double": (rf"({ARGUMENTS}\{{.*)double", r"\1float", "struct of arguments"),
    "arguments as a number": (rf"{ARGUMENTS}\{{.*\}}\*\*", r"\1i64*", "struct of arguments"),
    "no first task": (r"_kernel_0_serial", r"_kernel_2_serial", "tasks"),
    "a task of no number": (r"@\w+_kernel_1_range_for", r"@another", "tasks"),
    "no tasks": (r"define (?!internal)", r"define internal ", "tasks"),
}


@pytest.mark.parametrize("what", EDITS)
def test_another_layout_is_refused(kernel, what):
    text, parameters = kernel
    old, new, message = EDITS[what]
    edited = re.sub(old, new, text)
    assert edited != text
    with pytest.raises(Unsupported, match=message):
        tasks(edited, parameters)


def test_other_parameters_than_those_of_the_ir_are_refused(kernel):
    text, parameters = kernel
    for other in (
        parameters[1:], parameters[::-1], [*parameters, ["more", "f64", False]],
        [[name, kind.replace("64", "32"), passed] for name, kind, passed in parameters],
    ):  # fmt: skip
        with pytest.raises(Unsupported, match="struct of arguments"):
            tasks(text, other)


def test_text_that_is_no_ir_is_refused(kernel):
    text, parameters = kernel
    for other in (text[: len(text) // 2], text.replace("ret void", "ret viod", 1), "", text.replace("\n", " ")):
        with pytest.raises(Unsupported):
            native.record_of(other, parameters, images.target())


PROGRAM = """
import json, sys
import numpy as np
import tisim
from tisim.device import images, machine_code, native, runtime

exec(sys.argv[1])
m = tisim.Model.from_xml_string('''<mujoco><option><flag contact="disable"/></option><worldbody>
  <body><joint type="hinge" axis="0 1 0" damping=".1"/><geom size=".1" pos=".3 0 0"/></body></worldbody></mujoco>''')
tisim.init(arch="cpu", precision="f64", threads=1)
d = tisim.Data(m)
tisim.step(m, d, 20)
road = native.road()
print(json.dumps([np.asarray(d.qpos).tobytes().hex(), native.why, road.plain if road else {}, road and road.made]))
"""


def run(cache, first):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, first], capture_output=True, text=True, timeout=300,
        env=os.environ | {"TISIM_CACHE": str(cache)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    tisim.init(arch="cpu", precision="f64")
    need_machine_code()
    state, why, plain, made = run(tmp_path_factory.mktemp("wanted"), "")
    assert why is None and not plain and made
    return state


@pytest.mark.parametrize("name, value, reason", [
    ("CONTEXT", "{ i8* }", "another RuntimeContext"),
    ("ALLOWED", {machine_code.POOL}, r"fields \[10, 14\] of LLVMRuntime"),
])  # fmt: skip
def test_a_scene_of_refused_kernels_runs_by_taichi(tmp_path, wanted, name, value, reason):
    state, why, plain, made = run(tmp_path, f"machine_code.{name} = {value!r}")
    assert state == wanted and why is None
    assert any(re.search(reason, text) for text in plain.values())
    assert not made or name == "ALLOWED"  # kernels without loops need no field


@pytest.mark.parametrize("name, value, reason", [
    ("PARALLEL_FOR_AT", 8280, "LLVMRuntime"), ("PARALLEL_FOR_AT", 8304, "LLVMRuntime"),
])  # fmt: skip
def test_a_runtime_that_looks_otherwise_is_not_used(tmp_path, wanted, name, value, reason):
    state, why, plain, _ = run(tmp_path, f"native.{name} = {value!r}")
    assert state == wanted and reason in why and not plain
