"""The tree of a tisim.Spec and what is noted about it: parents, handles, lists, names, default classes."""

from tisim.errors import Error, Problems, UnsupportedError, brief
from tisim.mjcf.format import defaults, write
from tisim.mjcf.format.grammar import GRAMMAR
from tisim.mjcf.format.scope import Scope
from tisim.mjcf.format.xmltext import Node, Source

from .actuator import SpecActuator
from .bodies import SpecBody, SpecFrame, SpecJoint, SpecKey, SpecSite
from .element import BODY, SpecElement
from .elements import (
    SpecDefault,
    SpecEquality,
    SpecHField,
    SpecMaterial,
    SpecSensor,
    SpecSkin,
    SpecTendon,
    SpecTexture,
    SpecTuple,
)
from .mesh import SpecMesh
from .settings import SpecOption, SpecSettings
from .values import caller

HANDLES = dict(
    worldbody=SpecBody, body=SpecBody, frame=SpecFrame, replicate=SpecFrame, site=SpecSite, joint=SpecJoint,
    freejoint=SpecJoint, key=SpecKey, material=SpecMaterial, texture=SpecTexture, hfield=SpecHField, tuple=SpecTuple,
    mesh=SpecMesh, skin=SpecSkin, default=SpecDefault, option=SpecOption,
)  # fmt: skip
SECTION_HANDLES = dict(actuator=SpecActuator, sensor=SpecSensor, equality=SpecEquality, tendon=SpecTendon)
HOLDERS = ("worldbody", "body", "frame", "replicate")

# kind -> (section, tags or None for all of them); what stands below the world has no section
KINDS = {
    "body": (None, ("worldbody", "body")), "frame": (None, ("frame",)), "geom": (None, ("geom",)),
    "joint": (None, ("joint", "freejoint")), "site": (None, ("site",)), "camera": (None, ("camera",)),
    "light": (None, ("light",)), "mesh": ("asset", ("mesh",)), "hfield": ("asset", ("hfield",)),
    "skin": ("asset", ("skin",)),
    "texture": ("asset", ("texture",)), "material": ("asset", ("material",)), "pair": ("contact", ("pair",)),
    "exclude": ("contact", ("exclude",)), "equality": ("equality", None), "tendon": ("tendon", None),
    "actuator": ("actuator", None), "sensor": ("sensor", None), "numeric": ("custom", ("numeric",)),
    "text": ("custom", ("text",)), "tuple": ("custom", ("tuple",)), "key": ("keyframe", ("key",)),
}  # fmt: skip
PLURALS = {kind: {"body": "bodies", "mesh": "meshes", "equality": "equalities"}.get(kind, kind + "s") for kind in KINDS}


class Tree:
    """The tree of a specification: what Spec and its elements stand on."""

    def __init__(self, scope):
        root = scope.root
        # sections that MJCF may repeat become one each
        root.children = [node for tag in write.SECTIONS for node in write.merged(tag, scope.of(tag))]
        self._root, self._source, self._models = root, scope.source, dict(scope.models)
        self._restructured()

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
            raise Error(f"{brief(name)} is no name for a default class, or already one")
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
        scope.take_models(dict(self._models))
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
