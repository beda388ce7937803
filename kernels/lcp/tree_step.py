"""A step of the second dynamics where bodies have joints: contacts are swept, connects and welds, too, the rows of each
tree solved at once."""

from ..constants import HEAD_COLORS
from ..rotation import at4
from ..sleep.awake import is_tree_asleep, tree_at, tree_count
from ..sort import first_from
from ..team import crew, join, meet, own_part, share
from ..types import ABREAST, FP, HAND, SERIAL, func, kernel, ti
from .bodies import MIDPOINT, SCALE_SIZE, clear_body, next_substep, turn_body
from .contacts import (
    ANGULAR1,
    PAIR_SIZE,
    ROW,
    SCALE1,
    SCALE2,
    SIDE,
    SOFT,
    keep_contact,
    record_of,
)
from .elimination import fulfil_tree
from .joints import POSE_SIZE, along_principal, place_tree
from .lists import begin_with_lists, loop_at
from .loops import measure_loop, sweep_loops
from .records import prepare_contacts, put_block
from .search import advance_velocity, begin_search, begin_way, keep_velocity, search
from .step import backwards, note_step, start_color, sweep_color
from .trees import begin_tree, end_tree, rest_tree

AS_CONTACTS = 4  # so many take as long as one body of a tree


@kernel
def tree_step(m, d):
    """qpos, qvel and time behind a step; d.nhand workers share it, d.nworker at most in a team."""
    ti.static(ABREAST)
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, tree_work)


@func
def tree_work(m, d, hand):
    """A worker's part."""
    me, size = join(m, d, d.nworker)
    if me < size:
        begin_with_lists(m, d, me, size)
        advance_trees(m, d, me, size)


@func
def advance_trees(m, d, me, size):
    """Bodies, records, substeps, poses; nobody reads what another writes before the next meeting.

    In a substep the rows of all trees are solved, then in turn contacts swept and these rows solved again: a contact
    would else see bodies that fall without what holds them.
    """
    ncon = d.ncon
    ncolor = ti.select(ncon > 0, d.lcp_head[HEAD_COLORS], 0)
    nloop = 0
    if ti.static(m.has.loops):
        nloop = d.lcp_eq_head[HEAD_COLORS]
    first, behind = own_part(m, d, tree_count(m, d), me, size)
    mine, end = own_part(m, d, ncon, me, size)
    begin_trees(m, d, first, behind, me, size)
    meet(m, d, me, size)
    prepare_contacts(m, d, me, size)
    meet(m, d, me, size)
    for color in range(ncolor):  # contacts do what they did in the last step
        start_color(m, d, color, me, size)
        meet(m, d, me, size)
    for sub in range(1, d.lcp_substeps + 1):
        if sub > 1 and ncon > 0 and d.lcp_rotation == MIDPOINT:
            meet(m, d, me, size)
            for s in range(mine, end):
                turn_contact(m, d, s)
        if ti.static(m.has.loops):
            begin_loops(m, d, nloop, first, behind, me, size)
        squares = FP(0.0)
        for sweep in range(d.lcp_sweeps + 1):
            if sweep > 0:
                sweep_all(m, d, ncolor, nloop, backwards(d, sub), me, size)
            if ti.static(m.has.accelerated):
                squares = accelerate_trees(m, d, sweep, squares, first, behind, me, size)
            if sweep == 0 or ncolor + nloop > 0:
                fulfil_trees(m, d, sweep, sub, first, behind)
                meet(m, d, me, size)
        for k in range(first, behind):
            next_of_tree(m, d, tree_at(m, d, k), sub == d.lcp_substeps)
    for c in range(mine, end):
        keep_contact(m, d, d.lcp_slot[c], c)
    end_trees(m, d, first, behind, me, size)
    note_step(m, d, ncon + AS_CONTACTS * d.nworld * m.nbody, me, size)


@func
def begin_trees(m, d, first, behind, me, size):
    """What a step begins with, of the trees from place `first` to `behind`, and of a worker's part of what has none."""
    for b in range(d.nworld * m.nbody):
        if b % size == me and m.body_treeid[b % m.nbody] < 0:
            clear_body(m, d, b)
    for k in range(first, behind):
        t = tree_at(m, d, k)
        if is_tree_asleep(m, d, t):
            rest_tree(m, d, t)
        else:
            begin_tree(m, d, t)


@func
def begin_loops(m, d, nloop, first, behind, me, size):
    """Rows of connects and welds in a substep, which do what they did in the last one."""
    for k in range(first, behind):
        if not is_tree_asleep(m, d, tree_at(m, d, k)):
            place_tree(m, d, tree_at(m, d, k))
    meet(m, d, me, size)
    for color in range(nloop):
        sweep_loops(m, d, color, 1, me, size)
        meet(m, d, me, size)


