"""Kernels over two bundles: `m`, the model, its options and tables, and `d`, data, lists and scratch.

    @func
    def weigh(m, d, i):
        return m.dof_M0[i] * d.qvel[i]

    @kernel
    def kick(m, d, factor: FP):
        for i in range(d.nworld * m.nv):
            d.qvel[i] = d.qvel[i] + factor * m.opt.timestep * weigh(m, d, i)

Taichi wants each array as an argument of its own. Which ones a kernel takes follows from what it and the functions it
calls read: `flow` walks their syntax trees, leaves out branches of `ti.static` that the variant at hand does not take,
and follows calls that pass m or d on; one that it cannot follow is an error that names the place. `Arguments` gives
them their order, and makes the two bundles again when Taichi compiles the kernel.
"""

import ast
import builtins
import functools

from tisim.errors import Error

from .syntax import syntax

BUNDLES = ("m", "d")
ATOMICS = ("atomic_add", "atomic_sub", "atomic_max", "atomic_min", "atomic_or", "atomic_and")
_lookup = None  # set by `declare`


def declare(lookup):
    """Says what names mean: `lookup` gives the Name of a path such as "d.qpos", KeyError where there is none.

    Declarations stand above this file (tisim/data/scalars.py knows them all), so they are told and not imported.
    """
    global _lookup
    _lookup = lookup


def func(function):
    """Marks a Taichi function; its parameters m and d are the bundles."""
    import taichi as ti

    for name in BUNDLES:
        if name in function.__code__.co_varnames[: function.__code__.co_argcount]:
            function.__annotations__[name] = ti.template()
        elif name in function.__code__.co_varnames:
            raise Error(f"{_place(function)}: {name} is the name of a bundle; call this variable something else")
    return ti.func(function)


def _place(function):
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno} {function.__name__}"


class Flow:
    """What a function reads and writes: paths such as "d.qpos" and "m.opt.timestep", and its own parameters by name."""

    def __init__(self):
        self.reads, self.writes = set(), set()

    def note(self, path, read, write):
        if read:
            self.reads.add(path)
        if write:
            self.writes.add(path)

    @property
    def paths(self):
        """All paths into the bundles, sorted."""
        return sorted(p for p in self.reads | self.writes if "." in p)


_known = {}  # flows of functions; a variant of a kernel has one of its own


def flow(function):
    """The Flow of a Python function, with its own globals and closure."""
    found = _known.get(function)
    if found is None:
        found = _known[function] = _Walk(function).flow
    return found


def forget():
    """Forgets the functions, which are made anew when Taichi is started again."""
    _known.clear()


