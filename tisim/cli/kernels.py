"""The command that lists kernels, and what each of them reads and writes."""

import pathlib
import textwrap

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from tisim.device.machine_code import Unsupported
from tisim.errors import Error

from .recording import HOST, record
from .report import beside, busy, print_json

WIDTH, COLUMN = 120, 28
HEAD = """What the kernels of a step, and of the queries, read (<) and write (>), found from their source.

By stage, in the order of tisim/pipeline.py. Behind `<` stands where it comes from: the stage that wrote it last,
`above` for a kernel of the same stage, `state` and `input` for what a user may write, too, `host` for what Python
writes, `last step` for a later kernel, `itself` where only the kernel writes it: in an earlier round of its loops, or
in the last step. What a kernel writes before it reads it is not listed behind `<`. This file is made by
`tisim kernels --write tests/testdata/flow.txt`.
"""


def kernels(console, flow, write, as_json):
    """tisim kernels."""
    with busy("following the kernels of a step"):
        stages = record()
    if as_json:
        print_json(_listed(stages, flow))
    elif write is not None:
        pathlib.Path(write).write_text(text(stages), encoding="utf-8")
        console.print(f"wrote {write}")
    elif flow:
        console.print(text(stages), soft_wrap=True, end="")
    else:
        console.print(_table(stages))


def build(console, as_json):
    """tisim kernels --build."""
    from tisim.device import build
    from tisim.model import features
    from tisim.stages import needs

    columns = (TextColumn("{task.description}"), BarColumn(40), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=beside(console, as_json), transient=True) as bar:
        task = bar.add_task("compiling kernels")

        def show(done, total):
            bar.update(task, completed=done, total=total, refresh=True)

        try:
            path, number, size = build.ship(needs.every_kernel, features.every(), show)
        except Unsupported as e:
            raise Error(f"kernels cannot be made into machine code here: {e}") from None
    if as_json:
        return print_json(dict(kernels=number, bytes=size, file=path))
    console.print(f"{number} kernels, {size / 2**20:.1f} MiB: {path}", soft_wrap=True)


def text(stages):
    """The flow of all stages."""
    lines = [HEAD]
    for stage, (doc, steps) in stages.items():
        lines += [*textwrap.wrap(f"{stage}: {doc}", WIDTH), ""]
        for step in steps:
            model = f", {len(step.model)} of the model" if step.model else ""
            lines.append(f"    {step.name}" if step.name == HOST else f"    {step.name}  ({step.file}{model})")
            for source, names in sorted(step.sources.items()):
                lines += _columns(f"< {source.rpartition('.')[2]}", names)
            lines += _columns(">", step.writes)
        lines.append("")
    return "\n".join(lines)


def _columns(title, names):
    """Lines of a title and names."""
    first, rest = f"        {title}".ljust(COLUMN), " " * COLUMN
    return textwrap.wrap(" ".join(sorted(names)), WIDTH, initial_indent=first, subsequent_indent=rest)


def _kernels(stages):
    """Steps of the kernels by name, each with what it computes."""
    kernels = {step.name: step for _, steps in stages.values() for step in steps if step.kernel}
    return {k: (step, " ".join((step.kernel.__doc__ or "").split()).split(". ")[0].rstrip("."))
            for k, step in kernels.items()}  # fmt: skip


def _listed(stages, flow):
    """Kernels for JSON; with their flow, stage by stage, what they read by source and what they write."""
    if not flow:
        return [dict(kernel=name, file=step.file, arguments=step.arguments, computes=doc)
                for name, (step, doc) in _kernels(stages).items()]  # fmt: skip
    return [dict(stage=stage, about=doc, steps=[
        dict(kernel=step.name, file=step.file if step.kernel else None, writes=sorted(step.writes),
             reads={source: sorted(names) for source, names in step.sources.items()}) for step in steps])
        for stage, (doc, steps) in stages.items()]  # fmt: skip


def _table(stages):
    """One row for each kernel."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("kernel", "file", "arguments", "computes"):
        table.add_column(title, header_style="bold", justify="right" if title == "arguments" else "left")
    for name, (step, doc) in _kernels(stages).items():
        table.add_row(Text(name, "cyan"), step.file, str(step.arguments), doc)
    return table
