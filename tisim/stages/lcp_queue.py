"""The second dynamics on a GPU: what the host queues for a step, for all threads. It waits for the number of colours;
kernels/lcp/lists_all.py, step_all.py, trees_all.py."""

from tisim.data import asleep
from tisim.data.arrays.lcp import HEAD_COLORS, HEAD_LEFT, HEAD_ROUND, LCP_COLORS
from tisim.device import launch, memory, runtime
from tisim.errors import UnsupportedError

from . import actuation
from .lists import Sort

FIRST_ROUNDS, MORE_ROUNDS, PER_LAUNCH = 12, 8, 2  # rounds of colours: at first, where they did not suffice
COLOR_BITS = 9  # of the kinds of manifolds
NOTHING = dict(nrow=0, nJ=0, nefc=0, nsmall=0, nlarge=0, nisland=0)  # of the convex dynamics


def check(m):
    """Raises UnsupportedError for what all threads of a GPU do not do."""
    for what, given in (
        ("m.lcp.order 'ode'", m.lcp.order == "ode"),
        ("m.lcp.direct", m.lcp.direct > 0),
        ("m.lcp.accelerate", m.lcp.accelerate),
        ("sleeping", asleep.enabled(m)),
    ):
        if given:
            raise UnsupportedError(f"dynamics lcp with {what} runs on the CPU so far: tisim.init(arch='cpu')")


def kernels_of(m):
    """All kernels that `advance` launches."""
    lists, step, trees = (runtime.kernels(f"lcp.{name}_all") for name in ("lists", "step", "trees"))
    found = [lists.list_manifolds, lists.color_rounds, lists.count_colors, lists.place_manifolds]
    found += [step.begin_contacts, step.start_colors, step.sweep_colors, step.next_colors, step.keep_contacts]
    if not m.features().maximal:
        return [*found, runtime.kernels("sort").part_pass, step.begin_bodies, step.next_bodies, step.last_bodies]
    found += [trees.begin_trees, trees.turn_contacts, trees.fulfil_trees, trees.next_trees, trees.end_trees]
    if m.features().loops:
        found += [trees.list_loops, trees.place_trees, trees.begin_loops, trees.visit_loops, trees.next_loops]
        found.append(trees.measure_loops)
    return [*found, runtime.kernels("sort").part_pass, *actuation.advance_kernels(m)]


def advance(m, d, numbers):
    """qpos, qvel and time behind a step; numbers: what kernels ask of m.lcp."""
    d.program.spoil()
    if d.exceeds(**NOTHING):
        d.set_counts(**NOTHING)
    step = runtime.kernels("lcp.step_all")
    groups = max(1, -(-_list_contacts(m, d, numbers) // LCP_COLORS)) if d.count("ncon") else 0
    if d.count("ncon") > d.room("nlcpmax"):  # what it held has been matched
        d.grow("nlcpmax", d.count("ncon"))
    start = [step.begin_contacts, *[step.start_colors, step.next_colors] * groups] if groups else []
    sweep = [step.sweep_colors, step.next_colors] * groups
    jointed = m.features().maximal
    queued = (_trees if jointed else _bodies)(m, d, numbers, start, sweep)
    launch.run(m, d, [*queued, step.keep_contacts], True, **numbers)
    if activations := jointed and actuation.advance_kernels(m):
        launch.run(m, d, activations, True)


def _bodies(m, d, numbers, start, sweep):
    """The kernels of a step of free bodies, but for the last; `start` and `sweep` are those of contacts."""
    step = runtime.kernels("lcp.step_all")
    sweeps = sweep * m.lcp.sweeps
    return [step.begin_bodies, *start, *[*sweeps, step.next_bodies] * (m.lcp.substeps - 1), *sweeps, step.last_bodies]


def _trees(m, d, numbers, start, sweep):
    """The same where bodies have joints."""
    trees = runtime.kernels("lcp.trees_all")
    linked = m.features().loops
    loops = _list_loops(m, d, numbers) if linked else 0
    turned = [trees.turn_contacts] if start and m.lcp.rotation == "midpoint" else []
    begin = [trees.place_trees, *[trees.begin_loops, trees.next_loops] * loops] if linked else []
    sweep = [*sweep, *[trees.visit_loops, trees.next_loops] * loops]
    substep = [*begin, trees.fulfil_trees]
    substep += [*sweep, trees.fulfil_trees] * m.lcp.sweeps if sweep else []
    queued = [trees.begin_trees, *start]
    queued += [*substep, trees.next_trees, *turned] * (m.lcp.substeps - 1)
    return [*queued, *substep, trees.end_trees, *([trees.measure_loops] if linked else [])]


def _list_contacts(m, d, numbers):
    """Colours of the contacts, their slots and what they begin with; how many colours there are."""
    k = runtime.kernels("lcp.lists_all")
    sort = Sort(m, d, d.capacity("nconmax"), numbers)
    rounds = d._info.get("lcp_rounds", FIRST_ROUNDS)
    before = [k.list_manifolds]
    while True:
        sort.run([*before, *[k.color_rounds] * -(-rounds // PER_LAUNCH), k.count_colors])
        sort.sort(COLOR_BITS)
        sort.run([k.place_manifolds])
        head = memory.download(d.device("lcp_head"))
        if head[HEAD_LEFT] == 0:
            break
        before, rounds = [], MORE_ROUNDS
    d._info["lcp_rounds"] = int(head[HEAD_ROUND]) + PER_LAUNCH
    return int(head[HEAD_COLORS])


def _list_loops(m, d, numbers):
    """Colours of connects and welds; how many there are, one at least."""
    launch.run(m, d, [runtime.kernels("lcp.trees_all").list_loops], True, **numbers)
    return max(1, int(memory.download(d.device("lcp_eq_head"))[HEAD_COLORS]))
