"""All joint rows of a tree at once, by elimination from its leaves to its root and back, without fill-in.

For changes of velocities x (of unit mass) and of impulses y: x = J' y, J x + soft y = g, what the rows still lack. From
the leaves on, body b with the mass A_b that its subtree has at its place is eliminated with its joint, D = J_c A_b^-1
J_c' + soft, which adds J_p' D^-1 J_p to its parent's. A = L L' and D = K K'; kept are H = L^-1 J_c' and G = K^-1 J_p.
"""

from ..types import FP, called, func, ti
from .bodies import BODY_SIZE, TWIST_SIZE
from .descent import bound_tree, descend_tree
from .joints import (
    BIAS,
    CHILD,
    FACTOR,
    HALF_CHILD,
    HALF_PARENT,
    IMPULSE,
    JOINT_SIZE,
    PARENT,
    REST,
    ROW,
    SOFT,
    joint_rows,
    mixed_rows,
    place_tree,
)
from .laws import close_rows, law_rows, settle_tree
from .motions import is_mixed

MASS_SIZE, CHANGE_SIZE = 36, 8  # numbers of a body in lcp_mass, lcp_change
LEAST = 1e-30
# rounds: of asking all at once what is at its bounds, of a descent to that, of leaving what is beyond bounds at them
ASKED, SEARCHED, BOUND = 8, 64, 16


@func
def fulfil_tree(m, d, wt, fresh):
    """Velocities of a tree's bodies that fulfil all its rows; fresh: where a substep begins and these are made, 2 in
    the first substep of a step, else 1; 0 elsewhere."""
    again = ti.min(fresh, 1)
    if fresh > 0:
        make_rows(m, d, wt, fresh - 1)
    lost = 0
    for k in range(ASKED + SEARCHED + BOUND + 1):
        if k == 0 or again == 1:
            if again == 1:
                factor_tree(m, d, wt)
            solve_tree(m, d, wt)
            again = 0
            if k < ASKED:
                again = ti.cast(settle_tree(m, d, wt) > 0, ti.i32)
            elif k < ASKED + SEARCHED and lost == 0:
                changed = descend_tree(m, d, wt, ti.cast(k == ASKED, ti.i32))
                again = ti.cast(changed > 0, ti.i32)
                lost = ti.cast(changed < 0, ti.i32)
            if k >= ASKED + SEARCHED or lost == 1:
                again = 0
                if k < ASKED + SEARCHED + BOUND:
                    again = ti.cast(bound_tree(m, d, wt) > 0, ti.i32)


@called("maximal")
def make_rows(m, d, wt: ti.i32, first: ti.i32):
    """Rows of a tree where its bodies are now; first: 1 where a step begins."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    place_tree(m, d, wt)
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        if is_mixed(m, b):
            mixed_rows(m, d, w, b)
        else:
            joint_rows(m, d, w, b)
        for e in range(6):
            d.lcp_joint[JOINT_SIZE * (w * m.nbody + b) + IMPULSE + e] = 0.0
        close_rows(m, d, w, b, d.lcp_nrow[w * m.nbody + b], law_rows(m, d, w, b), first)


@func
def factor_tree(m, d, wt):
    """Factors of the rows of a tree."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    first, n = m.tree_bodyadr[t], m.tree_bodynum[t]
    for b in range(first, first + n):
        wb = w * m.nbody + b
        for e in range(6):
            for c in range(6):
                d.lcp_mass[MASS_SIZE * wb + ROW * e + c] = ti.select(c == e, 1.0, 0.0)
    for k in range(n):
        b = first + n - 1 - k
        factor_body(m, d, w, b)


