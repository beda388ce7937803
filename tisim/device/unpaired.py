"""LLVM's IR with pairs of numbers taken apart.

Taichi's optimiser puts two alike operations of one turn of a loop into one on a pair, `<2 x float>`. A loop with pairs
in it is not one of which LLVM does several turns at once, which is worth four times as much; and two numbers of one
thing in a pair keep it from putting four things that stand side by side into a vector. So in kernels with such loops
(machine_code.compile_ir), and in those that name ABREAST, pairs become what they were. No operation on numbers changes,
nor any bit of a result.
"""

import re

VERSION = 4  # part of the key of an image, as this file is not: kernels that name VECTORS or ABREAST read it
_VECTOR = r"<(\d+) x (\w+\*?)>"
_PLACES = r"(inbounds )?(\w+), <(\d+) x \w+\*> (.*)$"  # of getelementptr
_GATHER = r"<(\d+) x (\w+)> @llvm\.masked\.gather\.[\w.]+\((.*)\)((?:, !\w+ !\d+)*)$"
_SCATTER = r"  (?:tail )?call void @llvm\.masked\.scatter\.[\w.]+\(<(\d+) x (\w+)> (.*)\)((?:, !\w+ !\d+)*)$"
_ANY = re.compile(r"<\d+ x ")
_LOOP = re.compile(r"(vector\.|middle\.block|vec\.epilog)")  # names of blocks of loops that Taichi made vectors of
_DEFINED = re.compile(r"  (%[\w.]+) = (\w+) (.*)$")
_ZERO = {"float": "0.000000e+00", "double": "0.000000e+00"}
_BINARY = set("fadd fsub fmul fdiv frem add sub mul sdiv udiv srem urem and or xor shl lshr ashr".split())
_CASTS = set("fptrunc fpext sitofp uitofp fptosi fptoui sext zext trunc bitcast".split())


class Unknown(Exception):
    """Something else than this file knows is done with a pair."""


def take_apart(text):
    """The IR without pairs, or with them where there is anything that is not known here; in both all values and types
    have names: numbers stand in order, and who comes later may move lines."""
    whole = text = _named(text)
    out, function, declared = [], None, set(re.findall(r"@(llvm\.[\w.]+)\(", text))
    missing = {}
    try:
        for line in text.split("\n"):
            if line.startswith("define"):
                function = [line]
            elif function is None:
                out.append(line)
            else:
                function.append(line)
                if line == "}":
                    out += _Function(function, missing).lines
                    function = None
    except Unknown:
        return whole
    out += [f"declare {told}" for name, told in missing.items() if name not in declared]
    return "\n".join(out) + "\n"


def _named(text):
    """The IR with names in place of numbers."""
    for name in re.findall(r"^%(\d+) = type ", text, re.M):  # types without names, before values get some
        text = re.sub(rf"^%{name} = type |%{name}(?=\*)|(?<=alloca )%{name}\b|(?<=getelementptr )%{name}(?=,)|"
                      rf"(?<=getelementptr inbounds )%{name}(?=,)",
                      lambda m, name=name: m[0].replace(f"%{name}", f"%type.{name}"), text, flags=re.M)  # fmt: skip
    lines, inside = text.split("\n"), False
    for i, line in enumerate(lines):
        inside = line.startswith("define") or inside and line != "}"
        if inside:
            lines[i] = re.sub(r"^(\d+):", r"number.\1:", re.sub(r"%(\d+)\b", r"%number.\1", line))
    return "\n".join(lines)


