"""Whatever way NumPy has of writing to an array of a Model or of a Data: the simulation follows, or it raises."""

import copy

import numpy as np
import pytest

import tisim

TEXT = """<mujoco><option timestep="0.01"/><worldbody><geom type="plane" size="5 5 .1"/>
<body name="a" pos="0 0 .3"><joint name="j" type="slide" axis="1 0 0" damping="1"/>
<joint name="k" type="slide" axis="0 1 0" damping="1"/><joint name="l" type="hinge" axis="0 0 1" damping="1"/>
<geom name="g" size=".1 .1 .1" type="box" pos=".1 .2 0"/></body>
<body name="b" pos="1 0 .09"><freejoint/><geom name="h" size=".1"/></body></worldbody></mujoco>"""


def outside(a):
    """A plain array over the memory of another one."""
    return np.ndarray(a.shape, a.dtype, memoryview(a))


def force(a):
    a = a[:]
    a.flags.writeable = True
    a[...] = 3


# ways of writing to an array, or to a view of it, or to what NumPy makes of it without a copy
WAYS = {
    "element": lambda a: a.__setitem__(0, 3),
    "slice": lambda a: a[1:].__setitem__(slice(None), 3),
    "step": lambda a: a[::2].__setitem__(Ellipsis, 3),
    "backwards": lambda a: a[::-1].__setitem__(0, 3),
    "mask": lambda a: a.__setitem__(np.asarray(a) > -1, 3),
    "index": lambda a: a.__setitem__([0, 1], 3),
    "flat": lambda a: a.flat.__setitem__(0, 3),
    "flat=": lambda a: setattr(a, "flat", 3),
    "fill": lambda a: a.fill(3),
    "view fill": lambda a: a[:2].fill(3),
    "+=": lambda a: a.__iadd__(3),
    "view +=": lambda a: a[:2].__iadd__(3),
    "out": lambda a: np.add(a, 3, out=a),
    "out view": lambda a: np.add(a[:2], 3, out=a[:2]),
    "out tuple": lambda a: np.modf(np.asarray(a) + 3.5, out=(np.zeros(a.shape), a)),
    "at": lambda a: np.add.at(a, [0, 1], 3),
    "reduce out": lambda a: np.add.reduce(np.full((2, *a.shape), 3.0), 0, out=a),
    "sum out": lambda a: np.sum(np.full((2, *a.shape), 3.0), 0, out=a),
    "clip out": lambda a: np.clip(a, 3, 4, out=a),
    "take out": lambda a: np.take([3.0], np.zeros(a.shape, int), out=a, mode="clip"),
    "copyto": lambda a: np.copyto(a, 3),
    "copyto where": lambda a: np.copyto(a[:2], 3, where=True),
    "put": lambda a: np.put(a, [0, 1], 3),
    "method put": lambda a: a.put([0, 1], 3),
    "place": lambda a: np.place(a, np.ones(a.shape, bool), [3]),
    "putmask": lambda a: np.putmask(a, np.ones(a.shape, bool), 3),
    "put_along_axis": lambda a: np.put_along_axis(a, np.zeros((1,) * a.ndim, int), 3, 0),
    "sort": lambda a: (a.__setitem__(0, 9), a.sort(axis=0)),
    "sort view": lambda a: a[::-1].sort(axis=0) or a.__setitem__(0, 3),
    "partition": lambda a: (a.__setitem__(0, 9), a.partition(1, axis=0)),
    "setfield": lambda a: a.setfield(3, a.dtype),
    "itemset": lambda a: a.itemset(0, 3),
    "byteswap": lambda a: a.byteswap(inplace=True),
    "reshape": lambda a: a.reshape(-1).__setitem__(0, 3),
    "ravel": lambda a: a.ravel().__setitem__(0, 3),
    "transpose": lambda a: a.T.__setitem__(0, 3),
    "newaxis": lambda a: a[None].__setitem__((0, 0), 3),
    "real": lambda a: a.real.__setitem__(0, 3),
    "real=": lambda a: setattr(a, "real", 3),
    "view of type": lambda a: a.view(np.int64).__setitem__(0, 4611686018427387904),
    "asarray": lambda a: np.asarray(a).__setitem__(0, 3),
    "plain view": lambda a: a.view(np.ndarray).__setitem__(0, 3),
    "memoryview": lambda a: outside(a).__setitem__(0, 3),
    "strided": lambda a: np.lib.stride_tricks.as_strided(a).__setitem__(0, 3),
    "nditer": lambda a: [x.__setitem__(..., 3) for x in np.nditer(a, op_flags=["readwrite"])],
    "shuffle": lambda a: np.random.default_rng(0).shuffle(a),
    "random out": lambda a: np.random.default_rng(0).random(out=a),
    "setflags": lambda a: (a.setflags(write=True), a.__setitem__(0, 3)),
    "flags": force,
    "resize": lambda a: a.resize((1,), refcheck=False),
    "shape=": lambda a: setattr(a, "shape", (-1, 1)),
    "dtype=": lambda a: setattr(a, "dtype", np.int32),
    "base": lambda a: a.base.__setitem__(0, 3),
    "view's base": lambda a: a[1:].base.__setitem__(0, 3),
    "forced": lambda a: (setattr(a.flags, "writeable", True), np.asarray(a).__setitem__(0, 3)),
    "split": lambda a: np.split(a, len(a))[0].fill(3),
    "einsum": lambda a: np.einsum("i...->i...", a).__setitem__(0, 3),
    "kept": None,  # see the tests
}


