"""All kernels of tisim have keys, which say all that their machine code follows from.

Contract: every kernel of every scene, of the queries and of the recorder's model has a key, which covers every function
that Taichi inlines and every name that it looks up. Keys are the same in a checkout of another name and in every
process. An edited checkout runs what is written, and one whose edit is undone finds its images again.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from shared.roads import need_machine_code
from taichi.lang import kernel_impl
from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

import tisim
from tisim import scenes
from tisim.cli import recording
from tisim.device import native, runtime
from tisim.device.variant import Variant
from tisim.model.features import EVERYTHING, Features
from tisim.stages import needs
from tisim.viewer import caster

ROOT = pathlib.Path(tisim.__file__).resolve().parent.parent
NOTHING = Features(False, False, False, False)


@pytest.fixture(scope="module", autouse=True)
def started():
    tisim.init(arch="cpu", precision="f64")
    need_machine_code()


KEYS = """
import json, sys
import tisim
from tisim.cli import recording
from tisim.device import native
from tisim.model.features import EVERYTHING, Features

tisim.init(arch="cpu", precision="f64")
road, found = native.road(), {}
for _, steps in recording.record().values():
    for step in steps:
        for has in (EVERYTHING, Features(False, False, False, False)) if step.kernel else ():
            variant = step.kernel.variant(True, has)
            found[f"{step.kernel.__name__} {has}"] = road.fingerprints.of(variant.function, variant.arguments)
print(json.dumps([tisim.__file__, found]))
"""


@pytest.fixture(scope="module")
def kernels():
    """All kernels that a step and queries of the recorder's model can launch."""
    tisim.init(arch="cpu", precision="f64")
    found = {
        step.kernel.__name__: step.kernel for _, steps in recording.record().values() for step in steps if step.kernel
    }
    assert len(found) > 40
    return found


