"""The syntax tree of a function, from the tree of its file, which is parsed once."""

import ast
import functools
import linecache


class Syntax:
    """Where a function stands: file, first line (that of its first decorator), lines, tree with line 1 there."""

    def __init__(self, file, first, lines, node):
        self.file, self.first, self.lines, self.node = file, first, lines, node

    def place(self, node):
        """File and line of a node of the tree, for messages."""
        return f"{self.file}:{node.lineno + self.first - 1}"


@functools.lru_cache(None)
def _functions(file):
    """Lines of a file, and its functions by first line and name."""
    lines = linecache.getlines(file)
    found = {}
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno] + [d.lineno for d in node.decorator_list])
            found[first, node.name] = node
    return lines, found


@functools.lru_cache(None)
def _of_code(code):
    lines, found = _functions(code.co_filename)
    node = found.get((code.co_firstlineno, code.co_name))
    if node is None:
        return None
    node.decorator_list = []
    ast.increment_lineno(node, 1 - code.co_firstlineno)
    last = node.end_lineno + code.co_firstlineno - 1
    return Syntax(code.co_filename, code.co_firstlineno, lines[code.co_firstlineno - 1 : last], node)


def syntax(function):
    """Syntax of a Python function; None if its source is not in a file."""
    return _of_code(function.__code__)
