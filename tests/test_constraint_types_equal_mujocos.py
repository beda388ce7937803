"""Every type of constraint row, parameter and flag alone gives MuJoCo's rows, forces and accelerations.

Contract: from equal states the rows stand in MuJoCo's order with its Jacobian, position, margin, impedance, reference
acceleration and force, and qacc is at the same minimum, within 1e-7 of its scale; what eq_active and flags leave out
is left out, and rollouts stay together.
"""

import mujoco
import numpy as np
import pytest
from shared.reference import Pair, error

import tisim
from tisim.data.validate import validate

# an arm with two branches and all joints, a free body, a mocap body and a fixed one, without gravity's big numbers
WORLD = """<mujoco><option gravity="0 0 -2" {option}>{flags}</option>
<default><joint damping=".05" armature=".01"/><geom friction=".7"/></default><worldbody>
  <geom type="plane" size="5 5 .1"/>
  <body name="a" pos="0 0 1"><joint name="j1" axis="1 0 1" {j1}/><geom size=".1" pos=".1 0 0"/>
    <site name="s1" pos=".1 .2 .3" euler="10 20 30"/>
    <body name="b" pos=".3 0 0"><joint name="j2" axis="0 1 0" pos=".1 0 .1" {j2}/>
      <joint name="j3" type="slide" axis="0 1 0" {j3}/><geom size=".1" pos=".1 .1 0"/>
      <body name="b2" pos=".1 .2 .1"><geom size=".05"/><site name="s2" pos=".1 -.1 .3" euler="40 20 30"/></body></body>
    <body name="c" pos="0 .4 .2"><joint name="ball" type="ball" {ball}/>
      <geom type="box" size=".1 .15 .2"/></body></body>
  <body name="free" pos="1 1 .14" euler="10 5 0"><freejoint/><geom type="box" size=".1 .2 .15"/>
    <site name="s3" pos=".1 0 .1"/></body>
  <body name="other" pos="1 1.6 .5"><freejoint/><geom size=".1"/></body>
  <body name="moved" mocap="true" pos="2 2 1"><geom size=".1" contype="0" conaffinity="0"/>
    <site name="s4" euler="0 20 10"/></body>
  <body name="fixed" pos="-2 2 2"><geom size=".1"/></body>
</worldbody>
<tendon><fixed name="t1" {t1}><joint joint="j1" coef=".7"/><joint joint="j3" coef="-2"/></fixed>
  <fixed name="t2" {t2}><joint joint="j3" coef="1"/><joint joint="j2" coef=".5"/></fixed></tendon>
<equality>{equality}</equality></mujoco>"""
EMPTY = dict(option="", flags="", j1="", j2="", j3="", ball="", t1="", t2="", equality="")
LIMITED = dict(
    j1='range="-10 10" margin=".1"', j3='range="-.05 .02"', ball='range="0 25"', t2='range="-.1 .1" margin=".05"',
)  # fmt: skip
RUBBED = dict(j1='frictionloss=".2"', ball='frictionloss=".1"', t1='frictionloss=".3"')
WELD, CONNECT = '<weld body1="c" body2="free"/>', '<connect body1="b" body2="other" anchor=".1 .5 -.2"/>'
ALL = LIMITED | {name: LIMITED.get(name, "") + " " + text for name, text in RUBBED.items()}
ALL |= dict(equality=WELD + CONNECT + '<joint joint1="j1" joint2="j2"/><tendon tendon1="t1" tendon2="t2"/>')
MODELS = {
    "connect to the world": dict(equality='<connect body1="a" anchor=".2 .1 0"/>'),
    "connect of two branches": dict(equality='<connect body1="b" body2="c" anchor="0 .1 0"/>'),
    "connect of parent and child": dict(equality='<connect body1="b" body2="a" anchor=".2 0 .1"/>'),
    "connect of a body without joints": dict(equality='<connect body1="b2" body2="free" anchor=".1 0 0"/>'),
    "connect of two trees": dict(equality=CONNECT),
    "connect of two free bodies": dict(equality='<connect body1="free" body2="other" anchor="0 .3 .1"/>'),
    "connect to a mocap body": dict(equality='<connect body1="moved" body2="other" anchor="-.5 0 0"/>'),
    "connect to a fixed body": dict(equality='<connect body1="fixed" body2="a" anchor="1 -1 -1"/>'),
    "connect of sites": dict(equality='<connect site1="s1" site2="s3"/>'),
    "connect of sites of one tree": dict(equality='<connect site1="s2" site2="s1"/>'),
    "weld to the world": dict(equality='<weld body1="free"/>'),
    "weld of two branches": dict(equality='<weld body1="b" body2="c"/>'),
    "weld of parent and child": dict(equality='<weld body1="a" body2="b"/>'),
    "weld of two trees": dict(equality=WELD),
    "weld of two free bodies": dict(equality='<weld body1="other" body2="free"/>'),
    "weld to a mocap body": dict(equality='<weld body1="moved" body2="other"/>'),
    "weld with a pose": dict(equality='<weld body1="b2" body2="c" relpose="0 .1 0 .5 .5 .5 .5"/>'),
    "weld with a pose and an anchor": dict(
        equality='<weld body1="moved" body2="free" anchor=".1 .2 .3" relpose="0 .1 .2 .7 0 .7 0"/>'),
    "weld with little torque": dict(equality='<weld body1="free" body2="moved" torquescale=".1"/>'),
    "weld with much torque": dict(equality='<weld body1="free" body2="b" torquescale="4"/>'),
    "weld of sites": dict(equality='<weld site1="s3" site2="s4" torquescale=".2"/>'),
    "weld of sites of one tree": dict(equality='<weld site1="s2" site2="s1"/>'),
    "joint that is constant": dict(equality='<joint joint1="j1" polycoef=".2"/>'),
    "joint that follows": dict(equality='<joint joint1="j2" joint2="j1"/>'),
    "joint that follows a polynomial": dict(equality='<joint joint1="j3" joint2="j1" polycoef=".1 .2 .3 .4 .5"/>'),
    "tendon that is constant": dict(equality='<tendon tendon1="t1" polycoef=".1"/>'),
    "tendon that follows a polynomial": dict(equality='<tendon tendon1="t2" tendon2="t1" polycoef=".1 1 .2 0 .3"/>'),
    "equalities that do not act": dict(equality='<weld body1="a" active="false"/><joint joint1="j1" active="false"/>'),
    "friction loss of a hinge": dict(j1='frictionloss=".2"'),
    "friction loss of a slide": dict(j3='frictionloss="1"'),
    "friction loss of a ball": dict(ball='frictionloss=".1"'),
    "friction loss of a tendon": dict(t1='frictionloss=".3"'),
    "friction loss with solreffriction": dict(j1='frictionloss=".5" solreffriction=".1 .5" solimpfriction=".5 .6 .1"'),
    "friction loss that is direct": dict(j2='frictionloss=".5" solreffriction="-10 -2"'),
    "limit of a hinge with margin": dict(j1='range="-10 10" margin=".3"'),
    "limit of a slide": dict(j3='range="-.05 .02"'),
    "limit of a ball with margin": dict(ball='range="0 25" margin=".2"'),
    "limits of a tendon with margin": dict(t1='range="-.01 .01" margin=".5"'),
    "limit with solref": dict(j3='range="-.05 .02" solreflimit=".05 .7"'),
    "limit that is direct": dict(j3='range="-.05 .02" solreflimit="-400 -30"'),
    "impedance that rises": dict(equality='<weld body1="c" body2="free" solimp=".2 .9 .5 .3 3"/>'),
    "impedance that falls": dict(equality='<weld body1="c" body2="free" solimp=".9 .2 .5 .5 1"/>'),
    "impedance beyond its bounds": dict(equality='<connect body1="b" body2="free" anchor="0 0 0" solimp="0 1 2 0 0"/>'),
    "impedance of power 6": dict(equality='<connect body1="b" body2="free" anchor="0 0 0" solimp=".1 .9 2 .9 6"/>'),
    "impedance without a width": dict(equality='<joint joint1="j1" joint2="j2" solimp=".3 .8 0 .5 2"/>'),
    "reference that is direct": dict(equality='<weld body1="c" body2="free" solref="-300 -20"/>'),
    "reference of mixed signs": dict(equality='<weld body1="c" body2="free" solref="-.1 1"/>'),
    "reference faster than the step": dict(equality='<connect body1="free" anchor="0 0 0" solref=".001 1"/>'),
    "the same without refsafe": dict(equality='<connect body1="free" anchor="0 0 0" solref=".003 1"/>',
                                     flags='<flag refsafe="disable"/>'),
    "impratio": dict(option='cone="elliptic" impratio="8"', equality=CONNECT),
    "override of contacts": dict(
        flags='<flag override="enable"/>', equality=WELD,
        option='o_margin=".02" o_solref=".05 .8" o_solimp=".5 .8 .01 .4 3" o_friction=".3 .3 .01 .001 .001"'),
    "everything": ALL,
    "everything, elliptic": ALL | dict(option='cone="elliptic"'),
    "everything, sparse": ALL | dict(option='jacobian="sparse"'),
    "everything, in one problem": ALL | dict(flags='<flag island="disable"/>'),
}  # fmt: skip
FLAGS = """constraint equality frictionloss limit contact spring damper gravity warmstart filterparent refsafe
eulerdamp""".split()
EFC = "type id pos margin frictionloss diagApprox D R vel aref force".split()


