"""Newton, CG and PGS end at the same accelerations, which inverse dynamics take back to what was given.

Contract: random scenes with contacts, limits, equalities and friction loss at once, by both cones: from equal states
qacc of converged solvers is the same within 1e-6 of its scale, and solver_fwdinv of Newton is below 1e-8 of the forces.
"""

import numpy as np
import pytest
from shared.reference import error

import tisim

# solver: iterations and tolerance of the scaled improvement at which nothing changes any more
CONVERGED = {"NEWTON": (200, 1e-16), "CG": (10_000, 1e-24), "PGS": (200_000, 1e-28)}
FWDINV = int(tisim.mjtEnableBit.mjENBL_FWDINV)
FIGURE = """<body name="t{i}" pos="{pos}" quat="{quat}"><freejoint/>
  <geom type="box" size="{size}" condim="{dim}" friction="{friction}"/>
  <body pos=".12 0 .02"><joint name="h{i}" axis="{axis}" range="-15 20" limited="true" frictionloss="{loss}"
    damping=".05" armature=".002"/><geom type="capsule" fromto="0 0 0 .16 0 0" size=".04" condim="{dim}"/>
    <body name="e{i}" pos=".18 0 0"><joint name="s{i}" type="{kind}" axis="0 1 0" range="{range}" limited="true"
      damping=".05" armature=".002"/><geom size=".06" condim="3" friction="{friction}"/></body></body></body>"""
SCENE = """<mujoco><option cone="{cone}" timestep=".004"/><worldbody>
  <geom type="plane" size="5 5 1"/>{figures}</worldbody><equality>
  <connect body1="e0" body2="t1" anchor="{anchor}" solref="{time} 1"/>
  <weld body1="t2" body2="e3" solref="{time} 1" solimp=".8 .9 .01"/>
  <joint joint1="h1" joint2="h2" polycoef="0 {ratio} .1 0 0"/></equality></mujoco>"""


def text(seed):
    """MJCF text of the scene of a seed: four small figures thrown on a heap, tied to each other."""
    rng = np.random.default_rng(seed)

    def numbers(n, low=-1.0, high=1.0):
        return " ".join(f"{x:.4f}" for x in rng.uniform(low, high, n))

    def figure(i):
        kind, limits = (("hinge", "-20 25"), ("slide", "-.03 .02"), ("ball", "0 25"))[rng.integers(3)]
        return FIGURE.format(
            i=i, pos=f"{numbers(2, -0.15, 0.15)} {0.15 + 0.12 * i:.3f}", quat=numbers(4), size=numbers(3, 0.04, 0.09),
            dim=rng.choice([1, 3, 4]), friction=f"{numbers(1, 0.3, 1)} .02 .005", axis=numbers(3), kind=kind,
            loss=numbers(1, 0.05, 0.5), range=limits,
        )  # fmt: skip

    return SCENE.format(
        cone=("pyramidal", "elliptic")[seed % 2], figures="".join(figure(i) for i in range(4)),
        anchor=numbers(3, -0.1, 0.1), time=numbers(1, 0.02, 0.05), ratio=numbers(1, -0.8, 0.8),
    )  # fmt: skip


def solve(m, d, solver):
    """qacc and qfrc_constraint by a solver, at the state at hand."""
    m.opt.solver = getattr(tisim.mjtSolver, f"mjSOL_{solver}")
    m.opt.iterations, m.opt.tolerance = CONVERGED[solver]
    tisim.forward(m, d)
    return np.asarray(d.qacc).copy()


def compare(seed, count=2, steps=30):
    """Types of rows that were there; asserts that the solvers agree in some states of a motion."""
    m = tisim.Model.from_xml_string(text(seed))
    d = tisim.Data(m)
    m.opt.integrator = tisim.mjtIntegrator.mjINT_EULER  # of which fwdinv is exact
    m.opt.enableflags |= FWDINV
    d.qvel[:] = 0.5 * np.random.default_rng(seed).normal(size=m.nv)
    kinds = set()
    for k in range(count):
        m.opt.solver, m.opt.iterations, m.opt.tolerance = tisim.mjtSolver.mjSOL_NEWTON, 100, 1e-10
        tisim.step(m, d, steps)
        if not np.isfinite(d.qacc).all() or np.abs(d.qacc).max() > 1e6:
            break
        newton = solve(m, d, "NEWTON")
        forces = max(1.0, np.abs(d.qfrc_smooth).max(initial=0), np.abs(d.qfrc_constraint).max(initial=0))
        assert np.max(d.solver_fwdinv) < 1e-8 * forces, (seed, k)
        kinds |= {int(x) for x in d.efc_type}
        for solver in ("CG", "PGS"):
            assert error(solve(m, d, solver), newton) < 1e-6, (seed, k, solver)
    return kinds


def agree(seeds):
    kinds = [compare(seed) for seed in seeds]
    types = tisim.mjtConstraint
    for kind in (types.mjCNSTR_EQUALITY, types.mjCNSTR_FRICTION_DOF, types.mjCNSTR_LIMIT_JOINT):
        assert sum(int(kind) in k for k in kinds) >= len(kinds) / 5, kind
    assert sum(max(k, default=0) >= int(types.mjCNSTR_CONTACT_FRICTIONLESS) for k in kinds) >= len(kinds) / 2


def test_solvers_agree():
    agree(range(200, 206))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(300, 500, 20))
def test_solvers_agree_on_200(first):
    agree(range(first, first + 20))
