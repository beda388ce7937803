"""One island of a thousand bodies is solved to a scaled gradient of 1e-6, in memory that grows with bodies + contacts,
and to the same minimum whether one thread or all work on it."""

import numpy as np
import pytest
from scipy.sparse import coo_matrix, diags
from shared import golden

import tisim
from tisim import scenes
from tisim.data.arrays import DATA
from tisim.device import launch


@pytest.fixture(scope="module")
def pile():
    tisim.init(precision="f64")
    m = tisim.Model.from_xml_string(scenes.build("pile", n=1000))
    d = tisim.Data(m)
    tisim.step(m, d, 300)
    return m, d


def gradient(m, d):
    """Scaled norm of M qacc - qfrc_smooth - J' efc_force, with M from d.M and the forces gathered here."""
    row, col = np.repeat(np.arange(m.nv), m.M_rownnz), np.asarray(m.M_colind)
    lower = coo_matrix((np.asarray(d.M), (row, col)), (m.nv, m.nv)).tocsr()
    full = lower + lower.T - diags(lower.diagonal())
    residual = full @ np.asarray(d.qacc) - np.asarray(d.qfrc_smooth) - contact_forces(m, d)
    return np.linalg.norm(residual) / (m.stat.meaninertia * m.nv)


def contact_forces(m, d):
    """J' f of pyramidal contacts of dimension 3 between free bodies, from efc_force alone."""
    first, geom = np.asarray(d.contact.efc_address), np.asarray(d.contact.geom)
    rows = np.asarray(d.efc_force)[first[:, None] + np.arange(4)]
    mu, frame = np.asarray(d.contact.friction), np.asarray(d.contact.frame).reshape(-1, 3, 3)
    local = np.stack([rows.sum(1), mu[:, 0] * (rows[:, 0] - rows[:, 1]), mu[:, 1] * (rows[:, 2] - rows[:, 3])], axis=1)
    force = np.einsum("ck,ckx->cx", local, frame)
    out = np.zeros(m.nv)
    for side, sign in ((0, -1.0), (1, 1.0)):
        body = np.asarray(m.geom_bodyid)[geom[:, side]]
        moving = np.asarray(m.body_dofnum)[body] == 6
        dof = np.asarray(m.body_dofadr)[body[moving]]
        torque = np.cross(np.asarray(d.contact.pos)[moving] - np.asarray(d.xpos)[body[moving]], force[moving])
        local_torque = np.einsum("cxk,cx->ck", np.asarray(d.xmat).reshape(-1, 3, 3)[body[moving]], torque)
        np.add.at(out, dof[:, None] + np.arange(6), sign * np.hstack([force[moving], local_torque]))
    return out


def test_settled_pile_reaches_the_gradient(pile):
    m, d = pile
    for _ in range(10):
        tisim.step(m, d, 2)
        tisim.forward(m, d)
        assert gradient(m, d) < 1e-6
        assert d.host("island_gradient").max() < 1e-6
    assert d.ncon > 2500


def test_memory_is_linear(pile):
    m, d = pile
    items = m.nbody + d.ncon
    for name, size in d.memory().items():
        assert size <= 800 * items, (name, DATA[name].doc if name in DATA else "scratch")


def test_all_threads_reach_the_same_minimum(pile):
    state = tisim.get_state(*pile)
    found = []
    for variant, above in (("parallel", None), ("team", 10), ("shared", 10)):
        with golden.force(variant, shared_above=above):
            m = tisim.Model.from_xml_string(scenes.build("pile", n=1000))
            m.opt.tolerance = 1e-12
            d = tisim.Data(m)
            tisim.set_state(m, d, state)
            tisim.forward(m, d)
            assert d.count("nlarge") == (variant != "parallel")
        found.append(np.array(d.qacc))
    one, *others = found
    for other in others:
        assert np.abs(one - other).max() < 1e-6 * max(1, np.abs(one).max())


def test_capacities_grow_and_nothing_is_lost(pile):
    """A Data whose lists start far too small computes the same bits."""
    m, d = pile
    tisim.forward(m, d)
    small = tisim.Data(m, capacity=dict.fromkeys(("npairmax", "nslotmax", "nconmax", "ndensemax"), 8))
    tisim.set_state(m, small, tisim.get_state(m, d))
    tisim.forward(m, small)
    assert small.ncon == d.ncon
    assert (small.qacc[:] == d.qacc[:]).all()


def test_an_unknown_capacity_is_refused(pile):
    with pytest.raises(tisim.Error, match="capacity has no entry 'ncon'.*nconmax.*there are npairmax"):
        tisim.Data(pile[0], capacity=dict(ncon=5))


def test_a_limit_raises_and_keeps_the_state(pile):
    m, d = pile
    small = tisim.Data(m, capacity=dict(nconmax=100))
    tisim.set_state(m, small, tisim.get_state(m, d))
    before = tisim.get_state(m, small)
    m.capacity_limit["nconmax"] = 100
    with pytest.raises(tisim.CapacityError, match="nconmax"):
        tisim.step(m, small)
    m.capacity_limit.clear()
    assert (tisim.get_state(m, small) == before).all()


def test_work_that_is_zero_costs_nothing(monkeypatch):
    """A scene without contacts launches neither rows nor solver."""
    xml = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    m = tisim.Model.from_xml_string(xml)
    d = tisim.Data(m)
    names, run = [], launch.run

    def listen(m, d, kernels, *args, **scalars):
        names.extend(k.__name__ for k in kernels)
        run(m, d, kernels, *args, **scalars)

    monkeypatch.setattr(launch, "run", listen)
    tisim.step(m, d)
    assert not set(names) & {"limit_rows", "contact_terms", "find_islands", "solve_islands", "cut_blocks"}


def test_pyramids_that_are_too_stiff_are_named():
    m = tisim.Model.from_xml_string(
        "<mujoco><default><geom friction='0'/></default><worldbody><geom name='ice' type='plane' size='1 1 1'/>"
        "<body pos='0 0 1'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    d = tisim.Data(m)
    with pytest.warns(UserWarning, match="geom ice.*condim=1"):
        tisim.step(m, d)
