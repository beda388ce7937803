"""A kernel gets the arrays that it and the functions it calls read or write, and no others; what cannot be followed, is
not declared or would be ambiguous is an error that names file and line when the kernel is made."""

import inspect
import math
import types

import pytest
import taichi as ti
from shared.toys import clear_first, mass, scale, speed

from tisim.data.arrays import COUNTS, DATA
from tisim.data.arrays.collision import SCALES
from tisim.data.scalars import SCALARS, lookup
from tisim.device.bundle import Arguments, func
from tisim.device.flow import flow
from tisim.device.specialise import specialise
from tisim.device.variant import kernel
from tisim.errors import Error
from tisim.model.device_model import DERIVED
from tisim.model.features import EVERYTHING
from tisim.model.fields import FIELDS

FAST, TABLE = True, {}  # specialised below


def plain(m, d):
    return 0


tools = types.SimpleNamespace(speed=speed, mass=mass)


def paths(function, **names):
    """What a kernel made of the function takes, as written: "d.qvel"."""
    return set(Arguments(specialise(function, **names)).paths)


def refusal(function, line=None):
    """The message with which a function is refused; it names this file, and the line if one is marked so."""
    with pytest.raises(Error) as error:
        Arguments(function)
    lines, first = inspect.getsourcelines(function)
    marked = [first + k for k, text in enumerate(lines) if "# here" in text]
    assert f"{__file__}:{marked[0] if marked else first}" in str(error.value), error.value
    return str(error.value)


# ---- variants


def test_a_variant_gets_what_its_static_branches_read():
    def choose(m, d):
        if ti.static(FAST):
            d.qacc[0] = d.qvel[0]
        elif ti.static(not FAST and math.pi > 3):
            d.qacc[0] = m.body_mass[0]
        else:
            d.qacc[0] = d.qpos[0]

    assert paths(choose) == {"d.qacc", "d.qvel"}
    assert paths(choose, FAST=False) == {"d.qacc", "m.body_mass"}


def test_a_variant_gets_what_its_models_need():
    def choose(m, d):
        if ti.static(m.has.jointed and FAST):
            d.qacc[0] = d.qvel[0]
        else:
            d.qacc[0] = d.qpos[0]
        for _ in ti.static(range(m.has.dims)):
            d.qacc[1] = 0.0

    assert set(Arguments(choose, EVERYTHING).paths) == {"d.qacc", "d.qvel"}
    assert set(Arguments(choose, EVERYTHING._replace(jointed=False)).paths) == {"d.qacc", "d.qpos"}
    assert paths(choose) == {"d.qacc", "d.qvel", "d.qpos"}


def test_a_condition_on_a_local_or_at_run_time_takes_both_branches():
    def choose(m, d):
        for k in ti.static(range(2)):
            if ti.static(k == 0):
                d.qacc[0] = d.qvel[0]
            else:
                d.qacc[0] = d.qpos[0]
        d.qfrc_bias[0] = m.body_mass[0] if ti.static(FAST) else m.body_pos[0][0]  # Taichi makes both sides of it

    assert paths(choose) == {"d.qacc", "d.qvel", "d.qpos", "d.qfrc_bias", "m.body_mass", "m.body_pos"}


def test_a_condition_that_cannot_be_found_is_told():
    def choose(m, d):
        if ti.static(nowhere):  # noqa: F821 # here
            d.qacc[0] = 1.0

    assert "nowhere" in refusal(choose)


# ---- calls


def test_calls_are_followed():
    inside = mass

    def by_name(m, d):
        return speed(m, d, 0)

    def by_module(m, d):
        return tools.speed(m, d, 0)

    def by_dict(m, d):
        return TABLE[0](m, d, 0)

    def by_closure(m, d):
        return inside(m, d, 0)

    def by_keyword(m, d):
        return speed(i=0, d=d, m=m)

    assert paths(by_name) == paths(by_module) == paths(by_keyword) == {"d.qvel"}
    assert paths(by_dict, TABLE={0: speed, 1: mass}) == {"d.qvel", "m.body_mass"}
    assert paths(by_dict, TABLE={}) == set()
    assert paths(by_closure) == {"m.body_mass"}


def test_functions_that_are_handed_in_are_followed():
    @func
    def apply(m, d, i, act: ti.template()):
        d.qacc[i] = act(m, d, d.tree_island[i])

    @func
    def apply_twice(m, d, act: ti.template()):
        apply(m, d, 0, act)
        apply(m, d, i=1, act=act)

    def hand_in(m, d):
        apply_twice(m, d, speed)
        apply_twice(m, d, act=tools.mass)

    assert paths(hand_in) == {"d.qacc", "d.qvel", "d.tree_island", "m.body_mass"}


def test_calls_that_cannot_be_followed_are_refused():
    functions = {0: plain}

    def not_ours(m, d):
        plain(m, d)  # here

    def missing(m, d):
        nowhere(m, d)  # noqa: F821 # here

    def local(m, d):
        f = ti.static(speed)
        f(m, d, 0)  # here

    def not_all_ours(m, d):
        functions[0](m, d)  # here

    def builtin(m, d):
        print(d)  # here

    def chosen(m, d):
        (speed if FAST else mass)(m, d, 0)  # here

    def spread(m, d):
        speed(*(m, d, 0), d)  # here

    for function in (not_ours, missing, local, not_all_ours, builtin, chosen):
        assert "cannot be followed, but it passes" in refusal(function)
    assert "cannot be followed" in refusal(spread)


