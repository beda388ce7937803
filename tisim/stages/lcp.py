"""The second dynamics, from the contact list to the state behind a step: dynamics="lcp". tisim/LCP.md."""

from tisim.data import asleep, impulses
from tisim.device import launch, runtime, session, team
from tisim.errors import UnsupportedError
from tisim.model import lcp as parameters
from tisim.model.lcp import CHOICES

from . import actuation, lcp_queue, sleep

PARALLEL_CONTACTS = 300  # below, waking the threads costs more than the sweeps
PARALLEL_BODIES, PARALLEL_TREES = 100, 4  # alike
LOADS = 1000  # bodies that one beneath carries, about, with the impulses that it begins with


def queued():
    """Whether the host queues what all threads of a GPU do; else a team of workers does all in two launches."""
    return session.arch == "cuda"


def check(m):
    """Raises UnsupportedError where no kernels serve."""
    if session.arch not in ("cpu", "cuda"):
        raise UnsupportedError(f"dynamics lcp runs on the CPU and on CUDA, not on {session.arch}")
    if queued():
        lcp_queue.check(m)
    if m.lcp.direct and session.precision != "f64":
        raise UnsupportedError("m.lcp.direct: pivots need precision f64")


def lists_apart(m):
    """Whether lists are made in a launch of their own, behind which the host decides something."""
    return m.lcp.direct > 0


def kernels_of(m):
    """The kernels of the stage."""
    if m.lcp.order == "ode" and parameters.jointed(m):
        return [runtime.kernels("lcp.ode_trees").ode_tree_step, *actuation.advance_kernels(m)]
    if m.lcp.order == "ode":
        return [runtime.kernels("lcp.ode_order").ode_step]
    lists = [runtime.kernels("lcp.lists").lcp_lists] * lists_apart(m)
    if parameters.jointed(m):
        return [*lists, runtime.kernels("lcp.tree_step").tree_step, *actuation.advance_kernels(m)]
    return [*lists, runtime.kernels("lcp.step").lcp_step]


def all_kernels(m):
    """Those with what finds islands, where something may sleep or small ones are solved by pivots."""
    if queued():
        return lcp_queue.kernels_of(m)
    found = runtime.kernels("lcp.islands")
    islands = [found.lcp_islands] * (asleep.enabled(m) or m.lcp.direct > 0)
    islands += [runtime.kernels("lcp.sleepers").part_sleepers] * asleep.enabled(m)
    return [*kernels_of(m), *islands, *[found.island_contacts] * (m.lcp.direct > 0)]


def fall_asleep(m, d):
    """Islands that are ready sleep, before anything is advanced."""
    if asleep.enabled(m):
        part_sleepers(m, d)
        islands(m, d)
        sleep.fall_asleep(m, d)


def part_sleepers(m, d):
    """Impulses of sleepers wait apart, those of who woke are again among the last step's."""
    parts = [runtime.kernels("lcp.sleepers").part_sleepers]
    launch.run(m, d, parts, False)
    if d.exceeds(nlcpwant=d.room("nlcpmax")):
        lengthen(d, "nlcpwant")
        launch.run(m, d, parts, False)


def settle(m, d):
    """What follows from velocities, once more where some trees fell asleep and users or actuators go on from it.

    A stage of its own: a stage in which something rare is found is done again, and trees would be counted down twice.
    """
    used = m.nu or m._sizes["nsensor"] or sleep.energy_follows(m)
    if asleep.enabled(m) and used and d.exceeds(rarely=True, nslept=0):
        with d.program.aside():
            sleep.settle_velocities(m, d)


def islands(m, d):
    """Which trees contacts, connects and welds couple: tree_island."""
    launch.run(m, d, [runtime.kernels("lcp.islands").lcp_islands], False)


def advance(m, d):
    """qpos, qvel and time behind a step: colours of the contacts, what they begin with, sweeps, new poses."""
    if queued():
        return lcp_queue.advance(m, d, numbers(m))
    d.set_counts(nrow=0, nJ=0, nefc=0, nsmall=0, nlarge=0)
    if not asleep.enabled(m):
        d.set_counts(nisland=0)
    many = bool(d.exceeds(ncon=PARALLEL_CONTACTS))
    if parameters.jointed(m):  # a tree is one worker's
        many = many or (d.nworld * m.nbody > PARALLEL_BODIES and d.nworld * m.ntree >= PARALLEL_TREES)
    workers = team.of(d) if many else 1
    common = dict(nhand=team.hands(d) if many else 1, nworker=workers, patience=team.PATIENCE) | numbers(m)
    if m.lcp.order == "ode":
        if d.exceeds(ncon=d.room("nlcpmax")):
            d.grow("nlcpmax", d.count("ncon"))
        step, *activations = kernels_of(m)
        launch.run(m, d, [step], False, **common)
        if activations:
            launch.run(m, d, activations, False)
        return
    many = many and workers > 1
    if lists_apart(m):
        lists, step, *activations = kernels_of(m)
        launch.run(m, d, [lists], many, **common)
        if d.exceeds(ncon=d.room("nlcpmax")):  # what it held has been matched
            d.grow("nlcpmax", d.count("ncon"))
    else:
        step, *activations = kernels_of(m)
        if d.exceeds(ncon=d.room("nlcpmax")):
            lengthen(d, "ncon")
    if m.lcp.direct:
        islands(m, d)
        launch.run(m, d, [runtime.kernels("lcp.islands").island_contacts], False)
        rows, corners = (m.lcp.eta + 2) * m.lcp.direct, 2 * m.lcp.eta * m.lcp.direct
        d.scratch("lcp_pivot", workers * (rows * (rows + 4) + corners))
        d.scratch("lcp_basis", workers * (2 * rows + 1))
    launch.run(m, d, [step], many, **common)
    if activations:
        launch.run(m, d, activations, False)


def lengthen(d, count):
    """Makes the list of the last step's contacts as long as a count says; what it holds stays."""
    held = impulses.kept(d)
    d.grow("nlcpmax", d.count(count))
    if held:
        impulses.give(d, {name: held[name] for name in impulses.NAMES})


def numbers(m):
    """What kernels ask of m.lcp."""
    p = m.lcp
    index = {name: choices.index(getattr(p, name)) for name, choices in CHOICES.items()}
    return dict(
        lcp_part=1 - (1 - p.erp) ** (1 / p.substeps), lcp_cfm=p.cfm, lcp_substeps=p.substeps, lcp_sweeps=p.sweeps,
        lcp_friction=index["friction"], lcp_eta=p.eta, lcp_direct=p.direct, lcp_bounce=p.bounce,
        lcp_bounce_vel=p.bounce_vel, lcp_slop=parameters.length(m, "slop"), lcp_ease=p.ease,
        lcp_max_vel=p.max_vel, lcp_loads=LOADS * m.opt.timestep / p.substeps, lcp_sor=p.sor, lcp_share=p.warmstart,
        lcp_rotation=index["rotation"], lcp_reach=parameters.REACH * parameters.size(m),
    )  # fmt: skip
