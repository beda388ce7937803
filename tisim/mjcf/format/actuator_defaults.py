"""What an actuator element writes: one record of general parameters, which every shortcut fills in its own way.

Default classes hold the same record, so a shortcut in a class changes what elements of every kind inherit: each writes
over what is there, field by field, and the last one wins. After MuJoCo's reader and `mjs_setTo...` functions (3.4.0,
Apache-2.0), whose rules for what a shortcut leaves alone are kept.
"""

import math

from tisim.enums import mjtBias, mjtDyn, mjtGain, mjtTrn

# The record before any class or element: mjsActuator's defaults. None of the values is changed in place.
GENERAL = dict(
    group=0, ctrllimited=2, forcelimited=2, actlimited=2, ctrlrange=[0.0] * 2, forcerange=[0.0] * 2,
    actrange=[0.0] * 2, lengthrange=[0.0] * 2, gear=[1.0] + [0.0] * 5, trntype=int(mjtTrn.mjTRN_UNDEFINED), target="",
    cranklength=0.0, slidersite="", refsite="", dyntype=0, gaintype=0, biastype=0, dynprm=[1.0] + [0.0] * 9,
    gainprm=[1.0] + [0.0] * 9, biasprm=[0.0] * 10, actearly=0, actdim=-1, inheritrange=0.0, user=[],
)  # fmt: skip

TRANSMISSIONS = {
    "joint": mjtTrn.mjTRN_JOINT, "jointinparent": mjtTrn.mjTRN_JOINTINPARENT, "tendon": mjtTrn.mjTRN_TENDON,
    "cranksite": mjtTrn.mjTRN_SLIDERCRANK, "site": mjtTrn.mjTRN_SITE, "body": mjtTrn.mjTRN_BODY,
}  # fmt: skip
PLAIN = ("group", "ctrllimited", "forcelimited", "actlimited", "ctrlrange", "forcerange", "actrange", "lengthrange",
         "cranklength", "slidersite", "refsite", "user")  # fmt: skip
MUSCLE = dict(force=2, scale=3, lmin=4, lmax=5, vmax=6, fpmax=7, fvmax=8)  # places in gainprm
MUSCLE_GAIN = [0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2]


def apply(base, tag, own, node):
    """The record after an element `tag` with its attributes `own` was applied to the record base.

    Raises MjcfError at node where the element contradicts itself.
    """
    out = dict(base)
    for name in PLAIN:
        if name in own:
            out[name] = own[name]
    if "gear" in own:
        out["gear"] = _over(base["gear"], own["gear"])
    _transmission(out, own, node)
    problem = SHORTCUTS[tag](out, own)
    if problem:
        raise node.error(problem)
    return out


def _over(base, values):
    return [*values, *base[len(values) :]]


def _put(out, name, **places):
    """Replaces numbers of a list by their place: _put(out, "biasprm", _1=-kp)."""
    values = list(out[name])
    for place, value in places.items():
        values[int(place[1:])] = value
    out[name] = values


def _types(out, dyn=None, gain=mjtGain.mjGAIN_FIXED, bias=mjtBias.mjBIAS_NONE):
    if dyn is not None:
        out["dyntype"] = int(dyn)
    out["gaintype"], out["biastype"] = int(gain), int(bias)


def _transmission(out, own, node):
    given = [name for name in TRANSMISSIONS if name in own]
    if len(given) > 1:
        raise node.error(f"an actuator acts on one thing only, found {' and '.join(map(repr, given))}")
    if given:
        out["target"], out["trntype"] = own[given[0]], int(TRANSMISSIONS[given[0]])
    kind = out["trntype"]
    if kind not in (mjtTrn.mjTRN_SLIDERCRANK, mjtTrn.mjTRN_UNDEFINED):
        for name in ("cranklength", "slidersite"):
            if name in own:
                raise node.error(f"'{name}' needs the transmission 'cranksite'")
    if "refsite" in own and kind not in (mjtTrn.mjTRN_SITE, mjtTrn.mjTRN_UNDEFINED):
        raise node.error("'refsite' needs the transmission 'site'")


# The functions below return None or what is wrong, as MuJoCo's do; what they wrote before they found it stays.


def _general(out, own):
    for name in ("dyntype", "gaintype", "biastype", "actearly", "actdim"):
        if name in own:
            out[name] = own[name]
    for name in ("dynprm", "gainprm", "biasprm"):
        if name in own:
            out[name] = _over(out[name], own[name])


def _motor(out, own):
    _put(out, "gainprm", _0=1.0)
    _types(out, mjtDyn.mjDYN_NONE)


