"""Attaching a part of one tisim.Spec to another, and taking parts away: what comes along, under which names.

The rules for what comes along are MuJoCo's (mjCModel, Apache-2.0): all assets, custom data and classes, and the
elements of the other sections whose references are attached too.
"""

from tisim.errors import Error, MjcfError
from tisim.mjcf.format import defaults, write
from tisim.mjcf.format.grammar import GRAMMAR
from tisim.mjcf.format.references import OBJTYPE, place, references
from tisim.mjcf.format.xmltext import Node
from tisim.mjcf.scene.clone import TREE
from tisim.mjcf.scene.expand import expand

from .convert import convert
from .state import Keys

ASSETS = ("mesh", "hfield", "texture", "material", "model")
# (section, tags or None for all) in the order in which they can refer to each other
FOLLOWERS = [
    ("contact", ("pair", "exclude")), ("tendon", None), ("equality", None), ("actuator", None), ("sensor", None),
    ("custom", ("tuple",)),
]  # fmt: skip
FREE = ("clock", "e_potential", "e_kinetic", "user", "contact")  # sensors without an object
PARTLY = ("pair", "exclude", "tendon", "sensor")  # some of their references may stay the parent's


def copied(root):
    """(copy of a tree, dict id of node -> its copy)."""
    new, todo = {}, [root]
    for node in todo:  # grows while it is read
        new[id(node)] = Node(node.tag, dict(node.attrib), node.file, node.line, node.column)
        todo.extend(node.children)
    for node in todo:
        new[id(node)].children = [new[id(child)] for child in node.children]
    return new[id(root)], new


def names_below(spec, node):
    """dict of the (mjtObj, name) of an element of the world and all below it, copies and attached models included."""
    found, todo = {}, [node]
    while todo:
        part = todo.pop()
        kind = OBJTYPE.get("joint" if part.tag == "freejoint" else part.tag)
        if kind is not None and part.attrib.get("name"):
            found[kind, part.attrib["name"]] = None
        todo.extend(part.children)
        if part.tag in ("replicate", "attach"):
            found.update(_expanded_names(spec, part))
    return found


def _expanded_names(spec, node):
    root, world = Node("mujoco", {}), Node("worldbody", {})
    holder = Node("body", {})  # a joint cannot stand in the world
    holder.children, world.children = [node], [holder]
    root.children = [*(n for n in spec._root.children if n.tag in ("compiler", "default")), world]
    try:
        expanded = expand(spec._scope(root)).world
    except MjcfError:  # compile() will tell
        return {}
    return {(kind, item.name): None for name, kind in TREE.items() for item in getattr(expanded, name) if item.name}


def named(section, node):
    """(section, node, place) of an element outside the world and of its children, for references()."""
    yield node, place(section, node.tag)
    for child in node.children:
        yield child, place(section, node.tag, child.tag)


def _kind(section, node):
    return OBJTYPE.get(section if section in ("equality", "tendon", "actuator", "sensor") else node.tag)


def drop_dangling(spec, gone):
    """Drops the contacts, equalities, tendons, actuators, sensors and tuples that refer to what is gone.

    gone  dict with keys (mjtObj, name); what is dropped is added.
    """
    for section, tags in FOLLOWERS:
        for top in spec._sections(section):
            for node in list(top.children):
                refs = [ref for part, where in named(section, node) for ref in references(where, part.attrib)]
                if (tags is None or node.tag in tags) and any((kind, name) in gone for _, name, kind in refs):
                    spec._drop(node)
                    if node.attrib.get("name"):
                        gone[_kind(section, node), node.attrib["name"]] = None


def attach(child, element, spec, holder, prefix, suffix):
    """Copies `element`, a node of the Spec `child`, into `holder`, an element of `spec`; returns its handle there."""
    keys = Keys(spec, child)
    guest = _Guest(child, element, holder._spec, prefix, suffix)
    guest.follow()
    guest.rename()
    guest.enter(holder._node)
    keys.write(guest.parent, None, (guest.originals, guest.new))
    return guest.parent._handle(guest.moved)


