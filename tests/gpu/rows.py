"""Makes the rows of many worlds, in which limits, equalities and tendons act here and there, on the device at hand, and
saves them.

python rows.py OUT.npz
"""

import sys

import numpy as np

import tisim

WORLDS = 2200  # so that limited joints are more than a stretch of blocks, see kernels/constraint/places.py
XML = """<mujoco><worldbody>
  <body pos="0 0 1"><joint name="a" axis="0 1 0" range="-20 20" limited="true" frictionloss=".1"/>
    <geom size=".1" pos=".3 0 0"/>
    <body pos=".6 0 0"><joint name="b" type="ball" range="0 40" limited="true"/><geom size=".1"/></body></body>
  <body pos="0 3 1"><joint name="c" axis="1 0 0"/><geom size=".1" pos=".3 0 0"/></body></worldbody>
  <tendon><fixed name="f" range="-.3 .3" limited="true" frictionloss=".2"><joint joint="a" coef="1"/>
    <joint joint="c" coef="-1"/></fixed></tendon>
  <equality><joint joint1="a" joint2="c"/><tendon tendon1="f" active="false"/></equality></mujoco>"""
NAMES = "efc_type", "efc_id", "efc_pos", "efc_frictionloss"


def main():
    tisim.init(precision="f64")
    m = tisim.Model.from_xml_string(XML)
    d, rng = tisim.Data(m, nworld=WORLDS), np.random.default_rng(1)
    qpos = m.qpos0 + 0.5 * rng.normal(size=(WORLDS, m.nq))
    qpos[:, 1:5] /= np.linalg.norm(qpos[:, 1:5], axis=1, keepdims=True)
    d.qpos = qpos
    d.eq_active = rng.integers(0, 2, (WORLDS, 2))
    tisim.step1(m, d)
    np.savez(sys.argv[1], nefc=int(d.nefc), **{name: np.asarray(getattr(d, name)) for name in NAMES})


main()