def _position(out, own):
    kp = own.get("kp", out["gainprm"][0])
    _put(out, "gainprm", _0=kp)
    _put(out, "biasprm", _1=-kp)
    if "kv" in own and "dampratio" in own:
        return "'kv' and 'dampratio' exclude each other"
    for name, sign in (("kv", -1), ("dampratio", 1)):
        if name in own:
            if own[name] < 0:
                return f"'{name}' cannot be negative"
            # a positive biasprm[2] is a damping ratio until the inertia is known
            _put(out, "biasprm", _2=sign * own[name])
    if "timeconst" in own:
        if own["timeconst"] < 0:
            return "'timeconst' cannot be negative"
        _put(out, "dynprm", _0=own["timeconst"])
        out["dyntype"] = int(mjtDyn.mjDYN_FILTEREXACT if own["timeconst"] else mjtDyn.mjDYN_NONE)
    out["inheritrange"] = own.get("inheritrange", out["inheritrange"])
    if out["inheritrange"] > 0 and any(out["ctrlrange"]):
        return "'ctrlrange' and 'inheritrange' exclude each other"
    _types(out, bias=mjtBias.mjBIAS_AFFINE)


def _intvelocity(out, own):
    _position(out, own)  # MuJoCo ignores what this finds wrong
    out["dyntype"], out["actlimited"] = int(mjtDyn.mjDYN_INTEGRATOR), 1
    inherit = own.get("inheritrange", out["inheritrange"])
    if inherit > 0 and any(out["actrange"]):
        return "'actrange' and 'inheritrange' exclude each other"


def _velocity(out, own):
    kv = own.get("kv", out["gainprm"][0])
    _put(out, "gainprm", _0=kv)
    out["biasprm"] = [0.0, 0.0, -kv] + [0.0] * 7
    _types(out, mjtDyn.mjDYN_NONE, bias=mjtBias.mjBIAS_AFFINE)


def _damper(out, own):
    kv = own.get("kv", 0.0)
    out["gainprm"] = [0.0, 0.0, -kv] + [0.0] * 7
    out["ctrllimited"] = 1
    _types(out, mjtDyn.mjDYN_NONE, gain=mjtGain.mjGAIN_AFFINE)
    if kv < 0:
        return "'kv' cannot be negative"
    if min(out["ctrlrange"]) < 0:
        return "'ctrlrange' of a damper cannot be negative"


def _cylinder(out, own):
    _put(out, "dynprm", _0=own.get("timeconst", out["dynprm"][0]))
    # of the three numbers of `bias` MuJoCo 3.4.0 keeps the first
    _put(out, "biasprm", _0=own["bias"][0] if "bias" in own else out["biasprm"][0])
    area = own.get("area", out["gainprm"][0])
    if own.get("diameter", -1) >= 0:
        area = math.pi / 4 * own["diameter"] * own["diameter"]
    _put(out, "gainprm", _0=area)
    _types(out, mjtDyn.mjDYN_FILTER, bias=mjtBias.mjBIAS_AFFINE)


def _muscle(out, own):
    # what still has its general default gets a muscle's
    dyn, gain = list(out["dynprm"]), list(out["gainprm"])
    dyn[0], dyn[1] = 0.01 if dyn[0] == 1 else dyn[0], 0.04 if dyn[1] == 0 else dyn[1]
    for i, value in enumerate(MUSCLE_GAIN):
        gain[i] = value if gain[i] == GENERAL["gainprm"][i] else gain[i]
    dyn[2] = own.get("tausmooth", dyn[2])
    for i in (0, 1):
        dyn[i] = own["timeconst"][i] if own.get("timeconst", (-1, -1))[i] >= 0 else dyn[i]
        gain[i] = own["range"][i] if own.get("range", (-1, -1))[i] >= 0 else gain[i]
    for name, i in MUSCLE.items():
        gain[i] = own[name] if own.get(name, -1) >= 0 else gain[i]
    if dyn[2] < 0:
        return "'tausmooth' cannot be negative"
    out["dynprm"], out["gainprm"] = dyn, gain
    out["biasprm"] = [*gain[:9], out["biasprm"][9]]
    _types(out, mjtDyn.mjDYN_MUSCLE, mjtGain.mjGAIN_MUSCLE, mjtBias.mjBIAS_MUSCLE)


def _adhesion(out, own):
    gain = own.get("gain", out["gainprm"][0])
    _put(out, "gainprm", _0=gain)
    out["ctrllimited"] = 1
    _types(out)
    if gain < 0:
        return "'gain' cannot be negative"
    if min(out["ctrlrange"]) < 0:
        return "'ctrlrange' of an adhesion actuator cannot be negative"


SHORTCUTS = dict(
    general=_general, motor=_motor, position=_position, velocity=_velocity, intvelocity=_intvelocity, damper=_damper,
    cylinder=_cylinder, muscle=_muscle, adhesion=_adhesion,
)  # fmt: skip
