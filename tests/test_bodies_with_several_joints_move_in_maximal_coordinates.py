"""dynamics="lcp": bodies with several slides and hinges. Their rows leave out what no motion of the joints does, and
only that; they move as MuJoCo's where steps are short, and forces act on their coordinates."""

import mujoco
import numpy as np
import pytest
from shared.joints import momenta

import tisim

AT = 'pos=".02 .01 .05"'
JOINTS = {
    "two slides": '<joint type="slide" axis="1 0 .2"/><joint type="slide" axis="0 1 1"/>',
    "three slides": '<joint type="slide" axis="1 0 .2"/><joint type="slide" axis="0 1 1"/><joint type="slide"/>',
    "planar": f'<joint type="slide" axis="1 0 0"/><joint type="slide" axis=".3 0 1"/><joint {AT} axis="0 1 0"/>',
    "slide, hinge": f'<joint type="slide" axis="1 0 1"/><joint {AT} axis="0 1 .3"/>',
    "hinge, slide": f'<joint {AT} axis="0 1 .3"/><joint type="slide" axis="1 0 1"/>',
    "slide, hinges": f'<joint type="slide" axis="1 0 1"/><joint {AT} axis="0 1 0"/><joint {AT} axis=".4 0 1"/>',
    "hinges, slide": f'<joint {AT} axis="0 1 0"/><joint {AT} axis=".4 0 1"/><joint type="slide" axis="1 0 1"/>',
    "hinge, slides": f'<joint {AT} axis="0 1 0"/><joint type="slide" axis="1 0 1"/><joint type="slide" axis="0 1 1"/>',
    "three hinges": f'<joint {AT} axis="1 0 0"/><joint {AT} axis="0 0 1"/><joint {AT} axis=".3 1 0"/>',
}
INERTIA = '<inertial pos=".03 0 -.2" euler="10 20 30" mass="1" diaginertia=".02 .03 .04"/>'
TEXT = (
    '<mujoco><option timestep="{h}" gravity="{g}"/><compiler autolimits="true"/><worldbody><body pos="0 0 1">{root}'
    + INERTIA
    + '<body name="b" pos=".1 0 -.4" euler="40 20 30">{joints}'
    + INERTIA
    + "</body></body></worldbody>{more}</mujoco>"
)


def model(kind, h=0.005, g="0 0 0", root="<freejoint/>", more="", joints=None):
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(TEXT.format(h=h, g=g, root=root, joints=joints or JOINTS[kind], more=more))
    m.opt.dynamics = "lcp"
    return m


def start(m, size=0.3):
    """A Data at a random pose near the reference, with random velocity."""
    rng, d = np.random.default_rng(1), tisim.Data(m)
    d.qpos[-int(m.body_jntnum[2]) :] = size * rng.normal(size=m.body_jntnum[2])
    d.qvel[:] = rng.normal(size=m.nv)
    return d


@pytest.mark.parametrize("kind", JOINTS)
def test_rows_leave_out_all_but_the_motions(kind):
    """Velocities that the joints allow stay as they are, also those measured of both bodies, and there are as many rows
    as directions left out."""
    m = model(kind)
    m.lcp.take(dict(erp=0.0, cfm=0.0))
    d = start(m)
    qpos, qvel = np.array(d.qpos), np.array(d.qvel)
    m.opt.timestep = 1e-9
    tisim.step(m, d)
    n = d.host("lcp_nrow").ravel()[2]
    assert n == 6 - m.body_jntnum[2]
    assert np.abs(d.qvel - qvel)[6:].max() < 1e-7 and np.abs(d.qpos - qpos)[7:].max() < 1e-7
    assert np.abs(d.lcp_drift).max() < 1e-8
    rows = d.host("lcp_joint").reshape(-1, 256)[2, :72].reshape(2, 6, 6)
    scale = [np.r_[[np.sqrt(m.body_mass[b])] * 3, np.sqrt(m.body_inertia[b])] for b in (1, 2)]
    J = np.concatenate([rows[b] * scale[b] for b in range(2)], axis=1)
    assert np.linalg.matrix_rank(J[:n], tol=1e-3) == n


@pytest.mark.parametrize("kind", JOINTS)
def test_forces_of_joints_keep_momentum(kind):
    m = model(kind)
    m.lcp.substeps = 1
    m.opt.timestep = 1e-9
    d = start(m)
    tisim.step(m, d)
    before = momenta(m, d)
    d.qfrc_applied[6:] = 1e9 * np.random.default_rng(2).normal(size=m.nv - 6)
    tisim.step(m, d)
    for a, b in zip(momenta(m, d), before):
        assert np.abs(a - b).max() < 1e-9 * max(1, np.abs(a).max())
    assert np.abs(d.qvel[6:]).max() > 0.1


