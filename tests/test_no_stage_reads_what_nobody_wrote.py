"""tests/testdata/flow.txt tells, kernel by kernel in the order of a step, what is read, where that comes from, and what
is written. It is up to date, shows every kernel, and everything that a kernel reads was written: by an earlier stage,
the user, Python, or the last step; these last are named here."""

import ast
import pathlib
import re

import pytest

from tisim.cli import kernels, recording
from tisim.data.arrays import DATA

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLOW = ROOT / "tests" / "testdata" / "flow.txt"

# what is read before anybody has written it: zero since it was made: trees of rays where these are few, who fell asleep
# where nobody did; what the second dynamics alone looks at, or does not where it goes in ODE's order
ZERO = {"ray_leaf", "ray_node", "tree_slept", "lcp_qpos", "lcp_qvel", "lcp_rest"}
# what along_curve writes, on roads that have no pile to lay out: there the kernels are made without what reads it
ZERO |= {"con_seat", "seat_conadr", "seat_of_con", "seat_of_tree", "tree_seat"}
# what a search for pairs leaves for the steps in which its pairs serve; there is one in the first step
LAST_STEP = {"group_mat", "group_pos", "item_ball", "item_fathi", "item_fatlo", "plane_normal", "plane_pos",
             "sweep_skin"}  # fmt: skip
LAST_STEP |= {"lcp_warm"}  # of the second dynamics
LAST_STEP |= {"lcp_qpos", "lcp_qvel", "parts"}  # of its trees; of its workers, how long they waited
LAST_STEP |= {"rk_act"}  # activations that wait until a step in which trees fell asleep is over
LAST_STEP |= {"pic_through"}  # of the layer before
LAST_STEP |= {"pic_label", "pic_measure", "pic_most"}  # what other modes of colours tell
# what is looked at before who is awake is known: where sleepers lie, also to weigh them, and who was awake
LAST_STEP |= {"ray_leaf", "ray_node", "tree_slept", "awake_qpos", "nqawake", "nwritten", "xpos", "xquat", "xipos"}
# what only the kernel itself writes, before it reads it: in an earlier round of its loops, or in the last step
ITSELF = {
    "bad",  # the largest index; Python clears it
    "bad_ctrl", "warning",  # the same for controls; what the kernel counts
    "vec_out", "qacc_inverse",  # of the dofs above
    "item_from",  # where the geoms were in the last search
    "xpos", "xquat", "cvel", "cacc_bias", "twist", "ahead", "ahead_turn",  # of the parent
    "sweep_sample", "ray_sample",  # sorted in place
    "tree_asleep", "nwoken", "nacted", "isle_last",  # counts, and the island's last tree so far
    "picked_con", "picked_key", "pressed_con",  # those found so far
    "lcp_cg_body",  # by the sweep before
    "lcp_held",  # of the same four bodies, where all of them move
    "lcp_twist", "lcp_warm",  # in the order of ODE, by the step before
    "team",  # workers count pieces
    "parts",  # how long they waited in the last step
    "con_state", "row_state",  # by the sweep before
    "sol_q", "sol_Hq", "con_hess_mix", "con_hess_rot", "row_hess",  # by the first round of Newton's method
    "tblk_group", "cblk_group", "rblk_group",  # by the same loops, of the level below
    "pic_depth", "pic_record", "pic_through", "pic_lit", "pic_weight",  # of the layer or lamp before
    "sol_p", "sol_r", "sol_y", "sol_Hy", "sol_Hz",  # by the first round of conjugate gradients
    "isl_step", "isl_rz0", "isl_pass",  # the same
    "pic_pose", "pic_hue",  # by the update of a page before
    "pic_drawn",  # by the window's picture before
    "lcp_geom", "nlcp",  # of the last step's contacts
    "lcp_slept_geom", "lcp_slept_pos", "lcp_slept_impulse", "nlcpslept",  # of sleepers, as long as nobody wakes
}  # fmt: skip

