"""Which dofs enter the row of a tendon at a pose, so that a row joins no trees that it does not act on.

As in MuJoCo 3.4.0: where matrices are dense, those whose entry is not 0; where they are sparse, those that change a
piece of the path whatever its direction. A geom that is not touched is no part of the path.
"""

from ..constants import JAC_AUTO, JAC_DENSE
from ..types import func, ti

LEAST_SPARSE = 60  # dofs from which on jacobian="auto" means sparse


@func
def is_dense(m):
    """Whether MuJoCo's matrices of the model are dense."""
    return m.opt.jacobian == JAC_DENSE or (m.opt.jacobian == JAC_AUTO and m.nv < LEAST_SPARSE)


@func
def element_of(m, c):
    """The element of a path behind which the line of tendon_cross[c] lies."""
    return (ti.abs(m.tendon_cross[c]) - 1) // 2


@func
def is_in_jacobian(m, d, w, a):
    """Whether entry a of the tendons is one of the Jacobian in world w at this pose."""
    found = d.ten_J[w * m.ntendonJ + a] != 0.0
    if not found and not is_dense(m):
        begin = m.tendon_crossadr[a]
        end = begin + m.tendon_crossnum[a]
        found = begin == end  # of a fixed tendon
        for c in range(begin, end):
            k = element_of(m, c)
            both = False  # it changes the lines before and behind a geom; untouched, these are one
            if c > begin:
                both = element_of(m, c - 1) == k
            if c + 1 < end:
                both = both or element_of(m, c + 1) == k
            if not both:
                found = True
            elif d.wrap_touch[w * m.nwrap + k + 1] == 1:
                found = True
    return found


@func
def entry_count(m, d, w, t):
    """Entries of the Jacobian of tendon t at this pose."""
    n = 0
    for a in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
        n += ti.cast(is_in_jacobian(m, d, w, a), ti.i32)
    return n