@pytest.fixture(scope="module", autouse=True)
def start():
    tisim.init(arch="cpu", precision="f64")


def trace(m, d):
    tisim.step(m, d, 3)
    return np.concatenate([np.ravel(d.qpos), np.ravel(d.qvel)])


def written(m, a, way, view):
    """Writes to an array of a Model; whether it changed. A view is made before, and kept over steps."""
    before = np.array(a)
    try:
        way(view)
    except Exception as e:
        assert isinstance(e, (tisim.Error, ValueError, TypeError, AttributeError, BufferError)), e
        assert np.array_equal(before, a), "it raised, and has written all the same"
        return None
    return not np.array_equal(before, a)


@pytest.mark.parametrize("name", ["dof_damping", "geom_friction"])
@pytest.mark.parametrize("way", WAYS)
def test_to_a_model(way, name):
    """After it the simulation is that of a model compiled with these numbers."""
    m = tisim.Model.from_xml_string(TEXT)
    d = tisim.Data(m)
    d.qvel = 1
    view = getattr(m, name)
    tisim.step(m, d)
    state = tisim.get_state(m, d)
    changed = written(m, getattr(m, name), WAYS[way] or (lambda a: a[:2].__setitem__(0, 3)), view)
    if changed is None:
        assert np.array_equal(trace(m, d), undisturbed(name, state))
        return
    assert changed, "the write went into a copy"
    other = tisim.Model.from_xml_string(TEXT)
    setattr(other, name, np.array(getattr(m, name)))
    fresh = tisim.Data(other)
    tisim.set_state(other, fresh, state)
    assert np.array_equal(trace(m, d), trace(other, fresh))
    if name == "dof_damping" and changed:
        assert not np.array_equal(trace(m, d), undisturbed(name, state))


def undisturbed(name, state):
    m = tisim.Model.from_xml_string(TEXT)
    d = tisim.Data(m)
    tisim.set_state(m, d, state)
    return trace(m, d)


@pytest.mark.parametrize("name", ["qvel", "qfrc_applied", "xfrc_applied"])
@pytest.mark.parametrize("way", WAYS)
def test_to_a_data(way, name):
    """What is read of it afterwards is what was written, or it raised and nothing is."""
    m = tisim.Model.from_xml_string(TEXT)
    d = tisim.Data(m)
    d.qvel = 1
    view = getattr(d, name)
    tisim.step(m, d)
    before = np.array(getattr(d, name))
    try:
        (WAYS[way] or (lambda a: a[:2].__setitem__(0, 3)))(view)
    except Exception as e:
        assert isinstance(e, (tisim.Error, ValueError, TypeError, AttributeError, BufferError)), e
        assert np.array_equal(before, getattr(d, name))
        return
    if way in COPIES:
        return
    assert not np.array_equal(before, getattr(d, name)), "the write went into a copy"


# np.asarray makes a copy of what is on a device
COPIES = {"shuffle", "forced", "asarray", "strided", "nditer", "einsum"}


