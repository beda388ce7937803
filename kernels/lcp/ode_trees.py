"""A step of bodies with joints, connects and welds in the order of ODE's QuickStep, by one thread: order="ode".

ODE would have made joints in the order of their bodies, then connects and welds, in each step then the contacts. Its
search for islands begins with the body made last and asks each for its joints from the one made last: contacts,
equalities, joints. A sweep goes over all rows in that order but for tangents of contacts, which come behind. A joint's
rows are visited one by one: those that hold it, then, each for itself, what acts along its motions (laws.py).
"""

from ..types import FP, func, kernel, ti
from .bodies import BODY_SIZE, MIDPOINT, TWIST_SIZE, clear_body
from .contacts import PAIR_SIZE, keep_contact
from .joints import BIAS, CHILD, IMPULSE, JOINT_SIZE, PARENT, ROW, SOFT, joint_rows, mixed_rows, place_tree
from .laws import COUNT, FIRST, GAMMA, LAW, LAW_SIZE, MOST, law_rows
from .lists import ENDS, EQ_ROWS, find_loop, loop_at
from .loops import BIAS as LOOP_BIAS
from .loops import LOOP_SIZE, SIDE, begin_loop, measure_loop
from .loops import SOFT as LOOP_SOFT
from .motions import is_mixed
from .ode_order import visit_row
from .records import prepare_contact
from .tree_step import next_of_tree, turn_contact
from .trees import begin_tree, end_tree

LINK_SIZE = 4  # of an item: the next of both its bodies, whether it was found (a contact: slot and 1), the next of all
SEEN, THEN = 2, 3
PULL_ROW = MOST + 1  # impulses of what acts along a motion
PULL_SIZE = 3 * PULL_ROW  # of a body's


@kernel
def ode_tree_step(m, d):
    """qpos, qvel and time behind a step; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        nloop = 0
        if ti.static(m.has.loops):
            nloop = d.nworld * m.neqpose
            for i in range(nloop):
                find_loop(m, d, loop_at(m, d, i))
        for b in range(d.nworld * m.nbody):
            if m.body_treeid[b % m.nbody] < 0:
                clear_body(m, d, b)
        for t in range(d.nworld * m.ntree):
            begin_tree(m, d, t)
        begin = order_items(m, d)
        for c in range(d.ncon):
            d.lcp_start[c] = 0.0 * d.contact_pos[c]
            d.lcp_middle[c] = d.contact_pos[c]
            d.lcp_easing[c] = 0.0  # ODE has none
        for s in range(d.ncon):
            prepare_contact(m, d, s)
        for sub in range(d.lcp_substeps):
            for s in range(ti.select(sub > 0 and d.lcp_rotation == MIDPOINT, d.ncon, 0)):
                turn_contact(m, d, s)
            for t in range(d.nworld * m.ntree):
                open_rows(m, d, t)
            if ti.static(m.has.loops):
                for i in range(nloop):
                    k = loop_at(m, d, i)
                    for r in range(d.lcp_eq_nrow[k]):
                        d.lcp_eq_impulse[EQ_ROWS * k + r] = 0.0
                    begin_loop(m, d, k)
            for sweep in range(d.lcp_sweeps):
                item = begin
                while item >= 0:
                    visit_item(m, d, item)
                    item = link(m, d, item, THEN)
                for k in range(2 * d.ncon):
                    visit_row(m, d, k // 2, 1 + k % 2)
            for t in range(d.nworld * m.ntree):
                next_of_tree(m, d, t, sub == d.lcp_substeps - 1)
        for s in range(d.ncon):
            keep_contact(m, d, s, d.lcp_order[s])
        for t in range(d.nworld * m.ntree):
            end_tree(m, d, t)
        if ti.static(m.has.loops):
            for i in range(nloop):
                measure_loop(m, d, loop_at(m, d, i))
        for w in range(d.nworld):
            d.world_time[w] = d.world_time[w] + m.opt.timestep
            d.lcp_warm[w] = 1
        d.nlcp = d.ncon


@func
def open_rows(m, d, wt):
    """Rows of a tree where its bodies are now, without impulses."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    place_tree(m, d, wt)
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        wb = w * m.nbody + b
        if is_mixed(m, b):
            mixed_rows(m, d, w, b)
        else:
            joint_rows(m, d, w, b)
        n = law_rows(m, d, w, b)
        d.lcp_nlaw[wb] = n
        for e in range(6):
            d.lcp_joint[JOINT_SIZE * wb + IMPULSE + e] = 0.0
        for e in range(PULL_SIZE):
            d.lcp_pull[PULL_SIZE * wb + e] = 0.0


