"""PTX, as LLVM writes it for Taichi, to C: a function for each of PTX's, to be called once per GPU thread.

    python ptx2c.py IN.ptx OUT.c

Pointers are host addresses, so memory works as it is. With -DWATCH each access of global memory goes through the
driver's softgpu_watch (races, bytes) and each basic block counts its instructions. Threads run one after another:
instructions by which they meet (barriers, shuffles, votes) are not known here and end with an error.
"""

import re
import sys

from ptx_instructions import C_TYPES, INSTRUCTIONS, REGISTERS, width

HEAD = r"""
#include <stdint.h>
#include <string.h>
#include <math.h>
typedef struct { uint32_t tid, ntid, ctaid, nctaid; uint64_t instructions, loads; } Thread;
void (*softgpu_watch)(Thread *t, uint64_t address, int size, int kind, uint64_t value);
#define AT(type, address) (*(type *)(uintptr_t)(address))
#define FUNC static inline
FUNC uint32_t float_bits(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
FUNC float as_float(uint32_t x) { float u; memcpy(&u, &x, 4); return u; }
FUNC uint64_t double_bits(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
FUNC double as_double(uint64_t x) { double u; memcpy(&u, &x, 8); return u; }
FUNC uint64_t int_bits(uint64_t x) { return x; }
#define BITS(x) _Generic((x), float: float_bits, double: double_bits, default: int_bits)(x)
FUNC uint32_t shl32(uint32_t a, uint32_t n) { return n > 31 ? 0 : a << n; }
FUNC uint64_t shl64(uint64_t a, uint32_t n) { return n > 63 ? 0 : a << n; }
FUNC uint32_t shru32(uint32_t a, uint32_t n) { return n > 31 ? 0 : a >> n; }
FUNC uint64_t shru64(uint64_t a, uint32_t n) { return n > 63 ? 0 : a >> n; }
FUNC int32_t shrs32(int32_t a, uint32_t n) { return a >> (n > 31 ? 31 : n); }
FUNC int64_t shrs64(int64_t a, uint32_t n) { return a >> (n > 63 ? 63 : n); }
/* to integers: NaN is 0, what is out of range the nearest that is not */
FUNC int32_t to_s32(double x) { return x != x ? 0 : x >= 0x1p31 ? INT32_MAX : x <= -0x1p31 ? INT32_MIN : (int32_t)x; }
FUNC uint32_t to_u32(double x) { return x != x || x <= 0 ? 0 : x >= 0x1p32 ? UINT32_MAX : (uint32_t)x; }
FUNC int64_t to_s64(double x) { return x != x ? 0 : x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x; }
FUNC uint64_t to_u64(double x) { return x != x || x <= 0 ? 0 : x >= 0x1p64 ? UINT64_MAX : (uint64_t)x; }
FUNC int32_t to_s16(double x) { int32_t i = to_s32(x); return i > 32767 ? 32767 : i < -32768 ? -32768 : i; }
FUNC uint32_t to_u16(double x) { uint32_t i = to_u32(x); return i > 65535 ? 65535 : i; }
FUNC int32_t to_s8(double x) { int32_t i = to_s32(x); return i > 127 ? 127 : i < -128 ? -128 : i; }
FUNC uint32_t to_u8(double x) { uint32_t i = to_u32(x); return i > 255 ? 255 : i; }
#ifdef WATCH
#define SEEN(address, size, kind, value) softgpu_watch(t, (uint64_t)(address), size, kind, value)
#define BLOCK(n) t->instructions += n
#else
#define SEEN(address, size, kind, value)
#define BLOCK(n)
#endif
"""
SPECIAL = {
    "%tid.x": "t->tid", "%ntid.x": "t->ntid", "%ctaid.x": "t->ctaid", "%nctaid.x": "t->nctaid", "%tid.y": "0",
    "%tid.z": "0", "%ctaid.y": "0", "%ctaid.z": "0", "%laneid": "(t->tid & 31)",
}  # fmt: skip
VARIABLE = re.compile(
    r"^\s*(?:\.visible\s+|\.extern\s+|\.weak\s+)?\.(?:const|global|shared)\s+\.align\s+(\d+)\s+\.(\w+)\s+"
    r"(\w[\w$.]*)(?:\[(\d+)\])?\s*(?:=\s*([^;]*))?;", re.M)  # fmt: skip
FUNCTION = re.compile(r"\.(entry|func)\s*(?:\(([^)]*)\)\s*)?([\w$.]+)\s*\(([^)]*)\)([^{;]*)([{;])")
PARAMETER_TYPE = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.\w+\s+")
SILENT = ("vprintf", "__assertfail")  # what kernels print or assert is left out


