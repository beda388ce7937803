"""What each PTX instruction is in C. INSTRUCTIONS: name -> f(function, name, flags, type, operands) -> statements.

Sources: "Parallel thread execution ISA", chapter 9, for what the instructions compute.
"""

C_TYPES = dict(
    s8="int8_t", u8="uint8_t", b8="uint8_t", s16="int16_t", u16="uint16_t", b16="uint16_t", s32="int32_t",
    u32="uint32_t", b32="uint32_t", s64="int64_t", u64="uint64_t", b64="uint64_t", f32="float", f64="double",
    pred="uint8_t",
)  # fmt: skip
REGISTERS = {"r": "uint32_t", "rd": "uint64_t", "rs": "uint16_t", "f": "float", "fd": "double", "p": "uint8_t"}
LOAD, STORE, INTEGER_ATOMIC, FLOAT_ATOMIC = range(4)  # as in driver.c
UNWATCHED = {"param", "local", "const", "shared"}  # memory that no other block sees
INSTRUCTIONS = {}


def width(ty):
    """Bytes of a type."""
    return int(ty[1:]) // 8


def instruction(*names):
    """Enters a function in INSTRUCTIONS."""

    def enter(f):
        INSTRUCTIONS.update(dict.fromkeys(names, f))
        return f

    return enter


def is_float(ty):
    return ty in ("f32", "f64")


def wider(ty):
    return {"s16": "int32_t", "u16": "uint32_t", "s32": "int64_t", "u32": "uint64_t", "s64": "__int128",
            "u64": "unsigned __int128"}[ty]  # fmt: skip


def wrapping(ty):
    """The type in which sums and products of type ty wrap around without undefined behaviour."""
    return ty if is_float(ty) else "u" + ty[1:]


def of_float(name, ty):
    """The C function of a name for this type: sinf, sin."""
    return name + "f" * (ty == "f32")


# ---- control


@instruction("bra")
def bra(f, name, flags, ty, a):
    return f"goto {a[0].lstrip('$').replace('$', '_')};"


@instruction("ret", "exit")
def ret(f, name, flags, ty, a):
    return "return;"


@instruction("membar", "fence")
def fence(f, name, flags, ty, a):
    return ";"  # one thread runs at a time


# ---- memory


def elements(operand):
    """The registers of {a,b} or of one."""
    return [x.strip() for x in operand.strip("{}").split(",")]


@instruction("ld", "ldu")
def load(f, name, flags, ty, a):
    out, address = [], f.address(a[1])
    for i, register in enumerate(elements(a[0])):
        at = f"{address} + {i * width(ty)}" if i else address
        if not UNWATCHED & set(flags):
            out.append(f"SEEN({at}, {width(ty)}, {LOAD}, 0);")
        value = f"AT({C_TYPES[ty]}, {at})"
        is_real = f.registers.get(f.register(register)) in ("float", "double") or is_float(ty)
        out.append(f.put(register, value, ty) if is_real else f"{f.register(register)} = {value};")
    return " ".join(out)


@instruction("st")
def store(f, name, flags, ty, a):
    out, address = [], f.address(a[0])
    for i, operand in enumerate(elements(a[1])):
        at, value = f"{address} + {i * width(ty)}" if i else address, f.value(operand, ty)
        if not (UNWATCHED - {"const"}) & set(flags):
            out.append(f"SEEN({at}, {width(ty)}, {STORE}, BITS({value}));")
        out.append(f"AT({C_TYPES[ty]}, {at}) = {value};")
    return " ".join(out)


ATOMICS = dict(
    add="old + {x}", exch="{x}", min="old < {x} ? old : {x}", max="old > {x} ? old : {x}", cas="old == {x} ? {y} : old",
    **{"and": "old & {x}", "or": "old | {x}", "xor": "old ^ {x}"},
)  # fmt: skip


@instruction("atom", "red")
def atomic(f, name, flags, ty, a):
    back, a = (a[0], a[1:]) if name == "atom" else ("_", a)
    values = [f.value(x, ty) for x in a[1:]] + [""]
    new = ATOMICS[next(p for p in flags if p in ATOMICS)].format(x=values[0], y=values[1])
    at, kind = f.address(a[0]), FLOAT_ATOMIC if is_float(ty) else INTEGER_ATOMIC
    keep = "" if back == "_" else f.put(back, "old", ty)
    c = C_TYPES[ty]
    return f"{c} old; SEEN({at}, {width(ty)}, {kind}, 0); old = AT({c}, {at}); AT({c}, {at}) = {new}; {keep}"


