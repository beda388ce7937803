"""Trees that equalities, tendons and actuators join sleep and wake step by step as in MuJoCo 3.4.0; forces, lengths and
activations of what sleeps are as there."""

import mujoco
import numpy as np
import pytest
from shared.sleepers import BALL, STACKS, Both, free, jointed, scene, sited

import tisim
from tisim.data.validate import validate

BOXES = free("a", "0 0 .1") + free("b", "1 0 .1") + free("c", "2 0 .1")
FOUR = BOXES + free("d", "3 0 .1")
SITES = sited("a", "0 0 .1") + sited("b", "1 0 .1") + sited("c", "2 0 .1")
JOINTS = jointed("j") + jointed("k", "0 1 1", 'type="hinge" axis="0 1 0"') + jointed("l", "0 2 1")
ALLOWED = JOINTS.replace('" pos=', '" sleep="allowed" pos=')
HAND = '<body name="hand" mocap="true" pos="0 0 1"><site name="hand"/></body>'
SLOW, FLOAT = 'sleep_tolerance=".01"', 'gravity="0 0 0"'


def equality(*items):
    return f"<equality>{''.join(items)}</equality>"


def weld(a, b, active="true"):
    return f'<weld body1="{a}" body2="{b}" active="{active}"/>'


def tendon(more, site="b"):
    return f'<tendon><spatial name="t" {more}><site site="a"/><site site="{site}"/></spatial></tendon>'


def actuators(text):
    return f"<actuator>{text}</actuator>"


DRIVES = actuators("""<motor joint="j"/><position joint="k" kp="5" kv="1"/>
<intvelocity joint="j" kp="3" actrange="-1 1"/><general joint="j" dyntype="filter" dynprm=".3" gainprm=".2"/>""")
PUSHES = actuators("""<general site="a" gear="1 0 0 0 0 0" dyntype="filter" dynprm=".3" gainprm="1"/>
<general site="b" gear="0 0 1 0 0 0" dyntype="filterexact" dynprm=".3" gainprm="1"/>
<intvelocity site="c" refsite="b" gear="1 0 0 0 0 0" kp=".3" actrange="-1 1"/>""")
PULLS = tendon("") + actuators("""<position tendon="t" kp="1" kv=".3" ctrlrange="0 2"/>
<muscle tendon="t" lengthrange="0 2" force="1"/>""")
CRANK = actuators('<position cranksite="j" slidersite="l" cranklength="3" kp="1"/>')


def put(*writes):
    """A poke that writes (field, index, value) each."""

    def act(m, d):
        for field, index, value in writes:
            getattr(d, field)[index] = value

    return act


def drive(*values):
    return put(("ctrl", slice(0, len(values)), values))


def push(dof, speed):
    return put(("qvel", dof, speed))


