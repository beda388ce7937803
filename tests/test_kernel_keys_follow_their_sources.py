"""A kernel's image is found by a key of all that its machine code follows from.

Contract: whatever changes the code changes the key: the body of any function that is reached, constants, closures,
default values, members, declarations, features, precision, options, versions. What does not change it leaves the key:
other functions, the folder, Python's version. All kernels have keys, which cover every function that Taichi inlines and
every name that it looks up. A key can be skipped by the digest of all sources only where these are what runs.
"""

import dataclasses
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import taichi as ti
from taichi.lang import impl, kernel_impl
from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

import tisim
from tisim import scenes
from tisim.cli import recording
from tisim.data import arrays, scalars
from tisim.device import fingerprint, images, native, runtime, session
from tisim.device.fingerprint import Fingerprints, Unknown
from tisim.device.variant import Variant, kernel
from tisim.model.features import EVERYTHING, Features
from tisim.stages import needs

ROOT = pathlib.Path(tisim.__file__).resolve().parent.parent
NOTHING = Features(False, False, False, False)

CONSTANTS = """
import enum, types
import numpy as np
LIMIT = 3
TABLE = {"a": 1.5, "b": (2, [3, 4])}
NUMBERS = np.arange(4.0)
class Shape(enum.IntEnum):
    BALL = 2
class Sizes:
    BIG = 9
"""

SOURCE = """
import taichi as ti
import key_constants as far
from key_constants import LIMIT as NEAR, Sizes
from tisim.device.bundle import func

SHADOW = 1

@ti.dataclass
class Pair:
    a: ti.f64
    b: ti.f64

    @ti.func
    def total(self):
        return self.a + self.b

def closed(factor, offset):
    @ti.func
    def times(x, y=offset):
        return factor * x + y
    return times

times = closed(2.0, 5)

def at_once(x):
    return x * 7

@ti.func
def deepest(x):
    return x + 1.0

@ti.func
def deep(x):
    return deepest(x)

@ti.func
def chosen(x):
    return x - 1.0

@ti.func
def apply(f: ti.template(), x):
    return f(x)

FUNCTIONS = {0: deep, 1: chosen}

@func
def seen(m, d, i):
    return d.qvel[i] + d.ncon

@func
def asked(m, d, x):
    if ti.static(m.has.jointed):
        x = x + 10.0
    return x + m.has.dims

@ti.func
def other(x):
    return x + 100.0

def body(m, d, nray: ti.i32):
    for i in range(1):
        if i > 0:
            SHADOW = 4
        pair = Pair(a=far.LIMIT, b=NEAR)
        x = times(pair.total()) + far.TABLE["a"] + far.NUMBERS[1] + far.Shape.BALL + Sizes.BIG + SHADOW
        for k in ti.static(range(2)):
            x = FUNCTIONS[k](x)
        y = at_once(nray) + apply(deep, x) + sum([k for k in (1, 2)])
        d.qvel[i] = asked(m, d, x) + seen(m, d, i) + y + d.niter
"""


@pytest.fixture(scope="module", autouse=True)
def started():
    tisim.init(arch="cpu", precision="f64")
    assert native.road() is not None, native.why


@pytest.fixture
def key(tmp_path):
    """The key of `body` in a module of this source; each call writes it to another folder."""
    loaded = iter(range(1000))

    def of(source=SOURCE, constants=CONSTANTS, has=EVERYTHING, change=None, basis="basis"):
        folder = tmp_path / f"folder{next(loaded)}"
        folder.mkdir()
        (folder / "key_constants.py").write_text(constants)
        (folder / "key_kernel.py").write_text(source)
        sys.path.insert(0, str(folder))
        try:
            importlib.invalidate_caches()
            module = importlib.import_module("key_kernel")
        finally:
            sys.path.remove(str(folder))
            sys.modules.pop("key_kernel", None), sys.modules.pop("key_constants", None)
        if change:
            change(module)
        variant = kernel(module.body).variant(True, has)
        return Fingerprints(basis).of(variant.function, variant.arguments)

    return of


