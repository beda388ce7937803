"""Random scenes, randomly poked, sleep and wake step by step as in MuJoCo 3.4.0, until rounding parts the two.

In some of them equalities, tendons and actuators join bodies. A poke writes velocities, forces, poses,
mocap poses, controls, gravity, and which equalities act. After every step all rules of a Data hold (validate).
"""

import mujoco
import numpy as np
import pytest
from shared.sleepers import DOLL, Both, free, scene

CHAOS = 1e-7  # how far states may be apart for the sleepers to be compared: decisions have thresholds
SHAPES = ('type="sphere" size=".1"', 'type="capsule" size=".07 .1"', 'type="box" size=".1 .08 .12"')
HAND = '<body name="hand" mocap="true" pos="3 3 .3"><geom type="sphere" size=".15"/></body>'
SWING = """<body pos="{x} 1 .8"><joint axis="0 1 0" damping=".05" frictionloss=".01"/>
<geom type="capsule" size=".04 .2" pos="0 0 -.3"/></body>"""


STEPPERS = ("", "", ' integrator="implicit"', ' integrator="implicitfast"')


def random_ties(rng, names):
    """Equalities, tendons and actuators between bodies of these names, which have sites so named."""
    ties, cords, drives = [], [], []
    for _ in range(rng.integers(0, 4)):
        a, b = rng.choice(names, 2, replace=False)
        kind = rng.choice(["weld", 'connect anchor="0 0 0"'])
        ties.append(f'<{kind} body1="{a}" body2="{b}" active="{rng.choice(["true", "false", "false"])}"/>')
    for k in range(rng.integers(0, 4)):
        a, b = rng.choice(names, 2, replace=False)
        more = ('range="0 .5"', 'range="0 1" margin=".1"', 'range="0 9" limited="false" frictionloss=".01"')[k % 3]
        limited = "" if "limited" in more else 'limited="true"'
        cords.append(f'<spatial name="t{k}" {limited} {more}><site site="{a}"/><site site="{b}"/></spatial>')
    for name in names:
        if rng.random() < 0.3:
            drives.append(f'<general site="{name}" gear="1 0 0 0 0 0" dyntype="filter" dynprm=".1" gainprm=".5"/>')
    if rng.random() < 0.5:
        drives += [f'<position tendon="t{k}" kp=".5" kv=".1"/>' for k in range(len(cords))]
    found = dict(equality=ties, tendon=cords, actuator=drives)
    return "".join(f"<{kind}>{''.join(items)}</{kind}>" for kind, items in found.items() if items)


def random_scene(rng, tied):
    """MJCF of two to eight bodies near each other, some with a gap or a policy, perhaps a doll and a pendulum.

    tied  with equalities, tendons and actuators between the bodies.
    """
    bodies, init = [], rng.random() < 0.2 and not tied
    number = int(rng.integers(2, 9))
    for i in range(number):
        shape = SHAPES[rng.choice(3, p=(0.5, 0.3, 0.2))]
        gap = ' margin=".05" gap=".05"' if rng.random() < 0.2 else ""
        policy = 'sleep="init"' if init else rng.choice(["", "", "", 'sleep="allowed"', 'sleep="never"'])
        x, y = rng.uniform(-0.6, 0.6, 2)
        euler = " ".join(f"{a:.3f}" for a in rng.uniform(-90, 90, 3)) if "box" not in shape else "0 0 0"
        bodies.append(free(f"b{i}", f"{x:.3f} {y:.3f} {0.13 + 0.3 * i * rng.random():.3f}", shape + gap,
                           f'euler="{euler}" {policy}').replace("<geom", f'<site name="b{i}"/><geom'))  # fmt: skip
    if rng.random() < 0.3:
        bodies.append(DOLL.format(name="doll", pos="2 0 .4"))
    if rng.random() < 0.5:
        bodies.append(SWING.format(x=f"{rng.uniform(-1, 1):.3f}"))
    bodies.append(HAND)
    cone = rng.choice(["pyramidal", "elliptic"])
    # what is tied together swings for long: it comes to rest sooner where rest is said to be more
    option = f'sleep_tolerance="{rng.choice([1e-2, 5e-2, 0.2] if tied else [1e-3, 1e-2, 5e-2])}" cone="{cone}"'
    if not tied:
        return scene("".join(bodies), option)
    rest = random_ties(rng, [f"b{i}" for i in range(number)])
    return scene("".join(bodies), option + rng.choice(STEPPERS), rest=rest)


