"""Small islands of hard contacts by Lemke's pivots on the seed's matrix (002), behind the sweeps: m.lcp.direct.

Unknown are of each contact beta >= 0 along the lcp_eta corners d_k of its polygon, the normal impulse p, and lambda; u
is its velocity behind the substep, b the least normal one:

    d_k . u + lambda >= 0    beta_k >= 0
    n . u >= b               p >= 0
    mu p >= sum beta         lambda >= 0       in each line, one of both is 0

Pivots with a covering vector of ones (Cottle, Pang, Stone: The Linear Complementarity Problem, 4.4). An island is one
worker's, in a tableau of its own: a row of each unknown that is in the basis, columns of those that are not, of the
covering one, and the right side twice. Equal ratios are told apart by a shift of the second one.
"""

from ..types import FP, func, ti, vec2
from .bodies import BODY_SIZE, WAY
from .contacts import (
    ANGULAR1,
    ANGULAR2,
    BOUNCE,
    DEPTH,
    EASING,
    IMPULSE,
    MU1,
    MU2,
    NORMAL,
    PAIR_SIZE,
    ROW,
    SCALE1,
    SCALE2,
    SIDE,
    SOFT,
    rec3,
    record_of,
)
from .visits import aim

SHIFT, EQUAL, LEAST = 1e-12, 1e-14, 1e-11  # of right sides; of ratios; the least pivot
PIVOTS = 5000  # at most; then, and on a ray, other covering vectors are tried, then the impulses of the sweeps stay
TRIALS, SPREAD = 5, 0.6180339887498949


@func
def solve_islands(m, d, me, size):
    """A worker's part of the islands."""
    for k in range(d.nisland):
        n = d.island_connum[k]
        if k % size == me and n > 0 and n <= d.lcp_direct:
            solve_island(m, d, k, n, me)


@func
def solve_island(m, d, k, n, me):
    """Impulses of the n contacts of island k, and the velocities that they give to its bodies."""
    most = d.lcp_direct
    N = (d.lcp_eta + 2) * n
    whole = (d.lcp_eta + 2) * most
    T = me * (whole * (whole + 4) + 2 * d.lcp_eta * most)  # the tableau, then unknowns, then corners
    z = T + N * (N + 3)
    corner = z + N
    B = me * (2 * whole + 1)  # unknowns by row, then by column
    solved, trial = 0, 0
    while solved == 0 and trial < TRIALS:
        fill_tableau(m, d, k, n, N, T, corner, trial)
        solved = pivot(d, N, T, B)
        trial += 1
    if solved == 1:
        for i in range(N):
            d.lcp_pivot[z + i] = 0.0
        for r in range(N):
            if d.lcp_basis[B + r] >= N:
                d.lcp_pivot[z + d.lcp_basis[B + r] - N] = ti.max(0.0, d.lcp_pivot[T + r * (N + 3) + N + 1])
        for i in range(n):
            push_contact(m, d, d.lcp_slot[d.island_con[d.island_conadr[k] + i]], i, n, z, corner)


