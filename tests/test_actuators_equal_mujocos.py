"""Every transmission, activation, gain and bias, alone and together, makes MuJoCo's lengths, moments and forces.

Contract: from equal states with random controls and activations lengths, velocities, moments, rates of activations,
forces of actuators and dofs and accelerations are MuJoCo 3.4.0's within 1e-10 of their scale, and rollouts with random
controls stay together; so in several worlds, and in f32 within 1e-4.
"""

import itertools

import mujoco
import numpy as np
import pytest
from shared.reference import Pair, error

import tisim

# joints of all types in one tree, another tree, sites of both and of the world
WORLD = """<mujoco><compiler autolimits="true"/><option {option}>{flags}</option>
<default><joint damping=".3" armature=".05"/><geom contype="0" conaffinity="0"/></default><worldbody>
  <site name="w" pos="1 2 1.5" euler="10 20 30"/><geom type="plane" size="4 4 .1" contype="1" conaffinity="1"/>
  <body name="root" pos=".1 .2 .3" euler="30 20 10"><freejoint name="free"/><geom size=".1"/>
    <site name="u" pos=".1 .1 .2" euler="40 10 20"/>
    <body name="elbow" pos=".3 0 0" euler="10 80 10" gravcomp="{gravcomp}"><joint name="ball" type="ball"/>
      <geom size=".1" pos=".1 .1 .1"/><site name="t" pos=".1 .2 .3" euler="50 60 10"/>
      <body name="hand" pos=".1 .2 .3" gravcomp="{gravcomp}"><geom name="knob" size=".1"/>
        <joint name="hinge" ref="30" range="-40 60" {hinge}/>
        <joint name="slide" type="slide" axis="1 1 0" {slide}/><site name="v" pos=".2 0 0" euler="10 0 0"/></body>
    </body></body>
  <body name="stone" pos="1.5 0 .1"><joint name="alone" range="0 50"/><geom size=".1" pos=".1 0 .1"/>
    <site name="x" pos=".1 .1 .3"/></body>
  <body name="sucker" pos="-1 0 .09"><freejoint/><geom size=".1" contype="1" conaffinity="1"/></body>
  <body name="prey" pos="-1.17 0 .09"><freejoint/><geom type="box" size=".08 .1 .1" contype="1" conaffinity="1"
    margin=".1" gap=".05"/></body>
</worldbody>
<tendon><fixed name="fixed" range="-1 1" {fixed}><joint joint="hinge" coef="2"/><joint joint="alone" coef="-1"/></fixed>
  <spatial name="rope" stiffness="3" damping="1" {rope}><site site="w"/><geom geom="knob"/><site site="t"/>
  <pulley divisor="2"/><site site="t"/><site site="v"/><site site="x"/></spatial></tendon>
<actuator>{actuators}</actuator></mujoco>"""
EMPTY = dict(option="", flags="", gravcomp="0", hinge="", slide="", fixed="", rope="", actuators="")
TRANSMISSIONS = {
    "hinge": 'joint="hinge" gear="3"', "slide": 'joint="slide" gear="-2"',
    "ball": 'joint="ball" gear="1 -2 .5"', "ball in parent": 'jointinparent="ball" gear="1 -2 .5"',
    "free": 'joint="free" gear="1 2 -1 .5 .3 .2"', "free in parent": 'jointinparent="free" gear="1 2 -1 .5 .3 .2"',
    "hinge in parent": 'jointinparent="hinge" gear="2"', "fixed tendon": 'tendon="fixed" gear="1.5"',
    "spatial tendon": 'tendon="rope" gear="-2"', "site": 'site="v" gear="1 2 -1 .5 .3 .2"',
    "site against a site of its tree": 'site="v" refsite="u" gear="1 2 -1 .5 .3 .2"',
    "site against the world": 'site="t" refsite="w" gear="0 0 1 .2 -.3 .4"',
    "site against another tree": 'site="v" refsite="x" gear="1 0 0 0 1 0"',
    "site of the world against another": 'site="w" refsite="v" gear="1 1 0 0 1 1"',
    "slider-crank": 'cranksite="t" slidersite="w" cranklength="4" gear="2"',
    "slider-crank in one tree": 'cranksite="v" slidersite="u" cranklength="2"',
    "slider-crank that does not reach": 'cranksite="v" slidersite="w" cranklength=".01" gear="3"',
}  # fmt: skip
LENGTHS = 'lengthrange=".5 2.5"'
SHORTCUTS = {
    "motor": "<motor {} ctrlrange='-.5 .7'/>",
    "motor with forcerange": "<motor {} forcerange='-.2 .3'/>",
    "position": "<position {} kp='3' kv='.5'/>",
    "position with dampratio": "<position {} kp='3' dampratio='1'/>",
    "position with timeconst": "<position {} kp='3' timeconst='.1'/>",
    "velocity": "<velocity {} kv='.5'/>",
    "intvelocity": "<intvelocity {} kp='2' actrange='-.4 .6'/>",
    "damper": "<damper {} kv='.5' ctrlrange='0 2'/>",
    "cylinder": "<cylinder {} timeconst='.2' area='.3' bias='1 2 3'/>",
    "muscle": f"<muscle {{}} {LENGTHS} force='20'/>",
    "muscle with scale": f"<muscle {{}} {LENGTHS} scale='30' tausmooth='.3' range='.6 1.2'/>",
}
DYNAMICS = {
    "none": "dyntype='none'", "integrator": "dyntype='integrator'",
    "integrator with limits": "dyntype='integrator' actrange='-.1 .1'",
    "filter": "dyntype='filter' dynprm='.1'", "filterexact": "dyntype='filterexact' dynprm='.001'",
    "filterexact, tau 0": "dyntype='filterexact' dynprm='0'",
    "muscle": "dyntype='muscle' dynprm='.01 .04'", "smooth muscle": "dyntype='muscle' dynprm='.02 .05 .5'",
    "user": "dyntype='user'", "user, three activations": "dyntype='user' actdim='3'",
}  # fmt: skip
GAINS = {
    "fixed": "gaintype='fixed' gainprm='2'", "affine": "gaintype='affine' gainprm='1 -.5 .3'",
    "muscle": "gaintype='muscle' gainprm='.7 1.1 -1 50 .4 1.7 1.4 1.2 1.3'", "user": "gaintype='user'",
}  # fmt: skip
BIASES = {
    "none": "biastype='none'", "affine": "biastype='affine' biasprm='.2 -3 -.4'",
    "muscle": "biastype='muscle' biasprm='.7 1.1 30 50 .4 1.3 1.4 1.2 1.3'", "user": "biastype='user'",
}  # fmt: skip
ALL = "".join(SHORTCUTS["position"].format(t) + SHORTCUTS["motor"].format(t) for t in TRANSMISSIONS.values())
STUCK = """<adhesion body="sucker" gain="5" ctrlrange="0 2"/><adhesion body="prey" gain="3" ctrlrange="0 1"/>
<adhesion body="stone" gain="3" ctrlrange="0 1"/><motor joint="hinge"/>"""
PULLED = "".join(f'<motor tendon="rope" gear="{g}" {f}/>' for g, f in ((1, ""), (-2, "forcerange='-.3 .2'"), (3, "")))
GROUPS = "".join(
    f'<general joint="hinge" group="{g}" dyntype="integrator" actrange="-1 1"/>' for g in (0, 3, 30, 31, -1)
)
OTHERS = {
    "adhesion, pyramidal": dict(actuators=STUCK),
    "adhesion, elliptic": dict(actuators=STUCK, option='cone="elliptic"'),
    "tendon with a limited force": dict(
        actuators=PULLED + ALL, rope='actuatorfrcrange="-.5 .4" actuatorfrclimited="true"'),
    "joints with limited forces": dict(
        actuators=ALL, hinge='actuatorfrcrange="-.5 .4"', slide='actuatorfrcrange="0 1"'),
    "gravity compensated by actuators": dict(
        actuators=ALL, gravcomp="1", hinge='actuatorgravcomp="true" actuatorfrcrange="-1 .5"',
        slide='actuatorgravcomp="true"'),
    "gravity compensation without actuators": dict(gravcomp="1", hinge='actuatorgravcomp="true"'),
    "groups that are off": dict(actuators=GROUPS, option='actuatorgroupdisable="0 30"'),
    "controls that are not clamped": dict(actuators=ALL + GROUPS, flags='<flag clampctrl="disable"/>'),
    "actuation that is off": dict(actuators=ALL + GROUPS + STUCK, flags='<flag actuation="disable"/>',
                                  gravcomp="1", hinge='actuatorgravcomp="true"'),
    "everything": dict(
        actuators=ALL + GROUPS + STUCK + PULLED + "".join(s.format(TRANSMISSIONS["hinge"]) for s in SHORTCUTS.values()),
        rope='actuatorfrcrange="-.5 .4" actuatorfrclimited="true"', hinge='actuatorfrcrange="-5 4"'),
    "everything, sparse": dict(actuators=ALL + STUCK, option='jacobian="sparse"'),
}  # fmt: skip
NAMES = "act_dot actuator_length actuator_velocity actuator_force qfrc_actuator qacc".split()


