"""Which stacks of boxes stay on a pallet that is tilted and shaken? One world for each case, all of them at once.

    python scenes/examples/pallets.py [--tilts 8] [--shakes 6] [--seconds 4] [--picture pallets.png]

A column of boxes stands on a pallet that tilts to an angle and is shaken along the slope with an amplitude of
acceleration; angle and amplitude are another pair in each world. The table tells which columns stand. Without shaking
they fall where the column's centre of mass is no longer above its foot: at atan(width / height).
"""

import argparse
import math

import numpy as np

import tisim

BOXES, SIZE, FRICTION = 4, (0.15, 0.15, 0.1), 0.9  # half sizes [m]
TURN = 1.5  # of each box against the one below, half of it [degree]
FREQUENCY = 2.0  # of shaking [Hz]
RAMP = 2.0  # time in which the pallet tilts [s]
CHUNK = 2  # steps between two settings of the controls
FALLEN = 0.5 * SIZE[2]  # how far the top box may move against the pallet [m]


def model():
    """The pallet, a slide on a hinge, each driven to where its control says, with the boxes on it."""
    spec = tisim.Spec()
    spec.option.timestep = 0.005
    spec.option.integrator = "implicitfast"  # stiff drives
    spec.option.cone, spec.option.impratio = "elliptic", 10  # friction that hardly creeps
    spec.worldbody.add_geom(type="plane", size=[9, 9, 1], pos=[0, 0, -1.5])
    base = spec.worldbody.add_body(name="base")
    base.add_joint(name="tilt", type="hinge", axis=[0, 1, 0])
    base.add_geom(type="sphere", size=[0.1], mass=500, contype=0, conaffinity=0)
    pallet = base.add_body(name="pallet")
    pallet.add_joint(name="shake", type="slide", axis=[1, 0, 0])
    pallet.add_geom(type="box", size=[0.6, 0.6, 0.05], mass=500, friction=[FRICTION, 0.005, 0.0001])
    for joint, kp, kv in (("tilt", 2e5, 1e4), ("shake", 1.5e6, 6e4)):  # 8 Hz, without overshoot
        spec.add_actuator(name=joint, joint=joint).set_to_position(kp=kp, kv=kv)
    top = 0.05
    for k in range(BOXES):
        turn = TURN * (-1) ** k  # as no two lie by hand
        box = spec.worldbody.add_body(name=f"box{k}", pos=[0, 0, top + SIZE[2] - 2e-5], euler=[0, 0, turn])
        box.add_freejoint()
        box.add_geom(type="box", size=list(SIZE), mass=10, friction=[FRICTION, 0.005, 0.0001],
                     rgba=[0.85, 0.6 - 0.1 * k, 0.4, 1])  # fmt: skip
        top += 2 * SIZE[2] - 2e-5
    return spec.compile()


def tips():
    """Angle at which a column at rest tips over [rad]."""
    return math.atan(SIZE[0] / (BOXES * SIZE[2]))


def verdicts(tilts, shakes, seconds=4.0):
    """(tilts, shakes) array of bool: whether the column stands after it was tilted and shaken, as in `shaken`."""
    return shaken(tilts, shakes, seconds)[2]


def shaken(tilts, shakes, seconds=4.0):
    """(Model, Data, stands (tilts, shakes)) of columns that were tilted and shaken.

    tilts  angles [rad];  shakes  amplitudes of acceleration [m/s2];  seconds  of shaking behind the ramp.
    """
    angle, shake = (x.ravel() for x in np.meshgrid(tilts, shakes, indexing="ij"))
    m = model()
    d = tisim.Data(m, nworld=len(angle))
    amplitude, h = shake / (2 * math.pi * FREQUENCY) ** 2, float(m.opt.timestep)
    tisim.forward(m, d)
    start = _on_pallet(m, d)
    for k in range(round((RAMP + seconds) / h / CHUNK)):
        t = k * CHUNK * h
        ramp = min(1.0, t / RAMP)
        d.ctrl[:, 0] = angle * ramp * ramp * (3 - 2 * ramp)
        d.ctrl[:, 1] = amplitude * math.sin(2 * math.pi * FREQUENCY * max(0.0, t - RAMP))
        tisim.step(m, d, CHUNK)
    moved = np.linalg.norm(_on_pallet(m, d) - start, axis=1)
    return m, d, (moved < FALLEN).reshape(len(tilts), len(shakes))


def _on_pallet(m, d):
    """(nworld, 3) of the top box, seen from the pallet."""
    pallet = m.name2id("body", "pallet")
    away = d.xpos[:, m.name2id("body", f"box{BOXES - 1}")] - d.xpos[:, pallet]
    return np.einsum("wji,wj->wi", np.asarray(d.xmat[:, pallet]).reshape(-1, 3, 3), away)


def picture(m, d, number, path):
    """Draws the columns that were not shaken, one tilt beside the other, every second of them."""
    from tisim.viewer import render, save_png

    seen = [render(m, d, 120, 200, camera="90,-8,3.4,0,0,0.25", world=k) for k in range(0, d.nworld, 2 * number)]
    save_png(path, np.concatenate(seen, axis=1))


def main():
    from rich.console import Console
    from rich.table import Table

    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--tilts", type=int, default=8)
    p.add_argument("--shakes", type=int, default=6)
    p.add_argument("--seconds", type=float, default=4.0)
    p.add_argument("--picture")
    a = p.parse_args()
    tilts, shakes = np.linspace(0, 1.2 * tips(), a.tilts), np.linspace(0, 4, a.shakes)
    m, d, stands = shaken(tilts, shakes, a.seconds)
    title = f"tips without shaking at {math.degrees(tips()):.1f} degrees"
    table = Table("tilt", *(f"{s:.1f} m/s2" for s in shakes), title=title)
    for tilt, row in zip(tilts, stands):
        table.add_row(f"{math.degrees(tilt):.1f}", *("[green]stands" if s else "[red]falls" for s in row))
    Console().print(table)
    if a.picture:
        picture(m, d, len(shakes), a.picture)


if __name__ == "__main__":
    main()
