"""The grammar table has exactly the elements and attributes of MuJoCo 3.4.0's schema."""

import re

import mujoco
import pytest

from tisim.mjcf.format.grammar import GRAMMAR


def schema():
    """dict path -> (set of attributes, occurrence mark) from mj_printSchema; a body is ("worldbody", "body")."""
    out, path = {}, []
    for line in mujoco.mj_printSchema(False, True).split("\n")[1:]:
        head = re.match(r"( +)([\w()]+) \((.)\)(.*)", line)
        if head:
            depth, name = len(head[1]) // 3, head[2].replace("(world)", "")
            path = [*path[: depth - 1], name]
            key = tuple(["worldbody", *path] if path[0] == "body" else path)
            out[key] = (set(head[4].split()), head[3])
        elif line.strip():
            out[key][0].update(line.split())
    return out


def find(path):
    element = GRAMMAR
    for name in path:
        element = element.children[name]
    return element


@pytest.mark.parametrize("path", list(schema()), ids="/".join)
def test_the_attributes_of_an_element(path):
    attributes, mark = schema()[path]
    element = find(path)
    assert set(element.attributes) == attributes
    assert element.once == (mark == "?")


def test_there_are_no_other_elements():
    known = set(schema()) | {("worldbody",)}
    todo = [((), GRAMMAR)]
    while todo:
        path, element = todo.pop()
        for name, child in element.children.items():
            inner = (*path, name)
            # body, frame and replicate hold the same elements; a default holds defaults
            if name in ("frame", "replicate") or inner[-2:] in (("body", "body"), ("default", "default")):
                continue
            if path == ("worldbody",) and name != "body":
                continue
            assert inner in known
            todo.append((inner, child))