def random_poke(rng, m):
    """act(model, data) that changes one thing."""
    kind, b = rng.integers(7 if not m.neq + m.nu + m.ntendon else 12), int(rng.integers(m.ntree))
    v, q, body = m.tree_dofadr[b], m.jnt_qposadr[m.dof_jntid[m.tree_dofadr[b]]], m.tree_bodyadr[b]
    value, zero = rng.normal(), rng.choice([0.0, -0.0])

    def act(m, d):
        if kind == 0:
            d.qvel[v] = value
        elif kind == 1:
            d.qvel[v] = zero
        elif kind == 2:
            d.qfrc_applied[v] = rng_free[0] * 0.1
        elif kind == 3:
            d.xfrc_applied[body, 2] = 3 * value
        elif kind == 4:
            d.qpos[q] = d.qpos[q] + 0.02 * value
        elif kind == 5:
            d.mocap_pos[0] = [0.5 * value, 0.1, 0.25]
        elif kind in (7, 8) and m.neq:
            d.eq_active[b % m.neq] = 1
        elif kind == 9 and m.neq:
            d.eq_active[b % m.neq] = 0
        elif kind == 10 and m.nu:
            d.ctrl[b % m.nu] = 3 * value
        elif kind == 11:
            m.opt.gravity[2] = -9.81 + value
        else:
            d.xfrc_applied[...] = 0.0
            d.qfrc_applied[...] = 0.0

    rng_free = (value,)
    return act


def run(seed, steps=250, tied=False):
    """One scene; returns how many steps were compared, and how often trees fell asleep or woke in these."""
    rng = np.random.default_rng(seed)
    xml = random_scene(rng, tied)
    try:
        both = Both(xml)
    except ValueError as e:  # MuJoCo refuses scenes of which only a part could start asleep
        assert "sleep" in str(e), xml
        return 0, 0
    number = rng.integers(2, 18 if tied else 10)
    pokes = {int(s): random_poke(rng, both.theirs) for s in rng.integers(20, steps, number)}
    changes, before, compared = 0, both.data[0].tree_asleep.copy(), True
    for i in range(steps):
        if i in pokes:
            both.poke(pokes[i])
        try:
            both.step()
        except mujoco.FatalError:
            return i, changes
        if compared and both.apart() > CHAOS:
            compared, told = False, i
        if compared:
            assert both.same_sleepers(), (seed, i, both.data[0].tree_asleep, both.data[1].tree_asleep)
            changes += int(((before >= 0) != (both.data[0].tree_asleep >= 0)).sum())
            before = both.data[0].tree_asleep.copy()
    return (steps if compared else told), changes


def test_a_few():
    results = [run(seed, 160) for seed in range(12)]
    assert sum(steps for steps, _ in results) > 600 and sum(changes for _, changes in results) > 20


def test_a_few_with_ties():
    results = [run(seed, 160, tied=True) for seed in range(12)]
    assert sum(steps for steps, _ in results) > 600 and sum(changes for _, changes in results) > 20


@pytest.mark.slow
@pytest.mark.parametrize("tenth", range(10))
def test_many(tenth):
    results = [run(seed) for seed in range(100 + 20 * tenth, 120 + 20 * tenth)]
    assert sum(changes for _, changes in results) > 50


@pytest.mark.slow
@pytest.mark.parametrize("tenth", range(10))
def test_many_with_ties(tenth):
    results = [run(seed, tied=True) for seed in range(500 + 20 * tenth, 520 + 20 * tenth)]
    assert sum(changes for _, changes in results) > 50
