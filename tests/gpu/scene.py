"""Steps a scene and prints, as JSON, its state's hash, and saves what the tests compare.

python scene.py NAME[:lcp] N STEPS OUT.npz [STATE.npz]     STATE: qpos, qvel and qacc_warmstart to begin from;
                                                             lcp: by the second dynamics
"""

import hashlib
import json
import sys

import numpy as np

import tisim


def begin(name, n, state=None):
    """Model and Data of a scene, in the state of a file if one is given."""
    tisim.init()
    name, _, dynamics = name.partition(":")
    m = tisim.Model.from_scene(name, n=int(n))
    m.opt.dynamics, m.lcp.armature = dynamics or m.opt.dynamics, "ignore"
    d = tisim.Data(m)
    if state:
        given = np.load(state)
        d.qpos, d.qvel, d.qacc_warmstart = given["qpos"], given["qvel"], given["qacc_warmstart"]
    return m, d


def main():
    name, n, steps, out, *state = sys.argv[1:]
    m, d = begin(name, n, *state)
    for _ in range(int(steps)):
        tisim.step(m, d)
    values = {k: np.asarray(getattr(d, k)) for k in ("qpos", "qvel", "qacc_warmstart")}
    geom, dist = np.asarray(d.contact.geom), np.asarray(d.contact.dist)
    np.savez(out, geom=geom, dist=dist, **values)
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(v).tobytes() for v in values.values())).hexdigest()
    print(json.dumps(dict(hash=digest, ncon=int(d.ncon))))


if __name__ == "__main__":
    main()
