"""What a kernel reads and writes, found from its source.

The functions' syntax trees are walked in the order of the source: branches of `if ti.static(...)` that the variant at
hand does not take are left out, and calls that hand on m, d or an array are followed. What cannot be followed is an
error that names file and line.
"""

import ast
import builtins
import types

from tisim.errors import Error

from . import session
from .syntax import forget as forget_files
from .syntax import syntax

BUNDLES = ("m", "d")
FEATURES = "m.has."
CALLED_FOR = "_called_for"  # attribute of a function that is called, not inlined, for models with this feature
_known = {}  # flows of functions; a variant of a kernel has one of its own
_lookup = None  # set by `declare`


def declare(lookup):
    """Says what names mean: `lookup` gives the Name of a path such as "d.qpos", KeyError where there is none.

    Declarations stand above this file (tisim/data/scalars.py knows them all), so they are told and not imported.
    """
    global _lookup
    _lookup = lookup


def lookup(path, place):
    """The Name of a path; an Error that says where it is asked for if it is not declared."""
    try:
        return _lookup(path)
    except KeyError as e:
        raise Error(f"{place}: {e.args[0]}") from None


class Flow:
    """What a function reads and writes: paths such as "d.qpos" and "m.opt.timestep", and its own parameters by name.

    needs     what it reads before it writes it, in the order of the source: others must have written that.
    features  whether it asks for the model's Features, `ti.static(m.has.x)`.
    """

    def __init__(self):
        self.reads, self.writes, self.needs = set(), set(), set()
        self.features = False

    def note(self, place, read, write):
        if read:
            self.reads.add(place)
            if place not in self.writes:
                self.needs.add(place)
        if write:
            self.writes.add(place)

    def take(self, inner, given):
        """Adds what a called function does; given: what its parameters stand for here, None where it is a copy."""

        def here(places):
            return {p for p in (p if "." in p else given.get(p) for p in places) if p}

        self.features |= inner.features
        self.needs |= here(inner.needs) - self.writes
        self.reads |= here(inner.reads)
        self.writes |= here(inner.writes)

    @property
    def paths(self):
        """All paths into the bundles, sorted."""
        return sorted(p for p in self.reads | self.writes if "." in p)


def flow(function, has=None):
    """The Flow of a Python function, with its own globals and closure.

    has  the model's Features, which decide `ti.static(m.has.x)`; None: all branches count.
    """
    key = function, has
    with session.compiler:  # else a function that another thread looks at seems to call itself
        if key not in _known:
            _known[key] = None
            try:
                _known[key] = _Walk(function, has).flow
            except BaseException:  # an interrupt, too: what was not walked to its end is not known
                del _known[key]
                raise
        if _known[key] is None:
            raise Error(f"{place_of(function)}: a function that calls itself cannot be followed")
        return _known[key]


def reads_of(function, node, has=None):
    """Paths that an expression of a function, its syntax tree, reads."""
    walk = _Walk(function, has)
    walk.flow = Flow()
    walk.visit(node)
    return walk.flow.reads


def forget():
    """Forgets the functions, which are made anew when Taichi is started again."""
    _known.clear()
    forget_files()


def place_of(function):
    """Where a function stands, for messages."""
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno} {function.__name__}"


def parameters(function):
    """Names of a function's parameters."""
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def _by_reference(function):
    """Names of the parameters through which a Taichi function may write: templates, others are copies."""
    import taichi as ti

    marks = function.__annotations__
    return [n for n in parameters(function) if marks.get(n) is ti.template or isinstance(marks.get(n), ti.template)]


