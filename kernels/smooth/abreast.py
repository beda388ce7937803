"""Solves with M for four worlds at a time: what velocity.tree_acceleration and integrate.tree_euler do with one.

A tree's rows are short: a processor guesses wrongly where each ends, and waits for each number, which the next one
takes. Four worlds in turn share the guesses and the waits. Each gets the bits that it gets alone.
"""

from ..sleep.awake import mover_at, mover_count
from ..types import SERIAL, func, kernel, ti, vec4
from .inertia import solve_tree
from .integrate import advance_position, advance_velocity, damped_matrix, damped_velocity, keep_acceleration
from .velocity import smooth_forces

LANES = 4


@kernel
def acceleration_abreast(m, d):
    """qfrc_smooth and qacc_smooth; parallel over worlds and trees, of which every fourth world has the work of four.
    Seed 000, stages 19 to 21."""
    n = d.nworld * m.ntree
    ti.loop_config(serialize=SERIAL)
    for at in range(n):
        w = at // m.ntree
        t = at - w * m.ntree
        if w % LANES == 0:
            many = ti.min(LANES, d.nworld - w)
            for c in range(many):
                smooth_forces(m, d, w + c, t)
            solve_worlds(m, d, w, many, t, d.qLD, d.qLDiagInv, d.qacc_smooth)


@kernel
def euler_abreast(m, d):
    """Euler step of velocity, then position and time; parallel alike. Seed 000, "Numerical integration"."""
    n = mover_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        w, t = mover_at(m, d, k)
        if t == m.ntree:
            advance_position(m, d, w, t)
        elif t >= 0 and w % LANES == 0:
            many = ti.min(LANES, d.nworld - w)
            if d.implicit_damping == 1:
                for c in range(many):
                    keep_acceleration(m, d, w + c, t)
                    damped_matrix(m, d, w + c, t)
                solve_worlds(m, d, w, many, t, d.qH, d.sol_r, d.sol_z)
            for c in range(many):
                if d.implicit_damping == 1:
                    damped_velocity(m, d, w + c, t)
                else:
                    advance_velocity(m, d, w + c, t)
                advance_position(m, d, w + c, t)


@func
def solve_worlds(m, d, w, many, t, L: ti.template(), Dinv: ti.template(), x: ti.template()):
    """inertia.solve_tree in `many` worlds from w on."""
    if many == LANES:
        solve_four(m, d, w, t, L, Dinv, x)
    else:
        for c in range(many):
            solve_tree(m, d, w + c, t, L, Dinv, x)


@func
def solve_four(m, d, w, t, L: ti.template(), Dinv: ti.template(), x: ti.template()):
    """The same in four worlds."""
    first = m.tree_dofadr[t]
    last = first + m.tree_dofnum[t] - 1
    xk = vec4(0.0)
    for e in range(last - first + 1):
        k = last - e
        for c in ti.static(range(LANES)):
            xk[c] = x[(w + c) * m.nv + k]
        for p in range(m.M_rowadr[k], m.M_rowadr[k] + m.M_rownnz[k] - 1):
            i = m.M_colind[p]
            for c in ti.static(range(LANES)):
                to = (w + c) * m.nv + i
                x[to] = x[to] - L[(w + c) * m.nC + p] * xk[c]
    for k in range(first, last + 1):
        for c in ti.static(range(LANES)):
            xk[c] = x[(w + c) * m.nv + k] * Dinv[(w + c) * m.nv + k]
        for p in range(m.M_rowadr[k], m.M_rowadr[k] + m.M_rownnz[k] - 1):
            i = m.M_colind[p]
            for c in ti.static(range(LANES)):
                xk[c] -= L[(w + c) * m.nC + p] * x[(w + c) * m.nv + i]
        for c in ti.static(range(LANES)):
            x[(w + c) * m.nv + k] = xk[c]
