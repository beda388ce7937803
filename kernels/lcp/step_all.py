"""A step of the second dynamics by all threads of a GPU: what step.py does in one launch, in one task after the other.

A thread visits a manifold, its contacts one after the other. The host queues sweeps; each launch of `sweep_colors` goes
on where the last one ended, by lcp_turn.
"""

from ..constants import HEAD_COLORS, LCP_COLORS
from ..sleep.awake import body_at, body_count
from ..types import SERIAL, func, kernel, ti
from .bodies import begin_body, next_substep
from .contacts import keep_contact
from .lists import COLORS, HEAD_FIRST, HEAD_SINGLES, HEAD_SIZES, MOST_ABREAST
from .lists_all import HEAD_VISITORS
from .poses import end_body
from .records import prepare_contact
from .step import backwards, behind_manifold, joined, visit_one_by_one
from .visits import turned, visit_contact

COLOR, BACK = 1, 6  # places in lcp_turn: the colour that is visited next; in which order of its contacts, see turned


@kernel
def begin_bodies(m, d):
    """Bodies before a step; parallel over them."""
    n = body_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        begin_body(m, d, body_at(m, d, k))


@kernel
def begin_contacts(m, d):
    """Records of contacts, behind what begins bodies; parallel over slots."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for s in range(n):
        prepare_contact(m, d, s)
        if s == 0:
            d.lcp_turn[COLOR] = 0
            d.lcp_turn[BACK] = backwards(d, 1)


@func
def visit_manifold(m, d, color, i, starts: ti.template()):
    """Visits of the i-th manifold of a colour; of the last colour, of all."""
    back = 0
    if ti.static(not starts):
        back = d.lcp_turn[BACK]
    s, step, left, many = 0, 1, i, 0
    if color < COLORS:
        for k in range(MOST_ABREAST * color, MOST_ABREAST * (color + 1)):
            n = d.lcp_head[HEAD_SIZES + k]
            if many == 0:
                if left < n:
                    s, step, many = d.lcp_head[HEAD_FIRST + k] + left, n, k - MOST_ABREAST * color + 1
                else:
                    left -= n
    if many == 0:
        s = d.lcp_head[HEAD_SINGLES + color] + left
        end = d.lcp_head[HEAD_SINGLES + color + 1]
        if color == COLORS:
            visit_one_by_one(m, d, s, end, back, starts)
        elif left == 0 or not joined(m, d, s):
            many = behind_manifold(m, d, s, end) - s
    for place in range(many):
        visit_contact(m, d, s + step * turned(place, many, back), starts)


@kernel
def start_colors(m, d):
    """Contacts of the next colours do what they begin with; parallel over manifolds."""
    for k in ti.static(range(LCP_COLORS)):
        ti.loop_config(serialize=SERIAL)
        for i in range(d.lcp_head[HEAD_VISITORS + d.lcp_turn[COLOR] + k]):
            visit_manifold(m, d, d.lcp_turn[COLOR] + k, i, True)


@kernel
def sweep_colors(m, d):
    """A sweep over contacts of the next colours; parallel over manifolds."""
    for k in ti.static(range(LCP_COLORS)):
        ti.loop_config(serialize=SERIAL)
        for i in range(d.lcp_head[HEAD_VISITORS + d.lcp_turn[COLOR] + k]):
            visit_manifold(m, d, d.lcp_turn[COLOR] + k, i, False)


@kernel
def next_colors(m, d):
    """Behind these; the first ones are next behind the last; one thread."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        color = d.lcp_turn[COLOR] + LCP_COLORS
        d.lcp_turn[COLOR] = ti.select(color < d.lcp_head[HEAD_COLORS], color, 0)


@kernel
def next_bodies(m, d):
    """Bodies behind a substep, but for the last; parallel over them."""
    n = body_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        next_substep(m, d, body_at(m, d, k), False)
        if k == 0:
            d.lcp_turn[BACK] = 1 - d.lcp_turn[BACK]


@kernel
def last_bodies(m, d):
    """Bodies behind the last substep, qpos, qvel and qacc; parallel over them."""
    n = body_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        next_substep(m, d, body_at(m, d, k), True)
        end_body(m, d, body_at(m, d, k))


@kernel
def keep_contacts(m, d):
    """What is kept of contacts, and of the step; parallel over contacts, worlds."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        keep_contact(m, d, d.lcp_slot[c], c)
    ti.loop_config(serialize=SERIAL)
    for w in range(d.nworld):
        d.world_time[w] = d.world_time[w] + m.opt.timestep
        d.lcp_warm[w] = 1
        if w == 0:
            d.nlcp = d.ncon
