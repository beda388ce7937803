"""The constraint solver: which kernels run until every island has converged."""

from tisim.device import launch, runtime, session

PARALLEL_ISLANDS = 16  # small islands that are worth waking the threads
MAX_DENSE = 60  # coupled dofs up to which a dense factor is no slower than conjugate gradients, and exact
BLOCKS = dict(treesize=32, consize=64, rowsize=64)  # units of work and of fixed-order sums
LINEAR_ITERATIONS = 1000  # a direction that needs more is taken as it is: it descends all the same
CHUNK = 4  # iterations queued before the host looks whether all islands are done


def shared_island():
    """Contacts above which all threads share an island: each of some ten loops per iteration wakes them (some 100 us
    on a CPU), while one thread takes 0.03 us per contact and iteration."""
    return 50000 if session.arch == "cpu" else 300


def solve(m, d):
    """Newton's method on every island: one thread for each small one, all threads for the large ones together."""
    launch.run(m, d, [runtime.kernels("constraint.island").cut_blocks], False, **BLOCKS)
    some = d.exceeds(nsmall=0, nlarge=0)
    if "nsmall" in some:
        many = session.arch != "cpu" or bool(d.exceeds(nsmall=PARALLEL_ISLANDS))
        launch.run(m, d, [runtime.kernels("solver.one_thread").solve_island], many, maxdense=MAX_DENSE)
    if "nlarge" in some:
        d.program.spoil()
        _solve_large(m, d)


def _solve_large(m, d):
    large, linear = runtime.kernels("solver.all_threads"), runtime.kernels("solver.cg_all")

    def run(kernels, **scalars):
        launch.run(m, d, kernels, True, **scalars)

    def run_until(kernel, limit, **scalars):
        """Repeats an inner iteration until no island needs it."""
        for _ in range(0, limit, CHUNK):
            run([kernel] * CHUNK, **scalars)
            if not d.count("nseek"):
                break

    run([large.start_round, large.project, large.move], whole_step=1, newton_round=-1)
    for newton_round in range(m.opt.iterations):
        if not d.count("nrun"):
            break
        run([large.precondition, linear.linear_start])
        run_until(linear.linear_step, LINEAR_ITERATIONS)
        run([linear.linear_end, large.project], whole_step=0)
        run_until(large.search, m.opt.ls_iterations)
        run([large.move], newton_round=newton_round)
