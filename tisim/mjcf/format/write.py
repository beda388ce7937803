"""Canonical MJCF: a specification as text that compiles to the same model.

Sections stand in one order, attributes in the grammar's, keywords by name, numbers as the shortest text that reads back
exactly. Includes are resolved and repeated sections merged; classes, frames, replicates and attached models stay as
they are. Files on disk are named so that they are found from where the text will stand.
"""

import os

from tisim.errors import Error

from .actuator_defaults import SHORTCUTS
from .defaults import BUILTIN
from .grammar import GRAMMAR
from .xmltext import MAX_DEPTH, Node

SECTIONS = """compiler option size visual statistic default extension custom asset worldbody deformable contact equality
tendon actuator sensor keyframe""".split()
_SETTINGS = ("compiler", "option", "size", "visual", "statistic")

# element -> (compiler setting with the folder, attributes that name files)
FILES = {
    "mesh": ("meshdir", ["file"]), "skin": ("meshdir", ["file"]), "hfield": ("meshdir", ["file"]),
    "texture": ("texturedir", ["file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback"]),
    "model": (None, ["file"]),
}  # fmt: skip
FOLDERS = ("assetdir", "meshdir", "texturedir", "strippath")


def to_text(scope, folder=""):
    """MJCF text of a Scope.

    folder  where the text will stand; "" for the current folder, as for a text that is read from a string. If it is not
    the folder of the scope's own files, files on disk are named by absolute paths; what is found among the assets keeps
    the name it has there. Raises Error where the tree is too deep to be read back, and UnsupportedError for
    keyframes that a file cannot hold.
    """
    _refuse_whole_keys(scope)
    moved = os.path.abspath(folder) != os.path.abspath(scope.source.folder)
    models = [node for node in scope.nodes("asset") if node.tag == "model"]
    stripped = moved and models and scope.compiler["strippath"]  # which holds for their files, too
    lines = [f"<mujoco{_attributes(GRAMMAR, scope.root.attrib)}>"]
    for tag in SECTIONS:
        for node in merged(tag, scope.of(tag)):
            if moved and tag == "compiler":
                kept = _stripped_folders(scope) if stripped else {}
                node = _like(node, {k: v for k, v in node.attrib.items() if k not in FOLDERS} | kept, node.children)
            if moved and tag == "asset":
                named = models if stripped else node.children
                children = [with_paths(child, scope) if child in named else child for child in node.children]
                node = _like(node, node.attrib, children)
            if node.attrib or node.children or tag == "worldbody":
                _write(node, GRAMMAR.children[tag], lines)
    return "\n".join([*lines, "</mujoco>", ""])


def _stripped_folders(scope):
    """Settings with which the names of all assets are those of files in two folders, wherever the text stands."""
    folders = {k: os.path.abspath(scope.source.path(scope.compiler[k])) for k in ("meshdir", "texturedir")}
    return folders | dict(strippath=1)


def _refuse_whole_keys(scope):
    """A file's keyframe has one copy of what a replicate holds, nothing behind it and no controls (key_copies.py)."""
    keys = [node for section in scope.of("keyframe") for node in section.children if node.whole]
    keys = [node for node in keys if not node.attrib.keys() <= {"name", "time"}]
    driven, behind = any({"act", "ctrl"} & node.attrib.keys() for node in keys), False
    inside = scope.of("worldbody")[::-1] if keys else []
    while inside:
        node = inside.pop()
        behind = behind or node.tag == "replicate"
        if behind and (driven or node.tag in ("joint", "freejoint") or node.attrib.get("mocap")):
            raise keys[0].unsupported("a keyframe of all that a replicate makes has no place in a file", "replicate")
        inside += node.children[::-1]


