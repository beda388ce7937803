"""Which box holds a pyramid together? In each world another one is taken out, all worlds at once.

    python scenes/examples/take_one_out.py [--base 5] [picture.png]

A pyramid of boxes settles, the support graph tells what lies on what, then world k loses box k. The table tells for
each box what lies on it, directly or not, and how many of the others moved when it was gone.
"""

import argparse

import numpy as np

import tisim

HALF = (0.1, 0.05, 0.05)  # half sizes of a box [m]
GAP = 0.08  # between boxes of a row [m]
MOVED = 0.01  # what moved farther has lost its place [m]


def model(base):
    """A pyramid of rows of base, base - 1, ..., 1 boxes; each lies on two of the row below."""
    spec = tisim.Spec()
    spec.option.timestep = 0.004
    spec.worldbody.add_geom(type="plane", size=[9, 9, 1])
    box = spec.worldbody.add_body(name="box")
    box.add_freejoint()
    box.add_geom(type="box", size=list(HALF), friction=[0.8, 0.01, 0.001], rgba=[0.85, 0.6, 0.4, 1])
    pitch, pos = 2 * HALF[0] + GAP, []
    for row in range(base):
        for k in range(base - row):
            pos.append([(k - (base - row - 1) / 2) * pitch, 0.0005 * (-1) ** row, HALF[2] * (2 * row + 1) - 2e-5 * row])
    spec.add_bodies(box, pos)
    spec.delete(box)
    return spec.compile()


def carried(support, n):
    """(n + 1, n + 1) whether a body lies on another, directly or not: [below, above]."""
    on = np.zeros((n + 1, n + 1), bool)
    on[support.below, support.above] = True
    for _ in range(n):
        on |= (on.astype(int) @ on.astype(int)) > 0
    return on


def take_out(base=5, seconds=1.5):
    """(Model, Data, on, moved): on [below, above] of the settled pyramid; moved [k, b] whether body b + 1 moved in the
    world that lost body k + 1."""
    m = model(base)
    settled = tisim.Data(m)
    found = tisim.settle(m, settled, timeout=10)
    n = m.nbody - 1
    d = tisim.Data(m, nworld=n)
    tisim.copy_state(m, settled, d)
    for k in range(n):
        tisim.remove(m, d, [k + 1], worlds=k)
    tisim.forward(m, d)
    start = np.array(d.xpos[:, 1:])
    tisim.step(m, d, round(seconds / float(m.opt.timestep)))
    moved = np.linalg.norm(np.asarray(d.xpos[:, 1:]) - start, axis=2) > MOVED
    moved[np.arange(n), np.arange(n)] = False  # the one that is gone
    return m, d, carried(found.support, n), moved


def main():
    from rich.console import Console
    from rich.table import Table

    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("picture", nargs="?", help="of the world with the greatest loss")
    p.add_argument("--base", type=int, default=5)
    a = p.parse_args()
    m, d, on, moved = take_out(a.base)
    table = Table("taken out", "lie on it", "moved")
    for k, row in enumerate(moved):
        table.add_row(m.id2name("body", k + 1), str(int(on[k + 1].sum())), str(int(row.sum())))
    Console().print(table)
    if a.picture:
        from tisim.viewer import render, save_png

        save_png(a.picture, render(m, d, 640, 360, world=int(moved.sum(axis=1).argmax())))


if __name__ == "__main__":
    main()