ON, OFF = put(("eq_active", slice(None), 1)), put(("eq_active", slice(None), 0))
KEEP = {0: drive(0.01), 100: drive(0.5, 0.3, 0.2, 0.5), 150: push(0, 0.1), 220: push(1, 0.1)}
SHOVE = {0: drive(0.3, 0.5, 0.2), 150: drive(3, 0.5, 0.5), 160: push(0, 0.1), 220: push(6, 0.05)}
# name: scene, steps, {step: poke}, how many sleep at the end
CASES = {
    "a weld wakes its second body": (scene(BOXES, rest=equality(weld("a", "b"))), 100, {80: push(0, 0.3)}, 1),
    "a weld wakes its first body": (scene(BOXES, rest=equality(weld("a", "b"))), 100, {80: push(6, 0.3)}, 1),
    "a weld that begins wakes two sleepers": (
        scene(BOXES, rest=equality(weld("a", "b", "false"))), 140, {80: ON}, 3,
    ),
    "a weld that begins wakes one": (
        scene(BOXES, rest=equality(weld("a", "b", "false"))), 100, {80: push(0, 0.3), 82: ON}, 1,
    ),
    "a weld that ends leaves them in one island": (
        scene(BOXES, rest=equality(weld("a", "b"))), 140, {80: OFF, 90: push(0, 0.3)}, 3,
    ),
    "a connect": (
        scene(BOXES, rest=equality('<connect body1="b" body2="a" anchor=".5 0 0"/>')), 100, {80: push(6, 0.3)}, 1,
    ),
    "a connect with the world": (
        scene(BOXES, rest=equality('<connect body1="b" anchor=".5 0 0"/>')), 100, {80: push(6, 0.3)}, 2,
    ),
    "sites that are welded": (
        scene(SITES.replace('<site name="b"', '<site name="b" pos="1 0 0"'),
              rest=equality('<weld site1="b" site2="c"/>')), 100, {80: push(12, 0.3)}, 1,
    ),
    "a chain that begins, the middle last": (
        scene(FOUR, rest=equality(weld("a", "b", "false"), weld("c", "d", "false"), weld("b", "c", "false"))),
        140, {80: ON}, 4,
    ),
    "a chain of which one is awake wakes in one step": (
        scene(FOUR, rest=equality(weld("c", "d", "false"), weld("b", "c", "false"), weld("a", "b", "false"))),
        100, {79: push(0, 0.3), 80: ON}, 0,
    ),
    "joints": (scene(JOINTS, rest=equality('<joint joint1="j" joint2="k"/>')), 160, {120: push(0, 0.3)}, 1),
    "joints that are joined later": (
        scene(JOINTS, FLOAT, rest=equality('<joint joint1="j" joint2="l" active="false" polycoef=".1 1 0 0 0"/>')),
        140, {40: ON}, 3,
    ),
    "a joint that is held later stays asleep": (
        scene(JOINTS, FLOAT, rest=equality('<joint joint1="j" active="false" polycoef=".1 0 0 0 0"/>')),
        150, {40: ON, 60: push(0, 0.1)}, 3,
    ),
    "equalities that are disabled wake all the same": (
        scene(BOXES, flag='equality="disable"', rest=equality(weld("a", "b"))), 60, {}, 1,
    ),
    "a tendon at its limit": (
        scene(SITES, rest=tendon('limited="true" range="0 1.05"')), 180, {80: push(0, -2.0)}, 3,
    ),
    "a tendon within its margin": (
        scene(SITES, rest=tendon('limited="true" range="0 1.05" margin=".02"')), 180, {80: push(6, 2.0)}, 3,
    ),
    "a tendon that hangs loose wakes nobody": (
        scene(SITES, rest=tendon('limited="true" range="0 2"')), 100, {80: push(6, 0.5)}, 2,
    ),
    "a tendon with friction": (scene(SITES, rest=tendon('frictionloss=".1"')), 210, {150: push(6, 0.2)}, 3),
    "a tendon to a mocap body wakes nobody": (
        scene(SITES + HAND, rest=tendon('limited="true" range="0 .95"', "hand")), 120,
        {100: put(("mocap_pos", (0, 2), 1.2))}, 3,
    ),
    "a spring between a tree and the world, with armature": (
        scene(sited("a", "2 0 .1") + HAND, rest=tendon('stiffness="5" damping="1" armature=".1" range="0 9"', "hand")),
        160, {100: push(0, 0.3)}, None,
    ),
    "trees that motors move stay awake": (
        scene(JOINTS, rest=actuators('<motor joint="j"/>')), 80, {50: drive(0.1)}, 2,
    ),
    "controls wake nobody": (scene(ALLOWED, SLOW, rest=DRIVES), 300, KEEP, None),
    "controls wake nobody, implicit": (scene(ALLOWED, SLOW + ' integrator="implicit"', rest=DRIVES), 300, KEEP, None),
    "controls wake nobody, implicitfast": (
        scene(ALLOWED, SLOW + ' integrator="implicitfast"', rest=DRIVES), 300, KEEP, None,
    ),
    "activations go on while their trees sleep": (
        scene(SITES.replace("pos", 'sleep="allowed" pos'), SLOW, rest=PUSHES), 300, SHOVE, None,
    ),
    "activations go on, implicit": (
        scene(SITES.replace("pos", 'sleep="allowed" pos'), SLOW + ' integrator="implicit"', rest=PUSHES), 300, SHOVE,
        None,
    ),
    "a muscle and a servo between two trees": (
        scene(SITES.replace("pos", 'sleep="allowed" pos'), SLOW, rest=PULLS), 300,
        {0: drive(0.9), 100: put(("ctrl", 1, 1.0)), 150: push(0, 0.3), 200: push(6, -0.3)}, None,
    ),
    "adhesion": (
        scene(free("a", "0 0 .1", body='sleep="allowed"') + free("b", "1 0 .1"), SLOW,
              rest=actuators('<adhesion body="a" ctrlrange="0 1" gain="5"/>')),
        130, {0: drive(0.5), 100: drive(1.0), 110: push(0, 0.2)}, None,
    ),
    "a slider-crank": (scene(ALLOWED, SLOW + " " + FLOAT, rest=CRANK), 200, {100: push(0, 0.2)}, None),
    "a reference that moves on": (
        scene(ALLOWED.replace('name="l" sleep="allowed"', 'name="l" sleep="never"'), SLOW + " " + FLOAT,
              rest=actuators('<motor site="j" refsite="l" gear="1 .5 .7 .2 .3 1"/>')), 100, {0: push(2, 0.8)}, 2,
    ),
    "gravity that ends": (
        scene(BOXES, rest=equality(weld("a", "b"))), 100,
        {80: lambda m, d: m.opt.gravity.__setitem__(slice(None), 0), 90: push(0, 0.3)}, 1,
    ),
    "nothing binds, without islands": (
        scene(free("a", "0 0 1") + free("b", "1 0 1"), FLOAT, 'island="disable"'), 40, {20: push(0, 0.1)}, 1,
    ),
    "a ball wakes one that touches a third": (
        scene(free("a", "0 0 .1", BALL) + free("b", ".5 0 .1", BALL) + free("c", ".75 0 .1", BALL + ' margin=".06"')),
        140, {60: push(0, 2.0)}, None,
    ),
}  # fmt: skip
SOLVERS = ('solver="PGS"', 'solver="CG"', 'noslip_iterations="5"', 'solver="CG" cone="elliptic"')
SAME = ("actuator_force", "actuator_velocity", "qfrc_actuator", "act", "act_dot")  # of sleepers, too