@func
def link(m, d, item, k):
    """Number k of an item: joints of bodies come first, then equalities, then contacts."""
    nb, ne, out = d.nworld * m.nbody, d.nworld * m.neq, 0
    if item < nb:
        out = d.lcp_link_joint[LINK_SIZE * item + k]
    elif item < nb + ne:
        out = d.lcp_link_eq[LINK_SIZE * (item - nb) + k]
    else:
        out = d.lcp_link[LINK_SIZE * (item - nb - ne) + k]
    return out


@func
def set_link(m, d, item, k, value):
    """Writes it."""
    nb, ne = d.nworld * m.nbody, d.nworld * m.neq
    if item < nb:
        d.lcp_link_joint[LINK_SIZE * item + k] = value
    elif item < nb + ne:
        d.lcp_link_eq[LINK_SIZE * (item - nb) + k] = value
    else:
        d.lcp_link[LINK_SIZE * (item - nb - ne) + k] = value


@func
def end_of(m, d, item, side):
    """The moving body on a side of an item, of all worlds; -1: it does not move, or the item is none."""
    nb, ne = d.nworld * m.nbody, d.nworld * m.neq
    b = 0
    if item < nb:
        w = item // m.nbody
        b = ti.select(side == 0, w * m.nbody + m.body_parentid[item - w * m.nbody], item)
        if not is_held(m, item - w * m.nbody):
            b = 0
    elif item < nb + ne:
        b = d.lcp_eq_body[ENDS * (item - nb) + side]
        if d.lcp_eq_nrow[item - nb] == 0:
            b = 0
    else:
        c = item - nb - ne
        g = d.contact_geom[c]
        b = d.contact_worldid[c] * m.nbody + m.geom_bodyid[ti.select(side == 0, g[0], g[1])]
    return ti.select(m.body_treeid[b % m.nbody] >= 0, b, -1)


@func
def is_held(m, b):
    """Whether rows hold body b to its parent."""
    held = m.body_treeid[b] >= 0
    if m.body_jntnum[b] > 0:
        held = held and m.body_dofnum[b] < 6
    return held


@func
def order_items(m, d):
    """Items by island, each by a search from the last body, linked; lcp_order: slots of contacts. Returns the first."""
    nb, ne = d.nworld * m.nbody, d.nworld * m.neq
    n = nb + ne + d.ncon
    for b in range(nb):
        d.lcp_used[b] = -1  # the last item's side of each body
        d.lcp_seen[b] = 0
    for item in range(n):
        set_link(m, d, item, SEEN, 0)
        set_link(m, d, item, THEN, -1)
        for side in range(2):
            b = end_of(m, d, item, side)
            if b >= 0:
                set_link(m, d, item, side, d.lcp_used[b])
                d.lcp_used[b] = PAIR_SIZE * item + side
    slot, begin, last = 0, -1, -1
    for k in range(nb):
        b = nb - 1 - k
        if d.lcp_seen[b] == 1 or m.body_treeid[b % m.nbody] < 0:
            b = -1
        else:
            d.lcp_seen[b] = 1
        top = 0
        while b >= 0:
            e = d.lcp_used[b]
            while e >= 0:
                item = e // PAIR_SIZE
                if link(m, d, item, SEEN) == 0:
                    set_link(m, d, item, SEEN, 1)
                    if item >= nb + ne:
                        d.lcp_order[slot] = item - nb - ne
                        slot += 1
                        set_link(m, d, item, SEEN, slot)
                    if last >= 0:
                        set_link(m, d, last, THEN, item)
                    else:
                        begin = item
                    last = item
                    other = end_of(m, d, item, 1 - e % PAIR_SIZE)
                    if other >= 0:
                        if d.lcp_seen[other] == 0:
                            d.lcp_seen[other] = 1
                            d.lcp_stack[top] = other
                            top += 1
                e = link(m, d, item, e % PAIR_SIZE)
            b = -1
            if top > 0:
                top -= 1
                b = d.lcp_stack[top]
    for c in range(d.ncon):  # nothing moves
        if link(m, d, nb + ne + c, SEEN) == 0:
            d.lcp_order[slot] = c
            slot += 1
    return begin


