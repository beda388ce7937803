"""tisim.Spec: a model as a tree that can be built, edited, attached, written and compiled."""

import os

from ..errors import Error, Problems, UnsupportedError
from . import defaults, parse, spec_attach, write
from .compile import compile_scope
from .grammar import GRAMMAR
from .names import nearest
from .scope import Scope
from .spec_actuator import SpecActuator
from .spec_bodies import SpecBody, SpecFrame, SpecJoint, SpecKey, SpecSite
from .spec_element import BODY, SpecElement
from .spec_elements import (
    SpecDefault,
    SpecEquality,
    SpecHField,
    SpecMaterial,
    SpecSensor,
    SpecTendon,
    SpecTexture,
    SpecTuple,
    equality_tag,
    sensor_tag,
)
from .spec_settings import SpecOption, SpecSettings
from .spec_state import Keys, recompile
from .spec_values import caller
from .xmltext import Node, Source

HANDLES = dict(
    worldbody=SpecBody, body=SpecBody, frame=SpecFrame, replicate=SpecFrame, site=SpecSite, joint=SpecJoint,
    freejoint=SpecJoint, key=SpecKey, material=SpecMaterial, texture=SpecTexture, hfield=SpecHField, tuple=SpecTuple,
    default=SpecDefault, option=SpecOption,
)  # fmt: skip
SECTION_HANDLES = dict(actuator=SpecActuator, sensor=SpecSensor, equality=SpecEquality, tendon=SpecTendon)
SETTINGS = ("compiler", "option", "size", "visual", "statistic")
HOLDERS = ("worldbody", "body", "frame", "replicate")

# kind -> (section, tags or None for all of them); what stands below the world has no section
KINDS = {
    "body": (None, ("worldbody", "body")), "frame": (None, ("frame",)), "geom": (None, ("geom",)),
    "joint": (None, ("joint", "freejoint")), "site": (None, ("site",)), "camera": (None, ("camera",)),
    "light": (None, ("light",)), "mesh": ("asset", ("mesh",)), "hfield": ("asset", ("hfield",)),
    "texture": ("asset", ("texture",)), "material": ("asset", ("material",)), "pair": ("contact", ("pair",)),
    "exclude": ("contact", ("exclude",)), "equality": ("equality", None), "tendon": ("tendon", None),
    "actuator": ("actuator", None), "sensor": ("sensor", None), "numeric": ("custom", ("numeric",)),
    "text": ("custom", ("text",)), "tuple": ("custom", ("tuple",)), "key": ("keyframe", ("key",)),
}  # fmt: skip
PLURALS = {kind: {"body": "bodies", "mesh": "meshes", "equality": "equalities"}.get(kind, kind + "s") for kind in KINDS}