@pytest.mark.parametrize("case", CASES)
def test_case(case):
    xml, steps, pokes, asleep = CASES[case]
    both = Both(xml)
    for i in range(steps):
        if i in pokes:
            both.poke(pokes[i])
        both.step()
        theirs, ours = both.data
        assert both.same(), f"step {i}: {theirs.tree_asleep} and {ours.tree_asleep}"
        assert both.apart() < 1e-9, f"step {i}"
        for name in SAME if both.theirs.nu else ():
            assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-7), (i, name)
    if asleep is not None:
        assert (both.data[0].tree_asleep >= 0).sum() == asleep


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_solvers_put_to_sleep(solver):
    world = STACKS + sited("x", "3 0 .1") + sited("y", "4 0 .1")
    both = Both(scene(world, f"{SLOW} {solver}", rest=equality(weld("x", "y"))))
    for i in range(90):
        if i == 60:
            both.poke(push(0, 0.1))
            both.poke(push(30, 0.1))
        both.step()
        assert both.same_sleepers(), f"step {i}: {both.data[0].tree_asleep} and {both.data[1].tree_asleep}"
        assert both.apart() < 1e-3, f"step {i}"  # these solvers stop further from the minimum
    assert both.data[0].tree_asleep.max() >= 0


def test_what_is_welded_to_a_mocap_body_wakes():
    """3.4.0 ends with an error there; later versions wake what is tied to a mocap body, which is always awake."""
    m = tisim.Model.from_xml_string(scene(BOXES + HAND.replace("0 0 1", "0 0 .1"), rest=equality(weld("hand", "a"))))
    d, woke = tisim.Data(m), 0
    for _ in range(100):
        before = np.array(d.tree_asleep)
        tisim.step(m, d)
        validate(m, d)
        woke += before[0] >= 0 and d.tree_asleep[0] < 0
        assert before[0] < 0 or d.tree_asleep[0] < 0
    assert woke > 0 and d.tree_asleep[1] >= 0
    assert abs(d.qpos[2] - 0.1) < 1e-3


def test_tendons_that_are_equal_wake_each_other():
    """MuJoCo refuses such an equality where it acts and the flag is set; here it wakes as the others do."""
    tendons = "".join(f'<fixed name="{j}"><joint joint="{j}" coef="1"/></fixed>' for j in "jkl")
    rest = f"<tendon>{tendons}</tendon>" + equality('<tendon tendon1="j" tendon2="l" active="false"/>')
    m = tisim.Model.from_xml_string(scene(JOINTS, FLOAT, rest=rest))
    d = tisim.Data(m)
    tisim.step(m, d, 20)
    assert d.ntree_awake == 0
    d.eq_active[0] = 1
    tisim.step(m, d)
    validate(m, d)
    assert d.tree_asleep.tolist()[1] == 1 and d.ntree_awake == 2
    tisim.step(m, d, 20)
    assert d.ntree_awake == 0
    d.qvel[2] = 0.3
    tisim.step(m, d, 2)
    validate(m, d)
    assert d.ntree_awake == 2 and d.nefc == 1


