"""Spec.add_bodies places copies where it is told, Spec.scatter places them so that none overlap."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tisim


def templates():
    spec = tisim.Spec()
    spec.add_mesh(name="gem", uservert=[0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1])
    box = spec.worldbody.add_body(name="grain")
    box.add_freejoint()
    box.add_geom(name="shape", type="box", size=[0.03, 0.04, 0.05], pos=[0.01, 0, 0])
    gem = spec.worldbody.add_body(name="gem")
    gem.add_freejoint()
    gem.add_geom(type="mesh", meshname="gem")
    return box, gem


def test_copies_stand_where_they_are_told_under_names_of_their_own():
    box, _ = templates()
    spec, pos = tisim.Spec(), [[0, 0, 1], [1, 2, 3]]
    bodies = spec.add_bodies(box, pos, [[1, 0, 0, 0], [0.6, 0.8, 0, 0]])
    assert [b.name for b in bodies] == ["grain_0", "grain_1"] and len(box._spec.bodies) == 3
    m = spec.compile()
    assert m.nbody == 3 and m.nmesh == 1 and np.array_equal(m.body_pos[1:], pos)
    assert m.body_quat[2] == pytest.approx([0.6, 0.8, 0, 0]) and m.name2id("geom", "shape_1") == 1
    assert [b.name for b in spec.add_bodies(box, [[0, 0, 9]])] == ["grain_2"]
    assert spec.compile().nbody == 4
    own = spec.add_bodies(spec.body("grain_0"), [[5, 5, 5]])
    assert own[0].name == "grain_0_0" and spec.compile().body_mass[4] == spec.compile().body_mass[1]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 60), st.booleans())
def test_nothing_overlaps_and_all_is_inside(seed, n, several):
    box, gem = templates()
    spec = tisim.Spec()
    low, high = np.array([-1, 0, 0.5]), np.array([0, 1, 1.5])
    bodies = (spec.scatter([box, gem], n, low, high, seed) if several
              else spec.scatter(box, n, low, high, seed, size=(0.5, 1.3)))  # fmt: skip
    m = spec.compile()
    d = tisim.Data(m)
    tisim.forward(m, d)
    assert len(bodies) == n == m.nbody - 1 and d.ncon == 0
    for g in range(m.ngeom):  # the corners of a box, the vertices of a mesh
        local = (np.array(list(itertools.product([-1, 1], repeat=3))) * m.geom_size[g]
                 if m.geom_type[g] == tisim.mjtGeom.mjGEOM_BOX else m.mesh_vert)  # fmt: skip
        at = d.geom_xpos[g] + local @ np.asarray(d.geom_xmat[g]).reshape(3, 3).T
        assert (at > low).all() and (at < high).all()
    again = tisim.Spec()
    again.scatter([box, gem] if several else box, n, low, high, seed, **({} if several else dict(size=(0.5, 1.3))))
    assert again.to_xml() == spec.to_xml(), "the same seed gives the same scene"


def test_copies_are_scaled_at_their_density():
    box, _ = templates()
    spec = tisim.Spec()
    spec.scatter(box, 50, [0, 0, 0], [2, 2, 2], size=(0.5, 2))
    m = spec.compile()
    scale = m.geom_size[:, 0] / 0.03
    assert scale.min() < 0.7 and scale.max() > 1.7 and m.geom_size == pytest.approx(np.outer(scale, [0.03, 0.04, 0.05]))
    assert m.body_mass[1:] == pytest.approx(1000 * 8 * np.prod(m.geom_size, axis=1))
    assert m.body_ipos[1:, 0] == pytest.approx(0.01 * scale)


def test_what_cannot_be_placed_is_told():
    box, gem = templates()
    spec = tisim.Spec()
    with pytest.raises(tisim.Error, match="100 bodies of radius up to .* do not fit: there is room for 64 between"):
        spec.scatter(box, 100, [0, 0, 0], [0.7, 0.7, 0.7])
    with pytest.raises(tisim.Error, match="a mesh has the size of its asset"):
        spec.scatter(gem, 2, [0, 0, 0], [1, 1, 1], size=(1, 2))
    with pytest.raises(tisim.Error, match=r"pos: expected numbers of shape \(n, 3\)"):
        spec.add_bodies(box, [0, 0, 0])
    with pytest.raises(tisim.Error, match="quat: expected 1 rotations"):
        spec.add_bodies(box, [[0, 0, 0]], [[0, 0, 0, 0]])
    with pytest.raises(tisim.Error, match="expected a body of a Spec as template"):
        spec.add_bodies("grain", [[0, 0, 0]])
    assert spec.compile().nbody == 1


def test_twenty_thousand_bodies_compile_in_seconds():
    box, _ = templates()
    spec = tisim.Spec()
    began = time.process_time()
    spec.scatter(box, 20_000, [-5, -5, 0], [5, 5, 10])
    assert spec.compile().nbody == 20_001
    assert time.process_time() - began < 10
