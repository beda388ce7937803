"""A step of the second dynamics in one launch: from contacts to new poses, by a team."""

from ..constants import HEAD_COLORS
from ..sleep.awake import body_at, body_count
from ..team import WHOLE, before, crew, join, learn_parts, meet, own_part
from ..types import ABREAST, FP, HAND, SERIAL, called, func, kernel, ti
from .bodies import begin_body, next_substep
from .contacts import PAIR_SIZE, keep_contact
from .direct import solve_islands
from .lists import COLORS, HEAD_FIRST, HEAD_SINGLES, HEAD_SIZES, LANES, MOST_ABREAST, begin_with_lists
from .poses import end_bodies
from .records import prepare_contacts
from .search import advance_velocity, begin_search, begin_way, keep_velocity, search
from .visits import BY_TURNS, turned, visit_abreast, visit_contact

# looks in vain that take as long as a visit of a contact; visits that take as long as what is not swept
LOOKS, VISITS = 3.0, 7


@kernel
def lcp_step(m, d):
    """qpos, qvel and time behind a step; d.nhand workers share it, d.nworker at most in a team."""
    ti.static(ABREAST)
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, work)


@func
def work(m, d, hand):
    """A worker's part."""
    me, size = join(m, d, d.nworker)
    if me < size:
        begin_with_lists(m, d, me, size)
        advance(m, d, me, size)


@func
def advance(m, d, me, size):
    """Bodies, records, substeps of sweeps, poses; nobody reads what another writes before the next meeting."""
    ncon = d.ncon
    ncolor = ti.select(ncon > 0, d.lcp_head[HEAD_COLORS], 0)
    first, behind = own_part(m, d, body_count(m, d), me, size)
    mine, end = own_part(m, d, ncon, me, size)
    for k in range(first, behind):
        begin_body(m, d, body_at(m, d, k))
    meet(m, d, me, size)
    prepare_contacts(m, d, me, size)
    meet(m, d, me, size)
    for color in range(ncolor):  # contacts do what they did in the last step
        start_color(m, d, color, me, size)
        meet(m, d, me, size)
    for sub in range(1, d.lcp_substeps + 1):
        squares = FP(0.0)
        if ti.static(m.has.accelerated):
            begin_ways(m, d, first, behind, me, size)
        for sweep in range(d.lcp_sweeps):
            for color in range(ncolor):
                sweep_color(m, d, color, backwards(d, sub), me, size)
                meet(m, d, me, size)
            if ti.static(m.has.accelerated):
                if sweep < d.lcp_sweeps - 1:
                    squares = accelerate_bodies(m, d, squares, first, behind, me, size)
        if ti.static(m.has.direct):
            solve_islands(m, d, me, size)
            meet(m, d, me, size)
        for k in range(first, behind):
            next_substep(m, d, body_at(m, d, k), sub == d.lcp_substeps)
        meet(m, d, me, size)
    for c in range(mine, end):
        keep_contact(m, d, d.lcp_slot[c], c)
    end_bodies(m, d, first, behind, me)
    note_step(m, d, ncon, me, size)


@func
def begin_ways(m, d, first, behind, me, size):
    """The search for impulses begins in a substep, where more than one sweep follows."""
    if d.lcp_sweeps > 1:
        begin_search(m, d, me, size)
        for k in range(first, behind):
            begin_way(m, d, body_at(m, d, k))
        meet(m, d, me, size)


@func
def accelerate_bodies(m, d, squares, first, behind, me, size):
    """A step of the search for impulses behind a sweep; its sum of squares, of the last one `squares`."""
    now, part, goes = search(m, d, squares, me, size)
    for k in range(first, behind):
        advance_velocity(m, d, body_at(m, d, k), part, goes)
        keep_velocity(m, d, body_at(m, d, k))
    meet(m, d, me, size)
    return now


