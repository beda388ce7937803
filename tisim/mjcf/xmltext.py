"""XML text -> a tree of `Node`s that know their place, with `include`s resolved.

The parser is expat from the standard library: it gives the line and column of every element exactly, in files of any
length, never opens a file or a socket, and does not recurse on nesting. A DOCTYPE, and with it every entity that is not
one of XML's five, is refused.
"""

import os
from xml.parsers import expat

from ..errors import MjcfError

# MuJoCo's own XML reader refuses deeper files, so no model that works there is lost.
MAX_DEPTH = 500


class Node:
    """One XML element: tag, attributes (dict str -> str), children, and where it stands."""

    __slots__ = ("tag", "attrib", "children", "file", "line", "column")

    def __init__(self, tag, attrib, file="<string>", line=0, column=0):
        self.tag, self.attrib, self.children = tag, attrib, []
        self.file, self.line, self.column = file, line, column

    def error(self, message):
        """An MjcfError at this element; the caller raises it."""
        return MjcfError(message, self.file, self.line, self.column)


def parse_xml(data, file="<string>"):
    """The root Node of an XML text.

    data  str or bytes;  file  its name in messages. Raises MjcfError with line and column.
    """
    parser = expat.ParserCreate(encoding="utf-8" if isinstance(data, str) else None)
    parser.buffer_text = True
    stack, roots = [], []

    def place():
        return file, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1

    def start(tag, attrib):
        node = Node(tag, attrib, *place())
        (stack[-1].children if stack else roots).append(node)
        stack.append(node)
        if len(stack) > MAX_DEPTH:
            raise node.error(f"elements are nested deeper than {MAX_DEPTH} levels")

    def end(_):
        stack.pop()

    def doctype(*_):
        raise MjcfError("a DOCTYPE is not allowed in a model file", *place())

    def entity(*_):
        raise MjcfError("entities are not allowed in a model file", *place())

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = entity
    parser.ExternalEntityRefHandler = entity
    try:
        parser.Parse(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data, True)
    except expat.ExpatError as e:
        message = f"not well-formed XML: {expat.errors.messages.get(e.code, e.code)}"
        raise MjcfError(message, file, e.lineno, e.offset + 1) from None
    except (UnicodeError, LookupError, ValueError) as e:
        raise MjcfError(f"not readable as XML: {e}", file, 1, 1) from None
    return roots[0]


class Source:
    """Where a model's files come from: a dictionary of assets first, then the folder of the main file.

    assets  None or dict name -> str or bytes;  folder  path that relative names start from.
    """

    def __init__(self, folder="", assets=None):
        self.folder = os.fspath(folder)
        self.assets = dict(assets or {})

    def path(self, name):
        return name if os.path.isabs(name) else os.path.join(self.folder, name)

    def exists(self, name):
        """Whether a file can be found, among the assets or on disk."""
        try:
            return name in self.assets or os.path.basename(name) in self.assets or os.path.isfile(self.path(name))
        except ValueError:
            return False

    def read(self, name):
        """Bytes or str of a file; OSError where it is missing."""
        for key in (name, os.path.basename(name)):
            if key in self.assets:
                return self.assets[key]
        with open(self.path(name), "rb") as f:
            return f.read()


def resolve_includes(root, source, main=""):
    """Replaces every `include` below root by the children of the file it names, in place.

    Names are relative to the main file; a file may be included once, as in MuJoCo, so a file cannot include itself.
    """
    seen = {os.path.normpath(source.path(main))} if main else set()
    todo = [(root, 1)]
    while todo:
        node, depth = todo.pop()
        if depth > MAX_DEPTH:
            raise node.error(f"elements are nested deeper than {MAX_DEPTH} levels")
        if any(child.tag == "include" for child in node.children):
            node.children = list(_expanded(node.children, source, seen))
        todo.extend((child, depth + 1) for child in node.children if child.children)


def _expanded(children, source, seen):
    """The children with includes replaced, in document order, without recursion."""
    stack = [iter(children)]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
        elif child.tag == "include":
            stack.append(iter(_included(child, source, seen)))
        else:
            yield child


def _included(node, source, seen):
    name = node.attrib.get("file")
    if set(node.attrib) != {"file"} or not name:
        raise node.error("include needs the attribute 'file' and no other")
    if node.children:
        raise node.error("an include element cannot have children")
    path = os.path.normpath(source.path(name))
    if path in seen:
        raise node.error(f"file '{name}' is already included")
    seen.add(path)
    try:
        data = source.read(name)
    except (OSError, ValueError) as e:
        raise node.error(f"cannot read included file '{name}': {getattr(e, 'strerror', None) or e}") from None
    root = parse_xml(data, path)
    if not root.children:
        raise node.error(f"included file '{name}' is empty")
    return root.children