# ---- moves and comparisons


@instruction("mov", "cvta")
def move(f, name, flags, ty, a):
    if a[0].startswith("{"):
        low, high = elements(a[0])
        put = f.put(low, "(uint32_t)both", "b32") if low != "_" else ""
        return f"uint64_t both = {f.value(a[1], 'b64')}; {put} " + (
            f.put(high, "both >> 32", "b32") if high != "_" else ""
        )
    if a[1].startswith("{"):
        low, high = elements(a[1])
        return f.put(a[0], f"({f.value(low, 'b32')} | (uint64_t){f.value(high, 'b32')} << 32)", "b64")
    return f.put(a[0], f.value(a[1], ty), ty)


SIGNS = dict(eq="==", ne="!=", lt="<", le="<=", gt=">", ge=">=", lo="<", ls="<=", hi=">", hs=">=")
UNORDERED = dict(neu="eq", ltu="ge", leu="gt", gtu="le", geu="lt")  # true for NaN: the opposite of the opposite


def compared(kind, x, y, ty):
    if kind in ("nan", "num"):
        return f"({x} != {x} || {y} != {y})" if kind == "nan" else f"({x} == {x} && {y} == {y})"
    if is_float(ty) and kind in ("ne", "equ"):  # ordered and different, or its opposite
        return f"{'!' * (kind == 'equ')}({x} < {y} || {x} > {y})"
    if kind in UNORDERED:
        return f"!({x} {SIGNS[UNORDERED[kind]]} {y})"
    return f"({x} {SIGNS[kind]} {y})"


@instruction("setp")
def set_predicate(f, name, flags, ty, a):
    made = compared(flags[0], f.value(a[1], ty), f.value(a[2], ty), ty)
    if len(a) > 3:  # setp.lt.and.f32 p, x, y, q
        made = f"{made} {dict([('and', '&'), ('or', '|'), ('xor', '^')])[flags[1]]} {f.value(a[3], 'pred')}"
    return f"{f.register(a[0])} = {made};"


@instruction("selp")
def select(f, name, flags, ty, a):
    return f.put(a[0], f"{f.register(a[3])} ? {f.value(a[1], ty)} : {f.value(a[2], ty)}", ty)


# ---- bits


@instruction("and", "or", "xor")
def bitwise(f, name, flags, ty, a):
    sign = dict([("and", "&"), ("or", "|"), ("xor", "^")])[name]
    return f.put(a[0], f"{f.value(a[1], ty)} {sign} {f.value(a[2], ty)}", ty)


@instruction("not")
def bitwise_not(f, name, flags, ty, a):
    return f.put(a[0], f"{'!' if ty == 'pred' else '~'}{f.value(a[1], ty)}", ty)


@instruction("shl", "shr")
def shift(f, name, flags, ty, a):
    kind = "shl" if name == "shl" else "shrs" if ty[0] == "s" else "shru"
    return f.put(a[0], f"{kind}{64 if ty[1:] == '64' else 32}({f.value(a[1], ty)}, {f.value(a[2], 'u32')})", ty)


@instruction("bfe")
def bit_field(f, name, flags, ty, a):
    x, start, length = f.value(a[1], ty), f.value(a[2], "u32"), f.value(a[3], "u32")
    return f.put(a[0], f"({x} >> {start}) & ((1u << {length}) - 1)", ty)


@instruction("clz", "popc")
def count_bits(f, name, flags, ty, a):
    x, size = f.value(a[1], ty), "ll" if ty[1:] == "64" else ""
    made = f"__builtin_popcount{size}({x})" if name == "popc" else f"{x} ? __builtin_clz{size}({x}) : {ty[1:]}"
    return f.put(a[0], made, "u32")


# ---- conversions

ROUNDINGS = dict(rzi="trunc", rmi="floor", rpi="ceil", rni="nearbyint")


@instruction("cvt")
def convert(f, name, flags, ty, a):
    to, source = [p for p in flags if p in C_TYPES]
    x, rounding = f.value(a[1], source), next((p for p in flags if p in ROUNDINGS), None)
    if rounding and is_float(source):
        x = f"{ROUNDINGS[rounding]}({x})"
        return f.put(a[0], f"({C_TYPES[to]}){x}" if is_float(to) else f"to_{to}({x})", to)
    return f.put(a[0], f"({C_TYPES[to]}){x}", to)


# ---- arithmetic


