"""Tendons of every kind have MuJoCo's lengths, Jacobians, points, forces and rows, and move as there.

Contract: in random states ten_length, ten_velocity, ten_J, the points of the paths, passive forces, energy and qacc are
MuJoCo 3.4.0's within 1e-9 of their scale, and rollouts stay together; f32 follows within its stated error. The paths of
the compiler, in NumPy, are the kernels' own.
"""

import mujoco
import numpy as np
import pytest
from shared.reference import Pair, error
from test_tendon_paths_equal_mujocos import dense, random_model

import tisim
from tisim.mjcf.reference.kinematics import pose
from tisim.mjcf.reference.tendon_path import tendon_moment

WORLD = """<mujoco><compiler autolimits="true"/><option {option}>{flags}</option>
<default><geom contype="0" conaffinity="0"/><joint damping=".1"/></default><worldbody>
  <site name="w1" pos="0 0 1.5"/><site name="w2" pos=".3 .1 1.4"/><site name="w3" pos="-.3 .4 1"/>
  <geom name="pole" type="cylinder" size=".1 1" pos=".2 0 1" euler="10 20 0"/><site name="beside" pos=".5 0 1"/>
  <body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0"/><joint name="twist" axis="1 0 0"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".05"/><site name="u1" pos=".1 0 .08"/>
    <site name="u2" pos=".3 0 .08"/>
    <geom name="knob" type="sphere" size=".07" pos=".4 0 0"/><site name="above" pos=".4 0 .2"/>
    <site name="within" pos=".4 0 .03"/>
    <body name="lower" pos=".4 0 0"><joint name="elbow" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/>
      <geom name="roll" type="cylinder" size=".06 .1" euler="90 0 0"/><site name="inroll" pos=".01 0 -.02"/>
      <site name="l1" pos=".2 0 .05"/><site name="l2" pos=".28 .02 0"/>
      <body pos=".3 0 0"><joint name="wrist" type="ball"/><geom size=".05"/><site name="h1" pos=".1 0 0"/></body>
    </body></body>
  <body name="ball" pos="-.3 .3 .6"><freejoint/><geom name="stone" size=".1"/><site name="b1" pos="0 0 .15"/>
    <site name="b2" pos=".1 .1 0"/></body>
  <body name="rail" pos="1 0 .5"><joint name="rail" type="slide" axis="0 0 1"/><geom size=".1"/><site name="r1"/></body>
  <body name="moved" mocap="true" pos="-1 0 1"><site name="m1" pos=".1 0 0"/></body>
</worldbody><tendon>{tendons}</tendon><equality>{equality}</equality></mujoco>"""
EMPTY = dict(option="", flags="", tendons="", equality="")


def path(words, **attributes):
    """A spatial tendon: sites, "geom:side" for a geom, a number for a pulley."""
    out = ""
    for word in words.split():
        geom, _, side = word.partition(":")
        if word.replace(".", "").isdigit():
            out += f'<pulley divisor="{word}"/>'
        elif geom in ("pole", "knob", "roll", "stone"):
            out += f'<geom geom="{geom}"' + (f' sidesite="{side}"/>' if side else "/>")
        else:
            out += f'<site site="{word}"/>'
    given = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return f"<spatial {given}>{out}</spatial>"


def fixed(*joints, **attributes):
    given = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return f"<fixed {given}>" + "".join(f'<joint joint="{j}" coef="{c}"/>' for j, c in joints) + "</fixed>"


