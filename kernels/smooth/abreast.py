"""Accelerations and Euler steps of four worlds at a time, each with the bits that it gets alone: what
velocity.tree_acceleration and integrate.tree_euler do with one.

Of accelerations, whose factor is there, worlds are solved in turn: a tree's rows are short, a processor guesses wrongly
where each ends, and waits for each number, which the next one takes; four in turn share the guesses and the waits.
"""

from ..abreast import LANES, numbers_of, take_groups, worlds_from
from ..team import crew
from ..types import ABREAST, HAND, SERIAL, func, kernel, ti, vec4
from .factor_abreast import factor, lay_rows, put_back_dofs, put_back_rows, solve
from .inertia import solve_tree
from .integrate import advance_position, advance_velocity, damped_velocity, is_damped, keep_acceleration
from .velocity import smooth_forces


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
    """integrate.tree_euler, shared out to d.nhand workers. Seed 000, "Numerical integration"."""
    ti.static(ABREAST)
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, euler_work)


@func
def euler_work(m, d, hand):
    """A worker's part."""
    take_groups(m, d, hand, step_four)


@func
def step_four(m, d, hand, w, b):
    """What begins with body b in worlds from w on; with the world itself, their times."""
    t = m.body_treeid[b]
    end = ti.min(w + LANES, d.nworld)
    if b == 0:
        for v in range(w, end):
            advance_position(m, d, v, m.ntree)
    elif t >= 0:
        if m.tree_bodyadr[t] == b:
            together = d.implicit_damping >= 1
            if together:
                for v in range(w, end):
                    together = together and is_damped(m, d, v, t)
            if together:
                damped_step(m, d, hand, w, t)
            for v in range(w, end):
                if together:
                    keep_acceleration(m, d, v, t)
                    damped_velocity(m, d, v, t)
                else:
                    advance_velocity(m, d, v, t)
                advance_position(m, d, v, t)


@func
def damped_step(m, d, hand, w, t):
    """sol_z: the acceleration with M + timestep * damping, whose factor is qH, as integrate.damped_matrix and a solve
    make it."""
    world = worlds_from(m, d, w)
    dof0 = m.tree_dofadr[t]
    n = m.tree_dofnum[t]
    lay_rows(m, d, hand, world, t, d.M)
    x = hand * d.lanetree + n
    for i in range(n):
        k = dof0 + i
        last = hand * d.lanehess - m.M_rowadr[dof0] + m.M_rowadr[k] + m.M_rownnz[k] - 1
        d.abreast_hess[last] = d.abreast_hess[last] + m.opt.timestep * numbers_of(m, d, m.dof_damping, world, k)
        force = vec4(0.0)
        for c in ti.static(range(LANES)):
            e = world[c] * m.nv + k
            force[c] = d.qfrc_smooth[e] + d.qfrc_constraint[e]
        d.abreast_tree[x + i] = force
    factor(m, d, hand, t)
    solve(m, d, hand, t, x)
    put_back_rows(m, d, hand, world, t, d.qH)
    put_back_dofs(m, d, x, world, t, d.sol_z)


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
