"""What tasks take of a multiprocessor, by ptxas, of PTX that own launches have kept. Needs ptxas (CUDA's, or that of
PyPI's nvidia-cuda-nvcc-cu12) and no GPU.

    python tests/gpu/ptxas.py FOLDER [PTXAS]      FOLDER: .../tisim/ptx, see TISIM_OWN_LAUNCHES in README.md

A line per task, those with most registers first: registers, bytes of its stack (arrays indexed at run time, and
spills), bytes spilled, instructions, arrays, and the share of a multiprocessor's threads that its registers leave room
for.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from tisim.device.tasks import short

ARCH, THREADS, REGISTERS = "sm_90", 2048, 65536


def bodies_of(text):
    """{task: its PTX, with that of the function that is the body of its loop if it is one}"""
    functions = dict(re.findall(r"\n\.func (function_body[\w$]*)\(?\n(.*?)\n\}", text, re.DOTALL))
    bodies = {}
    for name, body in re.findall(r"\.entry ([\w$]+)\((.*?)\n\}", text, re.DOTALL):
        called = re.findall(r"call\.uni\s+(function_body[\w$]*)", body)
        bodies[name] = body + "".join(functions.get(each, "") for each in called)
    return bodies


def arrays_of(body):
    """How many arrays a task's PTX reads the addresses of: pointers in the buffer of arguments, to which the first word
    of the context points."""
    contexts, buffers, found = set(), set(), set()
    for line in body.splitlines():
        step = re.match(r"\s*(ld|mov|cvta)\.\S*[bu]64\s+(%rd\d+), \[?([%\w$]+)(?:\+(\d+))?\]?;", line)
        if step is None:
            continue
        what, target, source, offset = step.groups()
        if source in buffers and what == "ld":
            found.add(offset)
        elif source in buffers:
            buffers.add(target)
        elif source.endswith("_param_0"):  # of a task it is the context itself, of a function its address
            by_value = what == "ld" and not source.startswith("function_body")
            (buffers if by_value and offset is None else contexts).add(target)
        elif source in contexts and offset is None:
            (buffers if what == "ld" else contexts).add(target)
    return len(found)


def rows_of(path, ptxas=None):
    """[dict] of the tasks of a file of PTX; without ptxas what the text tells."""
    text = path.read_text()
    told = assembled(path, ptxas) if ptxas else {}
    for name, body in bodies_of(text).items():
        instructions = len(re.findall(r"^\t[@a-z].*;", body, re.MULTILINE))
        yield dict(task=short(name), arrays=arrays_of(body), instructions=instructions, **told.get(name, {}))


def assembled(path, ptxas):
    """{task: registers, bytes of stack and of spills, and the share of a multiprocessor's threads that fit}"""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as out:
        command = [ptxas, f"-arch={ARCH}", "-v", path, "-o", out.name]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    parts, found = re.split(r"Compiling entry function '([^']+)'", told)[1:], {}
    for name, of_task in zip(parts[::2], parts[1::2]):
        registers, stack, spilled = (
            max(map(int, re.findall(pattern, of_task)), default=0)
            for pattern in (
                r"Used (\d+) registers",
                r"(\d+) bytes (?:stack frame|cumulative)",
                r"(\d+) bytes spill stores",
            )
        )
        fit = min(THREADS, REGISTERS // (-(-max(1, registers) // 8) * 8)) / THREADS
        found[name] = dict(registers=registers, stack=stack, spilled=spilled, fit=fit)
    return found


def main():
    folder, *given = sys.argv[1:]
    ptxas = given[0] if given else shutil.which("ptxas")
    if ptxas is None:
        sys.exit("there is no ptxas: pip install nvidia-cuda-nvcc-cu12, and give the path of its bin/ptxas")
    worst = {}
    for path in sorted(pathlib.Path(folder).glob("*.ptx")):
        for row in rows_of(path, ptxas):
            before = worst.get(row["task"], row)
            worst[row["task"]] = max(row, before, key=lambda r: r["instructions"])  # of variants the longest
    rows = sorted(worst.values(), key=lambda row: (-row["registers"], -row["stack"]))
    columns = "registers stack spilled instructions arrays".split()
    print(f"{'task':44}" + "".join(f"{c:>13}" for c in columns) + f"{'fit':>6}")
    for r in rows:
        print(f"{r['task'][:43]:44}" + "".join(f"{r[c]:13}" for c in columns) + f"{r['fit']:6.2f}")
    print(f"{len(rows)} tasks; with a stack: {sum(r['stack'] > 0 for r in rows)}")


if __name__ == "__main__":
    main()
