"""With TISIM_DEBUG each array access of a kernel is checked: none is out of bounds in a scene of all kinds of pairs."""

import os
import pathlib
import subprocess
import sys

PROGRAM = """
import numpy as np
import tisim
from test_pairs_serve_until_something_moves_far import scene
tisim.init(arch="cpu")
m = tisim.Model.from_xml_string(scene(np.random.default_rng(0))[0])
d = tisim.Data(m)
q = np.array(d.qpos).reshape(-1, 7)
q[:, :3] = np.random.default_rng(1).uniform(-1, 1, (len(q), 3)) * [0.5, 0.5, 0.2]
d.qpos = q.ravel()
tisim.step(m, d, 3)
g = np.arange(m.ngeom - 1)
dist = tisim.geom_distance(m, d, g, g + 1, 1.0)
hit = tisim.multi_ray(m, d, [0, 0, 2], np.random.default_rng(2).normal(size=(40, 3)))
print(d.ncon)
"""


def test_a_scene_of_all_shapes():
    env = os.environ | {"TISIM_DEBUG": "1"}
    env["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(__file__).parent), env.get("PYTHONPATH", "")])
    out = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=env, timeout=600)
    assert out.returncode == 0, out.stderr[-2000:]
    assert int(out.stdout) > 300