CHANGED = {
    "the kernel's body": ("d.qvel[i] = asked", "d.qvel[i] = 2.0 * asked"),
    "a function two calls away": ("return x + 1.0", "return x + 1.5"),
    "a function in a table": ("return x - 1.0", "return x - 1.5"),
    "a function that is handed on": ("apply(deep, x)", "apply(chosen, x)"),
    "a function of two that change places": ("{0: deep, 1: chosen}", "{0: chosen, 1: deep}"),
    "a plain function that Python calls": ("x * 7", "x * 8"),
    "a closure's value": ("closed(2.0, 5)", "closed(2.5, 5)"),
    "a default value made elsewhere": ("closed(2.0, 5)", "closed(2.0, 6)"),
    "a parameter by reference": ("def apply(f: ti.template(), x):", "def apply(f: ti.template(), x: ti.template()):"),
    "a global under a local's name": ("SHADOW = 1", "SHADOW = 2"),
    "a member's type": ("b: ti.f64", "b: ti.f32"),
    "a method of a dataclass": ("self.a + self.b", "self.a - self.b"),
    "a kind of function": ("@ti.func\ndef deep(x)", "def deep(x)"),
    "a name for another constant": ("LIMIT as NEAR", "TABLE as NEAR"),
}
CHANGED_CONSTANTS = {
    "a number": ("LIMIT = 3", "LIMIT = 4"),
    "its type": ("LIMIT = 3", "LIMIT = 3.0"),
    "a dict's value": ("1.5", "1.25"),
    "a list in a tuple in a dict": ("[3, 4]", "[3, 5]"),
    "an array": ("arange(4.0)", "arange(4.0)[::-1]"),
    "an array's type": ("arange(4.0)", "arange(4)"),
    "an enum's value": ("BALL = 2", "BALL = 3"),
    "a class's constant": ("BIG = 9", "BIG = 8"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_changed_source_changes_the_key(key, what):
    old, new = CHANGED[what]
    assert SOURCE.count(old) == 1
    assert key(SOURCE.replace(old, new)) != key()


@pytest.mark.parametrize("what", CHANGED_CONSTANTS)
def test_a_changed_constant_changes_the_key(key, what):
    old, new = CHANGED_CONSTANTS[what]
    assert CONSTANTS.count(old) == 1
    assert key(constants=CONSTANTS.replace(old, new)) != key()


def test_what_cannot_change_the_code_leaves_the_key(key):
    first = key()
    assert key() == first  # in another folder
    assert key(SOURCE.replace("return x + 100.0", "return x + 200.0  # a function that nobody calls")) == first
    assert key("# a comment\n\n" + SOURCE) == first
    assert key(constants=CONSTANTS + "\nMORE = 1\n") == first

    def another_python(module):  # since 3.12 variables of comprehensions are locals of the function
        code = module.body.__code__
        module.body.__code__ = code.replace(co_varnames=(*code.co_varnames, "at_once"), co_nlocals=code.co_nlocals + 1)

    assert key(change=another_python) == first


def test_a_value_that_changes_while_tisim_runs_changes_the_key():
    prints = Fingerprints("basis")

    def body(m, d, nray: ti.i32):
        d.qvel[0] = nray + cell

    cell = 1
    variant = Variant(body, EVERYTHING)
    first = prints.of(variant.function, variant.arguments)
    cell = 2
    assert prints.of(variant.function, variant.arguments) != first


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("closed(2.0, 5)", "closed(type('Odd', (), {})(), 5)", "Odd"),
        ("return x * 7", "import math\n    return x * math.pi", "Import"),
        ("return x * 7", "return x * eval('7')", "eval"),
        ("return x * 7", "return x * getattr(far, 'LIMIT')", "key_constants"),
        ("return x * 7", "return x * far.Shape.BALL.real", "Shape"),
        ("return x * 7", "return x * far.NOTHING", "NOTHING"),
    ],
)
def test_what_cannot_be_followed_has_no_key(key, old, new, message):
    with pytest.raises(Unknown, match=message):
        key(SOURCE.replace(old, new))


def test_a_wrapper_counts_beside_what_it_wraps(key):
    wrapped = SOURCE + (
        "\nimport functools\n"
        "def doubled(f):\n    @functools.wraps(f)\n    def g(x):\n        return 2 * f(x)\n    return g\n"
        "at_once = doubled(at_once)\n"
    )
    keys = {key(), key(wrapped), key(wrapped.replace("2 * f", "3 * f")), key(wrapped.replace("x * 7", "x * 8"))}
    assert len(keys) == 4


