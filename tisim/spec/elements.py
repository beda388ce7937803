"""The elements of a tisim.Spec outside the world: assets, equalities, tendons, sensors, tuples, classes."""

from tisim.enums import mjtEq, mjtObj, mjtSensor, mjtTextureRole
from tisim.errors import Error, brief
from tisim.mjcf.format.grammar import GRAMMAR
from tisim.mjcf.format.names import nearest

from .element import OrderedElement, SpecElement, texts
from .values import Vector

# types of sensors whose enum does not read like their tag
SENSORS = {"JOINTACTFRC": "jointactuatorfrc", "TENDONACTFRC": "tendonactuatorfrc", "GEOMDIST": "distance",
           "GEOMNORMAL": "normal", "GEOMFROMTO": "fromto"}  # fmt: skip


def sensor_tag(kind):
    """The tag of a sensor for a word or an mjtSensor; Error for anything else."""
    tags = GRAMMAR.children["sensor"].children
    try:
        tag = kind if isinstance(kind, str) else mjtSensor(int(kind)).name.removeprefix("mjSENS_")
    except (TypeError, ValueError):
        raise Error(f"expected an mjtSensor or its word, found {brief(kind)}") from None
    tag = tag if tag in tags else SENSORS.get(tag, tag.lower())
    if tag not in tags:
        raise Error(f"there is no sensor '{kind}'{nearest(kind, tags)}")
    return tag


def equality_tag(kind):
    """The tag of an equality for a word or an mjtEq; Error for anything else."""
    tags = GRAMMAR.children["equality"].children
    try:
        tag = kind if isinstance(kind, str) else mjtEq(int(kind)).name.removeprefix("mjEQ_").lower()
    except (TypeError, ValueError):
        raise Error(f"expected an mjtEq or its word, found {brief(kind)}") from None
    if tag not in tags:
        raise Error(f"there is no equality '{kind}'{nearest(kind, tags)}")
    return tag


def object_word(value):
    """The word of an mjtObj, "body" for mjOBJ_BODY; words stay as they are."""
    if isinstance(value, str):
        return value
    try:
        return mjtObj(int(value)).name.removeprefix("mjOBJ_").lower()
    except (TypeError, ValueError):
        raise Error(f"expected an mjtObj or its word, found {brief(value)}") from None


class SpecSensor(OrderedElement):
    """A sensor. objtype and objname (reftype, refname) name what it measures, as do site, joint, body, ..."""

    __slots__ = ()
    _ORDER = ("objtype", "reftype", "objname", "refname")

    @property
    def type(self):
        """mjtSensor of the sensor."""
        tag = self._node.tag
        word = next((word for word, other in SENSORS.items() if other == tag), tag.upper())
        return mjtSensor[f"mjSENS_{word}"]

    def _attribute(self, name):
        known = self._grammar.attributes
        if name in known or name not in ("objtype", "objname", "reftype", "refname"):
            return super()._attribute(name)
        ends = [n for n in ("site", "camera", "joint", "tendon", "actuator", "body", "geom", "mesh") if n in known]
        if self._node.tag in ("distance", "normal", "fromto"):
            end = "1" if name.startswith("obj") else "2"
            return next((n for n in (f"geom{end}", f"body{end}") if n in self._node.attrib), f"geom{end}")
        if name.startswith("ref") and self._node.tag in ("camprojection", "insidesite", "tactile"):
            return {"camprojection": "camera", "insidesite": "site", "tactile": "mesh"}[self._node.tag]
        if name.startswith("obj") and ends and self._node.tag != "contact":
            return {"camprojection": "site", "tactile": "geom"}.get(self._node.tag, ends[0])
        return super()._attribute(name)

    def __setattr__(self, name, value):
        if name in ("objtype", "reftype") and name not in self._grammar.attributes:
            return self._choose(name, object_word(value))
        if name in ("objtype", "reftype"):
            value = object_word(value)
        return super().__setattr__(name, value)

    def __getattr__(self, name):
        if name in ("objtype", "reftype") and name not in self._grammar.attributes:
            end = self._attribute(name[:3] + "name").rstrip("12")
            return mjtObj[f"mjOBJ_{end.upper()}"]
        value = super().__getattr__(name)
        return mjtObj(value or 0) if name in ("objtype", "reftype") else value

    def _choose(self, name, word):
        """Takes note of a type that MJCF says by the attribute that holds the name."""
        end = self._attribute(name[:3] + "name")
        if self._node.tag in ("distance", "normal", "fromto"):
            number = "1" if name == "objtype" else "2"
            if word not in ("geom", "body"):
                raise Error(f"'{self._node.tag}' measures between geoms and bodies, found '{word}'")
            old = self._node.attrib.pop(f"geom{number}", None) or self._node.attrib.pop(f"body{number}", None)
            self._node.attrib[word + number] = old or ""
        elif word != end:
            raise Error(f"'{self._node.tag}' needs a {end}, found '{word}'")


