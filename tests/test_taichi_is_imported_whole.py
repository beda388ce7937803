"""Contract: the Taichi that tisim imports and changes is for its user the Taichi that `import taichi` gives."""

import json
import subprocess
import sys

import pytest

NAMES = """
import json, sys
import taichi as ti
modules = {n: m for n, m in sorted(sys.modules.items()) if n.split(".")[0] == "taichi" and type(m) is type(sys)}
print(json.dumps({name: sorted(vars(module)) for name, module in modules.items()}))
"""

CLASS = """
import taichi as ti
import tisim
tisim.init("cpu", threads=1)

@ti.data_oriented
class Doubler:
    def __init__(self):
        self.factor = 2.0

    @ti.func
    def twice(self, x):
        return self.factor * x

    @staticmethod
    @ti.func
    def more(x):
        return x + 1.0

    @ti.kernel
    def run(self, x: ti.f64) -> ti.f64:
        return self.more(self.twice(x))

def local():
    @ti.kernel
    def run(x: ti.f64) -> ti.f64:
        return x * 3.0
    return run

print(Doubler().run(4.0), local()(2.0))
"""

PROMISED = """
import sys, tisim
tisim.init("cpu", threads=1)
from taichi.lang import _wrap_inspect, misc
import dill, taichi._version_check
for name in ("dill", "taichi._version_check"):
    assert type(sys.modules[name]).__name__ == "module" and sys.modules[name].__file__, name
assert _wrap_inspect.dill.source is dill.source
assert misc._version_check.check_version is taichi._version_check.check_version
assert not any(getattr(f, "__module__", "").startswith("tisim") for f in sys.meta_path)
print("right")
"""


def _printed(script, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(script)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def test_every_module_and_name_of_taichi_is_there(tmp_path):
    by_us = "from tisim.device import taichi_import; taichi_import.load()\n"
    plain, ours = (json.loads(_printed(first + NAMES, tmp_path)) for first in ("", by_us))
    assert len(plain) > 80
    plain["taichi"].remove("_version_check")  # imported when it is used
    del plain["taichi._version_check"]
    assert ours == plain


@pytest.mark.parametrize("first", ["", "import taichi\n", "import tisim\n"])
def test_kernels_of_classes_and_of_functions_are_told_apart(tmp_path, first):
    assert _printed(first + CLASS, tmp_path) == "9.0 6.0"


def test_what_is_imported_later_is_the_real_thing(tmp_path):
    assert _printed(PROMISED, tmp_path) == "right"
