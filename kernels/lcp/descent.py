"""Which laws of a tree are at which bounds, where asking all of them at once (laws.py) turns in a circle.

Velocities are the minimum of 1/2 |v - v*|^2 + sum psi(J v), psi' = -f for the law f(u) of each row: convex, quadratic
by pieces. What is solved with the pieces of a point is Newton's step from there; the next point is the lowest on that
way, so that this ends, at the minimum. A point is kept by the velocity u and impulse p of each row, along which the
slope is the sum of (p - f(u)) du: rows that hold the joint are fulfilled at both ends. Nothing moves to the point;
only pieces are chosen there.
"""

from ..types import FP, called, func, ti
from .joints import BIAS, IMPULSE, JOINT_SIZE, POINT_P, POINT_U, SOFT, SOLVED_U
from .laws import COUNT, FIRST, LAW, LAW_SIZE, MODE, impulse_at, pieces_within, rebind_row, velocity_along

HALVINGS = 60
LEVEL = 1e-9  # slope by that where the way begins, at which it is no more than rounding


@called("maximal")
def descend_tree(m, d, wt: ti.i32, first: ti.i32) -> ti.i32:
    """How many rows of a tree are others now, by the lowest point on the way to what was solved last; first 1: by that
    itself. 0: it is the minimum; -1: numbers do not tell the way."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    begin, end = m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]
    wrong, changed = 0, 0
    for b in range(begin, end):
        wb = w * m.nbody + b
        for e in range(d.lcp_nlaw[wb]):
            r = d.lcp_nrow[wb] + e
            o, L = JOINT_SIZE * wb, LAW_SIZE * wb + LAW * e
            d.lcp_joint[o + SOLVED_U + r] = solved_velocity(m, d, w, b, r)
            wrong += ti.cast(pieces_within(m, d, w, b, r) != d.lcp_law[L + MODE], ti.i32)
    if wrong > 0:
        low, high = FP(1.0), FP(1.0)
        if first == 0 and slope_at(m, d, w, begin, end, FP(1.0)) > LEVEL * ti.abs(
            slope_at(m, d, w, begin, end, FP(0.0))
        ):
            low = 0.0
            for _ in range(HALVINGS):
                a = 0.5 * (low + high)
                if slope_at(m, d, w, begin, end, a) <= 0.0:
                    low = a
                else:
                    high = a
        for b in range(begin, end):
            for e in range(d.lcp_nlaw[w * m.nbody + b]):
                changed += go_on(m, d, w, b, d.lcp_nrow[w * m.nbody + b] + e, low, high)
        if changed == 0:
            changed = -1
    return changed


@func
def solved_velocity(m, d, w, b, r):
    """J u of row r of body b as it was solved; where a stiff law is between its bounds, impulses tell it best."""
    o = JOINT_SIZE * (w * m.nbody + b)
    u = d.lcp_joint[o + BIAS + r] - d.lcp_joint[o + SOFT + r] * d.lcp_joint[o + IMPULSE + r]
    if d.lcp_joint[o + SOFT + r] < 0.0:
        u = velocity_along(m, d, w, b, r)
    return u


@func
def slope_at(m, d, w, begin, end, a):
    """What is minimal, by the part a of the way that bodies begin to end - 1 have come."""
    slope = FP(0.0)
    for b in range(begin, end):
        wb = w * m.nbody + b
        o = JOINT_SIZE * wb
        for e in range(d.lcp_nlaw[wb]):
            r = d.lcp_nrow[wb] + e
            u, p = d.lcp_joint[o + POINT_U + r], d.lcp_joint[o + POINT_P + r]
            du = d.lcp_joint[o + SOLVED_U + r] - u
            p += a * (d.lcp_joint[o + IMPULSE + r] - p)
            slope += (p - impulse_at(m, d, LAW_SIZE * wb + LAW * e, u + a * du)) * du
    return slope


@func
def go_on(m, d, w, b, r, low, high):
    """1 if row r of body b has other pieces between the parts low and high of the way, where its point is now."""
    wb = w * m.nbody + b
    o, L = JOINT_SIZE * wb, LAW_SIZE * wb + LAW * (r - d.lcp_nrow[wb])
    u, p = d.lcp_joint[o + POINT_U + r], d.lcp_joint[o + POINT_P + r]
    u1, p1 = d.lcp_joint[o + SOLVED_U + r], d.lcp_joint[o + IMPULSE + r]
    mode, power, left = FP(0.0), FP(1.0), d.lcp_law[L + MODE]
    for n in range(ti.cast(d.lcp_law[L + COUNT], ti.i32)):
        at = L + FIRST + 4 * n
        digit = left - 3.0 * ti.floor(left / 3.0)
        left = ti.floor(left / 3.0)
        v, k, lo, hi = d.lcp_law[at], d.lcp_law[at + 1], d.lcp_law[at + 2], d.lcp_law[at + 3]
        if lo != hi:
            force = solved_force(m, d, w, b, r, n, digit)
            least, most = force, force
            if low < 1.0 and (digit != 0.0 or force >= hi or force <= lo):
                one, two = k * (v - (u + low * (u1 - u))), k * (v - (u + high * (u1 - u)))
                least, most = ti.min(one, two), ti.max(one, two)
            if least >= hi:
                mode += power
            elif most <= lo:
                mode += 2.0 * power
        power *= 3.0
    if low == 1.0:
        d.lcp_joint[o + POINT_U + r], d.lcp_joint[o + POINT_P + r] = u1, p1
    else:
        d.lcp_joint[o + POINT_U + r] = u + low * (u1 - u)
        d.lcp_joint[o + POINT_P + r] = p + low * (p1 - p)
    return rebind_row(m, d, w, b, r, mode)


@func
def solved_force(m, d, w, b, r, n, digit):
    """What law n of row r of body b would do without bounds as that was solved: its part of the impulse where it is
    between them."""
    wb = w * m.nbody + b
    o, L = JOINT_SIZE * wb, LAW_SIZE * wb + LAW * (r - d.lcp_nrow[wb])
    at = L + FIRST + 4 * n
    v, k = d.lcp_law[at], d.lcp_law[at + 1]
    force = k * (v - d.lcp_joint[o + SOLVED_U + r])
    if digit == 0.0:
        force, left = d.lcp_joint[o + IMPULSE + r], d.lcp_law[L + MODE]
        for i in range(ti.cast(d.lcp_law[L + COUNT], ti.i32)):
            of = L + FIRST + 4 * i
            place = left - 3.0 * ti.floor(left / 3.0)
            left = ti.floor(left / 3.0)
            if place == 1.0:
                force -= d.lcp_law[of + 3]
            elif place == 2.0 or d.lcp_law[of + 2] == d.lcp_law[of + 3]:
                force -= d.lcp_law[of + 2]
            else:
                force -= d.lcp_law[of + 1] * (d.lcp_law[of] - v)
        force *= k * d.lcp_joint[o + SOFT + r]
    return force


@called("maximal")
def bound_tree(m, d, wt: ti.i32) -> ti.i32:
    """How many rows of a tree are others now, where what is beyond its bounds stays at them: nothing comes back, so
    that this ends, and a limit never pulls."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    changed = 0
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        wb = w * m.nbody + b
        for e in range(d.lcp_nlaw[wb]):
            changed += stay_bound(m, d, w, b, d.lcp_nrow[wb] + e)
    return changed


@func
def stay_bound(m, d, w, b, r):
    """1 if something along row r of body b was solved beyond its bounds, at which it is now."""
    wb = w * m.nbody + b
    L = LAW_SIZE * wb + LAW * (r - d.lcp_nrow[wb])
    mode, power, left = d.lcp_law[L + MODE], FP(1.0), d.lcp_law[L + MODE]
    for n in range(ti.cast(d.lcp_law[L + COUNT], ti.i32)):
        at = L + FIRST + 4 * n
        digit = left - 3.0 * ti.floor(left / 3.0)
        left = ti.floor(left / 3.0)
        if digit == 0.0 and d.lcp_law[at + 2] != d.lcp_law[at + 3]:
            force = solved_force(m, d, w, b, r, n, digit)
            if force > d.lcp_law[at + 3]:
                mode += power
            elif force < d.lcp_law[at + 2]:
                mode += 2.0 * power
        power *= 3.0
    return rebind_row(m, d, w, b, r, mode)
