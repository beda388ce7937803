"""Attaching a part of one tisim.Spec to another, and taking parts away: what comes along, under which names.

The rules for what comes along are MuJoCo's (mjCModel's attachment, Apache-2.0): all assets, custom data and classes,
and the elements of the other sections whose references are attached too.
"""

from .grammar import GRAMMAR
from .references import OBJTYPE, place, references
from .xmltext import Node


def copied(root):
    """(copy of a tree, dict id of node -> its copy)."""
    new = {}
    todo = [root]
    for node in todo:  # grows while it is read
        copy = new[id(node)] = type(node)(node.tag, dict(node.attrib), node.file, node.line, node.column)
        todo.extend(node.children)
    for node in todo:
        new[id(node)].children = [new[id(child)] for child in node.children]
    return new[id(root)], new
