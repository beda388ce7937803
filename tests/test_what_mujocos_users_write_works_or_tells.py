"""What users of MuJoCo's Python package write, with `tisim` for `mujoco`: it works, after other names have been taken
where the errors tell them, and gives MuJoCo's numbers; or a tisim.Error says what to use instead.

And so does every name of the module mujoco, of an MjModel, an MjData and an MjSpec that tisim has not.
"""

import copy
import re

import mujoco
import mujoco.rollout
import numpy as np
import pytest

import tisim

XML = """<mujoco><option timestep="0.004"><flag energy="enable"/></option>
<visual><global offwidth="64" offheight="48"/></visual>
<worldbody>
  <light pos="0 0 3"/><camera name="side" pos="0 -3 1" xyaxes="1 0 0 0 .3 1"/>
  <geom name="floor" type="plane" size="3 3 .1"/>
  <body name="box" pos="0 0 .14"><freejoint name="free"/>
    <geom name="box" type="box" size=".2 .15 .1" rgba=".8 .3 .2 1"/><site name="corner" pos=".2 .15 .1"/></body>
  <body name="arm" pos="1 0 1"><joint name="hinge" axis="0 1 0" damping=".1"/>
    <geom name="rod" type="capsule" fromto="0 0 0 .4 0 0" size=".03"/></body>
</worldbody>
<keyframe><key name="tilted" time="2" qpos="0 0 .5 .9 .3 .1 .2 -.4" qvel="0 0 0 1 2 3 .5"/></keyframe></mujoco>"""
DRIVEN = XML.replace("<keyframe>", '<actuator><motor name="motor" joint="hinge" gear="3"/></actuator><keyframe>')
FELT = XML.replace("<keyframe>", '<sensor><jointpos joint="hinge"/><framepos objtype="site" objname="corner"/></sensor>'
                                 "<keyframe>")  # fmt: skip

# a model from text, a few steps, and files from memory
LOAD = """
m = mujoco.MjModel.from_xml_string(XML)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
out.append(d.xpos)
while d.time < 0.2:
    mujoco.mj_step(m, d)
out += [d.time, d.qpos, d.energy, m.opt.timestep, m.nv]
ball = b"<mujoco><worldbody><geom name='ball' size='.3'/></worldbody></mujoco>"
m = mujoco.MjModel.from_xml_string('<mujoco><include file="ball.xml"/></mujoco>', {"ball.xml": ball})
out.append(m.geom("ball").size)
"""

# elements by their names, and names by their numbers
NAMES = """
m = mujoco.MjModel.from_xml_string(XML)
d = mujoco.MjData(m)
d.joint("hinge").qpos = 0.3
m.geom("box").rgba[:3] = [0, 1, 0]
mujoco.mj_forward(m, d)
out += [d.geom("rod").xpos, d.body("box").xpos, d.joint("free").qvel, d.site("corner").xmat, m.geom("box").rgba]
out += [m.geom("rod").id, m.jnt("hinge").qposadr, m.body(1).mass, m.camera("side").pos, m.body("arm").parentid]
assert [m.geom(i).name for i in range(m.ngeom)] == ["floor", "box", "rod"]
assert m.geom(b"rod").id == 2
try:
    m.geom("rood")
except (KeyError, Exception) as error:
    assert "rod" in str(error)
"""
IDS = """
m = mujoco.MjModel.from_xml_string(XML)
out.append(mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_GEOM, "rod"))
assert mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_BODY, 2) == "arm"
"""
IDS_HERE = """
m = tisim.Model.from_xml_string(XML)
out.append(m.name2id(tisim.mjtObj.mjOBJ_GEOM, "rod"))
assert m.id2name(tisim.mjtObj.mjOBJ_BODY, 2) == "arm"
"""

# a controller that is asked before each step
CONTROL = """
m = mujoco.MjModel.from_xml_string(DRIVEN)
d = mujoco.MjData(m)
for k in range(50):
    d.ctrl[0] = np.sin(0.1 * k) - 0.2 * d.qvel[6]
    mujoco.mj_step(m, d)
out += [d.qpos, d.ctrl]
"""
CALLBACK = """
m = mujoco.MjModel.from_xml_string(XML)
d = mujoco.MjData(m)
def push(m, d):
    d.qfrc_applied[6] = 1 - d.qpos[7]
mujoco.set_mjcb_control(push)
for _ in range(50):
    mujoco.mj_step(m, d)
mujoco.set_mjcb_control(None)
out += [d.qpos, d.qfrc_applied]
"""
SENSORS = """
m = mujoco.MjModel.from_xml_string(FELT)
d = mujoco.MjData(m)
mujoco.mj_step(m, d, 20)
mujoco.mj_forward(m, d)
out.append(d.sensordata)
"""