class SpecEquality(OrderedElement):
    """An equality constraint. name1, name2 and objtype, and data, stand for MJCF's own attributes."""

    __slots__ = ()
    _ORDER = ("objtype", "name1", "name2")

    @property
    def type(self):
        """mjtEq of the constraint."""
        return mjtEq[f"mjEQ_{self._node.tag.upper()}"]

    def _attribute(self, name):
        if name in ("name1", "name2"):
            end, tag = name[4], self._node.tag
            if tag in ("connect", "weld"):
                return f"site{end}" if {"site1", "site2"} & self._node.attrib.keys() else f"body{end}"
            return f"{tag}{end}"
        return super()._attribute(name)

    @property
    def objtype(self):
        """mjOBJ_BODY or mjOBJ_SITE for connect and weld, else what the constraint's name says."""
        return mjtObj[f"mjOBJ_{self._attribute('name1')[:-1].upper()}"]

    @objtype.setter
    def objtype(self, value):
        word, now = object_word(value), self._attribute("name1")[:-1]
        if word == now:
            return
        if self._node.tag not in ("connect", "weld") or word not in ("body", "site"):
            raise Error(f"'{self._node.tag}' is between {now}s, found '{word}'")
        for end in "12":
            self._node.attrib[f"{word}{end}"] = self._node.attrib.pop(f"{now}{end}", "")

    @property
    def data(self):
        """MjSpec's 11 numbers: anchor of connect; anchor, relpose, torquescale of weld; polycoef of the others."""
        numbers, first = [0.0] * 10 + [1.0], 0
        for name, n in self._parts():
            value = self._value(name)
            told = _REST.get(name, []) if value is None else _numbers(value)
            numbers[first : first + n] = (told + [0.0] * n)[:n]
            first += n
        return Vector(numbers, lambda values: setattr(self, "data", values))

    @data.setter
    def data(self, value):
        values = _numbers(value)
        if self._node.tag == "weld" and len(values) != 11:
            raise Error(f"'data' of a weld holds 11 numbers, found {len(values)}")
        first = 0
        for name, n in self._parts():
            self._set(name, values[first : first + n] if n > 1 else values[first])
            first += n

    def _parts(self):
        """Attributes of MJCF that hold `data`, with their lengths."""
        return _DATA.get(self._node.tag, (("polycoef", 5),))


# of an equality's data: what stands where, and numbers of what is not written, where they are not 0
_DATA = dict(connect=(("anchor", 3),), weld=(("anchor", 3), ("relpose", 7), ("torquescale", 1)))
_REST = dict(polycoef=[0.0, 1.0, 0.0, 0.0, 0.0], torquescale=[1.0])


def _numbers(value):
    try:
        return [float(v) for v in (value if hasattr(value, "__iter__") else [value])]
    except (TypeError, ValueError):
        raise Error(f"expected numbers, found {brief(value)}") from None


class SpecTendon(SpecElement):
    """A tendon: the first wrap_... makes it spatial or fixed. path is the list of its wraps."""

    __slots__ = ()

    def _wrap(self, kind, tag, **values):
        node = self._node
        if node.tag != kind:
            if node.children:
                raise Error(f"a {node.tag} tendon cannot hold '{tag}'")
            grammar = GRAMMAR.children["tendon"].children[kind]
            if lost := [name for name in node.attrib if name not in grammar.attributes]:
                raise Error(f"a {kind} tendon has no attribute '{lost[0]}'")
            node.tag = kind
            object.__setattr__(self, "_grammar", grammar)
            self._spec._restructured()
        return self._add(tag, None, values.items())

    def wrap_site(self, site):
        """The path goes through a site."""
        return self._wrap("spatial", "site", site=site)

    def wrap_geom(self, geom, sidesite=""):
        """The path goes around a sphere or cylinder, on the side of a site."""
        return self._wrap("spatial", "geom", geom=geom, **({"sidesite": sidesite} if sidesite else {}))

    def wrap_joint(self, joint, coef):
        """The length has a term coef * joint position."""
        return self._wrap("fixed", "joint", joint=joint, coef=coef)

    def wrap_pulley(self, divisor):
        """A new branch begins; its length is divided."""
        return self._wrap("spatial", "pulley", divisor=divisor)

    @property
    def path(self):
        """The wraps, in order."""
        return [self._spec._handle(node) for node in self._node.children]


class SpecMaterial(SpecElement):
    """A material; textures[role] are the names of its textures by mjtTextureRole."""

    __slots__ = ()

    def add_layer(self, texture, role="rgb"):
        """Adds a texture with a role, a word or an mjtTextureRole."""
        return self._add("layer", None, dict(texture=texture, role=role).items())

    @property
    def textures(self):
        """Names by role; write a list, or one place: material.textures[mjtTextureRole.mjTEXROLE_RGB] = "wood"."""
        names = [""] * int(mjtTextureRole.mjNTEXROLE)
        names[int(mjtTextureRole.mjTEXROLE_RGB)] = self.texture
        for layer in self._node.children:
            names[layer.attrib.get("role", 0)] = layer.attrib.get("texture", "")
        return _Textures(names, self)

    @textures.setter
    def textures(self, names):
        names = texts(names, int(mjtTextureRole.mjNTEXROLE))
        for child in list(self._node.children):
            self._spec._drop(child)
        given = {role: name for role, name in enumerate(names) if name}
        if set(given) <= {int(mjtTextureRole.mjTEXROLE_RGB)}:
            self.texture = next(iter(given.values()), None)
            return
        self.texture = None
        for role, name in given.items():
            self.add_layer(name, role)


