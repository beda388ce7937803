"""MJCF text -> a checked tree: every name known to the grammar, every attribute converted to its type."""

import os

from ..errors import MjcfError, UnsupportedError
from .grammar import GRAMMAR, REFUSED_ATTRIBUTES
from .names import nearest
from .scope import Scope
from .xmltext import Source, parse_xml, resolve_includes


def parse_file(path):
    """Scope of an MJCF file. Raises MjcfError or UnsupportedError, each with its place."""
    path = os.fspath(path)
    source = Source(os.path.dirname(path))
    try:
        data = source.read(os.path.basename(path))
    except (OSError, ValueError) as e:
        raise MjcfError(f"cannot read the file: {getattr(e, 'strerror', None) or e}", path) from None
    return _checked(parse_xml(data, path), source, os.path.basename(path))


def parse_string(text, assets=None):
    """The same for a text; `assets` maps names of included files to their contents (str or bytes)."""
    return _checked(parse_xml(text), Source(assets=assets), "")


def _checked(root, source, main):
    if root.tag == "robot":
        raise UnsupportedError("a URDF file ('robot') is not supported", "robot", root.file, root.line, root.column)
    if root.tag != "mujoco":
        raise root.error(f"the root of an MJCF file is <mujoco>, found <{root.tag}>")
    resolve_includes(root, source, main)
    refusal = check(root)
    if refusal is not None:
        raise refusal
    return Scope(root, source)


def check(root):
    """Checks a tree against the grammar and replaces attribute texts by typed values, in place.

    Returns None, or the UnsupportedError of the first feature outside the scope: the whole file is checked before
    the caller raises it. Raises MjcfError where the grammar is broken.
    """
    refusal = None
    todo = [(root, GRAMMAR, False)]
    while todo:
        node, element, refused = todo.pop()
        if element.refused and not refused:
            refused = True
            refusal = _earlier(refusal, node, f"element '{node.tag}' is not supported", node.tag)
        found = _convert(node, element)
        if found:
            refusal = _earlier(refusal, node, f"attribute '{found}' of '{node.tag}' is not supported", found)
        children = element.children
        once = set()
        for child in node.children:
            inner = children.get(child.tag)
            if inner is None:
                raise child.error(f"'{node.tag}' has no child element '{child.tag}'{nearest(child.tag, children)}")
            if inner.once:
                if child.tag in once:
                    raise child.error(f"element '{child.tag}' may stand only once in '{node.tag}'")
                once.add(child.tag)
            todo.append((child, inner, refused))
    return refusal


def _convert(node, element):
    """Converts the attributes of a node; the name of the first one that is not supported, or None."""
    known, values, refused = element.attributes, {}, None
    for name, text in node.attrib.items():
        attribute = known.get(name)
        if attribute is None:
            raise node.error(f"'{node.tag}' has no attribute '{name}'{nearest(name, known)}")
        if attribute.numeric and not text.strip():
            continue
        try:
            values[name] = value = attribute.convert(text)
        except ValueError as e:
            raise node.error(f"attribute '{name}' of '{node.tag}': {e}") from None
        harmless = REFUSED_ATTRIBUTES.get((node.tag, name))
        if harmless is not None and value not in harmless:
            refused = refused or name
    if isinstance(values.get("quat"), list) and not any(values["quat"]):
        raise node.error(f"attribute 'quat' of '{node.tag}': a quaternion of zeros is no rotation")
    for name in element.required:
        if name not in values:
            raise node.error(f"'{node.tag}' needs the attribute '{name}'")
    node.attrib = values
    return refused


def _earlier(refusal, node, message, feature):
    """The refusal that stands first in the file (nodes are not visited in file order)."""
    if refusal is not None and (
        refusal.file != node.file or (refusal.line, refusal.column) <= (node.line, node.column)
    ):
        return refusal
    return UnsupportedError(message, feature, node.file, node.line, node.column)