def pair_of(parts):
    pair = Pair(WORLD.format(**(EMPTY | parts)))
    rng = np.random.default_rng(7)
    pair.md.qpos[:3] += rng.normal(size=3) * 0.05
    pair.md.qvel[:] = rng.normal(size=pair.mm.nv)
    pair.md.mocap_pos[:] += 0.1
    return pair


def their_jacobian(pair):
    n, nv = pair.md.nefc, pair.mm.nv
    out = np.zeros((n, nv))
    if mujoco.mj_isSparse(pair.mm):
        mujoco.mju_sparse2dense(out, pair.md.efc_J, pair.md.efc_J_rownnz, pair.md.efc_J_rowadr, pair.md.efc_J_colind)
    else:
        out[:] = pair.md.efc_J[: n * nv].reshape(n, nv)
    return out


def compare(pair, count=4, steps=12):
    """Rows, minimum and islands in some states; returns how many rows there were."""
    rows = 0
    for k in pair.states(count, steps):
        validate(pair.m, pair.d)
        ours = pair.d.ncon, pair.d.nefc, pair.d.nisland
        assert ours == (pair.md.ncon, pair.md.nefc, pair.md.nisland), k
        rows += pair.d.nefc
        for name in ("qacc_smooth", "qacc", "qfrc_constraint", *("efc_" + name for name in EFC)):
            assert pair.error(name) < 1e-7, (k, name)
        assert error(pair.d.efc_J.toarray(), their_jacobian(pair)) < 1e-9, k
        assert error(pair.d.efc_KBIP[:, :3], pair.md.efc_KBIP.reshape(-1, 4)[: pair.md.nefc, :3]) < 1e-9
    return rows


