"""Worlds of one tree each, whose systems are factored four side by side, are each that world alone, bit for bit -
rounds, costs and forces too - whichever of them touch something and however many there are."""

import numpy as np
import pytest

import tisim
from tisim.device import neighbours

LEGS = """<mujoco><option cone="{cone}" timestep=".004"/><default><geom condim="{condim}"/></default><worldbody>
<geom type="plane" size="9 9 .1"/>{trees}</worldbody><equality>{joint}</equality></mujoco>"""
TREE = """<body pos="{x} 0 .45"><freejoint/><geom size=".12"/><replicate count="3" euler="0 0 120"><body pos=".1 0 0">
<joint name="a" axis="0 1 0" range="-40 60" limited="true" damping=".1" armature=".01"/>
<geom type="capsule" fromto="0 0 0 .2 0 -.1" size=".03"/><body pos=".2 0 -.1">
<joint axis="0 1 0" range="-30 30" limited="true" frictionloss=".02"/>
<geom type="capsule" fromto="0 0 0 .05 0 -.25" size=".03"/></body></body></replicate></body>"""
CASES = {
    "pyramids": dict(cone="pyramidal", condim=3, n=1),
    "torsion": dict(cone="elliptic", condim=4, n=1),
    "two trees": dict(cone="elliptic", condim=3, n=2),
}
NUMBERS = "qpos qvel qacc qfrc_constraint island_cost island_gradient island_niter".split()


def model(cone, condim, n):
    trees = "".join(TREE.format(x=3 * k).replace('name="a" ', "") for k in range(n))
    return tisim.Model.from_xml_string(LEGS.format(cone=cone, condim=condim, trees=trees, joint=""))


def numbers(d, name, world):
    """A field of a world, or of its islands."""
    if not name.startswith("island"):
        return np.asarray(getattr(d, name)).reshape(d.nworld, -1)[world]
    array, n, trees = d.host(name).reshape(-1), d.count("nisland"), d.model.ntree
    of = d.host("island_tree").reshape(-1)[d.host("island_treeadr").reshape(-1)[:n]] // trees
    return array[:n][of == world]


@pytest.mark.parametrize("case, precision", [
    ("pyramids", "f64"), ("pyramids", "f32"), ("two trees", "f64"),
    *(pytest.param(*made, marks=pytest.mark.slow)  # a minute or more to compile
      for made in (("two trees", "f32"), ("torsion", "f64"), ("torsion", "f32"))),
])  # fmt: skip
def test_each_is_itself_alone(case, precision):
    tisim.init(arch="cpu", precision=precision)
    m = model(**CASES[case])
    nworld = 11
    rng = np.random.default_rng(1)
    qpos = np.tile(m.qpos0, (nworld, 1)).astype(float)
    qpos[:, 2] += 0.2 * rng.random(nworld)  # some are in the air while others touch the floor
    qvel = rng.normal(size=(nworld, m.nv))
    batch = tisim.Data(m, nworld=nworld)
    batch.qpos, batch.qvel = qpos, qvel
    singles = [tisim.Data(m) for _ in range(nworld)]
    for one, q, v in zip(singles, qpos, qvel):
        one.qpos, one.qvel = q, v
    many = 0
    for _ in range(12):
        tisim.step(m, batch, 5)
        for w, one in enumerate(singles):
            tisim.step(m, one, 5)
            for name in NUMBERS:
                assert np.array_equal(numbers(batch, name, w), numbers(one, name, 0)), (w, name)
        many += int((batch.host("island_niter").reshape(-1)[: batch.nisland] > 1).sum())
    assert many > 20
    assert "abreast_hess" in batch.memory() and "abreast_hess" not in singles[0].memory()


def test_worlds_that_take_another_euler_step_are_themselves():
    """M with damping is made side by side only where all four worlds have some: less than none leaves M as it is."""
    tisim.init(arch="cpu", precision="f64")
    joint = '<joint axis="0 1 .2" damping=".1"/><geom type="capsule" fromto="0 0 0 .2 0 -.1" size=".03"/>'
    arm = f'<body pos=".2 0 -.1">{joint}<body pos=".2 0 -.1">{joint}</body></body>'
    text = f"<mujoco><worldbody><body>{joint}{arm}</body></worldbody></mujoco>"
    m, nworld = tisim.Model.from_xml_string(text), 10
    rng = np.random.default_rng(2)
    damping, qvel = rng.uniform(0.01, 0.1, (nworld, m.nv)), rng.normal(size=(nworld, m.nv))
    damping[[1, 5, 6, 8, 9]] *= -0.1  # one of the first four, two of the next, the last ones
    batch = tisim.Data(m, nworld=nworld)
    batch.vary("dof_damping", damping)
    batch.qvel = qvel
    tisim.step(m, batch, 30)
    for w in range(nworld):
        alone = tisim.Model.from_xml_string(text)
        alone.dof_damping = damping[w]
        d = tisim.Data(alone)
        d.qvel = qvel[w]
        tisim.step(alone, d, 30)
        assert np.array_equal(np.asarray(batch.qpos)[w], d.qpos), w


def test_neighbours_are_seen():
    """Places that are counted apart become one place and a number behind it; what is not known stays."""
    text = """define void @f(double* %p, i32 %n, i32 %k) {
entry:
  %start = sub i32 7, %n
  %other = sub i32 4, %n
  br label %loop
loop:
  %i = phi i32 [ %start, %entry ], [ %i.next, %loop ]
  %j = phi i32 [ %other, %entry ], [ %j.next, %loop ]
  %wide = sext i32 %i to i64
  %a = getelementptr double, double* %p, i64 %wide
  %less = add i32 %j, 2
  %less.wide = sext i32 %less to i64
  %b = getelementptr double, double* %p, i64 %less.wide
  %any = xor i32 %j, %k
  %any.wide = zext i32 %any to i64
  %c = getelementptr double, double* %p, i64 %any.wide
  %i.next = add i32 %i, 4
  %j.next = add i32 %j, 4
  %more = icmp slt i32 %j.next, 100
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""
    lines = {x.split(" = ")[0].strip(): x for x in neighbours.tell(text).split("\n") if " = " in x}
    found = {}
    for name in "abc":
        to, number = lines[f"%{name}"].split("double* ")[1].split(", i64 ")
        value = lines[lines[to].split()[-1]].split()[4]
        found[name] = value, int(number)
    assert found == dict(a=("%i", 0), b=("%i", -1), c=("%any", 0))
