"""Custom data of a model: numbers, texts and tuples of objects."""

import numpy as np

from tisim.enums import mjtObj

from ..scene.items import first, unique_names
from .object_names import Names

MAX_NUMERIC = 500  # numbers in one `numeric`, as in MuJoCo


def _runs(size):
    """(adr, size) of consecutive runs of these lengths, int32."""
    size = np.array(size, np.int32)
    return (np.cumsum(size) - size).astype(np.int32), size


def compile_custom(a, numerics, texts, out):
    """Arrays numeric_* and text_*, the texts as UTF-8 bytes that end in a zero, and their names."""
    data = []
    for item in numerics:
        values = item.attrib.get("data", [])
        size = item.attrib.get("size", len(values))
        if not len(values) <= size <= MAX_NUMERIC or size < 1:
            message = f"'size' of a numeric is 1 to {MAX_NUMERIC} and not smaller than the number of data"
            raise item.node.error(message)
        data.append(values + [0.0] * (size - len(values)))
    a["numeric_adr"], a["numeric_size"] = _runs([len(d) for d in data])
    a["numeric_data"] = np.array([v for d in data for v in d], float)

    first(texts, [not item.attrib["data"] for item in texts], "'data' of a text cannot be empty")
    data = [item.attrib["data"].encode() + b"\0" for item in texts]
    a["text_adr"], a["text_size"] = _runs([len(d) for d in data])
    a["text_data"] = np.frombuffer(b"".join(data), np.uint8).copy()
    out.names[mjtObj.mjOBJ_NUMERIC] = unique_names(numerics, mjtObj.mjOBJ_NUMERIC)
    out.names[mjtObj.mjOBJ_TEXT] = unique_names(texts, mjtObj.mjOBJ_TEXT)
    out.texts = {item.name: item.attrib["data"] for item in texts}


def name_tuples(items, out):
    """Names the tuples, so that sensors and tuples can refer to them."""
    out.names[mjtObj.mjOBJ_TUPLE] = unique_names(items, mjtObj.mjOBJ_TUPLE)


def compile_tuples(a, items, out):
    """Arrays tuple_*; every object that a tuple can hold is named before. Raises MjcfError for one that is not."""
    ids, elements = Names(out.names), []
    for item in items:
        if not item.children:
            raise item.node.error("a tuple needs at least one element")
        for child in item.children:
            kind, words = child.attrib["objtype"], child.attrib["objname"].split()
            if len(words) != 1:
                raise child.error("'objname' of an element of a tuple is one name without spaces")
            what = "body" if kind == mjtObj.mjOBJ_XBODY else mjtObj(kind).name[6:].lower()
            elements.append((kind, item.find(ids.of(kind), words[0], what), child.attrib.get("prm", 0.0)))
    a["tuple_adr"], a["tuple_size"] = _runs([len(item.children) for item in items])
    objtype, objid, prm = zip(*elements) if elements else ((), (), ())
    a.update(tuple_objtype=np.array(objtype, np.int32), tuple_objid=np.array(objid, np.int32))
    a["tuple_objprm"] = np.array(prm, float)
