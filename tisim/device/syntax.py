"""The syntax tree of a function, from the tree of its file, which is parsed once. Lines are those of the file."""

import ast
import linecache

_files = {}  # file -> (its lines, its functions by first line and name)


class Syntax:
    """Where a function stands: file, the lines of that file, the function's tree without decorators."""

    def __init__(self, file, lines, node):
        self.file, self.lines, self.node = file, lines, node

    def place(self, node):
        """File and line of a node of the tree, for messages."""
        return f"{self.file}:{node.lineno}"


def syntax(function):
    """Syntax of a Python function; None if its source is not in a file."""
    code = function.__code__
    if code.co_filename not in _files:
        lines = linecache.getlines(code.co_filename)
        _files[code.co_filename] = lines, dict(_functions(ast.parse("".join(lines))))
    lines, found = _files[code.co_filename]
    return found.get((code.co_firstlineno, code.co_name)) and Syntax(
        code.co_filename, lines, found[code.co_firstlineno, code.co_name]
    )


def _functions(node):
    """((first line, that of its first decorator; name), tree) of the functions below a node that holds statements."""
    for field in ("body", "orelse", "finalbody", "handlers"):
        for child in getattr(node, field, ()):
            if isinstance(child, ast.FunctionDef):
                first = min([child.lineno] + [d.lineno for d in child.decorator_list])
                child.decorator_list = []
                yield (first, child.name), child
            yield from _functions(child)


def forget():
    """Forgets files that were written since."""
    linecache.checkcache()
    for file in [file for file, (lines, _) in _files.items() if linecache.getlines(file) is not lines]:
        del _files[file]
