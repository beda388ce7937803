"""What tasks take of a multiprocessor, by ptxas, of PTX that own launches have kept. Needs ptxas (CUDA's, or that of
PyPI's nvidia-cuda-nvcc-cu12) and no GPU.

    python tests/gpu/ptxas.py FOLDER [PTXAS]      FOLDER: .../tisim/ptx, see TISIM_OWN_LAUNCHES in README.md

A line per task, those with most registers first: registers, bytes of its stack (arrays indexed at run time, and
spills), bytes spilled, instructions, and the share of a multiprocessor's threads that its registers leave room for.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from tisim.device.tasks import short

ARCH, THREADS, REGISTERS = "sm_90", 2048, 65536


def rows_of(path, ptxas):
    """[dict] of the tasks of a file of PTX."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as out:
        command = [ptxas, f"-arch={ARCH}", "-v", path, "-o", out.name]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    text = path.read_text()
    parts = re.split(r"Compiling entry function '([^']+)'", told)[1:]
    functions = "".join(re.findall(r"\n\.func function_body.*?\n\}", text, re.DOTALL))
    for name, of_task in zip(parts[::2], parts[1::2]):
        body = re.search(rf"\.entry {re.escape(name)}\(.*?\n\}}", text, re.DOTALL)[0]
        body += functions if "call.uni" in body else ""
        registers, stack, spilled = (
            max(map(int, re.findall(pattern, of_task)), default=0)
            for pattern in (r"Used (\d+) registers", r"(\d+) bytes stack frame", r"(\d+) bytes spill stores")
        )
        yield dict(
            task=short(name), registers=registers, stack=stack, spilled=spilled,
            instructions=len(re.findall(r"^\t[@a-z].*;", body, re.MULTILINE)),
            fit=min(THREADS, REGISTERS // (-(-max(1, registers) // 8) * 8)) / THREADS,
        )  # fmt: skip


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
    print(f"{'task':44}{'registers':>10}{'stack':>8}{'spilled':>8}{'instructions':>13}{'fit':>6}")
    for r in rows:
        print(
            f"{r['task'][:43]:44}{r['registers']:10}{r['stack']:8}{r['spilled']:8}{r['instructions']:13}{r['fit']:6.2f}"
        )
    print(f"{len(rows)} tasks; with a stack: {sum(r['stack'] > 0 for r in rows)}")


if __name__ == "__main__":
    main()