class _Textures(list):
    def __init__(self, names, material):
        super().__init__(names)
        self._material = material

    def __setitem__(self, role, name):
        super().__setitem__(int(role) if not isinstance(role, slice) else role, name)
        self._material.textures = list(self)


class SpecTexture(SpecElement):
    """A texture; cubefiles are its six files: right, left, up, down, front, back."""

    __slots__ = ()
    _CUBE = ("fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")

    @property
    def cubefiles(self):
        """Names of the six files, "" where there is none."""
        return [self._node.attrib.get(name, "") for name in self._CUBE]

    @cubefiles.setter
    def cubefiles(self, names):
        for name, file in zip(self._CUBE, texts(names, 6)):
            self._set(name, file or None)


class SpecSkin(SpecElement):
    """A skin for display: a file, or vertex, face, texcoord and bones."""

    __slots__ = ()

    def add_bone(self, **values):
        """Adds a bone: body, bindpos, bindquat, vertid, vertweight."""
        return self._add("bone", None, values.items())

    @property
    def bones(self):
        """The bones, in order."""
        return [self._spec._handle(node) for node in self._node.children]


class SpecTuple(SpecElement):
    """A tuple of elements with a number each: objtype, objname, objprm are lists."""

    __slots__ = ()

    def add_element(self, objtype, objname, prm=0):
        """Adds an element by type (a word or an mjtObj) and name."""
        return self._add("element", None, dict(objtype=object_word(objtype), objname=objname, prm=prm).items())

    @property
    def objtype(self):
        """Types of the elements, a list of mjtObj."""
        return [mjtObj(child.attrib["objtype"]) for child in self._node.children]

    @property
    def objname(self):
        """Names of the elements, a list."""
        return [child.attrib["objname"] for child in self._node.children]

    @property
    def objprm(self):
        """Their numbers, a list."""
        return [child.attrib.get("prm", 0.0) for child in self._node.children]

    def update(self, **values):
        lists = [values.pop(name, None) for name in ("objtype", "objname", "objprm")]
        super().update(**values)
        if any(values is not None for values in lists):
            if lists[2] is None and isinstance(lists[0], (list, tuple)):
                lists[2] = [0.0] * len(lists[0])
            if not all(isinstance(v, (list, tuple)) and len(v) == len(lists[0]) for v in lists):
                raise Error("a tuple needs objtype and objname, and objprm if given, as lists of one length")
            for child in list(self._node.children):
                self._spec._drop(child)
            for kind, name, prm in zip(*lists):
                self.add_element(kind, name, prm)
        return self

    update.__doc__ = SpecElement.update.__doc__


class SpecHField(SpecElement):
    """A height field: a file, or nrow, ncol and heights. userdata lists them from the lowest y, row by row."""

    __slots__ = ()

    def update(self, **values):
        data = values.pop("userdata", None)
        super().update(**values)
        if data is not None:
            self.userdata = data
        return self

    update.__doc__ = SpecElement.update.__doc__

    @property
    def userdata(self):
        """Heights (nrow * ncol,); MJCF's elevation lists the rows the other way round."""
        return self._flipped(_numbers(self.elevation))

    @userdata.setter
    def userdata(self, values):
        self._set("elevation", self._flipped(_numbers(values)))

    def _flipped(self, values):
        n = self._node.attrib.get("ncol", 0) or 1
        rows = [values[i : i + n] for i in range(0, len(values), n)]
        return [v for row in reversed(rows) for v in row]


class SpecDefault(SpecElement):
    """A default class: spec.default.geom.rgba = ... holds for every geom that has no class of its own.

    geom, joint, site, camera, light, mesh, material, pair, equality, tendon, actuator are its elements. Unlike in
    mujoco.MjSpec a class also acts on elements that were added before it was changed, as in MJCF.
    """

    __slots__ = ()

    @property
    def name(self):
        """Name of the class, "main" for the top one; renaming it follows in every element that uses it."""
        return self._node.attrib.get("class", "main")

    @name.setter
    def name(self, value):
        self._spec._rename_class(self._node, value)

    @property
    def parent(self):
        """The class that this one inherits from, or None."""
        parent = self._spec._parent(self._node)
        return self._spec._handle(parent) if parent.tag == "default" else None

    def __getattr__(self, name):
        tag = "general" if name == "actuator" else name
        if tag in self._grammar.children and tag != "default":
            node = next((child for child in self._node.children if child.tag == tag), None)
            return self._spec._handle(node) if node is not None else self._add(tag)
        return super().__getattr__(name)
