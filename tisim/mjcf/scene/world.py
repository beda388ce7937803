"""The tree below `worldbody`: its elements as flat lists, bodies and frames (expand.py makes them)."""

from .. import rotations
from ..format.scope import Namespace

# the lists of a World, and the elements in them
LEAVES = {"joint": "joints", "geom": "geoms", "site": "sites", "camera": "cameras", "light": "lights"}
KINDS = ("bodies", *LEAVES.values())

# attributes of bodies and frames
BODY = dict(pos=[0.0] * 3, quat=[1.0, 0.0, 0.0, 0.0], alt=None, gravcomp=0.0, mocap=0, sleep=0, user=[])


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
    pos = [
        px + ((w * w + x * x - y * y - z * z) * vx + 2 * (x * y - w * z) * vy + 2 * (x * z + w * y) * vz),
        py + (2 * (x * y + w * z) * vx + (w * w - x * x + y * y - z * z) * vy + 2 * (y * z - w * x) * vz),
        pz + (2 * (x * z - w * y) * vx + 2 * (y * z + w * x) * vy + (w * w - x * x - y * y + z * z) * vz),
    ]
    quat = [
        w * bw - x * bx - y * by - z * bz,
        w * bx + x * bw + y * bz - z * by,
        w * by - x * bz + y * bw + z * bx,
        w * bz + x * by - y * bx + z * bw,
    ]
    return pos, quat
