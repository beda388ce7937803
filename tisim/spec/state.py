"""States across edits of a tisim.Spec: what every joint, actuator and mocap body had, found again after the edit."""

import numpy as np

from tisim.data import asleep, varied
from tisim.data.data import Data
from tisim.data.state import write_worlds
from tisim.enums import mjtObj
from tisim.errors import Error, MjcfError
from tisim.mjcf.compile import Compiled, compile_scope
from tisim.mjcf.format.xmltext import Node

# quantity -> how many numbers a joint of type free, ball, slide, hinge has
WIDTH = {"qpos": (7, 4, 1, 1), "qvel": (6, 3, 1, 1)}
QUANTITIES = ("qpos", "qvel", "act", "ctrl", "mpos", "mquat")


def places(compiled, name):
    """dict key -> indices in a quantity of QUANTITIES; a key is (id of a Node, number of the copy of that node)."""
    a = compiled.arrays
    if name in WIDTH:
        nodes, start = compiled.nodes["joint"], a["jnt_qposadr" if name == "qpos" else "jnt_dofadr"]
        number = np.array(WIDTH[name])[a["jnt_type"]] if len(nodes) else []
    elif name == "ctrl":
        nodes, start = compiled.nodes["actuator"], np.arange(len(compiled.nodes["actuator"]))
        number = np.ones(len(nodes), int)
    elif name == "act":
        nodes, start, number = compiled.nodes["actuator"], a.get("actuator_actadr", []), a.get("actuator_actnum", [])
    else:
        width = 3 if name == "mpos" else 4
        bodies = np.flatnonzero(a["body_mocapid"] >= 0).tolist()
        nodes = [compiled.nodes["body"][i] for i in bodies]
        start, number = width * a["body_mocapid"][bodies], np.full(len(bodies), width)
    out, seen = {}, {}
    for node, first, count in zip(nodes, start, number):
        copy = seen[id(node)] = seen.get(id(node), -1) + 1
        out[id(node), copy] = range(int(first), int(first) + int(count))
    return out


def transfer(old, new, values, start, copies=None):
    """States of one Compiled in another: dict quantity -> (..., n).

    values  of the old one;  start  of the new one, for what was not there;  copies  dict id of a new Node -> id of the
    old one that it stands for, None where nodes stayed. What has another number of values than before starts anew.
    """
    out = {}
    for name in QUANTITIES:
        was, rows = places_of(old, name), np.array(start[name], float)
        for (node, number), target in places_of(new, name).items():
            source = was.get((node if copies is None else copies.get(node, node), number))
            if source is not None and len(target) == len(source):
                rows[..., list(target)] = np.asarray(values[name])[..., list(source)]
        out[name] = rows
    return out


def places_of(compiled, name):
    """places(), computed once for a Compiled."""
    known = compiled.__dict__.setdefault("places", {})
    if name not in known:
        known[name] = places(compiled, name)
    return known[name]


def reference(compiled, rows):
    """dict quantity -> (rows, n): the reference state."""
    a = compiled.arrays
    mocap = np.flatnonzero(a["body_mocapid"] >= 0)
    na = int(np.sum(a.get("actuator_actnum", 0)))
    one = dict(
        qpos=a["qpos0"], qvel=np.zeros(len(a["dof_bodyid"])), act=np.zeros(na),
        ctrl=np.zeros(len(compiled.nodes["actuator"])), mpos=a["body_pos"][mocap].ravel(),
        mquat=a["body_quat"][mocap].ravel(),
    )  # fmt: skip
    return {name: np.tile(value, (rows, 1)) for name, value in one.items()}