# what touches what, where and how deep
CONTACTS = """
m = mujoco.MjModel.from_xml_string(XML)
d = mujoco.MjData(m)
mujoco.mj_step(m, d, 120)
mujoco.mj_forward(m, d)
for i in range(d.ncon):
    c = d.contact[i]
    out += [c.dist, c.pos, c.frame[:3], c.geom1, c.geom2, c.friction]
    assert {m.geom(c.geom1).name, m.geom(c.geom2).name} == {"floor", "box"}
deepest = d.contact.dist.min()
out += [deepest, d.contact.geom, d.ncon]
"""
FORCES = """
m = mujoco.MjModel.from_xml_string(XML)
d = mujoco.MjData(m)
mujoco.mj_step(m, d, 120)
mujoco.mj_forward(m, d)
for i in range(d.ncon):
    force = np.zeros(6)
    mujoco.mj_contactForce(m, d, i, force)
    out.append(force[0])
"""
FORCES_HERE = """
m = tisim.Model.from_xml_string(XML)
d = tisim.Data(m)
tisim.step(m, d, 120)
tisim.forward(m, d)
efc_force = d.efc_force
for c in d.contact:                            # a pyramid of condim 3 has 4 edges
    out.append(efc_force[c.efc_address:][:4].sum())
"""

KEYFRAMES = """
m = mujoco.MjModel.from_xml_string(XML)
d = mujoco.MjData(m)
mujoco.mj_resetDataKeyframe(m, d, m.key("tilted").id)
out += [d.time, d.qpos, d.qvel, m.nkey, m.key_qpos[0], m.key("tilted").qvel]
mujoco.mj_step(m, d, 5)
out.append(d.qpos)
mujoco.mj_resetData(m, d)
out += [d.time, d.qpos]
"""

STATES = """
m = mujoco.MjModel.from_xml_string(XML)
d = mujoco.MjData(m)
kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
state = np.zeros(mujoco.mj_stateSize(m, kind))
mujoco.mj_step(m, d, 10)
mujoco.mj_getState(m, d, state, kind)
mujoco.mj_step(m, d, 10)
mujoco.mj_setState(m, d, state, kind)
out += [state, d.time, d.qpos]
"""
STATES_HERE = """
m = tisim.Model.from_xml_string(XML)
d = tisim.Data(m)
kind = tisim.mjtState.mjSTATE_FULLPHYSICS
tisim.step(m, d, 10)
state = tisim.get_state(m, d, kind)
assert state.size == tisim.state_size(m, kind)
tisim.step(m, d, 10)
tisim.set_state(m, d, state, kind)
out += [state, d.time, d.qpos]
"""

SLICES = """
m = mujoco.MjModel.from_xml_string(XML)
d = mujoco.MjData(m)
d.qpos[2] += 0.1
d.qpos[:2] = [0.3, -0.2]
d.qvel[3:6] = np.random.default_rng(0).normal(size=3)
d.qvel[:] *= 0.5
d.xfrc_applied[1, :3] = [1, 0, 2]
m.body_mass[1:] *= 2
m.opt.gravity[2] = -5
q = d.qpos
q[7] = 0.4
before = d.qpos.copy()
mujoco.mj_step(m, d, 3)
out += [before, d.qpos, d.qpos[-1], d.xpos[1:, 2], d.qvel @ d.qvel, np.linalg.norm(d.xpos, axis=1), d.qpos.shape]
out += [d.qpos[:3] - before[:3], d.xmat.reshape(-1, 3, 3)[1], m.geom_size[m.geom_type == mujoco.mjtGeom.mjGEOM_BOX]]
"""

SPEC = """
spec = mujoco.MjSpec()
spec.option.timestep = 0.003
body = spec.worldbody.add_body(name="crate", pos=[0, 0, 1], quat=[1, 0.2, 0, 0])
body.add_freejoint()
geom = body.add_geom(name="crate", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.2, 0.3], density=300)
geom.rgba = [1, 0, 0, 1]
body.add_body(name="lid", pos=[0, 0, 0.3]).add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0])
m = spec.compile()
d = mujoco.MjData(m)
mujoco.mj_step(m, d, 20)
out += [d.qpos, m.body_mass, m.opt.timestep]
spec.body("lid").pos = [0, 0, 0.5]
m = spec.compile()
out += [m.body("lid").pos, m.nbody]
again = mujoco.MjModel.from_xml_string(spec.to_xml())
out.append(again.body_inertia)
"""