@func
def sweep_all(m, d, ncolor, nloop, back, me, size):
    """A sweep over all contacts, then over all connects and welds."""
    for color in range(ncolor):
        sweep_color(m, d, color, back, me, size)
        meet(m, d, me, size)
    if ti.static(m.has.loops):
        for color in range(nloop):
            sweep_loops(m, d, color, 0, me, size)
            meet(m, d, me, size)


@func
def accelerate_trees(m, d, sweep, squares, first, behind, me, size):
    """A step of the search for impulses behind a sweep; its sum of squares, of the last one `squares`."""
    found = squares
    if sweep == 0:
        begin_search(m, d, me, size)
    elif sweep < d.lcp_sweeps:
        now, part, goes = search(m, d, squares, me, size)
        found = now
        for k in range(first, behind):
            advance_tree(m, d, tree_at(m, d, k), part, goes)
    return found


@func
def fulfil_trees(m, d, sweep, sub, first, behind):
    """The rows of trees, solved behind a sweep where contacts, connects or welds have acted on them."""
    for k in range(first, behind):
        t = tree_at(m, d, k)
        if not is_tree_asleep(m, d, t) and (sweep == 0 or d.nworld == 1 or is_swept(m, d, t // m.ntree)):
            fulfil_tree(m, d, t, ti.select(sweep == 0, 1 + ti.cast(sub == 1, ti.i32), 0))
        if ti.static(m.has.accelerated):
            keep_tree(m, d, t, ti.cast(sweep == 0, ti.i32))


@func
def end_trees(m, d, first, behind, me, size):
    """Poses and velocities behind a step; then the drift of connects and welds, a worker's part."""
    for k in range(first, behind):
        if not is_tree_asleep(m, d, tree_at(m, d, k)):
            end_tree(m, d, tree_at(m, d, k))
    if ti.static(m.has.loops):
        meet(m, d, me, size)
        mine, end = share(d.nworld * m.neqpose, me, size)
        for i in range(mine, end):
            measure_loop(m, d, loop_at(m, d, i))


@func
def is_swept(m, d, w):
    """Whether world w has contacts, or connects and welds that act; else the rows of its trees stay fulfilled, and it
    gets the bits that it gets alone."""
    first = first_from(d.contact_worldid, 0, 1, d.ncon, w)
    swept = False
    if first < d.ncon:
        swept = d.contact_worldid[first] == w
    if ti.static(m.has.loops):
        for i in range(m.neqpose):
            if d.lcp_eq_nrow[w * m.neq + m.eq_pose[i]] > 0:
                swept = True
    return swept


@func
def next_of_tree(m, d, wt, last):
    """next_substep of the bodies of a tree; those that it turns are in lcp_now."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    first = m.tree_bodyadr[t]
    for b in range(first, first + m.tree_bodynum[t]):
        wb = w * m.nbody + b
        if d.lcp_rotation != MIDPOINT:
            next_substep(m, d, wb, last)
        elif not is_tree_asleep(m, d, wt):
            quat = turn_body(m, d, wb, at4(d.lcp_now, POSE_SIZE * wb + 3), last)
            for c in ti.static(range(4)):
                d.lcp_now[POSE_SIZE * wb + 3 + c] = quat[c]


@func
def turn_contact(m, d, s):
    """Angular rows of the contact in slot s, whose arms stay, along the axes of bodies that have turned."""
    k = d.lcp_order[s]
    o, step = record_of(m, d, s)
    for side in ti.static(range(2)):
        wb = d.lcp_pair[PAIR_SIZE * s + side]
        if d.lcp_rec[o + step * (SCALE1 + side)] > 0.0:
            w = d.contact_worldid[k]
            arm = d.lcp_middle[k] - d.xipos[wb]
            for e in ti.static(range(3)):
                y = along_principal(m, d, w, wb - w * m.nbody, arm.cross(d.contact_frame[k, e]))
                for c in ti.static(range(3)):
                    place = o + step * (ANGULAR1 + SIDE * side + ROW * e + c)
                    d.lcp_rec[place] = d.lcp_scale[SCALE_SIZE * wb + 1 + c] * y[c]
    a = [d.lcp_rec[o + step * (ANGULAR1 + e)] for e in ti.static(range(2 * SIDE))]
    m1, m2 = d.lcp_rec[o + step * SCALE1], d.lcp_rec[o + step * SCALE2]
    put_block(d, o, step, a, m1, m2, d.lcp_rec[o + step * SOFT], 1)


@func
def advance_tree(m, d, wt, part, goes):
    """advance_velocity of the bodies of a tree."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    first = m.tree_bodyadr[t]
    for b in range(first, first + m.tree_bodynum[t]):
        advance_velocity(m, d, w * m.nbody + b, part, goes)


@func
def keep_tree(m, d, wt, begins):
    """begin_way of the bodies of a tree, or keep_velocity."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    first = m.tree_bodyadr[t]
    for b in range(first, first + m.tree_bodynum[t]):
        if begins == 1:
            begin_way(m, d, w * m.nbody + b)
        else:
            keep_velocity(m, d, w * m.nbody + b)