def test_a_bundle_is_handed_on_as_itself_only():
    def swapped(m, d):
        speed(d, m, 0)  # here

    def elsewhere(m, d):
        scale(0, 1.0, d, d)  # here

    def copied(m, d):
        e = d  # here
        e.qvel[0] = 0.0

    assert "gets d as its parameter m" in refusal(swapped)
    assert "gets d as its parameter a" in refusal(elsewhere)
    assert "is a bundle" in refusal(copied)


def test_a_function_that_calls_itself_is_refused():
    def endless(m, d, n: ti.i32):
        return again(m, d, n)

    again = func(endless)
    with pytest.raises(Error, match="calls itself"):
        flow(endless)


# ---- names


def test_a_variable_is_not_called_like_a_bundle():
    def local(m, i):
        d = 3
        return d

    with pytest.raises(Error, match=f"{__file__}:.*d is the name of a bundle"):
        func(local)
    with pytest.raises(Error, match=f"{__file__}:.*d is the name of a bundle"):
        kernel(local)


def test_a_store_to_a_bundle_is_refused():
    def assigned(m, d):
        d = 3  # here
        return d

    def among_others(m, d):
        i, (j, m) = 1, (2, 3)  # here
        return i + j + m

    def looped(m, d):
        for d in range(3):  # here
            pass

    def typed(m, d):
        m: ti.i32 = 3  # here
        return m

    for function in (assigned, among_others, looped, typed):
        assert "is the name of a bundle" in refusal(function)


def test_undeclared_names_are_refused_where_they_stand():
    def typo(m, d):
        for i in range(d.nworld):
            d.qvell[i] = 0.0  # here

    def other_bundle(m, d):
        return m.qvel[0]  # here

    def not_an_option(m, d):
        return m.opt.nv  # here

    def options_of_data(m, d):
        return d.opt.timestep  # here

    def part_of_an_array(m, d):
        return d.qvel.shape[0]  # here

    for function in (typo, other_bundle, not_an_option, options_of_data, part_of_an_array):
        assert "is not declared" in refusal(function)


def test_parameters_of_a_kernel_are_declared_numbers():
    def unknown(m, d, numbr: ti.i32):
        return numbr

    def untyped(m, d, nray):
        return nray

    assert "d.numbr is not declared" in refusal(unknown)
    assert "nray has no type" in refusal(untyped)


def test_no_name_is_in_both_bundles():
    for name in {*DATA, *COUNTS, *SCALES, *FIELDS, *DERIVED, *SCALARS}:
        found = []
        for holder in ("m", "d", "m.opt", "m.stat", "d.opt"):
            try:
                found.append(lookup(f"{holder}.{name}"))
            except KeyError:
                continue
        assert len(found) <= 1, name


# ---- reads and writes


def test_what_is_written_is_found():
    def write(m, d):
        d.qvel[0], (d.qacc[0], *_) = 1.0, (2.0, 3.0)
        d.xpos[0].x = 4.0
        d.xquat[0][1] = 5.0
        d.sol_p[0] += 6.0
        d.nisland = 7
        d.xmat[0].fill(8.0)
        d.bad[ti.atomic_max(d.ncon, 1)][0] = 9
        for i in d.uf_parent:
            d.uf_parent[i] = d.contact_geom[i][d.tree_island[i]]

    found = flow(write)
    read_and_written = {"d.sol_p", "d.xmat", "d.ncon", "d.uf_parent"}
    assert found.writes == {"d.qvel", "d.qacc", "d.xpos", "d.xquat", "d.nisland", "d.bad"} | read_and_written
    assert found.reads == {"d.contact_geom", "d.tree_island"} | read_and_written


def test_arrays_play_the_roles_of_parameters():
    def role(m, d):
        scale(0, d.qpos[0], d.qvel, d.qacc)
        scale(i=0, factor=1.0, b=d.sol_p, a=d.sol_q)
        clear_first(d.xpos[0])
        clear_first(v=d.xquat[d.tree_island[0]])

    found = flow(role)
    assert found.writes == {"d.qacc", "d.sol_p", "d.xpos", "d.xquat"}
    assert found.reads == {"d.qpos", "d.qvel", "d.sol_q", "d.tree_island"}


def test_what_is_needed_is_read_before_it_is_written():
    def make(m, d):
        d.qacc[0] = 0.0
        scale(0, 1.0, d.qacc, d.sol_p)
        d.sol_q[0] = d.sol_p[0] + d.sol_r[0]
        d.sol_r[0] = 1.0
        d.sol_z[0] += 1.0

    assert flow(make).needs == {"d.sol_r", "d.sol_z"}


def test_the_model_is_not_written():
    def written(m, d):
        m.body_mass[0] = 1.0  # here

    def handed_on(m, d):
        scale(0, 1.0, d.qvel, m.body_mass)  # here

    for function in (written, handed_on):
        assert "no kernel writes" in refusal(function)


def test_what_cannot_be_followed_is_not_written():
    def chosen(m, d):
        (d.qvel if FAST else d.qacc)[0] = 1.0  # here

    def kept(m, d):
        a = ti.static(d.qvel)  # here
        a[0] = 1.0

    assert "cannot be followed" in refusal(chosen)
    assert "not known when the kernel is made" in refusal(kept)


def test_users_functions_have_names_of_their_own():
    @ti.func
    def theirs(x, m):
        d = x + m
        return d.norm()

    def ours(m, d):
        return theirs(d.xpos[0], d.xpos[1])

    assert paths(ours) == {"d.xpos"}
