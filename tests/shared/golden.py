"""Golden hashes: what the engine computed when tests/testdata/golden.csv was written, bit for bit.

    python tests/shared/golden.py            computes all cases and compares them; exit code 1 where one differs
    python tests/shared/golden.py --fast     only those that the test suite runs
    python tests/shared/golden.py --long     also those of benchmarks/pile.py, which take minutes
    python tests/shared/golden.py --write    writes what it computes to golden.csv, for this kind of processor

benchmarks/pile.py and benchmarks/collision.py compare theirs too and end with 1 where one differs; the latter's are
written by its own --write-golden.

A change that is to change no physics must leave all hashes as they are. One that changes rounding on purpose writes
them anew and says so in its commit.

A hash has a part for each of PARTS, so that a difference tells where to look. The bits of sin, pow and of fused
products depend on the processor, so hashes are compared only among machines of the same `processor_kind`.
"""

import contextlib
import csv
import dataclasses
import hashlib
import pathlib
import platform
import sys
import time

import numpy as np

import tisim

TESTDATA = pathlib.Path(__file__).resolve().parent.parent / "testdata"
TABLE = TESTDATA / "golden.csv"
COLUMNS = ("scene", "steps", "precision", "variant", "processor", "hash")
CONTACT = (
    "worldid", "geom", "dist", "pos", "frame", "dim", "exclude", "includemargin", "friction", "solref",
    "solreffriction", "solimp", "mu", "efc_address",
)  # fmt: skip
PARTS = dict(
    smooth=("xpos", "xquat", "geom_xmat", "cvel", "M", "qLD", "qfrc_bias", "qfrc_passive", "qacc_smooth", "energy"),
    contacts=CONTACT,
    rows=("type", "id", "state", "pos", "margin", "frictionloss", "diagApprox", "KBIP", "D", "vel", "aref", "force"),
    islands=("nisland", "tree_island", "solver_niter"),
    state=("time", "qpos", "qvel", "qacc", "qfrc_constraint"),
)


@dataclasses.dataclass(frozen=True)
class Case:
    """A scene and its parameters, as text; steps; precision; how it is computed (`force`); whether the suite runs it,
    whether it takes long.

    Beside those of the scene, a parameter may be worlds=, multiccd=1, elliptic=1, or queries=1 (rays and distances).
    """

    scene: str
    steps: int
    precision: str = "f64"
    variant: str = "chosen"
    fast: bool = False
    long: bool = False

    @property
    def key(self):
        return self.scene, str(self.steps), self.precision, self.variant


CASES = [
    Case("pile n=300", 100, fast=True),
    Case("pile n=300", 100, variant="serial"),
    Case("pile n=300", 100, variant="parallel"),
    Case("pile n=300", 100, variant="shared", fast=True),
    Case("pile n=300 cone=elliptic", 100, variant="shared"),
    Case("pile n=300", 100, variant="team", fast=True),
    Case("pile n=300", 100, variant="packed", fast=True),
    Case("pile n=24 cone=elliptic worlds=20", 100, variant="packed"),
    Case("pile n=300", 60, variant="gpu_sort"),
    Case("pile n=24 cone=elliptic worlds=20", 100, variant="parallel"),
    Case("pile n=24 worlds=5", 100, variant="serial"),
    Case("ragdolls n=5", 150, variant="serial", fast=True),
    Case("ragdolls n=5 cone=elliptic", 150, variant="parallel"),
    Case("ragdolls n=16", 150, variant="shared"),
    Case("ragdolls n=16", 150, variant="team"),
    Case("joints", 300, variant="serial", fast=True),
    Case("joints cone=elliptic worlds=7", 150, variant="parallel"),
    Case("chain n=20 joint=mixed worlds=3", 200),
    Case("shapes n=40", 100, variant="serial"),
    Case("shapes n=40 cone=elliptic", 100, variant="parallel"),
    Case("wall n=60", 100, variant="serial"),
    Case("tower n=8", 60),
    Case("dominos n=40", 150, variant="parallel"),
    Case("cards n=12", 150),
    Case("bowl n=20", 100, variant="serial"),
    Case("bowl n=20 multiccd=1", 100, variant="parallel", fast=True),
    Case("terrain n=16", 100, variant="serial"),
    Case("terrain n=16 cone=elliptic worlds=2", 80, variant="parallel"),
    Case("golden/everything.xml queries=1", 200, variant="serial", fast=True),
    Case("golden/everything.xml elliptic=1 queries=1", 200, variant="parallel", fast=True),
    Case("golden/everything.xml worlds=3 multiccd=1 queries=1", 200, variant="shared"),
    Case("golden/everything.xml elliptic=1 worlds=2", 200, variant="team"),
    Case("golden/everything.xml elliptic=1 worlds=2", 200, variant="gpu_sort"),
    Case("pile n=300", 100, "f32"),
    Case("pile n=300 cone=elliptic", 100, "f32", "shared"),
    Case("pile n=300 cone=elliptic", 100, "f32", "team"),
    Case("pile n=300 cone=elliptic", 100, "f32", "packed"),
    Case("ragdolls n=5", 150, "f32", "parallel"),
    Case("bowl n=20 multiccd=1", 60, "f32", "serial"),
    Case("golden/everything.xml elliptic=1 queries=1", 200, "f32", "serial"),
    Case("golden/everything.xml worlds=2", 40, "f32", "shared"),
    *(Case(f"pile n={n}", 350, long=True) for n in (1000, 4000, 10000)),
]
BY_BENCHMARK = "collision "  # what the scene of a hash that benchmarks/collision.py writes begins with


