"""Large islands on a GPU: what the host queues for them, before it looks whether they are done.

Islands go their own ways through the phases of kernels/solver/all_threads.py; a kernel that is not due does nothing. So
what is queued decides only about time. It is what the last step took, and a little more: a scene changes slowly.
"""

from tisim.data.arrays import QUEUED_ROUNDS
from tisim.device import launch, memory, runtime

FIRST = 4 * [(10, 3)]  # iterations and evaluations of each round where nothing is known
MORE = [(12, 2)]  # the same where that was not enough, then twice as many rounds, and so on
SPARE = 2  # iterations more in a round than the last step took
SMALLEST = 64  # blocks of a group
PER_LAUNCH = 2  # iterations of linear_step


def solve_large(m, d):
    """Newton's method on the large islands, all threads on each."""
    large, linear = runtime.kernels("solver.all_threads"), runtime.kernels("solver.cg_all")

    blocks = sizes(d)

    def run(kernels):
        launch.run(m, d, kernels, True, **blocks)

    run([large.start_round, large.project, large.move])
    rounds, more = d._info.get("solver_rounds") or FIRST, MORE
    while True:
        for iterations, evaluations in rounds:
            run([linear.start_direction])
            run([linear.linear_step] * -(-iterations // PER_LAUNCH))
            run([large.project])
            if evaluations > 1:
                run([large.search] * (evaluations - 1))  # the first is a part of `project`
            run([large.move])
        taken = memory.download(d.device("solver_queue"))
        if taken[0] == 0:
            break
        rounds, more = more, 2 * more
    d._info["solver_rounds"] = rounds_after(taken)


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
    """What is queued in the next step, for what islands took in this one."""
    return [(int(i) + SPARE, int(e)) for i, e in taken[1:].reshape(QUEUED_ROUNDS, 2) if i]