def merged(tag, sections):
    """The sections of one tag as one Node, or as several where order matters; none for none."""
    if len(sections) < 2:
        return list(sections)
    if tag == "default":
        return _merged_defaults(sections)
    if tag not in _SETTINGS:
        return [_like(sections[0], {}, [child for node in sections for child in node.children])]
    out = _like(sections[0], {})
    for node in sections:
        _override(out, node, tag)
    if "memory" in out.attrib and {"njmax", "nconmax", "nstack"} & out.attrib.keys():
        return list(sections)
    return [out]


def _override(out, node, tag):
    """Lets the settings of a later section override those in `out`, as reading both in turn does."""
    if tag == "compiler" and "assetdir" in node.attrib:
        out.attrib.pop("meshdir", None)
        out.attrib.pop("texturedir", None)
    for name, value in node.attrib.items():
        old = out.attrib.get(name)
        if name != "actuatorgroupdisable" and isinstance(old, list) and len(value) < len(old):
            value = value + old[len(value) :]
        out.attrib[name] = value
    for child in node.children:
        same = next((c for c in out.children if c.tag == child.tag), None)
        if same is None:
            out.children.append(same := _like(child, {}))
        _override(same, child, child.tag)


def _merged_defaults(sections):
    """Joins defaults where that changes nothing: a nested class inherits only what stands before it."""
    out = []
    for node in sections:
        nested = bool(out) and any(child.tag == "default" for child in out[-1].children)
        own = {child.tag for child in node.children if child.tag != "default"}
        if out and not (own and nested) and not own & {child.tag for child in out[-1].children}:
            out[-1].children.extend(node.children)
        else:
            out.append(_like(node, node.attrib, list(node.children)))
    return out


def _like(node, attrib, children=()):
    new = Node(node.tag, dict(attrib), node.file, node.line, node.column)
    new.children = list(children)
    return new


def with_paths(node, scope):
    """An asset with names of files that need no folder settings."""
    setting, names = FILES.get(node.tag, (None, ()))
    paths = {name: file_path(scope, node.attrib[name], setting) for name in names if node.attrib.get(name)}
    return _like(node, node.attrib | paths, node.children) if paths else node


def file_path(scope, name, setting):
    """Where a file of a Scope is: its full name among the assets, or its absolute path.

    setting  the compiler setting that holds its folder, "meshdir" or "texturedir", or None.
    """
    if setting:
        if scope.compiler["strippath"]:
            name = name.replace("\\", "/").rpartition("/")[2]
        name = os.path.join(scope.compiler[setting], name)
    source = scope.source
    name = source.spelt(name)
    if name in source.assets or os.path.basename(name) in source.assets:
        return name
    return os.path.abspath(source.path(name))


def _attributes(element, attrib):
    from xml.sax.saxutils import quoteattr  # here, since it takes a while: it brings urllib

    known = element.attributes
    return "".join(f" {name}={quoteattr(known[name].text(attrib[name]))}" for name in known if name in attrib)


def _silent(parent, child):
    """Whether an empty child says nothing. Actuators in a class do: each kind sets what its kind has."""
    if parent.tag == "default":
        return child.tag in BUILTIN and child.tag not in SHORTCUTS
    return parent.tag in ("visual", "option", "compiler")


def _write(node, element, lines):
    """Appends the lines of a node and what is below it."""
    todo = [(node, element, 1)]
    while todo:
        node, element, depth = todo.pop()
        indent = "  " * depth
        if element is None:
            lines.append(f"{indent}</{node.tag}>")
            continue
        if depth >= MAX_DEPTH:
            raise Error(f"elements are nested deeper than {MAX_DEPTH} levels: no reader would accept the file")
        start = f"{indent}<{node.tag}{_attributes(element, node.attrib)}"
        children = [child for child in node.children if child.attrib or child.children or not _silent(node, child)]
        if children:
            lines.append(start + ">")
            todo.append((node, None, depth))
            todo.extend((child, element.children[child.tag], depth + 1) for child in reversed(children))
        else:
            lines.append(start + "/>")
