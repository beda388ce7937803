"""The elements of a tisim.Spec below the world: bodies, frames, replicates, sites, joints."""

import copy

from tisim.enums import mjtJoint
from tisim.errors import Error
from tisim.mjcf.format.defaults import BUILTIN

from .element import BODY, SpecElement
from .elements import object_word

LEAVES = ("joint", "geom", "site", "camera", "light")


class SpecHolder(SpecElement):
    """What holds elements of the world: adding to it, and attaching other specifications.

    Every add_... takes a default class (a SpecDefault or its name; without one, the class in force where the element
    stands) and attributes by name, and returns the new element.
    """

    __slots__ = ()

    def add_body(self, default=None, **values):
        """A new body; default becomes its childclass."""
        return self._add("body", default, values.items())

    def add_frame(self, default=None, **values):
        """A new frame: what is added to it stands in its pose."""
        return self._add("frame", default, values.items())

    def add_replicate(self, count, **values):
        """A new replicate: `count` copies of what is added to it."""
        return self._add("replicate", None, dict(values, count=count).items())

    def add_geom(self, default=None, **values):
        """A new geom."""
        return self._add("geom", default, values.items())

    def add_joint(self, default=None, **values):
        """A new joint; a hinge unless type says otherwise."""
        return self._add("joint", default, values.items())

    def add_freejoint(self, **values):
        """A new free joint that ignores default classes."""
        return self._add("freejoint", None, values.items())

    def add_site(self, default=None, **values):
        """A new site."""
        return self._add("site", default, values.items())

    def add_camera(self, default=None, **values):
        """A new camera."""
        return self._add("camera", default, values.items())

    def add_light(self, default=None, **values):
        """A new light."""
        return self._add("light", default, values.items())

    def attach_body(self, body, prefix="", suffix=""):
        """Copies a body, of another Spec or this one, to here, and returns the copy. See Spec.attach."""
        return self._spec._attach(body, self, prefix, suffix)

    def attach_frame(self, frame, prefix="", suffix=""):
        """Copies a frame and what stands in it to here; see Spec.attach. Returns the copy."""
        return self._spec._attach(frame, self, prefix, suffix)


class SpecFrame(SpecHolder):
    """A frame or replicate: a pose for the elements in it, which belong to the body around it."""

    __slots__ = ()


class SpecBody(SpecHolder):
    """A body, or the world body. The inertial element is part of it: mass, ipos, iquat, inertia, fullinertia, ialt."""

    __slots__ = ()
    _INERTIAL = dict(mass="mass", ipos="pos", iquat="quat", inertia="diaginertia", fullinertia="fullinertia",
                     iaxisangle="axisangle", ieuler="euler", ixyaxes="xyaxes", izaxis="zaxis")  # fmt: skip

    def __getattr__(self, name):
        if name == "name" and self._node.tag == "worldbody":
            return "world"
        if name in self._INERTIAL:
            inertial = self.inertial
            return None if inertial is None else getattr(inertial, self._INERTIAL[name])
        return super().__getattr__(name)

    def __setattr__(self, name, value):
        if name not in self._INERTIAL:
            return super().__setattr__(name, value)
        if self._node.tag == "worldbody":
            raise Error("the world body cannot have inertia")
        inertial = self.inertial
        if inertial is None:
            if value is None:
                return None
            inertial = self._add("inertial", None, dict(pos=[0, 0, 0], mass=0).items())
        return setattr(inertial, self._INERTIAL[name], value)

    @property
    def inertial(self):
        """The explicit inertia, an element with pos, mass, diaginertia, ...; None where geoms give it."""
        node = next((child for child in self._node.children if child.tag == "inertial"), None)
        return None if node is None else self._spec._handle(node)

    @property
    def explicitinertial(self):
        """Whether the body has an inertia of its own; writing False leaves it to the geoms again."""
        return self.inertial is not None

    @explicitinertial.setter
    def explicitinertial(self, value):
        if not value and self.inertial is not None:
            self._spec.delete(self.inertial)
        elif value and self.inertial is None:
            self._add("inertial", None, dict(pos=[0, 0, 0], mass=0).items())

    @property
    def ialt(self):
        """Alternative orientations of the inertial frame: body.ialt.euler = ..."""
        if self.inertial is None:
            self.explicitinertial = True
        return self.inertial.alt

    def _direct(self, kind):
        """Elements of one kind in this body, through its frames and replicates, in order."""
        out, todo = [], list(reversed(self._node.children))
        while todo:
            node = todo.pop()
            if node.tag == kind or (kind == "joint" and node.tag == "freejoint"):
                out.append(self._spec._handle(node))
            if node.tag in ("frame", "replicate"):
                todo.extend(reversed(node.children))
        return out

    def find_all(self, kind):
        """All elements of a kind ("body", "geom", ...) in this body and below it, in the model's order."""
        word = object_word(kind)
        if word != "body" and word not in (*LEAVES, "frame"):
            raise Error(f"a body holds body, frame, {', '.join(LEAVES)}; found '{word}'")
        out, todo = [], [self]
        while todo:
            body = todo.pop()
            inside = body._direct("body")
            out.extend(body._direct(word) if word != "body" else [body] * (body is not self))
            todo.extend(reversed(inside))
        return out

    def find_child(self, name):
        """The body of this name below this one, None where there is none."""
        return next((body for body in self.find_all("body") if body.name == name), None)

    def to_frame(self):
        """Turns the body into a frame of its parent, with what it holds but joints and inertia; returns it."""
        if self._node.tag == "worldbody":
            raise Error("the world body cannot become a frame")
        spec, node = self._spec, self._node
        for child in list(node.children):
            if child.tag in ("joint", "freejoint", "inertial"):
                spec._drop(child)
        node.tag = "frame"
        node.attrib = {k: v for k, v in node.attrib.items() if k in ("name", "childclass", "pos", "quat", "axisangle",
                                                                     "xyaxes", "zaxis", "euler")}  # fmt: skip
        spec._restructured()
        return spec._handle(node)


