"""LLVM's IR of a kernel made into machine code that can be kept on disk. Needed to make images, not to load them.

llvmlite 0.44 has LLVM 15, as Taichi 1.7.4 has, and reads the IR that Taichi's own AOT builder writes, which is
optimised already. `link` makes a flat, position-independent image of LLVM's object. A shared library made by the
system's linker loads as fast (25 in 2 ms), but many machines have no linker, and what the system loads need not be the
bytes that were checked; LLVM's own loader would need llvmlite in every process (50 ms).
"""

import importlib.util
import re
import struct

from . import unpaired

# what the images rely on in Taichi 1.7.4; looked for in the IR of every kernel
CONTEXT = "{ i8*, %struct.LLVMRuntime*, i32, i64* }"  # arguments, runtime, thread, results
RUNTIME_FIELDS = 27
POOL, PARALLEL_FOR, TEMPORARIES = 9, 10, 14  # places of the fields of LLVMRuntime that kernels use
ALLOWED = {POOL, PARALLEL_FOR, TEMPORARIES}
GRAIN = 16  # iterations of a parallel loop that a worker takes at once, at least: neighbours in a cache line or two
_LEAST = re.compile(r"(@llvm\.smax\.i32\(i32 %[\w.]+, i32 )512\)")

# The machine code that calls kernels: `run` calls all tasks of a table (function, context); `serial_for` stands for
# the thread pool's parallel_for where a loop is not worth waking threads. `run_by_team` and `team_for` are those of
# workers who stay awake for a whole table, see team_code.py.
SUPPORT_FUNCTIONS = ("run", "serial_for", "outside", "fill", "add", "tick", "run_by_team", "team_for")
# run(table, i, n, times): calls the entries i, i + 1, ... of a table of n, and again from 0 on, until its end was
# reached so often. An entry whose last number is not 0 asks: at the answer 1 the table goes on so many entries further,
# n being its end, or, at -1, stops there. Returns n * how often the end was reached + the place it is at
# outside, fill, add ({numbers, n, a, b}): whether one of n numbers is not in a ... b; sets them to a; adds a to them
# tick ({words, n}): charges the time since the last tick to place n (clock.py), by CLOCK_MONOTONIC, 1, as Python does
SUPPORT = """
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%entry = type { void (i8*)*, i8*, i64 }
%numbers = type { i32*, i64, i32, i32 }
define i64 @run(%entry* %table, i64 %first, i64 %n, i64 %times) {
entry:
  %some = icmp sgt i64 %times, 0
  br i1 %some, label %loop, label %nothing
loop:
  %k = phi i64 [ 0, %entry ], [ %k, %called ], [ %reached, %end ]
  %i = phi i64 [ %first, %entry ], [ %next, %called ], [ 0, %end ]
  %inside = icmp slt i64 %i, %n
  br i1 %inside, label %work, label %end
work:
  %pf = getelementptr %entry, %entry* %table, i64 %i, i32 0
  %pc = getelementptr %entry, %entry* %table, i64 %i, i32 1
  %po = getelementptr %entry, %entry* %table, i64 %i, i32 2
  %f = load void (i8*)*, void (i8*)** %pf
  %c = load i8*, i8** %pc
  %other = load i64, i64* %po
  %asks = icmp ne i64 %other, 0
  br i1 %asks, label %ask, label %tell
tell:
  call void %f(i8* %c)
  br label %called
ask:
  %g = bitcast void (i8*)* %f to i32 (i8*)*
  %answer = call i32 %g(i8* %c)
  %differs = icmp ne i32 %answer, 0
  br i1 %differs, label %elsewhere, label %called
elsewhere:
  %stops = icmp slt i64 %other, 0
  br i1 %stops, label %stopped, label %called
called:
  %by = phi i64 [ 1, %tell ], [ 1, %ask ], [ %other, %elsewhere ]
  %next = add i64 %i, %by
  br label %loop
end:
  %reached = add i64 %k, 1
  %more = icmp slt i64 %reached, %times
  br i1 %more, label %loop, label %done
stopped:
  %before = mul i64 %k, %n
  %at = add i64 %before, %i
  ret i64 %at
done:
  %all = mul i64 %times, %n
  ret i64 %all
nothing:
  ret i64 %first
}
define void @serial_for(i8* %pool, i32 %n, i32 %threads, i8* %context, void (i8*, i32, i32)* %f) {
entry:
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void %f(i8* %context, i32 0, i32 %i)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
define i32 @outside(%numbers* %x) {
entry:
  %pp = getelementptr %numbers, %numbers* %x, i64 0, i32 0
  %pn = getelementptr %numbers, %numbers* %x, i64 0, i32 1
  %pa = getelementptr %numbers, %numbers* %x, i64 0, i32 2
  %pb = getelementptr %numbers, %numbers* %x, i64 0, i32 3
  %p = load i32*, i32** %pp
  %n = load i64, i64* %pn
  %a = load i32, i32* %pa
  %b = load i32, i32* %pb
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %inside ]
  %some = icmp slt i64 %i, %n
  br i1 %some, label %look, label %none
look:
  %pv = getelementptr i32, i32* %p, i64 %i
  %v = load i32, i32* %pv
  %low = icmp slt i32 %v, %a
  %high = icmp sgt i32 %v, %b
  %out = or i1 %low, %high
  %next = add i64 %i, 1
  br i1 %out, label %one, label %inside
inside:
  br label %loop
one:
  ret i32 1
none:
  ret i32 0
}
define void @fill(%numbers* %x) {
  call void @each(%numbers* %x, i32 0)
  ret void
}
define void @add(%numbers* %x) {
  call void @each(%numbers* %x, i32 -1)
  ret void
}
declare i32 @clock_gettime(i32, i64*)
define void @tick(%numbers* %x) {
entry:
  %time = alloca i64, i64 2
  %told = call i32 @clock_gettime(i32 1, i64* %time)
  %pns = getelementptr i64, i64* %time, i64 1
  %s = load i64, i64* %time
  %ns = load i64, i64* %pns
  %whole = mul i64 %s, 1000000000
  %now = add i64 %whole, %ns
  %pp = getelementptr %numbers, %numbers* %x, i64 0, i32 0
  %pn = getelementptr %numbers, %numbers* %x, i64 0, i32 1
  %p32 = load i32*, i32** %pp
  %n = load i64, i64* %pn
  %words = bitcast i32* %p32 to i64*
  %last = load i64, i64* %words
  store i64 %now, i64* %words
  %passed = sub i64 %now, %last
  %twice = mul i64 %n, 2
  %at = add i64 %twice, 1
  %behind = add i64 %twice, 2
  %psum = getelementptr i64, i64* %words, i64 %at
  %pcount = getelementptr i64, i64* %words, i64 %behind
  %sum = load i64, i64* %psum
  %count = load i64, i64* %pcount
  %sum1 = add i64 %sum, %passed
  %count1 = add i64 %count, 1
  store i64 %sum1, i64* %psum
  store i64 %count1, i64* %pcount
  ret void
}
define private void @each(%numbers* %x, i32 %kept) alwaysinline {
entry:
  %pp = getelementptr %numbers, %numbers* %x, i64 0, i32 0
  %pn = getelementptr %numbers, %numbers* %x, i64 0, i32 1
  %pa = getelementptr %numbers, %numbers* %x, i64 0, i32 2
  %p = load i32*, i32** %pp
  %n = load i64, i64* %pn
  %a = load i32, i32* %pa
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %work ]
  %some = icmp slt i64 %i, %n
  br i1 %some, label %work, label %done
work:
  %pv = getelementptr i32, i32* %p, i64 %i
  %v = load i32, i32* %pv
  %old = and i32 %v, %kept
  %new = add i32 %old, %a
  store i32 %new, i32* %pv
  %next = add i64 %i, 1
  br label %loop
done:
  ret void
}
"""


