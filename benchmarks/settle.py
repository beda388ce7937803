"""How long does a heap of meshes take to come to rest, and how still is it then?

    python benchmarks/settle.py [--n 1000] [--seconds 5] [--peer .peers] [--json FILE]

n stones, convex meshes of eight shapes scattered over a walled floor (tisim.Spec.scatter), fall and settle: in tisim,
in the newest MuJoCo by CG (`--solver Newton` is slower there), and in PyBullet if it is there, in turns of a tenth of a
simulated second. Told are the wall time of it all, the time after which nineteen of twenty stones have become slower
than 1 cm/s (the larger of speed and turning times radius) and stay so, how fast they are at the end, and how deep they
are inside each other. Engines have contacts of their own, so only what is seen is compared.
"""

import argparse
import json
import pathlib
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMESTEP, LOOK = 0.004, 25  # [s]; steps between two looks
SHAPES, RADIUS, DENSITY, FRICTION = 8, 0.06, 500, 0.8
SLOW, MOST = 0.01, 0.95  # a stone is at rest below this speed [m/s]; the part of them that makes a heap at rest


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--n", type=int, default=1000, help="stones")
    p.add_argument("--seconds", type=float, default=5.0, help="simulated time [s]")
    p.add_argument("--peer", default=str(ROOT / ".peers"), help="folder of the peers' packages")
    p.add_argument("--solver", nargs="+", default=["CG"], choices=("Newton", "CG"), help="of MuJoCo")
    p.add_argument("--threads", type=int, default=None, help="of tisim; the others step with one")
    p.add_argument("--json", default=None, help="also write the figures to this file")
    return p.parse_args()


def stones(rng):
    """Vertices (20, 3) of convex bodies."""
    for _ in range(SHAPES):
        v = rng.normal(size=(20, 3))
        yield RADIUS * rng.uniform(0.7, 1.3, 3) * v / np.linalg.norm(v, axis=1)[:, None]


def scene(n):
    """(tisim.Spec of the heap before it falls, side of the floor [m])."""
    import tisim

    templates, shapes = [], tisim.Spec()
    for k, vertices in enumerate(stones(np.random.default_rng(0))):
        shapes.add_mesh(name=f"stone{k}", uservert=vertices.ravel())
        body = shapes.worldbody.add_body(name=f"s{k}")
        body.add_freejoint()
        body.add_geom(type="mesh", meshname=f"stone{k}", density=DENSITY, friction=[FRICTION, 0.005, 0.0001])
        templates.append(body)
    side = max(0.5, 0.14 * (n / 12) ** 0.5)
    spec = tisim.Spec()
    spec.option.timestep = TIMESTEP
    spec.option.enableflags = int(tisim.mjtEnableBit.mjENBL_SLEEP | tisim.mjtEnableBit.mjENBL_MULTICCD)
    spec.worldbody.add_geom(type="plane", size=[50, 50, 1])
    for sign in (1, -1):
        at, long = sign * (side / 2 + 0.05), side / 2 + 0.1
        spec.worldbody.add_geom(type="box", pos=[at, 0, 1], size=[0.05, long, 1])
        spec.worldbody.add_geom(type="box", pos=[0, at, 1], size=[long, 0.05, 1])
    spec.scatter(templates, n, [-side / 2, -side / 2, 0.01], [side / 2, side / 2, 0.3 + n * 0.02 / side**2])
    return spec


class Of:
    """What a Model and Data in MuJoCo's manner tell."""

    def speeds(self):
        """(n,) of the stones [m/s]."""
        v = np.asarray(self.d.qvel, float).reshape(-1, 6)
        return np.maximum(np.linalg.norm(v[:, :3], axis=1), RADIUS * np.linalg.norm(v[:, 3:], axis=1))

    def depth(self):
        """Greatest depth of two bodies in each other [m]."""
        return max(0.0, -float(np.min(self.d.contact.dist, initial=0)))


class Tisim(Of):
    name = "tisim"

    def __init__(self, spec):
        import tisim

        self.tisim, self.m = tisim, spec.compile()
        self.d = tisim.Data(self.m)
        tisim.pipeline.prepare(self.m, self.d)

    def step(self, n):
        self.tisim.step(self.m, self.d, n)

    def depth(self):
        found = self.tisim.overlaps(self.m, self.d, 0.0)
        return float(found.depth[0]) if len(found) else 0.0


class Mujoco(Of):
    def __init__(self, mujoco, xml, solver):
        self.name, self.mujoco = f"MuJoCo {mujoco.__version__} {solver}", mujoco
        self.m = mujoco.MjModel.from_xml_string(xml)
        self.m.opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver.upper()}")
        self.d = mujoco.MjData(self.m)

    def step(self, n):
        self.mujoco.mj_step(self.m, self.d, n)


