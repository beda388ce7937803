"""What presses on what: the forces in a stack of boxes, and a recording of how it came to rest.

python scenes/examples/weigh.py [recording.npz]
"""

import sys

import numpy as np

import tisim


def stack(n=5, recording=None):
    """(Model, Data) of n boxes that were let fall on each other from 1 cm, at rest."""
    spec = tisim.Spec()
    spec.worldbody.add_geom(name="floor", type=tisim.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1])
    for k in range(n):
        body = spec.worldbody.add_body(name=f"box{k}", pos=[0, 0, 0.11 + 0.21 * k])
        body.add_freejoint()
        body.add_geom(type=tisim.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.1], mass=1 + k)
    m = spec.compile()
    d = tisim.Data(m)
    if recording:
        with tisim.Recorder(recording, m, d) as recorder:
            for _ in range(20):
                recorder.add()
                tisim.step(m, d, 25)
    tisim.settle(m, d, timeout=5)
    tisim.forward(m, d)
    return m, d


def pressing(m, d):
    """dict (lower body, upper body) -> force between them [N]."""
    found = {}
    for body, force in zip(np.asarray(m.geom_bodyid)[d.contact.geom], tisim.contact_force(m, d, range(d.ncon))):
        pair = tuple(m.id2name("body", int(b)) for b in sorted(body))
        found[pair] = found.get(pair, 0.0) + float(force[0])
    return found


if __name__ == "__main__":
    m, d = stack(recording=sys.argv[1] if len(sys.argv) > 1 else None)
    for (low, high), force in pressing(m, d).items():
        print(f"{high} on {low}: {force:6.1f} N")