class Spec:
    """A model specification in the manner of mujoco.MjSpec, the same tree that reading a file gives.

        spec = tisim.Spec()
        body = spec.worldbody.add_body(name="box", pos=[0, 0, 1])
        body.add_freejoint()
        body.add_geom(type="box", size=[0.1, 0.1, 0.1], rgba=[1, 0, 0, 1])
        m = spec.compile()

    spec.body("box"), spec.geom(...), ... find an element by name (Error with the near names where there is none;
    find(kind, name) gives None); spec.bodies, spec.geoms, ... list all of a kind in the model's order. spec.option,
    .compiler, .visual, .stat and .size are the settings; spec.assets holds files by name, as bytes or str.

    Differences to MjSpec: default classes act when the model is compiled, as in MJCF, so changing one changes elements
    that exist already; attaching copies, and leaves the attached Spec as it was.
    """

    def __init__(self, scope=None):
        scope = Scope(Node("mujoco", {}), Source()) if scope is None else scope
        root = scope.root
        # sections that MJCF may repeat become one each
        root.children = [node for tag in write.SECTIONS for node in write.merged(tag, scope.of(tag))]
        self._root, self._source, self._models = root, scope.source, dict(scope.models)
        self._parents, self._lists, self._names, self._classes = {}, None, None, None
        self._restructured()

    @classmethod
    def from_file(cls, path):
        """Spec of an MJCF file. Raises MjcfError or UnsupportedError with file, line and column."""
        return cls(parse.parse_file(path))

    @classmethod
    def from_string(cls, text, assets=None):
        """Spec of an MJCF text; assets maps file names to contents (bytes or str)."""
        return cls(parse.parse_string(text, assets))

    @classmethod
    def from_scope(cls, scope):
        """Spec of a copy of a Scope (see parse.py)."""
        return cls(_copy_of(scope))

    def copy(self):
        """An independent copy."""
        return type(self)(self._scope(spec_attach.copied(self._root)[0]))

    def __repr__(self):
        counts = ", ".join(f"{len(nodes)} {PLURALS[kind]}" for kind, nodes in self._all().items() if nodes)
        return f"<tisim.Spec '{self.modelname}': {counts}>"

    # the model as a whole

    @property
    def modelname(self):
        """Name of the model."""
        return self._root.attrib.get("model", "MuJoCo Model")

    @modelname.setter
    def modelname(self, name):
        self._handle(self._root)._set("model", name)

    @property
    def assets(self):
        """dict name -> bytes or str of files that are not on disk."""
        return self._source.assets

    @assets.setter
    def assets(self, files):
        self._source.assets = dict(files)

    @property
    def worldbody(self):
        """The world body."""
        return self._handle(self._section("worldbody"))

    @property
    def default(self):
        """The top default class."""
        return self._handle(self._section("default"))

    @property
    def stat(self):
        """Statistics that override the computed ones."""
        return self._handle(self._section("statistic"))

    def compile(self):
        """The Model. Raises MjcfError at the line of the file, or of the Python code, where something is wrong."""
        from ..model import Model

        self._check()
        compiled = compile_scope(self._scope(self._root))
        compiled.scope = self._scope(spec_attach.copied(self._root)[0])
        return Model(compiled)

    def recompile(self, m, d):
        """(Model, Data) after an edit, with the state of what is still there: qpos, qvel, act, ctrl, mocap, time.

        m, d  a Model that this Spec compiled and its Data. What was added starts at its reference state.
        """
        return recompile(self, m, d)

    def to_xml(self):
        """MJCF text. Loaded from a string, with the same assets, it compiles to the same model."""
        return write.to_text(self._scope(self._root))

    def to_file(self, path):
        """Writes MJCF to a file, from where files on disk are found again; assets stay in `assets`."""
        path = os.fspath(path)
        text = write.to_text(self._scope(self._root), os.path.dirname(path))
        try:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        except OSError as e:
            raise Error(f"{path}: cannot write the file: {e.strerror or e}") from None

    # finding

    def find(self, kind, name):
        """The element of a kind ("body", "geom", "actuator", ...) and name, or None."""
        if kind not in KINDS:
            raise Error(f"unknown kind of element '{kind}'{nearest(kind, KINDS)}")
        if self._names is None:
            self._names = {word: {} for word in KINDS}
            for word, nodes in self._all().items():
                for node in nodes:
                    self._names[word].setdefault("world" if node.tag == "worldbody" else node.attrib.get("name"), node)
        node = self._names[kind].get(name)
        return None if node is None or not name else self._handle(node)

    def find_default(self, name):
        """The default class of a name; Error with the near names where there is none."""
        found = {("main" if node in self._root.children else node.attrib.get("class")): node
                 for node in reversed(self._default_nodes())}  # fmt: skip
        if name not in found:
            if name == "main":
                return self.default
            raise Error(f"there is no default class '{name}'{nearest(name, found)}")
        return self._handle(found[name])

    def _found(self, kind, name):
        element = self.find(kind, name)
        if element is None:
            raise Error(f"the specification has no {kind} named '{name}'{nearest(name, self._names[kind])}")
        return element

    def _all(self):
        """dict kind -> nodes in the model's order."""
        if self._lists is None:
            self._lists = {kind: [] for kind in KINDS}
            kinds = {tag: kind for kind, (section, tags) in KINDS.items() if section is None for tag in tags}
            for world in self._sections("worldbody"):
                bodies = [world]
                while bodies:
                    body = bodies.pop()
                    self._lists["body"].append(body)
                    inner, todo = [], list(reversed(body.children))
                    while todo:
                        node = todo.pop()
                        if node.tag == "body":
                            inner.append(node)
                        elif node.tag in kinds:
                            self._lists[kinds[node.tag]].append(node)
                        if node.tag in ("frame", "replicate"):
                            todo.extend(reversed(node.children))
                    bodies.extend(reversed(inner))
            for kind, (section, tags) in KINDS.items():
                if section:
                    nodes = [child for node in self._sections(section) for child in node.children]
                    self._lists[kind] = [node for node in nodes if tags is None or node.tag in tags]
        return self._lists

    # adding

    def _add(self, section, tag, default, values):
        return self._handle(self._section(section))._add(tag, default, values.items())

    def add_mesh(self, default=None, **values):
        """A mesh asset: file, or vertex (uservert) and face (userface)."""
        return self._add("asset", "mesh", default, values)

    def add_hfield(self, **values):
        """A height field: size, and file or nrow, ncol and userdata."""
        return self._add("asset", "hfield", None, values)

    def add_texture(self, **values):
        """A texture."""
        return self._add("asset", "texture", None, values)

    def add_material(self, default=None, **values):
        """A material."""
        return self._add("asset", "material", default, values)

    def add_pair(self, default=None, **values):
        """A contact pair of two geoms: geom1, geom2 (geomname1, geomname2)."""
        return self._add("contact", "pair", default, values)

    def add_exclude(self, **values):
        """Excludes contacts between two bodies: body1, body2 (bodyname1, bodyname2)."""
        return self._add("contact", "exclude", None, values)

    def add_equality(self, default=None, type="connect", **values):
        """An equality constraint. type is an mjtEq or its word; name1, name2 and objtype, or MJCF's attributes."""
        return self._add("equality", equality_tag(type), default, values)

    def add_tendon(self, default=None, **values):
        """A tendon, spatial or fixed by what wrap_site, wrap_geom, wrap_joint, wrap_pulley add to it."""
        return self._add("tendon", "spatial", default, values)

    def add_actuator(self, default=None, **values):
        """A general actuator: target and trntype, or joint, tendon, site, ...; see set_to_position and its like."""
        return self._add("actuator", "general", default, values)

    def add_sensor(self, type, **values):
        """A sensor. type is an mjtSensor or its word; objtype and objname, or MJCF's attributes, say of what."""
        return self._add("sensor", sensor_tag(type), None, values)

    def add_numeric(self, **values):
        """A custom list of numbers: name, data, size."""
        return self._add("custom", "numeric", None, values)

    def add_text(self, **values):
        """A custom text: name, data."""
        return self._add("custom", "text", None, values)

    def add_tuple(self, **values):
        """A custom tuple of elements: name, and the lists objtype, objname, objprm."""
        return self._add("custom", "tuple", None, values)

    def add_key(self, **values):
        """A keyframe."""
        return self._add("keyframe", "key", None, values)

    def add_default(self, name, parent=None):
        """A default class that inherits from `parent` (a SpecDefault or its name), or from the top one."""
        if any(node.attrib.get("class") == name for node in self._default_nodes()) or name == "main" or not name:
            raise Error(f"default class '{name}' is already defined" if name else "a default class needs a name")
        above = self.default if parent is None else self.find_default(parent) if isinstance(parent, str) else parent
        new = above._add("default")
        try:
            new._set("class", name)
        except Error:
            self._drop(new._node)
            raise
        return new

    # taking away, attaching

    def delete(self, element):
        """Takes an element away. With a body goes all below it and whatever refers to that; keyframes keep the rest.

        What refers to another element stays, as in MjSpec, and is told by compile().
        """
        node = element._node
        if id(node) not in self._parents or node.tag == "worldbody" or node in self._root.children:
            raise Error(f"{element!r} cannot be deleted: it is not, or no longer, an element of this specification")
        kind = node.tag
        if kind == "default":
            self._unused(node)
        if kind != "body":
            return self._drop(node)
        gone, keys = spec_attach.names_below(node), Keys(self, strict=False)
        self._drop(node)
        spec_attach.drop_dangling(self, gone)
        keys.write(self, None)

    def attach(self, child, prefix="", suffix="", frame=None, site=None):
        """Copies everything of another Spec to a frame or site of this one; returns the frame that holds the copy.

        child  a Spec, left as it is;  prefix, suffix  put around all names;  frame, site  an element or its name.
        Assets, custom data and classes come along, and contacts, equalities, tendons, actuators, sensors and keyframes
        whose elements do. Raises Error where settings of the compiler differ in a way that a file cannot hold.
        """
        if (frame is None) == (site is None):
            raise Error("attach() needs one of frame and site")
        kind, target = ("frame", frame) if site is None else ("site", site)
        target = self._found(kind, target) if isinstance(target, str) else target
        holder = target if site is None else self._frame_at(target)
        return self._attach(child.worldbody, holder, prefix, suffix)

    def _attach(self, element, holder, prefix, suffix):
        if not isinstance(element, (SpecBody, SpecFrame)):
            raise Error(f"expected a body or frame of a Spec, found {element!r}")
        return spec_attach.attach(element._spec, element._node, self, holder, prefix or "", suffix or "")

    def _frame_at(self, site):
        """A new frame with the pose of a site, in the site's place."""
        if not isinstance(site, SpecSite):
            raise Error(f"expected a site, found {site!r}")
        at = self._handle(self._parent(site._node)).add_frame(pos=site.pos)
        for name in ("quat", "axisangle", "xyaxes", "zaxis", "euler"):
            if name in site._node.attrib:
                setattr(at, name, site._node.attrib[name])
        return at

    # the tree

    def _sections(self, tag):
        return [node for node in self._root.children if node.tag == tag]

    def _section(self, tag):
        """The section of a tag to add to, made where there is none."""
        found = self._sections(tag)
        if found:
            return found[-1] if tag != "default" else found[0]
        node = Node(tag, {}, *caller())
        places = [write.SECTIONS.index(child.tag) for child in self._root.children]
        place = sum(p < write.SECTIONS.index(tag) for p in places)
        self._root.children.insert(place, node)
        self._parents[id(node)] = self._root
        return node

    def _grammar(self, node):
        if node is self._root:
            return GRAMMAR
        parent = self._parents[id(node)]
        if parent.tag in HOLDERS:
            return BODY[node.tag]
        return self._grammar(parent).children[node.tag]

    def _handle(self, node):
        grammar = self._grammar(node)
        parent = self._parents.get(id(node))
        kind = HANDLES.get(node.tag, SpecElement)
        if parent is not None and parent.tag in SECTION_HANDLES:
            kind = SECTION_HANDLES[parent.tag]
        elif node.tag in ("compiler", "size", "statistic", "visual", "flag", "lengthrange") or (
            parent is not None and parent.tag == "visual"
        ):
            kind = SpecSettings
        elif parent is not None and parent.tag in ("default", "spatial", "fixed") and node.tag != "default":
            kind = SpecElement
        return kind(self, node, grammar)

    def _adopt(self, node, parent):
        """Puts a new node at the end of another one; returns its handle."""
        if id(parent) not in self._parents and parent is not self._root:
            raise Error("the element that should hold the new one was deleted")
        parent.children.append(node)
        self._parents[id(node)] = parent
        self._lists = None
        self._changed(node)
        return self._handle(node)

    def _drop(self, node):
        self._parents[id(node)].children.remove(node)
        todo = [node]
        while todo:
            gone = todo.pop()
            del self._parents[id(gone)]
            todo.extend(gone.children)
        self._lists = self._names = self._classes = None

    def _restructured(self):
        """Forgets what was noted about the tree, after changes to its structure."""
        self._parents, self._lists, self._names, self._classes = {}, None, None, None
        todo = [self._root]
        while todo:
            node = todo.pop()
            for child in node.children:
                self._parents[id(child)] = node
            todo.extend(node.children)

    def _changed(self, node, renamed=None):
        """Forgets what was noted and may be wrong now. renamed  (old, new) name of the node."""
        parent = self._parents.get(id(node))
        if node.tag == "default" or parent is None or parent.tag in ("default", "material"):
            self._classes = None
        if renamed and self._names is not None:
            old, new = renamed
            kind = next((kind for kind, (section, tags) in KINDS.items() if (tags is None or node.tag in tags)
                         and (parent.tag in HOLDERS if section is None else section == parent.tag)), None)  # fmt: skip
            if old or kind is None:
                self._names = None
            else:
                self._names[kind].setdefault(new, node)

    def _parent(self, node):
        return self._parents.get(id(node))

    def _section_of(self, node):
        """Tag of the section of an element outside the world, "body" for one below the world."""
        parent = self._parents.get(id(node))
        return "" if parent is None else "body" if parent.tag in HOLDERS else parent.tag

    def _body_of(self, node):
        """The body node that holds a node of the world, or None."""
        node = self._parents.get(id(node))
        while node is not None and node.tag in ("frame", "replicate"):
            node = self._parents.get(id(node))
        return node if node is not None and node.tag in ("body", "worldbody") else None

    def _default_nodes(self):
        out, todo = [], list(reversed(self._sections("default")))
        while todo:
            node = todo.pop()
            out.append(node)
            todo.extend(child for child in reversed(node.children) if child.tag == "default")
        return out

    def _class_name(self, node):
        """Name of the default class in force at a node."""
        if node.attrib.get("class"):
            return node.attrib["class"]
        while node is not None:
            if node.tag == "default":
                return "main" if self._parents[id(node)] is self._root else node.attrib.get("class", "main")
            if node.attrib.get("childclass"):
                return node.attrib["childclass"]
            node = self._parents.get(id(node))
        return "main"

    def _class_of(self, node):
        """The default class in force at a node, dict element -> attributes; MuJoCo's defaults where there is none."""
        if self._classes is None:
            self._classes = defaults.classes(self._sections("default"))
        return self._classes.get(self._class_name(node)) or defaults.BUILTIN

    def _rename_class(self, node, name):
        old = node.attrib.get("class", "main")
        if self._parents[id(node)] is self._root:
            raise Error("the top default class is 'main' and cannot be renamed")
        if not isinstance(name, str) or not name or any(n.attrib.get("class") == name for n in self._default_nodes()):
            raise Error(f"{name!r} is no name for a default class, or already one")
        self._handle(node)._set("class", name)
        for user in self._users(old):
            for attribute in ("class", "childclass"):
                if user.attrib.get(attribute) == old:
                    user.attrib[attribute] = name

    def _users(self, cls):
        todo, out = list(self._root.children), []
        while todo:
            node = todo.pop()
            if node.tag == "default":
                continue
            if cls in (node.attrib.get("class"), node.attrib.get("childclass")):
                out.append(node)
            todo.extend(node.children)
        return out

    def _unused(self, node):
        """Raises Error where a default class, or one below it, is still used."""
        for cls in [node, *(n for n in self._default_nodes() if self._below(n, node))]:
            users = self._users(cls.attrib.get("class"))
            if users:
                raise Error(f"default class '{cls.attrib['class']}' is still used by {self._handle(users[0])!r}")

    def _below(self, node, other):
        while node is not None and node is not other:
            node = self._parents.get(id(node))
        return node is other

    def _scope(self, root):
        """A Scope of this tree or a copy of it."""
        scope = Scope(root, Source(self._source.folder, self._source.assets))
        scope.models = dict(self._models)
        return scope

    def _check(self):
        """What reading a file would have refused: missing attributes, elements that may stand only once."""
        problems, refused = Problems(), None
        todo = [(self._root, GRAMMAR)]
        while todo:
            node, grammar = todo.pop()
            for name in grammar.required:
                with problems:
                    if name not in node.attrib:
                        raise node.error(f"'{node.tag}' needs the attribute '{name}'")
            seen = set()
            for child in node.children:
                inner = grammar.children[child.tag]
                with problems:
                    if inner.once and child.tag in seen:
                        raise child.error(f"element '{child.tag}' may stand only once in '{node.tag}'")
                if inner.refused and refused is None:
                    refused = UnsupportedError(f"element '{child.tag}' is not supported", child.tag)
                seen.add(child.tag)
                todo.append((child, inner))
        problems.check()
        if refused is not None:
            raise refused


