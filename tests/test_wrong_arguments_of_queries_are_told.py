"""Each function that computes from a Model and a Data refuses wrong arguments by a tisim.Error that says what was
expected, and names of MuJoCo's functions lead to those here."""

import copy
import inspect
import pickle
import re

import mujoco
import numpy as np
import pytest

import tisim
from tisim.mujoco_names import RETURN

XML = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
<body name="box" pos="0 0 .1"><freejoint/><geom name="g" size=".1"/><site name="s"/></body></worldbody>
<keyframe><key name="home"/></keyframe></mujoco>"""
P, V, Q, NV = [0, 0, 0], np.zeros(6), np.zeros(7), [0.0] * 6
# function -> arguments behind m and d that it takes
RIGHT = dict(
    jac=(P, 1), jac_body=("box",), jac_body_com=(1,), jac_geom=("g",), jac_site=("s",), jac_subtree_com=(0,),
    jac_point_axis=(P, P, 1), jac_dot=(P, 1), angmom_mat=(1,), full_m=(), mul_m=(V,), mul_m2=(NV,), solve_m=(V,),
    solve_m2=(V,), rne=(), rne_post_constraint=(), contact_force=(0,), object_velocity=("geom", "g"),
    object_acceleration=(1, 1, True), apply_ft=(P, P, P, 1), local_to_global=(P, [1, 0, 0, 0], 1), set_keyframe=(0,),
)  # fmt: skip


@pytest.fixture(scope="module")
def both():
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(XML)
    d = tisim.Data(m)
    tisim.step(m, d)
    return m, d


@pytest.mark.parametrize("name", RIGHT)
def test_model_and_data_are_looked_at(both, name):
    m, d = both
    f, rest = getattr(tisim, name), RIGHT[name]
    f(m, d, *rest)
    other = tisim.Model.from_xml_string(XML)
    for arguments, words in (((d, m), "Model comes first"), ((None, d), "got None"), ((m, 3), "got a int"),
                             ((mujoco.MjModel.from_xml_string(XML), d), "from_mujoco"),
                             ((other, d), "another Model")):  # fmt: skip
        with pytest.raises(tisim.Error, match=words):
            f(*arguments, *rest)


NAN, FAR = [0, 0, np.nan], 99
WRONG = [
    ("jac", ([0, 0], 1), "point has shape"), ("jac", ("x", 1), "numbers"), ("jac", (NAN, 1), "finite"),
    ("jac", (P, FAR), "there are 2"), ("jac", (P, "bx"), "box"), ("jac", (P, 1.5), "a whole number"),
    ("jac", (P, -1), "no body"), ("jac", (P, True), "expected an id"),
    ("jac_geom", ("gg",), "geom"), ("jac_site", (3,), "there are 1"),
    ("jac_point_axis", (P, [1], 1), "axis has shape"), ("jac_dot", (None, 1), "point"),
    ("mul_m", (np.zeros(5),), "nv is 6"), ("mul_m", (3,), "shape"), ("solve_m", (NAN * 2,), "finite"),
    ("solve_m2", (None,), "y: .* got None"), ("mul_m2", ("x",), "numbers"), ("rne", ("x",), "True or False"),
    ("jac", ([10**400] * 3, 1), "point: "), ("jac", ([1j, 0, 0], 1), "point: expected numbers"),
    ("jac", (np.ma.masked_all(3), 1), "point: expected numbers, got a masked array"),
    ("jac", (P, [[1], [1, 2]]), "whole"),
    ("ray", (["0"] * 3, [0, 0, 1]), "pnt: expected numbers"), ("ray", (P, [1j, 0, 0]), "vec: expected numbers"),
    ("ray", (P, [0, 0, 1], [None] * 6), "geomgroup: expected numbers"),
    ("overlaps", ("x",), "depth='x': expected a number"),
    ("overlaps", ([1, 2],), "expected a number"),
    ("geom_distance", (0, 1, 10**400), "distmax=1000*[.]{3}: expected a number"),
    ("geom_distance", (np.array(0.0), 1, 1), "geom1=.*expected ids"),
    ("geom_distance", ([[0], [1, 2]], 1, 1), "geom1="),
    ("contact_force", ([[0], [1, 2]],), "place"), ("object_velocity", (np.inf, 0), "unknown type of object inf"),
    ("object_velocity", ("geom", np.array(1.5)), "a whole number"),
    ("object_velocity", ("geom", [[0], [1, 2]]), "sequence"),
    ("settle", (10**400,), "timeout=1000*[.]{3}: expected a number"), ("set_keyframe", (0, [[0], [1, 2]]), "world"),
    ("contact_force", (FAR,), "list of 1"), ("contact_force", (0.5,), "place"), ("contact_force", ("x",), "place"),
    ("object_velocity", ("gem", 0), "geom"), ("object_velocity", ("joint", 0), "body, xbody, geom, site or camera"),
    ("object_velocity", (77, 0), "type of object"), ("object_velocity", ("geom", 9), "there are 2"),
    ("object_velocity", ("geom", [0, 9]), "there are 2"), ("object_velocity", ("geom", [[0]]), "sequence"),
    ("object_velocity", ("geom", 0, "x"), "flg_local"), ("object_acceleration", (None, 0), "type of object"),
    ("apply_ft", (P, P, [1], 1), "point has shape"), ("apply_ft", ("x", P, P, 1), "force"),
    ("apply_ft", (P, P, P, FAR), "there are 2"), ("local_to_global", (P, P, 1), "quat has shape"),
    ("local_to_global", (P, [1, 0, 0, 0], 1, 9), "mjtSameFrame"), ("set_keyframe", (1,), "keyframe 1"),
    ("set_keyframe", ("hom",), "home"), ("set_keyframe", (0, 3), "outside"),
    ("jac_body", ([[0, 1], [0]],), "a whole number"), ("object_velocity", ("geom", [[0, 1], [0]]), "sequence"),
    ("object_velocity", (V, 0), "type of object"), ("object_acceleration", (np.inf, 0), "type of object"),
    ("jac", ([1j, 0, 0], 1), "point: expected numbers"), ("mul_m", (np.ma.masked_array(V, V == 0),), "vec: .*mask"),
    ("ray", ([1j, 0, 0], [0, 0, 1]), "pnt: expected numbers"), ("multi_ray", (P, None), "vec: expected numbers"),
    ("geom_distance", ([[0, 1], [0]], 1, 1), "geom1"), ("overlaps", ("x",), "depth"), ("overlaps", (V,), "depth"),
    ("transition_fd", (None, V), "centered"), ("inverse_fd", (None, V), "actuation"),
    ("forward_skip", (V,), "skipstage"), ("inverse_skip", (np.array(1),), "skipstage"),
    ("forward_skip", (1, V), "skipsensor"),
]  # fmt: skip


@pytest.mark.parametrize("name, arguments, words", WRONG)
def test_wrong_arguments_are_told(both, name, arguments, words):
    with pytest.raises(tisim.Error, match=words):
        getattr(tisim, name)(*both, *arguments)


def test_ids_in_arrays_of_no_axis_are_ids(both):
    """As what indexing arrays of torch or jax gives."""
    m, d = both
    one = np.array(1)
    assert tisim.geom_distance(m, d, np.array(0), one, 1)[0] == tisim.geom_distance(m, d, 0, 1, 1)[0]
    assert np.array_equal(tisim.object_velocity(m, d, "geom", one), tisim.object_velocity(m, d, "geom", 1))
    assert tisim.contact_force(m, d, np.array(0)).shape == (6,)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m, d: tisim.integrate_pos(d, Q, V, 1), "Model"),
        (lambda m, d: tisim.integrate_pos(m, V, V, 1), "qpos has shape"),
        (lambda m, d: tisim.integrate_pos(m, Q, Q, 1), "qvel has shape"),
        (lambda m, d: tisim.integrate_pos(m, Q, V, "x"), "dt"),
        (lambda m, d: tisim.integrate_pos(m, Q, V, [1]), "dt"),
        (lambda m, d: tisim.integrate_pos(m, np.zeros((2, 7)), np.zeros((3, 6)), 1), "do not fit"),
        (lambda m, d: tisim.differentiate_pos(m, 0, Q, Q), "dt=0"),
        (lambda m, d: tisim.differentiate_pos(m, 1, Q, V), "qpos2 has shape"),
        (lambda m, d: tisim.extract_state(m, np.zeros(3), 2, 2), "shape"),
        (lambda m, d: tisim.extract_state(m, Q, 2, 4), "srcsig"),
        (lambda m, d: tisim.extract_state(m, "x", 2, 2), "numbers"),
        (lambda m, d: tisim.extract_state(m, Q, "x", 2), "mjtState"),
        (lambda m, d: tisim.state_size(d, 2), "Model"),
        (lambda m, d: tisim.state_size(m, 1 << 13), "mjtState"),
        (lambda m, d: tisim.copy_state(m, d, m), "second argument"),
        (lambda m, d: tisim.copy_state(m, tisim.Data(m, 2), d), "worlds"),
        (lambda m, d: tisim.copy_state(m, d, tisim.Data(m), -1), "mjtState"),
        (lambda m, d: tisim.set_const(d), "Model"),
        (lambda m, d: setattr(d, "efc_J", 1), "computed"),
        (lambda m, d: setattr(d, "cacc", 1), "read-only"),
        (lambda m, d: d.cfrc_int.__setitem__(0, 1), "read-only"),
        (lambda m, d: setattr(d.body("box"), "cfrc_ext", 1), "read-only"),
        (lambda m, d: tisim.jac(m, tisim.Data(m, 2), np.zeros((3, 3)), 1), "or \\(2, 3\\)"),
        (lambda m, d: tisim.muscle_gain_length(V, 0.5, Q), "length, lmin, lmax: the shapes"),
        (lambda m, d: tisim.muscle_gain(V, Q, [0, 1], 1, np.ones(9)), "length, velocity: the shapes"),
        (lambda m, d: tisim.muscle_bias(V, [0, 1], Q, -np.ones(9)), "length, acc0: the shapes"),
        (lambda m, d: tisim.muscle_dynamics(V, Q, np.ones(3)), "ctrl, act: the shapes"),
        (lambda m, d: tisim.mul_m(m, tisim.Data(m, 2), np.zeros((3, 6))), "\\(2, nv\\)"),
    ],
)
def test_other_mistakes_are_told(both, call, words):
    with pytest.raises(tisim.Error, match=words):
        call(*both)


def test_an_array_without_axes_is_one_id(both):
    m, d = both
    assert tisim.geom_distance(m, d, np.array(0), np.array(1), 1)[0] == tisim.geom_distance(m, d, 0, 1, 1)[0]


@pytest.mark.parametrize("name", [n for n in dir(mujoco) if n.startswith("mj_")])
def test_names_of_mujocos_functions_lead_to_those_here(name):
    """Whatever has a function here is named by the error."""
    words = name.removeprefix("mj_")
    here = dict(mj_applyFT="apply_ft", mj_local2Global="local_to_global", mj_resetData="reset").get(name)
    here = here or "".join(f"_{c.lower()}" if c.isupper() else c for c in words)
    with pytest.raises(tisim.Error) as e:
        getattr(tisim, name)
    if here in tisim.__all__:
        assert f"the name is {here}" in str(e.value)


def test_the_calls_that_errors_tell_are_those_here():
    for name, (call, _) in RETURN.items():
        ours, _, arguments = call.partition("(")
        known = list(inspect.signature(getattr(tisim, ours)).parameters)
        assert arguments.rstrip(")").split(", ") == known[: arguments.count(",") + 1], name


def test_arrays_to_be_filled_are_refused_with_what_is_returned():
    """Of every function that is called as MuJoCo's, with or without mj_; also behind names, and by pickle."""
    numbers = np.zeros(6)
    for call, what in RETURN.values():
        name = call.partition("(")[0]
        with pytest.raises(tisim.Error, match=re.escape(f"tisim.{call} returns {what} and fills no array")) as caught:
            getattr(tisim, name)(1, 2, numbers, 3, jacp=numbers)
        assert isinstance(caught.value, TypeError)
    assert pickle.loads(pickle.dumps(tisim.jac_body)) is tisim.jac_body
    assert list(inspect.signature(tisim.jac_body).parameters) == ["m", "d", "body"]


