"""Pours grains into a bowl: all are in the model from the start, and come one layer at a time.

python scenes/examples/pour.py [n] [picture.png]
"""

import sys

import numpy as np

import tisim

LAYER = 9  # grains that come at once
PAUSE = 50  # steps between two layers
HEIGHT = 0.6  # from which they fall [m]
SPACING = 0.16  # between those of a layer [m]
SPEED = -1.0  # with which they come, upwards [m/s]


def pour(n=99, steps=1500):
    """(Model, Data) of a bowl into which n figs are poured in layers, after so many steps."""
    m = tisim.Model.from_scene("bowl", n=n)
    d = tisim.Data(m)
    figs = np.asarray(m.tree_bodyadr)
    tisim.remove(m, d, figs)  # the bowl is empty
    rng = np.random.default_rng(0)
    grid = SPACING * (np.stack(np.meshgrid(range(3), range(3)), -1).reshape(-1, 2) - 1.0)
    for k in range(0, steps, PAUSE):
        layer = figs[k // PAUSE * LAYER :][:LAYER]
        pos = np.column_stack([grid, np.full(LAYER, HEIGHT)])[: len(layer)]
        tisim.add(m, d, layer, pos, quat=rng.normal(size=(len(layer), 4)), vel=(0, 0, SPEED))
        tisim.step(m, d, min(PAUSE, steps - k))
    return m, d


if __name__ == "__main__":
    m, d = pour(int(sys.argv[1]) if len(sys.argv) > 1 else 99)
    print(f"{int(d.body_present[m.tree_bodyadr].sum())} of {m.ntree} figs, {d.ncon} contacts, at {d.time:.2f} s")
    if len(sys.argv) > 2:
        from tisim.viewer import render, save_png

        save_png(sys.argv[2], render(m, d))
