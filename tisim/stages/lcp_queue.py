"""The second dynamics on a GPU: what the host queues for a step, for all threads. It waits once, for the number of
colours; kernels/lcp/lists_all.py, step_all.py."""

from tisim.data import asleep
from tisim.data.arrays.lcp import HEAD_COLORS, HEAD_LEFT, HEAD_ROUND, LCP_COLORS
from tisim.device import launch, memory, runtime
from tisim.errors import UnsupportedError
from tisim.model import lcp as parameters

from .lists import Sort

FIRST_ROUNDS, MORE_ROUNDS, PER_LAUNCH = 12, 8, 2  # rounds of colours: at first, where they did not suffice
LONG = 64  # rounds behind which manifolds come in another order: in a row of bodies each waits for the one before
COLOR_BITS = 9  # of the kinds of manifolds


def check(m):
    """Raises UnsupportedError for what all threads of a GPU do not do."""
    for what, given in (
        ("joints but free ones", parameters.jointed(m)),
        ("m.lcp.order 'ode'", m.lcp.order == "ode"),
        ("m.lcp.direct", m.lcp.direct > 0),
        ("m.lcp.accelerate", m.lcp.accelerate),
        ("sleeping", asleep.enabled(m)),
    ):
        if given:
            raise UnsupportedError(f"dynamics lcp with {what} runs on the CPU so far: tisim.init(arch='cpu')")


def kernels_of(m):
    """All kernels that `advance` launches."""
    lists, step = runtime.kernels("lcp.lists_all"), runtime.kernels("lcp.step_all")
    listing = [lists.list_manifolds, lists.color_rounds, lists.count_colors, lists.place_manifolds]
    colors = [step.begin_contacts, step.start_colors, step.sweep_colors, step.next_colors]
    bodies = [step.begin_bodies, step.next_bodies, step.last_bodies, step.keep_contacts]
    return [*listing, runtime.kernels("sort").part_pass, *colors, *bodies]


def advance(m, d, numbers):
    """qpos, qvel and time behind a step; numbers: what kernels ask of m.lcp."""
    d.program.spoil()
    step = runtime.kernels("lcp.step_all")
    if d.exceeds(nrow=0, nJ=0, nefc=0, nsmall=0, nlarge=0, nisland=0):
        d.set_counts(nrow=0, nJ=0, nefc=0, nsmall=0, nlarge=0, nisland=0)
    groups = -(-_list(m, d, numbers) // LCP_COLORS) if d.count("ncon") else 0
    if d.count("ncon") > d.room("nlcpmax"):  # what it held has been matched
        d.grow("nlcpmax", d.count("ncon"))
    queued = [step.begin_bodies]
    if groups:
        queued += [step.begin_contacts, *[step.start_colors, step.next_colors] * groups]
    sweep = [step.sweep_colors, step.next_colors] * groups * m.lcp.sweeps
    queued += [*sweep, step.next_bodies] * (m.lcp.substeps - 1)
    launch.run(m, d, [*queued, *sweep, step.last_bodies, step.keep_contacts], True, **numbers)


def _list(m, d, numbers):
    """Colours of the contacts, their slots and what they begin with; how many colours there are."""
    k = runtime.kernels("lcp.lists_all")
    sort = Sort(m, d, d.capacity("nconmax"), numbers)
    rounds = d._info.get("lcp_rounds", FIRST_ROUNDS)
    before, done, mixed = [k.list_manifolds], 0, 0
    while True:
        sort.run([*before, *[k.color_rounds] * -(-rounds // PER_LAUNCH), k.count_colors], lcp_mixed=mixed)
        sort.sort(COLOR_BITS)
        sort.run([k.place_manifolds], lcp_mixed=mixed)
        head = memory.download(d.device("lcp_head"))
        if head[HEAD_LEFT] == 0:
            break
        before, done, rounds = [], done + rounds, MORE_ROUNDS
        mixed = int(done >= LONG)
    d._info["lcp_rounds"] = int(head[HEAD_ROUND]) + PER_LAUNCH
    return int(head[HEAD_COLORS])
