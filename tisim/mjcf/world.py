"""The tree below `worldbody`, flattened into lists: frames composed, replicates expanded, default classes applied."""

import math

import numpy as np

from . import rotations
from .defaults import BUILTIN, class_of, merge
from .names import nearest
from .scope import Namespace

# More elements than this come from a mistyped or hostile `replicate`, and would not fit in memory.
MAX_ELEMENTS = 4_000_000

LEAVES = {"joint": "joints", "geom": "geoms", "site": "sites", "camera": "cameras", "light": "lights"}


class Item:
    """One element: merged attributes (shared, read-only), name, node, namespace, body id, frame (pos, quat) or None."""

    __slots__ = ("attrib", "name", "node", "space", "body", "frame")

    def __init__(self, attrib, node, space, body=0, frame=None):
        self.attrib, self.node, self.space, self.body, self.frame = attrib, node, space, body, frame
        self.name = space.name(node.attrib.get("name", "")) if node is not None else ""

    @property
    def compiler(self):
        """The compiler settings of the element's file."""
        return self.space.scope.compiler

    def find(self, ids, name, what):
        """ids[...] of the `what` that `name` means to this element; MjcfError where there is none."""
        found = self.space.find(ids, name)
        if found is None:
            raise self.node.error(f"{what} '{name}' is not defined{nearest(name, ids)}")
        return found


class World:
    """Flat lists of Items, each in MuJoCo's order: bodies depth first, everything else by body.

    `Item.body` of a body is its parent; `inertials` maps a body id to its `inertial` node.
    """

    def __init__(self):
        self.bodies, self.inertials = [], {}
        self.joints, self.geoms, self.sites, self.cameras, self.lights = [], [], [], [], []


class Context:
    """What an element inherits from where it stands."""

    __slots__ = ("body", "frame", "cls", "space")

    def __init__(self, body, frame, cls, space):
        self.body, self.frame, self.cls, self.space = body, frame, cls, space


def flatten(scope):
    """World of the `worldbody` sections of a Scope."""
    world, sections, space = World(), scope.of("worldbody"), Namespace(scope)
    root = Item({}, sections[0] if sections else None, space, body=-1)
    root.name = "world"
    world.bodies.append(root)
    merged = {}
    _check_count(sections)
    # work items: (node, context) for an element, (node, context, copy, pos, turns) for what is left of a replicate
    todo = []
    top = Context(0, None, "main", space)
    for node in reversed(sections):
        todo.extend((child, top) for child in reversed(node.children))
    while todo:
        work = todo.pop()
        node, context = work[0], work[1]
        tag = node.tag
        if tag in LEAVES:
            own = node.attrib
            cls = own.get("class", context.cls)
            key = (id(node), cls)
            attrib = merged.get(key)
            if attrib is None:
                table = context.space.scope.classes
                attrib = merged[key] = merge(class_of(table, cls, node)[tag], own, node)
            if tag == "joint" and context.body == 0:
                raise node.error("the world body cannot have joints")
            getattr(world, LEAVES[tag]).append(Item(attrib, node, context.space, context.body, context.frame))
        elif tag == "body":
            world.bodies.append(Item(_body(node), node, context.space, context.body, context.frame))
            cls = node.attrib.get("childclass", context.cls)
            class_of(context.space.scope.classes, cls, node)
            inner = Context(len(world.bodies) - 1, None, cls, context.space)
            todo.extend((child, inner) for child in reversed(node.children))
        elif tag == "freejoint":
            if context.body == 0:
                raise node.error("the world body cannot have joints")
            attrib = {**BUILTIN["joint"], **node.attrib, "type": 0, "frictionloss": 0.0}
            world.joints.append(Item(attrib, node, context.space, context.body, context.frame))
        elif tag == "inertial":
            if context.body == 0:
                raise node.error("the world body cannot have inertia")
            if context.body in world.inertials:
                raise node.error("a body can have only one inertial element")
            world.inertials[context.body] = node
        elif tag == "frame":
            cls = node.attrib.get("childclass", context.cls)
            class_of(context.space.scope.classes, cls, node)
            frame = compose(context.frame, _frame(node, context.space.scope.compiler))
            inner = Context(context.body, frame, cls, context.space)
            todo.extend((child, inner) for child in reversed(node.children))
        elif tag == "replicate":
            _replicate(work, todo)
    for name in LEAVES.values():
        getattr(world, name).sort(key=lambda item: item.body)
    return world


def _check_count(sections):
    """Counts the elements that replicates will make, before any is made; MjcfError where they are too many."""
    order = list(sections)
    for node in order:  # grows while it is read: parents before children
        order.extend(node.children)
    total = {}
    for node in reversed(order):
        inside = 1 + sum(total[id(child)] for child in node.children)
        total[id(node)] = inside * max(node.attrib["count"], 1) if node.tag == "replicate" else inside
        if total[id(node)] > MAX_ELEMENTS:
            raise node.error(f"the model has more than {MAX_ELEMENTS:,} elements")


_BODY = dict(pos=[0.0] * 3, quat=[1.0, 0.0, 0.0, 0.0], alt=None, gravcomp=0.0, mocap=0, sleep=0, user=[])


