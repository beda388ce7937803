"""Semi-implicit Euler step with implicit joint damping, and the search for values that are not finite."""

from ..constants import BALL, FREE, QUEUE_BAD, QUEUE_DENSE, QUEUE_LARGE
from ..rotation import at3, at4, integrate_quat
from ..sleep.awake import dof_at, dof_count, mover_at, mover_count, qpos_at, qpos_count, world_of
from ..types import GPU, SERIAL, func, kernel, ti
from .inertia import factor_tree, solve_tree

MAXVAL = 1e10  # mjMAXVAL: a larger position, velocity or acceleration counts as a diverged simulation


@kernel
def tree_euler(m, d):
    """Euler step of velocity, then position and time; parallel over worlds and trees. Seed 000, "Numerical
    integration".
    """
    n = mover_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        w, t = mover_at(m, d, k)
        if t >= 0:
            if t < m.ntree:
                advance_velocity(m, d, w, t)
            advance_position(m, d, w, t)


@func
def advance_velocity(m, d, w, t):
    """qvel of tree t after a step, and qacc_warmstart."""
    keep_acceleration(m, d, w, t)
    if d.implicit_damping >= 1:
        damped_matrix(m, d, w, t)
        solve_tree(m, d, w, t, d.qH, d.sol_r, d.sol_z)
        damped_velocity(m, d, w, t)
    else:
        first = w * m.nv + m.tree_dofadr[t]
        for i in range(first, first + m.tree_dofnum[t]):
            d.qvel[i] = d.qvel[i] + m.opt.timestep * d.qacc[i]


@func
def keep_acceleration(m, d, w, t):
    """qacc_warmstart of tree t."""
    first = w * m.nv + m.tree_dofadr[t]
    for i in range(first, first + m.tree_dofnum[t]):
        d.qacc_warmstart[i] = d.qacc[i]


@func
def damped_velocity(m, d, w, t):
    """qvel of tree t after a step with the acceleration sol_z."""
    first = w * m.nv + m.tree_dofadr[t]
    for i in range(first, first + m.tree_dofnum[t]):
        d.qvel[i] = d.qvel[i] + m.opt.timestep * d.sol_z[i]


@func
def damped_matrix(m, d, w, t):
    """qH of tree t: the factor of M + timestep * damping, for the acceleration sol_z, which is the force that it takes.
    The solver's vectors are free by now: sol_r holds 1 / the diagonal of the factor's D."""
    damped = is_damped(m, d, w, t)
    for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        i = w * m.nv + k
        last = w * m.nC + m.M_rowadr[k] + m.M_rownnz[k] - 1
        for p in range(w * m.nC + m.M_rowadr[k], last + 1):
            d.qH[p] = d.M[p] if damped else d.qLD[p]
        d.qH[last] = d.qH[last] + m.opt.timestep * m.dof_damping[w, k]
        d.sol_r[i] = d.qLDiagInv[i]
        d.sol_z[i] = d.qfrc_smooth[i] + d.qfrc_constraint[i]
    if damped:
        factor_tree(m, d, w, t, d.qH, d.sol_r)


@func
def is_damped(m, d, w, t):
    """Whether the damping of tree t is implicit."""
    damped = False
    pushed = False
    for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        if m.dof_damping[w, k] > 0.0:
            damped = True
        if m.dof_damping[w, k] < 0.0:
            pushed = True
    if pushed and not damped:
        damped = pushes_implicitly(m, d, w)
    return damped


@func
def pushes_implicitly(m, d, w):
    """Whether dampers below 0 are implicit: in Euler, as in MuJoCo, only beside one above, anywhere in the world."""
    implicit = d.implicit_damping == 2
    k = 0
    while k < m.nv and not implicit:
        implicit = m.dof_damping[w, k] > 0.0
        k += 1
    return implicit


@func
def advance_position(m, d, w, t):
    """qpos of tree t after a step at the velocity qvel; of number ntree: the time of the world."""
    if t == m.ntree:
        d.world_time[w] = d.world_time[w] + m.opt.timestep
    else:
        k = m.tree_dofadr[t]
        while k < m.tree_dofadr[t] + m.tree_dofnum[t]:
            k += advance_joint(m, d, w, m.dof_jntid[k], d.qvel, m.opt.timestep)


@func
def advance_joint(m, d, w, j, v: ti.template(), h):
    """Moves joint j for a time h [s] at the velocity v; returns its number of dofs."""
    kind = m.jnt_type[j]
    q = w * m.nq + m.jnt_qposadr[j]
    i = w * m.nv + m.jnt_dofadr[j]
    num = 1
    if kind == FREE:
        for c in range(3):
            d.qpos[q + c] = d.qpos[q + c] + h * v[i + c]
        num = 6
        q += 3
        i += 3
    if kind == FREE or kind == BALL:
        r = integrate_quat(at4(d.qpos, q), at3(v, i), h)
        for c in ti.static(range(4)):
            d.qpos[q + c] = r[c]
        num = ti.max(num, 3)
    else:
        d.qpos[q] = d.qpos[q] + h * v[i]
    return num


@kernel
def find_bad_state(m, d):
    """First element of qpos and qvel that is not finite or huge; parallel over worlds and elements."""
    n = qpos_count(m, d)  # nq >= nv
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        wi = qpos_at(m, d, k)
        w = world_of(wi, m.nq)
        i = wi - w * m.nq
        if not ti.abs(d.qpos[wi]) <= MAXVAL:
            ti.atomic_max(d.bad[w][0], m.nq - i)
            tell_bad(m, d)
        if i < m.nv:
            if not ti.abs(d.qvel[w * m.nv + i]) <= MAXVAL:
                ti.atomic_max(d.bad[w][1], m.nv - i)
                tell_bad(m, d)


@func
def tell_bad(m, d):
    """Lets a GPU's host, which reads counts anyway, know that it has to look."""
    if ti.static(GPU):
        d.nbad = 1


@kernel
def find_bad_acceleration(m, d):
    """First element of qacc that is not finite or huge; parallel over worlds and elements."""
    n = dof_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        wi = dof_at(m, d, k)
        if not ti.abs(d.qacc[wi]) <= MAXVAL:
            ti.atomic_max(d.bad[wi // m.nv][2], m.nv - wi % m.nv)


@kernel
def note_bad_acceleration(m, d):
    """Whether there is such an element, and the lengths of lists, for the host that waits for the solver of a GPU;
    parallel alike."""
    n = dof_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(ti.max(n, 1)):
        if k == 0:
            d.solver_queue[QUEUE_LARGE] = d.nlarge
            d.solver_queue[QUEUE_DENSE] = d.ndense
        if k < n:
            if not ti.abs(d.qacc[dof_at(m, d, k)]) <= MAXVAL:
                d.solver_queue[QUEUE_BAD] = 1