def _listing(kind):
    def listing(self):
        return self._direct(kind)

    listing.__doc__ = f"The {kind}s of this body itself, in order; those in its frames too, those of child bodies not."
    return property(listing)


def _first(kind):
    def first(self):
        return next(iter(self._direct(kind)), None)

    first.__doc__ = f"The first {kind} of this body, or None."
    return first


def _next(kind):
    def following(self, element):
        elements = self._direct(kind)
        place = elements.index(element) + 1 if element in elements else len(elements)
        return elements[place] if place < len(elements) else None

    following.__doc__ = f"The {kind} of this body that comes after another one, or None."
    return following


for _kind, _plural in (("body", "bodies"), ("frame", "frames"), *((leaf, leaf + "s") for leaf in LEAVES)):
    setattr(SpecBody, _plural, _listing(_kind))
    setattr(SpecBody, f"first_{_kind}", _first(_kind))
    setattr(SpecBody, f"next_{_kind}", _next(_kind))


class SpecSite(SpecElement):
    """A site; a body can be attached at its pose."""

    __slots__ = ()

    def attach_body(self, body, prefix="", suffix=""):
        """Copies a body to the pose of this site, in the site's body; see Spec.attach. Returns the copy."""
        return self._spec._attach(body, self._spec._frame_at(self), prefix, suffix)


class SpecJoint(SpecElement):
    """A joint. A freejoint reads as a free joint of MuJoCo's defaults, whatever its class has, and becomes one in the
    file where it is given what only a joint has there, as in MuJoCo.
    """

    __slots__ = ()

    def __init__(self, spec, node, grammar):
        super().__init__(spec, node, _FREE if node.tag == "freejoint" else grammar)

    def __getattr__(self, name):
        if name == "type" and self._node.tag == "freejoint":
            return mjtJoint.mjJNT_FREE
        return super().__getattr__(name)

    def _set(self, name, value):
        node, free = self._node, BODY["freejoint"].attributes
        if node.tag == "freejoint" and name not in free:
            if "align" in node.attrib and value is not None:
                raise Error(f"attribute '{name}' of 'freejoint': MJCF has none beside 'align', which None takes away")
            if name == "type" and value in (mjtJoint.mjJNT_FREE, "free"):
                return
        super()._set(name, value)
        if node.tag == "freejoint" and not node.attrib.keys() <= free.keys():
            own = self._spec._class_of(node)["joint"]
            plain = {key: plain for key, plain in BUILTIN["joint"].items() if own.get(key) != plain}
            node.tag, node.attrib = "joint", {**plain, "type": int(mjtJoint.mjJNT_FREE), **node.attrib}
            self._spec._restructured()


_FREE = copy.copy(BODY["joint"])
_FREE.attributes = BODY["joint"].attributes | BODY["freejoint"].attributes


class SpecKey(SpecElement):
    """A keyframe: time [s], qpos, qvel, act, ctrl, mpos, mquat; what is not given is the reference state."""

    __slots__ = ()