def alike(parts, states=3, tol=1e-10, steps=1):
    """The model in both engines, compared in random states, each followed by a few steps."""
    pair, rng = Pair(WORLD.format(**(EMPTY | parts))), np.random.default_rng(3)
    mm, md, d = pair.mm, pair.md, pair.d
    for _ in range(states):
        randomize(pair, rng)
        pair.forward()
        for name in NAMES:
            assert pair.error(name) < tol, name
        assert error(d._moment_rows, their_moment(pair)) < tol
        mujoco.mj_step(mm, md, steps)
        tisim.step(pair.m, d, steps)
        for name in ("qpos", "qvel", "act"):
            assert pair.error(name) < tol, name
    return pair


def randomize(pair, rng):
    """A random pose near the start, so that what touches goes on doing so."""
    mm, md = pair.mm, pair.md
    mujoco.mj_resetData(mm, md)
    move = rng.normal(size=mm.nv) * np.where(np.arange(mm.nv) < mm.nv - 12, 0.5, 0.001)
    mujoco.mj_integratePos(mm, md.qpos, move, 1)
    md.qvel[:] = rng.normal(size=mm.nv)
    md.ctrl[:], md.act[:] = rng.normal(size=mm.nu), 0.5 * rng.normal(size=mm.na)


def their_moment(pair):
    out, d = np.zeros((pair.mm.nu, pair.mm.nv)), pair.md
    if out.size:
        mujoco.mju_sparse2dense(out, d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind)
    return out


