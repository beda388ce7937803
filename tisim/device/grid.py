"""Parallel loops of a GPU over a fixed number of threads, so that no task hands their bounds on.

Taichi 1.7.4 launches a loop with a bound that is not a constant as two tasks: one thread that computes the bound, and
so many threads as the device could ever hold, which read it. Here such a loop becomes one task of a constant number of
threads: each computes the bound for itself and takes every so many-th round of the loop. What a kernel says before its
loops is computed anew by each thread that uses it, as long as the kernel writes nothing of what it reads; else it is
computed once, by a task of its own, as Taichi does.
"""

import ast
import contextlib
import os

from . import flow, session

BITS = 17  # threads of a loop: 2^17 are 31 warps for each multiprocessor of an H100, half of what fits
PURE = (ast.Attribute, ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript, ast.Compare, ast.Load,
        ast.Tuple, ast.operator, ast.unaryop, ast.cmpop)  # fmt: skip


class _Place:
    """Where Taichi's pass is in a kernel: blocks it is in, whether the next loop is to be serial."""

    depth, serial, kernel = 0, False, None


def bits():
    """Binary logarithm of the number of threads of a loop; TISIM_GRID says another, for devices in software."""
    return int(os.environ.get("TISIM_GRID") or BITS)


def install():
    """Changes Taichi's pass; once per process. Backends other than CUDA keep theirs, since nobody has looked there."""
    from taichi.lang import impl, kernel_impl, misc
    from taichi.lang.ast.ast_transformer import ASTTransformer

    if hasattr(ASTTransformer, "_tisim_grid"):
        return
    ASTTransformer._tisim_grid = True
    for name in ("build_For", "build_While", "build_If", "build_IfExp", "build_BoolOp"):
        setattr(ASTTransformer, name, staticmethod(_counting(getattr(ASTTransformer, name))))
    loop, assign = ASTTransformer.build_range_for, ASTTransformer.build_Assign
    ASTTransformer.build_range_for = staticmethod(lambda ctx, node: _build_range_for(loop, ctx, node))
    ASTTransformer.build_Assign = staticmethod(lambda ctx, node: _build_assign(assign, ctx, node))
    parallelize, copied, compiled = misc._parallelize, impl.expr_init_func, kernel_impl.Kernel.materialize

    def config(v):
        _Place.serial = v == 1
        parallelize(v)

    def copy_of(value):
        return value if _outermost() and _is_number(value) else copied(value)

    def materialize(self, *args, **kwargs):
        before = _Place.depth, _Place.serial, _Place.kernel
        _Place.depth, _Place.serial, _Place.kernel = 0, False, self
        try:
            return compiled(self, *args, **kwargs)
        finally:
            _Place.depth, _Place.serial, _Place.kernel = before

    misc._parallelize, impl.expr_init_func, kernel_impl.Kernel.materialize = config, copy_of, materialize


def _outermost():
    return _Place.depth == 0 and _Place.kernel is not None and session.arch == "cuda"


def _is_number(value):
    """Whether it is one number, or an expression of one."""
    from taichi.lang.expr import Expr

    return isinstance(value, int) or (isinstance(value, Expr) and not value.is_tensor() and not value.is_struct())


def _is_static(node):
    call = node.iter if isinstance(node, ast.For) else getattr(node, "test", None)
    return isinstance(call, ast.Call) and ast.unparse(call.func) in ("ti.static", "static")


def _counting(build):
    """A builder of a statement that opens a block, unless it is one of ti.static."""

    def counted(ctx, node):
        if isinstance(node, ast.For) and not _is_static(node):
            return build(ctx, node)  # counts behind its bounds
        with _inside(0 if _is_static(node) else 1):
            return build(ctx, node)

    return counted


@contextlib.contextmanager
def _inside(blocks):
    _Place.depth += blocks
    try:
        yield
    finally:
        _Place.depth -= blocks


