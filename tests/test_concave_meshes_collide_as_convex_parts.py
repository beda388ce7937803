"""Spec.decompose lets a ring be a ring: what falls on its hole falls through, and it weighs and looks as before."""

import json

import numpy as np
import pytest
import trimesh

import tisim

coacd = pytest.importorskip("coacd")


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TISIM_CACHE", str(tmp_path / "cache"))


def ring():
    """A ring that lies on posts over a floor, a ball above its hole."""
    mesh = trimesh.creation.annulus(0.5, 1, 0.4)
    spec = tisim.Spec()
    spec.add_mesh(name="ring", uservert=mesh.vertices.ravel(), userface=mesh.faces.ravel())
    spec.add_mesh(name="idle", uservert=[0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1])
    spec.worldbody.add_geom(type="plane", size=[9, 9, 1])
    body = spec.worldbody.add_body(name="ring", pos=[0, 0, 1], quat=[0.7071068, 0.7071068, 0, 0])
    body.add_geom(name="ring", type="mesh", meshname="ring", density=500, friction=[0.3, 0.01, 0.01], euler=[90, 0, 0])
    ball = spec.worldbody.add_body(name="ball", pos=[0.05, 0, 2])
    ball.add_freejoint()
    ball.add_geom(size=[0.2])
    return spec


def rest(spec):
    """Height at which the ball comes to rest."""
    m = spec.compile()
    d = tisim.Data(m)
    tisim.step(m, d, 1000)
    return float(d.body("ball").xpos[2])


def test_a_ball_falls_through_the_hole_of_a_ring():
    spec = ring()
    assert rest(spec) > 1, "it lies on the convex hull"
    before = spec.compile()
    parts = spec.decompose()
    m = spec.compile()
    assert list(parts) == ["ring"] and parts["ring"] > 3 and m.ngeom == before.ngeom + parts["ring"]
    assert rest(spec) == pytest.approx(0.2, abs=0.02)
    assert np.array_equal(m.body_mass, before.body_mass) and np.array_equal(m.body_inertia, before.body_inertia)
    shown, part = m.geom("ring"), m.geom("ring_part0")
    assert shown.contype == shown.conaffinity == 0 and shown.group == 2 and part.group == 3 and part.contype == 1
    assert part.friction == pytest.approx([0.3, 0.01, 0.01]), "parts have what the geom had"


def test_parts_lie_where_the_mesh_is():
    spec = ring()
    spec.decompose(threshold=0.02)
    m = spec.compile()
    d = tisim.Data(m)
    tisim.forward(m, d)
    radii, heights = [], []
    for g in range(m.ngeom):
        if m.id2name("geom", g).startswith("ring_part"):
            first, count = m.mesh_vertadr[m.geom_dataid[g]], m.mesh_vertnum[m.geom_dataid[g]]
            at = m.mesh_vert[first : first + count] @ np.asarray(d.geom_xmat[g]).reshape(3, 3).T + d.geom_xpos[g]
            radii += np.linalg.norm(at[:, :2], axis=1).tolist()
            heights += at[:, 2].tolist()
    assert min(radii) > 0.45 and max(radii) < 1.03 and min(heights) > 0.77 and max(heights) < 1.23


def test_what_was_found_once_is_kept(monkeypatch):
    first = ring()
    parts = first.decompose()

    def searched(*_, **__):
        raise AssertionError("searched again")

    monkeypatch.setattr(coacd, "run_coacd", searched)
    second = ring()
    assert second.decompose("ring") == parts and second.to_xml() == first.to_xml()
    with pytest.raises(AssertionError, match="searched again"):
        ring().decompose(threshold=0.1)


def test_what_was_kept_and_is_damaged_is_searched_again(tmp_path):
    first = ring()
    first.decompose()
    (kept,) = (tmp_path / "cache").rglob("decompose/*.npz")
    kept.write_bytes(kept.read_bytes()[:-40])
    second = ring()
    second.decompose()
    assert second.to_xml() == first.to_xml()


@pytest.mark.parametrize("arguments, told", [
    (dict(meshes="rong"), "no mesh named 'rong'"), (dict(meshes=["idle"]), "no geom that collides uses it"),
    (dict(threshold=0), "threshold=0: expected 0.01"), (dict(maxhulls=0), "maxhulls=0: expected a positive"),
])  # fmt: skip
def test_wrong_arguments_are_refused(arguments, told):
    spec = ring()
    before = spec.to_xml()
    with pytest.raises(tisim.Error, match=told):
        spec.decompose(**arguments)
    assert spec.to_xml() == before


def test_the_command_line_writes_parts(call, tmp_path):
    (tmp_path / "ring.xml").write_text(ring().to_xml())
    code, out, err = call("compile", "ring.xml", "parts.xml", "--decompose", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "") and found["parts"]["ring"] > 3
    assert tisim.Model.from_xml_path("parts.xml").ngeom == found["ngeom"] == 3 + found["parts"]["ring"]
