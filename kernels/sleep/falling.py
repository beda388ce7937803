"""Falling asleep: trees at rest count down, islands that are ready go to sleep at the end of a step.

Seed 003, "Sleeping". As MuJoCo 3.4.0: the velocity that counts is that at the beginning of the step, and an island that
falls asleep is not advanced.
"""

from ..constants import AWAKE, DSBL_ISLAND, NEVER_SLEEPS
from ..types import SERIAL, func, kernel, ti, vec6
from .waking import any_bit


@func
def is_quiet(m, d, w, t):
    """Whether tree t may sleep, is pushed by nobody, and moves more slowly than the tolerance."""
    quiet = NEVER_SLEEPS >> m.tree_sleep_policy[t] & 1 == 0
    if ti.static(m.has.maximal):  # a mocap body that carries it may go on
        quiet = quiet and m.body_mocapid[m.body_rootid[m.tree_bodyadr[t]]] < 0
    if quiet:
        for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
            speed = ti.abs(d.qvel[w * m.nv + k] * m.dof_length[w, k])
            quiet = quiet and (speed < m.opt.sleep_tolerance or speed == 0.0)
            quiet = quiet and not any_bit(d.qfrc_applied[w * m.nv + k])
        for b in range(w * m.nbody + m.tree_bodyadr[t], w * m.nbody + m.tree_bodyadr[t] + m.tree_bodynum[t]):
            for c in ti.static(range(6)):
                quiet = quiet and not any_bit(d.xfrc_applied[b][c])
    return quiet


@func
def lie_down(m, d, w, t):
    """Velocities of tree t become zero."""
    for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
        d.qvel[i] = 0.0
        d.cdof_dot[i] = vec6(0.0)
        d.qfrc_passive[i] = d.qfrc_passive[i] - d.qfrc_damper[i]
        d.qfrc_damper[i] = 0.0
    for b in range(w * m.nbody + m.tree_bodyadr[t], w * m.nbody + m.tree_bodyadr[t] + m.tree_bodynum[t]):
        d.cvel[b] = vec6(0.0)


@func
def is_held(m, d, w):
    """Whether islands are switched off and world w has constraints: who has to sleep with whom is not known then."""
    held = False
    if m.opt.disableflags & DSBL_ISLAND != 0 and d.nefc > 0:
        first, end = 0, d.nisland  # they are in the order of their worlds
        while first < end:
            middle = (first + end) // 2
            if d.island_tree[d.island_treeadr[middle]] // m.ntree < w:
                first = middle + 1
            else:
                end = middle
        if first < d.nisland:
            held = d.island_tree[d.island_treeadr[first]] // m.ntree == w
    return held


@kernel
def count_down(m, d):
    """tree_asleep of trees that are awake, one step nearer to -1 or at its start again; parallel over them."""
    n = d.ntawake
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        wt = d.awake_tree[k]
        w = wt // m.ntree
        asleep = d.tree_asleep[wt]
        if is_held(m, d, w):
            pass
        elif is_quiet(m, d, w, wt - w * m.ntree):
            asleep = ti.min(-1, asleep + 1)
        else:
            asleep = AWAKE
        d.tree_asleep[wt] = asleep


@kernel
def forget_slept(m, d):
    """tree_slept of trees that were awake is 0; parallel over them."""
    n = d.ntawake
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        d.tree_slept[d.awake_tree[k]] = 0


@kernel
def fall_asleep(m, d):
    """Islands, and trees without constraints, all of whose trees are ready go to sleep; serial.

    Each tree of a sleeping island names the next one, the last one the first. d.nslept is how many do.
    """
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = d.ntawake
        slept = 0
        ready = 0
        for k in range(n):
            ready += ti.cast(d.tree_asleep[d.awake_tree[k]] == -1, ti.i32)
        if ready > 0:
            for k in range(d.nisland):
                d.isle_first[k] = -1
            for k in range(n):
                wt = d.awake_tree[k]
                if d.tree_island[wt] >= 0 and d.tree_asleep[wt] < -1:
                    d.isle_first[d.tree_island[wt]] = -2
            for k in range(n):
                wt = d.awake_tree[k]
                w = wt // m.ntree
                t = wt - w * m.ntree
                isle = d.tree_island[wt]
                sleeps = False
                if is_held(m, d, w):
                    pass
                elif isle < 0:
                    sleeps = d.tree_asleep[wt] == -1
                    if sleeps:
                        d.tree_asleep[wt] = t
                elif d.isle_first[isle] != -2:
                    sleeps = True
                    if d.isle_first[isle] == -1:
                        d.isle_first[isle] = t
                    else:
                        d.tree_asleep[w * m.ntree + d.isle_last[isle]] = t
                    d.isle_last[isle] = t
                    d.tree_asleep[wt] = d.isle_first[isle]
                if sleeps:
                    lie_down(m, d, w, t)
                    d.tree_slept[wt] = 1
                    d.nstale = 1
                    slept += 1
        d.nslept = slept
