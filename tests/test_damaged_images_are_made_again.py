"""Images of machine code are used only as they were written, by this user, for this key.

Contract: a file that is cut, flipped, emptied, exchanged, of another version, unreadable, or no file at all is as good
as none: no crash, no other bit, and it is made anew. A folder in which others can write, that is full or cannot be
made, is not used, and why is told. Processes that fill a cache at once end with the same bits and leave no parts.
"""

import concurrent.futures
import contextlib
import errno
import json
import os
import pathlib
import random
import select
import subprocess
import sys
import time

import pytest
from shared.roads import need_machine_code

import tisim
from tisim.device import build, images, native, runtime
from tisim.device.cache import STALE
from tisim.device.images import Record

PROGRAM = """
import hashlib, json, sys
exec(sys.argv[1])  # what a test does first
import numpy as np
import tisim
from tisim.device import images, native

m = tisim.Model.from_xml_string('''<mujoco><option><flag contact="disable"/></option><worldbody>
  <body><joint type="hinge" axis="0 1 0" damping=".1"/><geom size=".1" pos=".3 0 0"/></body></worldbody></mujoco>''')
tisim.init(arch="cpu", precision="f64")
d = tisim.Data(m)
tisim.step(m, d, 50)
state = np.concatenate([np.asarray(d.qpos), np.asarray(d.qvel), np.asarray(d.xpos).reshape(-1)])
road = native.road()
print(json.dumps(dict(
    state=state.tobytes().hex(), road=road is not None, made=road.made if road else 0, plain=road.plain if road else {},
    why=native.why, troubles=images.troubles,
)))
"""


