"""Pages name files, folders, functions and arrays that are there, and their links lead to headings that are there."""

import ast
import functools
import pathlib
import re

import pytest

from tisim.data.arrays import COUNTS, DATA
from tisim.data.declare import CAPACITIES
from tisim.data.scalars import SCALARS
from tisim.model.device_model import DERIVED
from tisim.model.fields import FIELDS

ROOT = pathlib.Path(__file__).resolve().parent.parent
OF_CODE = tuple(f"tisim/{p}.md" for p in ("CONTRIBUTING", "ARCHITECTURE", "SOLVER", "LCP"))
PAGES = (*OF_CODE, "tisim/MIGRATION.md", "tisim/SLOW.md", "tisim/PICTURES.md")
SUFFIXES = r"py|md|txt|csv|toml"


def quoted(page):
    """What stands between backticks."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"`([^`\n]+)`", text)


def files():
    """All paths of the checkout that a page may name, as text."""
    roots = ("tisim", "kernels", "scenes", "tests", "benchmarks", "models", ".ci")
    found = [p for root in roots for p in (ROOT / root).rglob("*") if "__pycache__" not in p.parts]
    return [p.relative_to(ROOT).as_posix() + ("/" if p.is_dir() else "") for p in [*found, *ROOT.glob("*")]]


@pytest.mark.parametrize("page", PAGES)
def test_files_and_folders_are_there(page):
    """Named whole or by the end of their path; `*` stands for any letters."""
    known = files()
    for text in quoted(page):
        for word in text.split():
            name = word.strip(",;:()'\"")
            if re.fullmatch(rf"[\w./*-]+\.({SUFFIXES})|\.?[\w/*.-]+/", name) and "/" != name:
                pattern = re.compile(r"(.*/)?" + re.escape(name).replace(r"\*", r"[^/]*"))
                assert any(pattern.fullmatch(path) for path in known), f"{page}: {name}"


@pytest.mark.parametrize("page", ("README.md", "benchmarks/README.md", *PAGES))
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target, place in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", text):
        file = (ROOT / page).parent / target if target else ROOT / page
        assert file.exists(), target
        if place:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.M)
            assert place in {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}, f"{target}#{place}"


@functools.lru_cache(None)
def defined():
    """Names in the code of tisim/ and kernels/, and words that it looks up."""
    return set(_defined())


def _defined():
    for root in ("tisim", "kernels"):
        for path in (ROOT / root).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    yield node.name
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id
                elif isinstance(node, ast.arg):
                    yield node.arg
                elif isinstance(node, ast.Attribute):
                    yield node.attr
                elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                    yield node.value


@pytest.mark.parametrize("page", OF_CODE)
def test_names_are_there(page):
    """Words that look like names of the code: with an underline, `d.x`, `module.name`, or in capitals."""
    modules = {path.rpartition("/")[2].removesuffix(".py") for path in files()}
    known = {*modules, *defined(), *DATA, *FIELDS, *DERIVED, *SCALARS, *COUNTS, *CAPACITIES}
    for text in quoted(page):
        if not re.fullmatch(r"[\w.*]+", text) or re.search(rf"\.({SUFFIXES})$", text):
            continue
        name = text.rpartition(".")[2]
        if "_" in name or "*" in name or (name.isupper() and len(name) > 1):
            pattern = re.compile(name.replace("*", ".*") + (".*" if name.endswith("_") else ""))
            assert any(pattern.fullmatch(k) for k in known), f"{page}: {text}"
