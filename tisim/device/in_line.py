"""PTX of loops whose body LLVM has left a function of its own, since it is long: put in line again.

Taichi hands a loop's body the address of its RuntimeContext. A body in line reads the parameters of the task; one that
is called gets the address of a copy, on a stack that each thread has for it, and reads there where the arguments are
before each use of them. Here the body takes the place of its call, and reads the parameters, which are the same
numbers. What is not as LLVM writes it for Taichi 1.7.4 stays as it is.
"""

import re

FUNCTION = re.compile(r"^\.func (function_body[\w$]*)\(\n[^{]*\{\n(.*?)^\}\n", re.MULTILINE | re.DOTALL)
DECLARED = re.compile(r"^\.func (function_body[\w$]*)\n\([^{;]*\)\n;\n", re.MULTILINE)
ENTRY = re.compile(r"^\.visible \.entry ([\w$]+)\([^{]*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
CALL = re.compile(
    r"\t\{ // callseq.*\n"
    r"\t\.reg \.b32 temp_param_reg;\n"
    r"\t\.param \.b64 param0;\n\tst\.param\.b64 \t\[param0\+0\], (?P<context>%rd\d+);\n"
    r"\t\.param \.b64 param1;\n\tst\.param\.b64 \t\[param1\+0\], %rd\d+;\n"
    r"\t\.param \.b32 param2;\n\tst\.param\.b32 \t\[param2\+0\], (?P<round>%r\d+);\n"
    r"\tcall\.uni \n\t(?P<body>[\w$]+), \n\t\(\n\tparam0, \n\tparam1, \n\tparam2\n\t\);\n\t\} // callseq.*\n"
)
COUNTS = re.compile(r"^\t\.reg (\.\w+) \t(%[a-z]+)<(\d+)>;\n", re.MULTILINE)
REGISTER = re.compile(r"(%[a-z]+)(\d+)\b")
STACK = re.compile(r"__local_depot|%SPL?\b|\bst\.local\b")


class Other(Exception):
    """PTX that is not as expected."""


def in_line(text):
    """The text, with calls of loops' bodies replaced by these."""
    bodies, used = dict(FUNCTION.findall(text)), set()

    def replaced(entry):
        task, outer = entry.groups()
        calls = list(CALL.finditer(outer))
        if len(calls) != 1 or calls[0]["body"] not in bodies:
            return entry[0]
        try:
            made = _merged(task, outer, calls[0], bodies[calls[0]["body"]])
        except Other:
            return entry[0]
        used.add(calls[0]["body"])
        return entry[0].replace(outer, made)

    text = ENTRY.sub(replaced, text)
    if all(text.count(f"\t{name}, \n") == 0 for name in used):
        for pattern in (FUNCTION, DECLARED):
            text = pattern.sub(lambda found: "" if found[1] in used else found[0], text)
    return text


def _merged(task, outer, call, body):
    """What a task does, with the body of its loop in place of the call. Raises Other."""
    name, numbers = call["body"], {register: int(n) for _, register, n in COUNTS.findall(body)}

    def moved(found):  # the task's registers follow the body's
        return f"{found[1]}{numbers.get(found[1], 0) + int(found[2])}"

    before = _without_stack(outer[: call.start()], call["context"])
    behind, end = _without_stack(outer[call.end() :], call["context"]), f"$L__{name}_end"
    kinds = {register: kind for kind, register, _ in COUNTS.findall(body + before)}
    for _, register, n in COUNTS.findall(before):
        numbers[register] = numbers.get(register, 0)
    sizes = {register: n + next((int(k) for _, r, k in COUNTS.findall(before) if r == register), 0)
             for register, n in numbers.items()}  # fmt: skip
    declared = "".join(f"\t.reg {kinds[register]} \t{register}<{n}>;\n" for register, n in sizes.items())
    before, behind = (REGISTER.sub(moved, COUNTS.sub("", part)) for part in (before, behind))
    inner = _reading_parameters(task, name, COUNTS.sub("", body), REGISTER.sub(moved, call["round"]))
    inner = inner.replace("\tret;", f"\tbra.uni \t{end};")
    return f"{declared}{before}{inner}{end}:\n{behind}"


def _without_stack(part, context):
    """Lines of a task without those that make the copy."""
    places, kept = {context}, []
    for line in part.splitlines(keepends=True):
        if place := re.match(r"\tadd\.u64 \t(%rd\d+), %SPL?, \d+;", line):
            places.add(place[1])
        if STACK.search(line):
            continue
        if places & set(re.findall(r"%rd\d+", line)):
            raise Other(line)
        kept.append(line)
    return "".join(kept)


def _reading_parameters(task, name, body, number):
    """The body, with its round `number` in a register and its context the task's parameter."""
    parameter = re.escape(name) + "_param"
    context = re.findall(rf"\tld\.param\.u64 \t(%rd\d+), \[{parameter}_0\];\n", body)
    if len(context) != 1:
        raise Other(name)
    body = body.replace(f"\tld.param.u64 \t{context[0]}, [{name}_param_0];\n", "")
    body = re.sub(rf"ld\.param\.u32 \t(%r\d+), \[{parameter}_2\];", rf"mov.u32 \t\1, {number};", body)
    body = re.sub(rf"\bld\.(\w+ \t%\w+), \[{context[0]}((?:\+\d+)?)\];", rf"ld.param.\1, [{task}_param_0\2];", body)
    if re.search(rf"{context[0]}\b|{parameter}", body):
        raise Other(name)
    return body
