"""What Taichi does not tell LLVM of the memory of a kernel, written into its IR.

Arguments do not change while a kernel runs, and no two of its arrays overlap: each name of a bundle is an array of its
own (bundle.py). Taichi promises neither, so LLVM loads the place of an array anew after every store to any array, two
loads that wait for each other, and keeps no number of one array in a register while another is written. Told, it need
not; a step takes a tenth to a fifth less. A sum of a number and a constant by which an array is indexed does not
overflow, for arrays have less than 2^31 elements. Told, LLVM knows that a[i], a[i + 1], ... are neighbours, and loads,
computes and stores several at once; a step takes another 5 to 20 % less. No operation on numbers changes, and thus no
bit of a result.

The type of the struct of arguments, which Taichi writes out at each address, gets a name: nine tenths of the text.

A function that a kernel calls (called.py) has a struct of its own, which its caller fills in anew at each call. That is
constant within it, as long as it stays a function, so LLVM is told that, too.
"""

import re

VERSION = 3  # part of the key of an image, as this file is not
NAME = "%arguments"
CONSTANT, ROOT, FIRST = 900000, 900001, 900002  # numbers of the metadata, above all of Taichi's
_ADDRESS = re.compile(r"(?:inbounds )?(%arguments[\w.]*), \1\* %[\w.]+, i64 0, i32 (\d+)")
_DEFINE = re.compile(r"(define .*@([\w.$]+)\(.*\).*?)((?: #\d+)? \{)$")
_NUMBERS = re.compile(r"_\d+_\d+(\.\d+)?$")  # behind the name of a function that is called
_VALUE = re.compile(r"  (%[\w.]+) = (getelementptr|bitcast|load) (.*)")
_POINTER = re.compile(r"\* (%[\w.]+)(?:,|$)")
_INDEX = re.compile(r"  %\S+ = getelementptr (?:inbounds )?\w+, \S+ \S+ i64 (%[\w.]+)")
_WIDE = re.compile(r"  (%[\w.]+) = sext i32 (%[\w.]+) to i64")
_SUM = re.compile(r"  (%[\w.]+) = add i32 %[\w.]+, -?\d+$")
_CAST = re.compile(r"(%[\w.]+) to ")


def promise(text, arguments, called=()):
    """A kernel's IR, its arguments marked as constant and accesses to each array as those to a type of its own.

    arguments  LLVM's type of the struct of arguments, as in machine_code.type_of.
    called     of each function that it calls: name, as in called.Called -> (type of its arguments, for each the
               kernel's argument that it is, by number, None for those that are its own).
    """
    if arguments not in text:
        return text
    called = dict(called)
    kinds = {arguments: NAME}
    for kind, _ in called.values():
        kinds.setdefault(kind, f"{NAME}.{len(kinds)}")
    for kind in sorted(kinds, key=len, reverse=True):
        text = text.replace(kind, kinds[kind])
    told = _Function()
    lines, arrays = [], 0
    for line in text.split("\n"):
        if line.startswith("define"):
            told = _Function()
            if (define := _DEFINE.match(line)) and (name := _NUMBERS.sub("", define[2])) in called:
                kind, numbers = called[name]
                told, line = _Function(kinds[kind], numbers), f"{define[1]} noinline{define[3]}"
        lines.append(told.line(line))
        arrays = max(arrays, told.arrays)
    lines = _indices(lines)
    begin = next(i for i, line in enumerate(lines) if line.startswith(("%", "define", "@", "declare")))
    lines[begin:begin] = [f"{name} = type {kind}" for kind, name in kinds.items()]
    lines += [f"!{CONSTANT} = !{{}}", f'!{ROOT} = !{{!"arrays"}}']
    for k in range(arrays):
        tag, kind = FIRST + 2 * k, FIRST + 2 * k + 1
        lines += [f"!{tag} = !{{!{kind}, !{kind}, i64 0}}", f'!{kind} = !{{!"{k}", !{ROOT}, i64 0}}']
    return "\n".join(lines) + "\n"


def _indices(lines):
    """Lines with the promise that no sum of a number and a constant overflows by which an array is indexed."""
    chunk, told = [], []
    for line in [*lines, "define"]:
        if line.startswith("define"):
            indices = {m[1] for m in map(_INDEX.match, chunk) if m}
            sums = {m[2] for m in map(_WIDE.match, chunk) if m and m[1] in indices}
            for other in chunk:
                m = _SUM.match(other)
                told.append(other.replace("add i32", "add nsw i32", 1) if m and m[1] in sums else other)
            chunk = []
        chunk.append(line)
    return told


class _Function:
    """What is known of the pointers of a function: which argument they point to, or into the array of which one.

    name, numbers  of the struct of its arguments, and what is the kernel's number of each, if it is not the kernel's.
    """

    def __init__(self, name=NAME, numbers=None):
        self.name, self.numbers = name, numbers
        self.field, self.array, self.arrays = {}, {}, 0

    def line(self, line):
        """A line with what is promised of it."""
        value = _VALUE.match(line)
        if value:
            name, operation, rest = value.groups()
            if operation != "load":
                self._point(name, operation, rest)
                return line
            return line + self._load(name, rest)
        return line + self._tag(line) if line.startswith("  store ") else line

    def _point(self, name, operation, rest):
        """Takes note of a pointer made of another."""
        field = _ADDRESS.match(rest)
        if field:
            if field[1] == self.name:
                self.field[name] = self.numbers[int(field[2])] if self.numbers else int(field[2])
            return
        source = (_CAST if operation == "bitcast" else _POINTER).search(rest)
        if source and source[1] in self.array:
            self.array[name] = self.array[source[1]]

    def _load(self, name, rest):
        pointer = _POINTER.search(rest)
        if rest.startswith(f"{self.name}*,"):
            return f", !invariant.load !{CONSTANT}"
        if pointer and pointer[1] in self.field:
            if "**" in rest:
                self.array[name] = self.field[pointer[1]]
            return f", !invariant.load !{CONSTANT}"
        return self._tag(rest)

    def _tag(self, words):
        """The type of what is loaded or stored there."""
        pointer = _POINTER.search(words)
        if not pointer or pointer[1] not in self.array or "!tbaa" in words:
            return ""
        self.arrays = max(self.arrays, self.array[pointer[1]] + 1)
        return f", !tbaa !{FIRST + 2 * self.array[pointer[1]]}"
