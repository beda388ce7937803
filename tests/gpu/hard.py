"""Steps bodies by the second dynamics, and saves where they are; for tests on the device at hand.

python hard.py CASE STEPS OUT.npz [STATE.npz]     STATE: qpos and qvel to begin from
"""

import sys

import numpy as np

import tisim

ROBOTS = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 .1"/>
<body name="a" pos="0 .02 1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body name="b" pos=".3 0 1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body name="c" pos=".6 0 1">
  <joint axis="0 1 0" pos="0 0 .3" damping=".1" range="-60 60"/><geom type="box" size=".1 .1 .1"/>
  <body pos="0 0 -.3"><joint name="h" axis="1 0 0" pos="0 0 .15" frictionloss=".1"/><geom type="capsule" size=".04 .1"/>
  </body></body>
<body pos="0 0 .4"><freejoint/><geom type="sphere" size=".12"/></body>
</worldbody><equality><connect body1="a" body2="b" anchor=".15 0 0"/><weld body1="b" body2="c"/></equality>
<actuator><velocity joint="h" kv="2" forcerange="-3 3" ctrlrange="-2 2"/><motor joint="h"/></actuator></mujoco>"""
ROW = "".join(f'<body pos="{0.199 * k} 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>' for k in range(80))
ROW = f'<mujoco><worldbody><geom type="plane" size="50 50 .1"/>{ROW}</worldbody></mujoco>'


def begin(case):
    """Model and Data of a case."""
    tisim.init()
    if case == "pile":
        m = tisim.Model.from_scene("pile", n=60)
    else:
        m = tisim.Model.from_xml_string(dict(robots=ROBOTS, row=ROW)[case])
    m.opt.dynamics = "lcp"
    if case == "pile":
        m.opt.timestep, m.lcp.friction, m.lcp.bounce = 0.005, "polygon", 0.3
    d = tisim.Data(m, nworld=3 if case == "robots" else 1)
    if case == "robots":
        d.qvel[...] = 0.3 * np.random.default_rng(0).normal(size=d.qvel.shape)
        d.ctrl[..., 0] = 1.5
    return m, d


def main():
    case, steps, out, *state = sys.argv[1:]
    m, d = begin(case)
    if state:
        given = np.load(state[0])
        d.qpos, d.qvel = given["qpos"], given["qvel"]
    fresh = tisim.Data(m, nworld=d.nworld)
    tisim.copy_state(m, d, fresh, int(tisim.mjtState.mjSTATE_INTEGRATION))
    tisim.step(m, d, int(steps))
    for _ in range(int(steps)):  # without what it took last time
        fresh._info.pop("lcp_rounds", None)
        tisim.step(m, fresh)
    told = {name: np.array(getattr(d, name)) for name in ("qpos", "qvel", "time")}
    n = d.count("ncon")
    told |= {name: d.host(name)[:n] for name in ("lcp_geom", "lcp_impulse", "lcp_kind", "lcp_first")}
    told["fresh"] = np.array_equal(fresh.qvel, d.qvel)
    np.savez(out, colors=d.host("lcp_head").ravel()[62], manifolds=d.count("npart"), **told)


if __name__ == "__main__":
    main()
