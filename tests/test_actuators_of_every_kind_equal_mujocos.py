"""Random actuators below random default classes compile to MuJoCo's numbers, or both refuse them.

Shortcuts in a default class all write the same record, in their order; what an element of another kind then inherits is
what this test is about. Break it: let a shortcut reset a parameter that MuJoCo leaves alone.
"""

import random

import mujoco
import numpy as np
import pytest
from shared.compiled import their_model

from tisim import Model
from tisim.errors import MjcfError

WORLD = """
  <site name="w" pos="1 2 3" euler="10 20 30"/>
  <body name="root" pos=".1 .2 .3" euler="30 20 10"><freejoint name="free"/><geom size=".1"/>
    <site name="u" pos=".1 .1 .2" euler="40 10 20"/>
    <body pos=".3 0 0" euler="10 80 10"><joint name="ball" type="ball"/><geom size=".1" pos=".1 .1 .1"/>
      <site name="t" pos=".1 .2 .3" euler="50 60 10"/>
      <body pos=".1 .2 .3"><joint name="hinge" ref="30" range="-10 20"/><geom size=".1"/>
        <joint name="slide" type="slide" axis="1 1 0"/><site name="v" euler="10 0 0"/></body></body></body>
  <body><joint name="alone" range="0 50"/><geom size=".1" pos=".1 0 .1"/></body>"""
TENDON = """<tendon><fixed name="fixed" range="-1 1"><joint joint="hinge" coef="2"/>
  <joint joint="alone" coef="-1"/></fixed>
  <spatial name="rope"><site site="w"/><site site="t"/><site site="v"/></spatial></tendon>"""

NUMBER = ["0", "1", "-1", "0.5", "2", "3.5"]
POSITIVE = ["0", "1", "0.3", "2"]
LIMITED = ["true", "false", "auto", "auto", "auto"]
RANGES = ["0 2", "0 2", "0.5 0.75", "0.5 0.75", "-1 1", "0 0", "1 0"]
COMMON = dict(group=["0", "3"], gear=["2", "1 2 3", "-1 0 2 1 0 1"], forcelimited=LIMITED, forcerange=RANGES,
              ctrlrange=RANGES, user=["1", "4 5"])  # fmt: skip
PARAMETERS = ["1", "2 -2 0.5", "3 0 -1", "0.6 1.1 30 100 0.5 1.5 1 1.2 1.1", "0 -3 1"]
SERVO = dict(kp=NUMBER, kv=POSITIVE + ["-1"], dampratio=POSITIVE, inheritrange=["0", "1", "0.5"])
OWN = {
    "general": dict(dyntype=["none", "integrator", "filter", "filterexact", "muscle", "user"],
                    actdim=["0", "1", "3", "-1"],
                    gaintype=["fixed", "affine", "muscle", "user"], biastype=["none", "affine", "muscle", "user"],
                    dynprm=PARAMETERS, gainprm=PARAMETERS, biasprm=PARAMETERS, actearly=["true", "false"],
                    actlimited=LIMITED, actrange=RANGES, ctrllimited=LIMITED),
    "motor": dict(ctrllimited=LIMITED),
    "position": dict(ctrllimited=LIMITED, timeconst=POSITIVE, **SERVO),
    "velocity": dict(ctrllimited=LIMITED, kv=NUMBER),
    "intvelocity": dict(ctrllimited=LIMITED, actrange=RANGES, **SERVO),
    "damper": dict(kv=POSITIVE),
    "cylinder": dict(ctrllimited=LIMITED, timeconst=NUMBER, bias=["1 2 3"], area=NUMBER, diameter=NUMBER),
    "muscle": dict(ctrllimited=LIMITED, timeconst=["0.1 0.2", "-1 0.3"], range=["0.6 1.1", "-1 2", "0 1"], force=NUMBER,
                   scale=["10", "-1", "2"], lmin=["0.3", "-1"], lmax=["1.8", "-1"], vmax=["2", "-1"], fpmax=["1", "-1"],
                   fvmax=["1.1", "-1"]),
    "adhesion": dict(gain=NUMBER),
}  # fmt: skip
NEEDED = dict(damper=dict(ctrlrange="0 2"), adhesion=dict(ctrlrange="0 1"), intvelocity=dict(actrange="-1 1"))
TARGETS = [
    dict(joint="hinge"), dict(joint="alone"), dict(jointinparent="slide"), dict(joint="ball"),
    dict(jointinparent="ball"),
    dict(joint="free"), dict(jointinparent="free"), dict(site="t"), dict(site="t", refsite="u"),
    dict(site="v", refsite="w"), dict(cranksite="t", slidersite="w", cranklength="4"),
    dict(cranksite="v", slidersite="u", cranklength="0.1"), dict(tendon="fixed"), dict(tendon="rope"),
]  # fmt: skip


def element(rng, kind, many, **fixed):
    choices = {**COMMON, **OWN[kind]}
    if kind == "adhesion":
        del choices["gear"]
    chosen = rng.sample(sorted(choices), rng.randint(0, min(many, len(choices))))
    attrib = {name: rng.choice(choices[name]) for name in chosen} | fixed
    if rng.random() < 0.9:  # without a range these are refused
        attrib = {**NEEDED.get(kind, {}), **attrib}
    return f"<{kind} " + " ".join(f'{name}="{value}"' for name, value in attrib.items()) + "/>"


def model(rng):
    def defaults():
        kinds = rng.sample(sorted(OWN), rng.randint(0, 2))
        return "".join(element(rng, kind, 2) for kind in kinds)

    classes = f'{defaults()}<default class="a">{defaults()}<default class="b">{defaults()}</default></default>'
    actuators = []
    for _ in range(2):
        kind = rng.choice(sorted(OWN))
        target = dict(body="root") if kind == "adhesion" else rng.choice(TARGETS)
        if kind == "muscle":
            target = {k: v for k, v in target.items() if "site" not in k} or dict(joint="hinge")
            target.pop("cranklength", None)
        fixed = dict(target, **{"class": rng.choice(["main", "a", "b"])})
        if kind != "adhesion":
            fixed["lengthrange"] = "0 1"
        actuators.append(element(rng, kind, 3, **fixed))
    return (f'<mujoco><compiler><lengthrange mode="none"/></compiler><default>{classes}</default>'
            f"<worldbody>{WORLD}</worldbody>{TENDON}<actuator>{''.join(actuators)}</actuator></mujoco>")  # fmt: skip


FIELDS = [name for name in dir(mujoco.MjModel) if name.startswith("actuator_")] + ["nu", "na", "nuser_actuator"]


@pytest.mark.parametrize("seed", range(10))
def test_numbers_or_refusal_agree(seed):
    rng, compiled = random.Random(seed), 0
    for _ in range(40):
        text = model(rng)
        theirs = their_model(text)
        try:
            ours = Model.from_xml_string(text)
        except MjcfError as e:
            # a damping ratio with negative kp is nan in MuJoCo, an error here
            assert theirs is None or ("dampratio" in str(e) and np.isnan(theirs.actuator_biasprm).any()), (text, str(e))
            continue
        assert theirs is not None, text
        compiled += 1
        for name in FIELDS:
            a, b = np.asarray(getattr(ours, name), float), np.asarray(getattr(theirs, name), float)
            assert a.shape == b.shape, (name, text)
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=f"{name} of {text}")
    assert compiled > 8