def _body(node):
    return merge(_BODY, node.attrib, node)


def _frame(node, compiler):
    """(pos, quat) of a frame element, as lists."""
    attrib = _body(node)
    quat = rotations.normalize(attrib["quat"])
    if attrib["alt"]:
        quat = orientation(*attrib["alt"], compiler, node)
    return attrib["pos"], quat.tolist()


def orientation(kind, values, compiler, node):
    """The quaternion (4,) of one alternative orientation specifier; MjcfError at node where it has no axis."""
    quat, bad = rotations.from_alternative(kind, [values], compiler["angle"], compiler["eulerseq"])
    if bad[0]:
        raise node.error(f"an axis in '{kind}' is too short")
    return quat[0]


def _replicate(work, todo):
    """Puts the next copy of a replicate, and the rest of the replicate, on the list of work.

    Copy i is turned by i times the angles of `euler` (not by the i-th power of that turn), and stands one offset, in
    the frame of the copy before, from that copy.
    """
    node, context = work[0], work[1]
    attrib = node.attrib
    total = attrib["count"]
    if len(work) == 2:
        if total < 0:
            raise node.error("'count' of 'replicate' cannot be negative")
        turns = None
        if "euler" in attrib:
            angles = np.arange(total)[:, None] * np.array(attrib["euler"])
            compiler = context.space.scope.compiler
            turns = rotations.from_alternative("euler", angles, compiler["angle"], compiler["eulerseq"])[0].tolist()
        copy, pos = 0, [0.0] * 3
    else:
        copy, pos, turns = work[2:]
    if copy >= total or not node.children:
        return
    here = pos, turns[copy] if turns else [1.0, 0.0, 0.0, 0.0]
    after = compose(here, (attrib.get("offset", [0.0] * 3), [1.0, 0.0, 0.0, 0.0]))[0]
    todo.append((node, context, copy + 1, after, turns))
    outer = context.space
    suffix = attrib.get("sep", "") + str(copy).zfill(len(str(total))) + outer.suffix
    space = Namespace(outer.scope, outer.prefix, suffix, outer)
    inner = Context(context.body, compose(context.frame, here), context.cls, space)
    todo.extend((child, inner) for child in reversed(node.children))


def compose(outer, inner):
    """The pose (pos, quat) of `inner`, given in `outer`, in outer's parent; an outer of None is the identity."""
    if outer is None:
        return inner
    (px, py, pz), (w, x, y, z) = outer
    (vx, vy, vz), (bw, bx, by, bz) = inner
    tx, ty, tz = 2 * (y * vz - z * vy), 2 * (z * vx - x * vz), 2 * (x * vy - y * vx)
    pos = [
        px + vx + w * tx + y * tz - z * ty,
        py + vy + w * ty + z * tx - x * tz,
        pz + vz + w * tz + x * ty - y * tx,
    ]
    quat = [
        w * bw - x * bx - y * by - z * bz,
        w * bx + x * bw + y * bz - z * by,
        w * by - x * bz + y * bw + z * bx,
        w * bz + x * by - y * bx + z * bw,
    ]
    norm = math.sqrt(sum(c * c for c in quat)) or 1.0
    return pos, [c / norm for c in quat]


def poses(items):
    """(pos (n, 3), quat (n, 4)) of items in their own frames: quaternions normalised, alternatives resolved."""
    pos = column(items, "pos", 3)
    quat = rotations.normalize(column(items, "quat", 4)) if items else np.zeros((0, 4))
    kinds = {}
    for i, item in enumerate(items):
        alt = item.attrib["alt"]
        if alt:
            kinds.setdefault((alt[0], id(item.space.scope)), []).append(i)
    for (kind, _), rows in kinds.items():
        values, compiler = [items[i].attrib["alt"][1] for i in rows], items[rows[0]].compiler
        quat[rows], bad = rotations.from_alternative(kind, values, compiler["angle"], compiler["eulerseq"])
        if bad.any():
            raise items[rows[int(np.argmax(bad))]].node.error(f"an axis in '{kind}' is too short")
    return pos, quat


def apply_frames(items, pos, quat):
    """Turns poses given in `frame` elements into poses in the body, in place; quat may be None."""
    rows = [i for i, item in enumerate(items) if item.frame is not None]
    if rows:
        frame_pos = np.array([items[i].frame[0] for i in rows])
        frame_quat = np.array([items[i].frame[1] for i in rows])
        pos[rows] = frame_pos + rotations.rotate(frame_quat, pos[rows])
        if quat is not None:
            quat[rows] = rotations.mul(frame_quat, quat[rows])
    return rows


def column(items, name, width=None, dtype=float):
    """One attribute of all items as an array: (n,) without a width, else (n, width)."""
    values = [item.attrib[name] for item in items]
    if width is None:
        return np.array(values, dtype)
    return np.array(values, dtype).reshape(len(items), width)


def setting(items, name, dtype=float):
    """One compiler setting of all items, (n,): attached models keep their own."""
    return np.array([item.compiler[name] for item in items], dtype)
