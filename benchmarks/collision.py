"""How fast are broad and narrow phase, against the newest MuJoCo's, on the same poses in the same run?

    python benchmarks/collision.py [--n 1000 4000 10000 30000 100000] [--scene pile floor tower] [--shape mixed ...]

Bodies are put where a settled scene has them: a heap that is a few bodies high for its width ("pile"), one layer on a
floor ("floor"), a stack 16 bodies wide ("tower"), each turned at random and overlapping its neighbours a little. The
broad phase is everything up to the sorted pairs, the narrow phase the colliders, the list the parameters of contacts,
each from scratch at one and the same poses; "anew" is all three. "moving" is what a step of a simulation costs: bodies
move on at 0.5 m/s and 3 rad/s (r.m.s. per axis) in steps of 2 ms, and pairs serve as long as nothing has moved far.
The peer's figure is its mj_collision at the poses of the same motion; "ratio" is of "moving", "anew" of the other.
What tisim finds is judged by the MuJoCo whose physics it reproduces (3.4.0, from the environment): the exit code is 1
if their numbers of contacts differ by more than 0.1 %, or if the contacts are not, bit for bit, those that
tests/testdata/golden.csv has for this kind of processor (--write-golden). The newer peer lists other contacts between
boxes and between meshes; how many is printed.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time
from itertools import product

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests")]

SIZES = dict(box="0.08 0.06 0.07", sphere="0.08", capsule="0.05 0.05", cylinder="0.06 0.06", ellipsoid="0.08 0.06 0.07")
SPEED, TIMESTEP, STEPS = (0.5, 3.0), 0.002, 60  # of the motion: m/s, rad/s; s
CONTACT = ("worldid", "geom", "dist", "pos", "frame", "dim", "includemargin", "friction", "solref", "solimp")
SPACING = 0.135  # of bodies in a heap: about three contacts each [m]
MESH = """<asset><mesh name="gem" vertex="{}"/></asset>"""


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--n", type=int, nargs="+", default=[1000, 4000, 10000, 30000, 100000], help="bodies")
    p.add_argument("--scene", nargs="+", default=["pile", "floor", "tower"], choices=["pile", "floor", "tower"])
    p.add_argument("--shape", nargs="+", default=["mixed"], choices=["mixed", *SIZES, "mesh"])
    p.add_argument("--peer", default=str(ROOT / ".peers"), help="folder of the peer's packages")
    p.add_argument("--peer-max", type=int, default=4000, help="largest scene the peer takes part in")
    p.add_argument("--repeats", type=int, default=15, help="measurements of each figure; the median counts")
    p.add_argument("--arch", default="cpu")
    p.add_argument("--threads", type=int, default=None, help="of tisim; MuJoCo's collision runs on one")
    p.add_argument("--write-golden", action="store_true", help="write hashes of the contacts, measure nothing")
    p.add_argument("--count", nargs=3, metavar=("N", "SCENE", "SHAPE"), help=argparse.SUPPRESS)
    return p.parse_args()


def text(n, shape):
    """MJCF of n free bodies and a floor."""
    kinds = ["box", "sphere", "capsule"] if shape == "mixed" else [shape]
    size = {kind: f'type="{kind}" size="{SIZES[kind]}"' for kind in kinds if kind != "mesh"}
    size["mesh"] = 'type="mesh" mesh="gem"'
    points = np.random.default_rng(1).normal(size=(24, 3))
    points *= 0.075 / np.linalg.norm(points, axis=1, keepdims=True)
    assets = MESH.format(" ".join(f"{v:.5f}" for v in points.ravel())) if "mesh" in kinds else ""
    bodies = "\n".join(f"<body><freejoint/><geom {size[kinds[i % len(kinds)]]}/></body>" for i in range(n))
    return f"""<mujoco><size memory="{max(64, n // 4)}M"/>{assets}<worldbody>
        <geom type="plane" size="0 0 1"/>{bodies}</worldbody></mujoco>"""


def poses(n, scene):
    """(n, 7) positions and quaternions of the bodies."""
    rng = np.random.default_rng(0)
    if scene == "tower":
        wide = deep = 4
    elif scene == "floor":
        wide = deep = int(np.ceil(n**0.5))
    else:
        wide = deep = max(3, int(round((n / 10) ** 0.5)))
    i = np.arange(n)
    lattice = np.stack([i % wide, i // wide % deep, i // (wide * deep)], 1)
    pos = lattice * SPACING + rng.uniform(-0.02, 0.02, (n, 3))
    pos[:, 2] += 0.06
    quat = rng.normal(size=(n, 4))
    return np.concatenate([pos, quat / np.linalg.norm(quat, axis=1, keepdims=True)], 1)


def motion(n, scene):
    """(STEPS, n * 7) positions and quaternions of bodies on their way, the middle one being `poses`."""
    rng = np.random.default_rng(3)
    middle, linear, angular = poses(n, scene), rng.normal(size=(n, 3)) * SPEED[0], rng.normal(size=(n, 3)) * SPEED[1]
    out = np.empty((STEPS, n, 7))
    for k in range(STEPS):
        t = (k - STEPS // 2) * TIMESTEP
        turn = np.concatenate([np.ones((n, 1)), 0.5 * t * angular], 1)
        turn /= np.linalg.norm(turn, axis=1, keepdims=True)
        (a, b, c, d), (w, x, y, z) = turn.T, middle[:, 3:].T
        out[k, :, :3] = middle[:, :3] + t * linear
        out[k, :, 3:] = np.stack([
            a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w,
        ], 1)  # fmt: skip
    return out.reshape(STEPS, -1)


def moving_ms(pose, function, n, scene, repeats):
    """Median over repeats of the mean time of a call [ms] along the motion; pose(q) is called before each."""
    path, means = motion(n, scene), []
    for _ in range(max(2, repeats // 3)):
        total = 0.0
        for q in path:
            pose(q)
            began = time.perf_counter()
            function()
            total += time.perf_counter() - began
        means.append(1e3 * total / STEPS)
    return statistics.median(means[1:])


def median_ms(function, repeats):
    """Median time of a call [ms] after one that does not count."""
    function()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return 1e3 * statistics.median(times)


def sweep_tests(d, stage):
    """How many boxes the sweep compares: for each entry those that start before it ends, from the sorted keys."""
    from tisim.data.arrays.collision import SCALES
    from tisim.device import memory

    s = stage.scalars
    n = d.count("nentry")
    stage.run(d.model, d, "entries")
    half = s["entryhalf"] * d.capacity("npairmax")
    key = memory.download(d.device("sort_key"))[half : half + n]
    item = memory.download(d.device("sort_value"))[half : half + n]
    axis = memory.download(d.device("sweep_axis"))[0]
    middle, per_length = d.host("sweep_scale")[[SCALES["sweep_middle"], SCALES["sweep_per_length"]]]
    high = memory.download(d.device("item_boxhi")).reshape(-1, 3)[item, axis]
    t = (high - middle) * per_length
    level = np.clip((0.5 + 0.5 * t / (1 + np.abs(t))) * (1 << s["nlevelbit"]), 0, (1 << s["nlevelbit"]) - 1).astype(int)
    last = (key >> s["nlevelbit"] << s["nlevelbit"]) | level
    return int((np.searchsorted(key, last, "right") - np.arange(n) - 1).sum())


def collided(n, scene, shape, args):
    """Model and Data with the contacts of a scene, the key of its golden hash, and that hash."""
    from shared import golden

    import tisim
    from tisim.device import session
    from tisim.stages import collision, dynamics

    tisim.init(arch=args.arch, threads=args.threads)
    m = tisim.Model.from_xml_string(text(n, shape))
    d = tisim.Data(m)
    d.qpos = poses(n, scene).ravel()
    dynamics.fwd_position(m, d)
    collision.collide(m, d, keep=False)
    key = (f"{golden.BY_BENCHMARK}{scene} {shape} n={n}", "0", session.precision, "chosen")
    return m, d, key, golden.digest(d, {"contacts": CONTACT})


def ours(n, scene, shape, args):
    """dict of tisim's figures."""
    from shared import golden

    from tisim.stages import collision, dynamics

    m, d, key, digest = collided(n, scene, shape, args)
    stage = collision.of(m, d)
    wait = (lambda: None) if args.arch == "cpu" else lambda: d.count("ncon")

    def part(name):
        stage.run(m, d, name)
        wait()

    def broad():
        part("boxes")
        part("entries")
        part("pairs")

    out = dict(
        broad=median_ms(broad, args.repeats), narrow=median_ms(lambda: part("contacts"), args.repeats),
        list=median_ms(lambda: part("list"), args.repeats), npair=d.count("ncpair"), ncon=int(d.ncon),
        anew=median_ms(lambda: collision.collide(m, d, keep=False), args.repeats),
    )  # fmt: skip
    out["tests"] = sweep_tests(d, stage)

    def pose(q):
        d.qpos = q
        dynamics.fwd_position(m, d)

    def collide():
        collision.collide(m, d)
        wait()

    known, words = golden.verdict(key, digest)
    return out | dict(moving=moving_ms(pose, collide, n, scene, args.repeats), known=known, golden=words)


