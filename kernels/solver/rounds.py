"""When Newton's rounds end, and how good a direction each needs: inexact Newton, Dembo, Eisenstat, Steihaug 1982."""

from ..types import EPSILON, FP, GPU, func, ti

# By how much a round reduces the linear residual. While the line search still corrects the step the direction may be
# rough; once it takes the whole step the set of acting constraints has settled, and the next round aims at the goal.
ROUGH = 0.1
PATIENCE = 10  # rounds after which a rough direction is not good enough: each further one aims better by TIGHTER
TIGHTER = 0.7
TIGHTEST = 1e-5
FINE = 0.01
FINER = 1e-3  # instead of FINE, and FINE instead of ROUGH, with a good preconditioner of rows that always act
LAST = 1e-3  # a round this fine that improves less than the tolerance is the last one
NEAR = 80.0  # gradient that is good enough after such an improvement, in tolerances
NOISE = 8.0 * EPSILON  # part of the terms of a derivative below which it has no digits
# What is due next for an island whose phases are queued: nothing, the preconditioner, conjugate gradients, the
# direction through M and J, another evaluation of the line search, the step along the direction
DONE, START, LINEAR, PROJECT, SEARCH, MOVE = range(6)


@func
def scale_of(m, d, k):
    """What makes cost and gradient of island k comparable with the tolerance."""
    inertia = FP(0.0)
    if ti.static(m.has.weighed):
        inertia = m.stat.meaninertia[d.island_tree[d.island_treeadr[k]] // m.ntree, 0]
    else:
        inertia = m.stat.meaninertia
    return 1.0 / (inertia * ti.cast(d.island_dofnum[k], FP))


@ti.func
def flat(tolerance, first, slope, gauss):
    """Whether a derivative along the direction, of which gauss is the Gauss term's, is as good as zero where it was
    `first` at the start. In f32 also where it has no digits left: ls_iterations evaluations would find no more."""
    least = tolerance * ti.abs(first)
    if ti.static(FP == ti.f32 or GPU):
        least = ti.max(least, NOISE * (ti.abs(gauss) + ti.abs(slope - gauss)))
    return ti.abs(slope) <= least


@ti.func
def settled(alpha, gradient, last_gradient):
    """Whether a round took the whole step and did what a Newton step should."""
    return ti.abs(alpha - 1.0) < 0.01 and gradient < 0.45 * last_gradient


@func
def next_reduction(m, d, newton_round, fine, eager, gradient, improvement, last):
    """Reduction of the linear residual in the next round; 0 if there is no next one.

    eager  the island's preconditioner is an incomplete factor: equalities, whose rows always act, are most of it.

    Contacts far stiffer than the bodies (pyramids of little friction) need good directions long before they settle.
    """
    late = ti.cast(ti.max(0, newton_round - PATIENCE), FP)
    r = ti.max(ti.select(eager, FP(FINE), FP(ROUGH)) * ti.pow(FP(TIGHTER), late), TIGHTEST)
    if fine:
        r = ti.min(ti.max(0.7 * NEAR * m.opt.tolerance / gradient, ti.select(eager, FP(FINER), FP(FINE))), r)
    if improvement < m.opt.tolerance:
        r = ti.min(r, 0.1 * last)
        if gradient < NEAR * m.opt.tolerance or last < LAST:
            r = 0.0
    if gradient < m.opt.tolerance:
        r = 0.0
    return r