class Unsupported(Exception):
    """An image cannot be made or used here; the message says why. Taichi then does what it does without images."""


def available():
    """Whether images can be made here: llvmlite with the LLVM that reads Taichi's IR."""
    if importlib.util.find_spec("llvmlite") is None:
        return False
    from importlib.metadata import version

    return version("llvmlite").startswith("0.44.")


def compile_ir(text, cpu, again=False, vectors=False):
    """ELF object of LLVM IR for a processor such as "x86-64-v3"; arithmetic is neither fused nor relaxed.

    again  optimise it once more, by LLVM's short pipeline and what makes vectors of neighbours: promises.py tells more
           than was known when this was optimised.
    vectors  then let one instruction do several turns of an inner loop, where they do not depend on each other.
    """
    import llvmlite.binding as llvm

    try:
        module, machine = llvm.parse_assembly(unpaired.take_apart(text) if vectors else text), _machine(cpu)
        if again:
            tuning = llvm.create_pipeline_tuning_options(speed_level=1)
            tuning.slp_vectorization, tuning.loop_vectorization, tuning.loop_unrolling = True, vectors, False
            builder = llvm.create_pass_builder(machine, tuning)
            builder.getModulePassManager().run(module, builder)
        return machine.emit_object(module)
    except RuntimeError as e:
        raise Unsupported(f"LLVM: {' '.join(str(e).split())[:200]}") from None