def clean(name):
    """A C name for one of PTX's."""
    return name.replace("$", "_").replace(".", "_")


class Function:
    """One function of a module: its registers as they are met, and its statements as C."""

    def __init__(self, name, entry, params, body):
        self.name, self.entry, self.body = name, entry, body
        self.params = {p: i for i, p in enumerate(params)}
        self.registers, self.arrays = {}, []
        self.declared = {}  # registers that inline assembly declares

    # ---- operands

    def register(self, name):
        """The C variable of a register."""
        name = name.strip().lstrip("%")
        if name in self.declared:
            self.registers["own_" + name] = self.declared[name]
            return "own_" + name
        self.registers[name] = "uint64_t" if name in ("SP", "SPL") else REGISTERS[re.match("[a-z]+", name)[0]]
        return name

    def value(self, text, ty):
        """C expression of an operand, read as a value of PTX's type ty."""
        text = text.strip()
        if text in SPECIAL:
            return SPECIAL[text]
        if text.startswith("%") or text in self.declared:
            return self._read(self.register(text), ty)
        if text[:2] in ("0f", "0F"):
            return f"as_float(0x{text[2:]}u)"
        if text[:2] in ("0d", "0D"):
            return f"as_double(0x{text[2:]}ull)"
        if re.fullmatch(r"-?\d+", text):
            return (
                text if ty in ("f32", "f64") else f"(({C_TYPES[ty]}){text}{'ll' if abs(int(text)) > 1 << 31 else ''})"
            )
        return self.address(text)

    def _read(self, register, ty):
        kind = self.registers[register]
        if ty == "pred":
            return register
        if ty in ("f32", "f64"):
            return register if kind == C_TYPES[ty] else f"as_{C_TYPES[ty]}({register})"
        bits = f"{kind}_bits({register})" if kind in ("float", "double") else register
        return f"(({C_TYPES[ty]}){bits})"

    def address(self, text):
        """C expression of symbol+offset or register+offset."""
        base, offset = re.fullmatch(r"([^+\s]+)\s*(?:\+\s*(-?\d+))?", text.strip("[] ")).groups()
        if base.startswith("%"):
            place = self.register(base)
        else:
            if base in self.params:
                place = f"P{self.params[base]}"
            elif base == "func_retval0":
                place = "RET"
            else:
                place = base if re.fullmatch(r"(param|retval)\d+", base) else f"&{clean(base)}"
            place = f"(uint64_t)(uintptr_t){place}"
        return f"({place} + {offset}ll)" if int(offset or 0) else f"({place})"

    def put(self, register, value, ty):
        """C statement that stores a value of PTX's type ty in a register."""
        name = self.register(register)
        kind = self.registers[name]
        if kind in ("float", "double") and kind != C_TYPES[ty]:
            value = f"as_{kind}({value})"
        elif kind not in ("float", "double") and ty in ("f32", "f64"):
            value = f"{C_TYPES[ty]}_bits({value})"
        elif ty[0] == "s" and kind != "uint8_t":
            value = f"({kind})({C_TYPES[ty]})({value})"  # extends the sign
        return f"{name} = {value};"

    # ---- statements

    def statement(self, text):
        """C of one instruction, guarded by its predicate."""
        guard, text = re.match(r"(?:@(!?%p\d+)\s+)?(.*)", text, re.S).groups()
        op, _, rest = text.partition(" ") if not re.match(r"\S+\t", text) else text.partition("\t")
        parts = op.split(".")
        name, flags = parts[0], parts[1:]
        operands = [x.strip() for x in re.split(r",(?![^{(]*[})])", rest)] if rest.strip() else []
        ty = next((p for p in reversed(flags) if p in C_TYPES), None)
        if name == "call":
            made = self._call(rest)
        elif name in INSTRUCTIONS:
            made = INSTRUCTIONS[name](self, name, flags, ty, operands)
        else:
            raise NotImplementedError(f"{op} {rest}")
        condition = f"if ({guard.replace('%', '')}) " if guard else ""
        if guard:
            self.register(guard.lstrip("!"))
        return f"{condition}{{ {made} }}"

    def _call(self, rest):
        found = re.fullmatch(
            r"\s*(?:\(\s*(\w+)\s*\)\s*,\s*)?([%\w.$]+)\s*,?\s*(?:\(\s*(.*?)\s*\))?\s*(?:,\s*\w+)?\s*", rest, re.S
        )
        back, target, args = found.groups()
        args = [x.strip() for x in (args or "").split(",") if x.strip()]
        given = ", ".join(["t", f"(char *){back}" if back else "0", *(f"(char *){x}" for x in args)])
        if not target.startswith("%"):
            return f"{clean(target)}({given});"
        kinds = ", ".join(["Thread *", "char *"] + ["char *"] * len(args))
        return f"((void (*)({kinds}))(uintptr_t){self.register(target)})({given});"

    def declaration(self, text):
        """C of a declaration: a line of C, or nothing where it goes to the head of the function."""
        if text.startswith(".reg"):
            ty, names = re.match(r"\.reg\s+\.(\w+)\s+(.*)", text).groups()
            names = [n.strip(" %") for n in names.split(",") if "<" not in n and "%SP" not in n]
            self.declared |= {n: C_TYPES[ty] for n in names}
        elif text.startswith((".local", ".shared")):
            name, size = re.match(r"\.local\s+\.align\s+\d+\s+\.b8\s+(\w+)\[(\d+)\]", text).groups()
            self.arrays.append(f"char {name}[{size}] __attribute__((aligned(16)));")
        elif text.startswith(".param"):
            found = re.match(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(\w+)(?:\[(\d+)\])?", text)
            ty, name, size = found.groups()
            return f"char {name}[{size or width(ty)}] __attribute__((aligned(16)));"
        return ""  # .pragma and the like

    def lines(self):
        """The body as (what, text): labels, braces and statements; LLVM writes calls over several lines."""
        held, text = "", re.sub(r"\w+\s*:\s*\.callprototype[^;]*;", "", self.body)
        for line in filter(None, map(str.strip, text.split("\n"))):
            if not held and re.fullmatch(r"\$?[\w$.]+:", line):
                yield "label", clean(line[:-1].lstrip("$"))
            elif not held and line in "{}":
                yield "brace", line
            else:
                held += line + " "
                if line.endswith(";"):
                    yield "statement", held.strip()[:-1].strip()
                    held = ""

    def emit(self):
        """The function in C."""
        out, lines = [], list(self.lines())
        for i, (kind, text) in enumerate(lines):
            if kind == "label":
                end = next((k for k in range(i + 1, len(lines)) if lines[k][0] == "label"), len(lines))
                n = sum(what == "statement" and not s.startswith(".") for what, s in lines[i + 1 : end])
                out.append(f"{text}: BLOCK({n});")
            elif kind == "brace":
                out.append(text)
            else:
                out.append(self.declaration(text) if text.startswith(".") else self.statement(text))
        registers = [f"{kind} {name} = 0;" for name, kind in self.registers.items()]
        given = [f"char *P{i} = (char *)given[{i}];" for i in range(len(self.params))] if self.entry else []
        head = [*given, "uint32_t carry = 0; (void)carry;", *registers, *self.arrays]
        return f"{self.signature()} {{\n" + "\n".join(head + out) + "\n}\n"

    def signature(self):
        if self.entry:
            return f"void {clean(self.name)}(Thread *t, void **given)"
        args = "".join(f", char *P{i}" for i in range(len(self.params)))
        return f"static void {clean(self.name)}(Thread *t, char *RET{args})"


def functions(ptx):
    """(Function or None, line of C) of each function: those without a body are silent or an error of the C compiler."""
    for found in FUNCTION.finditer(ptx):
        kind, _, name, params, _, opens = found.groups()
        if opens == ";":
            if name in SILENT:
                yield None, f"static void {name}(Thread *t, char *RET, ...) {{ if (RET) *(int *)RET = 0; }}"
            continue
        names = re.findall(r"([\w$.]+)(?:\[\d+\])?\s*(?:,|$)", PARAMETER_TYPE.sub("", params).strip())
        depth, end = 1, found.end()
        while depth:
            depth += (ptx[end] == "{") - (ptx[end] == "}")
            end += 1
        function = Function(name, kind == "entry", names, ptx[found.end() : end - 1])
        yield function, function.signature() + ";"


def translate(ptx):
    """The module in C."""
    ptx = re.sub(r"/\*.*?\*/", "", re.sub(r"//[^\n]*", "", ptx), flags=re.S)
    out = [HEAD]
    for align, ty, name, size, value in VARIABLE.findall(ptx):
        array, start = f"[{size}]" if size else "", f" = {value}" if value else ""
        out.append(f"static {C_TYPES[ty]} {clean(name)}{array} __attribute__((aligned({max(8, int(align))}))){start};")
    found = list(functions(ptx))
    texts = [function.emit() for function, _ in found if function]
    return "\n".join(out + [line for _, line in found] + texts)


if __name__ == "__main__":
    source, target = sys.argv[1:]
    with open(source) as file:
        made = translate(file.read())
    with open(target, "w") as file:
        file.write(made)
