"""Who carries whom in a heap? Bodies are scattered, fall and settle; how they press on each other is told and drawn.

python scenes/examples/heap.py [--n 120] [--csv forces.csv] [--picture heap.png]
"""

import argparse

import tisim

STILL = 0.01  # what is slower is at rest [m/s]
SIZES = dict(box=[0.06, 0.05, 0.04], capsule=[0.035, 0.05], ellipsoid=[0.07, 0.05, 0.04])


def heap(n=120, seed=0):
    """A Spec of n bodies of three shapes above a tray, placed without overlap."""
    spec = tisim.Spec()
    spec.option.timestep = 0.004
    spec.worldbody.add_geom(type="plane", size=[0, 0, 1], rgba=[0.35, 0.4, 0.45, 1])
    side = max(0.3, 0.05 * n**0.5)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        size = [0.02 if x else side + 0.04, 0.02 if y else side + 0.04, 0.1]
        spec.worldbody.add_geom(type="box", size=size, pos=[x * (side + 0.02), y * (side + 0.02), 0.1],
                                rgba=[0.75, 0.62, 0.45, 0.4])  # fmt: skip
    templates = []
    for shape, size in SIZES.items():
        body = spec.worldbody.add_body(name=shape)
        body.add_freejoint()
        body.add_geom(type=shape, size=size, density=800, condim=6, friction=[0.8, 0.02, 0.02])
        templates.append(body)
    half = side - 0.1
    spec.scatter(templates, n, [-half, -half, 0.1], [half, half, 0.4 + 0.0031 * n / half**2], seed=seed)
    for body in templates:
        spec.delete(body)
    return spec


def settled(n=120, timeout=15.0):
    """(Model, Data, tisim.Settled) of a heap that has come to rest, or has not within the time [s]."""
    m = heap(n).compile()
    d = tisim.Data(m)
    found = tisim.settle(m, d, timeout, below=-0.5, tolerance=STILL)
    tisim.forward(m, d)
    return m, d, found


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--n", type=int, default=120)
    p.add_argument("--csv", help="where to write the contacts with their forces")
    p.add_argument("--picture")
    a = p.parse_args()
    m, d, found = settled(a.n)
    print(found)
    s = found.support
    best = s.lift.argmax()
    upper, lower = (m.id2name("body", int(b[best])) or int(b[best]) for b in (s.above, s.below))
    print(f"{len(s)} pairs rest on each other; most, {s.lift[best]:.1f} N, lies on {lower}, of {upper}")
    if a.csv:
        found.forces.to_csv(a.csv)
    if a.picture:
        from tisim.viewer import render, save_png

        save_png(a.picture, render(m, d, 480, 300, color="force", chains=True))


if __name__ == "__main__":
    main()
