"""Changes to Taichi 1.7.4's Python pass, made once per process: kernels over bundles, and a pass of half the time.

The pass turns a kernel and all functions inlined into it into Taichi's own form, in every process. As it comes, it
parses a function's source at each call that inlines it, formats the source position of every node, and asks for options
and types again and again. What it makes is the same with these changes.
"""

import ast
import copy

import numpy as np

from .taichi_import import inside_class


def install():
    """Makes the changes, if this is the version they were made for."""
    import taichi as ti
    from taichi.lang import _ndarray, kernel_impl, matrix

    if ti.__version__ != (1, 7, 4):
        raise ImportError(f"taichi {'.'.join(map(str, ti.__version__))} is installed; tisim needs 1.7.4")
    if not hasattr(kernel_impl, "_tisim"):
        kernel_impl._tisim = True
        kernel_impl._inside_class = inside_class
        for module in (_ndarray, matrix):
            module.get_traceback = lambda stacklevel=1: ""  # of every array that is made
        _give_trees(kernel_impl)
        _visit_quickly()
        _check_once()
        _multiply_directly()


def _give_trees(kernel_impl):
    """Trees come from tisim.device.syntax, which parses a file once; a kernel's arguments are those of its bundles."""
    from taichi.lang import impl

    from .syntax import syntax

    plain = kernel_impl._get_tree_and_ctx

    def get(
        self, excluded_parameters=(), is_kernel=True, arg_features=None, args=None, ast_builder=None,
        is_real_function=False,
    ):  # fmt: skip
        if not (is_kernel or is_real_function):  # Taichi hands on the kernel's, in real functions too
            ast_builder = impl.get_runtime().compiling_callable.ast_builder()
        source = syntax(self.func)
        if source is None:
            return plain(self, excluded_parameters, is_kernel, arg_features, args, ast_builder, is_real_function)
        node, scope = source.node, kernel_impl._get_global_vars(self.func)
        if is_kernel or is_real_function:  # the pass takes the parameters out of the tree
            node = copy.copy(node)
            node.args = copy.copy(node.args)
            for i in self.template_slot_locations:
                scope[self.arguments[i].name] = args[i]
        if (is_kernel or is_real_function) and hasattr(self.func, "_arguments"):
            names = [a.name for a in self.arguments]
            _enter_bundles(node, scope, self.func._arguments, names)
            if is_real_function:
                _call_itself(node, scope, self, names)
        return ast.Module([node], []), kernel_impl.ASTTransformerContext(
            excluded_parameters=excluded_parameters, is_kernel=is_kernel, func=self, arg_features=arg_features,
            global_vars=scope, argument_data=args, src=source.lines, start_lineno=1, file=source.file,
            ast_builder=ast_builder, is_real_function=is_real_function,
        )  # fmt: skip

    kernel_impl._get_tree_and_ctx = get


def _enter_bundles(node, scope, arguments, names):
    """Makes the tree of a kernel, or of a function that it calls, one whose parameters are these names, and that begins
    with `m, d = bundles(...)`."""
    scope["_bundles"] = arguments.bundles
    count = len(arguments.entries) + len(arguments.arenas)
    node.args.args = [ast.copy_location(ast.arg(name), node) for name in names]
    node.body = [_statement(f"m, d = _bundles({', '.join(names[:count])})", node.lineno), *node.body]


def _call_itself(node, scope, function, names):
    """Lets a function's tree begin with a call of itself, if its last argument is not 0; see called.py."""
    scope["_itself"] = function
    *others, depth = names
    node.body = [_statement(f"if {depth} > 0:\n    _itself({', '.join(others)}, {depth} - 1)", node.lineno), *node.body]


def _statement(text, line):
    """The tree of a statement that stands in this line."""
    (made,) = ast.parse(text).body
    for child in ast.walk(made):
        if hasattr(child, "lineno"):
            child.lineno = child.end_lineno = line
    return made


def _visit_quickly():
    """A node's builder is looked up in a table, and its position made once per line: file and line, not its text."""
    from taichi.lang import impl
    from taichi.lang.ast import ast_transformer_utils as utils
    from taichi.lang.ast.ast_transformer import ASTTransformer

    plain, builders = utils.Builder.__call__, {}

    def call(self, ctx, node):
        kind = type(node)
        found = builders.get(kind)
        if found is None:
            method = getattr(self, "build_" + kind.__name__, None)
            found = builders[kind] = method, issubclass(kind, (ast.stmt, ast.expr))
        method, placed = found
        if method is None:
            return plain(self, ctx, node)
        position = ""
        if placed:
            positions = ctx.__dict__.setdefault("_positions", {})
            position = positions.get(node.lineno)
            if position is None:
                name = ctx.func.func.__name__
                position = f'File "{ctx.file}", line {node.lineno + ctx.lineno_offset}, in {name}:\n'
                positions[node.lineno] = position
        stack = impl.get_runtime().src_info_stack
        stack.append(position)
        try:
            return method(ctx, node)
        except Exception as e:
            return fail(ctx, node, e)
        finally:
            stack.pop()

    def fail(ctx, node, error):
        """Raises the error as Taichi does, with the position."""

        def again(*_):
            raise error

        failing = type("Failing", (utils.Builder,), {"build_" + type(node).__name__: staticmethod(again)})
        return plain(failing(), ctx, node)

    def position_of(self, node):
        return f'File "{self.file}", line {node.lineno + self.lineno_offset}, in {self.func.func.__name__}:\n'

    utils.Builder.__call__ = call
    utils.ASTTransformerContext.get_pos_info = position_of
    ASTTransformer.warn_if_is_external_func = staticmethod(lambda ctx, node: None)  # `_bundles` is one