@func
def fill_tableau(m, d, k, n, N, T, corner, trial):
    """The seed's matrix and right side for contacts that have no impulses yet; behind a trial that came to no answer
    with another covering vector, of uneven numbers."""
    eta, wide, first = d.lcp_eta, N + 3, d.island_conadr[k]
    for i in range(N * wide):
        d.lcp_pivot[T + i] = 0.0
    for i in range(n):
        o, step = record_of(m, d, d.lcp_slot[d.island_con[first + i]])
        mu1, mu2 = d.lcp_rec[o + step * MU1], d.lcp_rec[o + step * MU2]
        mu = ti.max(mu1, mu2)
        for e in range(eta):
            a = 2.0 * ti.math.pi * e / eta
            x = vec2(0.0)
            if mu > 0.0:
                x = vec2(mu1 / mu * ti.cos(a), mu2 / mu * ti.sin(a))
            at = corner + 2 * (eta * i + e)
            d.lcp_pivot[at] = x[0]
            d.lcp_pivot[at + 1] = x[1]
            d.lcp_pivot[T + (eta * i + e) * wide + (eta + 1) * n + i] = 1.0
            d.lcp_pivot[T + ((eta + 1) * n + i) * wide + eta * i + e] = -1.0
        d.lcp_pivot[T + ((eta + 1) * n + i) * wide + eta * n + i] = mu
    for i in range(n):
        s = d.lcp_slot[d.island_con[first + i]]
        o, step = record_of(m, d, s)
        u = along(d, s, o, step, 0)
        gap = along(d, s, o, step, WAY)[0] - d.lcp_rec[o + step * DEPTH]
        bounce, easing = d.lcp_rec[o + step * BOUNCE], d.lcp_rec[o + step * EASING]
        least = aim(m, d, bounce, easing, gap, u[0], d.lcp_rec[o + step * IMPULSE])
        for j in range(n):
            t = d.lcp_slot[d.island_con[first + j]]
            p, apart = record_of(m, d, t)
            A = coupling(d, s, t, o, step, p, apart)
            u -= A @ rec3(d, p, apart, IMPULSE)
            if i == j:
                for c in ti.static(range(3)):
                    A[c, c] += d.lcp_rec[o + step * SOFT]
            for e in range(eta):
                row = T + (eta * i + e) * wide
                at = corner + 2 * (eta * i + e)
                x, y = d.lcp_pivot[at], d.lcp_pivot[at + 1]
                for f in range(eta):
                    to = corner + 2 * (eta * j + f)
                    a, b = d.lcp_pivot[to], d.lcp_pivot[to + 1]
                    d.lcp_pivot[row + eta * j + f] = x * (A[1, 1] * a + A[1, 2] * b) + y * (A[2, 1] * a + A[2, 2] * b)
                d.lcp_pivot[row + eta * n + j] = x * A[1, 0] + y * A[2, 0]
            row = T + (eta * n + i) * wide
            for f in range(eta):
                to = corner + 2 * (eta * j + f)
                a, b = d.lcp_pivot[to], d.lcp_pivot[to + 1]
                d.lcp_pivot[row + eta * j + f] = A[0, 1] * a + A[0, 2] * b
            d.lcp_pivot[row + eta * n + j] = A[0, 0]
        for e in range(eta):
            at = corner + 2 * (eta * i + e)
            x, y = d.lcp_pivot[at], d.lcp_pivot[at + 1]
            d.lcp_pivot[T + (eta * i + e) * wide + N + 1] = x * u[1] + y * u[2]
        d.lcp_pivot[T + (eta * n + i) * wide + N + 1] = u[0] - least
    for r in range(N):
        uneven = SPREAD * (r + 1) - ti.floor(SPREAD * (r + 1))
        d.lcp_pivot[T + r * wide + N] = 1.0 + trial * uneven
        d.lcp_pivot[T + r * wide + N + 2] = d.lcp_pivot[T + r * wide + N + 1] + SHIFT * (r + 1)


@func
def along(d, s, o, step, what):
    """Velocity (what: 0) or way (WAY) along the three rows of the contact in slot s, whose record is at o."""
    b1, b2 = BODY_SIZE * d.lcp_pair[PAIR_SIZE * s] + what, BODY_SIZE * d.lcp_pair[PAIR_SIZE * s + 1] + what
    m1, m2 = d.lcp_rec[o + step * SCALE1], d.lcp_rec[o + step * SCALE2]
    out = ti.Vector.zero(FP, 3)
    for e in ti.static(range(3)):
        for c in ti.static(range(3)):
            out[e] += d.lcp_rec[o + step * (NORMAL + ROW * e + c)] * (m2 * d.lcp_body[b2 + c] - m1 * d.lcp_body[b1 + c])
            out[e] += d.lcp_rec[o + step * (ANGULAR2 + ROW * e + c)] * d.lcp_body[b2 + 3 + c]
            out[e] -= d.lcp_rec[o + step * (ANGULAR1 + ROW * e + c)] * d.lcp_body[b1 + 3 + c]
    return out


@func
def coupling(d, s, t, o, step, p, apart):
    """What impulses of the contact in slot t, with its record at p, change along the rows of the one in s, at o."""
    A = ti.Matrix.zero(FP, 3, 3)
    for side in range(2):
        for other in range(2):
            if d.lcp_pair[PAIR_SIZE * s + side] == d.lcp_pair[PAIR_SIZE * t + other]:
                sign = ti.select(side == other, FP(1.0), FP(-1.0))
                mass = d.lcp_rec[o + step * (SCALE1 + side)] * d.lcp_rec[p + apart * (SCALE1 + other)]
                a, b = o + step * (ANGULAR1 + SIDE * side), p + apart * (ANGULAR1 + SIDE * other)
                for e in ti.static(range(3)):
                    for f in ti.static(range(3)):
                        x = mass * rec3(d, o, step, NORMAL + ROW * e).dot(rec3(d, p, apart, NORMAL + ROW * f))
                        for c in ti.static(range(3)):
                            x += d.lcp_rec[a + step * (ROW * e + c)] * d.lcp_rec[b + apart * (ROW * f + c)]
                        A[e, f] += sign * x
    return A


