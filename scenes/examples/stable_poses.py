"""On which sides does a body come to rest, and how often? It is dropped in many worlds at once, turned by chance.

    python scenes/examples/stable_poses.py [MESH] [--worlds 256] [--picture poses.png]

The body is a mesh file, or a box of 1:2:3 where none is given. Each world drops it with another orientation and lets it
settle; which way is down then, seen from the body, tells the side. Beside it stands which part of the directions point
to that side of the convex hull, as they would be counted if it did not roll over.
"""

import argparse

import numpy as np
import trimesh

import tisim

DROP = 1.3  # height over the floor, in radii of the body
SLOW = 2e-3  # at rest below this velocity [m/s]
NUDGE = 0.1, 0.1, 0, 2, 2, 2  # by which what stands on an edge falls over, of each velocity [m/s, rad/s]
SAME = 0.03  # directions nearer than this are one side [rad]


def model(mesh):
    """A trimesh.Trimesh, as one body of a model, of a size of 0.1 m."""
    size = 0.1 / np.linalg.norm(mesh.vertices - mesh.center_mass, axis=1).max()
    spec = tisim.Spec()
    spec.option.timestep = 0.002
    spec.option.enableflags = int(tisim.mjtEnableBit.mjENBL_MULTICCD)
    # a box, since a mesh has only three contacts with a plane, which change corners for ever
    spec.worldbody.add_geom(type="box", size=[9, 9, 1], pos=[0, 0, -1])
    vertices = size * (mesh.convex_hull.vertices - mesh.center_mass)
    spec.add_mesh(name="mesh", uservert=vertices.ravel())
    body = spec.worldbody.add_body(name="body")
    body.add_freejoint()
    body.add_geom(type="mesh", meshname="mesh", density=1000, rgba=[0.85, 0.6, 0.4, 1])
    return spec.compile()


def dropped(mesh, worlds=256, seed=0, timeout=10.0):
    """(Model, Data, indices of the worlds that came to rest) behind a drop in each world."""
    m = model(mesh)
    d = tisim.Data(m, nworld=worlds)
    rng = np.random.default_rng(seed)
    quat = rng.normal(size=(worlds, 4))
    d.qpos[:, 2] = 0.1 * DROP
    d.qpos[:, 3:] = quat / np.linalg.norm(quat, axis=1)[:, None]
    tisim.settle(m, d, timeout, tolerance=SLOW)
    d.qvel[...] = rng.normal(size=(worlds, m.nv)) * NUDGE
    found = tisim.settle(m, d, timeout, tolerance=SLOW)
    return m, d, np.setdiff1d(np.arange(worlds), found.moving[:, 0])


def rests(mesh, worlds=256, seed=0, timeout=10.0):
    """(directions (k, 3), times (k,)): unit vectors that point down in the body's frame where it came to rest, of
    worlds that did, and how often each was found; the most frequent first."""
    return sides_of(*dropped(mesh, worlds, seed, timeout))


def sides_of(m, d, rest):
    """What `rests` returns, of worlds that came to rest."""
    # of the body's frame: the compiler has put the mesh's at its principal axes
    down = -np.asarray(d.xmat).reshape(d.nworld, m.nbody, 3, 3)[rest, 1, 2]
    sides, counts = [], []
    for v in down:
        near = [k for k, side in enumerate(sides) if v @ side > np.cos(SAME)]
        if near:
            counts[near[0]] += 1
        else:
            sides.append(v)
            counts.append(1)
    order = np.argsort(-np.array(counts), kind="stable")
    return np.array(sides)[order], np.array(counts)[order]


def expected(mesh):
    """(directions (k, 3), parts (k,)) of the sides of the convex hull on which the body can rest: towards each, from
    the centre of mass, and the part of a sphere around that which the side covers."""
    hull = mesh.convex_hull
    corners = hull.triangles - mesh.center_mass
    unit = corners / np.linalg.norm(corners, axis=2, keepdims=True)
    a, b, c = np.moveaxis(unit, 1, 0)
    dots = [np.einsum("fi,fi->f", *pair) for pair in ((a, b), (b, c), (c, a))]
    angle = 2 * np.arctan2(np.abs(np.einsum("fi,fi->f", a, np.cross(b, c))), 1 + sum(dots))  # Van Oosterom, Strackee
    sides, parts, rests = [], [], []
    for normal, corner, part in zip(hull.face_normals, corners, angle / (4 * np.pi)):
        foot = normal * (normal @ corner[0])  # of the centre of mass on the side
        inside = all(np.cross(corner[(k + 1) % 3] - corner[k], foot - corner[k]) @ normal >= -1e-9 for k in range(3))
        near = [k for k, side in enumerate(sides) if normal @ side > np.cos(SAME)]
        if not near:
            near = [len(sides)]
            sides.append(normal)
            parts.append(0.0)
            rests.append(False)
        parts[near[0]] += part
        rests[near[0]] |= inside
    return np.array(sides)[rests], np.array(parts)[rests]


def picture(m, d, worlds, path):
    """Draws the body as it came to rest in some worlds."""
    from tisim.viewer import render, save_png

    seen = [render(m, d, 120, 120, world=int(k)) for k in worlds]
    save_png(path, np.concatenate(seen, axis=1))


def main():
    from rich.console import Console
    from rich.table import Table

    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("mesh", nargs="?", help="a mesh file; a box of 1:2:3 by default")
    p.add_argument("--worlds", type=int, default=256)
    p.add_argument("--picture", help="of five worlds")
    a = p.parse_args()
    mesh = trimesh.load_mesh(a.mesh) if a.mesh else trimesh.creation.box((1, 2, 3))
    m, d, rest = dropped(mesh, a.worlds)
    sides, counts = sides_of(m, d, rest)
    hull, parts = expected(mesh)
    table = Table("down, in the mesh's frame", "times", "part", "of all directions")
    for side, count in zip(sides, counts):
        near = np.argmax(hull @ side)
        same = hull[near] @ side > np.cos(SAME)
        table.add_row("{:6.3f} {:6.3f} {:6.3f}".format(*side), str(count), f"{count / counts.sum():.1%}",
                      f"{parts[near]:.1%}" if same else "no side of the hull")  # fmt: skip
    Console().print(table)
    Console().print(f"{counts.sum()} of {a.worlds} worlds came to rest")
    if a.picture:
        picture(m, d, rest[:5], a.picture)


if __name__ == "__main__":
    main()
