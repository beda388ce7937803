"""The elements outside the world body: assets, contacts, equalities, tendons, actuators, sensors, custom data, keys."""

from ..format.defaults import BUILTIN, PLAIN, class_of, merge
from ..format.scope import Namespace
from .items import Item

# section -> element of a default class that its elements inherit; None: the element of their own name
SECTIONS = {
    "asset": None, "contact": None, "equality": "equality", "tendon": "tendon", "actuator": "general",
    "sensor": "sensor", "custom": None, "keyframe": None, "deformable": None,
}  # fmt: skip
BY_SECTION = ("equality", "tendon", "actuator", "sensor")


class Lists(dict):
    """Lists of Items by tag or section; what never occurs has an empty list."""

    def __missing__(self, name):
        return []


def gather(scope):
    """Lists of the elements of a Scope, in file order, each with the attributes of its default class.

    Equalities, tendons, actuators and sensors are listed by section, everything else by tag. An actuator keeps its own
    attributes only: what a shortcut inherits is its compiler's matter (actuator.py).
    """
    lists, space = Lists(), Namespace(scope)
    for section, inherited in SECTIONS.items():
        for node in scope.nodes(section):
            name = inherited or node.tag
            base = PLAIN.get(name, {})
            if name in BUILTIN:
                base = class_of(scope.classes, node.attrib.get("class", "main"), node)[name]
            attrib = dict(node.attrib) if section == "actuator" else merge(base, node.attrib, node)
            lists.setdefault(section if section in BY_SECTION else node.tag, []).append(Item(attrib, node, space))
    return lists