@func
def pivot(d, N, T, B):
    """1 where the pivots come to an answer."""
    wide = N + 3
    solved, going, count, enter, row = 0, 1, 0, N, 0
    for i in range(N):
        d.lcp_basis[B + i] = i
        d.lcp_basis[B + N + i] = N + i
        cover = d.lcp_pivot[T + i * wide + N] / d.lcp_pivot[T + row * wide + N]
        if d.lcp_pivot[T + i * wide + N + 2] < cover * d.lcp_pivot[T + row * wide + N + 2]:
            row = i
    covering = 2 * N
    d.lcp_basis[B + covering] = covering
    if d.lcp_pivot[T + row * wide + N + 1] >= 0.0:
        solved, going = 1, 0
    while going == 1:
        exchange(d, N, T, row, enter)
        leave = d.lcp_basis[B + row]
        d.lcp_basis[B + row] = d.lcp_basis[B + N + enter]
        d.lcp_basis[B + N + enter] = leave
        count += 1
        if leave == 2 * N:
            solved, going = 1, 0
        elif count > PIVOTS:
            going = 0
        else:
            partner = ti.select(leave < N, leave + N, leave - N)
            for c in range(N + 1):
                if d.lcp_basis[B + N + c] == partner:
                    enter = c
            row = leaving(d, N, T, B, enter)
            if row < 0:
                going = 0
    return solved


@func
def leaving(d, N, T, B, enter):
    """The row that is 0 first where the unknown of a column grows: of equal ones the covering unknown's, or the first;
    -1: none is."""
    wide = N + 3
    best = FP(1e300)
    for r in range(N):
        slope = d.lcp_pivot[T + r * wide + enter]
        if slope < -LEAST:
            best = ti.min(best, -d.lcp_pivot[T + r * wide + N + 2] / slope)
    row = -1
    for r in range(N):
        slope = d.lcp_pivot[T + r * wide + enter]
        if slope < -LEAST:
            if -d.lcp_pivot[T + r * wide + N + 2] / slope < best + EQUAL:
                if row < 0 or d.lcp_basis[B + r] == 2 * N:
                    row = r
    return row


@func
def exchange(d, N, T, row, enter):
    """The unknowns of a row and a column change places."""
    wide = N + 3
    inverse = 1.0 / d.lcp_pivot[T + row * wide + enter]
    for c in range(wide):
        d.lcp_pivot[T + row * wide + c] = -inverse * d.lcp_pivot[T + row * wide + c]
    d.lcp_pivot[T + row * wide + enter] = inverse
    for r in range(N):
        k = d.lcp_pivot[T + r * wide + enter]
        if r != row and k != 0.0:
            d.lcp_pivot[T + r * wide + enter] = 0.0
            for c in range(wide):
                d.lcp_pivot[T + r * wide + c] = d.lcp_pivot[T + r * wide + c] + k * d.lcp_pivot[T + row * wide + c]


@func
def push_contact(m, d, s, i, n, z, corner):
    """The i-th contact of an island, in slot s, has its new impulse, and its bodies what that changes."""
    o, step = record_of(m, d, s)
    p = ti.Vector.zero(FP, 3)
    p[0] = d.lcp_pivot[z + d.lcp_eta * n + i]
    for e in range(d.lcp_eta):
        beta = d.lcp_pivot[z + d.lcp_eta * i + e]
        at = corner + 2 * (d.lcp_eta * i + e)
        p[1] += beta * d.lcp_pivot[at]
        p[2] += beta * d.lcp_pivot[at + 1]
    change = p - rec3(d, o, step, IMPULSE)
    for side in range(2):
        scale = d.lcp_rec[o + step * (SCALE1 + side)]
        if scale > 0.0:
            b = BODY_SIZE * d.lcp_pair[PAIR_SIZE * s + side]
            sign = ti.select(side == 0, FP(-1.0), FP(1.0))
            for c in range(3):
                v, w = FP(0.0), FP(0.0)
                for e in ti.static(range(3)):
                    v += scale * d.lcp_rec[o + step * (NORMAL + ROW * e + c)] * change[e]
                    w += d.lcp_rec[o + step * (ANGULAR1 + SIDE * side + ROW * e + c)] * change[e]
                d.lcp_body[b + c] = d.lcp_body[b + c] + sign * v
                d.lcp_body[b + 3 + c] = d.lcp_body[b + 3 + c] + sign * w
    for e in ti.static(range(3)):
        d.lcp_rec[o + step * (IMPULSE + e)] = p[e]
