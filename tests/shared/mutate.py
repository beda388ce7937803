"""Makes broken and hostile model files out of good ones: a grammar mutator for the fuzz tests."""

import random

from lxml import etree

from tisim.mjcf.format.grammar import GRAMMAR

VALUES = [
    "", " ", "nan", "inf", "-inf", "1e400", "1e308", "-1e308", "1e-320", "-1", "0", "1", "2147483647", "2147483648",
    "-2147483648", "99999999999999999999", "1 2", "1 2 3", "0 0 0", "0 0 0 0", "1 0 0 0", "1 2 3 4 5 6 7 8 9 10 11",
    "true", "false", "auto", "world", "none", "mesh", "box", "free", "ball", "a" * 5000, "\u00e9\u4e2d", "1;2", "0x10",
    "1,2,3", "../../../../etc/passwd", "/dev/zero", "/", ".", "con\x7f", "%s%n", "1_000", "--1", "+", "1e", "1.5.2",
]  # fmt: skip


def _all(element, seen):
    for name, child in element.children.items():
        if id(child) not in seen:
            seen[id(child)] = (name, child)
            _all(child, seen)
    return seen


ELEMENTS = [(name, element) for name, element in _all(GRAMMAR, {}).values()]
ATTRIBUTES = sorted({a for _, element in ELEMENTS for a in element.attributes})
NAMES = sorted({name for name, _ in ELEMENTS})


def mutated(text, seed):
    """The text (bytes) of a good file after one to six random changes."""
    rng = random.Random(seed)
    root = etree.fromstring(text)
    for _ in range(rng.randint(1, 6)):
        _change(root, rng)
    out = etree.tostring(root)
    if rng.random() < 0.1:
        out = _bytes(out, rng)
    return out


def _change(root, rng):
    nodes = [e for e in root.iter(etree.Element)]
    node = rng.choice(nodes)
    kind = rng.randrange(10)
    if kind <= 3 and node.attrib:
        name = rng.choice(sorted(node.attrib))
        value = rng.choice(VALUES)
        if rng.random() < 0.3 and node.get(name):
            words = node.get(name).split()
            words[rng.randrange(len(words) or 1) : 1] = [value]
            value = " ".join(words)
        _set(node, name, value)
    elif kind == 4:
        _set(node, rng.choice(ATTRIBUTES), rng.choice(VALUES))
    elif kind == 5 and node is not root:
        node.getparent().remove(node)
    elif kind == 6 and node is not root:
        other = rng.choice(nodes)
        if not any(a is node for a in other.iterancestors()) and other is not node:
            other.append(_copy(node))
    elif kind == 7:
        node.tag = rng.choice(NAMES)
    elif kind == 8:
        etree.SubElement(node, rng.choice(NAMES))
    elif kind == 9 and node.attrib:
        name = rng.choice(sorted(node.attrib))
        other = rng.choice([e for e in nodes if e.attrib])
        _set(node, name, other.get(rng.choice(sorted(other.attrib))))


def _set(node, name, value):
    try:
        node.set(name, value)
    except ValueError:  # lxml does not write control characters
        node.set(name, "?")


def mutated_bytes(data, seed):
    """The bytes of a good asset file after one to six random changes; header and numbers are hit most."""
    rng, data = random.Random(seed), bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(min(len(data), rng.choice([20, 200, 10**9]))) if data else 0
        kind = rng.randrange(9)
        if kind <= 3:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif kind <= 5:
            word = at // 4 * 4
            data[word : word + 4] = rng.choice([b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f", b"\0\0\x80\x7f"])
        elif kind == 6:
            del data[at : at + rng.randint(1, 50)]
        elif kind == 7:
            start = bytes(data[: rng.randrange(99)])
            data[at:at] = rng.choice([b" 999999999999 ", b"-1", b"nan", b"\n", b"/" * 9, b"\0" * 4, start])
        else:
            del data[len(data) - rng.randint(0, len(data)) :]
    return bytes(data)


def _copy(node):
    return etree.fromstring(etree.tostring(node, with_tail=False))


def _bytes(data, rng):
    data = bytearray(data)
    at = rng.randrange(len(data))
    kind = rng.randrange(4)
    if kind == 0:
        del data[at:]
    elif kind == 1:
        data[at] = rng.randrange(256)
    elif kind == 2:
        data[at:at] = b"<body>" * 2000
    else:
        data[0:0] = b'<!DOCTYPE a [<!ENTITY b "c">]>'
    return bytes(data)
