"""XML text -> a tree of `Node`s that know their place, with `include`s resolved.

lxml reads, with entities, DTD and network off. Before it, expat from the standard library notes the line and column of
every element (lxml has no columns, and its line numbers stop at 65,535), and refuses too deep nesting and a DOCTYPE,
and with it every entity that is not one of XML's five.
"""

import errno
import os
import re
import stat
from xml.parsers import expat

from lxml import etree

from tisim.errors import Error, MjcfError, UnsupportedError

# MuJoCo's own XML reader refuses deeper files, so no model that works there is lost.
MAX_DEPTH = 500
MAX_ATTRIBUTES = 1000
# bytes of one file: a larger one is no model, and would not fit in memory once it is read
MAX_FILE = 2**28
# characters at the beginning and at the end of a message that are shown
SHOWN = 1000

# bytes of a text that may be the name of a file
MAX_NAME = 4096

# bytes of a text that is mended where a strict reader refuses it: larger ones are written by programs that know XML
MAX_MENDED = 2**24
# what MuJoCo's reader accepts and expat does not; each pattern goes through a text once, whatever is in it
COMMENT = rb"<!--.*?(?:-->|\Z)"
TAG = rb"""<[^<>!?/"'][^<>"']*(?:(?:"[^"]*(?:"|\Z)|'[^']*(?:'|\Z))[^<>"']*)*"""
COMMENT_OR_TAG = re.compile(COMMENT + b"|" + TAG, re.DOTALL)
VALUE = re.compile(rb"""("[^"]*"|'[^']*')(?=([^\s/>])?)""")
NO_ENTITY = re.compile(rb"&(?!#?\w+;)")
LATE_DECLARATION = re.compile(rb"\A(\s+)<\?(xml\s[^>]*)\?>")


class Node:
    """One XML element: tag, attributes (dict str -> str), children, and where it stands.

    whole  True of a keyframe that was not read: its numbers are of the whole model, with all that replicates make.
    """

    __slots__ = ("tag", "attrib", "children", "file", "line", "column", "whole")

    def __init__(self, tag, attrib, file="<string>", line=0, column=0):
        self.tag, self.attrib, self.children = tag, attrib, []
        self.file, self.line, self.column, self.whole = file, line, column, False

    def error(self, message):
        """An MjcfError at this element; the caller raises it."""
        if len(message) > 2 * SHOWN:
            message = f"{message[:SHOWN]} ... {message[-SHOWN:]}"
        return MjcfError(message, self.file, self.line, self.column)

    def unsupported(self, message, feature):
        """An UnsupportedError at this element; the caller raises it."""
        return UnsupportedError(message, feature, self.file, self.line, self.column)


def _other(data):
    """What bytes that are no XML seem to be, and what to do, as the end of a message; "" where that is not known."""
    if not data.strip():
        return ": there is no text"
    if data[:4] == b"PK\x03\x04" or data[:2] == b"\x1f\x8b":
        return ": this is an archive; unpack it, and read the .xml or .urdf that is in it"
    if data.startswith(b"version https://git-lfs"):
        return ": this is Git LFS's note of a file that was not fetched; `git lfs pull` does"
    if len(data) < MAX_NAME and data.strip().lower().endswith((b".xml", b".mjcf", b".urdf")):
        return ": this is the name of a file; from_xml_path, or from_file of a Spec, reads it"
    if b"\0" in data:
        return ": these bytes are no text"
    return ""


def parse_xml(data, file="<string>"):
    """The root Node of an XML text.

    data  str or bytes;  file  its name in messages. Raises MjcfError with line and column, Error for other types.
    """
    if not isinstance(data, (str, bytes, bytearray, memoryview)):
        raise Error(f"{file}: expected a text or bytes, not {type(data).__name__}")
    encoding = "utf-8" if isinstance(data, str) else None
    try:
        data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
        try:
            places = _places(data, encoding, file)
        except expat.ExpatError:
            if len(data) > MAX_MENDED:
                raise
            data = _well_formed(data)
            places = _places(data, encoding, file)
        root = _root(data, encoding)
    except expat.ExpatError as e:
        message = f"not well-formed XML: {expat.errors.messages.get(e.code, e.code)}{_other(data)}"
        raise MjcfError(message, file, e.lineno, e.offset + 1) from None
    except etree.XMLSyntaxError as e:
        line, column = e.position
        raise MjcfError(f"not well-formed XML: {e.msg}", file, line, max(1, column)) from None
    except (UnicodeError, LookupError, ValueError) as e:
        raise MjcfError(f"not readable as XML: {e}", file, 1, 1) from None
    elements = list(root.iter(etree.Element))
    if len(elements) != len(places):
        raise MjcfError("not readable as XML: its elements cannot be counted", file, 1, 1)
    urdf = root.tag.rpartition("}")[2] == "robot"
    nodes = {}
    for element, place in zip(elements, places):
        tag, attributes = element.tag, dict(element.items())
        if urdf:
            tag = _written(tag, element)
            attributes = {_written(name, element): value for name, value in attributes.items()}
        node = nodes[element] = Node(tag, attributes, file, *place)
        if element is not root:
            nodes[element.getparent()].children.append(node)
    return nodes[root]


