"""CPU time of a picture of 640 x 360 over all threads, least of five after the first, against mujoco.Renderer.

    python benchmarks/pictures.py [--scenes wall:60,pile:1000,pile:10000] [--precision f32]
    python benchmarks/pictures.py --meshes 300
    python benchmarks/pictures.py --films 100

The same state, camera and size in both; mujoco.Renderer draws by OSMesa (apt-get install libosmesa6), with its shadows.
`all` is RGB with the sun's shadows, depth and segmentation of one pass, against mujoco's three calls; `model` RGB with
the model's own lights, textures and mirrors, as mujoco's. `--meshes`: so many balls of 1,280 faces, and such with
dents, against boxes of the same size. `--films`: so many pictures of a wall that a ball hits go into films of each
kind: how many come a second, simulated meanwhile or drawn of states that are there, and what the encoder takes (of an
.mp4 ffmpeg's own time is not known).
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import tisim
from tisim.cli.film import Film
from tisim.viewer.camera import choose

W, H, PICTURES = 640, 360, 5
FPS = 50  # of films
THEIRS = """
import sys, time, mujoco
m = mujoco.MjModel.from_xml_path(sys.argv[1])
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
m.vis.global_.fovy = float(sys.argv[2])
cam = mujoco.MjvCamera()
cam.azimuth, cam.elevation, cam.distance = map(float, sys.argv[3:6])
cam.lookat[:] = [float(x) for x in sys.argv[6:9]]
with mujoco.Renderer(m, {h}, {w}, max_geom=50000) as r:
    for modes in ([""], ["", "depth", "segmentation"]):
        times = []
        for _ in range({n}):
            start = time.process_time()
            for mode in modes:
                if mode:
                    getattr(r, f"enable_{{mode}}_rendering")()
                r.update_scene(d, cam)
                r.render()
                if mode:
                    getattr(r, f"disable_{{mode}}_rendering")()
            times.append(time.process_time() - start)
        print(1e3 * min(times[1:]))
