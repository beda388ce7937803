"""Four things side by side are read, or written back, two numbers of each at once.

Where numbers of four things, as velocities of four bodies, are copied to lie side by side, LLVM loads one by one
and puts them together. Here the copies of two neighbouring numbers of four things become four loads of pairs and two
stores of four numbers, and where they are copied back two loads and four stores: half the instructions. Told of places
by neighbours.py, of whose VERSION this is a part. Numbers are moved, and none is changed.
"""

import re
from typing import NamedTuple

_LOAD = re.compile(r"  (%[\w.]+) = load (double|float), \2\* (%[\w.]+), align \d+(.*)$")
_STORE = re.compile(r"  store (?:double|float) (%[\w.]+), \S+ (%[\w.]+), align \d+(.*)$")
_SCALAR = re.compile(r"  (%[\w.]+) = getelementptr %arguments[\w.]*, ")
_LABEL = re.compile(r"[\w.]+:")
_NAME = re.compile(r"%[\w.]+")
_BYTES = {"double": 8, "float": 4}


class Copy(NamedTuple):
    """A number that is loaded and then only stored: lines of its block, pointers, what stands behind them, and places,
    (array, values whose sum is the place but for a number, that number)."""

    name: str
    kind: str
    loads: int
    source: str
    source_tail: str
    at: tuple
    stores: int
    target: str
    target_tail: str
    to: tuple


def transpose(lines, places):
    """The lines of a function, in which `places` tells where pointers of known arrays lead."""
    used, scalars = {}, set()
    for line in lines:
        if found := _SCALAR.match(line):
            scalars.add(found[1])
        for name in _NAME.findall(line.partition(" = ")[2] or line):
            used[name] = used.get(name, 0) + 1
    out, block = [], []
    for line in [*lines, "end:"]:
        if _LABEL.match(line):
            out += _block(block, places, used, scalars)
            block = []
        block.append(line)
    return out


def _block(block, places, used, scalars):
    """The lines of a block."""
    copies, touched, instead = _copies(block, places, used), _touched(block, places, scalars), {}
    for back in (False, True):
        for four in _fours(copies, back):
            if _may_move(four, back, touched):
                mine = [c for pair in four for c in pair]
                instead |= {c.loads: [] for c in mine} | {c.stores: [] for c in mine}
                instead[max(c.stores for c in mine)] = _back(four) if back else _forth(four)
    return [new for i, line in enumerate(block) for new in instead.get(i, [line])]


def _copies(block, places, used):
    """Numbers that are loaded from a known place and do nothing but be stored to one."""
    loaded, copies = {}, []
    for i, line in enumerate(block):
        if (found := _LOAD.match(line)) and found[3] in places and used.get(found[1]) == 1:
            loaded[found[1]] = found[2], i, found[3], found[4], places[found[3]]
        elif (found := _STORE.match(line)) and found[2] in places and found[1] in loaded:
            copies.append(Copy(found[1], *loaded[found[1]], i, found[2], found[3], places[found[2]]))
    return copies


def _touched(block, places, scalars):
    """[(line, array or None if it is not known, whether it is written)] of what reads and writes numbers of arrays."""
    out = []
    for i, line in enumerate(block):
        if found := _LOAD.match(line):
            if found[3] not in scalars:
                out.append((i, places.get(found[3], (None,))[0], False))
        elif line.startswith("  store "):
            found = _STORE.match(line)
            out.append((i, places.get(found[2], (None,))[0] if found else None, True))
        elif " call " in line or " atomicrmw " in line or " cmpxchg " in line or line.startswith("  fence "):
            out.append((i, None, True))
    return out


def _fours(copies, back):
    """Fours of pairs of copies: of neighbours in each of four places, the firsts side by side and the seconds.

    back: from side by side to the four places, else from these.
    """
    far, near = ("to", "at") if back else ("at", "to")
    by_place, pairs = {getattr(c, far): c for c in copies}, {}
    for (array, values, number), one in by_place.items():
        other = by_place.get((array, values, number + 1))
        if number % 2 == 0 and other is not None and other.kind == one.kind:
            pairs.setdefault((array, number, one.kind), []).append((one, other))
    for found in pairs.values():
        for k in range(0, len(found) - 3, 4):
            four = found[k : k + 4]
            rows = [[getattr(pair[e], near) for pair in four] for e in (0, 1)]
            if all(place == (*row[0][:2], row[0][2] + i) for row in rows for i, place in enumerate(row)):
                yield four