def general(*parts):
    return f"<general {TRANSMISSIONS['hinge']} {' '.join(parts)}/>"


def shortcuts(transmission):
    """MJCF of every shortcut with a transmission; those of sites have no length, as muscles need."""
    texts = [text.format(TRANSMISSIONS[transmission]) for text in SHORTCUTS.values()]
    return "".join(t for t in texts if "muscle" not in t or "site" not in transmission)


def activations(dynamics):
    """MJCF of an activation with every gain and bias."""
    early = [""] if dynamics == "none" else ["", "actearly='true'"]
    parts = itertools.product(GAINS.values(), BIASES.values(), early)
    return "".join(general(DYNAMICS[dynamics], LENGTHS, *p) for p in parts)


@pytest.mark.parametrize("transmission", TRANSMISSIONS)
def test_shortcuts_by_transmission(transmission):
    alike(dict(actuators=shortcuts(transmission)))


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_activations_by_gain_and_bias(dynamics):
    """Each of them with every gain and bias, its force made of the last or the next activation."""
    alike(dict(actuators=activations(dynamics)))


@pytest.mark.parametrize("shortcut", SHORTCUTS)
def test_shortcuts_in_rollouts(shortcut):
    """The state after 40 steps with controls that change at each."""
    pair, rng = Pair(WORLD.format(**(EMPTY | dict(actuators=SHORTCUTS[shortcut].format(TRANSMISSIONS["hinge"]))))), None
    rng = np.random.default_rng(4)
    randomize(pair, rng)
    pair.copy_state()
    for _ in range(40):
        pair.md.ctrl[:] = rng.normal(size=pair.mm.nu)
        pair.d.ctrl[...] = pair.md.ctrl
        mujoco.mj_step(pair.mm, pair.md)
        tisim.step(pair.m, pair.d)
    for name in ("qpos", "qvel", "act"):
        assert pair.error(name) < 1e-7, name


@pytest.mark.parametrize("name", OTHERS)
def test_limits_flags_and_adhesion(name):
    pair = alike(OTHERS[name])
    if "adhesion" in name:
        assert pair.md.ncon > 2 and (np.abs(their_moment(pair)[:2]).max(axis=1) > 0).all()


def test_a_contact_within_a_body_counts_once_for_its_adhesion():
    pair = Pair("""<mujoco><worldbody><geom type="plane" size="2 2 1"/><body name="b" pos="0 0 .09"><freejoint/>
      <geom name="one" size=".1"/><geom name="two" size=".1" pos=".15 0 .02"/></body></worldbody>
      <contact><pair geom1="one" geom2="two"/></contact>
      <actuator><adhesion body="b" gain="5" ctrlrange="0 1"/></actuator></mujoco>""")
    pair.md.ctrl[:], pair.md.qvel[:] = 0.7, np.random.default_rng(0).normal(size=6)
    pair.forward()
    assert pair.md.ncon == 2
    for name in ("actuator_velocity", "qfrc_actuator"):
        assert np.abs(getattr(pair.md, name)).max() > 0.1 and pair.error(name) < 1e-10, name
    assert error(pair.d._moment_rows, their_moment(pair)) < 1e-10