@contextlib.contextmanager
def force(variant="chosen", shared_above=None, dense_up_to=None, workers=None):
    """Within it every stage takes the same road, whatever the size of the scene.

    chosen  the engine chooses;  serial  one thread does all;  parallel  all loops that can be are parallel, an island
    has one thread;  team  the same, and a team of workers walks through each island in which bodies meet;  packed  the
    same, laid out along a curve however small the scene;  shared  as team, but the host queues the phases of each such
    island, as on a GPU;  gpu_sort  pairs are sorted by the passes that a GPU would take.
    shared_above  contacts between moving bodies above which an island is large.
    workers  how many workers a team has, with however many processors; Taichi must have as many threads.
    dense_up_to  dofs of an island up to which it gets a dense factor; none gets a sparse one.
    Model and Data must be made within it. The only place that knows where the engine keeps its thresholds.
    """
    from tisim.device import program, session, team
    from tisim.model import features
    from tisim.queries import rays
    from tisim.stages import collision, constraint, distances, dynamics, solver, sorting

    never = 1 << 30
    changes = []
    at = dict(chosen=None, serial=never).get(variant, -1)
    if at is not None:
        changes += [(dynamics, "PARALLEL_BODIES", at), (dynamics, "AWAKE_BODIES", at)]
        changes.append((constraint, "PARALLEL_CONTACTS", at))
        changes += [(collision, name, at) for name in ("SEARCHED", "BOXED", "COLLIDED", "LISTED")]
        changes += [(solver, "PARALLEL_ISLANDS", at), (rays, "PARALLEL_RAYS", at), (distances, "PARALLEL_PAIRS", at)]
        shared_above = (
            (0 if variant in ("team", "packed", "shared") else never) if shared_above is None else shared_above
        )
    if shared_above is not None:
        changes += [(solver, name, shared_above) for name in ("SHARED", "GPU_SHARED")]
    if variant == "packed":
        changes.append((features, "PACKED", 1))
    if variant in ("team", "packed") and dense_up_to is None:
        dense_up_to = 0
    if variant == "shared":
        changes.append((solver, "queued", lambda: True))
    if dense_up_to is not None:
        changes += [(solver, "MAX_DENSE", dense_up_to), (solver, "MAX_FACTOR", 0)]
    if variant == "shared" or dense_up_to:
        changes.append((features, "dense_bodies", lambda: True))
    if workers is not None:
        changes += [(session, "workers", workers), (team, "workers", lambda: workers)]
        changes += [(team, "hands", lambda d: workers), (team, "PATIENCE", 1 << 30)]
    if variant == "gpu_sort":
        changes.append((sorting, "shared", lambda: True))
    before = [(module, name, getattr(module, name)) for module, name, _ in changes]
    try:
        for module, name, value in changes:
            setattr(module, name, value)
        program.outdate()
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
        program.outdate()


def processor_kind():
    """What the bits of a result may depend on: machine, its vector units, and the C library."""
    try:
        flags = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    except OSError:
        flags = set()
    units = [name for name in ("avx2", "fma", "avx512f") if name in flags]
    return "-".join([platform.machine(), *units, "".join(platform.libc_ver()) or platform.system()])


def load(case):
    """Model, Data and whether rays and distances are asked for."""
    name, *words = case.scene.split()
    values = dict(word.split("=") for word in words)
    worlds, multiccd, elliptic, queries = (
        int(values.pop(key, default))
        for key, default in (("worlds", 1), ("multiccd", 0), ("elliptic", 0), ("queries", 0))
    )
    if name.endswith(".xml"):
        m = tisim.Model.from_xml_path(TESTDATA / name)
    else:
        m = tisim.Model.from_scene(name, **{k: int(v) if v.isdigit() else v for k, v in values.items()})
    if not case.long:  # those are as the benchmark has them
        m.opt.enableflags = int(m.opt.enableflags) | int(tisim.mjtEnableBit.mjENBL_ENERGY)
    if multiccd:
        m.opt.enableflags = int(m.opt.enableflags) | int(tisim.mjtEnableBit.mjENBL_MULTICCD)
    if elliptic:
        m.opt.cone = tisim.mjtCone.mjCONE_ELLIPTIC
    d = tisim.Data(m, nworld=worlds)
    if worlds > 1:  # each world starts otherwise
        d.qvel = np.random.default_rng(0).normal(size=(worlds, m.nv)) * 0.5
    return m, d, queries


