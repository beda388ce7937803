"""tisim sweep: many cases, as a file of Python describes them."""

import pathlib
import time

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tisim.device import whole_file
from tisim.errors import Error
from tisim.sweeping.job import module_of
from tisim.sweeping.results import is_own

from . import quiet
from .report import beside, busy, print_json, rows
from .simulate import INTERRUPTED, Stopper, Told, command

FAILED_CASES = Told(1)  # exit code where --errors keep has kept some
NEEDED, ALLOWED = ("model", "cases", "steps", "measure"), ("prepare",)


def sweep(console, file, out, resume, workers, errors, seed, csv, arch, precision, threads, as_json):
    """tisim sweep. Returns the exit code."""
    import tisim

    parts, source = _described(file)
    folder = pathlib.Path(out or pathlib.Path("out") / pathlib.Path(file).stem)
    if csv:
        _check_table(pathlib.Path(csv).resolve(), csv, folder.resolve())
    with busy("starting Taichi"):
        quiet.start_taichi(arch=arch, precision=precision, threads=threads)
    progress = beside(console, as_json)
    columns = TextColumn("sweeping"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}")
    bar = Progress(*columns, TimeRemainingColumn(), console=progress, transient=True, disable=not progress.is_terminal)
    began, first = time.perf_counter(), []
    with Stopper() as stopper, bar:
        task = bar.add_task("", total=None, rate="")

        def show(done, total):
            first.append(done)
            rate = (done - first[0]) / max(time.perf_counter() - began, 1e-9)
            bar.update(task, completed=done, total=total, rate=f"{rate:.3g}/s" if len(first) > 1 else "")
            return stopper.asked

        table = tisim.sweep(**parts, workers=_number(workers), out=folder, resume=resume, errors=errors, seed=seed,
                            show=show, source=source)  # fmt: skip
    path = pathlib.Path(csv or folder / "table.csv")
    table.to_csv(path)
    done, wall = len(table) + len(table.errors), time.perf_counter() - began
    stopped = bool(table.missing)
    again = command("sweep", file, out=out, workers=workers, errors=errors, seed=seed, arch=arch, precision=precision,
                    threads=threads, csv=csv, resume=True)  # fmt: skip
    r = dict(
        sweep=str(file), cases=done + len(table.missing), done=done, before=first[0], stopped=stopped,
        wall_seconds=wall,
        rate=(done - first[0]) / wall, warned=int((table["warnings"] > 0).sum()) if len(table) else 0,
        errors={str(k): v for k, v in table.errors.items()}, hash=table.hash, folder=str(folder), table=str(path),
        go_on=again if stopped else None,
    )  # fmt: skip
    if as_json:
        print_json(r)
    else:
        _print(console, r)
    return INTERRUPTED if stopped else FAILED_CASES if table.errors else 0


def _check_table(path, csv, folder):
    """Raises Error where a table cannot be written, or where the sweep keeps its results."""
    if path == folder or (path.parent == folder and is_own(path)):
        raise Error(f"--csv {csv}: the sweep keeps its results there, name another file")
    if path.parent != folder:  # which is made with the first results
        whole_file.check(csv, "table", folder=False)


def _described(file):
    """What a file says (arguments of tisim.sweep), and where its functions are from."""
    path = pathlib.Path(file)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise Error(f"{file}: cannot read the file: {getattr(e, 'strerror', None) or e}") from None
    source = f"tisim_sweep_{path.stem}", str(path.resolve()), text
    try:
        module = module_of(*source)
    except Error:
        raise
    except (Exception, SystemExit) as e:
        line = getattr(e, "lineno", None) or _line(e, source[1])
        other = isinstance(e, SyntaxError) and path.suffix != ".py"
        needed = f"; a sweep is a Python file with {', '.join(NEEDED)}" if other else ""
        raise Error(f"{file}{f', line {line}' if line else ''}: {type(e).__name__}: {e}{needed}") from None
    missing = [name for name in NEEDED if not hasattr(module, name)]
    if missing:
        raise Error(f"{file}: a sweep needs {', '.join(NEEDED)} at the top of its file; {', '.join(missing)} not there")
    return {name: getattr(module, name) for name in (*NEEDED, *ALLOWED) if hasattr(module, name)}, source


def _line(error, path):
    """Number of the last line of a file that an error went through."""
    found, at = None, error.__traceback__
    while at is not None:
        found = at.tb_lineno if at.tb_frame.f_code.co_filename == path else found
        at = at.tb_next
    return found


def _number(workers):
    return int(workers) if workers.isdecimal() else workers


def _print(console, r):
    new = r["done"] - r["before"]
    rows(console, f"{r['sweep']} {'stopped' if r['stopped'] else 'is done'}", [
        ("cases", f"{r['done']} of {r['cases']}" + (f", {r['before']} of them before" if r["before"] else "")),
        ("time", f"{r['wall_seconds']:.1f} s" + (f", {r['rate']:.3g} cases/s" if new else "")),
        ("diverged or warned", r["warned"]),
        ("went wrong", "; ".join(f"case {k}: {v}" for k, v in r["errors"].items()) or "none"),
        ("hash", r["hash"]),
        ("table", r["table"]),
    ])  # fmt: skip
    if r["go_on"]:
        console.print(f"go on with: {r['go_on']}", style="yellow", soft_wrap=True)
