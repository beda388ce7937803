"""How commands print what they found: a table for people, with --json one object for programs."""

import contextlib
import json

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text


def rows(console, title, pairs):
    """Prints a table of names and values."""
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(name, Text(str(value)))  # brackets are no markup
    console.print(table)


def table(console, title, columns, lines):
    """Prints a table with a head; the first column is of words, which fold where the terminal is narrow, the others of
    numbers."""
    shown = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for i, name in enumerate(columns):
        shown.add_column(name, header_style="dim", justify="right" if i else "left", style=None if i else "cyan",
                         no_wrap=bool(i), overflow="fold")  # fmt: skip
    for line in lines:
        shown.add_row(*(Text(str(x)) for x in line))
    console.print(shown)


def beside(console, as_json):
    """Where progress is shown: with --json the output holds one object and nothing else."""
    return Console(stderr=True, highlight=False, markup=False) if as_json else console


@contextlib.contextmanager
def busy(words):
    """Shows on a terminal's error stream that something takes its time; nothing where there is no terminal."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield
        return
    with console.status(words):
        yield


def print_json(values):
    """Prints a dict, or a list of them, as JSON; numbers that are not finite become null."""
    print(json.dumps(_plain(values), indent=2, allow_nan=False))


def _plain(value):
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(v) for v in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value if value is None else str(value)
