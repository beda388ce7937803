"""Steps a scene on a GPU and prints, as JSON: reads by the host in each step; what is told of a bad qacc and qvel.

python reads.py NAME N STEPS STATE.npz
"""

import json
import sys
import warnings

import numpy as np
from scene import begin

import tisim
from tisim.device.tally import tally


def told(m, d):
    """The warnings of a step."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tisim.step(m, d)
    return [str(w.message) for w in caught]


def main():
    name, n, steps, state = sys.argv[1:]
    m, d = begin(name, n, state)
    reads = []
    for _ in range(int(steps)):
        tally.clear()
        tisim.step(m, d)
        reads.append(tally.reads)
    large, force, velocity = d.count("nlarge"), np.zeros((m.nbody, 6)), np.array(d.qvel)
    force[7, 0] = 1e13
    d.xfrc_applied = force
    of_qacc = told(m, d)
    d.xfrc_applied = np.zeros_like(force)
    velocity[9] = np.nan
    d.qvel = velocity
    print(json.dumps(dict(reads=reads, large=large, qacc=of_qacc, qvel=told(m, d), again=told(m, d))))


main()
