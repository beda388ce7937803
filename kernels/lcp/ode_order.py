"""A step in the order of ODE's QuickStep, by one thread: order="ode".

Bodies and contacts of an island stand as ODE's search finds them: from the body made last, whose joints are asked from
the one attached last. A sweep goes over all normals, then over all tangents. The shuffle of rows that ODE makes at its
eighth iteration and each eighth after it is not made.
"""

from ..rotation import at3
from ..types import func, kernel, ti
from .bodies import BODY_SIZE, WAY, begin_body, next_substep
from .contacts import (
    ANGULAR1,
    ANGULAR2,
    BOUNCE,
    DEPTH,
    EASING,
    IMPULSE,
    INVERSE,
    MU1,
    MU2,
    PAIR_SIZE,
    ROW,
    SCALE1,
    SCALE2,
    SOFT,
    keep_contact,
    rec3,
    record_of,
)
from .poses import end_body
from .records import prepare_contact
from .visits import aim


@kernel
def ode_step(m, d):
    """qpos, qvel and time behind a step; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        order_contacts(m, d)
        for c in range(d.ncon):
            d.lcp_start[c] = 0.0 * d.contact_pos[c]
            d.lcp_middle[c] = d.contact_pos[c]
            d.lcp_easing[c] = 0.0  # ODE has none
        for b in range(d.nworld * m.nbody):
            begin_body(m, d, b)
        for s in range(d.ncon):
            prepare_contact(m, d, s)
        for sub in range(d.lcp_substeps):
            for sweep in range(d.lcp_sweeps):
                for k in range(3 * d.ncon):
                    if k < d.ncon:
                        visit_row(m, d, k, 0)
                    else:
                        visit_row(m, d, (k - d.ncon) // 2, 1 + (k - d.ncon) % 2)
            for b in range(d.nworld * m.nbody):
                next_substep(m, d, b, sub == d.lcp_substeps - 1)
        for s in range(d.ncon):
            keep_contact(m, d, s, d.lcp_order[s])
        for b in range(d.nworld * m.nbody):
            end_body(m, d, b)
        for w in range(d.nworld):
            d.world_time[w] = d.world_time[w] + m.opt.timestep
            d.lcp_warm[w] = 1
        d.nlcp = d.ncon


@func
def order_contacts(m, d):
    """lcp_order: contacts by island, each by a search from the last body."""
    n = d.nworld * m.nbody
    for b in range(n):
        d.lcp_used[b] = -1  # the last contact side of each body
        d.lcp_seen[b] = 0
    for c in range(d.ncon):
        d.lcp_slot[c] = 0
        for side in ti.static(range(2)):
            b = body_of(m, d, c, side)
            if b >= 0:
                d.lcp_next[PAIR_SIZE * c + side] = d.lcp_used[b]
                d.lcp_used[b] = PAIR_SIZE * c + side
    slot = 0
    for k in range(n):
        b = n - 1 - k
        if d.lcp_seen[b] == 1 or m.body_dofnum[b % m.nbody] == 0:
            b = -1
        else:
            d.lcp_seen[b] = 1
        top = 0
        while b >= 0:
            e = d.lcp_used[b]
            while e >= 0:
                c = e // PAIR_SIZE
                if d.lcp_slot[c] == 0:
                    d.lcp_slot[c] = 1
                    d.lcp_order[slot] = c
                    slot += 1
                    other = body_of(m, d, c, 1 - e % PAIR_SIZE)
                    if other >= 0:
                        if d.lcp_seen[other] == 0:
                            d.lcp_seen[other] = 1
                            d.lcp_stack[top] = other
                            top += 1
                e = d.lcp_next[e]
            b = -1
            if top > 0:
                top -= 1
                b = d.lcp_stack[top]
    for c in range(d.ncon):  # nothing moves
        if d.lcp_slot[c] == 0:
            d.lcp_order[slot] = c
            slot += 1


@func
def body_of(m, d, c, side):
    """The moving body on a side of contact c, of all worlds; -1: it does not move."""
    g = d.contact_geom[c]
    b = m.geom_bodyid[ti.select(side == 0, g[0], g[1])]
    return ti.select(m.body_dofnum[b] > 0, d.contact_worldid[c] * m.nbody + b, -1)


@func
def visit_row(m, d, s, e):
    """One row of the contact in slot s: e is 0 for its normal, 1 and 2 for its tangents."""
    o, step = record_of(m, d, s)
    b1, b2 = BODY_SIZE * d.lcp_pair[PAIR_SIZE * s], BODY_SIZE * d.lcp_pair[PAIR_SIZE * s + 1]
    n = rec3(d, o, step, ROW * e)
    g, h = rec3(d, o, step, ANGULAR1 + ROW * e), rec3(d, o, step, ANGULAR2 + ROW * e)
    m1, m2 = d.lcp_rec[o + step * SCALE1], d.lcp_rec[o + step * SCALE2]
    v1, w1 = at3(d.lcp_body, b1), at3(d.lcp_body, b1 + 3)
    v2, w2 = at3(d.lcp_body, b2), at3(d.lcp_body, b2 + 3)
    u = n.dot(m2 * v2 - m1 * v1) + h.dot(w2) - g.dot(w1)
    old = d.lcp_rec[o + step * (IMPULSE + e)]
    target = 0.0 * u
    if e == 0:
        gap = n.dot(m2 * at3(d.lcp_body, b2 + WAY) - m1 * at3(d.lcp_body, b1 + WAY)) - d.lcp_rec[o + step * DEPTH]
        gap += h.dot(at3(d.lcp_body, b2 + WAY + 3)) - g.dot(at3(d.lcp_body, b1 + WAY + 3))
        target = aim(m, d, d.lcp_rec[o + step * BOUNCE], d.lcp_rec[o + step * EASING], gap, u, old)
    new = old + d.lcp_sor * (target - u - d.lcp_rec[o + step * SOFT] * old) * d.lcp_rec[o + step * (INVERSE + e)]
    if e == 0:
        new = ti.max(0.0, new)
    else:
        most = ti.select(e == 1, d.lcp_rec[o + step * MU1], d.lcp_rec[o + step * MU2]) * d.lcp_rec[o + step * IMPULSE]
        new = ti.max(-most, ti.min(most, new))
    d.lcp_rec[o + step * (IMPULSE + e)] = new
    change = new - old
    for c in ti.static(range(3)):
        if m1 > 0.0:
            d.lcp_body[b1 + c] = v1[c] - change * m1 * n[c]
            d.lcp_body[b1 + 3 + c] = w1[c] - change * g[c]
        if m2 > 0.0:
            d.lcp_body[b2 + c] = v2[c] + change * m2 * n[c]
            d.lcp_body[b2 + 3 + c] = w2[c] + change * h[c]
