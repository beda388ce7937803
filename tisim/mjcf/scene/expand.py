"""A file and its attached models become flat lists: frames composed, copies made, default classes applied.

The tree is walked in document order, as MuJoCo reads it. What stands in a `replicate` is read once and then copied;
an attached model is expanded on its own, once, and copied from there. Each time, the elements of the other sections
that refer to it are copied along (clone.py).
"""

import numpy as np

from tisim.errors import Problems

from .. import rotations
from ..format.defaults import BUILTIN, class_of, merge
from ..format.limits import MAX_CHARACTERS, MAX_ELEMENTS
from ..format.names import nearest
from ..format.scope import Namespace
from .clone import Clones
from .items import Item
from .key_copies import Keys, forget
from .sections import SECTIONS, gather
from .world import BODY, LEAVES, World, compose, orientation

# A replicate of nothing still doubles clocks in MuJoCo; beyond this there is nothing to be had but a long wait.
MAX_EMPTY = 1000


class Expanded:
    """A scope as flat lists: world (World), lists (sections.Lists); clones, keys and classes serve who attaches it."""

    def __init__(self, world, lists, clones, keys, classes):
        self.world, self.lists, self.clones, self.keys, self.classes = world, lists, clones, keys, classes


def expand(scope):
    """Expanded of a Scope. Raises MjcfError, also where replicates and attached models make too many elements."""
    _count(scope, {})
    return _Walk(scope).run()


def _count(scope, counted):
    """How many elements a scope makes, found before any is made; MjcfError where they are too many."""
    if id(scope) not in counted:
        order, total, copied = list(scope.of("worldbody")), {}, 0
        for node in order:  # grows while it is read: parents before children
            order.extend(node.children)
        for node in reversed(order):
            inside = 1 + sum(total[id(child)] for child in node.children)
            if node.tag == "replicate":
                inside *= max(node.attrib["count"], 1)
                copied += inside
            elif node.tag == "attach" and node.attrib["model"] in scope.models:
                inside += _count(scope.models[node.attrib["model"]], counted)
            total[id(node)] = inside
            if inside + copied // 4 > MAX_ELEMENTS:
                raise node.error(f"the model has more than {MAX_ELEMENTS:,} elements")
        # attaching a part looks at everything in the part's file
        others = sum(len(scope.nodes(section)) for section in SECTIONS)
        counted[id(scope)] = others + sum(total[id(node)] for node in scope.of("worldbody"))
    return counted[id(scope)]


def _copies(scope):
    """How many copies the replicates of a scope make when each is read once."""
    todo, copies = list(scope.of("worldbody")), 0
    for node in todo:
        todo.extend(node.children)
        copies += max(node.attrib["count"], 0) if node.tag == "replicate" else 0
    return copies


class _Context:
    """What an element inherits from where it stands."""

    __slots__ = ("body", "frame", "cls")

    def __init__(self, body, frame, cls):
        self.body, self.frame, self.cls = body, frame, cls