@func
def factor_body(m, d, w, b):
    """Eliminates body b and its joint."""
    wb, p = w * m.nbody + b, m.body_parentid[b]
    A, o = MASS_SIZE * wb, JOINT_SIZE * wb
    n = d.lcp_nrow[wb] + d.lcp_nlaw[wb]
    L = factor_six(d.lcp_mass, A)
    for r in range(n):
        there = ti.select(d.lcp_joint[o + SOFT + r] < 0.0, 0.0, 1.0)
        x = ti.Vector.zero(FP, 6)
        for e in ti.static(range(6)):
            s = there * d.lcp_joint[o + CHILD + ROW * r + e]
            for c in ti.static(range(e)):
                s -= L[e, c] * x[c]
            x[e] = s * L[e, e]
            d.lcp_joint[o + HALF_CHILD + ROW * r + e] = x[e]
        for q in range(r + 1):
            s = FP(0.0)
            for e in ti.static(range(6)):
                s += x[e] * d.lcp_joint[o + HALF_CHILD + ROW * q + e]
            d.lcp_joint[o + FACTOR + ROW * r + q] = s + ti.select(q == r, ti.abs(d.lcp_joint[o + SOFT + r]), 0.0)
    factor(d.lcp_joint, o + FACTOR, n)
    if m.body_treeid[p] >= 0 and n > 0:
        for r in range(n):  # G, row by row
            there = ti.select(d.lcp_joint[o + SOFT + r] < 0.0, 0.0, 1.0)
            x = ti.Vector.zero(FP, 6)
            for e in ti.static(range(6)):
                x[e] = there * d.lcp_joint[o + PARENT + ROW * r + e]
            for q in range(r):
                k = d.lcp_joint[o + FACTOR + ROW * r + q]
                for e in ti.static(range(6)):
                    x[e] -= k * d.lcp_joint[o + HALF_PARENT + ROW * q + e]
            k = d.lcp_joint[o + FACTOR + ROW * r + r]
            for e in ti.static(range(6)):
                d.lcp_joint[o + HALF_PARENT + ROW * r + e] = k * x[e]
        add_to_parent(m, d, o + HALF_PARENT, n, MASS_SIZE * (w * m.nbody + p))


@func
def add_to_parent(m, d, o, n, B):
    """Adds G' G, of n rows from lcp_joint[o] on, to the lower half of the matrix at lcp_mass[B]."""
    A = ti.Matrix.zero(FP, 6, 6)
    for e in ti.static(range(6)):
        for c in ti.static(range(e + 1)):
            A[e, c] = d.lcp_mass[B + ROW * e + c]
    for r in range(n):
        for e in ti.static(range(6)):
            for c in ti.static(range(e + 1)):
                A[e, c] += d.lcp_joint[o + ROW * r + e] * d.lcp_joint[o + ROW * r + c]
    for e in ti.static(range(6)):
        for c in ti.static(range(e + 1)):
            d.lcp_mass[B + ROW * e + c] = A[e, c]