def _check_once():
    """Options are asked for once per start, a checked expression is not checked again, ranges of integers are kept."""
    from taichi._lib import core
    from taichi.lang import expr, impl

    plain, cpp, python = expr.Expr.__init__, core.Expr, expr.Expr
    last = [None, None]  # Taichi's Python side and its options; not its Program, which must be able to die

    def init(self, *args, dbg_info=None, dtype=None):
        if len(args) != 1:
            return plain(self, *args, dbg_info=dbg_info, dtype=dtype)
        (a,) = args
        kind = type(a)
        if kind is python and a.ptr_type_checked:
            self.dbg_info, self.ptr_type_checked, self.ptr = a.dbg_info, True, a.ptr
        elif kind is cpp:
            if last[0] is not impl.pytaichi:
                last[:] = impl.pytaichi, impl.pytaichi.prog.config()
            self.ptr, self.dbg_info = a, dbg_info
            if dbg_info:
                a.set_dbg_info(dbg_info)
            a.type_check(last[1])
            self.ptr_type_checked = True
        else:
            plain(self, *args, dbg_info=dbg_info, dtype=dtype)

    expr.Expr.__init__ = init
    limits = {}

    def limits_of(kind):
        if kind not in limits:
            i = np.iinfo(kind)
            limits[kind] = int(i.min), int(i.max), i.bits
        return limits[kind]

    def in_range(kind, value):
        low, high, _ = limits_of(kind)
        return low <= value <= high

    def clamped(kind, value):
        low, high, bits = limits_of(kind)
        return value if low <= value <= high else value - (1 << bits)

    expr._check_in_range, expr._clamp_unsigned_to_range = in_range, clamped


def _multiply_directly():
    """Products and sums of small vectors and matrices are made element by element, not by inlining functions.

    They are a third of the pass otherwise. Operations and their order are Taichi's own, so results keep their bits.
    """
    from taichi.lang import impl, matrix_ops, ops
    from taichi.lang.expr import Expr
    from taichi.lang.matrix import make_matrix

    def elements(a):
        """(elements, shape) of a vector or matrix expression, which is computed once."""
        a = impl.expr_init(a)
        builder = impl.get_runtime().compiling_callable.ast_builder()
        return [Expr(x) for x in builder.expand_exprs([a.ptr])], a.get_shape()

    def direct(name, made):
        """Takes the place of a function of matrix_ops inside kernels, where its arguments are small."""
        plain = getattr(matrix_ops, name)

        def function(*args):
            small = impl.inside_kernel() and all(isinstance(a, Expr) and a.is_tensor() for a in args)
            result = made(*args) if small else None
            return plain(*args) if result is None else result

        setattr(matrix_ops, name, function)

    def sum_of(a):
        (first, *rest), _ = elements(a)
        for x in rest:
            first = ops.add(first, x)
        return impl.expr_init(first)

    def dot(a, b):
        return sum_of(a * b) if len(a.get_shape()) == len(b.get_shape()) == 1 else None

    def norm_sqr(a):
        return sum_of(a * a)

    def cross(a, b):
        if tuple(a.get_shape()) != (3,) or tuple(b.get_shape()) != (3,):
            return None
        (a0, a1, a2), _ = elements(a)
        (b0, b1, b2), _ = elements(b)
        return make_matrix([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])

    def matmul(a, b):
        if len(a.get_shape()) != 2 or a.get_shape()[1] != b.get_shape()[0]:
            return None
        x, (rows, inner) = elements(a)
        y, shape = elements(b)
        columns = shape[1] if len(shape) == 2 else 1
        zero = impl.expr_init(x[0] * y[0] * 0)  # where Taichi's sums begin
        out = []
        for i in range(rows):
            for j in range(columns):
                total = zero
                for k in range(inner):
                    total = total + x[i * inner + k] * y[k * columns + j]
                out.append(total)
        return make_matrix(out if len(shape) == 1 else [out[i * columns : (i + 1) * columns] for i in range(rows)])

    def transpose(a):
        if len(a.get_shape()) != 2:
            return None
        x, (rows, columns) = elements(a)
        return make_matrix([[x[i * columns + j] for i in range(rows)] for j in range(columns)])

    for name, made in dict(
        sum=sum_of, dot=dot, norm_sqr=norm_sqr, cross=cross, matmul=matmul, transpose=transpose
    ).items():
        direct(name, made)
