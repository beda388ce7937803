"""Rings thrown over a post: they are concave, and hang on it only as convex parts.

python scenes/examples/rings.py [--n 4] [--picture rings.png]        (needs pip install 'tisim[decompose]')
"""

import argparse

import numpy as np
import trimesh

import tisim

POST = 0.05  # radius [m]
HEIGHT = 0.6  # of the post [m]


def rings(n=4, parts=True):
    """(Spec of n rings above a post, number of convex parts of a ring)."""
    mesh = trimesh.creation.torus(0.14, 0.03, major_sections=24, minor_sections=10)
    spec = tisim.Spec()
    spec.option.timestep = 0.002
    spec.worldbody.add_geom(type="plane", size=[0, 0, 1], rgba=[0.35, 0.4, 0.45, 1])
    spec.worldbody.add_geom(
        type="cylinder", size=[POST, HEIGHT / 2], pos=[0, 0, HEIGHT / 2], rgba=[0.75, 0.62, 0.45, 1]
    )
    spec.add_mesh(name="ring", uservert=mesh.vertices.ravel(), userface=mesh.faces.ravel())
    for k in range(n):
        body = spec.worldbody.add_body(name=f"ring{k}", pos=[0.02 * (-1) ** k, 0.01, HEIGHT + 0.1 + 0.12 * k],
                                       euler=[6 * (-1) ** k, 4, 0])  # fmt: skip
        body.add_freejoint()
        color = [0.2 + 0.6 * k / max(1, n - 1), 0.45, 0.75 - 0.5 * k / max(1, n - 1), 1]
        body.add_geom(type="mesh", meshname="ring", density=600, rgba=color)
    found = spec.decompose() if parts else {"ring": 1}
    return spec, found["ring"]


def thrown(n=4, parts=True, seconds=2.0):
    """(Model, Data, which rings are round the post, parts of a ring) after so long."""
    spec, number = rings(n, parts)
    m = spec.compile()
    d = tisim.Data(m)
    tisim.step(m, d, round(seconds / m.opt.timestep))
    at = np.array([d.body(f"ring{k}").xpos for k in range(n)])
    return m, d, (np.hypot(at[:, 0], at[:, 1]) < 0.14 - POST) & (at[:, 2] < HEIGHT), number


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--n", type=int, default=4)
    p.add_argument("--picture")
    a = p.parse_args()
    for parts in (False, True):
        m, d, on, number = thrown(a.n, parts)
        how = f"as {number} convex parts" if parts else "as their convex hulls"
        print(f"{how}, {on.sum()} of {a.n} rings are round the post")
    if a.picture:
        from tisim.viewer import render, save_png

        save_png(a.picture, render(m, d, 480, 300))


if __name__ == "__main__":
    main()