def test_a_state_to_be_filled_is_refused(both):
    with pytest.raises(tisim.Error, match=r"sig=an array of 9: .* \(the state is returned, no array is filled\)"):
        tisim.get_state(*both, np.zeros(9), int(tisim.mjtState.mjSTATE_QPOS))


def test_of_what_a_data_is_tells_how_to_copy(both):
    m, d = both
    other = copy.copy(m)
    with pytest.raises(tisim.Error, match=r"copy\.deepcopy\(\(m, d\)\)"):
        tisim.step(other, d)
    m, d = copy.deepcopy((m, d))
    tisim.step(m, d)
    tisim.set_state(other, e := tisim.Data(other), tisim.get_state(m, d))
    assert np.array_equal(e.qpos, d.qpos)


def test_a_data_of_an_earlier_start_is_refused():
    m = tisim.Model.from_xml_string(XML)
    d = tisim.Data(m)
    tisim.forward(m, d)
    tisim.init(arch="cpu", precision="f32")
    for name in ("jac", "mul_m", "full_m", "object_velocity", "contact_force", "rne_post_constraint"):
        with pytest.raises(tisim.Error, match="started again"):
            getattr(tisim, name)(m, d, *RIGHT[name])
    for name in ("efc_J", "cacc"):
        with pytest.raises(tisim.Error, match="started again"):
            getattr(d, name)
    tisim.init(arch="cpu", precision="f64")