@pytest.mark.parametrize("write, name, place", [
    (lambda d: d.joint("j").qpos.__setitem__(0, 0.5), "qpos", 0),
    (lambda d: d.joint("k").qvel.__setitem__(slice(None), 0.5), "qvel", 1),
    (lambda d: d.joint("k").qvel.__iadd__(0.5), "qvel", 1),
    (lambda d: d.joint(3).qpos[:3].__setitem__(1, 0.5), "qpos", 4),
    (lambda d: d.body("b").xfrc_applied[:3].__setitem__(Ellipsis, 0.5), "xfrc_applied", (2, 1)),
    (lambda d: d.body("b").xfrc_applied.__setitem__(slice(0, 3), [0, 0.5, 0]), "xfrc_applied", (2, 1)),
    (lambda d: d.xfrc_applied[2].__setitem__(1, 0.5), "xfrc_applied", (2, 1)),
    (lambda d: d.xfrc_applied[2, :3].__setitem__(1, 0.5), "xfrc_applied", (2, 1)),
    (lambda d: d.qpos[1:3].__setitem__(0, 0.5), "qpos", 1),
    (lambda d: setattr(d.joint("j"), "qfrc_applied", 0.5), "qfrc_applied", 0),
])  # fmt: skip
def test_named_and_sliced_values_of_a_data(write, name, place):
    m = tisim.Model.from_xml_string(TEXT)
    d = tisim.Data(m)
    write(d)
    assert np.asarray(getattr(d, name))[place] == 0.5
    assert np.count_nonzero(np.asarray(getattr(d, name)) == 0.5) <= 3


def test_named_values_of_many_worlds():
    m = tisim.Model.from_xml_string(TEXT)
    d = tisim.Data(m, 3)
    d.joint("k").qvel[1] = 0.5
    d.body("b").xfrc_applied[2, :3] = [1, 2, 3]
    assert np.argwhere(np.asarray(d.qvel)).tolist() == [[1, 1]]
    assert np.argwhere(np.asarray(d.xfrc_applied)).tolist() == [[2, 2, 0], [2, 2, 1], [2, 2, 2]]


def test_views_kept_over_steps():
    """Of an input they go on to write, beside others; of a state they are refused once it has changed."""
    m = tisim.Model.from_xml_string(TEXT)
    d = tisim.Data(m)
    one, other, force = d.joint("j").qvel, d.joint("k").qvel, d.body("b").xfrc_applied
    one[0] = 2
    other[0] = 3
    other[0] += 1
    assert d.qvel[:2].tolist() == [2, 4]
    force[2] = 5
    d.xfrc_applied[2, 0] = 1
    tisim.step(m, d)
    force += 1
    assert d.xfrc_applied[2].tolist() == [2, 1, 6, 1, 1, 1]
    before = np.array(d.qvel)
    for write in (lambda: one.__setitem__(0, 1), lambda: one.__iadd__(1), lambda: other.fill(3)):
        with pytest.raises(tisim.Error, match="qvel has changed since"):
            write()
    assert np.array_equal(before, d.qvel)


@pytest.mark.parametrize("write", [
    lambda d: d.xpos.__setitem__(0, 1), lambda d: d.body("a").xpos.__setitem__(0, 1), lambda d: d.xpos[1].fill(1),
    lambda d: setattr(d.body("a"), "xpos", 1), lambda d: d.contact.dist.__setitem__(0, 1), lambda d: d.xpos.fill(1),
    lambda d: d.efc_force.__setitem__(0, 1), lambda d: setattr(d, "time", None), lambda d: setattr(d, "qpos", None),
    lambda d: setattr(d, "qpos", "x"), lambda d: setattr(d, "qpos", [1, 2]), lambda d: d.qpos.__setitem__(0, None),
    lambda d: d.qpos.__setitem__(99, 1), lambda d: d.qpos.__setitem__(0, 1j), lambda d: d.qvel.__setitem__(0, [1, 2]),
    lambda d: d.joint("j").qpos.__setitem__(0, None), lambda d: setattr(d.joint("j"), "qpos", [1, 2]),
])  # fmt: skip
def test_what_cannot_be_written_is_refused(write):
    m = tisim.Model.from_xml_string(TEXT)
    d = tisim.Data(m)
    tisim.forward(m, d)
    before = tisim.get_state(m, d)
    with pytest.raises((tisim.Error, IndexError)):
        write(d)
    assert np.array_equal(before, tisim.get_state(m, d))


