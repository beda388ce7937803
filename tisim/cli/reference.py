"""The reference of tisim's public names, made of their docstrings: python -m tisim.cli.reference reference.md"""

import importlib.util
import inspect
import pathlib
import re
import sys

from tisim.data.arrays import DATA
from tisim.model.fields import FIELDS

# modules whose public names are told, and what they are for
MODULES = {
    "tisim": "models, simulations and questions about them", "tisim.viewer": "pictures and the window",
    "tisim.rollout": "trajectories, as mujoco.rollout", "tisim.scenes": "scenes as MJCF text",
    "tisim.gym": "environments for gymnasium",
}  # fmt: skip
HANDED = {
    "tisim.viewer.passive": ["Handle"],
    "tisim.viewer.shown": ["Shown"],
}  # modules of what functions return -> its classes
NEEDS = {"tisim.gym": "gymnasium"}  # what must be installed
SIMULATED = {"m", "d", "model", "data", "scope"}  # a Model and a Data need no word; `scope` is for Spec itself
VALUE = re.compile(r" object at 0x[0-9a-f]+")


def public(module):
    """(name, object) of what a module shows, in the order of its list."""
    found = importlib.import_module(module)
    names = getattr(found, "__all__", None) or [
        n for n, x in vars(found).items() if not n.startswith("_") and getattr(x, "__module__", None) == module
    ]
    return [(name, getattr(found, name)) for name in names if not name.startswith("__")]


def signature(thing):
    """(text of its parameters, their names)."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "", []
    parameters = [p for p in found.parameters.values() if p.name != "self"]
    plain = found.replace(
        parameters=[p.replace(annotation=inspect.Parameter.empty) for p in parameters],
        return_annotation=inspect.Signature.empty,
    )
    return VALUE.sub(">", str(plain)), [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def members(cls):
    """(name, function or property) of a class's own public members."""
    found = {}
    for base in reversed(cls.__mro__[:-1]):
        if base.__module__.startswith("tisim"):
            found |= {n: x for n, x in vars(base).items() if not n.startswith("_")}
    for name, x in found.items():
        x = getattr(x, "__func__", x)
        if inspect.isfunction(x) or isinstance(x, property):
            yield name, x


def complaints(name, names, doc, others):
    """What a reader would miss: the docstring, or a word on a parameter, here or where the docstring points to.

    others  dict of public names -> docstrings.
    """
    if not doc:
        return [f"{name}: no docstring"]
    words = re.findall(r"[A-Za-z_]\w*", doc)
    said = {*words, *(w for word in words if word in others for w in re.findall(r"[A-Za-z_]\w*", others[word]))}
    return [f"{name}: nothing is said of {p}" for p in names if p not in SIMULATED and p not in said]


def build():
    """(text in Markdown, list of complaints)."""
    lines, told = ["# Reference of tisim", "", "Made of docstrings by `python -m tisim.cli.reference`.", ""], []
    there = [m for m in MODULES if importlib.util.find_spec(NEEDS.get(m, "tisim"))]
    others = {name: inspect.getdoc(x) or "" for module in there for name, x in public(module)}
    for module, about in MODULES.items():
        lines += [f"## {module}", "", f"{about[0].upper()}{about[1:]}.", ""]
        if module not in there:
            lines += [f"Left out: {NEEDS[module]} is not installed.", ""]
            continue
        for name, thing in public(module):
            told += _name(lines, module, name, thing, others)
    lines += ["## What functions return", ""]
    for module, names in HANDED.items():
        for name in names:
            told += _name(lines, module, name, getattr(importlib.import_module(module), name), others, made=False)
    lines += arrays()
    return "\n".join(lines).rstrip() + "\n", told


def _name(lines, module, name, thing, others, made=True):
    """Adds what is said of a name, and of a class's members, to the lines; returns complaints. made  by users."""
    full, bare = f"{module}.{name}", isinstance(thing, type) and issubclass(thing, BaseException)
    text, names = signature(thing) if callable(thing) and made and not bare else ("", [])
    doc = inspect.getdoc(thing) or ""
    told = complaints(full, names, doc, others)
    lines += [f"### {name}", "", f"`{full}{text}`", "", *_block(doc)]
    if isinstance(thing, type) and not bare:
        for member, x in members(thing):
            text, names = ("", []) if isinstance(x, property) else signature(x)
            names = [n for n in names if n != "cls"]
            doc = inspect.getdoc(x) or ""
            several = names if len(names) > 1 else []  # one speaks for itself
            told += complaints(f"{full}.{member}", several, doc, others)
            lines += [f"`{name}.{member}{text}`", "", *_block(doc)]
    return told


def arrays():
    """Lines of the tables of what a Data and a Model hold."""
    lines = ["## Arrays of a Data", "", "Of each world; with several a leading axis nworld is added."]
    lines += ["Those marked w are yours to write.", "", "| | name | shape | unit | |", "|---|---|---|---|---|"]
    for a in DATA.values():
        if a.role in ("state", "input", "computed"):
            shape = " x ".join(map(str, a.shape)) or "1"
            lines.append(f"| {'' if a.role == 'computed' else 'w'} | {a.name} | {shape} | {a.unit} | {a.doc} |")
    lines += ["", "## Arrays of a Model", "", "Names, shapes and meanings are those of mjModel.", ""]
    lines += ["| name | type | shape |", "|---|---|---|"]
    for f in FIELDS.values():
        columns = f" x {str(f.columns).lstrip('*')}" if f.columns else ""
        lines.append(f"| {f.name} | {f.dtype.name} | {f.size}{columns} |")
    return [*lines, ""]


def _block(doc):
    return ["```text", *doc.splitlines(), "```", ""] if doc else []


def main(path):
    """Writes the reference to a file; the exit code is 1 where something is missing in it."""
    text, told = build()
    pathlib.Path(path).write_text(text, encoding="utf-8")
    for line in told:
        print(line, file=sys.stderr)
    print(f"{path}: {text.count(chr(10) + '### ')} names, {len(text) / 1024:.0f} KiB")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "reference.md"))