class Bullet:
    name = "PyBullet"

    def __init__(self, bullet, m, d):
        self.b = bullet
        bullet.connect(bullet.DIRECT)
        bullet.setGravity(0, 0, -9.81)
        bullet.setTimeStep(TIMESTEP)
        self.stones = []
        shapes = {}
        for g in range(m.ngeom):
            kind, size = int(m.geom_type[g]), np.asarray(m.geom_size[g], float)
            body, pos = int(m.geom_bodyid[g]), np.asarray(d.geom_xpos[g], float)
            if kind == 0:
                shape = bullet.createCollisionShape(bullet.GEOM_PLANE)
            elif kind == 6:
                shape = bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=size.tolist())
            elif (mesh := int(m.geom_dataid[g])) not in shapes:
                first = int(m.mesh_vertadr[mesh])
                vertices = np.asarray(m.mesh_vert)[first : first + int(m.mesh_vertnum[mesh])].astype(float)
                shape = shapes[mesh] = bullet.createCollisionShape(bullet.GEOM_MESH, vertices=vertices.tolist())
            else:
                shape = shapes[mesh]
            x, y, z, w = _quaternion(bullet, d.geom_xmat[g])
            made = bullet.createMultiBody(
                float(m.body_mass[body]) if body else 0.0, shape, -1, pos.tolist(), (x, y, z, w)
            )
            bullet.changeDynamics(made, -1, lateralFriction=FRICTION**0.5)
            if body:
                self.stones.append(made)

    def step(self, n):
        for _ in range(n):
            self.b.stepSimulation()

    def speeds(self):
        v = np.array([self.b.getBaseVelocity(s) for s in self.stones])
        return np.maximum(np.linalg.norm(v[:, 0], axis=1), RADIUS * np.linalg.norm(v[:, 1], axis=1))

    def depth(self):
        return max([0.0, *(-c[8] for s in self.stones for c in self.b.getContactPoints(s))])


def _quaternion(bullet, mat):
    from tisim.mjcf.rotations import from_matrix

    w, x, y, z = from_matrix(np.asarray(mat, float).reshape(3, 3))
    return x, y, z, w


def race(engines, seconds):
    """Lets all of them step in turns; a list of dicts of what each did."""
    found = [dict(engine=e.name, wall=0.0, slow=[]) for e in engines]
    for _ in range(round(seconds / TIMESTEP / LOOK)):
        for engine, r in zip(engines, found):
            began = time.perf_counter()
            engine.step(LOOK)
            r["wall"] += time.perf_counter() - began
            r["slow"].append(float(np.mean(engine.speeds() < SLOW)))
    for engine, r in zip(engines, found):
        slow, speeds = np.array(r.pop("slow")), engine.speeds()
        awake = np.flatnonzero(slow < MOST)
        last = 0 if not len(awake) else int(awake[-1]) + 1
        r.update(
            rest=(last + 1) * LOOK * TIMESTEP if last < len(slow) else None,
            rest_wall=r["wall"] * (last + 1) / len(slow) if last < len(slow) else None, still=float(slow[-1]),
            median=float(np.median(speeds)), most=float(speeds.max()), depth=engine.depth(),
        )  # fmt: skip
    return found


def main():
    a = parse()
    import tisim

    tisim.init(arch="cpu", threads=a.threads)
    spec = scene(a.n)
    ours = Tisim(spec)
    tisim.forward(ours.m, ours.d)
    engines = [ours]
    sys.path.insert(0, a.peer)
    try:
        import mujoco
    except ImportError:
        sys.exit(
            f"no MuJoCo in {a.peer}: python -m pip install --no-deps --target .peers mujoco==4.0.0 mujoco-core==4.0.0"
        )
    engines += [Mujoco(mujoco, spec.to_xml(), solver) for solver in a.solver]
    try:
        import pybullet

        engines.append(Bullet(pybullet, ours.m, ours.d))
    except ImportError:
        print(f"no PyBullet in {a.peer}: python -m pip install --target .peers pybullet")
    found = race(engines, a.seconds)
    print(f"{a.n} stones, {a.seconds:g} s")
    print(
        f"{'':18}{'wall s':>9}{'ratio':>8}{'at rest after':>16}{'slow':>8}{'median':>12}{'fastest':>12}{'deepest':>10}"
    )
    for r in found:
        rest = f"{r['rest']:.1f} s, {r['rest_wall']:.1f} s" if r["rest"] else "-"
        print(f"{r['engine']:18}{r['wall']:9.2f}{r['wall'] / found[0]['wall']:8.2f}{rest:>16}{r['still']:8.1%}"
              f"{1e3 * r['median']:8.2f} mm/s{1e3 * r['most']:8.1f} mm/s{1e3 * r['depth']:7.2f} mm")  # fmt: skip
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
