"""A pile of bodies falls: the shortest simulation.

python scenes/examples/hello.py [n]
"""

import sys

import tisim


def fall(n=100, seconds=1.0):
    """(Model, Data) of a pile of n bodies that has fallen for so long."""
    m = tisim.Model.from_scene("pile", n=n)
    d = tisim.Data(m)
    tisim.step(m, d, round(seconds / m.opt.timestep))
    return m, d


if __name__ == "__main__":
    m, d = fall(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
    print(f"{m.nbody - 1} bodies at {d.time:.2f} s: {d.ncon} contacts in {d.nisland} islands")
    print(f"the highest is at {d.xpos[1:, 2].max():.2f} m")