def _path(node):
    """ "d.qpos" of the node d.qpos, None of others."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if names and isinstance(node, ast.Name) and node.id in BUNDLES:
        return ".".join([node.id, *reversed(names)])
    return None


class _Walk(ast.NodeVisitor):
    def __init__(self, function):
        self.flow = Flow()
        self.syntax = syntax(function)
        if self.syntax is None:
            raise Error(f"{_place(function)}: its source is not in a file, so that its arrays cannot be found")
        self.scope = dict(vars(builtins))
        self.scope.update(function.__globals__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            self.scope[name] = cell.cell_contents
        self.params = function.__code__.co_varnames[: function.__code__.co_argcount]
        self.locals = set(function.__code__.co_varnames)
        for statement in self.syntax.node.body:
            self.visit(statement)

    def fail(self, node, what):
        raise Error(f"{self.syntax.place(node)}: {what}")

    # ---- reads and writes

    def target(self, node, read):
        """An array, or an element of one, that is written."""
        while isinstance(node, ast.Subscript):
            self.visit(node.slice)
            node = node.value
        path = _path(node)
        if path or isinstance(node, ast.Name):
            self.use(node, read, True)
        else:
            self.visit(node)

    def use(self, node, read, write):
        path = _path(node)
        if path:
            self.flow.note(path, read, write)
        elif isinstance(node, ast.Name):
            if node.id in BUNDLES and write:
                self.fail(node, f"{node.id} is the name of a bundle; call this variable something else")
            if node.id in self.params:
                self.flow.note(node.id, read, write)

    def visit_Assign(self, node):
        self.visit(node.value)
        for t in node.targets:
            for e in t.elts if isinstance(t, ast.Tuple) else [t]:
                self.target(e, False)

    def visit_AugAssign(self, node):
        self.visit(node.value)
        self.target(node.target, True)

    def visit_For(self, node):
        for e in node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]:
            self.target(e, False)
        for child in (node.iter, *node.body, *node.orelse):
            self.visit(child)

    def visit_Attribute(self, node):
        if _path(node):
            self.use(node, True, False)
        else:
            self.visit(node.value)

    def visit_Name(self, node):
        self.use(node, True, False)

    # ---- branches

    def visit_If(self, node):
        known, value = self.static(node.test)
        if not known:
            self.visit(node.test)
        for child in ([] if known and not value else node.body) + ([] if known and value else node.orelse):
            self.visit(child)

    def visit_IfExp(self, node):
        known, value = self.static(node.test)
        if not known:
            self.visit(node.test)
        if not known or value:
            self.visit(node.body)
        if not known or not value:
            self.visit(node.orelse)

    def static(self, test):
        """(True, value) of a condition ti.static(...) that depends on globals only."""
        if not (isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "static"):
            return False, None
        condition = test.args[0]
        if any(isinstance(n, ast.Name) and n.id in self.locals for n in ast.walk(condition)):
            return False, None
        return True, self.value(condition)

    def value(self, node):
        return eval(compile(ast.Expression(node), self.syntax.file, "eval"), self.scope)

    # ---- calls

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ATOMICS:
            self.target(node.args[0], True)
            for a in node.args[1:]:
                self.visit(a)
            return
        whole = [a for a in node.args if isinstance(a, ast.Name) and a.id in (*BUNDLES, *self.params) or _path(a)]
        callees = self.callees(node.func) if whole else None  # a user's function has names of its own
        bundles = [a for a in whole if isinstance(a, ast.Name) and a.id in BUNDLES]
        handed_in = isinstance(node.func, ast.Name) and node.func.id in self.params  # followed where it is handed in
        if bundles and callees is None and not handed_in:
            self.fail(node, f"the call of {ast.unparse(node.func)} cannot be followed, but it passes {bundles[0].id}")
        for function in [f for a in node.args for f in self.callees(a) or ()] if bundles else ():
            self.flow.reads.update(p for p in flow(function).reads if "." in p)
            self.flow.writes.update(p for p in flow(function).writes if "." in p)
        for callee in callees or ():
            inner = flow(callee)
            self.flow.reads.update(p for p in inner.reads if "." in p)
            self.flow.writes.update(p for p in inner.writes if "." in p)
            names = callee.__code__.co_varnames[: callee.__code__.co_argcount]
            for name, a in zip(names, node.args):
                if a in whole and a not in bundles:
                    self.use(a, name in inner.reads or name not in inner.writes, name in inner.writes)
        for a in [*node.args, *(k.value for k in node.keywords)]:
            if not (callees and a in whole) and a not in bundles:
                self.visit(a)
        if callees is None and not isinstance(node.func, ast.Name):
            self.visit(node.func)

    def callees(self, node):
        """Python functions behind a called expression, all values of a dict; None where they are not ours."""
        try:
            if isinstance(node, ast.Subscript):
                found = list(self.value(node.value).values())
                if not found:
                    return []
            elif isinstance(node, (ast.Name, ast.Attribute)) and not self.is_local(node):
                found = [self.value(node)]
            else:
                return None
        except (NameError, AttributeError):
            return None
        ours = [f.__wrapped__ for f in found if getattr(f, "_is_taichi_function", False) and _is_ours(f.__wrapped__)]
        return ours or None

    def is_local(self, node):
        while isinstance(node, ast.Attribute):
            node = node.value
        return not isinstance(node, ast.Name) or node.id in self.locals


@functools.lru_cache(None)
def _is_ours(function):
    """Whether a Taichi function may take bundles or arrays; Taichi's own do not."""
    return not function.__module__.startswith("taichi.") and syntax(function) is not None


class Arguments:
    """The arguments of a kernel's variant, in order: arrays and numbers of the bundles, then its own parameters."""

    def __init__(self, function):
        walked = flow(function)
        self.flow = walked
        found, self.paths = {}, {}
        for path in walked.paths:
            try:
                name = self.paths[path] = _lookup(path)
            except KeyError as e:
                raise Error(f"{_place(function)}: {e.args[0]}") from None
            for part in name.parts or (name,):
                found[part.argument] = part
        self.entries = [found[name] for name in sorted(found)]
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        self.own = [(n, function.__annotations__[n]) for n in names if n not in BUNDLES]

    def bundles(self, *values):
        """(m, d) over the values that Taichi gives the kernel's arguments of these entries."""
        by_name = {e.argument: v for e, v in zip(self.entries, values)}
        roots = {name: Bundle(name) for name in BUNDLES}
        for path, entry in self.paths.items():
            *inner, last = path.split(".")
            at = roots[inner[0]]
            for word in inner[1:]:
                at = at.__dict__.setdefault(word, Bundle(f"{at._name}.{word}"))
            if entry.parts:
                at.__dict__[last] = tuple(by_name[part.argument] for part in entry.parts)
            elif entry.index is None:
                value = by_name[entry.argument]
                at.__dict__[last] = value if entry.rows == 1 else Rows(value, entry.rows)
            else:
                at._places[last] = by_name[entry.argument], entry.index
        return tuple(roots[name] for name in BUNDLES)


def _subscript(array, index):
    from taichi.lang import impl

    return impl.subscript(impl.get_runtime().compiling_callable.ast_builder(), array, index)


class Rows:
    """An array of which an item has several elements: `a[c, r]` is element r of item c."""

    def __init__(self, array, rows):
        self._array, self._rows = array, rows

    def __getitem__(self, index):
        if isinstance(index, (tuple, list)):
            index = index[0] * self._rows + index[1]
        return _subscript(self._array, index)


class Bundle:
    """What `m` and `d` are while Taichi compiles a kernel."""

    _data_oriented = True  # Taichi hands such objects on as they are

    def __init__(self, name):
        self._name, self._places = name, {}

    def __getattr__(self, name):
        """A number that stands in an array, as an expression made anew at each use."""
        place = self.__dict__.get("_places", {}).get(name)
        if place is None:
            raise AttributeError(f"{self._name} has no {name} here")
        return _subscript(*place)
