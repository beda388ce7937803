"""Large islands on a GPU: what the host queues for them, before it looks whether they are done.

Islands go their own ways through the phases of kernels/solver/all_threads.py; a kernel that is not due does nothing. So
what is queued decides only about time. It is rounds of a few iterations, in which a direction that needs more goes on:
as many as the last step took, and one more. A plan that followed each round of the last step queued as much and looked
twice as often, since rounds come and go.
"""

from tisim.data.arrays import QUEUE_BAD, QUEUED_ROUNDS
from tisim.device import launch, memory, runtime

ITERATIONS = 8  # of conjugate gradients in a round
EVALUATIONS = 2  # of a line search in it; one more in the first, which begins farthest away
FIRST, MORE = 4, 3  # rounds where nothing is known, and where what was queued did not suffice
SMALLEST = 64  # blocks of a group
PER_LAUNCH = 2  # iterations of linear_step


def solve_large(m, d):
    """Newton's method on the large islands, all threads on each. Returns whether all of qacc was seen to be finite."""
    large, linear = runtime.kernels("solver.all_threads"), runtime.kernels("solver.cg_all")
    blocks = sizes(d)

    def run(kernels):
        launch.run(m, d, kernels, True, **blocks)

    run([large.start_round, large.project, large.move])
    rounds, evaluations = d._info.get("solver_rounds", FIRST), EVALUATIONS + 1
    while True:
        for _ in range(rounds):
            run([linear.start_direction])
            run([linear.linear_step] * (ITERATIONS // PER_LAUNCH))
            run([large.project])
            run([large.search] * (evaluations - 1))  # the first is a part of `project`
            run([large.move])
            evaluations = EVALUATIONS
        run([runtime.kernels("smooth.integrate").note_bad_acceleration])
        taken = memory.download(d.device("solver_queue"))
        if taken[0] == 0:
            break
        rounds = MORE
    d._info["solver_rounds"] = rounds_after(taken)
    return taken[QUEUE_BAD] == 0


def sizes(d):
    """How many blocks and groups there are. A group is so long that adding up all groups takes no longer than one."""
    trees, contacts, rows = (d.count(name) for name in ("ntblk", "ncblk", "nrblk"))
    size = SMALLEST
    while size * size < max(trees, contacts, rows):
        size *= 2
    groups = [-(-n // size) for n in (trees, contacts, rows)]
    return dict(
        ntreeblk=trees,
        nrowblk=rows,
        nitemblk=contacts + rows,
        nblkgroup=sum(groups),
        groupsize=size,
        nproductblk=trees + groups[0],
        nlargeisland=d.count("nlarge"),
    )


def rounds_after(taken):
    """How many rounds are queued in the next step, for what islands took in this one; none where they took none."""
    iterations = taken[1:QUEUE_BAD].reshape(QUEUED_ROUNDS, 2)[:, 0]
    taken = int((-(-iterations // ITERATIONS)).sum())
    return taken + (taken > 0)
