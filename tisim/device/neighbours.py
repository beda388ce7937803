"""LLVM's IR told which numbers of an array are neighbours.

Four numbers that stand side by side in an array are added and multiplied by one instruction, if LLVM sees that they do.
Taichi computes each of their places anew, in 32 bits, and has made counters of loops of some of them: from that nothing
can be seen any more. Here a place becomes a sum of values and a number, by which the pointer is then moved on; two
counters that always differ by the same number become one. As in promises.py, no place of an array overflows. What is
copied to lie side by side is then moved by transposed.py. No operation on numbers changes, nor any bit of a result.
"""

import re

from . import transposed

VERSION = 6  # part of the key of an image, as this file is not: kernels that name ABREAST read it
_POINTER = re.compile(r"  (%[\w.]+) = getelementptr (inbounds )?(\w+), \3\* (%[\w.]+), i64 (%[\w.]+)$")
_WIDE = re.compile(r"  (%[\w.]+) = [sz]ext i32 (%[\w.]+) to i64")
_SUM = re.compile(r"  (%[\w.]+) = (add|sub|or|shl|mul) (?:nuw )?(?:nsw )?i32 (%[\w.]+|-?\d+), (%[\w.]+|-?\d+)$")
_COUNTER = re.compile(r"  (%[\w.]+) = phi i32 \[ (%[\w.]+|-?\d+), (%[\w.]+) \], \[ (%[\w.]+|-?\d+), (%[\w.]+) \]$")
_NEXT = re.compile(r"  (%[\w.]+) = getelementptr (?:inbounds )?\w+, \w+\* (%[\w.]+), i64 (-?\d+)$")
_ARRAY = re.compile(r"  (%[\w.]+) = getelementptr (%arguments[\w.]*), \2\* %[\w.]+, i64 0, i32 (\d+), i32 1$")
_OWN = re.compile(r"  %[\w.]+ = load (%arguments[\w.]*)\*, ")  # the function's arguments, not those that it hands on
_BASE = re.compile(r"  (%[\w.]+) = load \w+\*, \w+\*\* (%[\w.]+),")
_MOST = 6  # values in a sum: longer ones are left as they are


def tell(text):
    """The IR with places of arrays as sums."""
    out, function = [], []
    for line in text.split("\n"):
        function.append(line)
        if line == "}":
            out += _Function(function).lines()
            function = []
    return "\n".join(out + function)


class _Function:
    """The lines of a function, and what its whole numbers are made of."""

    def __init__(self, lines):
        self._lines, self._made, self._wide, self._forms = lines, {}, {}, {}
        self._arrays, self._bases, self._places, self._own = {}, {}, {}, None
        counters, block = [], ""
        for line in lines:
            if label := re.match(r"([\w.]+):", line):
                block = label[1]
            elif found := _SUM.match(line):
                self._made[found[1]] = found.groups()[1:]
            elif found := _WIDE.match(line):
                self._wide[found[1]] = found[2]
            elif found := _OWN.match(line):
                self._own = found[1]
            elif (found := _ARRAY.match(line)) and found[2] == self._own:
                self._arrays[found[1]] = int(found[3])
            elif (found := _BASE.match(line)) and found[2] in self._arrays:
                self._bases[found[1]] = self._arrays[found[2]]
            elif found := _COUNTER.match(line):
                counters.append((block, found.groups()))
        self._counters(counters)

    def _counters(self, counters):
        """Counters of a loop that differ from an earlier one by a number, for good, are that one and this number."""
        known = {}
        for block, (name, a, a_from, b, b_from) in counters:
            for begin, begin_from, step in ((a, a_from, b), (b, b_from, a)):
                made = self._made.get(step)
                if made is None or made[:2] != ("add", name):
                    continue
                values, number = self.form(begin)
                key = block, begin_from, made[2], values
                first, other = known.setdefault(key, (name, number))
                self._forms[name] = (((first, 1),), number - other)

    def form(self, name):
        """(((value, how often), ...), number): the sum that a whole number is."""
        if re.fullmatch(r"-?\d+", name):
            return (), int(name)
        if name not in self._forms:
            self._forms[name] = ((name, 1),), 0  # what is asked for within itself is itself
            self._forms[name] = self._form(name)
        return self._forms[name]

    def _form(self, name):
        itself = ((name, 1),), 0
        if name not in self._made:
            return itself
        operation, a, b = self._made[name]
        values, number = self.form(a)
        others, more = self.form(b)
        if operation == "or":  # of what has zeros there
            made = self._made.get(a)
            if others or not made or made[0] != "shl" or not 0 <= more < 1 << int(made[2]):
                return itself
            operation = "add"
        if operation in ("shl", "mul"):
            if others:
                return itself
            by = 1 << more if operation == "shl" else more
            return tuple((v, n * by) for v, n in values), number * by
        sign = -1 if operation == "sub" else 1
        found = dict(values)
        for v, n in others:
            found[v] = found.get(v, 0) + sign * n
        found = tuple(sorted((v, n) for v, n in found.items() if n))
        return (found, number + sign * more) if len(found) <= _MOST else itself

    def lines(self):
        """The lines, each place of an array written as a sum."""
        out, count = [], 0
        for line in self._lines:
            if (found := _NEXT.match(line)) and found[2] in self._places:
                array, values, number = self._places[found[2]]
                self._places[found[1]] = array, values, number + int(found[3])
            found = _POINTER.match(line)
            if not found or found[5] not in self._wide:
                out.append(line)
                continue
            name, inbounds, kind, pointer, place = found.groups()
            values, number = self.form(self._wide[place])
            if not values:
                out.append(line)
                continue
            if pointer in self._bases:
                self._places[name] = self._bases[pointer], values, number
            last = None
            for value, times in values:
                count += 1
                if times != 1:
                    out.append(f"  %near.{count} = mul nsw i32 {value}, {times}")
                    value = f"%near.{count}"
                    count += 1
                if last:
                    out.append(f"  %near.{count} = add nsw i32 {last}, {value}")
                    value = f"%near.{count}"
                last = value
            count += 1
            out.append(f"  %near.{count} = sext i32 {last} to i64")
            out.append(f"  %near.{count}.to = getelementptr {kind}, {kind}* {pointer}, i64 %near.{count}")
            out.append(f"  {name} = getelementptr {kind}, {kind}* %near.{count}.to, i64 {number}")
        return transposed.transpose(out, self._places)