class _Guest:
    """A part of a copy of one Spec on its way into another.

    work, parent  the copy, and the Spec it goes to;  moved  the node with the part of the world;  originals  dict id of
    a copied node -> id of what it is a copy of;  here  the (mjtObj, name) of all that comes along;  world
    [(node, place)] of the part;  shared, pieces  [(section, node)] of assets and custom data, and of what refers to the
    part;  stay  dict id of a piece -> names of the parent's elements that it refers to;  classes  whether any come.
    """

    def __init__(self, child, element, parent, prefix, suffix):
        root, copies = copied(child._root)
        work = type(child)(child._scope(root))
        self.work, self.parent, self.prefix, self.suffix = work, parent, prefix, suffix
        self.originals = {id(copy): node for node, copy in copies.items()}
        moved = copies[id(element)]
        _join_files(work, parent)
        convert(work, parent)
        work._restructured()
        cls, inside = work._class_name(moved), {}
        for node in [moved] if moved.tag != "worldbody" else moved.children:
            inside.update(names_below(work, node))
        if moved.tag == "worldbody":
            frame = Node("frame", {}, element.file, element.line, element.column)
            frame.children, moved = moved.children, frame
        self.classes = _join_classes(work, parent, self.new)
        if self.classes:
            moved.attrib["childclass"] = cls
        self.moved, self.here, self.world = moved, set(inside), self._below(moved)
        self.shared, self.pieces, self.stay = [], [], {}

    def new(self, name):
        """The name that something has in the parent."""
        return self.prefix + name + self.suffix

    def _below(self, moved):
        world, todo = [], [moved]
        while todo:
            node = todo.pop()
            if node.tag in ("attach", "replicate") and self.suffix:
                raise Error(f"'{node.tag}' cannot put a suffix behind the names it makes; attach with a prefix only")
            if node.tag == "attach":
                node.attrib["prefix"] = self.new(node.attrib["prefix"])
            world.append((node, place("body", node.tag)))
            todo.extend(node.children)
        return world

    def follow(self):
        """Finds what comes along: all assets and custom data, and what refers to nothing but what comes along."""
        work = self.work
        for tag in ASSETS:
            self.here.update((OBJTYPE[tag], _asset_name(work, node)) for node in work._all().get(tag, ()))
        self.here.update((OBJTYPE["model"], name) for name in work._models)
        for section, tags in FOLLOWERS:
            for node in [n for top in work._sections(section) for n in top.children if tags is None or n.tag in tags]:
                self._follow(section, node)
        self.shared += [("asset", node) for top in work._sections("asset") for node in top.children]
        self.shared += [
            ("custom", n) for top in work._sections("custom") for n in top.children if n.tag in ("numeric", "text")
        ]

    def _follow(self, section, node):
        refs = [(k, name) for part, where in named(section, node) for _, name, k in references(where, part.attrib)]
        out = [ref for ref in refs if ref not in self.here]
        partly = node.tag in PARTLY or section in PARTLY
        if not refs and not (section == "sensor" and node.tag in FREE):
            return
        if out and not (partly and len(out) < len(refs) and all(_exists(self.parent, *ref) for ref in out)):
            return
        self.stay[id(node)] = {name for _, name in out}
        self.pieces.append((section, node))
        if node.attrib.get("name"):
            self.here.add((_kind(section, node), node.attrib["name"]))

    def rename(self):
        """Gives all that comes along the names it has in the parent."""
        for node, where in self.world:
            self._rename(node, where)
        for section, node in [*self.shared, *self.pieces]:
            if section == "asset" and not node.attrib.get("name") and (name := _asset_name(self.work, node)):
                node.attrib["name"] = name
            if self.classes and "class" in GRAMMAR.children[section].children[node.tag].attributes:
                node.attrib.setdefault("class", "main")
            for part, where in named(section, node):
                self._rename(part, where, self.stay.get(id(node), ()))

    def _rename(self, node, where, stay=()):
        for attribute, name, _ in references(where, node.attrib):
            if name not in stay:
                node.attrib[attribute] = self.new(name)
        if node.attrib.get("name"):
            node.attrib["name"] = self.new(node.attrib["name"])
        for attribute in ("class", "childclass"):
            if self.classes and node.attrib.get(attribute):
                node.attrib[attribute] = self.new(node.attrib[attribute])

    def enter(self, holder):
        """Moves everything into the parent, the part of the world into the node `holder`."""
        parent = self.parent
        parent._models.update({self.new(name): model for name, model in self.work._models.items()})
        for section, node in self.shared:
            same = [n for n in parent._section(section).children if n.tag == node.tag
                    and n.attrib == node.attrib and node.attrib.get("name")]  # fmt: skip
            if not same:
                parent._section(section).children.append(node)
        for section, node in self.pieces:
            parent._section(section).children.append(node)
        holder.children.append(self.moved)
        parent._restructured()


