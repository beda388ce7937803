"""Where nothing couples trees or branches, Newton's systems are solved by the trees' own factors, without products.

Contract: no products with the Hessian are made for a ragdoll on the floor, a free body with torsional and rolling
friction, or hinges at their limits; qacc is that of a converged MuJoCo 3.4.0 within 1e-7 of its scale, with tisim at
its default tolerance.
"""

import numpy as np
import pytest
from shared.reference import Pair

from tisim import scenes

ROLLING = """<mujoco><option cone="{cone}"/><worldbody><geom type="plane" size="5 5 1"/>
<body pos="0 0 .099"><freejoint/><geom size=".1" condim="6" friction="1 .02 .01"/></body>
<body pos="1 0 .099" euler="90 0 0"><freejoint/><geom type="capsule" size=".1 .2" condim="4"/></body>
</worldbody></mujoco>"""
ARM = """<mujoco><option cone="{cone}"/><default><joint axis="0 1 0" range="-20 20" frictionloss=".1"/>
<default class="rod"><geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/></default></default>
<worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 .3"><joint/><geom class="rod"/>
<body pos=".4 0 0"><joint/><geom class="rod"/>
<body pos=".4 0 0"><joint/><geom class="rod"/></body></body></body></worldbody></mujoco>"""
SCENES = dict(
    ragdoll=lambda cone: scenes.build("ragdolls", n=1, cone=cone),
    rolling=lambda cone: ROLLING.format(cone=cone),
    arm=lambda cone: ARM.format(cone=cone),
)


def settled(text, seed=1):
    pair = Pair(text)
    pair.md.qvel[:] = 0.3 * np.random.default_rng(seed).normal(size=pair.mm.nv)
    pair.mm.opt.tolerance = 0
    return pair


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("name", SCENES)
def test_accelerations_are_those_of_a_converged_mujoco(name, cone):
    pair = settled(SCENES[name](cone))
    products = rounds = 0
    for k in pair.states(6, 30):
        assert pair.error("qacc") < 1e-7, k
        islands = pair.d.count("nisland")
        products += int(pair.d.host("island_nproduct").reshape(-1)[:islands].sum())
        rounds += int(pair.d.solver_niter[:islands].sum())
    assert products == 0 and rounds > 0