def compute(case):
    """The hash of a case; Taichi must run in its precision."""
    with force(case.variant):
        m, d, queries = load(case)
        tisim.step(m, d, case.steps)
        return digest(d) + (f" queries:{_hash(query(m, d))}" if queries else "")


def digest(d, parts=PARTS):
    """The hash of what a Data holds, part by part."""
    return " ".join(f"{name}:{_hash([read(d, name, field) for field in fields])}" for name, fields in parts.items())


def read(d, part, field):
    """A field of one of PARTS as an array."""
    if part == "contacts":
        return np.asarray(getattr(d.contact, field))
    return np.asarray(getattr(d, f"efc_{field}" if part == "rows" else field))


def query(m, d):
    """Rays and distances, few (one thread) and many (all)."""
    rng = np.random.default_rng(1)
    out = []
    for n in (5, 400):
        out += tisim.multi_ray(m, d, [0, 0, 2], rng.normal(size=(n, 3)) - [0, 0, 1])
        geom = 2 + np.arange(n) % (m.ngeom - 3)
        out += tisim.geom_distance(m, d, geom, geom + 1, 1.0)
    return out


def _hash(arrays):
    """Twelve hexadecimal digits of the bytes of arrays and their shapes; -0 and 0 are the same."""
    h = hashlib.sha256()
    for a in arrays:
        a = np.ascontiguousarray(a)
        h.update(repr((a.shape, a.dtype.kind)).encode() + (a + 0 if a.dtype.kind == "f" else a).tobytes())
    return h.hexdigest()[:12]


def golden(kind=None):
    """dict case key -> hash for a kind of processor, this one's if None; empty if there are none."""
    kind = kind or processor_kind()
    return {tuple(r[c] for c in COLUMNS[:4]): r["hash"] for r in _rows() if r["processor"] == kind}


def _rows():
    if not TABLE.is_file():
        return []
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file))


def write(hashes):
    """Writes hashes of this kind of processor into golden.csv; drops those of cases that are no more.

    Where one changes, what other kinds of processors would compute now is not known: their hashes are dropped, and
    their tests skip until somebody writes them there.
    """
    kind, cases = processor_kind(), [case.key for case in CASES]
    before = golden()
    same = all(before.get(key, found) == found for key, found in hashes.items())
    rows = [r for r in _rows() if same and r["processor"] != kind]
    known = before | hashes
    apart = sorted(key for key in known if key[0].startswith(BY_BENCHMARK))
    rows += [dict(zip(COLUMNS, (*key, kind, known[key]))) for key in cases + apart if key in known]
    with TABLE.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def verdict(key, found):
    """(whether a hash is not another than the golden one, words for it)."""
    wanted = golden().get(key)
    if wanted is None:
        return True, "no golden"
    return found == wanted, "ok" if found == wanted else f"DIFFERS in {', '.join(differing(found, wanted))}"


def differing(one, other):
    """Names of the parts in which two hashes differ."""
    a, b = (dict(part.split(":") for part in text.split()) for text in (one, other))
    return [name for name in a | b if a.get(name) != b.get(name)]


def main(arguments):
    """Computes cases, prints them, and compares or writes; returns the exit code."""
    hashes, wrong = {}, 0
    print(f"processor {processor_kind()}: {len(golden())} golden hashes")
    for case in CASES:
        if "--fast" in arguments and not case.fast or case.long and "--long" not in arguments:
            continue
        tisim.init(arch="cpu", precision=case.precision)
        began = time.perf_counter()
        hashes[case.key] = found = compute(case)
        ok, words = verdict(case.key, found)
        wrong += not ok
        took = time.perf_counter() - began
        print(f"{took:6.1f} s  {case.precision} {case.variant:9} {case.steps:4} {case.scene:56} {words}", flush=True)
    if "--write" in arguments:
        write(hashes)
        print(f"{len(hashes)} hashes written to {TABLE}")
        return 0
    if not golden():
        print("nothing was compared: golden.csv has no hashes of this kind of processor (--write, before a change)")
        return 2
    print(f"{wrong} of {len(hashes)} differ" if wrong else "none differs")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