def run(cache, first="", **variables):
    """What a process with this cache tells."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, first], capture_output=True, text=True, timeout=300,
        env=os.environ | {"TISIM_CACHE": str(cache)} | variables,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def files(cache):
    return sorted(path for path in (pathlib.Path(cache) / "images").iterdir())


def whole(cache):
    """Whether the folder holds nothing but good images and requests."""
    for path in files(cache):
        if path.suffix == ".img":
            Record.unpack(path.stem, path.read_bytes())
        elif path.suffix != ".ref":
            return False
    return True


# ---- ways to damage a file


def cut(path, rng):
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(len(data))])


def lengthen(path, rng):
    path.write_bytes(path.read_bytes() + rng.randbytes(rng.randrange(1, 100)))


def flip(path, rng, last=None):
    data = bytearray(path.read_bytes())
    data[rng.randrange(min(len(data), last or len(data)))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def flip_header(path, rng):
    flip(path, rng, last=150)


def empty(path, rng):
    path.write_bytes(b"")


def scramble(path, rng):
    path.write_bytes(rng.randbytes(len(path.read_bytes())))


def exchange(path, rng):
    other = rng.choice([p for p in path.parent.iterdir() if p.suffix == path.suffix and p != path])
    one, two = path.read_bytes(), other.read_bytes()
    path.write_bytes(two), other.write_bytes(one)


def age(path, rng):
    path.write_bytes(path.read_bytes().replace(images.FORMAT, b"tisim image 0\n"))


def replace_by_folder(path, rng):
    path.unlink()
    path.mkdir()


def remove(path, rng):
    path.unlink()


WAYS = (cut, lengthen, flip, flip, flip_header, empty, scramble, exchange, age, replace_by_folder, remove)


def record_of(rng):
    code = rng.randbytes(rng.randrange(1, 400))
    return Record(code, [0, len(code) // 2], [["sin", 8]], [["qpos", "f64*", False], ["niter", "i32", True]])


def values(record):
    return record.code, record.tasks, record.externals, record.parameters


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TISIM_CACHE", str(tmp_path))
    images.troubles.clear()
    yield tmp_path
    images.troubles.clear()


def test_500_damaged_files_are_refused_and_written_again(cache):
    rng, refused = random.Random(0), 0
    records = {f"key{i}": record_of(rng) for i in range(4)}
    for round in range(500):
        for key, record in records.items():
            path = images.folder() / f"{key}.img"
            if path.is_dir():
                path.rmdir()
            assert images.keep(key, record)
            ref = images.folder() / f"request-{key}.ref"
            if ref.is_dir():
                ref.rmdir()
            images.keep_request(f"request-{key}", key)
        way = rng.choice(WAYS)
        way(rng.choice(files(cache)), rng)
        for key, record in records.items():
            for found in (images.find(key), images.find_request(f"request-{key}")):
                assert found is None or values(found) == values(record), way
                refused += found is None
    assert refused > 450  # some damage is none: an exchange of equal bytes, the version of a request


def test_what_was_refused_is_told_with_its_file(cache):
    record = record_of(random.Random(1))
    images.keep("one", record), images.keep("two", record)
    one, two = (images.folder() / f"{name}.img" for name in ("one", "two"))
    os.replace(two, one)
    assert images.find("one") is None and "two" in images.troubles[str(one)]
    one.write_bytes(one.read_bytes()[:-1])
    assert images.find("one") is None and images.troubles[str(one)] == "damaged"
    one.write_bytes(b"tisim image 0\n" + bytes(99))
    assert images.find("one") is None and "version" in images.troubles[str(one)]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_can_write_is_refused(cache, mode):
    assert images.keep("one", record_of(random.Random(1)))
    images.folder().chmod(mode)
    assert images.find("one") is None and images.find_request("one") is None
    assert not images.keep("two", record_of(random.Random(2)))
    images.keep_request("request", "one")
    assert "others can write there" in images.troubles[str(images.folder())]
    images.folder().chmod(0o755)
    assert images.find("one") is not None and len(files(cache)) == 1


def test_a_folder_of_another_user_is_refused(cache, monkeypatch):
    assert images.keep("one", record_of(random.Random(1)))
    monkeypatch.setattr(os, "geteuid", lambda: images.folder().stat().st_uid + 1)
    assert images.find("one") is None


def test_an_unreadable_file_is_as_good_as_none(cache, monkeypatch):
    assert images.keep("one", record_of(random.Random(1)))

    def read(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(pathlib.Path, "read_bytes", read)
    assert images.find("one") is None and images.troubles


def full(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("place", ["mkstemp", "fdopen", "replace"])
def test_a_full_disk_leaves_no_parts(cache, monkeypatch, place):
    assert images.keep("one", record_of(random.Random(1)))

    monkeypatch.setattr(images.tempfile if place == "mkstemp" else images.os, place, full)
    assert not images.keep("two", record_of(random.Random(2)))
    images.keep_request("request", "two")
    assert [path.name for path in files(cache)] == ["one.img"] and "No space" in str(images.troubles)


def test_parts_of_killed_processes_are_swept_away_after_a_day(cache):
    record = record_of(random.Random(1))
    images.keep("one", record)
    old, new = (images.folder() / f".part-{name}" for name in ("old", "new"))
    for path, age in ((old, 90000), (new, 80000)):
        path.write_bytes(b"x")
        os.utime(path, (path.stat().st_atime - age,) * 2)
    images.sweep.cache_clear()
    images.keep("two", record)
    assert not old.exists() and new.exists() and len(files(cache)) == 3


def test_no_worker_starts_where_nothing_can_be_kept(cache, monkeypatch):
    """They hand over what they make by the cache."""
    started, todo = [], [(k, None) for k in runtime_kernels()]  # the first start of Taichi asks a process, too
    monkeypatch.setattr(build.subprocess, "Popen", lambda *a, **k: started.append(a) or pytest.fail("started"))
    monkeypatch.setattr(build.threads, "processors", lambda: 4)
    images.own_folder().chmod(0o777)
    with build._workers(todo) as (workers, claims):
        assert workers == [] and claims is None and not started
    assert "others can write" in images.troubles[str(images.folder())]
    images.folder().chmod(0o700)
    monkeypatch.setattr(images.tempfile, "TemporaryFile", full)
    assert not images.usable() and "No space" in str(images.troubles)


HOLDS = """
import sys
import time
from tisim.device import images
with images.making(sys.argv[1]):
    print("makes it", flush=True)
    sys.stdin.read()
"""


def test_one_process_at_a_time_makes_an_image(cache):
    """Others wait for it, also where it dies, and not for another image's."""

    def start(key):
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return subprocess.Popen(
            [sys.executable, "-c", HOLDS, key], env=os.environ | {"TISIM_CACHE": str(cache)}, **pipes
        )

    first = start(40 * "a")
    running = [first]
    try:
        assert first.stdout.readline() == "makes it\n"
        second, other = start(40 * "a"), start(40 * "b")
        running += [second, other]
        assert other.stdout.readline() == "makes it\n"
        assert not select.select([second.stdout], [], [], 2)[0], "it does not wait"
        first.kill()
        assert second.stdout.readline() == "makes it\n"
    finally:
        for process in running:
            process.kill()
            process.communicate()
    assert not files(cache), "the lock lies beside the images"


