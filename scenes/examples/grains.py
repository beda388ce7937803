"""Pours grains through a spout into a vessel and weighs them: all are in the model, and come layer by layer.

python scenes/examples/grains.py [--n 5000] [--picture grains.png]
"""

import argparse

import numpy as np

import tisim

RADIUS, DENSITY = 0.02, 1200  # of a grain [m], [kg/m3]
ACROSS = 7  # grains along each side of a layer
SPACING = 2.2 * RADIUS
PAUSE = 10  # steps between two layers
SPEED = -1.2  # with which grains come, upwards [m/s]
REST = 400  # steps behind the last layer
TIMESTEP = 0.004


def vessel(n):
    """A Spec of a box without a lid, which stands on the floor and holds n grains, and of the grains."""
    side = max(0.3, 1.25 * RADIUS * (6 * n) ** (1 / 3))  # half of it, for a heap as high as half its side
    wall = side + 0.4
    spec = tisim.Spec()
    spec.option.timestep = TIMESTEP
    spec.worldbody.add_geom(type="plane", size=[0, 0, 1], pos=[0, 0, -0.04], rgba=[0.35, 0.4, 0.45, 1])
    box = spec.worldbody.add_body(name="vessel")
    box.add_geom(type="box", size=[side, side, 0.02], pos=[0, 0, -0.02], rgba=[0.55, 0.5, 0.42, 1])
    for k in range(4):
        x, y = ((1, 0), (0, 1), (-1, 0), (0, -1))[k]
        size = [0.02 if x else side, 0.02 if y else side, wall / 2]
        at = [x * (side + 0.02), y * (side + 0.02), wall / 2]
        box.add_geom(type="box", size=size, pos=at, rgba=[0.55, 0.7, 0.85, 0.25])
    grain = spec.worldbody.add_body(name="grain")
    grain.add_freejoint()
    grain.add_geom(type="sphere", size=[RADIUS], density=DENSITY, friction=[0.6, 0.005, 0.0001],
                   rgba=[0.87, 0.67, 0.33, 1])  # fmt: skip
    far = np.column_stack([np.zeros(n - 1), np.zeros(n - 1), 9 + SPACING * np.arange(n - 1)])  # until they come
    spec.add_bodies(grain, far)
    grain.pos = [0, 0, 8]
    return spec, side, wall


def pour(n=5000, show=None):
    """(Model, Data, half the vessel's side) behind the pouring of n grains and a rest.

    show  a function of (Model, Data, grains poured), called behind each layer.
    """
    spec, side, wall = vessel(n)
    m = spec.compile()
    d = tisim.Data(m)
    grains = np.asarray(m.tree_bodyadr)
    tisim.remove(m, d, grains)  # the vessel is empty
    rng = np.random.default_rng(0)
    grid = SPACING * (np.stack(np.meshgrid(range(ACROSS), range(ACROSS)), -1).reshape(-1, 2) - (ACROSS - 1) / 2)
    for first in range(0, n, len(grid)):
        layer = grains[first : first + len(grid)]
        pos = np.column_stack([grid, np.full(len(grid), wall + 0.3)])[: len(layer)]
        pos[:, :2] += rng.uniform(-1, 1, (len(layer), 2)) * 0.04 * SPACING
        tisim.add(m, d, layer, pos, vel=(0, 0, SPEED))
        tisim.step(m, d, PAUSE)
        if show is not None:
            show(m, d, first + len(layer))
    tisim.step(m, d, REST)
    return m, d, side


def weighed(m, d):
    """What presses on the vessel's bottom and walls, downwards [N], beside what the grains weigh [N]."""
    support = tisim.support(m, d)
    box = m.name2id("body", "vessel")
    return float(support.lift[support.below == box].sum()), float(m.body_mass[m.tree_bodyadr].sum() * 9.81)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--n", type=int, default=5000)
    p.add_argument("--picture")
    a = p.parse_args()
    m, d, _ = pour(a.n)
    on, weight = weighed(m, d)
    print(f"{int(d.body_present[m.tree_bodyadr].sum())} grains weigh {weight:.1f} N, {on:.1f} N press on the vessel "
          f"({d.ncon} contacts, {d.time:.2f} s)")  # fmt: skip
    if a.picture:
        from tisim.viewer import render, save_png

        save_png(a.picture, render(m, d, 480, 300))


if __name__ == "__main__":
    main()
