"""What becomes of keyframes when a part of the model is copied.

After MuJoCo's mjCModel (StoreKeyframes, SaveState, ResizeKeyframe; Apache-2.0). Before a part is copied, every key of
the model it comes from gives one more key, with the prefix and suffix of the copy in its name, and joints, mocap bodies
and actuators remember their part of it (`state`: dict key name -> dict list -> numbers). A copy takes the memory along
and the original forgets it. What remembers nothing gets the reference state, here nan, in keyframe.py. The keys
themselves go on with the model they stand in, filled up with numbers as the file gives them, until a replicate ends:
then they too become memories of what is left. Actuators lose theirs at that moment.
"""

import math

from ..format import actuator_defaults
from ..format.defaults import class_of
from ..format.scope import Namespace
from .items import Item

MAX_NUMBERS = 5_000_000  # in all copies of keys together
TOO_MANY = f"a keyframe whose copies hold more than {MAX_NUMBERS:,} numbers"
# list of a key -> what it is made of
LISTS = {"qpos": "joint", "qvel": "joint", "act": "actuator", "ctrl": "actuator", "mpos": "mocap", "mquat": "mocap"}


class Keys:
    """The keys of one model while its tree is read.

    live  key Items whose lists follow the order of the model's elements;  pending  Items that are spread over `state`.
    whole  those that are of the whole model, as a Spec makes them: nothing becomes of them.
    """

    def __init__(self, lists, world, clones):
        self.lists, self.world, self.clones = lists, world, clones
        self.live = [_copy(item, item.name, dict(item.attrib)) for item in lists["key"] if not item.node.whole]
        self.whole = [item for item in lists["key"] if item.node.whole]
        self.changed, self.pending, self.stored = False, [], 0

    def parts(self, template=None):
        """dict kind -> what keys describe, in the order of their lists; `template` stands before its copies."""
        joints, bodies = list(self.world.joints), list(self.world.bodies)
        if template is not None:
            piece, start = template
            first = start["joints"]
            joints = _sorted(joints[:first]) + _sorted(piece.items["joints"]) + _sorted(joints[first:])
            bodies[start["bodies"] : start["bodies"]] = piece.items["bodies"]
        else:
            joints = _sorted(joints)
        actuators = list(self.clones.entries["actuator"].values())
        return {"joint": joints, "mocap": [b for b in bodies if b.attrib["mocap"]], "actuator": actuators}

    def store(self, prefix="", suffix="", into=None, template=None):
        """Remembers every live key under its name with prefix and suffix; the keys are pending in `into`."""
        if not self.live:
            return
        parts = self.parts(template)
        for item in self.live:
            name = prefix + item.name + suffix
            for what, kind in LISTS.items():
                values, place = item.attrib.get(what), 0
                if not values:
                    continue
                sizes = [_size(part, what) for part in parts[kind]]
                if len(values) != sum(sizes):
                    message = (
                        f"'{what}' of a key has {len(values)} numbers, but where the model is copied it must have "
                        f"{sum(sizes)}: those of the elements that stand before, and of one copy"
                    )
                    raise item.node.error(message)
                for part, size in zip(parts[kind], sizes):
                    part.state = part.state or {}
                    part.state.setdefault(name, {})[what] = values[place : place + size]
                    place += size
                self.stored += place
            if self.stored > MAX_NUMBERS:
                raise _unsupported(item, TOO_MANY)
            (into or self).pending.append(_copy(item, name, item.attrib))

    def begin(self, piece, count):
        """Before the copies of a replicate: refuses what cannot be done."""
        if not self.live:
            return
        if any(item.body == piece.base for item in piece.items["joints"]):
            raise _unsupported(self.live[0], "a keyframe of a model with a joint directly in a replicate")
        sizes = [sum(_size(joint, what) for what in ("qpos", "qvel")) for joint in piece.items["joints"]]
        if len(self.live) * count * count * sum(sizes) > MAX_NUMBERS:
            raise _unsupported(self.live[0], TOO_MANY)

    def copy(self, suffix, piece, start):
        """Before a copy of a replicate is made."""
        self.store(suffix=suffix, template=(piece, start))

    def end(self, piece, start):
        """After the copies of a replicate: all keys become pending."""
        for entry in self.clones.entries["actuator"].values():
            entry.state = None
        self.store(template=(piece, start))
        self.changed = self.changed or bool(self.live)
        self.live = []

    def attach(self, other):
        """After a part of another model was added: takes over its pending keys."""
        self.pending += other.pending
        other.pending = []
        self.grow()

    def grow(self, template=None):
        """Fills up the lists of the live keys for what was added, with the numbers that the file gives."""
        if not self.live:
            return
        parts = self.parts(template)
        for item in self.live:
            for what, kind in LISTS.items():
                values = item.attrib.get(what)
                if not values:
                    continue
                full = sum(_size(part, what) for part in parts[kind])
                if len(values) < full:
                    fill = [v for part in parts[kind] for v in _raw(part, what)]
                    item.attrib[what] = values + fill[len(values) :]
                    self.changed = True

    def finish(self):
        """Writes the keys back to the lists."""
        if not self.changed and not self.pending:
            return
        parts = self.parts()
        keys = [*self.lists["key"]] if not self.changed else list(self.live)
        for item in self.pending:
            attrib = {"time": item.attrib.get("time", 0.0)}
            for what, kind in LISTS.items():
                if item.attrib.get(what):
                    values = attrib[what] = []
                    for part in parts[kind]:
                        state = (part.state or {}).get(item.name, {})
                        values += state.get(what) or [math.nan] * _size(part, what)
            keys.append(_copy(item, item.name, attrib))
            self.stored += sum(len(attrib.get(what, ())) for what in LISTS)
            if self.stored > 2 * MAX_NUMBERS:
                raise _unsupported(item, TOO_MANY)
        self.lists["key"] = keys + self.whole if self.changed else keys


def forget(items):
    """Takes the memory of items away, after they were copied."""
    for item in items:
        item.state = None


def _unsupported(item, what):
    return item.node.unsupported(f"{what} is not supported", "key")


def _copy(item, name, attrib):
    new = Item(attrib, item.node, Namespace(item.space.scope))
    new.name = name
    return new


def _sorted(items):
    return sorted(items, key=lambda item: item.body)


def _size(part, what):
    """How many numbers of a list belong to a joint, mocap body or actuator."""
    if what in ("qpos", "qvel"):
        return {0: (7, 6), 1: (4, 3)}.get(part.attrib["type"], (1, 1))[what == "qvel"]
    return {"mpos": 3, "mquat": 4, "ctrl": 1}.get(what) or _activations(part.item)


def _activations(item):
    """Number of activations of an actuator."""
    inherited = class_of(item.space.scope.classes, item.node.attrib.get("class", "main"), item.node)["general"]
    attrib = actuator_defaults.apply(inherited, item.node.tag, item.attrib, item.node)
    return attrib["actdim"] if attrib["actdim"] > 0 else int(attrib["dyntype"] != 0)


def _raw(part, what):
    """The numbers that fill up a list: those of the file, before frames and angles are resolved."""
    if what == "qpos" and part.attrib["type"] <= 1:
        return [0.0] * 3 * (part.attrib["type"] == 0) + [1.0, 0.0, 0.0, 0.0]
    if what == "qpos":
        return [part.attrib["ref"]]
    return part.attrib[what[1:]] if what[0] == "m" else [0.0] * _size(part, what)
