"""PyBullet and Rapier on a pile of tisim's, for benchmarks/lcp.py: whole steps, with their own collision detection."""

import json
import pathlib
import shutil
import subprocess
import time

import numpy as np

SHAPES = {2: "sphere", 3: "capsule", 6: "box"}  # mjtGeom


def bodies_of(m, state):
    """[(shape, size, fixed, mass, position, quaternion, velocity, angular velocity in the world)] of boxes, spheres and
    capsules, each the only geom of its free body or one of the world."""
    import tisim

    d = tisim.Data(m)
    tisim.set_state(m, d, state)
    tisim.forward(m, d)
    found = []
    for g in np.flatnonzero(np.asarray(m.geom_type) != 0):
        b = int(m.geom_bodyid[g])
        v = np.zeros(6)
        if b:
            i = int(m.body_dofadr[b])
            v = np.array(d.qvel)[i : i + 6]
            v[3:] = np.array(d.xmat)[b].reshape(3, 3) @ v[3:]
        place = (d.xpos[b], d.xquat[b]) if b else (m.geom_pos[g], m.geom_quat[g])
        found.append((SHAPES[int(m.geom_type[g])], [float(x) for x in m.geom_size[g]], b == 0, float(m.body_mass[b]),
                      *([float(x) for x in a] for a in (*place, v[:3], v[3:]))))  # fmt: skip
    return found


class Peer:
    """A world of a peer; `pose` gives (position, quaternion, velocity) of free bodies (n, 10)."""

    def __init__(self, m, state):
        import tisim

        self.m, self.d, self.ncon = m, tisim.Data(m), 0

    def quality(self, judged):
        """Depth by tisim's collision detection, speed by the peer's velocities."""
        import tisim

        pose = self.pose()
        self.d.qpos[:] = pose[:, :7].ravel()
        v = np.zeros((len(pose), 6))
        v[:, :3] = pose[:, 7:]
        self.d.qvel[:] = v.ravel()
        tisim.forward(self.m, self.d)
        return judged(self.d)


class Bullet(Peer):
    """PyBullet with its defaults (50 iterations), at the same timestep."""

    def __init__(self, bullet, m, state):
        super().__init__(m, state)
        self.b, self.client, self.ids = bullet, bullet.connect(bullet.DIRECT), []
        bullet.setGravity(*map(float, m.opt.gravity))
        bullet.setPhysicsEngineParameter(fixedTimeStep=float(m.opt.timestep), deterministicOverlappingPairs=1)
        bullet.createMultiBody(0, bullet.createCollisionShape(bullet.GEOM_PLANE))
        for shape, size, fixed, mass, x, (qw, qx, qy, qz), lin, ang in bodies_of(m, state):
            if shape == "box":
                made = bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=size)
            elif shape == "sphere":
                made = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=size[0])
            else:
                made = bullet.createCollisionShape(bullet.GEOM_CAPSULE, radius=size[0], height=2 * size[1])
            i = bullet.createMultiBody(0 if fixed else mass, made, -1, x, [qx, qy, qz, qw])
            bullet.changeDynamics(i, -1, lateralFriction=1.0, restitution=0, linearDamping=0, angularDamping=0)
            if not fixed:
                bullet.resetBaseVelocity(i, lin, ang)
                self.ids.append(i)

    def go(self, steps):
        for _ in range(steps):
            self.b.stepSimulation()

    def time(self):
        began = time.perf_counter()
        self.go(5)
        return 1e3 * (time.perf_counter() - began) / 5

    def pose(self):
        rows = []
        for i in self.ids:
            x, (qx, qy, qz, qw) = self.b.getBasePositionAndOrientation(i)
            rows.append([*x, qw, qx, qy, qz, *self.b.getBaseVelocity(i)[0]])
        return np.array(rows)


class Rapier(Peer):
    """Rapier's WebAssembly by node, one thread, with its defaults."""

    def __init__(self, package, m, state):
        super().__init__(m, state)
        script = pathlib.Path(__file__).with_name("rapier.mjs")
        self.node = subprocess.Popen(
            ["node", script, package], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        names = ("shape", "size", "fixed", "mass", "pos", "quat", "lin", "ang")
        bodies = [dict(zip(names, body)) for body in bodies_of(m, state)]
        floor = dict(shape="box", size=[500, 500, 5], fixed=True, mass=0, pos=[0, 0, -5], quat=[1, 0, 0, 0])
        gravity = [float(x) for x in m.opt.gravity]
        self.about = self.ask(gravity=gravity, h=float(m.opt.timestep), bodies=[floor, *bodies])

    def ask(self, **what):
        self.node.stdin.write(json.dumps(what) + "\n")
        self.node.stdin.flush()
        return json.loads(self.node.stdout.readline())

    def go(self, steps):
        return self.ask(steps=steps)["ms"]

    def time(self):
        return self.go(5)

    def pose(self):
        return np.array(self.ask())


def rapier(folder):
    """Folder of Rapier's package below `folder`; None where it or node is not there."""
    found = pathlib.Path(folder, "node_modules", "@dimforge", "rapier3d-compat")
    return str(found) if found.exists() and shutil.which("node") else None