def test_what_another_process_made_meanwhile_is_taken(cache, monkeypatch):
    tisim.init(arch="cpu", precision="f64")
    need_machine_code()
    m = tisim.Model.from_scene("pendulum")
    tisim.Data(m)
    road, kernel, has = native.road(), runtime.kernels("smooth.kinematics").body_poses, m.features()
    record = road._record(kernel, has)
    for image in cache.glob("images/*.img"):
        image.unlink()
    made = road.made

    @contextlib.contextmanager
    def waits(key):
        images.keep(key, record)
        yield

    monkeypatch.setattr(images, "making", waits)
    assert values(road._record(kernel, has)) == values(record) and road.made == made


def runtime_kernels():
    """Kernels enough for workers."""
    tisim.init(arch="cpu")
    k = runtime.kernels("smooth.kinematics")
    return [k.body_poses] * 4 * build.SHARE


# ---- whole processes


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """(cache, what the process that filled it told): by two processes at once."""
    tisim.init(arch="cpu")
    need_machine_code()
    cache = tmp_path_factory.mktemp("filled")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        one, two = pool.map(run, (cache, cache))
    assert one["road"] and one["state"] == two["state"] and not one["plain"] and not one["troubles"]
    assert run(cache, TISIM_NATIVE="0")["state"] == one["state"]
    assert whole(cache) and len(files(cache)) > 10
    return cache, one


def test_a_filled_cache_serves_all(filled):
    cache, first = filled
    told = run(cache, "import importlib.util; importlib.util.find_spec = lambda name, package=None: None")
    assert told["made"] == 0 and told["state"] == first["state"] and told["road"] and not told["plain"]


@pytest.mark.parametrize("seed", range(2))
def test_processes_with_damaged_caches_take_the_same_steps(filled, tmp_path, seed):
    cache, first = filled
    rng = random.Random(seed)
    copy = tmp_path / "images"
    copy.mkdir(mode=0o700)
    for path in files(cache):
        (copy / path.name).write_bytes(path.read_bytes())
    for path in files(tmp_path):
        if path.exists() and rng.random() < 0.8:
            rng.choice([way for way in WAYS if way is not replace_by_folder])(path, rng)
    told = run(tmp_path)
    assert told["state"] == first["state"] and not told["plain"]
    assert run(tmp_path)["made"] == 0 and whole(tmp_path)


def test_folders_instead_of_files_are_left_alone(filled, tmp_path):
    cache, first = filled
    for path in files(cache):
        (tmp_path / "images" / path.name).mkdir(parents=True)
    (tmp_path / "images").chmod(0o700)
    told = run(tmp_path)
    assert told["state"] == first["state"] and told["road"] and told["troubles"]
    assert [path.name for path in files(tmp_path)] == [path.name for path in files(cache)]


@pytest.mark.parametrize("cache, first", [
    ("/proc/nowhere", ""),
    ("/tmp/" + 300 * "n", ""),  # Taichi's own error, as where its folder may not be searched
    (None, "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))"),  # longer files fail
    (None, "import os; os.makedirs(os.environ['TISIM_CACHE'] + '/images', 0o777); "
           "os.chmod(os.environ['TISIM_CACHE'] + '/images', 0o777)"),
], ids=["none", "none can be asked", "full", "open"])  # fmt: skip
def test_without_a_usable_folder_steps_are_the_same(filled, tmp_path, cache, first):
    told = run(cache or tmp_path, first)
    assert told["state"] == filled[1]["state"] and (told["troubles"] or told["plain"])
    assert cache or all(path.name.startswith("support-") for path in files(tmp_path))


@pytest.mark.parametrize("age, taken", [(STALE + 60, True), (0, False)])
def test_a_lock_of_a_killed_process_is_taken_away(tmp_path, age, taken):
    """Taichi's own cache is warned of and not written while there is a lock, whoever left it."""
    env = os.environ | {"TISIM_CACHE": str(tmp_path), "TISIM_NATIVE": "0"}
    run = [sys.executable, "-c", "import tisim; tisim.init(arch='cpu'); import taichi; taichi.field(float, 3).fill(1)"]
    subprocess.run(run, env=env, check=True)
    (folder,) = tmp_path.glob("kernels-*")
    lock = folder / "ticache.lock"
    lock.touch()
    os.utime(lock, 2 * (time.time() - age,))
    done = subprocess.run(run, env=env, capture_output=True, text=True, check=True)
    assert taken == (not lock.exists()) == ("ticache.lock" not in done.stderr), done.stderr