# many runs from many states
ROLLOUT = """
m = mujoco.MjModel.from_xml_string(XML)
d = mujoco.MjData(m)
found = []
for k in range(3):
    mujoco.mj_resetData(m, d)
    d.qvel[:3] = [0.1 * k, 0, 1]
    path = []
    for _ in range(20):
        mujoco.mj_step(m, d)
        path.append(d.qpos.copy())
    found.append(path)
out.append(found)
"""
ROLLOUTS = """
m = mujoco.MjModel.from_xml_string(XML)
d = mujoco.MjData(m)
kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
start = np.zeros((3, mujoco.mj_stateSize(m, kind)))
start[:, 1 : 1 + m.nq] = m.qpos0
start[:, 1 + m.nq] = [0, 0.1, 0.2]
state, sensors = mujoco.rollout.rollout(model=m, data=d, initial_state=start, nstep=20)
out.append(state[:, -1])
"""

RENDERER = """
m = mujoco.MjModel.from_xml_string(XML)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
with mujoco.Renderer(m, 48, 64) as renderer:
    renderer.update_scene(d, camera="side")
    picture = renderer.render()
assert picture.shape == (48, 64, 3)
"""
COPIES = """
m = mujoco.MjModel.from_xml_string(XML)
d = mujoco.MjData(m)
mujoco.mj_step(m, d, 5)
kept, other = copy.copy(d), copy.deepcopy(m)
other.opt.gravity[:] = 0
mujoco.mj_step(m, d, 5)
mujoco.mj_step(m, kept, 5)
assert (kept.qpos == d.qpos).all() and m.opt.gravity[2] == -9.81
out += [kept.qpos, kept.time]
"""

# snippet: (as for MuJoCo, as for tisim where other names are not enough, what the error says before that)
SNIPPETS = dict(
    load=(LOAD, None, ""), names=(NAMES, None, ""), ids=(IDS, IDS_HERE, "m.name2id"),
    control=(CONTROL, None, "actuators.* later version.*qfrc_applied"),
    callback=(CALLBACK, None, ""),
    sensors=(SENSORS, None, ""), contacts=(CONTACTS, None, ""),
    forces=(FORCES, FORCES_HERE, "later version|which returns"), keyframes=(KEYFRAMES, None, ""),
    states=(STATES, STATES_HERE, r"get_state\(m, d, sig\), which returns"),
    slices=(SLICES, None, ""), spec=(SPEC, None, ""),
    rollout=(ROLLOUT, None, ""), rollouts=(ROLLOUTS, None, ""),
    renderer=(RENDERER, None, ""),
    copies=(COPIES, None, ""),
)  # fmt: skip
SEEN = ("renderer",)  # MuJoCo needs OpenGL for it


def run(code):
    """What a snippet put into `out`."""
    names = dict(mujoco=mujoco, tisim=tisim, np=np, copy=copy, XML=XML, DRIVEN=DRIVEN, FELT=FELT, out=[])
    exec(compile(code, "snippet", "exec"), names)
    return names["out"]


def ported(code):
    """(snippet, what it put out, last error) with `tisim` for `mujoco` and the names that errors tell."""
    code = code.replace("mujoco.", "tisim.")
    while True:
        try:
            return code, run(code), None
        except tisim.Error as error:
            told = re.search(r"no attribute '(\w+)'; the name is (\w+)$", str(error))
            if not told:
                return code, None, error
            code = re.sub(rf"\btisim\.{told[1]}\b", f"tisim.{told[2]}", code)


@pytest.fixture(autouse=True)
def start():
    tisim.init(arch="cpu", precision="f64")


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippet(name):
    theirs, ours, words = SNIPPETS[name]
    _, found, error = ported(theirs)
    if error is None:  # what an older version refused may have come
        assert words == "" or "later" in words, "the snippet works now: nothing is to be told"
    else:
        assert words and re.search(words, str(error)), error
        if ours is None:
            return
        found = run(ours)
    if name not in SEEN:
        expected = run(theirs)
        assert len(found) == len(expected) > 0
        for a, b in zip(found, expected):
            np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), atol=1e-5)


@pytest.mark.parametrize("name", [n for n in SNIPPETS if n not in SEEN])
def test_the_snippet_is_right(name):
    """It runs with mujoco, and what it puts out is finite."""
    for value in run(SNIPPETS[name][0]):
        assert np.isfinite(np.asarray(value, float)).all()


