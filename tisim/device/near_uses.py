"""Addresses in PTX reckoned where they are used, where LLVM has taken many of them out of a loop.

What a thread has in memory lies at a place plus a constant, `a[i + 7]`. LLVM makes a 64-bit number of each such index
before the loop in which it is used, so that collisions of convex shapes kept 219 of them, which take 438 of the 255
registers that a thread has: all else went to a stack. Here they are made again just before each use, from the place: an
addition of integers, of which a GPU does as many as it likes while it waits for the memory behind them.

The numbers stay the same: a register that is written in one place only has, where it is read, what that place wrote
last, and so has the one that it was made of.
"""

import re

MANY = 64  # values made again in a task, below which it is left as it is: so many fit in registers
LINKS = 4  # of a chain: place, sum, 64 bits, shifted
ENTRY = re.compile(r"^\.visible \.entry [^{]*\{\n.*?^\}", re.MULTILINE | re.DOTALL)
REGISTER = re.compile(r"%(?:rd|rs|fd|r|f|p)\d+\b")
# instructions that are cheaper than a register: of one register, perhaps with a constant
CHEAP = re.compile(
    r"\t(add\.s32|add\.s64|shl\.b32|shl\.b64|mul\.wide\.s32|cvt\.s64\.s32|cvt\.u32\.u64) \t(%rd?\d+), (%rd?\d+)"
    r"(, -?\d+)?;"
)
WRITES = re.compile(r"\t(?:@!?%p\d+ )?(?!st\.|bra|ret|call)[a-z]\S*\s+(\{[^}]*\}|%\w+(?:\|%\w+)?)")
COUNT = re.compile(r"(\.reg \.b(?:32|64) \t%(r|rd))<(\d+)>;")


def near_uses(text):
    """The text with this done to each task that has many of them."""
    return ENTRY.sub(lambda task: _Task(task[0]).made(), text)


class _Task:
    """A task's lines.

    block  number of each line's block, which control enters at its beginning only.
    cheap  {register: (instruction, the register it is made of, constant or None, line)}
    """

    def __init__(self, text):
        self.text, self.lines = text, text.split("\n")
        self.code = [self._instruction(line) for line in self.lines]
        self.block, self.ends, written, number = [], [], {}, 0
        for n, (line, code) in enumerate(zip(self.lines, self.code)):
            number += line.startswith("$L")
            self.block.append(number)
            target = WRITES.match(code)
            self.ends.append(target.end() if target else 0)
            for register in REGISTER.findall(target[1]) if target else ():
                written.setdefault(register, []).append(n)
            number += "bra" in code
        once = {register: lines[0] for register, lines in written.items() if len(lines) == 1}
        found = ((n, CHEAP.match(code)) for n, code in enumerate(self.code))
        self.cheap = {
            f[2]: (f[1], f[3], f[4] or "", n) for n, f in found if f and f[2] in once and f[3] in once
        }  # fmt: skip
        self.counts = {kind: int(count) for _, kind, count in COUNT.findall(text)}

    @staticmethod
    def _instruction(line):
        code = line.partition("//")[0].rstrip()
        return code if code.endswith(";") and not code.lstrip().startswith(".") else ""

    def made(self):
        """The task's new text."""
        out, many = [], 0
        for n, (line, code, end) in enumerate(zip(self.lines, self.code, self.ends)):
            for register in dict.fromkeys(REGISTER.findall(code[end:])):
                if self._is_far(register, n):
                    name = self._chain(register, n, LINKS, out)
                    line = line[:end] + re.sub(rf"{register}\b", name, line[end:])
                    many += 1
            out.append(line)
        if many < MANY:
            return self.text
        return COUNT.sub(lambda found: f"{found[1]}<{self.counts[found[2]]}>;", "\n".join(out))

    def _is_far(self, register, n):
        return register in self.cheap and self.block[self.cheap[register][3]] != self.block[n]

    def _chain(self, register, n, links, out):
        """The register that has this one's value at line n; `out` gets the instructions before that."""
        if links == 0 or not self._is_far(register, n):
            return register
        instruction, source, constant, _ = self.cheap[register]
        source = self._chain(source, n, links - 1, out)
        kind = "rd" if register.startswith("%rd") else "r"
        name = f"%{kind}{self.counts[kind]}"
        self.counts[kind] += 1
        out.append(f"\t{instruction} \t{name}, {source}{constant};")
        return name
