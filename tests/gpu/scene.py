"""Steps a scene and prints, as JSON, its state's hash, and saves what the tests compare.

python scene.py NAME N STEPS OUT.npz [STATE.npz]     STATE: qpos, qvel and qacc_warmstart to begin from
"""

import hashlib
import json
import sys

import numpy as np

import tisim

name, n, steps, out, *state = sys.argv[1:]
tisim.init()
m = tisim.Model.from_scene(name, n=int(n))
d = tisim.Data(m)
if state:
    given = np.load(state[0])
    d.qpos, d.qvel, d.qacc_warmstart = given["qpos"], given["qvel"], given["qacc_warmstart"]
for _ in range(int(steps)):
    tisim.step(m, d)
values = {k: np.asarray(getattr(d, k)) for k in ("qpos", "qvel", "qacc_warmstart")}
geom, dist = np.asarray(d.contact.geom), np.asarray(d.contact.dist)
np.savez(out, geom=geom, dist=dist, **values)
digest = hashlib.sha256(b"".join(np.ascontiguousarray(v).tobytes() for v in values.values())).hexdigest()
print(json.dumps(dict(hash=digest, ncon=int(d.ncon))))
