"""Items: one element each, and the values of many of them as columns."""

import numpy as np

from tisim.errors import several

from .. import rotations
from ..format.limits import MAX_NUMBERS
from ..format.names import nearest


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
        turn = rotations.IDENTITY if quat is None else quat[rows]
        pos[rows], turned = rotations.into_parent(frame_pos, frame_quat, pos[rows], turn)
        if quat is not None:
            quat[rows] = turned
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


def first(items, bad, message):
    """Raises one MjcfError with `message` at every item where `bad` is true; copies of one element count once."""
    bad = np.flatnonzero(bad)
    if len(bad):
        nodes = {id(items[i].node): items[i].node for i in bad.tolist()}
        raise several([node.error(message) for node in nodes.values()])


def unique_names(items, kind):
    """Names of items in id order; MjcfError at every item whose name stands before."""
    seen, names, errors = set(), [], []
    for item in items:
        if item.name and item.name in seen:
            message = f"the name '{item.name}' is already used by another {kind.name[6:].lower()}"
            errors.append(item.node.error(message))
        seen.add(item.name)
        names.append(item.name)
    if errors:
        raise several(errors)
    return names


def user_data(items, width, what):
    """(n, width) of `user` attributes; a width of -1 means the longest one."""
    values = [item.attrib["user"] for item in items]
    longest = max(map(len, values), default=0)
    if width < 0:
        width = longest
    elif longest > width:
        first(items, [len(v) > width for v in values], f"'user' has more numbers than nuser_{what}, which is {width}")
    if len(items) * width > MAX_NUMBERS:
        message = f"nuser_{what} = {width:,} makes more than {MAX_NUMBERS:,} numbers"
        raise items[-1].node.error(message)
    out = np.zeros((len(items), width))
    if longest:
        for row, value in zip(out, values):
            row[: len(value)] = value
    return out


def limits(items, flag, limited, ranges):
    """(n,) 0 or 1: whether each range is in force; `auto` follows compiler/autolimits."""
    has_range = (ranges != 0).any(1)
    unsaid = (limited == 2) & has_range & ~setting(items, "autolimits", bool)
    first(items, unsaid, f"'{flag}' must be given with a range, because autolimits is false")
    return ((limited == 1) | ((limited == 2) & (ranges[:, 0] < ranges[:, 1]))).astype(np.uint8)