ARM, SPRING = "w1 u1 u2 l1", dict(stiffness=20, damping=2)
FIXED = (("shoulder", 1), ("elbow", -0.7), ("rail", 0.3))
TENDONS = {
    "fixed": fixed(*FIXED), "fixed with a joint twice": fixed(("elbow", 2), ("shoulder", 1), ("elbow", 0.5)),
    "sites of one body": path("u1 u2"), "sites of the world": path("w1 w2 w3"), "sites of a chain": path(ARM),
    "sites of two trees": path("w1 u1 b1 l2"), "sites of a ball joint": path("w1 h1"),
    "sites of a mocap body": path("m1 b2 l1"), "a site visited twice": path("w1 l1 w1 l2"),
    "pulley": path("w1 u1 2 u1 l1"), "pulleys": path("w1 u1 2 u1 l1 4 w2 b1 0.5 w3 h1"),
    "pulley first": path("2 w1 l1"),
    "sphere": path("u2 knob l1"), "sphere on a side": path("u2 knob:above l1"),
    "sphere inside": path("u2 knob:within l1"),
    "sphere of another tree": path("w3 stone l1"), "sphere from the world": path("w1 knob h1"),
    "cylinder": path("w2 pole u2"), "cylinder on a side": path("w2 pole:beside u2"),
    "cylinder that turns": path("u2 roll l1"), "cylinder inside": path("u1 roll:inroll l1"),
    "cylinder between the world's sites": path("w1 roll w2 stone:b1 w3"),
    "two geoms": path("w1 knob u1 roll:inroll l2"),
    "geoms and pulleys": path("w1 pole u2 2 u2 knob:above l1 3 w2 stone b2"),
    "spring": path(ARM, **SPRING), "spring with a dead band": path(ARM, springlength=".6 1", **SPRING),
    "spring of a length": path(ARM, springlength=".4", **SPRING), "spring round a geom": path("w1 knob h1", **SPRING),
    "damper": path("w1 u1 2 b1 l1", damping=3), "spring of a fixed tendon": fixed(*FIXED, **SPRING),
    "fixed with a dead band": fixed(*FIXED, springlength="-.2 .1", **SPRING),
    "springs of two": path(ARM, **SPRING) + path("w3 b1", **SPRING) + fixed(*FIXED, damping=1),
    "limit": path(ARM, range=".2 .7", margin=".05"), "limit round a geom": path("w1 knob h1", range=".1 .6"),
    "limit between trees": path("b1 l1", range=".1 .5", solreflimit=".05 1"),
    "friction loss": path("w1 u1 l1", frictionloss="2"),
    "friction loss over pulleys": path("w1 u1 2 b1 l1", frictionloss="2"),
    "fixed with all": fixed(*FIXED, range="-.1 .1", frictionloss=".3", **SPRING),
    "armature": path(ARM, armature=2), "armature of a fixed tendon": fixed(*FIXED, armature=3),
    "armature over pulleys": path("w1 u1 2 u1 l1 4 w2 h1", armature=2),
    "armature between trees": path("u1 b1 l1", armature=2), "armature of a free body": path("w1 b1", armature=2),
    "armature of a ball joint": path("l1 h1 u2", armature=2),
    "armature and a limit": path(ARM, armature=2, range=".2 .7"),
    "armatures": path(ARM, armature=1) + path("w3 b1 h1", armature=0.02, range=".1 .5") + fixed(*FIXED, armature=1),
    "all": path("w1 knob h1", range=".1 .6", frictionloss=".3", **SPRING) + path("w2 pole:beside u2 3 u1 b1", **SPRING),
}  # fmt: skip
MODELS = {name: dict(tendons=text) for name, text in TENDONS.items()}
MODELS |= {
    "equality of spatial tendons": dict(
        tendons=path("w1 knob l1", name="a") + path("w3 b1", name="b"),
        equality='<tendon tendon1="a" tendon2="b" polycoef=".1 .5 .2 0 0"/>'),
    "equality of one": dict(tendons=path("w1 u1 2 b1 l1", name="a"), equality='<tendon tendon1="a"/>'),
    "without springs": dict(tendons=TENDONS["all"], flags='<flag spring="disable"/>'),
    "without dampers": dict(tendons=TENDONS["all"], flags='<flag damper="disable"/>'),
    "sparse": dict(tendons=TENDONS["all"] + TENDONS["fixed with a joint twice"], option='jacobian="sparse"'),
    "everything": dict(tendons="".join(TENDONS.values())),
}  # fmt: skip
POSITION = "ten_length ten_velocity ten_wrapadr ten_wrapnum wrap_obj wrap_xpos".split()
FORCES = "qfrc_spring qfrc_damper qfrc_passive energy M qfrc_bias qLDiagInv qacc nefc".split()


def text_of(name):
    """MJCF of a model of MODELS."""
    parts = EMPTY | MODELS[name]
    parts["flags"] = parts["flags"].replace("<flag", '<flag energy="enable"') or '<flag energy="enable"/>'
    return WORLD.format(**parts)


def pair_of(name, precision="f64"):
    return Pair(text_of(name), precision=precision)


