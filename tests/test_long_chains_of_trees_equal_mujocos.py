"""Long chains of jointed trees, which two workers eliminate from both ends, move as in MuJoCo 3.4.0.

Contract: accelerations and forces of constraints of trees that are welded tip to root, listed in any order, with ribs,
balls, slides, bodies without joints, and spheres on them. Trees of one half are turned, except where their roots do not
move freely: armature, friction loss, a joint with the world. Both halves of the order have their share. The bits are
the same by any number of threads.
"""

import numpy as np
import pytest
from shared import threads
from shared.reference import Pair

ROOTS = ["<freejoint/>", '<joint type="free" armature=".1"/>', '<joint type="free" frictionloss=".3"/>',
         '<joint axis="0 1 0"/>']  # fmt: skip
JOINTS = ['<joint axis="0 1 0" armature=".01"/>', '<joint axis=".3 0 1" damping=".1"/>', '<joint type="ball"/>', "",
          '<joint type="slide" axis="0 1 0"/><joint axis="1 0 0"/>', '<joint axis="1 1 0" frictionloss=".05"/>',
          '<joint axis="1 0 0" range="-10 .05" limited="true"/>']  # fmt: skip
SPINE = 7
THREADS = """
import numpy as np, tisim
from test_long_chains_of_trees_equal_mujocos import chain
m = tisim.Model.from_xml_string(chain(40, "elliptic", 1))
d = tisim.Data(m)
tisim.step(m, d, 3)
print(np.asarray(d.qpos).tobytes().hex(), d.host("island_half").reshape(-1)[:4])
"""


def chain(n, cone, special):
    """n trees in a row; each `special`-th root is one that does not move freely, 0: none."""
    rng = np.random.default_rng(n)
    trees, welds = [], []
    for k in range(n):
        root = ROOTS[k // special % len(ROOTS)] if special and k % special == 0 else ROOTS[0]
        text = ""
        for i in range(SPINE - 1, 0, -1):
            rib = f'<body name="rib{k}_{i}" pos=".05 .1 0">{rng.choice(JOINTS)}<geom size=".04"/></body>' * (i % 2)
            beam = '<geom type="capsule" fromto="0 0 0 .2 0 0" size=".03" contype="2" conaffinity="0"/>'
            place = f'name="s{k}_{i}" pos=".2 0 {0.01 * rng.normal():.4f}"'
            text = f"<body {place}>{rng.choice(JOINTS)}{beam}{rib}{text}</body>"
        trees.append(f'<body name="s{k}_0" pos="{1.4 * k} 0 {0.1 * np.sin(k):.4f}">{root}<geom type="box" '
                     f'size=".1 .05 .03"/>{text}</body>')  # fmt: skip
        if k % 3 == 0:
            trees.append(f'<body pos="{1.4 * k + 0.5} 0 {0.1 * np.sin(k) + 0.1:.4f}"><freejoint/><geom size=".08" '
                         f'contype="0" conaffinity="2"/></body>')  # fmt: skip
        if k:
            kind = "weld" if k % 5 else "connect"
            more = 'anchor=".2 0 0"' if kind == "connect" else 'torquescale=".7"'
            welds.append(f'<{kind} body1="s{k - 1}_{SPINE - 1}" body2="s{k}_0" {more}/>')
    rng.shuffle(trees)
    return f"""<mujoco><option cone="{cone}"/><worldbody>{"".join(trees)}</worldbody>
        <equality><weld body1="s0_0"/>{"".join(welds)}</equality></mujoco>"""


@pytest.mark.parametrize("cone, special", [("pyramidal", 0), ("elliptic", 3), ("pyramidal", 1)])
def test_accelerations_are_mujocos(cone, special):
    pair = Pair(chain(40, cone, special))
    for _ in pair.states(2, 3):
        assert pair.d.count("nisland") == 1
        assert pair.error("qacc") <= 1e-8
        assert pair.error("qfrc_constraint") <= 1e-8
    ends, middle = pair.d.host("island_half").reshape(-1)[:2]
    bodies = pair.d.host("island_bodynum").reshape(-1)[0]
    if special != 1:
        assert bodies > 400 and min(ends, middle - ends) > 0.45 * bodies


def test_bits_do_not_depend_on_threads():
    assert len(threads.printed(THREADS)) == 1