@func
def visit_item(m, d, item):
    """One visit of each row of an item, but for tangents."""
    nb, ne = d.nworld * m.nbody, d.nworld * m.neq
    if item >= nb + ne:
        visit_row(m, d, link(m, d, item, SEEN) - 1, 0)
    elif item >= nb:
        if ti.static(m.has.loops):
            visit_equality(m, d, item - nb)
    else:
        visit_joint(m, d, item)


@func
def visit_joint(m, d, wb):
    """The rows of body wb of all worlds."""
    w = wb // m.nbody
    parent = w * m.nbody + m.body_parentid[wb - w * m.nbody]
    o, n = JOINT_SIZE * wb, d.lcp_nrow[wb]
    for r in range(n + d.lcp_nlaw[wb]):
        row = o + ROW * r
        if r < n:
            old = d.lcp_joint[o + IMPULSE + r]
            soft = d.lcp_joint[o + SOFT + r]
            gamma = FP(0.0)
            for e in range(6):
                gamma += d.lcp_joint[row + PARENT + e] ** 2 + d.lcp_joint[row + CHILD + e] ** 2
            rest = d.lcp_joint[o + BIAS + r] - joint_speed(m, d, row, parent, wb) - soft * old
            change = d.lcp_sor * rest / (gamma + soft)
            d.lcp_joint[o + IMPULSE + r] = old + change
            push_joint(m, d, row, parent, wb, change)
        else:
            L = LAW_SIZE * wb + LAW * (r - n)
            for k in range(ti.cast(d.lcp_law[L + COUNT], ti.i32)):
                at, p = L + FIRST + 4 * k, PULL_SIZE * wb + PULL_ROW * (r - n) + k
                old = d.lcp_pull[p]
                soft = 1.0 / d.lcp_law[at + 1]
                rest = d.lcp_law[at] - joint_speed(m, d, row, parent, wb) - soft * old
                new = old + d.lcp_sor * rest / (d.lcp_law[L + GAMMA] + soft)
                new = ti.min(ti.max(new, d.lcp_law[at + 2]), d.lcp_law[at + 3])
                d.lcp_pull[p] = new
                push_joint(m, d, row, parent, wb, new - old)


@func
def joint_speed(m, d, row, parent, wb):
    """J u of the row of a joint that begins there."""
    u = FP(0.0)
    for e in range(6):
        u += d.lcp_joint[row + PARENT + e] * d.lcp_body[BODY_SIZE * parent + e]
        u += d.lcp_joint[row + CHILD + e] * d.lcp_body[BODY_SIZE * wb + e]
    return u


@func
def push_joint(m, d, row, parent, wb, p):
    """An impulse along it."""
    for e in range(6):
        push_body(m, d, wb, e, d.lcp_joint[row + CHILD + e] * p)
        if m.body_treeid[parent % m.nbody] >= 0:
            push_body(m, d, parent, e, d.lcp_joint[row + PARENT + e] * p)


@func
def push_body(m, d, wb, e, change):
    """Changes a velocity by what is no contact's, so that it is not carried into the next substep."""
    d.lcp_body[BODY_SIZE * wb + e] = d.lcp_body[BODY_SIZE * wb + e] + change
    d.lcp_from[TWIST_SIZE * wb + e] = d.lcp_from[TWIST_SIZE * wb + e] + change


@func
def visit_equality(m, d, k):
    """The rows of equality k of all worlds."""
    o = LOOP_SIZE * k
    for r in range(d.lcp_eq_nrow[k]):
        old = d.lcp_eq_impulse[EQ_ROWS * k + r]
        soft, gamma = d.lcp_eq[o + LOOP_SOFT], FP(0.0)
        rest = d.lcp_eq[o + LOOP_BIAS + r] - soft * old
        for side in range(2):
            u = BODY_SIZE * d.lcp_eq_body[ENDS * k + side]
            for e in range(6):
                x = d.lcp_eq[o + SIDE * side + ROW * r + e]
                gamma += x * x
                rest -= x * d.lcp_body[u + e]
        change = d.lcp_sor * rest / (gamma + soft)
        d.lcp_eq_impulse[EQ_ROWS * k + r] = old + change
        for side in range(2):
            wb = d.lcp_eq_body[ENDS * k + side]
            if m.body_treeid[wb % m.nbody] >= 0:
                for e in range(6):
                    push_body(m, d, wb, e, d.lcp_eq[o + SIDE * side + ROW * r + e] * change)