@pytest.mark.parametrize("precision, tol", [("f64", 1e-10), pytest.param("f32", 2e-4, marks=pytest.mark.slow)])
def test_worlds_and_f32(precision, tol):
    """Four worlds in four states equal MuJoCo's, in f32 within 1e-4 of their scale."""
    text = WORLD.format(**(EMPTY | OTHERS["everything"]))
    pair, rng = Pair(text, precision=precision), np.random.default_rng(5)
    d, expected = tisim.Data(pair.m, nworld=4), {name: [] for name in (*NAMES, "actuator_moment")}
    for w in range(4):
        randomize(pair, rng)
        for name in ("qpos", "qvel", "ctrl", "act"):
            getattr(d, name)[w] = getattr(pair.md, name)
        mujoco.mj_forward(pair.mm, pair.md)
        for name in NAMES:
            expected[name].append(getattr(pair.md, name).copy())
        expected["actuator_moment"].append(their_moment(pair))
    tisim.forward(pair.m, d)
    for name in NAMES[:-1]:
        assert error(getattr(d, name), expected[name]) < tol, name
    assert error(d._moment_rows, expected["actuator_moment"]) < tol
    tisim.init(arch="cpu", precision="f64")


def test_what_controls_do_that_are_no_numbers():
    """As in MuJoCo: all controls of the world count as 0, and a warning counts; infinity is clamped to a range."""
    limited = SHORTCUTS["motor"].format('joint="slide"')
    text = WORLD.format(**(EMPTY | dict(actuators=f"<motor name='m' joint='hinge'/>{limited}")))
    for bad, place in itertools.product((np.nan, np.inf, -1e11), (0, 1)):
        pair, kind = Pair(text), mujoco.mjtWarning.mjWARN_BADCTRL
        pair.md.ctrl[:] = 0.3, 0.4
        pair.md.ctrl[place] = bad
        for _ in range(2):
            pair.forward()
        ours, theirs = pair.d.warning[kind], pair.md.warning[kind]
        assert (ours.number, ours.lastinfo) == (theirs.number, theirs.lastinfo)
        assert pair.error("actuator_force") == 0 and pair.error("qacc") < 1e-10
        if theirs.number:
            with pytest.warns(tisim.DivergedWarning, match=r"ctrl\[\d\] of actuator"):
                tisim.step(pair.m, pair.d)
        assert np.isfinite(pair.d.qpos).all()


def test_one_world_with_a_bad_control_leaves_the_others():
    m = tisim.Model.from_xml_string(WORLD.format(**(EMPTY | dict(actuators="<motor joint='hinge'/>"))))
    d = tisim.Data(m, nworld=3)
    d.ctrl = [[1], [np.nan], [2]]
    tisim.forward(m, d)
    assert d.actuator_force.ravel().tolist() == [1, 0, 2]
    assert d.warning[mujoco.mjtWarning.mjWARN_BADCTRL].number.tolist() == [0, 1, 0]


def test_elements_keyframes_and_states_hold_controls_and_activations():
    key = '<keyframe><key name="k" ctrl=".1 .2" act=".3"/></keyframe></mujoco>'
    actuators = "<motor name='m' joint='hinge'/><intvelocity name='i' joint='slide' kp='2' actrange='-1 1'/>"
    text = WORLD.format(**(EMPTY | dict(actuators=actuators))).replace("</mujoco>", key)
    pair = Pair(text)
    mujoco.mj_resetDataKeyframe(pair.mm, pair.md, 0)
    tisim.reset_keyframe(pair.m, pair.d, "k")
    for name in ("ctrl", "act"):
        assert pair.error(name) == 0 and np.any(getattr(pair.d, name))
    pair.d.actuator("m").ctrl = pair.md.actuator("m").ctrl = 0.7
    pair.d.actuator("i").act = 0.5
    pair.md.act[:] = 0.5
    pair.forward()
    for name in ("ctrl", "length", "velocity", "force"):
        for word in ("m", "i"):
            assert error(getattr(pair.d.actuator(word), name), getattr(pair.md.actuator(word), name)) < 1e-12
    assert pair.d.actuator("i").moment.shape == (pair.m.nv,) and pair.d.actuator("i").act_dot.shape == (1,)
    saved = tisim.get_state(pair.m, pair.d)
    assert error(saved, _their_state(pair)) == 0
    tisim.step(pair.m, pair.d, 5)
    end = np.array(pair.d.qpos), np.array(pair.d.act)
    tisim.reset(pair.m, pair.d)
    assert not np.any(pair.d.act) and not np.any(pair.d.ctrl)
    tisim.set_state(pair.m, pair.d, saved)
    tisim.step(pair.m, pair.d, 5)
    assert np.array_equal(pair.d.qpos, end[0]) and np.array_equal(pair.d.act, end[1])


def _their_state(pair):
    sig = mujoco.mjtState.mjSTATE_INTEGRATION
    out = np.zeros(mujoco.mj_stateSize(pair.mm, sig))
    mujoco.mj_getState(pair.mm, pair.md, out, sig)
    return out


def test_models_without_actuators_launch_nothing_for_them():
    from tisim.stages import actuation, tendon

    m = tisim.Model.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    assert actuation.all_kernels(m) == [] and tendon.path_kernels(m) == [] and tendon.passive_kernels(m) == []
