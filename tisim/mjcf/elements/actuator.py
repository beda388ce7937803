"""Actuators: from elements to the arrays actuator_*, and what follows from the reference pose."""

import numpy as np

from tisim.enums import mjtBias, mjtDyn, mjtGain, mjtJoint, mjtObj, mjtSleepPolicy, mjtTrn
from tisim.errors import each

from ..format import actuator_defaults
from ..format.defaults import class_of
from ..scene.items import column, first, limits, unique_names, user_data
from .object_names import Names
from .tendon import wrap_trees

# more activations than this come from a mistyped or hostile actdim, and would not fit in memory
MAX_ACT = 10_000_000

TARGETS = {
    mjtTrn.mjTRN_JOINT: (mjtObj.mjOBJ_JOINT, "joint"), mjtTrn.mjTRN_JOINTINPARENT: (mjtObj.mjOBJ_JOINT, "joint"),
    mjtTrn.mjTRN_SLIDERCRANK: (mjtObj.mjOBJ_SITE, "site"), mjtTrn.mjTRN_TENDON: (mjtObj.mjOBJ_TENDON, "tendon"),
    mjtTrn.mjTRN_SITE: (mjtObj.mjOBJ_SITE, "site"), mjtTrn.mjTRN_BODY: (mjtObj.mjOBJ_BODY, "body"),
}  # fmt: skip


def compile_actuators(a, items, width, out):
    """Arrays actuator_* of the elements in the actuator section, except acc0 and length0 (see set_actuators).

    width  nuser_actuator, -1 for the longest `user`. Raises MjcfError where an actuator breaks a rule.
    """
    for item in items:
        inherited = class_of(item.space.scope.classes, item.node.attrib.get("class", "main"), item.node)["general"]
        item.attrib = actuator_defaults.apply(inherited, item.node.tag, item.attrib, item.node)
    own = {name: column(items, name, dtype=np.int32) for name in ("trntype", "dyntype", "gaintype", "biastype")}
    own |= {name: column(items, name, 10) for name in ("dynprm", "gainprm", "biasprm")}
    own |= {name: column(items, name, 2) for name in ("ctrlrange", "forcerange", "actrange", "lengthrange")}
    own |= dict(cranklength=column(items, "cranklength"), gear=column(items, "gear", 6))
    own["trnid"] = _targets(items, own["trntype"], own["cranklength"], out)
    _inherit_ranges(a, items, own)

    for name in ("ctrl", "force", "act"):
        flag, values = f"{name}limited", own[f"{name}range"]
        own[flag] = limits(items, flag, column(items, flag, dtype=np.int32), values)
        bad = (own[flag] > 0) & (values[:, 0] >= values[:, 1])
        first(items, bad, f"{name}range[0] must be smaller than {name}range[1]")
    stateless = own["dyntype"] == mjtDyn.mjDYN_NONE
    first(items, (own["actlimited"] > 0) & stateless, "'actrange' needs a 'dyntype': this actuator has no activation")
    number = _activations(items, stateless, own["dyntype"])
    _check_muscles(items, own["gaintype"] == mjtGain.mjGAIN_MUSCLE, own["gainprm"])
    _check_muscles(items, own["biastype"] == mjtBias.mjBIAS_MUSCLE, own["biasprm"])
    own |= dict(
        actadr=np.where(number > 0, np.cumsum(number) - number, -1).astype(np.int32), actnum=number.astype(np.int32),
        actearly=column(items, "actearly", dtype=np.uint8), user=user_data(items, width, "actuator"),
        group=column(items, "group", dtype=np.int32), plugin=np.full(len(items), -1, np.int32),
    )  # fmt: skip
    a.update({f"actuator_{name}": values for name, values in own.items()})
    stay_awake(a)
    out.sizes["na"] = int(number.sum())
    out.names[mjtObj.mjOBJ_ACTUATOR] = unique_names(items, mjtObj.mjOBJ_ACTUATOR)


def _targets(items, kind, crank, out):
    """(nu, 2) ids of what the actuators act on, the second one of a slider or reference site or -1."""
    first(items, [not item.attrib["target"] for item in items],
          "an actuator needs one of joint, jointinparent, tendon, site, cranksite or body")  # fmt: skip
    slider_crank = kind == mjtTrn.mjTRN_SLIDERCRANK
    first(items, slider_crank & np.array([not item.attrib["slidersite"] for item in items], bool),
          "a slider-crank needs a 'slidersite'")  # fmt: skip
    first(items, slider_crank & (crank <= 0), "'cranklength' must be positive")
    ids = Names(out.names)

    def find(pair):
        item, k = pair
        what, word = TARGETS[k]
        other = item.attrib.get({mjtTrn.mjTRN_SLIDERCRANK: "slidersite", mjtTrn.mjTRN_SITE: "refsite"}.get(k))
        second = item.find(ids.of(mjtObj.mjOBJ_SITE), other, "site") if other else -1
        return item.find(ids.of(what), item.attrib["target"], word), second

    return np.array(each(find, zip(items, kind.tolist())), np.int32).reshape(-1, 2)