def test_features_that_are_asked_for_are_in_the_key(key, monkeypatch):
    assert key(has=EVERYTHING._replace(jointed=False)) != key()
    assert key(has=EVERYTHING._replace(torsion=False)) != key()  # behind `dims`
    plain = SOURCE.replace(" + m.has.dims", "")
    assert key(plain, has=EVERYTHING._replace(torsion=False)) == key(plain)
    before = key()

    def dims(self):
        return 6

    monkeypatch.setattr(Features, "dims", property(dims))
    assert key() != before


@pytest.mark.parametrize("table, name, changes", [
    (arrays.DATA, "qvel", dict(dtype="i")), (arrays.DATA, "qvel", dict(element=3)),
    (arrays.COUNTS, "ncon", 31), (scalars.SCALARS, "niter", dict(dtype="f")),
])  # fmt: skip
def test_declarations_are_in_the_key(key, monkeypatch, table, name, changes):
    first = key()
    changed = dataclasses.replace(table[name], **changes) if isinstance(changes, dict) else changes
    monkeypatch.setitem(table, name, changed)
    scalars.lookup.cache_clear()
    try:
        assert key() != first
    finally:
        scalars.lookup.cache_clear()


def road_keys(road):
    """(request, key) of a kernel of tisim."""
    found = runtime.kernels("smooth.kinematics").body_poses
    variant = found.variant(True, EVERYTHING)
    return road.request(found, EVERYTHING), road.fingerprints.of(variant.function, variant.arguments)


def test_options_versions_and_targets_are_in_the_key(monkeypatch):
    basis = ("1.7.4", [("fast_math", False)])
    first = road_keys(native.Road(basis))
    assert road_keys(native.Road(basis)) == first
    found = [
        first,
        road_keys(native.Road(("1.7.5", basis[1]))),
        road_keys(native.Road(("1.7.4", [("fast_math", True)]))),
    ]
    for place, name, value in (
        (native, "CHUNKS", 16), (images, "FORMAT", b"tisim image 0\n"), (images, "target", lambda: "x86-64-v2"),
    ):  # fmt: skip
        if place is images and name == "target" and images.target() == value():
            continue
        with monkeypatch.context() as patch:
            patch.setattr(place, name, value)
            found.append(road_keys(native.Road(basis)))
    impl.get_runtime().prog.config().cpu_max_num_threads = native.CHUNKS
    tisim.init(arch="cpu", precision="f32")
    found.append(road_keys(native.road()))
    tisim.init(arch="cpu", precision="f64")
    for part in zip(*found):
        assert len(set(part)) == len(found)


def test_taichis_options_count_as_they_stand():
    config = impl.get_runtime().prog.config()
    first = fingerprint.options_text(config)
    for name, value in (("opt_level", 0), ("flatten_if", True), ("default_cpu_block_dim", 64)):
        before = getattr(config, name)
        setattr(config, name, value)
        assert fingerprint.options_text(config) != first, name
        setattr(config, name, before)
    threads, config.cpu_max_num_threads = config.cpu_max_num_threads, 3  # images are made for CHUNKS
    assert fingerprint.options_text(config) == first
    config.cpu_max_num_threads = threads


def test_a_request_serves_only_the_sources_that_run(tmp_path, monkeypatch):
    file = tmp_path / "kernel.py"
    file.write_text("LIMIT = 1")
    monkeypatch.setattr(fingerprint, "_sources", lambda: [("kernel.py", file)])
    first = fingerprint.source_digest()
    monkeypatch.setattr(session, "began", file.stat().st_ctime + 60)
    assert not fingerprint.sources_changed()
    file.write_text("LIMIT = 2")
    assert fingerprint.source_digest() != first
    monkeypatch.setattr(session, "began", file.stat().st_ctime - 60)  # written after tisim was imported
    os.utime(file, (0, 0))
    assert fingerprint.sources_changed()


# ---- tisim's own kernels

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
        env=os.environ | {"PYTHONPATH": str(checkout)} | variables,
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
    ("kernels/rotation.py", "t = 2.0 * u.cross(v)", "t = 2.5 * u.cross(v)"),
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


@pytest.mark.parametrize("has", [EVERYTHING, NOTHING], ids=["everything", "nothing"])
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
            if code in reached and word != "_bundles":
                firsts = {path.split(".")[0] for path in reached[code].paths}
                assert word in firsts, (title, code.co_name, word)
    assert total > 300
