"""Rows of tendons join the trees that MuJoCo's Jacobian has at this pose into islands, and no others: where matrices
are dense, those with an entry that is not 0; where they are sparse, those that change a piece of the path. The body of
a geom that the path does not touch changes none, and a row without entries is no row."""

import mujoco
import numpy as np
import pytest

import tisim
from tisim.data.validate import validate

SLIDE = """<body pos="{pos}"><joint name="j{n}" type="slide" axis="{axis}" frictionloss=".1"/>
  <geom name="g{n}" size=".1" mass="1" contype="0" conaffinity="0"/><site name="s{n}"/></body>"""
WRAP = '<site site="o"/><geom geom="g0"/><site site="s1"/>'
KINDS = {
    "limit": '<tendon><spatial name="t" limited="true" range="0 .5">{0}</spatial></tendon>',
    "friction": '<tendon><spatial name="t" frictionloss=".3">{0}</spatial></tendon>',
    "equality": '<tendon><spatial name="t">{0}</spatial></tendon><equality><tendon tendon1="t"/></equality>',
    "two": """<tendon><spatial name="u"><site site="o"/><site site="s1"/></spatial>
      <spatial name="t">{0}</spatial></tendon>
      <equality><tendon tendon1="u" tendon2="t" polycoef="0 .5 0 0 0"/></equality>""",
}


def agrees(jacobian, bodies, rest):
    text = f"""<mujoco><option jacobian="{jacobian}"/><worldbody>
      <site name="o" pos="-1 0 0"/><site name="p" pos="3 0 0"/>{"".join(bodies)}</worldbody>{rest}</mujoco>"""
    theirs, ours = mujoco.MjModel.from_xml_string(text), tisim.Model.from_xml_string(text)
    md, d = mujoco.MjData(theirs), tisim.Data(ours)
    md.qvel[:] = 0.1
    d.qvel = md.qvel
    mujoco.mj_forward(theirs, md)
    tisim.forward(ours, d)
    assert (d.nefc, d.nisland) == (md.nefc, md.nisland)
    np.testing.assert_array_equal(np.asarray(d.tree_island), md.tree_island)
    np.testing.assert_allclose(np.asarray(d.qacc), md.qacc, rtol=1e-6, atol=1e-9)
    validate(ours, d)


def slide(n, pos, axis):
    return SLIDE.format(n=n, pos=pos, axis=axis)


@pytest.mark.parametrize("jacobian", ("sparse", "dense"))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("y", (0.05, 2.0), ids=("touched", "untouched"))
@pytest.mark.parametrize("axis", ("0 1 0", "0 0 1"), ids=("along", "across"))
@pytest.mark.parametrize("order", (1, -1))
def test_the_tree_of_a_geom_is_joined_where_the_path_touches_it(jacobian, kind, y, axis, order):
    bodies = [slide(0, f"0 {y} 0", axis), slide(1, "1 0 0", "1 0 0")][::order]
    agrees(jacobian, bodies, KINDS[kind].format(WRAP))


@pytest.mark.parametrize("jacobian", ("sparse", "dense"))
@pytest.mark.parametrize("kind", KINDS)
def test_a_row_that_no_dof_moves_is_as_in_mujoco(jacobian, kind):
    bodies = [slide(0, "0 0 0", "0 0 1"), slide(1, "1 0 0", "0 0 1")]
    agrees(jacobian, bodies, KINDS[kind].format('<site site="s0"/><site site="s1"/>'))
    untouched = '<site site="o"/><geom geom="g0"/><site site="p"/>'
    agrees(jacobian, [slide(0, "0 2 0", "0 1 0"), bodies[1]], KINDS[kind].format(untouched))


@pytest.mark.parametrize("jacobian", ("sparse", "dense"))
def test_a_joint_of_coefficient_0_joins_where_matrices_are_sparse(jacobian):
    bodies = [slide(0, "0 0 0", "1 0 0"), slide(1, "1 0 0", "1 0 0")]
    fixed = '<fixed name="t" frictionloss=".1"><joint joint="j0" coef="1"/><joint joint="j1" coef="0"/></fixed>'
    agrees(jacobian, bodies, f"<tendon>{fixed}</tendon>")