def randomize(pair, rng):
    mujoco.mj_integratePos(pair.mm, pair.md.qpos, rng.normal(size=pair.mm.nv) * 0.5, 1)
    pair.md.qvel[:] = rng.normal(size=pair.mm.nv)
    pair.md.mocap_pos[:] = rng.normal(size=(1, 3))


def their_points(pair):
    """MuJoCo leaves what is behind the last point as it was."""
    end = pair.md.ten_wrapadr[-1] + pair.md.ten_wrapnum[-1]
    return end, pair.md.wrap_obj.ravel()[:end], pair.md.wrap_xpos.reshape(-1, 3)[:end]


@pytest.mark.parametrize("name", MODELS)
def test_tendon(name):
    pair, rng = pair_of(name), np.random.default_rng(1)
    for _ in range(4):
        randomize(pair, rng)
        pair.forward()
        for field in ("ten_length", "ten_velocity", "ten_wrapadr", "ten_wrapnum", *FORCES):
            assert pair.error(field) < 1e-9, field
        assert error(pair.d.ten_J, dense(pair.mm, pair.md)) < 1e-10
        end, obj, xpos = their_points(pair)
        assert np.array_equal(pair.d.wrap_obj.ravel()[:end], obj)
        assert error(pair.d.wrap_xpos.reshape(-1, 3)[:end], xpos) < 1e-10
    for _ in range(25):
        mujoco.mj_step(pair.mm, pair.md)
    tisim.step(pair.m, pair.d, 25)
    for field in ("qpos", "qvel"):
        assert pair.error(field) < 1e-6, field


@pytest.mark.parametrize("seed", range(2))
def test_kernels_and_the_compiler_agree(seed):
    """150 random paths in random poses: NumPy's lengths and moments are the kernels'."""
    rng = np.random.default_rng(seed)
    m = tisim.Model.from_xml_string(random_model(rng))
    arrays = {name: np.asarray(value) for name, value in m._arrays.items()}
    d = tisim.Data(m, nworld=4)
    qpos = rng.normal(size=(4, m.nq))
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1, keepdims=True)
    qpos[:, -4:] /= np.linalg.norm(qpos[:, -4:], axis=1, keepdims=True)
    d.qpos = qpos
    tisim.forward(m, d)
    for w in range(4):
        length, rows, cols, values = tendon_moment(arrays, pose(arrays, qpos[w]))
        moment = np.zeros((m.ntendon, m.nv))
        moment[rows, cols] = values
        assert error(d.ten_length[w], length) < 1e-12 and error(d.ten_J[w], moment) < 1e-12


def test_f32_is_close():
    """Lengths and Jacobians within 1e-5, forces within 1e-3, accelerations within 1e-2 of their scale."""
    pair, rng = pair_of("everything", "f32"), np.random.default_rng(1)
    for _ in range(4):
        randomize(pair, rng)
        pair.forward()
        assert pair.error("ten_length") < 1e-5 and error(pair.d.ten_J, dense(pair.mm, pair.md)) < 1e-5
        assert pair.error("qfrc_passive") < 1e-3 and pair.error("qacc") < 1e-2
    tisim.init(arch="cpu", precision="f64")


def test_elements_are_read_by_name_and_not_written():
    pair = Pair(WORLD.format(**(EMPTY | dict(tendons=path(ARM, name="rope") + fixed(*FIXED, name="sum")))))
    pair.md.qvel[:] = 0.3
    pair.forward()
    for name in ("rope", "sum"):
        for field in ("length", "velocity", "J"):
            mine, theirs = getattr(pair.d.tendon(name), field), getattr(pair.md.tendon(name), field)
            assert error(mine, theirs) < 1e-12 and np.shape(mine) == np.shape(theirs), field
    for write in (lambda d: d.tendon("rope").__setattr__("J", 0), lambda d: setattr(d, "ten_J", 0)):
        with pytest.raises(tisim.Error):
            write(pair.d)


def test_springs_and_dampers_may_be_written():
    """As in MuJoCo: what the user writes to the model acts in the next step."""
    pair = pair_of("springs of two")
    for model in (pair.mm, pair.m):
        model.tendon_stiffness[0], model.tendon_damping[0], model.tendon_damping[1] = 0, 0, 5
    pair.md.qvel[:] = 0.2
    pair.forward()
    assert pair.error("qfrc_passive") < 1e-12 and pair.error("qacc") < 1e-10