def with_carry(f, name, flags, ty, a):
    """add.cc, addc, sub.cc, subc, mad.cc and madc of 32 bits: by 64 bits, the rest in `carry`."""
    x, y, used = f.value(a[1], ty), f.value(a[2], ty), name in ("addc", "subc", "madc")
    if name.startswith("mad"):
        product = f"(uint32_t)((uint64_t){x} * {y} >> {32 if 'hi' in flags else 0})"
        x, y = product, f.value(a[3], ty)
    sign = "-" if name.startswith("sub") else "+"
    made = f"(uint64_t){x} {sign} {y}" + f" {sign} carry" * used
    keep = f"carry = both >> {63 if sign == '-' else 32};" if "cc" in flags else ""
    return f"uint64_t both = {made}; {f.put(a[0], '(uint32_t)both', 'u32')} {keep}"


@instruction("add", "sub", "mul", "addc", "subc")
def sums_and_products(f, name, flags, ty, a):
    if "cc" in flags or name in ("addc", "subc"):
        return with_carry(f, name, flags, ty, a)
    if name == "mul" and ("wide" in flags or "hi" in flags):
        return multiply_add(f, "mul", flags, ty, a)
    sign, wraps = {"add": "+", "sub": "-", "mul": "*"}[name], wrapping(ty)
    x, y = f.value(a[1], wraps), f.value(a[2], wraps)
    if ty[1:] == "16":  # C would compute with int
        return f.put(a[0], f"(uint16_t)((uint32_t){x} {sign} (uint32_t){y})", wraps)
    return f.put(a[0], f"{x} {sign} {y}", wraps)


@instruction("mad", "madc")
def multiply_add(f, name, flags, ty, a):
    """Products of integers, low, high or whole, and what is added to them."""
    if "cc" in flags or name == "madc":
        return with_carry(f, name, flags, ty, a)
    if "wide" in flags or "hi" in flags:
        product = f"({wider(ty)}){f.value(a[1], ty)} * ({wider(ty)}){f.value(a[2], ty)}"
        to = ty[0] + str(2 * int(ty[1:])) if "wide" in flags else ty
        product = f"({C_TYPES[to]})({product}{'' if 'wide' in flags else f' >> {ty[1:]}'})"
        return f.put(a[0], product + (f" + {f.value(a[3], to)}" if name == "mad" else ""), to)
    wraps = wrapping(ty)
    return f.put(a[0], f"{f.value(a[1], wraps)} * {f.value(a[2], wraps)} + {f.value(a[3], wraps)}", wraps)


@instruction("fma")
def fused(f, name, flags, ty, a):
    return f.put(a[0], f"__builtin_{of_float('fma', ty)}({', '.join(f.value(x, ty) for x in a[1:])})", ty)


@instruction("div", "rem")
def divide(f, name, flags, ty, a):
    x, y = f.value(a[1], ty), f.value(a[2], ty)
    if is_float(ty):
        return f.put(a[0], f"{x} / {y}", ty)
    return f.put(a[0], f"{y} == 0 ? ({C_TYPES[ty]})-1 : {x} {'/' if name == 'div' else '%'} {y}", ty)


@instruction("neg")
def negate(f, name, flags, ty, a):
    return f.put(a[0], f"-{f.value(a[1], wrapping(ty))}", wrapping(ty))


@instruction("abs")
def absolute(f, name, flags, ty, a):
    x = f.value(a[1], ty)
    return f.put(a[0], f"{of_float('fabs', ty)}({x})" if is_float(ty) else f"{x} < 0 ? -{x} : {x}", ty)


@instruction("min", "max")
def least_or_greatest(f, name, flags, ty, a):
    x, y = f.value(a[1], ty), f.value(a[2], ty)
    if is_float(ty):
        return f.put(a[0], f"{of_float('f' + name, ty)}({x}, {y})", ty)
    return f.put(a[0], f"{x} {'<' if name == 'min' else '>'} {y} ? {x} : {y}", ty)


FUNCTIONS = dict(sqrt="{sqrt}({x})", rcp="1 / {x}", rsqrt="1 / {sqrt}({x})", ex2="exp2{s}({x})", lg2="log2{s}({x})",
                 sin="sin{s}({x})", cos="cos{s}({x})", tanh="tanh{s}({x})")  # fmt: skip


@instruction(*FUNCTIONS)
def function_of_one(f, name, flags, ty, a):
    made = FUNCTIONS[name].format(x=f.value(a[1], ty), s="f" * (ty == "f32"), sqrt=of_float("sqrt", ty))
    return f.put(a[0], made, ty)
