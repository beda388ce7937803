"""Forces of contacts, cacc, cfrc_int and cfrc_ext, motions of bodies, geoms and sites, joint forces of a wrench, and
efc_J are MuJoCo 3.4.0's, for all condims in both cones.

To 1e-12 where they follow from poses and velocities, to 1e-10 where they follow from the solver.
"""

import copy

import mujoco
import numpy as np
import pytest
from scipy import sparse
from shared.queries import CONTACTS, EQUALITIES, error
from shared.reference import Pair

import tisim

TINY, SOLVED = 1e-12, 1e-10
# four bodies that slide on a slope, and on each other
FREE = """<mujoco><option cone="{cone}" solver="{solver}" noslip_iterations="{noslip}" iterations="{most}"
tolerance="1e-14" gravity="3 1 -9"/><default><geom condim="4" friction=".4 .02 .01"/></default><worldbody>
<geom type="plane" size="3 3 .1"/><body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos=".02 .01 .3"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos=".5 0 .1"><freejoint/><geom size=".1" condim="6"/></body>
<body pos="1 0 .1"><freejoint/><geom size=".1" condim="3"/></body></worldbody></mujoco>"""


@pytest.fixture(scope="module", params=[(c, n) for c in ("pyramidal", "elliptic") for n in (1, 3, 4, 6)], ids=str)
def pairs(request):
    """States of both engines, with contacts and wrenches on bodies: (Pair, order of MuJoCo's contacts in tisim)."""
    cone, dim = request.param
    pair = Pair(CONTACTS.format(cone=cone, dim=dim, impratio=1.5 if cone == "elliptic" else 1))
    return pair, request.param


def states(pairs):
    pair, (cone, dim) = pairs
    rng = np.random.default_rng(dim)
    mujoco.mj_resetData(pair.mm, pair.md)
    contacts = 0
    for _ in pair.states(5, 25):
        pair.md.xfrc_applied[:] = rng.normal(size=pair.md.xfrc_applied.shape)
        pair.forward()
        mujoco.mj_rnePostConstraint(pair.mm, pair.md)
        contacts += pair.md.ncon
        yield pair, order(pair), rng
    assert contacts > 10


def order(pair):
    """Place in tisim's list of each of MuJoCo's contacts."""
    geom, pos, found = np.asarray(pair.d.contact.geom), np.asarray(pair.d.contact.pos), []
    free = list(range(pair.d.ncon))
    assert len(free) == pair.md.ncon
    for c in pair.md.contact:
        far = {i: 10 * np.abs(geom[i] - c.geom).sum() + np.abs(pos[i] - c.pos).sum() for i in free}
        found.append(min(far, key=far.get))
        free.remove(found[-1])
    return np.array(found, int)


def efc_order(pair, place):
    """Place in tisim's rows of each of MuJoCo's."""
    out = list(range(pair.d.count("nrow")))
    sizes = np.bincount(pair.md.efc_id[len(out) :], minlength=pair.md.ncon)
    for c, n in zip(place, sizes):
        out += list(range(pair.d.contact.efc_address[c], pair.d.contact.efc_address[c] + n))
    return out


def test_forces_of_contacts(pairs):
    for pair, place, _ in states(pairs):
        theirs = np.zeros((pair.md.ncon, 6))
        for i, out in enumerate(theirs):
            mujoco.mj_contactForce(pair.mm, pair.md, i, out)
        assert error(tisim.contact_force(pair.m, pair.d, place), theirs) < SOLVED
        assert np.array_equal(
            tisim.contact_force(pair.m, pair.d, -1), tisim.contact_force(pair.m, pair.d, [pair.d.ncon - 1])[0]
        )


def test_forces_on_and_between_bodies(pairs):
    for pair, *_ in states(pairs):
        for name in ("cacc", "cfrc_int", "cfrc_ext"):
            assert error(getattr(pair.d, name), getattr(pair.md, name)) < SOLVED, name
        assert all(map(np.array_equal, tisim.rne_post_constraint(pair.m, pair.d), (pair.d.cacc, pair.d.cfrc_int)))


