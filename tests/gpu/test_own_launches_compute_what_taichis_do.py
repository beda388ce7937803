"""Own launches on CUDA: kernels launched by the driver, of PTX from the cache, give the bits of Taichi's own
launches, without its allocations; what is not as expected is left to Taichi, and `tisim doctor` says why.

Contract: equal hashes in the process that compiles and in those that find the PTX, f32 and f64; no allocation in a
step, tasks are launched as graphs; what ptxas makes is kept and loaded, and left where the driver refuses it; PTX that
is no kernel's, that asks for Taichi's runtime or has other tasks is refused; TISIM_OWN_LAUNCHES=0 leaves all to Taichi.
"""

import json
import os
import shutil

import pytest

from tisim.device import own

from .software import HERE, needs_compiler, on_cpu, start

SCENES = dict(dominos=(20, 60), pile=(300, 300), ragdolls=(3, 400))
HOT = [pytest.param(name, marks=() if name == "dominos" else pytest.mark.slow) for name in SCENES]


@needs_compiler
@pytest.mark.parametrize("name", HOT)
def test_bits_are_equal(name, tmp_path):
    n, steps = SCENES[name]
    state = tmp_path / "settled.npz"
    on_cpu(name, n, steps, state)
    for precision in ("f64",) if name == "pile" else ("f32",):
        given = dict(TISIM_ARCH="cuda", TISIM_PRECISION=precision)
        by_taichi = told(name, n, state, given | dict(TISIM_OWN_LAUNCHES="0"))
        given |= dict(TISIM_OWN_LAUNCHES="1", TISIM_CACHE=str(tmp_path / "cache"), PATH=with_assembler(tmp_path))
        compiles, finds = (told(name, n, state, given) for _ in range(2))
        assert by_taichi["hash"] == compiles["hash"] == finds["hash"]
        assert by_taichi["left"] is None and compiles["left"] == finds["left"] == {}
        assert by_taichi["calls"]["alloc_async"] > 40 and "alloc_async" not in finds["calls"]
        assert by_taichi["launches"] == finds["launches"] > 2 * finds["calls"]["graph_launch"]
        assert "launch" not in finds["calls"]
        assert "own launches on CUDA of PTX" in finds["told"] and "switched off" in by_taichi["told"]
        assert "no graphs" not in finds["told"] and "no cubins" not in finds["told"]
    folder = tmp_path / "cache" / "ptx"
    texts = sorted(p.stem for p in folder.glob("*.ptx"))
    assert not any(b"\0" in p.read_bytes() for p in folder.glob("*.ptx"))
    assert texts == sorted(p.name.removesuffix(".sm_90.cubin") for p in folder.glob("*.cubin"))
    for each in folder.glob("*.ptx"):
        each.write_text("// no task")
    broken = told(name, n, state, given)
    assert broken["hash"] == finds["hash"] and "its PTX has no task" in broken["told"]


def with_assembler(folder):
    """PATH with a ptxas for the software device, whose code for a device is PTX itself."""
    script = folder / "bin" / "ptxas"
    script.parent.mkdir(exist_ok=True)
    script.write_text('#!/bin/sh\n[ "$1 $2" = "-arch=sm_90 -o" ] && exec cp "$4" "$3"\n')
    script.chmod(0o755)
    assert shutil.which("ptxas", path=str(script.parent))
    return f"{script.parent}:{os.environ['PATH']}"


@needs_compiler
@pytest.mark.parametrize("switch, line", [("1", "own launches on CUDA of PTX in"), ("0", "switched off")])
def test_doctor_tells(switch, line):
    environment = dict(TISIM_OWN_LAUNCHES=switch, TISIM_PRECISION="f32")
    assert line in json.loads(start("-m", "tisim", "doctor", "--json", environment=environment))["own_launches"]


class Loader:
    """Takes texts of PTX, and no code that ptxas made."""

    no_cubins, loaded = None, []

    def call(self, name, *arguments):
        if name == "cuModuleLoadDataEx":
            self.loaded.append(arguments[1].value)
            if arguments[1].value == b"ELF":
                raise RuntimeError("CUDA driver: error 209 in cuModuleLoadDataEx")


def test_code_that_the_driver_refuses_is_left():
    text = TASK.format(name="k_c1_0_kernel_0_range_for", place=own.TEMPORARIES_AT)
    road = Loader()
    code = own.Code(road, text, b"ELF")
    assert road.loaded == [b"ELF", text.encode()] and len(code.tasks) == 1
    assert road.no_cubins == "CUDA driver: error 209 in cuModuleLoadDataEx"


def told(name, n, state, environment):
    return json.loads(start(HERE / "own.py", name, n, 3, state, environment=environment).splitlines()[-1])


TASK = """.visible .entry {name}(
	.param .align 8 .b8 {name}_param_0[32]
)
.maxntid 128, 1, 1
{{
	ld.param.u64 	%rd1, [{name}_param_0];
	ld.param.u64 	%rd2, [{name}_param_0+8];
	cvta.to.global.u64 	%rd3, %rd2;
	ld.global.u64 	%rd4, [%rd3+{place}];
	ret;
}}
"""


def test_unexpected_ptx_is_refused():
    own.check(TASK.format(name="k_c1_0_kernel_0_range_for", place=own.TEMPORARIES_AT))
    with pytest.raises(own.Unsupported, match="asks for Taichi's runtime"):
        own.check(TASK.format(name="k_c1_0_kernel_0_range_for", place=8))
    with pytest.raises(own.Unsupported, match="neither serial nor over a range"):
        own.check(TASK.format(name="k_c1_0_kernel_0_struct_for", place=own.TEMPORARIES_AT))
    with pytest.raises(own.Unsupported, match="no task"):
        own.check("")