def theirs(n, scene, shape, args, mujoco):
    """(ms of mj_collision in motion, contacts) of the peer."""
    m = mujoco.MjModel.from_xml_string(text(n, shape))
    d = mujoco.MjData(m)
    d.qpos = poses(n, scene).ravel()
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)
    mujoco.mj_collision(m, d)
    ncon = int(d.ncon)

    def pose(q):
        d.qpos = q
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)

    return moving_ms(pose, lambda: mujoco.mj_collision(m, d), n, scene, args.repeats), ncon


def reference_count(n, scene, shape):
    """Contacts that the reference MuJoCo finds, in a process of its own."""
    command = [sys.executable, __file__, "--count", str(n), scene, shape]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main():
    args = parse()
    if args.count:
        import mujoco

        n, scene, shape = args.count
        m = mujoco.MjModel.from_xml_string(text(int(n), shape))
        d = mujoco.MjData(m)
        d.qpos = poses(int(n), scene).ravel()
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_collision(m, d)
        print(int(d.ncon))
        return 0
    if args.write_golden:
        from shared import golden

        golden.write(dict(collided(n, *which, args)[2:] for n in args.n for which in product(args.scene, args.shape)))
        return 0
    from pile import import_peer

    mujoco = import_peer(args.peer)
    ok, linear = True, {}
    print(f"tisim on {args.arch}, MuJoCo {mujoco.__version__} on one thread; median ms of {args.repeats}")
    print(f"{'scene':6} {'shape':9} {'bodies':>7} {'tests':>9} {'pairs':>8} {'contacts':>8} {'broad':>8} {'narrow':>8} "
          f"{'list':>7} {'anew':>8} {'moving':>8} {'MuJoCo':>8} {'ratio':>6} {'anew':>6} {'its con.':>8} "
          f"{'growth':>7}  golden hash")  # fmt: skip
    for scene in args.scene:
        for shape in args.shape:
            for n in args.n:
                r = ours(n, scene, shape, args)
                peer, ratio, anew, ncon = "", "", "", ""
                if n <= args.peer_max:
                    ms, ncon = theirs(n, scene, shape, args, mujoco)
                    peer, ratio, anew = f"{ms:.2f}", f"{ms / r['moving']:.2f}", f"{ms / r['anew']:.2f}"
                    right = reference_count(n, scene, shape)
                    if abs(right - r["ncon"]) > 0.001 * right:
                        ok = False
                        print(f"wrong: MuJoCo's reference finds {right} contacts")
                ok = ok and r["known"]
                first = linear.setdefault((scene, shape), (n, r["broad"]))
                growth = r["broad"] / first[1] / (n / first[0])
                print(f"{scene:6} {shape:9} {n:7d} {r['tests']:9d} {r['npair']:8d} {r['ncon']:8d} {r['broad']:8.2f} "
                      f"{r['narrow']:8.2f} {r['list']:7.2f} {r['anew']:8.2f} {r['moving']:8.2f} {peer:>8} {ratio:>6} "
                      f"{anew:>6} {ncon:>8} {growth:7.2f}  {r['golden']}", flush=True)  # fmt: skip
    print("growth: time of the broad phase per body, against the smallest scene's")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
