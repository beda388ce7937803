"""SpecElement: one element of a tisim.Spec, its attributes read and written by name."""

from tisim.errors import Error, UnsupportedError, brief
from tisim.mjcf.format.defaults import BUILTIN, PLAIN
from tisim.mjcf.format.grammar import GRAMMAR, REFUSED_ATTRIBUTES
from tisim.mjcf.format.names import nearest
from tisim.mjcf.format.xmltext import Node
from tisim.mjcf.scene.sections import SECTIONS

from .orientation import Orientation
from .values import caller, readable, typed

ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
BODY = GRAMMAR.children["worldbody"].children["body"].children

# mujoco.MjSpec's spellings -> MJCF's, by tag; "" holds for every element that has the attribute
ALIASES = {
    "": dict(
        userdata="user", actfrclimited="actuatorfrclimited", actfrcrange="actuatorfrcrange",
        actgravcomp="actuatorgravcomp", solref_limit="solreflimit", solimp_limit="solimplimit",
        solref_friction="solreffriction", solimp_friction="solimpfriction", targetbody="target", meshname="mesh",
        hfieldname="hfield", typeinertia="shellinertia", fluid_ellipsoid="fluidshape", fluid_coefs="fluidcoef",
        geomname1="geom1", geomname2="geom2", bodyname1="body1", bodyname2="body2", uservert="vertex",
        usernormal="normal", userface="face", usertexcoord="texcoord", sensor_size="sensorsize", focal_length="focal",
        focal_pixel="focalpixel", principal_length="principal", principal_pixel="principalpixel",
    ),
    "compiler": dict(degree="angle"),
}  # fmt: skip


class SpecElement:
    """One element. Attributes have MJCF's names; mujoco.MjSpec's spellings work too.

    Reading gives the value in force: the element's own, else its default class's, else MuJoCo's default. Writing takes
    numbers, sequences, arrays, bools, enums, elements (for their name) or the text MJCF would have; None takes the
    element's own value away. A wrong name or value raises tisim.Error.
    """

    __slots__ = ("_spec", "_node", "_grammar")

    def __init__(self, spec, node, grammar):
        for name, value in (("_spec", spec), ("_node", node), ("_grammar", grammar)):
            object.__setattr__(self, name, value)

    def __eq__(self, other):
        return isinstance(other, SpecElement) and other._node is self._node

    def __hash__(self):
        return id(self._node)

    def __repr__(self):
        return f"<{type(self).__name__} {self._node.tag} '{self._node.attrib.get('name', '')}'>"

    def __dir__(self):
        return [*super().__dir__(), *self._grammar.attributes]

    # attributes

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        name = self._attribute(name)
        attribute = self._grammar.attributes[name]
        return readable(attribute, self._value(name), lambda values: setattr(self, name, values))

    def __setattr__(self, name, value):
        own = getattr(type(self), name, None)
        if isinstance(own, property):
            if own.fset is None:
                raise _NoAttribute(f"'{name}' of '{self._node.tag}' can only be read")
            own.fset(self, value)
        else:
            self._set(self._attribute(name), value)

    def update(self, **values):
        """Sets several attributes; all of them or, where one is wrong, none."""
        before = dict(self._node.attrib), list(self._node.children), self._node.tag
        try:
            for name, value in values.items():
                setattr(self, name, value)
        except BaseException:
            self._node.attrib, self._node.children, self._node.tag = before
            self._spec._restructured()
            raise
        return self

    def _attribute(self, name):
        """MJCF's name of an attribute; Error where the element has none of this name."""
        known = self._grammar.attributes
        found = name if name in known else ALIASES.get(self._node.tag, {}).get(name) or ALIASES[""].get(name)
        if found not in known:
            hint = _ELSEWHERE.get((self._node.tag, name)) or _ELSEWHERE.get(("", name))
            if hint:
                raise _NoAttribute(f"'{self._node.tag}' has no attribute '{name}'; {hint}")
            raise _NoAttribute(f"'{self._node.tag}' has no attribute '{name}'{nearest(name, [*known, *_extra(self)])}")
        return found

    def _set(self, name, value):
        node = self._node
        if value is None:
            old = node.attrib.pop(name, None)
            self._spec._changed(node, (old, None) if name == "name" else None)
            return
        try:
            new = typed(self._grammar.attributes[name], value)
        except ValueError as e:
            raise Error(f"attribute '{name}' of '{node.tag}': {e}") from None
        if name == "quat" and not any(new):
            raise Error(f"attribute 'quat' of '{node.tag}': a quaternion of zeros is no rotation")
        harmless = REFUSED_ATTRIBUTES.get((node.tag, name))
        if harmless is not None and new not in harmless:
            raise UnsupportedError(f"attribute '{name}' of '{node.tag}' is not supported", name)
        if name in ORIENTATIONS:
            for other in ORIENTATIONS:
                node.attrib.pop(other, None)
        old, node.attrib[name] = node.attrib.get(name), new
        self._spec._changed(node, (old, new) if name == "name" else None)

    def _value(self, name):
        """The typed value in force, None where there is none."""
        own = self._node.attrib.get(name)
        base = self._inherited().get(name)
        if own is None:
            return base
        if self._grammar.attributes[name].partial and isinstance(base, list) and len(own) < len(base):
            return own + base[len(own) :]
        return own

    def _inherited(self):
        """dict of attributes of the default class, or MuJoCo's defaults where the element has no class."""
        tag = self._inheriting()
        if tag in BUILTIN:
            return self._spec._class_of(self._node).get(tag, {})
        return PLAIN.get(tag, _PLAIN.get(tag, {}))

    def _inheriting(self):
        section = self._spec._section_of(self._node)
        return SECTIONS.get(section) or self._node.tag

    @property
    def classname(self):
        """The default class in force, a SpecDefault; write a class or its name."""
        return self._spec.find_default(self._spec._class_name(self._node))

    @classname.setter
    def classname(self, value):
        if isinstance(value, str):
            value = self._spec.find_default(value)
        elif value is not None and not (isinstance(value, SpecElement) and value._node.tag == "default"):
            raise Error(f"expected a default class or its name, found {brief(value)}")
        name = None if value is None else value.name
        self._set("childclass" if "childclass" in self._grammar.attributes else self._attribute("class"), name)

    @property
    def alt(self):
        """Other words for the orientation: alt.euler = [0, 0, 90] is element.euler = [0, 0, 90]; see Orientation."""
        return Orientation(self)

    @property
    def parent(self):
        """The body that holds the element; None for the world and for what is outside the world."""
        node = self._spec._body_of(self._node)
        return None if node is None else self._spec._handle(node)

    @property
    def frame(self):
        """The frame that holds the element directly, or None."""
        node = self._spec._parent(self._node)
        return self._spec._handle(node) if node is not None and node.tag == "frame" else None

    def set_frame(self, frame):
        """Moves the element into a frame of the same body, or out of all frames (None), to the end of what is there."""
        body, node = self.parent, self._node
        home = body if frame is None else frame
        if body is None or not isinstance(home, SpecElement) or home._spec is not self._spec:
            raise Error(f"expected a frame of the same specification, found {frame!r}")
        if home != body and (home._node.tag != "frame" or home.parent != body or home == self):
            raise Error(f"{frame!r} is no frame of {body!r}")
        if self._spec._below(home._node, node):
            raise Error(f"{frame!r} stands in {self!r}")
        self._spec._parent(node).children.remove(node)
        home._node.children.append(node)
        self._spec._restructured()

    @property
    def info(self):
        """Where the element was made: "file:line" of the model file or of the Python code."""
        return f"{self._node.file}:{self._node.line}"

    # children

    def _add(self, tag, default=None, values=()):
        """A new child element at the end, with attributes `values`."""
        grammar = self._grammar.children[tag]
        if grammar.refused:
            raise UnsupportedError(f"element '{tag}' is not supported", tag)
        file, line = caller()
        node = Node(tag, {}, file, line)
        node.whole = tag == "key"
        handle = self._spec._adopt(node, self._node)
        try:
            if default is not None:
                handle.classname = default
            handle.update(**dict(values))
        except BaseException:
            self._spec._drop(node)
            raise
        return handle