@pytest.fixture
def checkout(tmp_path):
    """A copy of the checkout."""
    for name in ("tisim", "kernels", "scenes", "models"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def run(checkout, program, **variables):
    """What a program prints that runs in a checkout, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=checkout, capture_output=True, text=True, timeout=300,
        # Python takes the compiled form of a file that was as long in the same second
        env=os.environ | {"PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"} | variables,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    file, *found = json.loads(done.stdout)
    assert file.startswith(str(checkout))
    return found


SWING = """
import json, os
import numpy as np
import tisim
from tisim.device import native

m = tisim.Model.from_xml_string('''<mujoco><option><flag contact="disable"/></option><worldbody>
  <body><joint type="hinge" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></worldbody></mujoco>''')
d = tisim.Data(m)
tisim.step(m, d, 50)
assert native.road() is not None and not native.road().plain
images = [name for name in os.listdir(os.environ["TISIM_CACHE"] + "/images") if name.endswith(".img")]
print(json.dumps([tisim.__file__, np.concatenate([d.qpos, *np.asarray(d.geom_xpos)]).tolist(), len(images)]))
"""


@pytest.mark.parametrize("file, old, new", [
    ("kernels/rotation.py", "t = 2.0 * cross(u, v)", "t = 2.5 * cross(u, v)"),
    ("kernels/constants.py", "SLIDE = int(mjtJoint.mjJNT_SLIDE)", "SLIDE = int(mjtJoint.mjJNT_HINGE)"),
])  # fmt: skip
def test_an_edited_checkout_runs_what_is_written(checkout, file, old, new):
    cache = dict(TISIM_CACHE=str(checkout / "cache"))
    wanted, number = run(checkout, SWING, **cache)
    text = (checkout / file).read_text()
    assert text.count(old) == 1
    (checkout / file).write_text(text.replace(old, new))
    edited, more = run(checkout, SWING, **cache)
    assert edited != wanted and number < more < 2 * number  # kernels that do not depend on it were found
    (checkout / file).write_text(text)
    assert run(checkout, SWING, **cache) == [wanted, more]


def test_a_checkout_of_another_name_has_the_same_keys(checkout, kernels):
    (found,) = run(checkout, KEYS, PYTHONHASHSEED="7")
    assert len(found) > 80
    road = native.road()
    for name, k in kernels.items():
        for has in (EVERYTHING, NOTHING):
            variant = k.variant(True, has)
            assert found[f"{name} {has}"] == road.fingerprints.of(variant.function, variant.arguments), name


def test_all_that_is_launched_for_pictures_ships_and_has_a_source(monkeypatch):
    shipped = set(needs.every_kernel())
    assert len(shipped) > 200 and all(k.function for k in shipped)
    launched, run = set(), caster.launch.run
    monkeypatch.setattr(caster.launch, "run", lambda m, d, ks, *a, **k: launched.update(ks) or run(m, d, ks, *a, **k))
    light = '<light pos="0 0 3" dir="0 0 -1" directional="false"/>'
    for asset, look in (
        ("", ""),
        (
            '<texture name="t" type="2d" builtin="checker" width="8" height="8"/><material name="t" texture="t"/>',
            'material="t"',
        ),
    ):
        m = tisim.Model.from_xml_string(f"""<mujoco><asset>{asset}</asset><worldbody>{light}
          <geom type="plane" size="1 1 1" {look}/><geom size=".1" pos="0 0 .2" {look}/></worldbody></mujoco>""")
        d = tisim.Data(m)
        tisim.forward(m, d)
        for quality in ("plain", "sun", "sky", "model"):
            tisim.viewer.render(m, d, width=32, height=24, quality=quality)
    assert len(launched) > 15 and not {k.__name__ for k in launched - shipped}


def test_kernels_of_every_scene_have_keys():
    road, met = native.road(), set()
    for name in scenes.names():
        m = tisim.Model.from_scene(name, **{k: 4 for k in ("n",) if k in scenes.params(name)})
        for k in needs.kernels_of(m, tisim.Data(m)):
            if (k, m.features()) not in met:
                met.add((k, m.features()))
                variant = k.variant(True, m.features())
                assert len(road.fingerprints.of(variant.function, variant.arguments)) == 40
                assert road.request(k, m.features())
    assert len(met) > 40


@pytest.mark.parametrize("has", [
    pytest.param(EVERYTHING, id="everything"), pytest.param(NOTHING, id="nothing", marks=pytest.mark.slow),
])  # fmt: skip
def test_keys_cover_what_taichi_inlines_and_looks_up(kernels, has, monkeypatch):
    inlined, looked_up, called = set(), set(), set()
    plain_call, plain_name = kernel_impl.Func.__call__, ASTTransformerContext.get_var_by_name
    folder = str(pathlib.Path(runtime.module("types").__file__).parent)

    def call(self, *args, **kwargs):
        inlined.add(self.func.__code__)
        return plain_call(self, *args, **kwargs)

    def name(self, word):
        if not any(word in scope for scope in self.local_scopes) and word in self.global_vars:
            looked_up.add((self.func.func.__code__, word))
        return plain_name(self, word)

    def profile(frame, event, arg):
        if event == "call" and frame.f_code.co_filename.startswith(folder):
            called.add(frame.f_code)

    monkeypatch.setattr(kernel_impl.Func, "__call__", call)
    monkeypatch.setattr(ASTTransformerContext, "get_var_by_name", name)
    prints, total = native.road().fingerprints, 0
    for title, k in kernels.items():
        inlined.clear(), looked_up.clear(), called.clear()
        variant = Variant(k.special(True), has)
        sys.setprofile(profile)
        try:
            variant.compiled()
        finally:
            sys.setprofile(None)
        reached = {f.__code__: prints._names_of(f) for f in prints.reached(variant.function, variant.arguments)}
        ours = {code for code in inlined | called if "/taichi/" not in code.co_filename}
        assert ours <= reached.keys(), (title, [c.co_name for c in ours - reached.keys()])
        total += len(ours)
        for code, word in looked_up:
            if code in reached and word not in ("_bundles", "_itself"):
                firsts = {path.split(".")[0] for path in reached[code].paths}
                assert word in firsts, (title, code.co_name, word)
    assert total > 300
