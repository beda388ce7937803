"""With d.faults an island that diverges is put back or stopped alone, a warning names its bodies, and all others go on
bit for bit; contacts are complete when all that slept collapses at once."""

import numpy as np
import pytest
from shared.sleepers import BALL, PLAIN, STACKS, UPPER, free, scene

import tisim
from tisim.data.validate import validate

OTHERS = slice(12, 30)  # dofs of the stack of three, which the fault is far from


def spoil_velocity(d):
    d.qvel[0] = np.nan


def spoil_pose(d):
    d.qpos[1] = np.inf


def push(d):
    d.qfrc_applied[2] = 1e20


@pytest.mark.parametrize("sleep", [True, False])
@pytest.mark.parametrize("way", ["reset", "freeze"])
@pytest.mark.parametrize("fault", [spoil_velocity, spoil_pose, push])
def test_others_go_on_bit_for_bit(fault, way, sleep):
    m = tisim.Model.from_xml_string(scene(STACKS, sleep=sleep))
    d, calm = tisim.Data(m), tisim.Data(m)
    d.faults = way
    for data in (d, calm):
        tisim.step(m, data, 20)
    fault(d)
    with pytest.warns(tisim.DivergedWarning, match="bodies a, b diverged"):
        tisim.step(m, d)
    tisim.step(m, calm)
    height = float(d.qpos[2])
    for _ in range(60):
        assert np.array_equal(d.qvel[OTHERS], calm.qvel[OTHERS]) and np.array_equal(d.qpos[14:], calm.qpos[14:])
        for data in (d, calm):
            tisim.step(m, data)
            validate(m, data)
    if way == "reset" or fault is spoil_pose:
        assert np.abs(np.asarray(d.qpos)[:3] - m.qpos0[:3]).max() < 0.01
    elif sleep:
        assert d.qpos[2] == height and d.tree_asleep[:2].tolist() == [1, 0]
    assert sum(d.warning[k].number for k in range(8)) == 1


def test_the_world_is_reset_unless_said_otherwise():
    m = tisim.Model.from_xml_string(scene(PLAIN))
    d = tisim.Data(m)
    tisim.step(m, d, 20)
    spoil_velocity(d)
    with pytest.warns(tisim.DivergedWarning, match="is reset"):
        tisim.step(m, d)
    assert d.time == pytest.approx(m.opt.timestep)
    with pytest.raises(tisim.Error, match="'freeze'"):
        d.faults = "ignore"


def test_contacts_are_complete_when_a_quiet_scene_collapses():
    """Everything sleeps in the air, then falls: lists that were short grow, and no contact is missing."""
    world = "".join(
        free(f"b{i}", f"{0.21 * (i % 8)} {0.23 * (i // 8 % 8)} {0.2 + 0.21 * (i // 64)}", (BALL, UPPER)[i % 2],
             '{}')
        for i in range(192)
    )  # fmt: skip
    quiet = tisim.Model.from_xml_string(scene(world.replace("{}", 'sleep="init"')))
    plain = tisim.Model.from_xml_string(scene(world.replace("{}", ""), sleep=False))
    d, e = tisim.Data(quiet, capacity=dict(nconmax=16, npairmax=32, nslotmax=32)), tisim.Data(plain)
    tisim.step(quiet, d, 5)
    assert d.ncon == 0 and d.ntree_awake == 0
    tisim.wake(quiet, d)
    most = 0
    for _ in range(40):
        tisim.step(quiet, d)
        tisim.step(plain, e)
        validate(quiet, d)
        assert d.ncon == e.ncon and np.array_equal(d.qpos, e.qpos)
        most = max(most, d.ncon)
    assert most > 160


def sleep_in_turn(d, trees):
    """Whether these trees sleep, each as one of a cycle of them."""
    following = np.asarray(d.tree_asleep)[..., trees]
    return np.array_equal(np.sort(following, axis=-1), np.broadcast_to(trees, following.shape))


@pytest.mark.parametrize("way", ["reset", "freeze"])
@pytest.mark.parametrize("fault", [spoil_velocity, spoil_pose])
def test_an_island_that_slept_is_stopped_as_a_whole(fault, way):
    m = tisim.Model.from_xml_string(scene(STACKS, 'sleep_tolerance=".05"'))
    d = tisim.Data(m)
    d.faults = way
    tisim.step(m, d, 200)
    assert sleep_in_turn(d, [0, 1]) and sleep_in_turn(d, [2, 3, 4])
    fault(d)
    with pytest.warns(tisim.DivergedWarning, match="bodies a, b diverged"):
        tisim.step(m, d)
    validate(m, d)
    assert sleep_in_turn(d, [2, 3, 4]) and sleep_in_turn(d, [0, 1]) == (way == "freeze" and fault is spoil_velocity)