@pytest.mark.parametrize("kind", JOINTS)
def test_errors_decay_by_erp_in_each_step(kind):
    m = model(kind)
    m.lcp.take(dict(substeps=1, erp=0.0))
    d = start(m)
    d.qvel[:] *= 3
    tisim.step(m, d, 10)
    d.qvel[:] = 0
    m.lcp.erp = 0.2
    m.opt.timestep = 1e-3
    drift = []
    for _ in range(4):
        tisim.step(m, d)
        drift.append(np.array(d.lcp_drift)[2])
    drift = np.array(drift)
    assert drift[0].max() > 1e-5
    for part in drift.T[drift[0] > 1e-6]:
        assert np.allclose(part[1:] / part[:-1], 0.8, rtol=5e-3), part


@pytest.mark.parametrize("kind", JOINTS)
def test_they_move_as_mujocos_where_steps_are_short(kind):
    """With springs, dampers and a motor: half of the error at half the timestep."""
    joints = JOINTS[kind].replace("<joint", '<joint name="j" stiffness="3" damping=".2"', 1)
    more = '<actuator><motor joint="j" gear="2"/></actuator>'
    text = TEXT.format(h=1e-4, g="0 0 -9.81", root='<joint type="ball"/>', joints=joints, more=more)
    reference = mujoco.MjModel.from_xml_string(text.replace("<option", '<option integrator="RK4"'))
    errors = []
    for h in (1e-3, 5e-4):
        m = model(kind, h, "0 0 -9.81", '<joint type="ball"/>', more, joints)
        d = start(m)
        d.ctrl[0] = 0.3
        data = mujoco.MjData(reference)
        data.qpos[:], data.qvel[:], data.ctrl[:] = d.qpos, d.qvel, d.ctrl
        mujoco.mj_step(reference, data, 3000)
        tisim.step(m, d, round(0.3 / h))
        errors.append(np.abs(d.qpos - data.qpos).max())
        assert np.abs(data.qpos[4:]).max() > 0.1
    assert errors[1] < 2e-3 and 1.7 < errors[0] / errors[1] < 2.3, errors


def test_a_planar_body_stops_at_its_limits():
    """Of all three coordinates: a box in a plane that falls on one, is pushed against another and turned against the
    third."""
    joints = (
        '<joint type="slide" axis="1 0 0" range="-.3 .2"/><joint type="slide" axis="0 0 1" range="-.5 1"/>'
        '<joint axis="0 1 0" range="-40 30"/>'
    )
    m = model("planar", g="0 0 -9.81", root="", joints=joints)
    d = tisim.Data(m)
    d.qfrc_applied[:] = 5, 0, 4
    tisim.step(m, d, 1000)
    assert np.abs(np.array(d.qpos) - [0.2, -0.5, np.radians(30)]).max() < 1e-3
    assert np.abs(d.qvel).max() < 1e-6 and np.abs(d.lcp_drift).max() < 1e-6


def test_three_hinges_count_turns():
    """A top, precessing by its first hinge and spinning about its third: angles go on through many turns."""
    joints = '<joint axis="0 0 1"/><joint axis="1 0 0" stiffness="1000" damping="10"/><joint axis="0 0 1.0"/>'
    joints = joints.replace('axis="0 0 1.0"', 'axis="0 1 0"')
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody><body>{joints}'
        '<inertial pos="0 0 0" mass="1" diaginertia=".02 .02 .02"/></body></worldbody></mujoco>'
    )
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    d.qvel[:] = 2, 0, 5
    tisim.step(m, d, 2500)
    assert d.qpos[0] == pytest.approx(10, rel=0.02) and d.qpos[2] == pytest.approx(25, rel=0.02)


@pytest.mark.parametrize(
    "joints, words",
    [
        ('<joint type="ball"/><joint type="slide"/>', "several joints that are no slides and hinges"),
        ('<joint type="slide"/><joint axis="1 0 0"/><joint type="slide" axis="0 1 0"/>', "a joint between two"),
        ('<joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 2 0"/>', "two slides whose axes are parallel"),
        ('<joint axis="1 0 0"/><joint axis="0 1 0"/><joint axis="1 0 0"/>', "three hinges, but"),
        ('<joint axis="1 0 0"/><joint axis="1 1 0"/><joint axis="0 0 1"/>', "three hinges, but"),
        ('<joint type="slide"/><joint axis="1 0 0"/><joint axis="0 1 0" pos="0 0 1"/>', "hinges whose anchors differ"),
        ('<joint type="slide" axis="1 0 0"/>' * 2 + '<joint type="slide"/>' * 2, "more than 3 joints"),
    ],
)
def test_others_are_refused_by_name(joints, words):
    m = model("", joints=joints)
    with pytest.raises(tisim.UnsupportedError, match=f"body b: {words}"):
        tisim.step(m, tisim.Data(m))