def test_motions_of_objects(pairs):
    e = mujoco.mjtObj
    for pair, *_ in states(pairs):
        mm, md, m, d = pair.mm, pair.md, pair.m, pair.d
        for kind, number, word in (
            (e.mjOBJ_BODY, mm.nbody, "body"), (e.mjOBJ_XBODY, mm.nbody, "xbody"), (e.mjOBJ_GEOM, mm.ngeom, "geom"),
            (e.mjOBJ_SITE, mm.nsite, "site"), (e.mjOBJ_CAMERA, mm.ncam, "camera"),
        ):  # fmt: skip
            for local in (0, 1):
                for mine, theirs, limit in (
                    (tisim.object_velocity, mujoco.mj_objectVelocity, TINY),
                    (tisim.object_acceleration, mujoco.mj_objectAcceleration, SOLVED),
                ):
                    expected = np.zeros((number, 6))
                    for i, out in enumerate(expected):
                        theirs(mm, md, kind, i, out, local)
                    found = mine(m, d, int(kind), list(range(number)), local)
                    assert error(found, expected) < limit
                    assert np.array_equal(mine(m, d, word, number - 1, local), found[-1])
        assert np.array_equal(tisim.object_velocity(m, d, "site", "high"), tisim.object_velocity(m, d, "site", 1))


def test_wrenches_on_points(pairs):
    for pair, _, rng in states(pairs):
        for body in range(pair.mm.nbody):
            force, torque, point = rng.normal(size=(3, 3))
            out = np.zeros(pair.mm.nv)
            mujoco.mj_applyFT(pair.mm, pair.md, force, torque, point, body, out)
            assert error(tisim.apply_ft(pair.m, pair.d, force, torque, point, body), out) < TINY
        assert not tisim.apply_ft(pair.m, pair.d, None, None, point, 1).any()


def their_jacobian(pair):
    if not mujoco.mj_isSparse(pair.mm):
        return pair.md.efc_J.reshape(-1, pair.mm.nv)
    out, md = np.zeros((pair.md.nefc, pair.mm.nv)), pair.md
    mujoco.mju_sparse2dense(out, md.efc_J, md.efc_J_rownnz, md.efc_J_rowadr, md.efc_J_colind)
    return out


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_velocities_of_contacts_without_damping(cone):
    pair = Pair(f"""<mujoco><option cone="{cone}"/><default><geom solref="-1000 0"/></default><worldbody>
        <geom type="plane" size="2 2 .1"/><body pos="0 0 .099"><freejoint/><geom size=".1"/></body>
        </worldbody></mujoco>""")
    pair.md.qvel[:] = 0.1, 0, -1, 0, 2, 3
    mujoco.mj_forward(pair.mm, pair.md)
    pair.copy_state()
    tisim.forward(pair.m, pair.d)
    assert error(pair.d.efc_vel, pair.md.efc_vel) < TINY and pair.md.nefc


def test_the_jacobian_of_constraints(pairs):
    for pair, place, _ in states(pairs):
        J, at = pair.d.efc_J, efc_order(pair, place)
        assert sparse.issparse(J) and J.has_canonical_format
        assert error(J.toarray()[at], their_jacobian(pair)) < TINY
        assert error(J @ pair.md.qvel, pair.d.efc_vel) < TINY
        assert error(J.T @ np.asarray(pair.d.efc_force), pair.d.qfrc_constraint) < SOLVED


