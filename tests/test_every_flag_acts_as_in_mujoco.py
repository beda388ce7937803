"""Each flag of mjtDisableBit and mjtEnableBit, changed between two evaluations, does what it does in MuJoCo 3.4.0.

Contract: on a model where the flag changes MuJoCo's own numbers, tisim's are within 1e-8 of MuJoCo's with it and
without it. Flags that change nothing but the way there are listed as such. (`sleep` has tests of its own, `autoreset`
test_diverged_worlds_are_reset_and_counted.py.)
"""

import mujoco
import numpy as np
import pytest
from shared.reference import Pair, error

import tisim
from tisim.enums import mjtDisableBit, mjtEnableBit, mjtSolver

# something for each flag: parts that touch their parents, limits, springs, soft and too stiff references, muscles
XML = """<mujoco><option timestep=".004" cone="elliptic" o_margin=".05" o_solref=".05 .8"
o_friction=".3 .3 .01 .001 .001" gravity="1 0 -9"/>
<default><joint damping=".2" stiffness="3" springref="20"/></default><worldbody>
<geom type="plane" size="5 5 .1"/>
<body name="a" pos="0 0 .5" gravcomp=".3"><joint name="j1" axis="0 1 0" range="2 9" frictionloss=".2"/>
  <geom size=".15" pos=".1 0 0"/>
  <body name="b" pos=".3 0 0"><joint name="j2" axis="1 1 0"/><geom type="capsule" size=".12 .1" pos="0 .05 0"/>
    <body name="c" pos="0 .3 0"><joint type="ball" range="0 20" name="ball"/><geom type="box" size=".1 .12 .08"/></body>
  </body></body>
<body name="box" pos="1 0 .095" euler="1 0 0"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body name="other" pos="1.02 0 .29"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body name="drop" pos="0 1.5 .3"><freejoint/><geom type="cylinder" size=".1 .2" euler="90 0 0"/></body></worldbody>
<tendon><fixed name="t" stiffness="2" damping=".3" springlength=".1"><joint joint="j1" coef="1"/>
  <joint joint="j2" coef="-.5"/></fixed></tendon>
<equality><joint joint1="j1" joint2="j2" polycoef=".1 .5 0 0 0"/><connect body1="drop" anchor="0 0 .3" solref=".003 1"/>
</equality><actuator><motor joint="j1" ctrllimited="true" ctrlrange="-.3 .3"/>
<position joint="j2" kp="3" kv=".5"/><muscle joint="j1" lengthrange="-.5 .8" force="3"/></actuator></mujoco>"""
DISABLE = [e for e in mjtDisableBit if e.name.startswith("mjDSBL")]
ENABLE = [e for e in mjtEnableBit if e.name.startswith("mjENBL")]
# in this model they change no number: the way of collisions and sensors
SILENT = "MIDPHASE NATIVECCD SENSOR AUTORESET".split()
NUMBERS = """qacc qfrc_constraint qfrc_passive qfrc_spring qfrc_damper qfrc_gravcomp qfrc_actuator qfrc_bias
actuator_force act_dot energy nefc ncon nisland""".split()


def numbers(pair, word, bit, on):
    """{name: (tisim's, MuJoCo's)} after an evaluation, an inverse one and a step with a flag set or cleared."""
    for opt in (pair.m.opt, pair.mm.opt):
        flags = int(getattr(opt, word))
        setattr(opt, word, flags | int(bit) if on else flags & ~int(bit))
    mujoco.mj_resetData(pair.mm, pair.md)
    rng = np.random.default_rng(5)
    pair.md.qvel[:] = 0.3 * rng.normal(size=pair.mm.nv)
    pair.md.ctrl[:] = 2, -1, 0.4
    solver, pair.mm.opt.solver = pair.mm.opt.solver, mjtSolver.mjSOL_NEWTON
    mujoco.mj_forward(pair.mm, pair.md)
    pair.mm.opt.solver = solver
    pair.md.qacc_warmstart[:] = pair.md.qacc
    pair.forward()
    out = {name: (np.array(getattr(pair.d, name)), np.array(getattr(pair.md, name))) for name in NUMBERS}
    pair.md.qacc[:] = rng.normal(size=pair.mm.nv)
    pair.d.qacc = pair.md.qacc
    mujoco.mj_inverse(pair.mm, pair.md)
    tisim.inverse(pair.m, pair.d)
    out["qfrc_inverse"] = np.array(pair.d.qfrc_inverse), pair.md.qfrc_inverse.copy()
    mujoco.mj_step(pair.mm, pair.md)
    tisim.step(pair.m, pair.d)
    for name in ("qpos", "qvel"):
        out[name] = np.array(getattr(pair.d, name)), getattr(pair.md, name).copy()
    out["solver_fwdinv"] = np.array(pair.d.solver_fwdinv) > 0, pair.md.solver_fwdinv > 0
    return out


@pytest.mark.parametrize("bit", [*DISABLE, *ENABLE], ids=lambda e: e.name)
def test_flag(bit):
    name, word = bit.name[7:], "disableflags" if bit in DISABLE else "enableflags"
    pair = Pair(XML if name != "WARMSTART" else XML.replace('type="box" size=".1 .1 .1"', 'size=".1"'))
    if name == "WARMSTART":  # what it changes is where few sweeps end, which the order of contacts changes, too
        for opt in (pair.m.opt, pair.mm.opt):
            opt.solver, opt.iterations, opt.tolerance = mjtSolver.mjSOL_PGS, 3, 0
            opt.disableflags = int(mjtDisableBit.mjDSBL_ISLAND)
    if name == "SLEEP":
        pytest.skip("flag sleep with equalities, tendons or actuators is refused")
    with_it, without = numbers(pair, word, bit, True), numbers(pair, word, bit, False)
    for both in (with_it, without):
        bad = {k: error(*v) for k, v in both.items() if not error(*v) < 1e-8}
        assert not bad
    changed = [k for k in with_it if not np.array_equal(with_it[k][1], without[k][1])]
    assert bool(changed) == (name not in SILENT), changed
