"""Large islands on a GPU: what the host queues for them, before it looks whether they are done.

Islands go their own ways through the phases of kernels/solver/all_threads.py; a kernel that is not due does nothing. So
what is queued decides only about time. It is rounds of a few iterations, in which a direction that needs more goes on:
as many as the last step took, and one more. The first are short, since their directions are rough, and their line
searches the longest. A plan that followed each round of the last step queued as much and looked twice as often, since
rounds come and go.
"""

from tisim.data.arrays.islands import QUEUE_BAD, QUEUE_DENSE, QUEUE_LARGE, QUEUED_ROUNDS
from tisim.device import launch, memory, runtime

ROUGH_ROUNDS = 2  # whose directions are
ROUGH, FINE = 6, 12  # iterations of conjugate gradients in these, and in each later one
SEARCHED = 3  # first rounds, in each of which a line search has more than the evaluation that is a part of `project`
FIRST, MORE = 4, 3  # rounds where nothing is known, and where what was queued did not suffice
PER_LAUNCH = 2  # iterations of linear_step


def solve_large(m, d):
    """Newton's method on the large islands, all threads on each, behind what solves the small ones: the host waits
    once for both. As many rounds are queued as the last step took, none where it had no large island.

    Returns (whether all of qacc was seen to be finite, how much room dense matrices take): where that is too much, no
    small island was solved.
    """
    large = runtime.kernels("solver.all_threads")
    rounds, later = d._info.get("solver_rounds", (FIRST, 1))
    begun = rounds > 0
    plan = [round_of(n, rounds, later) for n in range(rounds)]
    if begun:
        launch.run(m, d, [large.start_round, large.begin_rounds])
    while True:
        for iterations, evaluations in plan:
            _queue_round(m, d, iterations, evaluations)
        launch.run(m, d, [runtime.kernels("smooth.integrate").note_bad_acceleration])
        taken = memory.download(d.device("solver_queue"))
        if taken[QUEUE_LARGE] and not begun:
            begun = True
            launch.run(m, d, [large.start_round, large.begin_rounds])
        elif taken[0] == 0:
            break
        plan = [(FINE, 1)] * MORE
    d._info["solver_rounds"] = after(taken) if taken[QUEUE_LARGE] else (0, 0)
    return taken[QUEUE_BAD] == 0, int(taken[QUEUE_DENSE])


def round_of(n, rounds, later):
    """What the n-th of so many rounds has: iterations, and evaluations behind the first of a line search, `later` in
    late rounds. Every other one and the last have some for whoever waits for one."""
    evaluations = 2 if n == 0 else 1 if n < SEARCHED or n % 2 == 1 or n == rounds - 1 else later
    return ROUGH if n < ROUGH_ROUNDS else FINE, evaluations


def _queue_round(m, d, iterations, evaluations):
    large, linear = runtime.kernels("solver.all_threads"), runtime.kernels("solver.cg_all")
    direction = [linear.start_direction, *[linear.linear_step] * (iterations // PER_LAUNCH)]
    launch.run(m, d, [*direction, large.project, *[large.search] * evaluations, large.move])


def after(taken):
    """(rounds, evaluations of late ones) that are queued in the next step, for what islands took in this one: a
    direction may need several rounds, and so may a search; none where they took none."""
    rounds = later = 0
    for iterations, evaluations in taken[1:QUEUE_BAD].reshape(QUEUED_ROUNDS, 2).tolist():
        while iterations > 0:
            iterations -= round_of(rounds, 0, 1)[0]
            rounds += 1
        evaluations -= 1  # which is a part of `project`
        if evaluations > 0 and rounds > SEARCHED:
            later = 1
        while evaluations > 0:
            evaluations -= round_of(max(rounds - 1, 0), 0, 1)[1]
            rounds += int(evaluations > 0)
    return rounds + (rounds > 0), later