@func
def note_step(m, d, n, me, size):
    """What the next step goes on from: the workers' pace in a step that takes as long as n contacts, times, and how
    many contacts are kept."""
    if me == 0:
        learn_parts(m, d, size, looks_of(m, d, n, size))
        for w in range(d.nworld):
            d.world_time[w] = d.world_time[w] + m.opt.timestep
            d.lcp_warm[w] = 1
        d.nlcp = d.ncon


@func
def looks_of(m, d, n, size):
    """How often a worker would look in vain, about, in the time that its part of n contacts in all sweeps takes."""
    return n * (LOOKS * (d.lcp_substeps * d.lcp_sweeps + VISITS)) / size


@func
def backwards(d, sub):
    """1 in every other substep before the last, else 0: a sweep visits a manifold's contacts in turns in one direction
    and in the other. If it went always in one, towers of boxes turned against each other would shake for ever."""
    return (d.lcp_substeps - sub) % 2


@called("maximal")
def start_color(m, d, color: ti.i32, me: ti.i32, size: ti.i32):
    """Contacts of a colour do what they begin with: a worker's part."""
    visit_color(m, d, color, 0, True, me, size)


@called("maximal")
def sweep_color(m, d, color: ti.i32, back: ti.i32, me: ti.i32, size: ti.i32):
    """A sweep over the contacts of a colour, see backwards: a worker's part."""
    visit_color(m, d, color, back, False, me, size)


@func
def visit_color(m, d, color, back, starts: ti.template(), me, size):
    """Visits of a worker's contacts of a colour, those of a manifold in the order that `back` says; a manifold is one
    worker's, the last colour, too."""
    for rows in range(1, ti.select(color < COLORS, MOST_ABREAST + 1, 1)):
        at = MOST_ABREAST * color + rows - 1
        n = d.lcp_head[HEAD_SIZES + at] // LANES
        mine, behind = 0, n
        if n > 0 and size > 1:  # a part of the list is always the same worker's, the odd set now one's, now another's
            odd = rows % size * (WHOLE // size)
            mine, behind = before(m, d, n, me, size, odd), before(m, d, n, me + 1, size, odd)
        while mine < behind:
            many = ti.min(BY_TURNS, behind - mine)
            visit_abreast(m, d, d.lcp_head[HEAD_FIRST + at] + LANES * rows * mine, rows, many, back, starts, me)
            mine += many
    begin = d.lcp_head[HEAD_SINGLES + color]
    n = d.lcp_head[HEAD_SINGLES + color + 1] - begin
    mine, behind = own_part(m, d, n, me, size)
    if color == COLORS:
        mine, behind = 0, ti.select(me == 0, n, 0)
    mine, behind = whole(m, d, begin, mine, n), whole(m, d, begin, behind, n)
    visit_one_by_one(m, d, begin + mine, begin + behind, back, starts)


@func
def visit_one_by_one(m, d, s, end, back, starts: ti.template()):
    """Visits of the contacts in these slots, manifold by manifold."""
    while s < end:
        many = behind_manifold(m, d, s, end) - s
        for place in range(many):
            visit_contact(m, d, s + turned(place, many, back), starts)
        s += many


@func
def behind_manifold(m, d, s, end):
    """One past the last slot, up to `end`, of the manifold that begins in slot s."""
    behind = s + 1
    while behind < end and joined(m, d, behind):
        behind += 1
    return behind


@func
def whole(m, d, begin, k, n):
    """The first of n slots, from the k-th on, that begins a manifold."""
    while k > 0 and k < n and joined(m, d, begin + k):
        k += 1
    return k


@func
def joined(m, d, s):
    """Whether the contacts in slot s and in the one before are of the same bodies."""
    return (
        d.lcp_pair[PAIR_SIZE * s] == d.lcp_pair[PAIR_SIZE * (s - 1)]
        and d.lcp_pair[PAIR_SIZE * s + 1] == d.lcp_pair[PAIR_SIZE * (s - 1) + 1]
    )