def _asset_name(work, node):
    """Name of an asset, from its file where it has none."""
    if node.tag == "model":
        by_file = {id(model): name for name, model in work._models.items()}
        return node.attrib.get("name") or next(iter(by_file.values()), "")
    stem = node.attrib.get("file", "").replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    return node.attrib.get("name") or stem


def _exists(spec, kind, name):
    word = kind.name[6:].lower()
    try:
        return spec.find(word, name) is not None
    except Error:
        return False


def _join_files(work, parent):
    """Names files so that both specifications find theirs."""
    both = work._source, parent._source
    for name, data in both[0].assets.items():
        if both[1].assets.get(name, data) != data:
            raise Error(f"both specifications have an asset '{name}', with different contents")
    folders = [{k: spec.compiler._value(k) for k in write.FOLDERS} for spec in (work, parent)]
    has_files = any(write.FILES.get(n.tag) for top in work._sections("asset") for n in top.children)
    if has_files and (folders[0] != folders[1] or both[0].folder != both[1].folder):
        for spec in (work, parent):
            scope = spec._scope(spec._root)
            scope.compiler["strippath"] = folders[1]["strippath"]  # the parent's holds for both, as in MuJoCo
            for top in spec._sections("asset"):
                for node in top.children:
                    node.attrib = write.with_paths(node, scope).attrib
            for node in spec._sections("compiler"):
                node.attrib = {k: v for k, v in node.attrib.items() if k not in write.FOLDERS}
    both[1].assets.update(both[0].assets)


def _join_classes(work, parent, new):
    """Adds the default classes of `work` below the parent's top class; whether there are any.

    What the parent's top class sets and the other's does not gets its own value again.
    """
    tops = [spec._sections("default") for spec in (work, parent)]
    if not any(top.children for some in tops for top in some):
        return False
    if any(node.attrib.get("class") == new("main") for node in parent._default_nodes()):
        return True  # an earlier attachment brought them
    table, theirs = (defaults.classes(some) for some in tops)
    top = _one_class(tops[0], table)
    _inherit(top, table["main"], theirs["main"])
    todo = [top]
    while todo:
        node = todo.pop()
        node.attrib["class"] = new("main" if node is top else node.attrib["class"])
        for child in node.children:
            if child.tag == "default":
                todo.append(child)
            else:
                for part, where in named("default", child):
                    _rename_default(part, new)
    parent.default._node.children.append(top)
    return True


def _one_class(sections, table):
    """The top default section of a file; where there are several, one that gives the same classes."""
    if len(sections) < 2:
        return sections[0] if sections else Node("default", {})
    top = Node("default", {}, sections[0].file, sections[0].line, sections[0].column)
    for section in sections:
        for child in section.children:
            if child.tag == "default":
                top.children.append(child)
                # it was made before what a later section adds to the top class
                _inherit(child, table[child.attrib["class"]], table["main"])
    return top


def _inherit(cls, record, inherited):
    """Gives a default class, a Node, the attributes it needs to be `record` where it inherits from `inherited`."""
    for tag, wanted in record.items():
        known = GRAMMAR.children["default"].children[tag].attributes
        own = next((child for child in cls.children if child.tag == tag), None)
        given = own.attrib if own is not None else {}
        values = {n: wanted[n] for n, v in given.items() if isinstance(v, list) and len(v) < len(wanted.get(n) or ())}
        for name in wanted:
            if inherited[tag].get(name) == wanted[name] or name in given:
                continue
            no_name = wanted[name] is None and name in known and known[name].kind == "text"
            values[name] = "" if no_name else wanted[name]
            if values[name] is None or name not in known:
                word = inherited[tag][name][0] if name == "alt" else name  # of several, the attribute that turns
                raise Error(
                    f"cannot attach: the top default class sets '{word}' of '{tag}', which another class cannot take "
                    "back; use a class of its own for it"
                )
        if values:
            if own is None:
                own = Node(tag, {}, cls.file, cls.line, cls.column)
                cls.children.append(own)
            own.attrib.update(values)


def _rename_default(node, new):
    """A class refers to assets by the names that elements would use."""
    for attribute in ("material", "mesh", "hfield", "texture"):
        if node.attrib.get(attribute):
            node.attrib[attribute] = new(node.attrib[attribute])