def _copy_of(scope):
    copy = Scope(spec_attach.copied(scope.root)[0], Source(scope.source.folder, scope.source.assets))
    copy.models = dict(scope.models)
    return copy


def _finder(kind):
    def find(self, name):
        return self._found(kind, name)

    find.__name__, find.__doc__ = kind, f"The {kind} of a name; Error with the near names where there is none."
    return find


def _lister(kind):
    def elements(self):
        return [self._handle(node) for node in self._all()[kind]]

    elements.__doc__ = f"All elements of kind {kind}, in the model's order."
    return property(elements)


def _setting(section, name):
    def read(self):
        return getattr(self._handle(self._section(section)), name)

    def write_(self, value):
        setattr(self._handle(self._section(section)), name, value)

    return property(read, write_, doc=f"The attribute '{name}' of the section '{section}'.")


def _settings(section):
    def settings(self):
        return self._handle(self._section(section))

    settings.__doc__ = f"The settings of the section '{section}'."
    return property(settings)


for _kind, _plural in PLURALS.items():
    setattr(Spec, _kind, _finder(_kind))
    setattr(Spec, _plural, _lister(_kind))
for _name in ("compiler", "option", "size", "visual"):
    setattr(Spec, _name, _settings(_name))
for _name in GRAMMAR.children["size"].attributes:
    setattr(Spec, _name, _setting("size", _name))
for _name in ("meshdir", "texturedir", "strippath"):
    setattr(Spec, _name, _setting("compiler", _name))