class _Walk:
    """One walk over the tree of a scope."""

    def __init__(self, scope):
        self.scope, self.models, self.characters = scope, {}, 0
        self.space, self.classes, self.merged = Namespace(scope), dict(scope.classes), {}
        self.world, self.lists = World(), gather(scope)
        root = Item(BODY, (scope.of("worldbody") or [scope.root])[0], self.space, body=-1)
        root.name = "world"
        self.world.bodies.append(root)
        self.clones = Clones(self.lists, self.world, _copies(scope))
        self.keys = Keys(self.lists, self.world, self.clones)

    def run(self):
        """Expanded of the scope."""
        top = _Context(0, None, "main")
        self.todo = []
        for node in reversed(self.scope.of("worldbody")):
            self.inside(node, top)
        problems = Problems()
        while self.todo:
            visit, *given = self.todo.pop()
            if visit in COPYING:  # a copy of something wrong, or half a copy, would only give more errors
                problems.check()
                visit(self, *given)
                continue
            with problems:
                visit(self, *given)
        problems.check()
        for name in LEAVES.values():
            getattr(self.world, name).sort(key=lambda item: item.body)
        self.keys.finish()
        self.clones.finish()
        return Expanded(self.world, self.lists, self.clones, self.keys, self.classes)

    def inside(self, node, context):
        """Puts the children of a node on the list of work."""
        self.todo.extend((VISIT[child.tag], child, context) for child in reversed(node.children))

    def leaf(self, node, context):
        """A joint, geom, site, camera or light."""
        own, tag = node.attrib, node.tag
        cls = own.get("class", context.cls)
        attrib = self.merged.get((id(node), cls))
        if attrib is None:
            attrib = merge(class_of(self.classes, cls, node)[tag], own, node)
            self.merged[id(node), cls] = attrib
        if tag == "joint" and context.body == 0:
            raise node.error("the world body cannot have joints")
        getattr(self.world, LEAVES[tag]).append(Item(attrib, node, self.space, context.body, context.frame))

    def free_joint(self, node, context):
        if context.body == 0:
            raise node.error("the world body cannot have joints")
        attrib = {**BUILTIN["joint"], **node.attrib, "type": 0, "frictionloss": 0.0}
        self.world.joints.append(Item(attrib, node, self.space, context.body, context.frame))

    def body(self, node, context):
        bodies = self.world.bodies
        bodies.append(Item(merge(BODY, node.attrib, node), node, self.space, context.body, context.frame))
        self.inside(node, _Context(len(bodies) - 1, None, self.child_class(node, context)))

    def child_class(self, node, context):
        cls = node.attrib.get("childclass", context.cls)
        class_of(self.classes, cls, node)
        return cls

    def inertial(self, node, context):
        if context.body == 0:
            raise node.error("the world body cannot have inertia")
        if context.body in self.world.inertials:
            raise node.error("a body can have only one inertial element")
        self.world.inertials[context.body] = node

    def frame(self, node, context):
        attrib = merge(BODY, node.attrib, node)
        quat = rotations.normalize(attrib["quat"])
        if attrib["alt"]:
            quat = orientation(*attrib["alt"], self.scope.compiler, node)
        pose = compose(context.frame, (attrib["pos"], quat.tolist()))
        self.inside(node, _Context(context.body, pose, self.child_class(node, context)))

    def replicate(self, node, context):
        if node.attrib["count"] < 0:
            raise node.error("'count' of 'replicate' cannot be negative")
        if any(child.tag == "inertial" for child in node.children):
            raise node.error("an inertial element cannot stand in a replicate")
        self.todo.append((_Walk.copies, node, context, self.world.lengths()))
        self.inside(node, _Context(context.body, None, context.cls))

    def lengthen(self, piece, text, node):
        """Counts the characters that the names of a part grow by; MjcfError at node where they are too many."""
        self.characters += len(text) * sum(map(len, piece.items.values()))
        if self.characters > MAX_CHARACTERS:
            raise node.error(f"the names of all copies grow by more than {MAX_CHARACTERS:,} characters")

    def copies(self, node, context, start):
        """The end of a replicate: what was read since `start` is taken out and copied.

        Copy i is turned by i times the angles of `euler` (not by the i-th power of that turn), and stands one offset,
        in the frame of the copy before, from that copy.
        """
        attrib, total = node.attrib, node.attrib["count"]
        self.clones.begin(start)
        piece = self.world.cut(start, context.body)
        self.keys.begin(piece, total)
        if not any(piece.items.values()) and total > MAX_EMPTY:
            return
        turns = None
        if "euler" in attrib:
            angles, compiler = np.arange(total)[:, None] * np.array(attrib["euler"]), self.scope.compiler
            turns = rotations.from_alternative("euler", angles, compiler["angle"], compiler["eulerseq"])[0].tolist()
        step, pos = (attrib.get("offset", [0.0] * 3), [1.0, 0.0, 0.0, 0.0]), [0.0] * 3
        for copy in range(total):
            here = pos, turns[copy] if turns else [1.0, 0.0, 0.0, 0.0]
            suffix = attrib.get("sep", "") + str(copy).zfill(len(str(total)))
            self.keys.copy(suffix, piece, start)
            self.lengthen(piece, suffix, node)
            self.world.graft(piece, context.body, compose(context.frame, here), suffix=suffix)
            forget(piece.items["joints"] + piece.items["bodies"])
            self.clones.copy(suffix, node, total - copy - 1)
            self.keys.grow((piece, start))
            pos = compose(here, step)[0]
        self.keys.end(piece, start)
        self.clones.end(total)

    def attach(self, node, context):
        """A body of another model, with all below it, or everything in its world body.

        Where a body of that name exists in the same parent, MuJoCo attaches nothing and moves it to the frame.
        """
        attrib, models = node.attrib, self.scope.models
        prefix, name = attrib["prefix"], attrib.get("body")
        existing = self.clones.body(prefix + name) if name else None
        if existing is not None:
            if existing.body != context.body:
                raise node.error(f"cannot attach: the body '{existing.name}' exists in another body")
            existing.frame = context.frame or existing.frame
            return
        key, root = attrib["model"], None
        if key not in models:
            raise node.error(f"model '{key}' is not defined{nearest(key, models)}")
        if key not in self.models:
            self.models[key] = _Walk(models[key]).run()
        model = self.models[key]
        if name:
            root = next((i for i, body in enumerate(model.world.bodies) if body.name == name), None)
            if root is None:
                near = nearest(name, [body.name for body in model.world.bodies])
                raise node.error(f"model '{key}' has no body '{name}'{near}")
        self.todo.append((_Walk.copy_part, node, context, model, root))

    def copy_part(self, node, context, model, root):
        """Adds what `attach` found: a body (its id) of another model (Expanded), or everything in its world body."""
        prefix = node.attrib["prefix"]
        self.clones.sync()
        model.clones.sync()
        model.keys.store(prefix, into=self.keys)
        piece = model.world.subtree(root)
        self.lengthen(piece, prefix, node)
        self.world.graft(piece, context.body, context.frame, prefix)
        forget(piece.items["joints"] + model.world.bodies[piece.first : piece.first + len(piece.items["bodies"])])
        self.clones.attach(model, prefix, node)
        self.keys.attach(model.keys)
        for cls, elements in model.classes.items():
            self.classes.setdefault(prefix + cls, elements)


COPYING = (_Walk.copies, _Walk.copy_part)
VISIT = {
    **dict.fromkeys(LEAVES, _Walk.leaf), "freejoint": _Walk.free_joint, "body": _Walk.body, "inertial": _Walk.inertial,
    "frame": _Walk.frame, "replicate": _Walk.replicate, "attach": _Walk.attach,
}  # fmt: skip
