"""Small islands on a GPU: each is one thread's, whichever others there are. On a CPU workers share them out (newton.py,
lone.py), which takes numbers that they all count with; here they would wait for each other."""

from ..types import SERIAL, SPREAD, func, kernel
from .blocks import each
from .lone import solve_if_lone
from .newton import solve


@kernel
def lone_islands(m, d):
    """qacc and qfrc_constraint of islands of one free body alone; parallel over islands."""
    islands = d.nisland * SPREAD
    each(m, d, islands, SERIAL, SPREAD, solve_if_lone)


@kernel
def small_islands(m, d):
    """The same of the other islands that one thread solves; parallel over islands."""
    islands = d.nisland * SPREAD
    each(m, d, islands, SERIAL, SPREAD, solve_if_small)


@func
def solve_if_small(m, d, k):
    if d.island_shared[k] == 0 and d.ndense <= d.ndensemax:  # else the host makes room, and comes again
        solve(m, d, k, 0, 1)
