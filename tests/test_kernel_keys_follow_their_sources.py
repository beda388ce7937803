"""A kernel's image is found by a key of all that its machine code follows from.

Contract: whatever changes the code changes the key: the body of any function that is reached, constants, closures,
default values, members, declarations, features, precision, options, versions. What does not change it leaves the key:
other functions, the folder, Python's version. What cannot be described has no key. A key can be skipped by the digest
of all sources only where these are what runs.
"""

import dataclasses
import importlib
import os
import sys

import pytest
import taichi as ti
from shared.roads import need_machine_code
from taichi.lang import impl

import tisim
from tisim.data import arrays, scalars
from tisim.device import fingerprint, images, native, runtime, session
from tisim.device.fingerprint import Fingerprints, Unknown
from tisim.device.variant import Variant, kernel
from tisim.model.features import EVERYTHING, Features

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
    need_machine_code()


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
    before, was = key(), EVERYTHING.dims
    for dims, same in ((was, True), (was + 1, False)):  # a kernel knows its value alone
        monkeypatch.setattr(Features, "dims", property(lambda self, dims=dims: dims))
        assert (key() == before) == same


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
