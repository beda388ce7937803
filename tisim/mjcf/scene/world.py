"""The tree below `worldbody` as flat lists: elements with their names, bodies and frames (expand.py makes them)."""

import math

import numpy as np

from .. import rotations
from ..format.names import nearest
from ..format.scope import Namespace

# the lists of a World, and the elements in them
LEAVES = {"joint": "joints", "geom": "geoms", "site": "sites", "camera": "cameras", "light": "lights"}
KINDS = ("bodies", *LEAVES.values())

# attributes of bodies and frames
BODY = dict(pos=[0.0] * 3, quat=[1.0, 0.0, 0.0, 0.0], alt=None, gravcomp=0.0, mocap=0, sleep=0, user=[])


class Item:
    """One element: merged attributes (shared, read-only), name, node, namespace, body id, frame (pos, quat) or None.

    state  what keyframes say of it (key_copies.py), or None.
    """

    __slots__ = ("attrib", "name", "node", "space", "body", "frame", "copied", "state")

    def __init__(self, attrib, node, space, body=0, frame=None):
        self.attrib, self.node, self.space, self.body, self.frame = attrib, node, space, body, frame
        self.copied = self.state = None
        self.name = space.name(node.attrib.get("name", "")) if node is not None else ""

    @property
    def children(self):
        """The child nodes; those of a clone have names of their own."""
        return self.node.children if self.copied is None else self.copied

    @property
    def compiler(self):
        """The compiler settings of the element's file."""
        return self.space.scope.compiler

    def find(self, ids, name, what):
        """ids[...] of the `what` that `name` means to this element; MjcfError where there is none.

        The copies of a replicate share their assets; a body that they name is one of the same copy, as in MuJoCo.
        """
        full = self.space.name(name) if what == "body" else self.space.prefix + name
        if full not in ids:
            raise self.node.error(f"{what} '{full}' is not defined{nearest(full, ids)}")
        return ids[full]

    def copy(self, space, body, frame, prefix, suffix):
        """The element once more, in another body; prefix and suffix are put around its name."""
        new = Item.__new__(Item)
        new.attrib, new.node, new.space, new.body, new.frame = self.attrib, self.node, space, body, frame
        new.name = prefix + self.name + suffix if self.name else ""
        new.copied, new.state = self.copied, self.state and dict(self.state)
        return new


class World:
    """Flat lists of Items, each in MuJoCo's order: bodies depth first, everything else by body.

    `Item.body` of a body is its parent; `inertials` maps a body id to its `inertial` node.
    """

    def __init__(self):
        self.bodies, self.inertials = [], {}
        self.joints, self.geoms, self.sites, self.cameras, self.lights = [], [], [], [], []

    def lengths(self):
        """dict list -> length: a place to cut at."""
        return {kind: len(getattr(self, kind)) for kind in KINDS}

    def cut(self, lengths, base):
        """Takes out, as a Piece, what was added since lengths(); `base` is the body it was added to."""
        piece = Piece({kind: getattr(self, kind)[n:] for kind, n in lengths.items()}, base, lengths["bodies"])
        for kind, n in lengths.items():
            del getattr(self, kind)[n:]
        piece.inertials = {i: self.inertials.pop(i) for i in list(self.inertials) if i >= piece.first}
        return piece

    def subtree(self, root):
        """The Piece that is a body with all below it; with root=None, everything in the world body."""
        if root is None:
            return Piece({kind: getattr(self, kind)[kind == "bodies" :] for kind in KINDS}, 0, 1, self.inertials)
        end = root + 1
        while end < len(self.bodies) and self.bodies[end].body >= root:
            end += 1
        items = {kind: [item for item in getattr(self, kind) if root <= item.body < end] for kind in LEAVES.values()}
        top = self.bodies[root]
        # the frame that an attached body stood in stays behind, as in MuJoCo
        items["bodies"] = [top.copy(top.space, top.body, None, "", ""), *self.bodies[root + 1 : end]]
        inertials = {i: node for i, node in self.inertials.items() if root <= i < end}
        return Piece(items, top.body, root, inertials)

    def graft(self, piece, body, pose, prefix="", suffix=""):
        """Adds a copy of a Piece to a body, moved by pose (pos, quat) or None, with prefix and suffix around names."""
        shift, spaces = len(self.bodies) - piece.first, {}
        for kind in KINDS:
            out = getattr(self, kind)
            for item in piece.items[kind]:
                old = item.space
                space = spaces.get(id(old))
                if space is None:
                    space = spaces[id(old)] = Namespace(old.scope, prefix + old.prefix, old.suffix + suffix)
                if item.body == piece.base:
                    frame = pose if item.frame is None or pose is None else compose(pose, item.frame)
                    out.append(item.copy(space, body, frame or item.frame, prefix, suffix))
                else:
                    out.append(item.copy(space, item.body + shift, item.frame, prefix, suffix))
        self.inertials.update({i + shift: node for i, node in piece.inertials.items()})


class Piece:
    """A part of a World: dict list -> Items, ids as they were there.

    base  the body that holds the part;  first  the id of its first body;  inertials  as in World.
    """

    def __init__(self, items, base, first, inertials=None):
        self.items, self.base, self.first, self.inertials = items, base, first, inertials or {}


def orientation(kind, values, compiler, node):
    """The quaternion (4,) of one alternative orientation specifier; MjcfError at node where it has no axis."""
    quat, bad = rotations.from_alternative(kind, [values], compiler["angle"], compiler["eulerseq"])
    if bad[0]:
        raise node.error(f"an axis in '{kind}' is too short")
    return quat[0]


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