def _well_formed(data):
    """A text as a stricter reader takes it, where MuJoCo's is not strict; all stays in its line.

    There, comments may hold two hyphens, spaces stand before the declaration and none between attributes, and values
    may hold < and an & that begins nothing.
    """

    def value(match):
        text = NO_ENTITY.sub(b"&amp;", match[1]) if b"&" in match[1] else match[1]
        return text.replace(b"<", b"&lt;") + (b" " if match[2] else b"")

    def part(match):
        found = match[0]
        if found.startswith(b"<!--"):
            return b"<!--" + found[4:-3].replace(b"-", b" ") + b"-->" if found.endswith(b"-->") else found
        return VALUE.sub(value, found)

    return LATE_DECLARATION.sub(rb"\1<!--\2-->", COMMENT_OR_TAG.sub(part, data), count=1)


def _root(data, encoding):
    """lxml's root element. Prefixes need no declaration, as in MuJoCo; a name with one is then a name with a colon."""
    parser = etree.XMLParser(
        encoding=encoding, resolve_entities=False, load_dtd=False, no_network=True, dtd_validation=False,
        remove_comments=True, remove_pis=True, huge_tree=True,  # depth is limited in _places, entities are refused
        recover=True,
    )  # fmt: skip
    root = etree.fromstring(data, parser)
    for error in parser.error_log:
        if error.domain != etree.ErrorDomains.NAMESPACE:
            raise etree.XMLSyntaxError(error.message, error.type, error.line, error.column)
    return root


def _written(name, element):
    """A name of a URDF as it is written in the file: of the namespaces that it may have MuJoCo knows nothing."""
    if not name.startswith("{"):
        return name
    space, _, local = name[1:].rpartition("}")
    if name == element.tag:
        prefix = element.prefix
    else:
        prefix = next((p for p, uri in element.nsmap.items() if p and uri == space), "xml")
    return f"{prefix}:{local}" if prefix else local


def _places(data, encoding, file):
    """(line, column) of every element in document order; lxml knows no columns.

    Refuses a DOCTYPE, entities and too deep nesting before lxml sees them; ExpatError where it cannot read them.
    """
    parser = expat.ParserCreate(encoding=encoding)
    places, depth = [], 0

    def here():
        return parser.CurrentLineNumber, parser.CurrentColumnNumber + 1

    def start(_, attributes):
        nonlocal depth
        places.append(here())
        depth += 1
        if len(attributes) > MAX_ATTRIBUTES:  # lxml takes the square of their number in time
            raise MjcfError(f"an element has more than {MAX_ATTRIBUTES:,} attributes", file, *here())
        if depth > MAX_DEPTH:
            raise MjcfError(f"elements are nested deeper than {MAX_DEPTH} levels", file, *here())

    def end(_):
        nonlocal depth
        depth -= 1

    def doctype(*_):
        raise MjcfError("a DOCTYPE is not allowed in a model file", file, *here())

    def entity(*_):
        raise MjcfError("entities are not allowed in a model file", file, *here())

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = entity
    parser.ExternalEntityRefHandler = entity
    parser.Parse(data, True)
    return places


class Source:
    """Where a model's files come from: a dictionary of assets first, then the folder of the main file.

    assets  None or dict name -> str or bytes;  folder  path that relative names start from.
    """

    def __init__(self, folder="", assets=None):
        self.folder = os.fspath(folder)
        try:
            self.assets = dict(assets or {})
        except (TypeError, ValueError):
            raise Error(f"assets: expected a dict of names and contents, got a {type(assets).__name__}") from None

    def path(self, name):
        """Where a file is on disk; `..` goes back in the name, whether or not its folders exist, as in MuJoCo."""
        path = os.path.join(self.folder, name)
        return os.path.normpath(path) if path else path

    def beside(self, node, name):
        """Another name of a file that an element names: in the folder of the included file in which that stands."""
        folder = os.path.relpath(os.path.dirname(node.file) or ".", self.folder or ".")
        return os.path.normpath(os.path.join(folder, name))

    def _keys(self, name):
        """The names that a file may have among the assets."""
        return name, os.path.normpath(self.path(name)), os.path.basename(name)

    def exists(self, name):
        """Whether a file can be found, among the assets or on disk."""
        try:
            return any(key in self.assets for key in self._keys(name)) or os.path.isfile(self.path(name))
        except ValueError:
            return False

    def spelt(self, name):
        """The name of a file as it is found, with slashes where it has backslashes; as it is where it is not."""
        slashes = name.replace("\\", "/")
        return slashes if self.exists(slashes) and not self.exists(name) else name

    def read(self, name):
        """Bytes or str of a file; OSError where it is missing, no regular file, or larger than MAX_FILE bytes."""
        for key in self._keys(name):
            if key in self.assets:
                return self.assets[key]
        path = self.path(name)
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if about.st_size > MAX_FILE:
            raise OSError(errno.EFBIG, f"it has {about.st_size:,} bytes, more than {MAX_FILE:,}")
        with open(path, "rb") as f:
            return f.read(MAX_FILE)


def resolve_includes(root, source, main=""):
    """Replaces every `include` below root by the children of the file it names, in place.

    Names are relative to the main file, or else to the file that includes. A file may be included once, as in MuJoCo,
    so it cannot include itself.
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
    name = source.spelt(name)
    if not source.exists(name) and source.exists(beside := source.beside(node, name.replace("\\", "/"))):
        name = beside
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