def _split(text):
    """The parts of "a, <b, c>, [ d, e ]" between commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<[({") - (c in ">])}")
        if c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


class _Function:
    """The lines of a function, without vectors but for those of loops in which Taichi did several turns at once."""

    def __init__(self, lines, missing):
        self.missing, self.elements, self.lines = missing, {}, []
        looping, kept, within = False, [], set()
        for line in lines:  # values may be asked for before they are defined, by what stands at the head of a loop
            if label := re.match(r"([\w.]+):", line):
                looping = bool(_LOOP.match(label[1]))
            kept.append(looping or line.startswith("define") or not _ANY.search(line))
            if looping:
                within.update(re.findall(r"%[\w.]+", line))
            value = None if looping else _DEFINED.match(line)
            if value:
                self._define(*value.groups())
        for line, as_it_is in zip(lines, kept):
            if as_it_is:
                self.lines.append(line)
            else:
                self._rewrite(line)
                if (value := _DEFINED.match(line)) and value[1] in within:
                    self._whole(*value.groups())

    def _define(self, name, operation, rest):
        """Notes of what the elements of a vector are: numbers with names of their own, or those of other vectors."""
        found = re.match(rf"{_VECTOR} (.*)$", rest)
        if operation == "insertelement" and found:
            whole, new, at = _split(found[3])
            self.elements[name] = "insert", whole, new.split()[-1], int(at.split()[1])
        elif operation == "shufflevector" and found:
            a, b, mask = _split(found[3])
            self.elements[name] = "shuffle", a, b.partition("> ")[2], self._mask(mask), int(found[1])
        else:
            self.elements[name] = "own"

    def _whole(self, name, operation, rest):
        """Puts a vector together again that such a loop asks for."""
        if operation == "insertelement":
            length, kind, _ = self._parts(rf"{_VECTOR} (.*)$", rest)
        elif operation == "shufflevector":
            _, kind, tail = self._parts(rf"{_VECTOR} (.*)$", rest)
            length = re.match(_VECTOR, _split(tail)[2])[1]
        else:
            return
        whole = "undef"
        for k in range(int(length)):
            made = name if k == int(length) - 1 else f"{name}.with{k}"
            element = self._element(name, kind, k)
            self.lines.append(f"  {made} = insertelement <{length} x {kind}> {whole}, {kind} {element}, i32 {k}")
            whole = made

    def _mask(self, text):
        length, _, places = re.match(rf"{_VECTOR} (.*)$", text).groups()
        if not places.startswith("<"):
            return [0 if places == "zeroinitializer" else -1] * int(length)
        words = [x.split()[1] for x in _split(places[1:-1])]
        return [int(w) if w.isdigit() else -1 for w in words]

    def _element(self, operand, kind, k):
        """Element k of an operand: a name or a constant."""
        if operand in ("poison", "undef") or k < 0:
            return "undef"
        if operand == "zeroinitializer":
            return "null" if kind.endswith("*") else _ZERO.get(kind, "false" if kind == "i1" else "0")
        if operand.startswith("<"):
            return _split(operand[1:-1])[k].split(" ", 1)[1]
        known = self.elements.get(operand)
        if known == "own":
            return f"{operand}.of{k}"
        if known is None:
            raise Unknown
        if known[0] == "insert":
            _, whole, new, at = known
            return new if at == k else self._element(whole, kind, k)
        _, a, b, mask, length = known
        if mask[k] < 0:
            return "undef"
        return self._element((a, b)[mask[k] // length], kind, mask[k] % length)

    def _rewrite(self, line):
        value = _DEFINED.match(line)
        if not value:
            if line.startswith("  store <"):
                return self._store(line)
            return self._scatter(line)
        name, operation, rest = value.groups()
        if operation in ("insertelement", "shufflevector"):
            return None
        if operation in _BINARY or operation in ("fcmp", "icmp", "fneg", "freeze"):
            return self._plain(name, operation, rest)
        if operation in _CASTS:
            return self._cast(line, name, operation, rest)
        if operation == "getelementptr":
            return self._pointers(line, name, rest)
        rewrite = dict(
            extractelement=self._extract, select=self._select, phi=self._phi, load=self._load, call=self._call
        )
        if operation not in rewrite:
            raise Unknown
        return rewrite[operation](name, rest)

    def _plain(self, name, operation, rest):
        """An operation on numbers, or a comparison."""
        words, length, kind, tail = self._parts(rf"((?:\w+ )*){_VECTOR} (.*)$", rest)
        operands = [x for x in _split(tail) if not x.startswith("!")]
        for k in range(int(length)):
            given = ", ".join(self._element(x, kind, k) for x in operands)
            self.lines.append(f"  {name}.of{k} = {operation} {words}{kind} {given}")

    def _parts(self, pattern, text):
        found = re.match(pattern, text)
        if not found:
            raise Unknown
        return found.groups()

    def _cast(self, line, name, operation, rest):
        if operation == "bitcast" and rest.endswith("*"):  # of a pointer
            self.lines.append(line)
            return
        if found := re.match(rf"{_VECTOR} (.+) to (i\d+)$", rest):
            self._word(name, *found.groups())
            return
        length, kind, operand, same, other = self._parts(rf"{_VECTOR} (.+) to {_VECTOR}$", rest)
        if length != same:
            raise Unknown
        for k in range(int(length)):
            self.lines.append(f"  {name}.of{k} = {operation} {kind} {self._element(operand, kind, k)} to {other}")

    def _word(self, name, length, kind, operand, word):
        """The bits of a vector of truths, the first the lowest, as one whole number."""
        if kind != "i1":
            raise Unknown
        whole = "0"
        for k in range(int(length)):
            made = name if k == int(length) - 1 else f"{name}.or{k}"
            self.lines.append(f"  {name}.wide{k} = zext i1 {self._element(operand, kind, k)} to {word}")
            self.lines.append(f"  {name}.high{k} = shl {word} {name}.wide{k}, {k}")
            self.lines.append(f"  {made} = or {word} {whole}, {name}.high{k}")
            whole = made

    def _extract(self, name, rest):
        _, kind, tail = self._parts(rf"{_VECTOR} (.*)$", rest)
        operand, at = _split(tail)
        self.lines.append(f"  {name} = bitcast {kind} {self._element(operand, kind, int(at.split()[1]))} to {kind}")

    def _select(self, name, rest):
        first, one, other = _split(rest)
        length, kind = self._parts(_VECTOR, one)
        for k in range(int(length)):
            condition = first
            if _ANY.match(first):
                condition = f"i1 {self._element(first.partition('> ')[2], 'i1', k)}"
            a, b = (self._element(x.partition("> ")[2], kind, k) for x in (one, other))
            self.lines.append(f"  {name}.of{k} = select {condition}, {kind} {a}, {kind} {b}")

    def _phi(self, name, rest):
        length, kind, tail = self._parts(rf"{_VECTOR} (.*)$", rest)
        for k in range(int(length)):
            ways = []
            for way in _split(tail):
                operand, block = _split(way[1:-1])
                ways.append(f"[ {self._element(operand, kind, k)}, {block} ]")
            self.lines.append(f"  {name}.of{k} = phi {kind} {', '.join(ways)}")

    def _load(self, name, rest):
        length, kind, pointer, more = self._parts(rf"{_VECTOR}, <\d+ x \w+>\* (%[\w.]+), align \d+(.*)$", rest)
        for k, place in enumerate(self._places(name, length, kind, pointer)):
            self.lines.append(f"  {name}.of{k} = load {kind}, {kind}* {place}, align {_bytes(kind)}{more}")

    def _store(self, line):
        length, kind, tail = self._parts(rf"  store {_VECTOR} (.*)$", line)
        operand, where, _, *more = _split(tail)
        pointer = where.split()[-1]
        more = "".join(f", {x}" for x in more)
        for k, place in enumerate(self._places(f"{pointer}.at{len(self.lines)}", length, kind, pointer)):
            element = self._element(operand, kind, k)
            self.lines.append(f"  store {kind} {element}, {kind}* {place}, align {_bytes(kind)}{more}")

    def _places(self, name, length, kind, pointer):
        """Pointers to the numbers of a vector in memory."""
        self.lines.append(f"  {name}.to0 = bitcast <{length} x {kind}>* {pointer} to {kind}*")
        for k in range(1, int(length)):
            self.lines.append(f"  {name}.to{k} = getelementptr {kind}, {kind}* {name}.to0, i64 {k}")
        return [f"{name}.to{k}" for k in range(int(length))]

    def _pointers(self, line, name, rest):
        """A pointer to a vector, or a vector of pointers."""
        found = re.match(_PLACES, rest)
        if not found:
            self.lines.append(line)
            return
        words, kind, length, tail = found.groups()
        base, at = _split(tail)
        at_length, at_kind, at = self._parts(rf"{_VECTOR} (.*)$", at)
        if length != at_length:
            raise Unknown
        for k in range(int(length)):
            place = f"{kind}* {self._element(base, f'{kind}*', k)}, {at_kind} {self._element(at, at_kind, k)}"
            self.lines.append(f"  {name}.of{k} = getelementptr {words or ''}{kind}, {place}")

    def _gather(self, name, rest):
        """A load of each number of a vector from a place of its own."""
        length, kind, given, more = self._parts(_GATHER, rest)
        places, _, mask, _ = _split(given)
        places = self._all(places, mask)
        for k in range(int(length)):
            place = self._element(places, f"{kind}*", k)
            self.lines.append(f"  {name}.of{k} = load {kind}, {kind}* {place}, align {_bytes(kind)}{more}")

    def _scatter(self, line):
        """A store of each number of a vector to a place of its own."""
        length, kind, given, more = self._parts(_SCATTER, line)
        operand, places, _, mask = _split(given)
        places = self._all(places, mask)
        for k in range(int(length)):
            element, place = self._element(operand, kind, k), self._element(places, f"{kind}*", k)
            self.lines.append(f"  store {kind} {element}, {kind}* {place}, align {_bytes(kind)}{more}")

    def _all(self, places, mask):
        """The name of a vector of pointers, all of which are meant."""
        if "false" in mask or "i1 true" not in mask:
            raise Unknown
        return places.partition("> ")[2]

    def _call(self, name, rest):
        if "@llvm.masked.gather." in rest:
            return self._gather(name, rest)
        length, kind, function, _, short, given, _ = self._parts(
            rf"{_VECTOR} @(llvm\.\w+)\.v(\d+)(\w+)\((.*)\)( #\d+)?$", rest
        )
        operands = _split(given)
        if not all(re.match(_VECTOR, x) for x in operands):
            raise Unknown
        full = f"{function}.{short}"
        self.missing[full] = f"{kind} @{full}({', '.join(kind for _ in operands)})"
        for k in range(int(length)):
            values = ", ".join(f"{kind} {self._element(x.partition('> ')[2], kind, k)}" for x in operands)
            self.lines.append(f"  {name}.of{k} = call {kind} @{full}({values})")


def _bytes(kind):
    return {"float": 4, "double": 8}.get(kind) or int(kind[1:]) // 8