class Keys:
    """The keyframes of specifications while a part of one is attached to the other, or taken away.

    They are read before the change. Where a specification with keyframes does not compile then, raises Error if
    strict, else leaves them as they are. What a keyframe of this specification did not know is as in its reference
    pose, of another's has the numbers of its file, before angles and frames are resolved, as in MuJoCo.
    """

    def __init__(self, *specs, strict=True):
        self.before = []
        if any(spec.keys for spec in specs):
            self._alive = {*specs[0]._parents}
            for spec in specs:
                try:
                    spec._check()
                    compiled = compile_scope(spec._scope(spec._root))
                except MjcfError as e:
                    if not strict:
                        return
                    raise Error(f"keyframes cannot follow while the specification does not compile: {e}") from None
                nodes = [node for section in spec._sections("keyframe") for node in section.children]
                self.before.append((compiled, nodes, _raw(spec, compiled)))

    def write(self, spec, *copies):
        """Writes the keyframes into `spec`, after the change and for its model.

        copies  for each specification None, or (dict id of a copy -> id of its original, function that renames).
        Raises MjcfError where one with a copy does not compile.
        """
        if not self.before:
            return
        kept = {id(section): section.children for section in spec._sections("keyframe")}
        try:
            for section in spec._sections("keyframe"):
                section.children = []
            after = compile_scope(spec._scope(spec._root))
        except MjcfError:
            for section in spec._sections("keyframe"):
                section.children = kept[id(section)]
            if any(copies):
                raise
            return self._cut(spec)
        start = reference(after, 1)
        filled = {name: value.copy() for name, value in start.items()}
        for (_, _, raw), copy in zip(self.before, copies):
            for name in ("qpos", "mpos", "mquat") if copy else ():
                for (node, _), indices in places_of(after, name).items():
                    source = raw.get(copy[0].get(node, node))
                    if source:
                        filled[name][0, list(indices)] = source[name]
        for (old, nodes, _), copy in zip(self.before, copies):
            mapping, new = copy or (None, str)
            names, times = old.names[mjtObj.mjOBJ_KEY], old.arrays["key_time"].tolist()
            alike = not any(names[len(nodes) :])  # else replicates have made more of them
            for i in range(len(nodes) if alike else len(names)):
                values = {name: old.arrays[f"key_{name}"][i : i + 1] for name in QUANTITIES}
                key = Node("key", {"time": times[i]} if times[i] else {}, nodes[0].file, nodes[0].line)
                key.whole = True
                if names[i]:
                    key.attrib["name"] = new(names[i])
                for name, value in transfer(old, after, values, filled if alike else start, mapping).items():
                    if (not alike or name in nodes[i].attrib) and not np.array_equal(value, start[name]):
                        key.attrib[name] = value[0].tolist()
                spec._section("keyframe").children.append(key)
        spec._restructured()

    def _cut(self, spec):
        """Takes the numbers of what is gone out of keyframes of a specification that does not compile."""
        (old, nodes, _), gone = self.before[0], self._alive - {*spec._parents}
        for name in QUANTITIES:
            lost = [k for (node, _), places in places_of(old, name).items() if node in gone for k in places]
            for i, node in enumerate(nodes):
                if name in node.attrib:
                    node.attrib[name] = np.delete(old.arrays[f"key_{name}"][i], lost).tolist()
        spec._restructured()


def _raw(spec, compiled):
    """dict id of a Node of a joint or mocap body -> dict quantity -> its numbers in the file's own terms."""
    out = {}
    for node, kind in zip(compiled.nodes["joint"], compiled.arrays["jnt_type"].tolist()):
        if kind < 2:
            out[id(node)] = {"qpos": ([0, 0, 0, 1, 0, 0, 0], [1, 0, 0, 0])[kind]}
        elif id(node) in spec._parents:  # not in a model that the file attaches
            out[id(node)] = {"qpos": [spec._handle(node)._value("ref")]}
    for node in compiled.nodes["body"]:
        if node.attrib.get("mocap"):
            attrib = node.attrib
            out[id(node)] = {"mpos": attrib.get("pos", [0.0] * 3), "mquat": attrib.get("quat", [1.0, 0.0, 0.0, 0.0])}
    return out


def recompile(spec, m, d):
    """(Model, Data) of an edited Spec, with the state of the elements that are still there; see Spec.recompile."""
    if getattr(d, "model", None) is not m or not getattr(m, "_nodes", None):
        raise Error("recompile() needs a Model that came from MJCF or a Spec, and a Data of that Model")
    asleep.refuse_removed(d, "recompile")
    varied.refuse(d, "recompile")
    new_m = spec.compile()
    new_d = Data(new_m, d.nworld)
    old, new = _compiled(m), _compiled(new_m)
    source = dict(qpos="qpos", qvel="qvel", act="act", ctrl="ctrl", mpos="mocap_pos", mquat="mocap_quat")
    values = {name: d.host(array).reshape(d.nworld, -1) for name, array in source.items()}
    state = transfer(old, new, values, reference(new, d.nworld), _by_name(old, new))
    worlds = np.arange(d.nworld)
    for name, array in source.items():
        write_worlds(new_d, array, worlds, state[name])
    write_worlds(new_d, "world_time", worlds, d.host("world_time").reshape(d.nworld, -1))
    return new_m, new_d


def _compiled(m):
    """What transfer() needs of a Model."""
    out = Compiled()
    out.arrays, out.nodes, out.names = m._arrays, m._nodes, m._names
    return out


def _by_name(old, new):
    """None where both come from the same nodes; else dict id of a new node -> id of the old one of its name."""
    fresh = {id(node) for nodes in new.nodes.values() for node in nodes}
    if any(id(node) in fresh for nodes in old.nodes.values() for node in nodes):
        return None
    kinds = {"body": mjtObj.mjOBJ_BODY, "joint": mjtObj.mjOBJ_JOINT, "actuator": mjtObj.mjOBJ_ACTUATOR}
    out = {}
    for kind, objtype in kinds.items():
        known = {name: node for name, node in zip(old.names.get(objtype, ()), old.nodes[kind]) if name}
        for name, node in zip(new.names.get(objtype, ()), new.nodes[kind]):
            out[id(node)] = id(known.get(name))
    return out
