"""What wakes a sleeping island: a pose, velocity or force that the user wrote, contact with a tree that is awake.

Seed 003, "Waking". Times and order are those of MuJoCo 3.4.0: what was written is seen before poses are made, contacts
after collision.
"""

from ..constants import AWAKE, POKED_FORCE, POKED_POSE, POKED_VELOCITY, POKED_WRENCH
from ..lcp.trees import is_shifted
from ..smooth.kinematics import place_of
from ..types import FP, SERIAL, func, kernel, ti
from .awake import is_gone

BITS = ti.i64 if FP == ti.f64 else ti.i32


@ti.func
def any_bit(x):
    """Whether a number is not the zero of all bits zero: -0.0 has one."""
    return ti.bit_cast(x, BITS) != 0


@func
def is_elsewhere(m, d, w, t):
    """Whether a body of sleeping tree t is not where qpos says."""
    differs = False
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        if not differs:
            pos, quat = place_of(m, d, w, b)
            for c in ti.static(range(3)):
                differs = differs or not pos[c] == d.xpos[w * m.nbody + b][c]
            for c in ti.static(range(4)):
                differs = differs or not quat[c] == d.xquat[w * m.nbody + b][c]
    return differs


@kernel
def find_poked(m, d):
    """Sleeping trees that the user moved or pushed, by the bits of d.nwritten; parallel over worlds and trees. Their
    islands then wake, serially.
    """
    n = d.nworld * m.ntree
    written = d.nwritten
    ti.loop_config(serialize=SERIAL)
    for wt in range(n):
        poked = False
        if d.tree_asleep[wt] >= 0 and not is_gone(m, d, wt):
            w = wt // m.ntree
            t = wt - w * m.ntree
            first = w * m.nv + m.tree_dofadr[t]
            if written & POKED_VELOCITY != 0:
                for i in range(first, first + m.tree_dofnum[t]):
                    poked = poked or any_bit(d.qvel[i])
            if written & POKED_FORCE != 0:
                for i in range(first, first + m.tree_dofnum[t]):
                    poked = poked or any_bit(d.qfrc_applied[i])
            if written & POKED_WRENCH != 0:
                for b in range(w * m.nbody + m.tree_bodyadr[t], w * m.nbody + m.tree_bodyadr[t] + m.tree_bodynum[t]):
                    for c in ti.static(range(6)):
                        poked = poked or any_bit(d.xfrc_applied[b][c])
            if written & POKED_POSE != 0 and not poked:
                if ti.static(m.has.maximal):
                    poked = is_shifted(m, d, w, t)
                else:
                    poked = is_elsewhere(m, d, w, t)
        d.tree_poked[wt] = ti.cast(poked, ti.i32)
    ti.loop_config(serialize=True)
    for _ in range(1):
        d.nwritten = 0
        for wt in range(n):
            if d.tree_poked[wt] == 1:
                wake_island(m, d, wt, AWAKE)


@func
def slept(m, d, wt):
    """Whether a tree was asleep when the lists of what is awake were made."""
    return d.tree_asleep[wt] >= 0 or d.tree_woken[wt] == 1


@func
def wake_island(m, d, wt, value):
    """Wakes the sleeping island of a world-major tree, which counts down from a value; returns how many trees woke. One
    that is awake already does not count down from less.
    """
    o = wt // m.ntree * m.ntree
    n = 0
    t = wt
    if d.tree_asleep[t] < 0:
        d.tree_asleep[t] = ti.min(d.tree_asleep[t], value)
    while d.tree_asleep[t] >= 0:
        following = o + d.tree_asleep[t]
        d.tree_asleep[t] = value
        d.tree_woken[t] = 1
        t = following
        n += 1
    if n > 0:
        d.nstale = 1
    return n


@kernel
def wake_by_contacts(m, d, acting: ti.i32):
    """Islands that touch a tree which is awake wake up, and count down as it does; serial. d.nwoken grows by those
    that did.

    acting  1: only contacts that make force count, 0: all that are listed.
    """
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = ti.select(d.ntawake < d.nworld * m.ntree, ti.min(d.ncon, d.nconmax), 0)
        woken = 0
        for c in range(n):
            o = d.contact_worldid[c] * m.ntree
            s = m.geom_treeid[d.contact_geom[c][0]]
            t = m.geom_treeid[d.contact_geom[c][1]]
            if s >= 0 and t >= 0 and (acting == 0 or d.contact_exclude[c] == 0):
                if slept(m, d, o + s) and not slept(m, d, o + t):
                    woken += wake_island(m, d, o + s, d.tree_asleep[o + t])
                elif slept(m, d, o + t) and not slept(m, d, o + s):
                    woken += wake_island(m, d, o + t, d.tree_asleep[o + s])
        d.nwoken = d.nwoken + woken
