"""What a loop of a step runs over: all there is, or where the sleep flag is on what is awake.

    n = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        wt = tree_at(m, d, k)

Without the flag, as long as nothing is removed, the place k is the thing itself, and nothing of this is left in the
machine code. The lists are made by lists.py. Where nothing of what poses give is known yet (`nwhole`, `nallbox`), loops
over bodies, objects and boxes run over all, sleepers too. Seed 003, "Sleeping islands".
"""

from ..constants import GONE
from ..types import GPU, func, ti


@func
def is_gone(m, d, wt):
    """Whether world-major tree wt was removed."""
    gone = False
    if ti.static(m.has.gone):
        gone = d.tree_asleep[wt] == GONE
    return gone


@func
def is_body_gone(m, d, w, b):
    """Whether body b of world w was removed with its tree."""
    gone = False
    if ti.static(m.has.gone):
        t = m.body_treeid[b]
        if t >= 0:
            gone = d.tree_asleep[w * m.ntree + t] == GONE
    return gone


@func
def is_geom_gone(m, d, w, g):
    """Whether geom g of world w was removed with its tree."""
    return is_body_gone(m, d, w, m.geom_bodyid[g])


@func
def is_body_asleep(m, d, w, b):
    """Whether body b of world w is one of a tree that sleeps, or has just fallen asleep."""
    asleep = False
    if ti.static(m.has.sleep):
        t = m.body_treeid[b]
        if t >= 0:
            asleep = d.tree_asleep[w * m.ntree + t] >= 0
    return asleep


@func
def is_tree_asleep(m, d, wt):
    """The same of world-major tree wt."""
    asleep = False
    if ti.static(m.has.sleep):
        asleep = d.tree_asleep[wt] >= 0
    return asleep


@ti.func
def world_of(k, n):
    """k // n: the world of place k, where each has n; a single world is spared the division."""
    w = 0
    if k >= n:
        w = k // n
    return w


@func
def tree_count(m, d):
    """Trees of all worlds, or those that are awake."""
    n = d.nworld * m.ntree
    if ti.static(m.has.sleep):
        n = d.ntawake
    return n


@func
def tree_at(m, d, k):
    """World-major tree at place k."""
    wt = k
    if ti.static(m.has.sleep):
        wt = d.awake_tree[k]
    return wt


@func
def share_count(m, d):
    """Turns of a loop over trees on a CPU, which is shared out by bodies: chunks of as many trees would give a worker
    all the long ones, and other trees than loops over bodies do."""
    n = tree_count(m, d)
    if ti.static(not GPU and not m.has.sleep):
        n = d.nworld * m.nbody
    return n


@func
def share_at(m, d, k):
    """(world, tree) that turn k is for, which is that of the tree's first body; tree -1: none."""
    w = 0
    t = -1
    if ti.static(not GPU and not m.has.sleep):
        w = world_of(k, m.nbody)
        b = k - w * m.nbody
        t = m.body_treeid[b]
        if t >= 0:
            if m.tree_bodyadr[t] != b:
                t = -1
    else:
        wt = tree_at(m, d, k)
        w = wt // m.ntree
        t = wt - w * m.ntree
    return w, t


@func
def mover_count(m, d):
    """Turns of a loop over trees that may be advanced, and behind them the worlds, whose time is."""
    return share_count(m, d) + d.nworld


@func
def mover_at(m, d, k):
    """(world, tree) of turn k: tree m.ntree is the world itself, -1 none, or one that fell asleep in this step."""
    n = share_count(m, d)
    w = k - n
    t = m.ntree
    if k < n:
        w, t = share_at(m, d, k)
        if ti.static(m.has.sleep):
            if d.tree_asleep[w * m.ntree + t] >= 0:
                t = -1
    return w, t


@func
def body_count(m, d):
    """Bodies of all worlds, or those that are awake."""
    n = d.nworld * m.nbody
    if ti.static(m.has.sleep):
        n = ti.select(d.nwhole > 0, n, d.nbawake)
    return n


@func
def body_at(m, d, k):
    """World-major body at place k."""
    wb = k
    if ti.static(m.has.sleep):
        if d.nwhole == 0:
            wb = d.awake_body[k]
    return wb


