"""The constraint solver: which kernels run until every island has converged."""

from tisim.device import launch, runtime, session, team
from tisim.enums import mjtSolver
from tisim.model import callback

from . import abreast, queue

PARALLEL_ISLANDS = 16  # small islands that are worth waking the threads
MAX_DENSE = 60  # coupled dofs up to which a dense factor is no slower than conjugate gradients, and exact
MAX_FACTOR = 160  # nodes up to which one worker tries to make a sparse factor of an island
MAX_JOINED = 400  # the same where rows join trees: conjugate gradients are slow on what is held together stiffly
MAX_CHAIN = 4000  # the same where they join them nearly as in a tree: a factor has no fill there
MAX_TIED = 1_000_000  # the same where rows hold a shared island together: an incomplete factor, beside those gradients
# units of work and of fixed-order sums, on a CPU and on a GPU
BLOCKS = dict(treesize=32, consize=64, rowsize=64)
SMALL_BLOCKS = dict(treesize=1, consize=1, rowsize=1)
LINEAR_ITERATIONS = 1000  # a direction that needs more is taken as it is: it descends all the same
NEVER = 2**31 - 1
SHARED = 300  # contacts between moving bodies above which an island is shared by the workers of a CPU
GPU_SHARED = 10  # the same by all threads of a GPU, of which one takes 0.1 ms for a contact and all 3 ms for a thousand


def queued():
    """Whether the host queues the phases of large islands one by one, for all threads of a GPU; else a team of workers
    walks through them in one launch."""
    return session.arch != "cpu"


def border(m):
    """Numbers that say which islands are large, the same for any number of threads. Only Newton's method has a road for
    a GPU."""
    newton = m.opt.solver == mjtSolver.mjSOL_NEWTON
    shared = SHARED if not queued() else GPU_SHARED if newton else NEVER
    factor = MAX_FACTOR if newton and not queued() else 0
    return dict(
        maxcon=shared,
        mindof=0 if queued() else MAX_DENSE,
        maxdense=MAX_DENSE if newton else 0,
        maxfactor=factor,
        maxjoined=MAX_JOINED if factor else 0,
        maxchain=MAX_CHAIN if factor else 0,
        maxtied=MAX_TIED if factor else 0,
    )


def ahead(m):
    """Whether islands are solved before the host knows how many there are: it looks at the end."""
    return queued() and m.opt.solver == mjtSolver.mjSOL_NEWTON


def blocks():
    """Sizes of the blocks of large islands."""
    return BLOCKS if session.arch == "cpu" else SMALL_BLOCKS


def island_solvers(m):
    """The kernels that solve islands with the solver that the options name."""
    if m.opt.solver == mjtSolver.mjSOL_CG:
        return [runtime.kernels("solver.nonlinear_cg").conjugate_islands]
    lone = bool(m.derived("tree_free").any()) and not m.features().torsion
    if ahead(m):
        k = runtime.kernels("solver.small_all")
        return [*([k.lone_islands] if lone else []), k.small_islands]
    kernels = [runtime.kernels("solver.lone").solve_lone_islands] if lone else []
    return [*kernels, runtime.kernels("solver.newton").solve_islands]


def solve(m, d):
    """All islands: small ones by one thread each, large ones by a team or all threads."""
    if not ahead(m):
        _solve_islands(m, d, bool(d.exceeds(nlarge=0)))
        return
    d.program.spoil()
    while True:
        launch.run(m, d, island_solvers(m), True, maxdense=MAX_DENSE, abreast=0)
        fine, dense = queue.solve_large(m, d)
        if dense <= d.room("ndensemax"):
            break
        d.grow("ndensemax", dense)
    d._info["qacc_seen"] = fine and not m.opt.noslip_iterations and callback.of(m, "sensor") is None


def side_by_side(m, d):
    """Whether islands of one tree with joints are solved with others that are alike."""
    return m.opt.solver == mjtSolver.mjSOL_NEWTON and abreast.some(m, d) and not m.features().heavy


def _lanes(m, d, hands):
    """Makes room for so many workers who do so; numbers that their kernel asks for."""
    _, dofs, bodies = abreast.sizes(m, d)
    d.scratch("abreast_body", hands * 21 * bodies)
    d.scratch("abreast_x", hands * (dofs + 6))
    return dict(lanebody=21 * bodies, lanedof=dofs + 6, **abreast.matrices(m, d, hands))


def _solve_islands(m, d, large):
    """All islands in one launch of workers, the large ones by a team of them; on a GPU the small ones."""
    cpu = session.arch == "cpu"
    workers = 0 if queued() else team.of(d) if large else 1
    many = not cpu or workers > 1 or bool(d.exceeds(nsmall=PARALLEL_ISLANDS))
    hands = (team.hands(d) if cpu else d.count("nsmall")) if many else 1
    kernels, lanes = island_solvers(m), {}
    if side := side_by_side(m, d):
        kernels, lanes = [runtime.kernels("solver.abreast").solve_abreast, *kernels], _lanes(m, d, hands)
    launch.run(m, d, kernels, many, maxdense=MAX_DENSE, nhand=hands, nworker=workers, patience=team.PATIENCE,
               abreast=int(side), **lanes)  # fmt: skip
