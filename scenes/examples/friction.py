"""Which friction has a box? A sweep over friction and tilt, compared with how far the box was seen to slide.

    python scenes/examples/friction.py [--workers all] [--picture friction.png]
    tisim sweep scenes/examples/friction.py --workers all        (the table of the sweep alone)

A box slides down a plate. "Seen" are its ways at three tilts, here from the closed form for MU with noise; the
friction whose simulated ways come nearest is the answer.
"""

import argparse
import math

import numpy as np

import tisim

MU = 0.37  # of the box that was seen
TILTS = np.radians([22.0, 26.0, 30.0])
SECONDS, GRAVITY, STEP = 0.5, 9.81, 0.002


def plate():
    """A box on a plate; gravity tilts, not the plate."""
    spec = tisim.Spec()
    spec.option.timestep = STEP
    spec.option.cone, spec.option.impratio = "elliptic", 20  # friction that does not creep
    spec.worldbody.add_geom(type="plane", size=[9, 9, 1], friction=[0, 0, 0], solref=[0.005, 1], solimp=[0.99, 0.999,
                            0.001, 0.5, 2])  # fmt: skip
    box = spec.worldbody.add_body(name="box", pos=[0, 0, 0.05])
    box.add_freejoint()
    box.add_geom(name="box", type="box", size=[0.1, 0.1, 0.05], density=500, priority=1, solref=[0.005, 1],
                 solimp=[0.99, 0.999, 0.001, 0.5, 2])  # fmt: skip
    return spec.compile()


def prepare(m, d, case):
    """Tilts gravity, gives the box its friction."""
    m.opt.gravity = GRAVITY * np.array([math.sin(case["tilt"]), 0, -math.cos(case["tilt"])])
    m.geom_friction[m.name2id("geom", "box"), 0] = case["mu"]


def measure(m, d, case):
    """How far the box slid [m]."""
    return {"way": d.qpos[0]}


def grid(number=25):
    """Cases: each friction at each tilt."""
    mu, tilt = (a.ravel() for a in np.meshgrid(np.linspace(0.2, 0.5, number), TILTS, indexing="ij"))
    return {"mu": mu, "tilt": tilt}


model, steps, cases = plate(), round(SECONDS / STEP), grid()


def seen(noise=0.002):
    """(3,) ways that were "measured" at the tilts [m]."""
    a = GRAVITY * (np.sin(TILTS) - MU * np.cos(TILTS))
    return 0.5 * a * SECONDS**2 + noise * np.random.default_rng(1).normal(size=len(TILTS))


def fit(table, number=25):
    """(friction that fits best, errors of all frictions): root of the mean square over the tilts [m]."""
    ways = table["way"].reshape(number, len(TILTS))
    error = np.sqrt(((ways - seen()) ** 2).mean(1))
    mu = np.linspace(0.2, 0.5, number)
    k = int(np.clip(error.argmin(), 1, number - 2))
    c = np.polyfit(mu[k - 1 : k + 2], error[k - 1 : k + 2] ** 2, 2)  # the lowest point of a parabola
    return -c[1] / (2 * c[0]), error


def picture(error, found, path):
    """Draws the error over friction."""
    from PIL import Image, ImageDraw

    width, height, edge = 480, 300, 40
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)

    def place(mu, value):
        return edge + (mu - 0.2) / 0.3 * (width - 2 * edge), height - edge - value / error.max() * (height - 2 * edge)

    draw.line([place(mu, e) for mu, e in zip(np.linspace(0.2, 0.5, len(error)), error)], fill=(20, 90, 160), width=3)
    draw.line([place(found, 0), place(found, error.max())], fill=(200, 60, 30), width=2)
    draw.line([place(0.2, 0), place(0.5, 0)], fill="black")
    for mu in (0.2, 0.3, 0.4, 0.5):
        draw.text((place(mu, 0)[0] - 8, height - edge + 6), f"{mu:.1f}", fill="black")
    draw.text((edge, 12), f"error of the way over friction: {found:.3f} fits best", fill="black")
    image.save(path)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--workers", default="1")
    p.add_argument("--picture")
    a = p.parse_args()
    workers = int(a.workers) if a.workers.isdigit() else a.workers
    table = tisim.sweep(model, cases, steps, measure, prepare=prepare, workers=workers)
    found, error = fit(table)
    print(f"friction {found:.4f} fits best ({MU} was used)")
    if a.picture:
        picture(error, found, a.picture)


if __name__ == "__main__":
    main()