def _inherit_ranges(a, items, own):
    """Writes the control (position) or activation (intvelocity) ranges that follow from the target's range.

    own  arrays of the actuators, without the prefix of their names.
    """
    share, dyn, kind, target = column(items, "inheritrange"), own["dyntype"], own["trntype"], own["trnid"][:, 0]
    servo = (own["gaintype"] == mjtGain.mjGAIN_FIXED) & (own["biastype"] == mjtBias.mjBIAS_AFFINE)
    servo &= own["gainprm"][:, 0] == -own["biasprm"][:, 1]
    wanted = servo & (share > 0)
    if not wanted.any():
        return
    by_ctrl = (dyn == mjtDyn.mjDYN_NONE) | (dyn == mjtDyn.mjDYN_FILTEREXACT)
    by_act = dyn == mjtDyn.mjDYN_INTEGRATOR
    first(items, wanted & ~by_ctrl & ~by_act, "'inheritrange' is for position and intvelocity actuators")
    joint, tendon = kind == mjtTrn.mjTRN_JOINT, kind == mjtTrn.mjTRN_TENDON
    first(items, wanted & ~joint & ~tendon, "'inheritrange' needs a joint or a tendon")
    source = np.zeros((len(items), 2))
    rows = np.flatnonzero(wanted & joint)
    scalar = np.ones(len(items), bool)
    scalar[rows] = a["jnt_type"][target[rows]] >= mjtJoint.mjJNT_SLIDE
    first(items, ~scalar, "'inheritrange' needs a hinge or slide joint")
    source[rows] = a["jnt_range"][target[rows]]
    rows = np.flatnonzero(wanted & tendon)
    if len(rows):
        source[rows] = a["tendon_range"][target[rows]]
    first(items, wanted & (source[:, 0] == source[:, 1]), "'inheritrange': the joint or tendon has no range")
    middle, radius = 0.5 * (source[:, 1] + source[:, 0]), 0.5 * (source[:, 1] - source[:, 0]) * share
    inherited = np.stack([middle - radius, middle + radius], 1)
    for name, mine in (("ctrlrange", by_ctrl), ("actrange", by_act)):
        own[name][wanted & mine] = inherited[wanted & mine]


def _activations(items, stateless, dyn):
    """(nu,) number of activation variables of each actuator."""
    number = column(items, "actdim", dtype=np.int64)
    first(items, (number > 1) & (dyn != mjtDyn.mjDYN_USER), "'actdim' above 1 needs dyntype 'user'")
    first(items, (number == 1) & stateless, "'actdim' must be 0 where dyntype is 'none'")
    first(items, (number == 0) & ~stateless, "'actdim' cannot be 0 with this dyntype")
    number = np.where(number < 0, ~stateless, number)
    first(items, np.cumsum(number) > MAX_ACT, f"the actuators have more than {MAX_ACT:,} activations")
    return number


def _check_muscles(items, mine, prm):
    first(items, mine & (prm[:, 0] >= prm[:, 1]), "range[0] of a muscle must be smaller than range[1]")
    first(items, mine & ((prm[:, 4] >= 1) | (prm[:, 5] <= 1)), "a muscle needs lmin < 1 < lmax")
    bad = (prm[:, [3, 6, 7, 8]] <= 0).any(1)
    first(items, mine & bad, "scale, vmax, fpmax and fvmax of a muscle must be positive")


def stay_awake(a):
    """Trees that an actuator acts on do not fall asleep on their own."""
    kind, target = a["actuator_trntype"], a["actuator_trnid"][:, 0]
    bodies = [target[kind == mjtTrn.mjTRN_BODY]]
    for what, kinds in (("jnt", (mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT)),
                        ("site", (mjtTrn.mjTRN_SITE, mjtTrn.mjTRN_SLIDERCRANK))):  # fmt: skip
        bodies.append(a[f"{what}_bodyid"][target[np.isin(kind, kinds)]])
    pulled = np.zeros(len(a["tendon_num"]), bool)
    pulled[target[kind == mjtTrn.mjTRN_TENDON]] = True
    along = wrap_trees(a)[np.repeat(pulled, a["tendon_num"])]
    tree = np.concatenate([a["body_treeid"][np.concatenate(bodies)], along])
    policy = a["tree_sleep_policy"]
    tree = tree[tree >= 0]
    tree = tree[policy[tree] == mjtSleepPolicy.mjSLEEP_AUTO_ALLOWED]
    policy[tree] = mjtSleepPolicy.mjSLEEP_AUTO_NEVER
