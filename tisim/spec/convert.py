"""One specification in the compiler settings of another: angles, order of Euler angles, rules for inertia."""

import math

import numpy as np

from tisim.enums import mjtJoint
from tisim.errors import Error
from tisim.mjcf.compile import compile_scope
from tisim.mjcf.scene.world import orientation

from .element import BODY

# settings of single elements that no attribute of theirs can replace
_FIXED = ("alignfree", "balanceinertia", "boundinertia", "boundmass", "fitaabb", "inertiagrouprange")


def convert(work, parent):
    """Changes the elements of the Spec `work` so that they mean in `parent` what they mean now.

    Raises Error where the settings differ in a way that elements cannot express.
    """
    here, there = (spec._scope(spec._root).compiler for spec in (work, parent))
    differ = [name for name in _FIXED if here[name] != there[name]]
    if differ and not _indifferent(work, {name: there[name] for name in differ}):
        settings = " and ".join(f"'{name}': {here[name]} and {there[name]}" for name in differ)
        raise Error(f"cannot attach: the compilers differ in {settings}, which changes the attached model")
    if here["autolimits"] and not there["autolimits"]:
        parent.compiler.autolimits = True  # this only takes a check away
    if here["inertiafromgeom"] != there["inertiafromgeom"]:
        _inertia(work, here["inertiafromgeom"])
        _inertia(parent, there["inertiafromgeom"])
    if (here["angle"], here["eulerseq"]) != (there["angle"], there["eulerseq"]):
        _angles(work, here, there)


def _indifferent(work, settings):
    """Whether other compiler settings leave the model as it is."""
    models = []
    for change in ({}, settings):
        scope = work._scope(work._root)
        scope.compiler.update(change)
        models.append(compile_scope(scope).arrays)
    return all(np.array_equal(models[0][name], models[1][name]) for name in models[0])


def _inertia(spec, rule):
    """Makes `auto` mean what the rule of inertiafromgeom means.

    `true` takes no notice of inertial elements, `false` never looks at geoms, `auto` looks where there is no inertial.
    """
    for body in spec.bodies[1:]:
        if rule == 1:
            body.explicitinertial = False
        elif rule == 0 and not body.explicitinertial and body.geoms:
            raise Error(f"cannot attach: the compilers differ in 'inertiafromgeom', which matters for {body!r}")
    spec.compiler.inertiafromgeom = 2


def _angles(work, here, there):
    factor = 1.0
    if here["angle"] != there["angle"]:
        factor = math.pi / 180 if here["angle"] else 180 / math.pi
    joints = [(node, work._class_of(node)["joint"]) for node in work._all()["joint"] if node.tag == "joint"]
    classes = [(node, work._class_of(node)["joint"]) for top in work._default_nodes() for node in top.children
               if node.tag == "joint"]  # fmt: skip
    if factor != 1.0:
        for node, base in classes:
            _joint(node, base, {}, factor)
        for node, base in joints:
            _joint(node, base, base, factor)
    todo = [work._root]
    while todo:
        node = todo.pop()
        todo.extend(node.children)
        if node.tag in BODY or node.tag in ("replicate", "inertial"):
            _turn(node, here, there, factor)


def _joint(node, record, inherited, factor):
    """Gives a joint, or a class's, its angles in the other unit, also those that it only inherits."""
    kind = node.attrib.get("type", record["type"])
    turning = {"range": (mjtJoint.mjJNT_HINGE, mjtJoint.mjJNT_BALL), "ref": (mjtJoint.mjJNT_HINGE,),
               "springref": (mjtJoint.mjJNT_HINGE,)}  # fmt: skip
    for name, kinds in turning.items():
        value = node.attrib.get(name, inherited.get(name))
        if value is None or name not in node.attrib and not any(value if isinstance(value, list) else [value]):
            continue
        scale = factor if kind in kinds and (name != "range" or _limits(node, record, value)) else 1.0
        node.attrib[name] = [v * scale for v in value] if isinstance(value, list) else value * scale


def _limits(node, record, values):
    """Whether a joint's range is in force: what is not is in no unit, and the compiler leaves it as it is."""
    limited = node.attrib.get("limited", record["limited"])
    return limited == 1 or limited == 2 and values[0] < values[1]


def _turn(node, here, there, factor):
    """Euler angles and the angle of an axis in the other unit; in another order they become axis and angle."""
    if "axisangle" in node.attrib:
        *axis, angle = node.attrib["axisangle"]
        node.attrib["axisangle"] = [*axis, angle * factor]
    if "euler" not in node.attrib:
        return
    euler = node.attrib["euler"]
    if here["eulerseq"] == there["eulerseq"]:
        node.attrib["euler"] = [angle * factor for angle in euler]
    elif node.tag == "replicate":
        node.attrib["euler"] = _one_turn(euler, here["eulerseq"], there["eulerseq"], factor, node)
    else:
        del node.attrib["euler"]
        w, *v = orientation("euler", euler, here, node).tolist()
        norm = math.sqrt(sum(c * c for c in v))
        angle = 2 * math.atan2(norm, w) * (180 / math.pi if there["angle"] else 1.0)
        node.attrib["axisangle"] = [*([c / norm for c in v] if norm > 1e-14 else (0.0, 0.0, 1.0)), angle]


def _one_turn(euler, here, there, factor, node):
    """Euler angles about one axis in another order of axes."""
    turns = [(axis, angle) for axis, angle in zip(here.lower(), euler) if angle]
    if len(turns) > 1 or any(axis not in there.lower() for axis, _ in turns):
        raise Error(f"cannot attach: the compilers differ in 'eulerseq', and the replicate at {node.file}:{node.line} "
                    "turns about more than one axis")  # fmt: skip
    out = [0.0] * 3
    for axis, angle in turns:
        out[there.lower().index(axis)] = angle * factor
    return out
