"""The classical Runge-Kutta method of order 4: between evaluations of the accelerations these kernels set the state.

Positions move in the tangent space of the beginning: qpos of a stage is that of the step's beginning moved at a
weighted velocity. rk_open says that the state is one within a step. Seed 000, "Numerical integration".
"""

from ..types import SERIAL, func, kernel, ti
from .integrate import advance_joint


@kernel
def rk_first(m, d):
    """Keeps the beginning of the step and goes half a timestep on; parallel over worlds and trees."""
    ti.loop_config(serialize=SERIAL)
    for wt in range(d.nworld * (m.ntree + 1)):
        w = wt // (m.ntree + 1)
        t = wt - w * (m.ntree + 1)
        if t == m.ntree:
            d.rk_time[w] = d.world_time[w]
            d.rk_open[w] = 1
            for a in range(w * m.na, w * m.na + m.na):
                d.rk_act[a] = d.act[a]
                d.rk_act_dot[a] = d.act_dot[a] / 6.0
        else:
            for q in range(first_position(m, d, w, t), first_position(m, d, w, t + 1)):
                d.rk_qpos[q] = d.qpos[q]
            for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
                d.rk_qvel[i] = d.qvel[i]
                d.rk_velocity[i] = d.qvel[i] / 6.0
                d.rk_qacc[i] = d.qacc[i] / 6.0
        go_on(m, d, w, t, 0.5)


@kernel
def rk_second(m, d):
    """Half a timestep from the beginning with the rates in the middle; parallel over worlds and trees."""
    ti.loop_config(serialize=SERIAL)
    for wt in range(d.nworld * (m.ntree + 1)):
        w = wt // (m.ntree + 1)
        t = wt - w * (m.ntree + 1)
        add_rates(m, d, w, t, 1.0 / 3.0)
        go_on(m, d, w, t, 0.5)


@kernel
def rk_third(m, d):
    """A whole timestep with the rates in the middle; parallel over worlds and trees."""
    ti.loop_config(serialize=SERIAL)
    for wt in range(d.nworld * (m.ntree + 1)):
        w = wt // (m.ntree + 1)
        t = wt - w * (m.ntree + 1)
        add_rates(m, d, w, t, 1.0 / 3.0)
        go_on(m, d, w, t, 1.0)


@kernel
def rk_rates(m, d):
    """The weighted rates of all four, for the step itself, the last ones kept; parallel over worlds and trees."""
    ti.loop_config(serialize=SERIAL)
    for wt in range(d.nworld * (m.ntree + 1)):
        w = wt // (m.ntree + 1)
        t = wt - w * (m.ntree + 1)
        add_rates(m, d, w, t, 1.0 / 6.0)
        if t == m.ntree:
            for a in range(w * m.na, w * m.na + m.na):
                d.act[a] = d.rk_act[a]
                rate = d.act_dot[a]
                d.act_dot[a] = d.rk_act_dot[a]
                d.rk_act_dot[a] = rate


@kernel
def rk_last(m, d):
    """The step itself with these rates, but for activations, of which act_dot becomes that of the last evaluation;
    parallel over worlds and trees."""
    ti.loop_config(serialize=SERIAL)
    for wt in range(d.nworld * (m.ntree + 1)):
        w = wt // (m.ntree + 1)
        t = wt - w * (m.ntree + 1)
        if t < m.ntree:
            for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
                d.qacc_warmstart[i] = d.qacc[i]
                d.qvel[i] = d.rk_velocity[i]
                d.qacc_euler[i] = d.rk_qacc[i]
        else:
            d.rk_open[w] = 0
            for a in range(w * m.na, w * m.na + m.na):
                d.act_dot[a] = d.rk_act_dot[a]
        move(m, d, w, t, 1.0)


@func
def first_position(m, d, w, t):
    """Where the positions of tree t begin in qpos, behind the last one: where they end."""
    q = m.nq
    if t < m.ntree:
        q = m.jnt_qposadr[m.dof_jntid[m.tree_dofadr[t]]]
    return w * m.nq + q


@func
def add_rates(m, d, w, t, weight):
    """Adds the rates at this stage to the sums of tree t."""
    if t < m.ntree:
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.rk_velocity[i] = d.rk_velocity[i] + weight * d.qvel[i]
            d.rk_qacc[i] = d.rk_qacc[i] + weight * d.qacc[i]
    else:
        for a in range(w * m.na, w * m.na + m.na):
            d.rk_act_dot[a] = d.rk_act_dot[a] + weight * d.act_dot[a]


@func
def go_on(m, d, w, t, part):
    """Tree t, or activations, where the rates at this stage lead in a part of the timestep, from the beginning."""
    if t < m.ntree:
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.qacc_euler[i] = d.qacc[i]
    else:
        for a in range(w * m.na, w * m.na + m.na):
            d.act[a] = d.rk_act[a] + part * m.opt.timestep * d.act_dot[a]
    move(m, d, w, t, part)


@func
def move(m, d, w, t, part):
    """From the beginning: time, qpos of tree t at the velocity qvel, then qvel with qacc_euler."""
    h = part * m.opt.timestep
    if t == m.ntree:
        d.world_time[w] = d.rk_time[w] + h
    else:
        for q in range(first_position(m, d, w, t), first_position(m, d, w, t + 1)):
            d.qpos[q] = d.rk_qpos[q]
        k = m.tree_dofadr[t]
        while k < m.tree_dofadr[t] + m.tree_dofnum[t]:
            k += advance_joint(m, d, w, m.dof_jntid[k], d.qvel, h)
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.qvel[i] = d.rk_qvel[i] + h * d.qacc_euler[i]