def test_copies_of_a_models_array_are_arrays():
    m = tisim.Model.from_xml_string(TEXT)
    for made in (m.geom_size.copy(), np.array(m.geom_size), m.geom_size[[0, 1]], copy.deepcopy(m.geom_size),
                 m.geom_size + 0, m.geom_size.astype(float)):  # fmt: skip
        count = m.edits
        made[0] = 7
        made += 1
        assert made[0, 0] == 8 and m.edits == count
    assert not (m.geom_size == 8).any()


def test_views_that_numpy_promises_are_refused():
    """np.asarray(..., copy=False) is asked for by who means to write into the array itself."""
    m = tisim.Model.from_xml_string(TEXT)
    d = tisim.Data(m)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # before, copy=False was a wish
        for make in (np.asarray, np.array):
            with pytest.raises(ValueError, match="d.qvel is read as a copy; np.from_dlpack"):
                make(d.qvel, copy=False)[0] = 3
    np.from_dlpack(d.qvel)[0] = 3
    assert d.qvel[0] == 3 and np.asarray(d.qvel)[0] == 3 and np.array(d.qvel, copy=True)[0] == 3


@pytest.mark.parametrize("write, message", [
    (lambda m, d: setattr(d.warning[0], "number", 0), "number of a warning is counted; tisim.reset"),
    (lambda m, d: setattr(d.warning[0], "lastinfo", 0), "lastinfo of a warning"),
    (lambda m, d: d.warning.number.fill(0), "read-only"),
    (lambda m, d: setattr(d.timer[0], "duration", 0), "duration of a timer is measured; d.timer.clear"),
    (lambda m, d: setattr(m.body("a"), "name", "x"), "name of a body cannot be written"),
    (lambda m, d: setattr(m.geom("g"), "id", 1), "id of a geom cannot be written"),
])  # fmt: skip
def test_what_would_go_into_a_copy_is_refused(write, message):
    m = tisim.Model.from_xml_string(TEXT)
    with pytest.raises((tisim.Error, ValueError), match=message):
        write(m, tisim.Data(m))


def test_what_numpy_writes_first_is_written_through_to_a_data():
    """np.copyto(d.qvel, x) was a TypeError; what is computed is refused by name, and all else is as before."""
    m = tisim.Model.from_xml_string(TEXT)
    d = tisim.Data(m)
    np.copyto(d.qvel, np.arange(m.nv))
    np.put(d.qvel, [0], 7)
    np.putmask(d.qvel, d.qvel > 7, -1)
    assert d.qvel.tolist() == [7, *range(1, 8), -1][: m.nv]
    np.copyto(host := np.zeros(m.nv), d.qvel)
    assert np.array_equal(host, d.qvel) and type(np.zeros_like(d.qvel)) is np.ndarray
    with pytest.raises(tisim.Error, match="d.xpos is read-only: the kinematics stage computes it"):
        np.copyto(d.xpos, 1)


@pytest.mark.parametrize("bad", [np.nan, -np.inf, 1e20, 2.0**31])
def test_what_whole_numbers_cannot_be_is_refused_in_arrays_too(bad):
    """NumPy makes -2147483648 of it, with a warning at best, where an array or a list is given."""
    text = TEXT.replace("</mujoco>", "<equality><weld body1='a' body2='b'/></equality></mujoco>")
    m = tisim.Model.from_xml_string(text)
    d, state = tisim.Data(m), tisim.mjtState.mjSTATE_EQ_ACTIVE
    groups, start = m.geom_group.copy(), tisim.get_state(m, d, tisim.mjtState.mjSTATE_FULLPHYSICS)
    for write in (
        lambda: setattr(m, "geom_group", [bad] * 3), lambda: m.geom_group.fill(np.float64(bad)),
        lambda: m.geom_group.flat.__setitem__(slice(2), [0, bad]), lambda: setattr(m.geom("g"), "group", [bad]),
        lambda: setattr(d, "eq_active", [bad]), lambda: d.eq_active.__setitem__(slice(1), np.array([bad])),
        lambda: tisim.set_state(m, d, [bad], state), lambda: tisim.reset_state(m, d, [bad], sig=state),
        lambda: tisim.rollout.rollout(m, d, start, np.full((1, 1, 1), bad), control_spec=state),
    ):  # fmt: skip
        with pytest.raises(tisim.Error, match="expected whole numbers of -2147483648 .. 2147483647, got"):
            write()
    d.eq_active = np.array([0.9])  # cut to a whole number, as in MuJoCo
    assert np.array_equal(m.geom_group, groups) and d.eq_active.tolist() == [0]