OF_USERS = {"user_actuators", "user_filter"}  # kernels that are made with a user's functions
OF_REMOVAL = {"silence"}  # launched where something was removed, which no model of the flow does
BY_ONE_THREAD = {"cut_blocks"}  # what islands_all.py does by all threads, and is compared with in a test


@pytest.fixture(scope="module")
def stages():
    return recording.record()


def sources(stages, wanted):
    """Names that come from a source."""
    return {n for _, steps in stages.values() for s in steps for n in s.sources.get(wanted, ())}


def test_the_file_is_up_to_date(stages):
    assert kernels.text(stages) == FLOW.read_text(), "run: tisim kernels --write tests/testdata/flow.txt"


def test_everything_that_is_read_was_written(stages):
    assert sources(stages, "nobody") == ZERO
    assert sources(stages, "last step") == LAST_STEP
    assert sources(stages, "itself") == ITSELF
    assert {DATA[n].role for n in sources(stages, "state")} == {"state"}
    assert {DATA[n].role for n in sources(stages, "input")} == {"input"}


def test_what_nobody_writes_is_noticed(stages):
    events = [(stage, doc, step) for stage, (doc, steps) in stages.items() for step in steps]
    missing = [e for e in events if e[2].name not in ("tree_velocity", "fall_asleep")]
    for _, _, step in missing:
        step.sources = {}
    recording._find_sources(missing)
    found = {name: step.sources["nobody"] for *_, step in missing if (name := step.name) and "nobody" in step.sources}
    assert found == {
        "tree_fluid": {"cvel"},
        "tendon_bias": {"cacc_bias", "cvel"},
        "adhesion_contacts": {"cvel"},
        "contact_terms": {"cvel"},
        "expand_contacts": {"cvel"},
        "clamp_joint_forces": {"qfrc_gravcomp"},
        "fluid_derivative": {"cvel"},
        "smooth_derivative": {"cdof_dot", "cvel"},
        "inner_wrenches": {"cvel"},
        "body_accelerations": {"cacc_bias"},
        "inverse_accelerations": {"cacc_bias"},
        "tree_momenta": {"cvel"},
        "velocities": {"cvel"},
        "root_wrenches": {"cvel"},
        "slept_wrenches": {"cacc_bias", "cvel"},
        "tactile_values": {"cvel"},
        "accelerations": {"cvel"},
        "ode_tree_step": {"cvel"},
        "tree_step": {"cvel"},
        "begin_trees": {"cvel"},
        "body_speeds": {"cvel"},
    }


def test_every_kernel_is_shown():
    """Those that are decorated, and those that are made for a model."""
    shown = set(re.findall(r"^    (\w+)  \(", FLOW.read_text(), re.M))
    for path in (ROOT / "kernels").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and "kernel" in map(ast.unparse, node.decorator_list):
                assert node.name in shown | OF_USERS | OF_REMOVAL | BY_ONE_THREAD, node.name
            if isinstance(node, ast.Call) and ast.unparse(node).startswith("kernel(specialise("):
                made = node.args[0].args[1].value
                assert made in shown, made


def test_stages_are_in_the_order_of_the_pipeline():
    files = "dynamics", "collision", "constraint", "integrators", "sleep"
    called = re.findall(rf"\b(?:{'|'.join(files)})\.\w+", (ROOT / "tisim/pipeline.py").read_text())
    shown = re.findall(r"^(\w+\.\w+): ", FLOW.read_text(), re.M)
    without = {"integrators.restore", "sleep.ready", "sleep.settled"}  # kernels of their own
    assert set(called) - without == {s for s in shown if s.startswith(files)}
    assert shown[:3] == ["dynamics.check_state", "sleep.wake_written", "dynamics.fwd_position"]
    order = [shown.index(s) for s in ("collision.collide", "dynamics.fwd_velocity", "integrators.integrate")]
    assert order == sorted(order)