def test_a_name_that_is_imported_is_told_too():
    for name, words in (
        ("minimize", "scipy.optimize"),
        ("MjModel", "the name is Model"),
        ("mj_step", "the name is step"),
    ):
        with pytest.raises(ImportError, match=words) as caught:
            exec(f"from tisim import {name}")
        assert isinstance(caught.value, tisim.Error)
    with pytest.raises(ImportError, match=r"tisim\.viewer\.view"):
        exec("from tisim.viewer import launch_repl")
    with pytest.raises(ImportError):
        exec("from tisim import nothing_of_the_kind")
    assert not hasattr(tisim, "minimize")


def objects():
    mm, m = mujoco.MjModel.from_xml_string(XML), tisim.Model.from_xml_string(XML)
    md, d = mujoco.MjData(mm), tisim.Data(m)
    for x in (md, d):
        (mujoco.mj_step if x is md else tisim.step)(mm if x is md else m, x, 60)
    return {
        "module": (mujoco, tisim), "MjModel": (mm, m), "MjData": (md, d), "MjSpec": (mujoco.MjSpec(), tisim.Spec()),
        "MjContact": (md.contact[0], d.contact[0]), "mjOption": (mm.opt, m.opt),
        "mjStatistic": (mm.stat, m.stat),
    }  # fmt: skip


# what the module mujoco imported itself
FOREIGN = set("Any IO Sequence Union TypeAlias ctypes platform subprocess warnings zipfile os np".split())


@pytest.mark.parametrize("kind", ["module", "MjModel", "MjData", "MjSpec", "MjContact", "mjOption", "mjStatistic"])
def test_every_name_of_mujocos_is_there_or_tells(kind):
    theirs, ours = objects()[kind]
    names = [n for n in dir(theirs) if not n.startswith("_") and n not in FOREIGN]
    assert len(names) > 3
    silent = []
    for name in names:
        try:
            getattr(ours, name)
        except tisim.Error as error:
            if "; " not in str(error):
                silent.append(f"{error}")
        except AttributeError as error:
            silent.append(f"{error!r}")
    assert not silent


@pytest.mark.parametrize("name, words", [("mjd_subQuat", "MuJoCo's own function"), ("renderer", "tisim.Renderer")])
def test_what_is_told_fits(name, words):
    with pytest.raises(tisim.Error, match=words):
        getattr(tisim, name)


def test_what_is_told_to_use_is_there():
    """Functions of tisim and fields that the hints name."""
    from tisim import mujoco_names

    _, m = objects()["MjModel"]
    _, d = objects()["MjData"]
    text = " ".join(w for table in (mujoco_names.OF_MODULE, mujoco_names.OF_DATA, mujoco_names.OF_MODEL,
                                    mujoco_names.OF_SPEC) for _, w in table)  # fmt: skip
    for name in re.findall(r"\btisim\.(\w+)", text):
        assert hasattr(tisim, name), name
    for letter, thing in (("m", m), ("d", d), ("Model", tisim.Model), ("Spec", tisim.Spec), ("spec", tisim.Spec)):
        for name in re.findall(rf"(?<![\w.]){letter}\.(\w+)", text):
            assert hasattr(thing, name), (letter, name)
    for theirs, ours in mujoco_names.OTHERS.items():
        assert ours.partition("(")[0] in tisim.__all__ or mujoco_names.instead(theirs)


def test_mujocos_own_enums_are_taken():
    m = tisim.Model.from_xml_string(DRIVEN)
    m.opt.integrator, m.opt.cone = mujoco.mjtIntegrator.mjINT_RK4, mujoco.mjtCone.mjCONE_ELLIPTIC
    m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    m.geom_group = 3 * [mujoco.mjtGeom.mjGEOM_SPHERE]
    m.geom("box").group = mujoco.mjtGeom.mjGEOM_CAPSULE
    assert (m.opt.integrator, m.opt.cone, m.opt.enableflags, m.geom_group.tolist()) == (1, 1, 2, [2, 3, 2])
    d = tisim.Data(m)
    state = tisim.get_state(m, d, mujoco.mjtState.mjSTATE_QPOS)
    assert state.tolist() == m.qpos0.tolist() and d.timer[mujoco.mjtTimer.mjTIMER_STEP].number == 0
    table = tisim.sweep(m, {"opt.integrator": list(mujoco.mjtIntegrator.__members__.values())[:2]}, 2,
                        lambda m, d, case: dict(integrator=m.opt.integrator))  # fmt: skip
    assert table["integrator"].tolist() == [0, 1]
    spec = tisim.Spec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.1])
    assert spec.compile().geom_type[0] == tisim.mjtGeom.mjGEOM_BOX
