"""Large islands on a GPU: what the host queues for them, before it looks whether they are done.

Islands go their own ways through the phases of kernels/solver/all_threads.py; a kernel that is not due does nothing. So
what is queued decides only about time. It is rounds of a few iterations, in which a direction that needs more goes on:
as many as the last step took, and one more. A plan that followed each round of the last step queued as much and looked
twice as often, since rounds come and go.
"""

from tisim.data.arrays import QUEUE_BAD, QUEUE_DENSE, QUEUE_LARGE, QUEUED_ROUNDS
from tisim.device import launch, memory, runtime

ITERATIONS = 8  # of conjugate gradients in a round
EVALUATIONS = 2  # of a line search in it; one more in the first, which begins farthest away
FIRST, MORE = 4, 3  # rounds where nothing is known, and where what was queued did not suffice
PER_LAUNCH = 2  # iterations of linear_step


def solve_large(m, d):
    """Newton's method on the large islands, all threads on each, behind what solves the small ones: the host waits
    once for both. As many rounds are queued as the last step took, none where it had no large island.

    Returns (whether all of qacc was seen to be finite, how much room dense matrices take): where that is too much, no
    small island was solved.
    """
    large = runtime.kernels("solver.all_threads")
    begun = rounds = d._info.get("solver_rounds", FIRST)
    evaluations = EVALUATIONS + 1
    if begun:
        launch.run(m, d, [large.start_round, large.project, large.move])
    while True:
        for _ in range(rounds):
            _queue_round(m, d, evaluations)
            evaluations = EVALUATIONS
        launch.run(m, d, [runtime.kernels("smooth.integrate").note_bad_acceleration])
        taken = memory.download(d.device("solver_queue"))
        if taken[QUEUE_LARGE] and not begun:
            begun = True
            launch.run(m, d, [large.start_round, large.project, large.move])
        elif taken[0] == 0:
            break
        rounds = MORE
    d._info["solver_rounds"] = rounds_after(taken) if taken[QUEUE_LARGE] else 0
    return taken[QUEUE_BAD] == 0, int(taken[QUEUE_DENSE])


def _queue_round(m, d, evaluations):
    large, linear = runtime.kernels("solver.all_threads"), runtime.kernels("solver.cg_all")
    for kernels in (
        [linear.start_direction],
        [linear.linear_step] * (ITERATIONS // PER_LAUNCH),
        [large.project],
        [large.search] * (evaluations - 1),  # the first is a part of `project`
        [large.move],
    ):
        launch.run(m, d, kernels)


def rounds_after(taken):
    """How many rounds are queued in the next step, for what islands took in this one; none where they took none."""
    iterations = taken[1:QUEUE_BAD].reshape(QUEUED_ROUNDS, 2)[:, 0]
    taken = int((-(-iterations // ITERATIONS)).sum())
    return taken + (taken > 0)