@func
def object_count(m, d):
    """Bodies, geoms and sites of all worlds, or of what is awake."""
    n = d.nworld * (m.nbody + m.ngeom + m.nsite)
    if ti.static(m.has.sleep):
        n = ti.select(d.nwhole > 0, n, d.noawake)
    return n


@func
def object_at(m, d, k):
    """World-major object at place k: bodies, then geoms, then sites of a world."""
    wo = k
    if ti.static(m.has.sleep):
        if d.nwhole == 0:
            wo = d.awake_object[k]
    return wo


@func
def dof_count(m, d):
    """Dofs of all worlds, or those that are awake."""
    n = d.nworld * m.nv
    if ti.static(m.has.sleep):
        n = d.nvawake
    return n


@func
def dof_at(m, d, k):
    """World-major dof at place k."""
    i = k
    if ti.static(m.has.sleep):
        i = d.awake_dof[k]
    return i


@func
def qpos_count(m, d):
    """Numbers of qpos of all worlds, or those of what is awake; all where the user may have written to them."""
    n = d.nworld * m.nq
    if ti.static(m.has.sleep):
        n = ti.select(d.nwritten > 0, n, d.nqawake)
    return n


@func
def qpos_at(m, d, k):
    """World-major place in qpos."""
    i = k
    if ti.static(m.has.sleep):
        if d.nwritten == 0:
            i = d.awake_qpos[k]
    return i


@func
def box_count(m, d):
    """Items of all worlds that have boxes, or those that are awake."""
    n = d.nworld * d.nbox
    if ti.static(m.has.sleep):
        n = ti.select(d.nallbox > 0, n, d.nboxawake)
    return n


@func
def box_at(m, d, k):
    """(world, place in box_item) of item k."""
    w = world_of(k, d.nbox)
    place = k - w * d.nbox
    if ti.static(m.has.sleep):
        if d.nallbox == 0:
            w = d.awake_box[k] // m.nitem
            place = d.awake_box[k] - w * m.nitem
    return w, place


@func
def pair_count(m, d):
    """Listed pairs, or those of which one is awake."""
    n = ti.min(d.ncpair, d.npairmax)
    if ti.static(m.has.sleep):
        n = ti.min(d.nlive, n)
    return n


@func
def pair_at(m, d, k):
    """Pair at place k."""
    p = k
    if ti.static(m.has.sleep):
        p = d.cpair_live[k]
    return p


@func
def limited_count(m, d):
    """Limited joints of all worlds, or those that are awake."""
    n = d.nworld * m.nlimited
    if ti.static(m.has.sleep):
        n = d.nlawake
    return n


@func
def limited_at(m, d, k):
    """World-major place among the limited joints."""
    at = k
    if ti.static(m.has.sleep):
        at = d.awake_limited[k]
    return at


@func
def lossy_count(m, d):
    """Dofs with friction loss of all worlds, or those that are awake."""
    n = d.nworld * m.nfriction
    if ti.static(m.has.sleep):
        n = d.nfawake
    return n


@func
def lossy_at(m, d, k):
    """World-major place among the dofs with friction loss."""
    at = k
    if ti.static(m.has.sleep):
        at = d.awake_lossy[k]
    return at


@func
def task_count(m, d, kind: ti.template(), num):
    """Tasks of a kind, of which a world has num, or those that are awake: loops over tendons, actuators, equalities."""
    n = d.nworld * num
    if ti.static(m.has.sleep):
        n = d.task_num[kind]
    return n


@func
def task_at(m, d, kind: ti.template(), k):
    """World-major place among the tasks of a kind."""
    at = k
    if ti.static(m.has.sleep):
        at = d.awake_task[d.nworld * m.task_adr[kind] + k]
    return at


@func
def is_awake(m, d, kind, w, k):
    """Whether task k of a kind in world w has a tree that is awake, or none at all."""
    awake = True
    if ti.static(m.has.sleep):
        first = m.task_treeadr[m.task_adr[kind] + k]
        last = m.task_treeadr[m.task_adr[kind] + k + 1]
        awake = first == last
        for e in range(first, last):
            awake = awake or d.tree_asleep[w * m.ntree + m.task_tree[e]] < 0
    return awake