def texts(values, number):
    """A list of at most `number` texts, with "" for None; Error for anything else."""
    values = list(values) if isinstance(values, (list, tuple)) else values
    if not isinstance(values, list) or len(values) > number or any(not isinstance(v or "", str) for v in values):
        raise Error(f"expected a list of at most {number} names, found {brief(values)}")
    return [v or "" for v in values]


class _NoAttribute(Error, AttributeError):
    """A wrong name of an attribute: hasattr() and getattr() with a default work as usual."""


# attributes of MjSpec that are not here, by tag or "" for all: what to use
_ELSEWHERE = {
    ("", "id"): "ids are those of a compiled model, m.body(name).id and its like",
    ("", "signature"): "elements are compared by ==",
    ("texture", "data"): "pixels come from a file or are builtin; Spec.from_string(text, assets) takes a PNG as bytes",
}


def _extra(element):
    return [name for name in dir(type(element)) if not name.startswith("_")]


# defaults of elements that have no default class
_PLACE = dict(pos=[0.0] * 3, quat=[1.0, 0.0, 0.0, 0.0])
_PLAIN = {
    "body": dict(_PLACE, gravcomp=0.0, mocap=0, sleep=0, user=[]), "frame": _PLACE,
    "replicate": dict(sep="", offset=[0.0] * 3, euler=[0.0] * 3), "freejoint": BUILTIN["joint"],
    "inertial": _PLACE, "key": dict(time=0.0), "numeric": dict(data=[]),
}  # fmt: skip


class OrderedElement(SpecElement):
    """An element of which some attributes of MjSpec stand for different ones of MJCF, as the others say."""

    __slots__ = ()
    _ORDER = ()  # attributes of MjSpec, in the order in which they must be set

    def update(self, **values):
        first = {name: values[name] for name in self._ORDER if name in values}
        return super().update(**first, **{k: v for k, v in values.items() if k not in first})

    update.__doc__ = SpecElement.update.__doc__