def _build_range_for(plain, ctx, node):
    """A loop over a range: at the outermost level, unless serial, one of a constant number of threads."""
    from taichi.lang import expr, impl
    from taichi.lang import ops as ti_ops
    from taichi.lang.ast.ast_transformer import _ti_core, build_stmt, build_stmts, primitive_types

    serial, _Place.serial = _Place.serial, False
    constant = all(isinstance(a, ast.Constant) for a in node.iter.args)
    if serial or constant or not _outermost() or len(node.iter.args) not in (1, 2):
        with _inside(1):
            return plain(ctx, node)

    def number(value):
        return ti_ops.cast(expr.Expr(value), primitive_types.i32)

    def begin(count):
        i = expr.Expr(ctx.ast_builder.make_id_expr(""))
        ctx.ast_builder.begin_frontend_range_for(
            i.ptr, number(0).ptr, count.ptr, _ti_core.DebugInfo(ctx.get_pos_info(node))
        )
        return i

    def bounds():
        return [number(build_stmt(ctx, a)) for a in node.iter.args]

    lanes = bits()
    changing = not all(_stays(ctx, a) for a in node.iter.args)
    ends = [impl.expr_init(end) for end in bounds()] if changing else None
    with ctx.variable_scope_guard(), _inside(1):
        ctx.check_loop_var(node.target.id)
        lane = begin(number(1 << lanes))
        ends = ends or bounds()
        first = impl.expr_init(lane + ends[0] if len(ends) == 2 else lane)
        rounds = impl.expr_init((ends[-1] - first + number((1 << lanes) - 1)) >> number(lanes))
        at = begin(rounds)
        ctx.create_variable(node.target.id, impl.expr_init(first + (at << number(lanes))))
        build_stmts(ctx, node.body)
        ctx.ast_builder.end_frontend_range_for()
        ctx.ast_builder.end_frontend_range_for()


def _build_assign(plain, ctx, node):
    """`n = d.ncon`: at the outermost level a name for the expression, which each loop computes where it needs it."""
    from taichi.lang.ast.ast_transformer import build_stmt

    if not (_outermost() and len(node.targets) == 1 and _may_be_named(ctx, node)):
        return plain(ctx, node)
    build_stmt(ctx, node.value)
    (target,), value = node.targets, node.value.ptr
    targets, values = (target.elts, value) if isinstance(target, ast.Tuple) else ([target], [value])
    if not isinstance(values, (tuple, list)) or len(values) != len(targets) or not all(map(_is_number, values)):
        return plain(ctx, node)
    for t, v in zip(targets, values):
        known = [scope for scope in ctx.local_scopes if t.id in scope]
        (known or ctx.local_scopes)[-1][t.id] = v


def _may_be_named(ctx, node):
    """Whether the value of an assignment stays the same in all of the kernel, and its names are assigned only at the
    outermost level."""
    names = [n for t in node.targets for n in (t.elts if isinstance(t, ast.Tuple) else [t])]
    if not all(isinstance(n, ast.Name) for n in names) or not all(isinstance(n, PURE) for n in ast.walk(node.value)):
        return False
    if {n.id for n in names} & _changed_names(ctx.func.func):
        return False
    return _stays(ctx, node.value)


def _stays(ctx, node):
    """Whether an expression has the same value in all of the kernel: it reads nothing that the kernel writes, and of
    the function's parameters numbers only."""
    arguments = getattr(_Place.kernel.func, "_arguments", None)
    if arguments is None:
        return False
    reads = flow.reads_of(ctx.func.func, node, arguments.has)
    parameters = (ctx.get_var_by_name(path) for path in reads if "." not in path)
    return all(map(_is_number, parameters)) and not reads & arguments.flow.writes


def _changed_names(function):
    """Names that a function assigns within a loop or a branch that is taken when it runs, or changes in place."""
    if function not in _changed:
        found = set()
        node = flow.syntax(function).node
        _note_changed(node.body, False, found)
        _changed[function] = found
    return _changed[function]


_changed = {}


def _note_changed(body, inner, found):
    for node in body:
        targets = getattr(node, "targets", None) or [t for t in [getattr(node, "target", None)] if t is not None]
        if inner or isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            parts = [n for t in targets for n in (t.elts if isinstance(t, ast.Tuple) else [t])]
            found.update(n.id for n in parts if isinstance(n, ast.Name))
        opens = isinstance(node, (ast.For, ast.While, ast.If)) and not _is_static(node)
        for part in ("body", "orelse"):
            _note_changed(getattr(node, part, []), inner or opens, found)