def _may_move(four, back, touched):
    """Whether all may be done where the last is stored: nothing else is done there with what is written, what is read
    is not written meanwhile, and what is written may be one and the same only where its order stays."""
    mine = [c for pair in four for c in pair]
    first, last = min(c.loads for c in mine), max(c.stores for c in mine)
    source, target = mine[0].at[0], mine[0].to[0]
    if source == target or max(c.loads for c in mine) > min(c.stores for c in mine):
        return False
    if back and [c.stores for c in mine] != sorted(c.stores for c in mine):
        return False
    own = {c.loads for c in mine} | {c.stores for c in mine}
    return not any(
        array in (target, None) or (writes and array == source)
        for i, array, writes in touched
        if first <= i <= last and i not in own
    )


def _forth(four):
    """Lines that load four pairs and store the firsts, and the seconds, side by side."""
    kind, name = four[0][0].kind, four[0][0].name
    out = []
    for i, (one, _) in enumerate(four):
        out.append(f"  {name}.at{i} = bitcast {kind}* {one.source} to <2 x {kind}>*")
        out.append(_load(f"{name}.pair{i}", 2, kind, f"{name}.at{i}", one.source_tail))
    for both, a, b in (("even", 0, 2), ("odd", 1, 3)):
        out.append(_shuffle(f"{name}.{both}", 2, kind, f"{name}.pair{a}", f"{name}.pair{b}", (0, 1, 2, 3)))
    for e, places in enumerate(((0, 4, 2, 6), (1, 5, 3, 7))):
        to = four[0][e]
        out.append(_shuffle(f"{name}.row{e}", 4, kind, f"{name}.even", f"{name}.odd", places))
        out.append(f"  {name}.to{e} = bitcast {kind}* {to.target} to <4 x {kind}>*")
        out.append(_store(f"{name}.row{e}", 4, kind, f"{name}.to{e}", to.target_tail))
    return out


def _back(four):
    """Lines that load the firsts and the seconds of four pairs and store the pairs."""
    kind, name = four[0][0].kind, four[0][0].name
    out = []
    for e, of in enumerate(four[0]):
        out.append(f"  {name}.at{e} = bitcast {kind}* {of.source} to <4 x {kind}>*")
        out.append(_load(f"{name}.row{e}", 4, kind, f"{name}.at{e}", of.source_tail))
    for both, places in (("even", (0, 4, 2, 6)), ("odd", (1, 5, 3, 7))):
        out.append(_shuffle(f"{name}.{both}", 4, kind, f"{name}.row0", f"{name}.row1", places))
    for i, (one, _) in enumerate(four):
        both, half = ("even", "odd")[i % 2], (0, 1) if i < 2 else (2, 3)
        out.append(_shuffle(f"{name}.pair{i}", 4, kind, f"{name}.{both}", "undef", half))
        out.append(f"  {name}.to{i} = bitcast {kind}* {one.target} to <2 x {kind}>*")
        out.append(_store(f"{name}.pair{i}", 2, kind, f"{name}.to{i}", one.target_tail))
    return out


def _load(name, n, kind, pointer, tail):
    return f"  {name} = load <{n} x {kind}>, <{n} x {kind}>* {pointer}, align {_BYTES[kind]}{tail}"


def _store(name, n, kind, pointer, tail):
    return f"  store <{n} x {kind}> {name}, <{n} x {kind}>* {pointer}, align {_BYTES[kind]}{tail}"


def _shuffle(name, n, kind, a, b, places):
    mask = ", ".join(f"i32 {p}" for p in places)
    return f"  {name} = shufflevector <{n} x {kind}> {a}, <{n} x {kind}> {b}, <{len(places)} x i32> <{mask}>"
