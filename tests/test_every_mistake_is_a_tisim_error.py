"""A wrong argument, name, shape, type, size or option raises tisim.Error that says what was expected."""

import mujoco
import numpy as np
import pytest

import tisim

XML = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
<body name="a" pos="0 0 1"><freejoint name="j"/>
<geom name="g" size=".1"/></body></worldbody><keyframe><key name="home" time="3"/></keyframe></mujoco>"""


@pytest.fixture(scope="module")
def both():
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(XML)
    d = tisim.Data(m)
    tisim.step(m, d)
    return m, d


FUNCTIONS = ("step", "step1", "step2", "forward", "reset", "get_state")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_model_and_data_are_looked_at(both, name):
    m, d = both
    f, theirs = getattr(tisim, name), mujoco.MjModel.from_xml_string(XML)
    for arguments, words in (
        ((d, m), "Model comes first"), ((None, d), "first argument is a tisim.Model, got None"),
        ((m, None), "second argument is a tisim.Data, got None"), ((m, 3), "got a int"), (("x", d), "got a str"),
        ((theirs, d), "from_mujoco"), ((theirs, mujoco.MjData(theirs)), "from_mujoco"),
        ((tisim.Model.from_xml_string(XML), d), "another Model"),
    ):  # fmt: skip
        with pytest.raises(tisim.Error, match=words):
            f(*arguments)


@pytest.mark.parametrize("path", [None, 3])
def test_what_is_no_path_is_told(both, path):
    for f in (tisim.Model.from_xml_path, tisim.Model.load, both[0].save):
        with pytest.raises(tisim.Error, match="expected a str or a path"):
            f(path)


WRONG = [
    (lambda m, d: tisim.Data(None), "tisim.Model, got None"),
    (lambda m, d: tisim.Data(d), "tisim.Model"),
    (lambda m, d: tisim.Data(m, nworld=0), "nworld"),
    (lambda m, d: tisim.Data(m, nworld=1.5), "nworld"),
    (lambda m, d: tisim.Data(m, capacity=dict(nconmax=-1)), "nconmax"),
    (lambda m, d: tisim.Data(m, capacity=dict(nconmx=1)), "nconmx.*nconmax"),
    (lambda m, d: tisim.step(m, d, True), "nstep"),
    (lambda m, d: tisim.step(m, d, 10**400), "nstep"),
    (lambda m, d: tisim.sweep(m, 2, 10**400, lambda m, d: {}), "steps"),
    (lambda m, d: tisim.rollout.rollout(m, None, np.zeros((1, 1 + m.nq + m.nv + m.na)), nstep=10**400), "nstep"),
    (lambda m, d: tisim.ray(d, m, [0, 0, 1], [0, 0, 1]), "first"),
    (lambda m, d: tisim.multi_ray(d, m, [0, 0, 1], [[0, 0, 1]]), "first"),
    (lambda m, d: tisim.geom_distance(d, m, 0, 1, 1), "first"),
    (lambda m, d: tisim.set_state(d, m, 0), "first"),
    (lambda m, d: tisim.set_state(m, d, "x"), "expected numbers"),
    (lambda m, d: tisim.set_state(m, d, None), "expected numbers"),
    (lambda m, d: tisim.set_state(m, d, 10**400), "state: int too large"),
    (lambda m, d: tisim.set_state(m, d, [1, 2]), "shape"),
    (lambda m, d: tisim.set_state(m, d, [[1], [1, 2]]), "expected numbers"),
    (lambda m, d: tisim.get_state(m, d, "qpos"), "mjtState"),
    (lambda m, d: tisim.reset(m, d, 7), "outside"),
    (lambda m, d: tisim.reset(m, d, "x"), "worlds="),
    (lambda m, d: tisim.reset(m, d, [0.5]), "worlds="),
    (lambda m, d: tisim.reset(m, d, [[0], [0, 1]]), "worlds="),
    (lambda m, d: tisim.remove(m, d, "a", worlds=[[0], [0, 1]]), "worlds="),
    (lambda m, d: tisim.reset_state(m, d, tisim.get_state(m, d), seed=[[1], [1, 2]]), "seed="),
    (lambda m, d: tisim.extract_state(m, 3.0, 2, 2), "state has shape"),
    (lambda m, d: tisim.reset_keyframe(m, d, False), "key=False"),
    (lambda m, d: tisim.reset_keyframe(m, d, "hom"), "home"),
    (lambda m, d: tisim.reset_keyframe(m, d, 1), "keyframe 1"),
    (lambda m, d: tisim.reset_keyframe(m, d, 0.5), "keyframe"),
    (lambda m, d: tisim.reset_keyframe(m, d, None), "keyframe"),
    (lambda m, d: tisim.mj_step, "the name is step"),
    (lambda m, d: tisim.MjModel, "the name is Model"),
    (lambda m, d: tisim.mj_resetData, "the name is reset"),
    (lambda m, d: tisim.stepp, "step"),
    (lambda m, d: m.geom_sizes, "geom_size"),
    (lambda m, d: setattr(m, "geom_sizes", 1), "geom_size"),
    (lambda m, d: setattr(m, "nbody", 1), "size"),
    (lambda m, d: m.geom(9), "there are 2"),
    (lambda m, d: d.qposs, "qpos"),
    (lambda m, d: setattr(d, "qposs", 1), "qpos"),
    (lambda m, d: d.geom("flor"), "floor"),
    (lambda m, d: d.contact.distance, "distance"),
    (lambda m, d: d.contact[99], "no contact 99"),
    (lambda m, d: setattr(m, "geom_friction", [1, 2]), "geom_friction"),
    (lambda m, d: setattr(m, "geom_friction", "x"), "numbers"),
    (lambda m, d: setattr(m, "geom_friction", None), "numbers"),
    (lambda m, d: setattr(m.geom("g"), "friction", [1, 2]), "geom_friction"),
    (lambda m, d: m.geom_size.__setitem__(0, [1, 2]), "geom_size"),
    (lambda m, d: setattr(d, "qpos", [1, 2]), "qpos"),
    (lambda m, d: d.qpos.__setitem__(0, "x"), "numbers"),
    (lambda m, d: d.qpos.__setitem__(99, 0), "qpos"),
    (lambda m, d: setattr(d, "time", "x"), "numbers"),
    (lambda m, d: setattr(d, "time", [1, 2]), "time"),
    (lambda m, d: setattr(d, "time", np.nan), "time: expected finite numbers, got nan"),
    (lambda m, d: setattr(d.world(0), "time", -np.inf), "time: expected finite numbers"),
    (lambda m, d: tisim.set_state(m, d, [np.nan], tisim.mjtState.mjSTATE_TIME), "time: expected finite"),
    (lambda m, d: tisim.reset_state(m, d, [np.inf], sig=tisim.mjtState.mjSTATE_TIME), "time: expected finite"),
    (lambda m, d: d.eq_active.__setitem__(..., np.inf), "eq_active"),
    (lambda m, d: setattr(d, "qpos", [[1], [1, 2]]), "expected numbers"),
    (lambda m, d: setattr(d, "qvel", np.ma.masked_all(m.nv)), "got a masked array: its .filled"),
    (lambda m, d: tisim.set_state(m, d, np.ma.masked_all(3)), "state: expected numbers, got a masked array"),
    (lambda m, d: d.vary("body_mass", lambda rng: 1), "'body_mass'.*two arguments, a NumPy Generator and the model's"),
    (lambda m, d: d.vary("body_mass", lambda rng, mass, more: 1), "two arguments"),
    (lambda m, d: d.vary("body_mass", lambda rng, mass: [[1], [1, 2]]), "expected numbers"),
    (lambda m, d: d.vary(["body_mass"], 1), "no field of a Model"),
    (lambda m, d: setattr(m.opt, "timestep", 1e300), "above 0, at most 1e.10"),
    (lambda m, d: setattr(m.opt, "timestep", "0.1"), "opt.timestep needs a number, got '0.1'"),
    (lambda m, d: setattr(m.opt, "timestep", [0.1]), r"opt.timestep needs one number, not a list, got \[0.1\]"),
    (lambda m, d: setattr(m.opt, "iterations", np.ones(1, int)), "opt.iterations needs one number, not a list"),
    (lambda m, d: setattr(m.opt, "gravity", ["0", "0", "1"]), "opt.gravity needs numbers"),
    (lambda m, d: setattr(m.vis.rgba, "fog", ["1"] * 4), "vis.rgba.fog needs numbers"),
    (lambda m, d: setattr(m.opt, "integrator", "RK4"), "opt.integrator is one of mjINT_EULER, mjINT_RK4"),
    (lambda m, d: tisim.Model.load("a.xml"), "a.xml: load reads what .* to .npz; Model.from_xml_path"),
    (lambda m, d: tisim.Model.load("a.URDF"), "a.URDF: .*Model.from_xml_path reads MJCF and URDF"),
    (lambda m, d: tisim.Model.from_xml_path("a.npz"), "a.npz: from_xml_path reads MJCF and URDF; Model.load reads"),
    (lambda m, d: tisim.Model(XML), "Model.from_xml_path, from_xml_string"),
    (lambda m, d: tisim.Model(), "Model.from_xml_path, from_xml_string"),
    (lambda m, d: tisim.Model.from_xml_path(XML), "^this is a text, .*; from_xml_string"),
    (lambda m, d: tisim.Spec.from_file(" <mujoco/>"), "from_string of a Spec"),
    (lambda m, d: d.ncons, "did you mean 'ncon'"),
    (lambda m, d: d.contact.dists, "did you mean 'dist'"),
    (lambda m, d: m.timestep, "options are in m.opt, as m.opt.timestep"),
    (lambda m, d: setattr(m, "gravity", [0, 0, 0]), "options are in m.opt"),
    (lambda m, d: d.step(), r"functions take both, as tisim.step\(m, d\)"),
    (lambda m, d: m.forward(d), r"functions take both, as tisim.step\(m, d\)"),
    (lambda m, d: d.copy(), r"copy.copy\(d\) makes a copy"),
    (lambda m, d: m.copy(), r"copy.copy\(m\) makes a copy"),
    (lambda m, d: d.render(64, 48), r"tisim.viewer.render\(m, d, width, height\)"),
    (lambda m, d: tisim.sweep(m, 2, 3, lambda m, d: 1.0), r"measure takes \(m, d\): expected .* of \(m, d, case\)"),
    (lambda m, d: tisim.sweep(m, 2, lambda: 3, lambda m, d, case: 1.0), r"steps takes \(\): expected a function of"),
    (lambda m, d: m.id2name("geom", "box"), r"id2name\(\) needs an id, a whole number, got 'box'"),
    (lambda m, d: m.id2name("geom", 1.5), r"id2name\(\) needs an id, a whole number, got 1.5"),
    (lambda m, d: m.name2id("geom", ["box"]), "no geom named '.'box'.'"),
    (lambda m, d: tisim.Model.from_xml_string("<mujoco/>", 3), "assets: expected a dict of names and contents"),
    (lambda m, d: m.save(""), "ends in .npz .compiled. or .xml"),
    (lambda m, d: m.capacity_limit.__setitem__("nconmx", 3), "nconmax"),
    (lambda m, d: m.capacity_limit.__setitem__("nconmax", -3), "nconmax"),
    (lambda m, d: m.capacity_limit.__setitem__("nconmax", 2.5), "nconmax"),
    (lambda m, d: m.capacity_limit.update(nconmax=5, nrowmax="x"), "nrowmax"),
    (lambda m, d: setattr(m, "capacity_limit", dict(n=1)), "no entry 'n'"),
    (lambda m, d: setattr(m, "capacity_limit", 3), "capacity_limit"),
    (lambda m, d: tisim.viewer.render(d, m, 32, 24), "Model comes first"),
    (lambda m, d: tisim.viewer.save_png("a.png", np.zeros((4, 4, 3))), "uint8, got float64"),
    (lambda m, d: tisim.viewer.save_png("a.none", np.zeros((4, 4, 3), np.uint8)), "cannot write.*extension"),
    (lambda m, d: tisim.viewer.save_png(np.zeros((4, 4, 3), np.uint8), "a.png"), "path=.*, then the picture"),
    (lambda m, d: tisim.Renderer(m, "48", 64), "size 64 x '48': each side must be a positive whole number"),
    (lambda m, d: tisim.viewer.save_png("/proc/a.png", np.zeros((4, 4, 3), np.uint8)), "cannot write the picture"),
    (lambda m, d: setattr(tisim.MjvScene(), "ngeom", "x"), "ngeom='x'"),
    (lambda m, d: setattr(tisim.MjvScene(), "ngeom", 1.5), "ngeom=1.5"),
]


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_mistakes(both, case):
    m, d = both
    use, words = WRONG[case]
    state, edits = tisim.get_state(m, d), m.edits
    with pytest.raises(tisim.Error, match=words):
        use(m, d)
    assert np.array_equal(state, tisim.get_state(m, d)) and not m.capacity_limit
    tisim.forward(m, d)
    assert m.edits >= edits


@pytest.mark.parametrize("use", ["wake", "remove", "add"])
@pytest.mark.parametrize("bodies", [
    1.0, [1.5], [np.nan], True, [True], np.array([False, True]), np.array([1.0]), b"a", [None], [[1]], [["a"], [1, 2]],
    np.array([[1]]),
])  # fmt: skip
def test_bodies_are_ids_or_names(both, use, bodies):
    m, d = both
    for one in (bodies, m.body("a")):
        with pytest.raises(tisim.Error, match="expected ids or names of bodies"):
            getattr(tisim, use)(m, d, one)


@pytest.mark.parametrize("bodies", ["a", 1, ["a"], {"a"}, (1,), np.array(1), np.array([1], np.uint8), np.array(["a"])])
def test_bodies_are_given_in_many_ways(both, bodies):
    m, d = both
    tisim.wake(m, d, bodies)
    tisim.remove(m, d, bodies)
    assert not d.body_present[1]
    tisim.add(m, d, bodies)


@pytest.mark.parametrize("name, value", [
    ("timestep", 0), ("timestep", -1), ("timestep", 1e300), ("iterations", -1), ("ls_iterations", -1),
    ("iterations", 2**40), ("tolerance", -1), ("impratio", 0), ("impratio", -1), ("ls_tolerance", -1),
    ("ccd_iterations", -1), ("disableflags", -1), ("cone", 7), ("iterations", None), ("gravity", None),
])  # fmt: skip
def test_absurd_options_are_refused(both, name, value):
    m, _ = both
    before = np.array(getattr(m.opt, name))
    with pytest.raises(tisim.Error, match=f"opt.{name}"):
        setattr(m.opt, name, value)
    assert np.array_equal(before, getattr(m.opt, name))


def test_absurd_options_of_a_file_are_refused_before_the_step():
    m = tisim.Model.from_xml_string('<mujoco><option impratio="-1"/></mujoco>')
    with pytest.raises(tisim.Error, match="opt.impratio"):
        tisim.step(m, tisim.Data(m))


def test_an_option_written_in_place_is_looked_at(both):
    m, d = both
    m.opt.gravity[2] = np.nan
    with pytest.raises(tisim.Error, match="opt.gravity"):
        tisim.step(m, d)
    m.opt.gravity[2] = -9.81
    tisim.step(m, d)


def test_too_many_worlds(both):
    m, _ = both
    with pytest.raises(tisim.CapacityError):
        d = tisim.Data(m, nworld=10**9)
        tisim.step(m, d)
    with pytest.raises(tisim.CapacityError, match="GiB|elements"):
        d = tisim.Data(m, nworld=10**7)
        tisim.step(m, d)


GRID = np.zeros((40, 70))
LONG = [
    (lambda m, d: tisim.step(m, d, GRID), "nstep=an array of shape (40, 70): expected"),
    (lambda m, d: tisim.settle(m, d, 1, box=GRID), "box=an array of shape (40, 70): expected two corners"),
    (lambda m, d: tisim.reset(m, d, GRID), "worlds=an array of shape (40, 70): expected the index"),
    (lambda m, d: tisim.reset(m, d, np.arange(2000)), "world index 1 outside 0..0"),
    (lambda m, d: tisim.Data(m, nworld=list(range(999))), "nworld=a list of 999: expected"),
    (lambda m, d: setattr(m.opt, "gravity", GRID), "needs 3 finite numbers, got an array of shape (40, 70)"),
    (lambda m, d: setattr(m.lcp, "erp", GRID), "got an array of shape (40, 70)"),
    (
        lambda m, d: tisim.jac_body(m, d, np.arange(5000.0)),
        "got array([0.000e+00, 1.000e+00, 2.000e+00, ..., 4.997e+03",
    ),
    (lambda m, d: tisim.object_velocity(m, d, GRID, 1), "type of object an array of shape (40, 70)"),
    (lambda m, d: tisim.init(threads=GRID), "threads=an array of shape (40, 70): expected"),
    (lambda m, d: tisim.sweep(m, [dict(qpos=GRID)], 1, lambda *_: {}), "case 0 (qpos=an array of shape (40, 70)): "),
    (lambda m, d: tisim.step(m, d, -(10**5000)), "nstep=a int: expected"),
    (lambda m, d: tisim.reset_keyframe(m, d, b"x" * 9999), "key=a bytes of 9999: expected"),
    (lambda m, d: tisim.sweep(m, 2, 1, lambda *_: {}, errors="x" * 9999), "x'... (9999 characters): expected"),
]


@pytest.mark.parametrize("mistake, told", LONG)
def test_what_is_long_is_told_in_one_short_line(both, mistake, told):
    with pytest.raises(tisim.Error) as caught:
        mistake(*both)
    text = str(caught.value)
    assert told in text and "\n" not in text and len(text) < 250


@pytest.mark.parametrize("given", [None, 5, ("<mujoco/>",)])
def test_a_model_is_made_of_text(given):
    with pytest.raises(tisim.Error, match=type(given).__name__):
        tisim.Model.from_xml_string(given)


@pytest.mark.parametrize("threads", [0, 1.5, "4", float("nan"), 100_000])
def test_a_number_of_threads_is_one(threads, monkeypatch):
    with pytest.raises(tisim.Error, match="threads="):
        tisim.init(arch="cpu", threads=threads)
    monkeypatch.setenv("TISIM_THREADS", "2.5")
    with pytest.raises(tisim.Error, match="threads='2.5': expected a positive number"):
        tisim.init(arch="cpu")


def test_what_binds_elements_in_mujoco_tells_what_to_use(both):
    m, d = both
    for thing in (m, d):
        with pytest.raises(tisim.Error, match=r"\.body\(name\) and its like"):
            thing.bind(m.geom(0))


def test_keyframes_by_name(both):
    m, _ = both
    d = tisim.Data(m)
    tisim.reset_keyframe(m, d, "home")
    assert d.time == 3


def test_dir_shows_what_users_use(both):
    m, d = both
    assert {"step", "Model", "mjtGeom"} <= set(dir(tisim))
    assert not {"importlib", "os", "_HOME"} & set(dir(tisim))
    assert {"qpos", "contact", "time", "ncon", "body", "energy", "warning"} <= set(dir(d))
    assert not {"grow", "bound", "keep_bound", "island_dense", "exceeds", "sol_p", "_device"} & set(dir(d))
    assert {"geom_size", "nbody", "opt", "save", "validate", "geom"} <= set(dir(m))
    assert not {"device", "refresh", "_arrays", "scalar"} & set(dir(m))
    for thing in (tisim, d, m):
        for name in dir(thing):
            if not name.startswith("__"):
                getattr(thing, name)


def test_a_file_of_states_is_told_to_hold_arrays_by_name(both, tmp_path):
    m, d = both
    np.savez(tmp_path / "kept.npz", state=tisim.get_state(m, d))
    with pytest.raises(tisim.Error, match=r"a file of arrays: take one, as \['state'\]"):
        tisim.set_state(m, d, np.load(tmp_path / "kept.npz"))