class _Walk(ast.NodeVisitor):
    def __init__(self, function, has):
        import taichi as ti

        self.flow, self.has = Flow(), has
        self.flow.features = hasattr(function, CALLED_FOR)  # called or inlined, see called.py
        self.syntax = syntax(function)
        if self.syntax is None:
            raise Error(f"{place_of(function)}: its source is not in a file, so that its arrays cannot be found")
        self.params = parameters(function)
        self.bundles = [name for name in BUNDLES if name in self.params]  # in other functions m and d mean nothing
        self.locals = set(function.__code__.co_varnames)
        self.inside = {n: c.cell_contents for n, c in zip(function.__code__.co_freevars, function.__closure__ or ())}
        self.globals = function.__globals__
        self.ti = ti
        for statement in self.syntax.node.body:
            self.visit(statement)

    def fail(self, node, what):
        raise Error(f"{self.syntax.place(node)}: {what}")

    # ---- reads and writes

    def path(self, node):
        """ "d.qpos" of the node d.qpos, None of others."""
        names = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if names and isinstance(node, ast.Name) and node.id in self.bundles:
            return ".".join([node.id, *reversed(names)])
        return None

    def owner(self, node, write=False):
        """What a[i].x is an element of, a path or a parameter's name; visits the indices. None if it is a local."""
        while isinstance(node, (ast.Subscript, ast.Attribute)):
            path = self.path(node)
            if path and path.startswith(FEATURES):
                self.flow.features = True
                return None
            if path:
                lookup(path, self.syntax.place(node))
                return path
            if isinstance(node, ast.Subscript):
                self.visit(node.slice)
            node = node.value
        if not isinstance(node, ast.Name):
            if write:
                self.fail(node, f"{ast.unparse(node)} is written, and which array this is cannot be followed")
            self.visit(node)
        elif node.id in self.bundles:
            self.fail(node, f"{node.id} is a bundle: it can be handed to functions, and its arrays read and written")
        elif node.id in self.params:
            return node.id
        return None

    def use(self, node, read, write):
        """Notes an expression that may be an element of an array."""
        owner = self.owner(node, write)
        if owner and write and owner.startswith("m."):
            self.fail(node, f"{owner} belongs to the model, which no kernel writes")
        if owner:
            self.flow.note(owner, read, write)

    def target(self, node):
        """What an assignment writes."""
        if isinstance(node, (ast.Tuple, ast.List)):
            for e in node.elts:
                self.target(e)
        elif isinstance(node, ast.Name) and node.id in self.bundles:
            self.fail(node, f"{node.id} is the name of a bundle; call this variable something else")
        else:
            self.use(node.value if isinstance(node, ast.Starred) else node, False, True)

    def visit_Assign(self, node):
        self.visit(node.value)
        for t in node.targets:
            self.target(t)

    def visit_AnnAssign(self, node):
        if node.value:
            self.visit(node.value)
        self.target(node.target)

    visit_NamedExpr = visit_AnnAssign

    def visit_AugAssign(self, node):
        self.visit(node.value)
        self.use(node.target, True, False)
        self.target(node.target)

    def visit_For(self, node):
        self.visit(node.iter)
        self.target(node.target)
        for child in (*node.body, *node.orelse):
            self.visit(child)

    def visit_comprehension(self, node):
        self.visit(node.iter)
        self.target(node.target)
        for condition in node.ifs:
            self.visit(condition)

    def visit_ListComp(self, node):
        for part in (*node.generators, node.elt):
            self.visit(part)

    visit_GeneratorExp = visit_ListComp

    def visit_Attribute(self, node):
        self.use(node, True, False)

    visit_Subscript = visit_Name = visit_Attribute

    # ---- what is known when the kernel is made

    def visit_If(self, node):
        known, value = self.static(node.test)
        if not known:
            self.visit(node.test)
        for child in ([] if known and not value else node.body) + ([] if known and value else node.orelse):
            self.visit(child)

    def static(self, test):
        """(True, value) of a condition ti.static(...) that depends on globals only."""
        if not isinstance(test, ast.Call) or self.meaning(test.func) is not self.ti.static or len(test.args) != 1:
            return False, None
        condition = test.args[0]
        features = [n for n in ast.walk(condition) if (self.path(n) or "").startswith(FEATURES)]
        self.flow.features |= bool(features)
        ours = {id(n.value.value) for n in features}  # the m of m.has.x
        if any(isinstance(n, ast.Name) and n.id in self.locals and id(n) not in ours for n in ast.walk(condition)):
            return False, None
        if features and self.has is None:
            return False, None
        try:
            code = compile(ast.Expression(condition), self.syntax.file, "eval")
            return True, eval(code, {**self.globals, **self.inside, "m": types.SimpleNamespace(has=self.has)})
        except Exception as e:
            self.fail(test, f"{ast.unparse(condition)}: {e}")

    def meaning(self, node):
        """The object that a name or module.name of this function stands for, None if it is a local or nothing."""
        if isinstance(node, ast.Attribute):
            return getattr(self.meaning(node.value), node.attr, None)
        if not isinstance(node, ast.Name) or node.id in self.locals:
            return None
        for names in (self.inside, self.globals):
            if node.id in names:
                return names[node.id]
        return getattr(builtins, node.id, None)

    # ---- calls

    def visit_Call(self, node):
        func, arguments = node.func, [*node.args, *(k.value for k in node.keywords)]
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if name.startswith("atomic_"):
            self.use(arguments.pop(0), True, True)
        elif name == "static" and any(not f"{p}.".startswith(FEATURES) for p in map(self.path, ast.walk(node)) if p):
            self.fail(node, "what is in a bundle is not known when the kernel is made")
        handed = [a.id for a in arguments if self.is_bundle(a)]
        callees = self.callees(func)
        handed_in = isinstance(func, ast.Name) and func.id in self.params  # a function, followed where it was named
        if handed and callees is None and not handed_in:
            self.fail(node, f"the call of {ast.unparse(func)} cannot be followed, but it passes {handed[0]}")
        if callees and (handed or any(map(_by_reference, callees))):
            self.follow(node, arguments, callees)
            return
        if isinstance(func, ast.Attribute):  # perhaps a method: of these only `fill` writes
            self.use(func.value, True, name == "fill")
        for a in arguments:
            if not self.is_bundle(a):
                self.visit(a)

    def is_bundle(self, node):
        return isinstance(node, ast.Name) and node.id in self.bundles

    def callees(self, node):
        """Python functions behind a called expression, all values of a dict; None where they are not ours."""
        found = [self.meaning(node)]
        if isinstance(node, ast.Subscript):
            table = self.meaning(node.value)
            found = list(table.values()) if isinstance(table, dict) else [None]
        if not all(getattr(f, "_is_taichi_function", False) for f in found):
            return None
        ours = [f.__wrapped__ for f in found]
        return None if any(f.__module__.startswith("taichi.") for f in ours) else ours

    def follow(self, node, arguments, callees):
        """Takes over what the callees do with the bundles and arrays that they are handed."""
        called = ast.unparse(node.func)
        if any(isinstance(a, ast.Starred) for a in arguments) or any(k.arg is None for k in node.keywords):
            self.fail(node, f"the call of {called} cannot be followed: it has * or **")
        owners = {}
        for a in arguments:
            for function in self.callees(a) or ():  # a function that the callee calls with the same bundles
                self.flow.take(flow(function, self.has), {})
            if isinstance(a, (ast.Name, ast.Attribute, ast.Subscript)) and not self.is_bundle(a):
                owners[a] = self.owner(a)
            elif not self.is_bundle(a):
                self.visit(a)
        for callee in callees:
            given, shared, inner = {}, _by_reference(callee), flow(callee, self.has)
            for name, a in [*zip(parameters(callee), node.args), *((k.arg, k.value) for k in node.keywords)]:
                if self.is_bundle(a) and name != a.id:
                    self.fail(node, f"{called} gets {a.id} as its parameter {name}")
                owner = owners.get(a)
                if owner and name in shared:
                    given[name] = owner
                if owner and (name not in shared or name not in inner.reads | inner.writes):
                    self.flow.note(owner, True, False)
                if owner and owner.startswith("m.") and name in shared and name in inner.writes:
                    self.fail(node, f"{owner} belongs to the model, which no kernel writes")
            self.flow.take(inner, given)