def test_worlds_have_what_they_have_alone(pairs):
    """Three worlds in different states have the forces, motions and rows of one world in the same state each."""
    m = pairs[0].m
    single = [tisim.Data(m) for _ in range(3)]
    for k, d in enumerate(single):
        tisim.step(m, d, 30 * k + 10)
    many = tisim.Data(m, nworld=3)
    tisim.set_state(m, many, np.stack([tisim.get_state(m, d) for d in single]))
    for d in (many, *single):
        tisim.forward(m, d)
    J, nv = many.efc_J, m.nv
    assert J.shape == (many.nefc, 3 * nv)
    world = np.asarray(many.contact.worldid)
    for w, d in enumerate(single):
        for name in ("cacc", "cfrc_int", "cfrc_ext"):
            assert np.array_equal(np.asarray(getattr(many, name))[w], getattr(d, name)), name
        at = np.flatnonzero(world == w)
        assert np.array_equal(tisim.contact_force(m, many, at), tisim.contact_force(m, d, np.arange(d.ncon)))
        for f in (tisim.object_velocity, tisim.object_acceleration):
            assert np.array_equal(f(m, many, "geom", [0, 3])[w], f(m, d, "geom", [0, 3]))
        wrench = np.arange(9.0).reshape(3, 3) + w
        each = np.arange(9.0).reshape(3, 3)[:, None] + np.arange(3)[:, None]  # of force, torque, point by world
        assert np.array_equal(tisim.apply_ft(m, many, *each, "arm")[w], tisim.apply_ft(m, d, *wrench, "arm"))
        mine = np.flatnonzero(np.diff(J[:, w * nv : (w + 1) * nv].indptr))
        assert np.array_equal(J[:, w * nv : (w + 1) * nv].toarray()[mine], d.efc_J.toarray())
        assert not J[mine][:, np.delete(np.arange(3 * nv), np.s_[w * nv : (w + 1) * nv])].nnz


def test_reading_changes_nothing(pairs):
    """A simulation that is looked at in all ways after each step goes on to the same bits."""
    m = pairs[0].m
    seen, alone = tisim.Data(m), tisim.Data(m)
    for _ in range(40):
        tisim.step(m, seen)
        for name in ("cacc", "cfrc_int", "cfrc_ext", "efc_J", "efc_force"):
            getattr(seen, name)
        tisim.contact_force(m, seen, np.arange(seen.ncon))
        tisim.object_acceleration(m, seen, "geom", 1)
        tisim.solve_m(m, seen, tisim.mul_m(m, seen, tisim.rne(m, seen)))
        tisim.jac_dot(m, seen, [0, 0, 0], 3)
    tisim.step(m, alone, 40)
    assert np.array_equal(tisim.get_state(m, seen), tisim.get_state(m, alone))
    assert np.array_equal(seen.body("arm").cfrc_int, np.asarray(seen.cfrc_int)[m.body("arm").id])


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("solver, noslip", [("Newton", 0), ("CG", 0), ("PGS", 0), ("Newton", 5)])
def test_free_bodies_have_no_inner_forces(solver, noslip, cone):
    """Whatever the solver, the forces on a free body are those that move it: dual ones say forces and what follows."""
    most = 5 if solver == "PGS" else 300
    m = tisim.Model.from_xml_string(FREE.format(cone=cone, solver=solver, noslip=noslip, most=most))
    d = tisim.Data(m)
    tisim.step(m, d, 40)
    d.xfrc_applied = np.random.default_rng(0).normal(size=(m.nbody, 6))
    tisim.forward(m, d)
    force = tisim.contact_force(m, d, np.arange(d.ncon))
    assert np.abs(force[:, :3]).max(0).min() > 1e-3 and np.abs(d.cfrc_ext).max() > 1
    assert error(d.efc_J.T @ np.asarray(d.efc_force), d.qfrc_constraint) < TINY
    for name in ("efc_force", "cfrc_ext"):
        assert np.array_equal(getattr(copy.copy(d), name), getattr(d, name)), "a copy knows whose forces they are"
    limit = 1e-6 if solver == "CG" else 1e-10  # CG stops a little before
    assert np.abs(np.asarray(d.cfrc_int)[1:]).max() < limit * np.abs(d.cfrc_ext).max()


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_connects_and_welds_pull_at_bodies(cone):
    """Rows that are no contacts stand in efc_J, and those that connect and weld in cfrc_ext."""
    pair = Pair(EQUALITIES.format(cone=cone))
    pair.md.qvel[:] = np.random.default_rng(2).normal(size=pair.mm.nv)
    for _ in pair.states(4, 10):
        mujoco.mj_rnePostConstraint(pair.mm, pair.md)
        assert (pair.md.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY).sum() == 6 + 3 + 1 + 6 + 3 + 3 + 3
        at = efc_order(pair, order(pair))
        assert error(pair.d.efc_J.toarray()[at], their_jacobian(pair)) < TINY
        for name in ("cacc", "cfrc_int", "cfrc_ext"):
            assert error(getattr(pair.d, name), getattr(pair.md, name)) < 1e-8, name