def _machine(cpu):
    if cpu not in _machines:
        import llvmlite.binding as llvm

        llvm.initialize()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_triple("x86_64-pc-linux-gnu")
        _machines[cpu] = target.create_target_machine(cpu=cpu, opt=2, reloc="pic", codemodel="small")
    return _machines[cpu]


_machines = {}
_PC32, _PLT32, _GOT = 2, 4, (9, 41, 42)  # relocations of x86-64: relative, call, by a slot with the address


def link(obj):
    """(image, {function: offset}, [[external symbol, offset of its address]]) of an ELF object.

    The image needs no relocation: what lies outside is called through slots, which whoever maps it fills in.
    """
    if obj[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", obj, 18)[0] != 62:
        raise Unsupported("LLVM made no ELF object for x86-64")
    start, (_, count, _) = struct.unpack_from("<Q", obj, 0x28)[0], struct.unpack_from("<HHH", obj, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", obj, start + 64 * i) for i in range(count)]
    image, base = _place(obj, sections)
    symbols = _symbols(obj, sections)
    functions = {name: base[at] + value for name, kind, at, value in symbols if kind == _GLOBAL_FUNCTION and at in base}
    image += bytes(-len(image) % 16)
    slots = {}

    def slot(name):
        if name not in slots:
            slots[name] = len(image)
            image.extend(bytes(8) + b"\xff\x25" + struct.pack("<i", -14) + bytes(2))  # the address; jmp through it
        return slots[name]

    for _, kind, _, _, offset, size, _, of, _, _ in sections:
        if kind != 4 or of not in base:
            continue
        for i in range(size // 24):
            at, info, addend = struct.unpack_from("<QQq", obj, offset + 24 * i)
            name, _, section, value = symbols[info >> 32]
            relocation = info & 0xFFFFFFFF
            if relocation in (_PC32, _PLT32):
                to = base[section] + value if section else slot(name) + 8
            elif relocation in _GOT and not section:
                to = slot(name)
            else:
                raise Unsupported(f"relocation {relocation} of {name}")
            at += base[of]
            struct.pack_into("<i", image, at, to + addend - at)
    return bytes(image), functions, sorted([name, at] for name, at in slots.items())


_GLOBAL_FUNCTION = 0x12


def _place(obj, sections):
    """(code and constants one behind the other, {section: offset}); Unsupported if there is what a kernel may write."""
    image, base = bytearray(), {}
    for i, (_, kind, flags, _, offset, size, _, _, align, _) in enumerate(sections):
        if flags & 2 and kind in (1, 8) and size:  # takes memory, and is no table for unwinding
            if flags & 1:
                raise Unsupported("a section that is written")
            image += bytes(-len(image) % max(16, align))
            base[i] = len(image)
            image += obj[offset : offset + size] if kind == 1 else bytes(size)
    return image, base


def _symbols(obj, sections):
    """[(name, kind, section, value)] of the symbol table."""
    table = next(s for s in sections if s[1] == 2)
    names, found = sections[table[6]][4], []
    for i in range(table[5] // 24):
        name, kind, _, section, value, _ = struct.unpack_from("<IBBHQQ", obj, table[4] + 24 * i)
        found.append((obj[names + name : obj.index(b"\0", names + name)].decode(), kind, section, value))
    return found


_LLVM = {"i32": ("i32", 4), "u1": ("i1", 1), "f32": ("float", 4), "f64": ("double", 8)}


def layout(kinds):
    """(bytes, places) of the struct of arguments of these kinds: "i32", "f64", or "f64*" for an array.

    A place is [offset of the value], or [offset of the length, offset of the pointer] of an array.
    """
    at, places = 0, []
    for kind in kinds:
        if kind.endswith("*"):
            at += -at % 8
            places.append([at, at + 8])
            at += 16
        else:
            _, size = _LLVM[kind]
            at += -at % size
            places.append([at])
            at += size
    return at + -at % 8, places


def type_of(kind):
    """LLVM's type of an argument of such a kind, of a struct for a list of them."""
    if isinstance(kind, list):
        return f"{{ {', '.join(map(type_of, kind))} }}"
    llvm, _ = _LLVM[kind.rstrip("*")]
    return f"{{ {{ i32 }}, {llvm}* }}" if kind.endswith("*") else llvm


def share_out(text):
    """A kernel's IR in which loops of few iterations are shared out, too.

    Taichi cuts a parallel loop into 32 chunks, of 512 iterations at least: of 600 the second of two workers gets 88.
    Bodies of loops ask for that number; they are told GRAIN. Not for a kernel in which a chunk is a worker (HAND).
    """
    return _LEAST.sub(rf"\g<1>{GRAIN})", text)


def tasks(text, arguments, called=()):
    """Names of a kernel's tasks in their order, from its IR, in which all layouts are looked at.

    arguments  LLVM's type of the struct of arguments that the caller will fill in.  called  those of functions that
               the kernel calls.
    Raises Unsupported where anything is not as this file says.
    """
    names = re.findall(r"^define (?!internal)[^@]*@([\w.$]+)\(", text, re.M)
    order = sorted((int(m.group(1)), n) for n in names if (m := re.search(r"_kernel_(\d+)_", n)))
    if not names or [i for i, _ in order] != list(range(len(names))):
        raise Unsupported(f"tasks {names}")
    structs = {re.sub(r"\.\d+$", "", n): t for n, t in re.findall(r"^%struct\.([\w.]+) = type (.*)$", text, re.M)}
    context = re.sub(r"(%struct\.LLVMRuntime)\.\d+", r"\1", structs.get("RuntimeContext", ""))
    if context != CONTEXT:
        raise Unsupported(f"another RuntimeContext: {context}")
    fields = structs.get("LLVMRuntime", "")
    if fields and _number_of_fields(fields) != RUNTIME_FIELDS:
        raise Unsupported(f"another LLVMRuntime: {fields}")
    if used := _fields_used(text, "LLVMRuntime") - ALLOWED:
        raise Unsupported(f"fields {sorted(used)} of LLVMRuntime are used")
    if 0 in _fields_used(text, "RuntimeContext"):  # only as below
        raise Unsupported("arguments are found in another way")
    found = set(re.findall(r"bitcast %struct\.RuntimeContext[\w.]*\* %\w+ to (i8\*|\{.*\}\*\*|.*)", text))
    known = {"i8*", *(f"{kind}**" for kind in (arguments, *called))}  # all of a context is copied for each thread
    if wrong := found - known:
        raise Unsupported(f"struct of arguments {sorted(wrong)} instead of {arguments}")
    return [name for _, name in order]


def _fields_used(text, name):
    """Numbers of the fields of a struct whose addresses are taken; -1 stands for what is not seen through."""
    found = {-1} if name == "LLVMRuntime" and re.search(r"bitcast %struct\.LLVMRuntime[\w.]*\* ", text) else set()
    for line in re.findall(rf"getelementptr (?:inbounds )?\(?%struct\.{name}(?:\.\d+)?, (.*)", text):
        field = re.match(r"[^,]*, i64 0, i32 (\d+)(?:$|[ ,)])", line)
        found.add(int(field[1]) if field else -1)
    return found


def _number_of_fields(struct_type):
    """How many fields "{ a, b (c, d)*, [2 x e] }" has."""
    depth, number = 0, 1
    for c in struct_type.strip()[1:-1]:
        depth += (c in "({[<") - (c in ")}]>")
        number += c == "," and not depth
    return number
