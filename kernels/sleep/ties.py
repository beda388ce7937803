"""Tendons, actuators and equalities where some trees sleep: which of them are awake, and which wake others.

Seed 003, "Waking", in the order of MuJoCo 3.4.0: tendons wake before collision, equalities behind it. Who slept is
asked of the beginning of each search, so that what it wakes does not wake others in it.
"""

from ..constants import AWAKE, NTASK, TASK_ACTUATOR, TASK_DRIVEN
from ..constraint.tendon_limits import side_of
from ..types import kernel, ti
from .awake import is_awake, is_gone
from .waking import slept, wake_island


@kernel
def list_tasks(m, d):
    """awake_task, kind by kind; forces and velocities of actuators that sleep become zero, though a refsite may go on;
    tree_cycle. Serial, nothing where who is awake is as it was.
    """
    stale = ti.min(1, d.nstale)
    ti.loop_config(serialize=True)
    for _ in range(stale):
        for kind in range(NTASK):
            first = m.task_adr[kind]
            num = m.task_adr[kind + 1] - first
            n = 0
            for k in range(d.nworld * num):
                if is_awake(m, d, kind, k // num, k % num):
                    d.awake_task[d.nworld * first + n] = k
                    n += 1
                elif kind == TASK_ACTUATOR:
                    d.actuator_force[k] = 0.0
                    d.actuator_velocity[k] = 0.0
                elif kind == TASK_DRIVEN:
                    d.qfrc_actuator[k // num * m.nv + m.driven_dof[k % num]] = 0.0
            d.task_num[kind] = n
        for t in range(d.nworld * m.ntree):
            d.tree_cycle[t] = -1
        for t in range(d.nworld * m.ntree):
            at = t
            while d.tree_asleep[at] >= 0 and d.tree_cycle[at] < 0 and not is_gone(m, d, at):
                d.tree_cycle[at] = t
                at = t // m.ntree * m.ntree + d.tree_asleep[at]


@kernel
def wake_by_tendons(m, d):
    """Islands that a tendon at its limit, or with friction, ties to a tree which is awake wake up, and count down as it
    does; serial. d.nwoken grows by those that did.
    """
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = ti.select(d.ntawake < d.nworld * m.ntree, d.nworld * m.ntie, 0)
        woken = 0
        for k in range(n):
            w = k // m.ntie
            i = m.tie_tendon[k % m.ntie]
            s = w * m.ntree + m.tendon_treeid[i][0]
            t = w * m.ntree + m.tendon_treeid[i][1]
            if slept(m, d, s) != slept(m, d, t):
                binds = m.tendon_frictionloss[i] > 0.0
                if m.tendon_limited[i] != 0:
                    for side in range(2):
                        binds = binds or side_of(m, d, w, i, side) < m.tendon_margin[i]
                if binds:
                    if slept(m, d, s):
                        woken += wake_island(m, d, s, d.tree_asleep[t])
                    else:
                        woken += wake_island(m, d, t, d.tree_asleep[s])
        d.nwoken = d.nwoken + woken


@kernel
def wake_by_equalities(m, d):
    """Islands that an equality which acts ties to something awake, or to another sleeping island, wake up wide awake;
    serial. d.nwoken grows by those that did.
    """
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = ti.select(d.ntawake < d.nworld * m.ntree, d.nworld * m.neq, 0)
        woken = 0
        for k in range(n):
            o = k // m.neq * m.ntree
            e = k % m.neq
            first = m.eq_treeadr[e]
            last = m.eq_treeadr[e + 1]
            if d.eq_active[k] != 0 and last - first > 1:
                sleeping = 0
                differ = False
                cycle = -2
                for x in range(first, last):
                    own = -1  # of what is awake
                    if m.eq_tree[x] >= 0:
                        if slept(m, d, o + m.eq_tree[x]):
                            sleeping += 1
                            if d.tree_woken[o + m.eq_tree[x]] == 0:
                                own = d.tree_cycle[o + m.eq_tree[x]]
                    differ = differ or (cycle != -2 and own != cycle)
                    cycle = own
                if sleeping > 0 and (differ or sleeping < last - first):
                    for x in range(first, last):
                        if m.eq_tree[x] >= 0:
                            if slept(m, d, o + m.eq_tree[x]):
                                woken += wake_island(m, d, o + m.eq_tree[x], AWAKE)
        d.nwoken = d.nwoken + woken