def test_what_is_stopped_on_its_way_sleeps_where_it_is_while_other_worlds_begin_anew():
    m = tisim.Model.from_xml_string(scene(STACKS + free("far", "3 0 2", BALL)))
    d = tisim.Data(m, 2)
    d.faults = "freeze"
    tisim.step(m, d, 30)
    d.world(0).qvel[30] = np.nan
    with pytest.warns(tisim.DivergedWarning, match="body far in world 0 diverged"):
        tisim.step(m, d)
    assert d.tree_asleep[0, 5] == 5 and not d.cvel[0, 6].any()
    assert np.array_equal(d.xpos[0, 6], d.qpos[0, 35:38])
    tisim.reset(m, d, 1)
    tisim.step(m, d)
    assert d.tree_asleep[0, 5] == 5


@pytest.mark.parametrize("nstep", [0, 20])
@pytest.mark.parametrize("way", ["reset", "freeze"])
def test_a_world_that_begins_with_a_fault_leaves_all_else_alone(way, nstep):
    m = tisim.Model.from_xml_string(scene(STACKS))
    d, calm = tisim.Data(m, 2), tisim.Data(m)
    d.faults = way
    for data in (d, calm):
        tisim.step(m, data, nstep)
        data.qvel[..., 3] = 0.1
    state = tisim.get_state(m, tisim.Data(m))
    state[1 + m.nq] = np.nan
    tisim.reset_state(m, d, state, 1)
    with pytest.warns(tisim.DivergedWarning, match="body a in world 1 diverged"):
        tisim.step(m, d)
    tisim.step(m, calm)
    assert np.array_equal(d.qpos[0], calm.qpos) and np.array_equal(d.qvel[0], calm.qvel)


ARM = """<body name="arm" pos="0 9 1"><joint name="hip" axis="0 1 0" stiffness="2" damping=".1"/>
<geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/><body pos=".4 0 0"><joint type="ball"/><geom size=".1"/></body>
</body>"""


def test_what_follows_from_velocities_is_that_of_rest_in_what_is_stopped():
    m = tisim.Model.from_xml_string(scene(STACKS + ARM))
    still = tisim.Model.from_xml_string(scene(STACKS + ARM, sleep=False))
    hip = int(m.jnt_dofadr[m.joint("hip").id])
    d, e = tisim.Data(m, 2), tisim.Data(still)
    d.faults = "freeze"
    tisim.step(m, d, 30)
    d.qvel[1, hip] = np.nan
    tisim.forward(m, d)
    assert not np.isfinite(d.qfrc_bias[1, hip])
    with pytest.warns(tisim.DivergedWarning, match="bodies arm, number"):
        tisim.step(m, d, 2)
    assert d.tree_asleep[1, m.body("arm").treeid[0]] >= 0
    e.qpos, e.qvel = d.qpos[1], d.qvel[1]
    tisim.forward(still, e)
    for name in ("cvel", "cinert", "xpos", "subtree_com"):
        assert np.array_equal(getattr(d, name)[1, -2:], getattr(e, name)[-2:]), name
    for name in ("cdof", "cdof_dot", "qfrc_bias", "qfrc_passive"):
        assert np.array_equal(getattr(d, name)[1, hip:], getattr(e, name)[hip:]), name


@pytest.mark.parametrize("way", ["reset", "freeze"])
def test_under_the_second_dynamics_too(way):
    """Where bodies have poses of their own, and contacts and connects the impulses of the last step."""
    hung = free("hung", "6 0 1", BALL) + ARM.replace('<geom type="capsule"', '<geom contype="0" type="capsule"')
    hung += '</worldbody><equality><connect body1="hung" anchor="0 0 .2"/></equality><worldbody>'
    m = tisim.Model.from_xml_string(scene(STACKS + hung, sleep=False))
    m.opt.dynamics = "lcp"
    d, calm = tisim.Data(m), tisim.Data(m)
    d.faults = way
    for data in (d, calm):
        tisim.step(m, data, 40)
    for body, what in (("a", "a, b"), ("hung", "hung")):
        d.xfrc_applied[m.body(body).id, 2] = np.nan
        tisim.step(m, d)
        with pytest.warns(tisim.DivergedWarning, match=f"bod.* {what}.* diverged"):
            tisim.step(m, d)
        tisim.step(m, calm, 2)
        assert np.isfinite(d.qpos).all() and np.isfinite(d.qvel).all()
    tisim.step(m, d, 60)
    tisim.step(m, calm, 60)
    assert np.array_equal(d.qpos[14:35], calm.qpos[14:35]), "the others"
    assert np.allclose(d.qpos, calm.qpos, atol=0.01) and d.warning[5].number == 2
    d.qvel[0] = np.nan
    with pytest.warns(tisim.DivergedWarning, match="bodies a, b diverged"):
        tisim.step(m, d)