@pytest.mark.parametrize("name", MODELS)
def test_rows(name):
    pair = pair_of(MODELS[name])
    assert compare(pair) > 0 or "do not act" in name


def test_a_ball_that_is_not_turned_has_mujocos_axis():
    """Its limit acts there if the margin is wider than the range."""
    pair = Pair("""<mujoco><option gravity="0 0 0"/><worldbody><body><geom size=".1"/>
        <joint type="ball" range="0 .1" limited="true" margin=".2"/></body></worldbody></mujoco>""")
    pair.md.qvel[:] = 1, 2, 3
    mujoco.mj_forward(pair.mm, pair.md)
    pair.copy_state()
    tisim.forward(pair.m, pair.d)
    assert error(pair.d.efc_J.toarray(), their_jacobian(pair)) < 1e-12 and pair.error("qacc") < 1e-7


@pytest.mark.parametrize("flag", FLAGS)
def test_flags_leave_out_what_mujocos_do(flag):
    compare(pair_of(ALL | dict(flags=f'<flag {flag}="disable"/>')))


@pytest.mark.parametrize("name", ["everything", "weld to a mocap body", "joint that follows a polynomial"])
def test_rollouts_stay_together(name):
    pair = pair_of(MODELS[name])
    pair.copy_state()
    for _ in range(100):
        mujoco.mj_step(pair.mm, pair.md)
    tisim.step(pair.m, pair.d, 100)
    assert pair.error("qpos") < 1e-6 and pair.error("qvel") < 1e-5


def test_equalities_act_or_not_at_any_step():
    pair = pair_of(ALL)
    rng, numbers = np.random.default_rng(1), set()
    for _ in range(8):
        active = rng.integers(0, 2, pair.mm.neq)
        pair.md.eq_active[:] = active
        pair.d.eq_active = active
        compare(pair, 1, 5)
        numbers.add(pair.d.nefc)
    assert len(numbers) > 2


def test_worlds_have_their_own_equalities():
    """A world's bits do not depend on what acts in the others."""
    m = pair_of(ALL).m
    every = tisim.Data(m, nworld=3)
    active = np.array([[1, 1, 1, 1], [0, 1, 0, 0], [0, 0, 0, 1]])
    every.eq_active = active
    tisim.step(m, every, 30)
    for w in range(3):
        one = tisim.Data(m)
        one.eq_active = active[w]
        tisim.step(m, one, 30)
        assert np.array_equal(np.asarray(every.qpos)[w], one.qpos)


def test_equal_bodies_are_joined_in_islands():
    """Two free bodies are one island while a weld of them acts."""
    pair = pair_of(dict(equality='<weld body1="other" body2="free"/>', flags='<flag contact="disable"/>'))
    tisim.forward(pair.m, pair.d)
    assert pair.d.nisland == 1 and np.sum(np.asarray(pair.d.tree_island) == 0) == 2
    pair.d.eq_active = 0
    tisim.forward(pair.m, pair.d)
    assert pair.d.nisland == 0 and np.all(np.asarray(pair.d.tree_island) == -1)


@pytest.mark.parametrize("jacobian, rows", [("auto", 1), ("dense", 1), ("sparse", 4)])
def test_rows_that_move_nothing_are_listed_as_by_mujoco(jacobian, rows):
    """A connect on the axis of a hinge has a Jacobian of zero, which dense matrices leave out."""
    pair = Pair(
        f"""<mujoco><option jacobian="{jacobian}"/><worldbody><body name="a"><joint name="j" axis="0 0 1"/>
        <geom size=".1" pos=".2 0 0"/></body></worldbody><equality><connect body1="a" anchor="0 0 .1"/>
        <joint joint1="j"/></equality></mujoco>"""
    )
    pair.md.qvel[:] = 1
    for _ in pair.states(3, 5):
        assert pair.d.nefc == pair.md.nefc == rows and pair.error("qacc") < 1e-9