@func
def solve_tree(m, d, wt):
    """Impulses by which the bodies of a tree fulfil its rows; they change lcp_body, and lcp_from, so that what contacts
    changed in a substep stays the difference of both."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    first, n = m.tree_bodyadr[t], m.tree_bodynum[t]
    for b in range(first, first + n):
        for e in range(6):
            d.lcp_change[CHANGE_SIZE * (w * m.nbody + b) + e] = 0.0
    for k in range(n):
        gather_body(m, d, w, first + n - 1 - k)
    for b in range(first, first + n):
        spread_body(m, d, w, b)


@func
def gather_body(m, d, w, b):
    """What the rows of body b lack goes on to its parent."""
    wb, p = w * m.nbody + b, m.body_parentid[b]
    o, wp = JOINT_SIZE * wb, w * m.nbody + p
    n = d.lcp_nrow[wb] + d.lcp_nlaw[wb]
    x, u, v = ti.Vector.zero(FP, 6), ti.Vector.zero(FP, 6), ti.Vector.zero(FP, 6)
    for e in ti.static(range(6)):
        s = d.lcp_change[CHANGE_SIZE * wb + e]
        for c in ti.static(range(e)):
            s -= d.lcp_mass[MASS_SIZE * wb + ROW * e + c] * x[c]
        x[e] = s * d.lcp_mass[MASS_SIZE * wb + ROW * e + e]
        d.lcp_change[CHANGE_SIZE * wb + e] = x[e]
        u[e], v[e] = d.lcp_body[BODY_SIZE * wb + e], d.lcp_body[BODY_SIZE * wp + e]
    for r in range(n):
        s = d.lcp_joint[o + BIAS + r] - d.lcp_joint[o + SOFT + r] * d.lcp_joint[o + IMPULSE + r]
        for e in ti.static(range(6)):
            s -= d.lcp_joint[o + CHILD + ROW * r + e] * u[e]
            s -= d.lcp_joint[o + PARENT + ROW * r + e] * v[e]
            s -= d.lcp_joint[o + HALF_CHILD + ROW * r + e] * x[e]
        d.lcp_joint[o + REST + r] = ti.select(d.lcp_joint[o + SOFT + r] < 0.0, 0.0, s)
    divide(d.lcp_joint, o + FACTOR, n, d.lcp_joint, o + REST)
    if m.body_treeid[p] >= 0:
        for e in ti.static(range(6)):
            x[e] = d.lcp_change[CHANGE_SIZE * wp + e]
        for r in range(n):
            k = d.lcp_joint[o + REST + r]
            for e in ti.static(range(6)):
                x[e] += d.lcp_joint[o + HALF_PARENT + ROW * r + e] * k
        for e in ti.static(range(6)):
            d.lcp_change[CHANGE_SIZE * wp + e] = x[e]


@func
def spread_body(m, d, w, b):
    """Impulses of the rows of body b, by what its parent does, and what the body does."""
    wb, p = w * m.nbody + b, m.body_parentid[b]
    o, x = JOINT_SIZE * wb, CHANGE_SIZE * wb
    n = d.lcp_nrow[wb] + d.lcp_nlaw[wb]
    if m.body_treeid[p] >= 0:
        v = ti.Vector.zero(FP, 6)
        for e in ti.static(range(6)):
            v[e] = d.lcp_change[CHANGE_SIZE * (w * m.nbody + p) + e]
        for r in range(n):
            s = d.lcp_joint[o + REST + r]
            for e in ti.static(range(6)):
                s -= d.lcp_joint[o + HALF_PARENT + ROW * r + e] * v[e]
            d.lcp_joint[o + REST + r] = s
    divide_back(d.lcp_joint, o + FACTOR, n, d.lcp_joint, o + REST)
    for r in range(n):
        d.lcp_joint[o + IMPULSE + r] = d.lcp_joint[o + IMPULSE + r] + d.lcp_joint[o + REST + r]
    y = ti.Vector.zero(FP, 6)
    for e in ti.static(range(6)):
        y[e] = d.lcp_change[x + e]
    for r in range(n):
        k = d.lcp_joint[o + REST + r]
        for e in ti.static(range(6)):
            y[e] += d.lcp_joint[o + HALF_CHILD + ROW * r + e] * k
    for i in ti.static(range(6)):
        e = ti.static(5 - i)
        s = y[e]
        for c in ti.static(range(e + 1, 6)):
            s -= d.lcp_mass[MASS_SIZE * wb + ROW * c + e] * y[c]
        y[e] = s * d.lcp_mass[MASS_SIZE * wb + ROW * e + e]
    for e in ti.static(range(6)):
        d.lcp_change[x + e] = y[e]
        d.lcp_body[BODY_SIZE * wb + e] = d.lcp_body[BODY_SIZE * wb + e] + y[e]
        d.lcp_from[TWIST_SIZE * wb + e] = d.lcp_from[TWIST_SIZE * wb + e] + y[e]


@ti.func
def factor_six(a: ti.template(), o):
    """`factor` of six rows, which it returns, too."""
    L = ti.Matrix.zero(FP, 6, 6)
    for i in ti.static(range(6)):
        for j in ti.static(range(i + 1)):
            s = a[o + ROW * i + j]
            for k in ti.static(range(j)):
                s -= L[i, k] * L[j, k]
            if ti.static(i == j):
                L[i, i] = 1.0 / ti.sqrt(ti.max(s, FP(LEAST)))
            else:
                L[i, j] = s * L[j, j]
            a[o + ROW * i + j] = L[i, j]
    return L


@ti.func
def factor(a: ti.template(), o, n):
    """Cholesky's L of the symmetric matrix of n rows whose lower half begins at a[o], in its place, with 1 / its
    diagonal."""
    for i in range(n):
        for j in range(i + 1):
            s = a[o + ROW * i + j]
            for k in range(j):
                s -= a[o + ROW * i + k] * a[o + ROW * j + k]
            if i == j:
                a[o + ROW * i + i] = 1.0 / ti.sqrt(ti.max(s, FP(LEAST)))
            else:
                a[o + ROW * i + j] = s * a[o + ROW * j + j]


@ti.func
def divide(a: ti.template(), o, n, x: ti.template(), p):
    """L^-1 x, in the place of the n numbers from x[p] on."""
    for i in range(n):
        s = x[p + i]
        for k in range(i):
            s -= a[o + ROW * i + k] * x[p + k]
        x[p + i] = s * a[o + ROW * i + i]


@ti.func
def divide_back(a: ti.template(), o, n, x: ti.template(), p):
    """L'^-1 x, in the place of the n numbers from x[p] on."""
    for e in range(n):
        i = n - 1 - e
        s = x[p + i]
        for k in range(i + 1, n):
            s -= a[o + ROW * k + i] * x[p + k]
        x[p + i] = s * a[o + ROW * i + i]
