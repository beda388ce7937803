"""A step of the second dynamics by all threads of a GPU where bodies have joints: what tree_step.py does in one launch.

A tree is one thread's: its rows are solved from its leaves to its root and back. Contacts are swept as in step_all.py.
"""

from ..constants import HEAD_COLORS
from ..sleep.awake import is_tree_asleep, tree_at, tree_count
from ..types import SERIAL, kernel, ti
from .bodies import clear_body
from .elimination import fulfil_tree
from .joints import place_tree
from .lists import color_loops, loop_at
from .loops import measure_loop, sweep_loops
from .step_all import BACK
from .tree_step import is_swept, next_of_tree, turn_contact
from .trees import begin_tree, end_tree, rest_tree

FULFIL, LOOP = 2, 3  # places in lcp_turn: how rows are solved next, see fulfil_tree; the colour of loops that is next


@kernel
def begin_trees(m, d):
    """Bodies before a step; parallel over trees, and bodies of none."""
    trees = tree_count(m, d)
    bodies = d.nworld * m.nbody
    ti.loop_config(serialize=SERIAL)
    for k in range(ti.max(trees, bodies)):
        if k < trees:
            t = tree_at(m, d, k)
            if is_tree_asleep(m, d, t):
                rest_tree(m, d, t)
            else:
                begin_tree(m, d, t)
        if k < bodies:
            if m.body_treeid[k % m.nbody] < 0:
                clear_body(m, d, k)
        if k == 0:
            d.lcp_turn[FULFIL] = 2


@kernel
def turn_contacts(m, d):
    """Records of contacts behind a substep; parallel over slots."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for s in range(n):
        turn_contact(m, d, s)


@kernel
def fulfil_trees(m, d):
    """Rows of trees solved; parallel over trees."""
    n = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        t = tree_at(m, d, k)
        how = d.lcp_turn[FULFIL]
        if not is_tree_asleep(m, d, t) and (how > 0 or d.nworld == 1 or is_swept(m, d, t // m.ntree)):
            fulfil_tree(m, d, t, how)
    ti.loop_config(serialize=True)
    for _ in range(1):
        d.lcp_turn[FULFIL] = 0


@kernel
def next_trees(m, d):
    """Bodies behind a substep, but for the last; parallel over trees."""
    n = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        next_of_tree(m, d, tree_at(m, d, k), False)
        if k == 0:
            d.lcp_turn[FULFIL] = 1
            d.lcp_turn[BACK] = 1 - d.lcp_turn[BACK]


@kernel
def end_trees(m, d):
    """Bodies behind the last substep, qpos, qvel and qacc; parallel over trees."""
    n = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        t = tree_at(m, d, k)
        next_of_tree(m, d, t, True)
        if not is_tree_asleep(m, d, t):
            end_tree(m, d, t)


@kernel
def list_loops(m, d):
    """Connects and welds by colour, by one thread."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        color_loops(m, d)
        d.lcp_turn[LOOP] = 0


@kernel
def place_trees(m, d):
    """Poses of trees, for what connects and welds begin with; parallel over trees."""
    n = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        if not is_tree_asleep(m, d, tree_at(m, d, k)):
            place_tree(m, d, tree_at(m, d, k))


@kernel
def begin_loops(m, d):
    """Rows of connects and welds of the next colour, by as many threads as there are of all."""
    n = d.nworld * m.neqpose
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        sweep_loops(m, d, d.lcp_turn[LOOP], 1, k, n)


@kernel
def visit_loops(m, d):
    """A visit of connects and welds of the next colour."""
    n = d.nworld * m.neqpose
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        sweep_loops(m, d, d.lcp_turn[LOOP], 0, k, n)


@kernel
def next_loops(m, d):
    """Behind these; the first colour is next behind the last; one thread."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        color = d.lcp_turn[LOOP] + 1
        d.lcp_turn[LOOP] = ti.select(color < d.lcp_eq_head[HEAD_COLORS], color, 0)


@kernel
def measure_loops(m, d):
    """How far connects and welds are apart behind a step; parallel over them."""
    n = d.nworld * m.neqpose
    ti.loop_config(serialize=SERIAL)
    for i in range(n):
        measure_loop(m, d, loop_at(m, d, i))
