"""Equality constraints: from merged attributes to model arrays. Seed 004, "Equality constraints"."""

import numpy as np

from tisim.enums import mjtEq, mjtJoint, mjtObj
from tisim.errors import each

from ..scene.items import column, first, unique_names
from .object_names import Names

TYPES = {
    "connect": mjtEq.mjEQ_CONNECT, "weld": mjtEq.mjEQ_WELD, "joint": mjtEq.mjEQ_JOINT, "tendon": mjtEq.mjEQ_TENDON,
}  # fmt: skip
KINDS = {
    "body": mjtObj.mjOBJ_BODY, "site": mjtObj.mjOBJ_SITE, "joint": mjtObj.mjOBJ_JOINT, "tendon": mjtObj.mjOBJ_TENDON,
}  # fmt: skip

# eq_data of what a file does not say. connect and weld: anchor, then anchor or relative position (3), quaternion (4),
# torque scale; joint and tendon: the five coefficients.
DATA = [0.0, 1.0, *[0.0] * 8, 1.0]


def compile_equalities(a, items, out):
    """Arrays eq_* and the names of the equality constraints; bodies, joints, sites and tendons have theirs already."""
    out.names[mjtObj.mjOBJ_EQUALITY] = unique_names(items, mjtObj.mjOBJ_EQUALITY)
    ids = Names(out.names)
    what = [_objects(item) for item in items]

    def find(pair):
        item, name = pair
        one, two = item.attrib.get(f"{name}1"), item.attrib.get(f"{name}2")
        known, missing = ids.of(KINDS[name]), 0 if name == "body" else -1
        return item.find(known, one, name), item.find(known, two, name) if two or name == "site" else missing

    ends = np.array(each(find, zip(items, what)), np.int32).reshape(-1, 2)
    first(items, ends[:, 0] == ends[:, 1], "an equality constraint needs two different objects")
    kind = np.array([TYPES[item.node.tag] for item in items], np.int32)
    scalar = np.append(a["jnt_type"] >= mjtJoint.mjJNT_SLIDE, True)  # the last one stands for no joint
    joint = np.where((kind == mjtEq.mjEQ_JOINT)[:, None], ends, -1)
    first(items, ~scalar[joint].all(1), "only hinge and slide joints can be coupled")
    a.update(
        eq_type=kind, eq_obj1id=ends[:, 0].copy(), eq_obj2id=ends[:, 1].copy(),
        eq_objtype=np.array([KINDS[name] if name in ("body", "site") else 0 for name in what], np.int32),
        eq_active0=column(items, "active", dtype=np.uint8), eq_solref=column(items, "solref", 2),
        eq_solimp=column(items, "solimp", 5), eq_data=np.array([_data(*i) for i in zip(items, what)]).reshape(-1, 11),
    )  # fmt: skip


def _objects(item):
    """What a constraint joins: body, site, joint or tendon."""
    tag, given = item.node.tag, item.attrib
    if tag in ("joint", "tendon"):
        return tag
    by_site = "site1" in given or "site2" in given
    if by_site and not given.keys().isdisjoint(("body1", "body2", "anchor", "relpose")):
        raise item.node.error(f"'{tag}' joins bodies or sites, not both: site1 and site2 stand without body1, body2, "
                              "anchor and relpose")  # fmt: skip
    if by_site:
        if "site1" not in given or "site2" not in given:
            raise item.node.error(f"'{tag}' needs both site1 and site2")
        return "site"
    if "body1" not in given or (tag == "connect" and "anchor" not in given):
        needs = "body1 and anchor" if tag == "connect" else "body1"
        raise item.node.error(f"'{tag}' needs {needs}, or site1 and site2")
    return "body"


def _data(item, what):
    """eq_data of an element as far as its attributes say it."""
    data, given = list(DATA), item.attrib
    if what == "body":
        data[:3] = given.get("anchor", [0.0] * 3)
    if item.node.tag == "weld":
        data[3:10] = given.get("relpose", data[3:10])
        data[10] = given.get("torquescale", data[10])
    elif item.node.tag != "connect":
        polynomial = given.get("polycoef", [])
        data[: len(polynomial)] = polynomial
    return data