"""


def ours(m, d, cam, quality, every=False):
    """Least CPU time of a picture [ms]."""
    times = []
    with tisim.Renderer(m, H, W, quality=quality) as r:
        for _ in range(PICTURES + 1):
            start = time.process_time()
            r.update_scene(d, cam)
            (r.render_all if every else r.render)()
            times.append(time.process_time() - start)
    return 1e3 * min(times[1:])


def tower(n, kind):
    """MJCF of n bodies of one kind, turned by chance, in a tower 5 wide and 5 deep."""
    r = np.random.default_rng(0)
    mesh = '<mesh name="ball" builtin="sphere" params="3" scale=".1 .1 .1"/>'
    if kind == "dented":
        ball = tisim.Model.from_xml_string(
            f'<mujoco><asset>{mesh}</asset><worldbody><geom type="mesh" mesh="ball"/></worldbody></mujoco>'
        )
        vert = np.array(ball.mesh_vert, float) / 0.1
        vert *= 0.1 + 0.04 * np.sin(5 * vert[:, :1]) * np.cos(6 * vert[:, 1:2])
        faces = " ".join(map(str, np.ravel(ball.mesh_face)))
        mesh = f'<mesh name="ball" vertex="{" ".join(f"{x:.6f}" for x in vert.ravel())}" face="{faces}"/>'
    geom = 'type="box" size=".1 .1 .1"' if kind == "box" else 'type="mesh" mesh="ball"'
    bodies = []
    for k in range(n):
        place = 0.25 * np.array([k % 5 - 2, k // 5 % 5 - 2, k // 25 + 0.5]) + r.uniform(-0.03, 0.03, 3) + [0, 0, 0.1]
        numbers = [" ".join(f"{x:.4f}" for x in row) for row in (place, r.normal(size=4), r.uniform(0.3, 0.9, 3))]
        pos, quat, rgb = numbers
        bodies.append(f'<body pos="{pos}" quat="{quat}"><freejoint/><geom {geom} rgba="{rgb} 1"/></body>')
    assets = "" if kind == "box" else f"<asset>{mesh}</asset>"
    return f'<mujoco>{assets}<worldbody><geom type="plane" size="0 0 1"/>{"".join(bodies)}</worldbody></mujoco>'


def meshes(n):
    """Prints the times of n meshes beside those of n boxes."""
    boxes = None
    for kind in ("box", "ball", "dented"):
        m = tisim.Model.from_xml_string(tower(n, kind))
        d = tisim.Data(m)
        tisim.forward(m, d)
        cam = choose(None, m, d, W / H)
        mine = np.array([ours(m, d, cam, q) for q in ("plain", "sun", "sky", "model")])
        boxes = mine if boxes is None else boxes
        print(f"{n:>6} {kind:>6} " + " ".join(f"{x:8.1f}" for x in mine) + "   times boxes: "
              + " ".join(f"{x:.1f}" for x in mine / boxes), flush=True)  # fmt: skip


def films(n):
    """Prints pictures a second of a film that is simulated, and of one whose states are there already; of the latter
    the processor time of a picture [ms]: of all, and of its encoding."""
    m = tisim.Model.from_scene("wall", n=60)
    d = tisim.Data(m)
    states = []
    for _ in range(n + 1):
        states.append((d.qpos.copy(), d.qvel.copy()))
        tisim.step(m, d, round(1 / FPS / float(m.opt.timestep)))
    print(f"{'film':>12} simulated/s    drawn/s    all ms  encoding  KiB")
    for quality in ("plain", "sun", "sky"):
        for suffix in ("webp", "gif", "mp4"):
            try:
                rows = [film(m, suffix, quality, n, given) for given in (None, states)]
            except tisim.Error as error:
                print(f"{suffix:>6} {quality:>5} {error}")
                continue
            (simulated, *_), (rate, spent, encoding, size) = rows
            print(f"{suffix:>6} {quality:>5} {simulated:11.0f} {rate:10.0f} {spent:9.1f} {encoding:9.1f} {size:4.0f}",
                  flush=True)  # fmt: skip


def film(m, suffix, quality, n, states):
    """Pictures a second of one film, ms of processor time and of encoding of a picture, size [KiB].

    states  (qpos, qvel) of each picture; None: it is simulated meanwhile.
    """
    d = tisim.Data(m)
    tisim.forward(m, d)
    with tempfile.TemporaryDirectory() as folder:
        out = Film(os.path.join(folder, f"a.{suffix}"), (W, H), FPS, float(m.opt.timestep), quality=quality)
        out.add(m, d)
        spent, began, first = time.process_time(), time.perf_counter(), out.encoding
        for k in range(1, n + 1):
            if states is None:
                tisim.step(m, d, out.next_step() - round(float(d.time) / out.timestep))
            else:
                d.qpos, d.qvel, d.time = *states[k], k / FPS
                tisim.forward(m, d)
            out.add(m, d)
        out.close()
        rate, spent = n / (time.perf_counter() - began), 1e3 * (time.process_time() - spent) / n
        return rate, spent, 1e3 * (out.encoding - first) / n, out.path.stat().st_size / 1024


def theirs(m, cam, pictures):
    """Least CPU time of mujoco.Renderer's RGB, and of RGB, depth and segmentation [ms]; None where it does not work."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.xml")
        m.save(path)
        numbers = (cam.fovy, cam.azimuth, cam.elevation, cam.distance, *cam.lookat)
        code = THEIRS.format(h=H, w=W, n=pictures + 1)
        done = subprocess.run([sys.executable, "-c", code, path, *map(str, numbers)], capture_output=True, text=True,
                              env=dict(os.environ, MUJOCO_GL="osmesa"))  # fmt: skip
    if done.returncode:
        print(f"mujoco.Renderer does not work here: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return [float(x) for x in done.stdout.split()]


def scene(text):
    """Model, Data and camera of a scene given as name:bodies, as it begins."""
    name, n = text.split(":")
    m = tisim.Model.from_scene(name, n=int(n))
    d = tisim.Data(m)
    tisim.forward(m, d)
    return m, d, choose(None, m, d, W / H)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", default="wall:60,pile:1000,pile:10000")
    parser.add_argument("--precision", default="f64", choices=("f64", "f32"))
    parser.add_argument("--pictures", type=int, default=PICTURES, help="of mujoco.Renderer")
    parser.add_argument("--meshes", type=int, help="compare so many meshes with boxes")
    parser.add_argument("--films", type=int, help="write films of so many pictures")
    args = parser.parse_args()
    tisim.init(arch="cpu", precision=args.precision)
    if args.meshes:
        print(f"{'scene':>13} " + " ".join(f"{name:>8}" for name in ("plain", "sun", "sky", "model")))
        return meshes(args.meshes)
    if args.films:
        return films(args.films)
    columns = " ".join(f"{name:>8}" for name in ("plain", "sun", "sky", "all", "model"))
    print(f"{'scene':>12} {columns}   mujoco: RGB, three; ratios sun, sky, all")
    for text in args.scenes.split(","):
        m, d, cam = scene(text)
        mine = [ours(m, d, cam, q) for q in ("plain", "sun", "sky")] + [ours(m, d, cam, "sun", every=True)]
        mine.append(ours(m, d, cam, "model"))
        line = f"{text:>12} " + " ".join(f"{x:8.1f}" for x in mine)
        peer = theirs(m, cam, args.pictures)
        if peer:
            rgb, three = peer
            line += f"   {rgb:.0f} {three:.0f} ms; {rgb / mine[1]:.1f} {rgb / mine[2]:.1f} {three / mine[3]:.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