def test_sleepers_cost_no_rows_and_no_forces():
    both = Both(scene(SITES.replace("pos", 'sleep="allowed" pos') + sited("z", "5 0 .1", 'sleep="never"'), SLOW,
                      rest=tendon("") + equality(weld("a", "b")) + actuators('<motor tendon="t"/>')))  # fmt: skip
    for _ in range(70):
        both.step()
    both.poke(drive(5.0))
    both.step()
    assert both.same() and both.data[1].ntree_awake == 1
    assert both.data[1].nefc == both.data[0].nefc == 16
    assert both.data[1].actuator_force[0] == 0.0


def test_inverse_dynamics_wake_and_leave_sleepers_out():
    both = Both(scene(BOXES, rest=equality(weld("a", "b"))))
    for _ in range(70):
        both.step()
    both.poke(push(0, 0.3))
    mujoco.mj_inverse(both.theirs, both.data[0])
    tisim.inverse(both.ours, both.data[1])
    assert both.same_sleepers() and both.data[1].ntree_awake == 2
    for data in both.data:
        data.qacc[:] = np.arange(18.0)
    mujoco.mj_inverse(both.theirs, both.data[0])
    tisim.inverse(both.ours, both.data[1])
    assert np.allclose(both.data[1].qfrc_inverse[:12], both.data[0].qfrc_inverse[:12], rtol=1e-7, atol=1e-7)


def test_runge_kutta_does_not_sleep():
    with pytest.raises(tisim.UnsupportedError, match="RK4"):
        m = tisim.Model.from_xml_string(scene(BOXES, 'integrator="RK4"'))
        tisim.step(m, tisim.Data(m))


@pytest.mark.parametrize("integrator", ["Euler", "implicit"])
def test_sensors_show_what_was_when_their_trees_fell_asleep(integrator):
    sensors = """<sensor><jointpos joint="j"/><jointvel joint="j"/><actuatorfrc actuator="f"/><velocimeter site="l"/>
    <accelerometer site="k"/><force site="k"/><framepos objtype="body" objname="j"/><tendonvel tendon="s"/><clock/>
    <subtreecom body="j"/></sensor>"""
    drives = '<actuator><general name="f" joint="j" dyntype="filter" dynprm=".3" gainprm=".2"/></actuator>'
    cord = '<tendon><fixed name="s"><joint joint="k" coef="1"/></fixed></tendon>'
    both = Both(scene(ALLOWED, f'{SLOW} integrator="{integrator}"', rest=cord + drives + sensors))
    both.poke(put(("qvel", slice(0, 3), (0.02, 0.012, 0.03))))
    both.poke(drive(0.01))
    for i in range(120):
        if i == 90:
            both.poke(push(0, 0.1))
        both.step()
        assert both.same(), i
        theirs, ours = (np.array(data.sensordata) for data in both.data)
        assert np.allclose(ours, theirs, rtol=1e-7, atol=1e-7), (i, np.abs(ours - theirs))
    assert both.data[1].ntree_awake < 3


@pytest.mark.parametrize("damping", ["1", "0"])
@pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast"])
def test_forces_on_those_awake_are_evaluated_again_where_others_fall_asleep(integrator, damping):
    """With the activations of the end of the step; what the step went on from are those of its beginning."""
    drives = actuators("".join(f'<general joint="{j}" dyntype="filter" dynprm=".3" gainprm="2"/>' for j in "kl"))
    lossy = ALLOWED.replace('name="k" type="hinge"', 'name="k" frictionloss=".3" type="hinge"')
    lossy = lossy.replace('damping="1"', f'damping="{damping}"')
    both = Both(scene(lossy, f'{SLOW} {FLOAT} integrator="{integrator}"', rest=drives))
    both.poke(put(("qvel", slice(0, 3), (0.02 if damping == "1" else 0.005, 0.3, 0.3))))
    both.poke(drive(0.5, 1))
    fell = 0
    for i in range(60):
        before = both.data[0].tree_asleep >= 0
        both.step()
        assert both.same() and both.apart() < 1e-9, i
        theirs, ours = both.data
        awake = theirs.tree_asleep < 0  # trees of one dof each
        fell += awake.any() and (~awake & ~before).any()
        for name in ("qfrc_smooth", "qfrc_constraint", "qacc", "qacc_warmstart"):
            expected = getattr(theirs, name)[awake]
            assert np.allclose(np.asarray(getattr(ours, name))[awake], expected, rtol=1e-7, atol=1e-7), (i, name)
    assert fell
