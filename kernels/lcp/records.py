"""Records of contacts before a step, LANES at once where they lie side by side."""

from ..constants import HEAD_COLORS
from ..sort import first_from
from ..team import meet, share
from ..types import called, func, ti
from .contacts import AT_ONCE, PAIR_SIZE, SIZE, bodies_of, bounce, numbers_of, prepare_contact
from .lists import COLORS, HEAD_FIRST, HEAD_SINGLES, HEAD_SIZES, LANES, MOST_ABREAST

STRETCH = 2048  # contacts of the list, about, that are in the cache while records are made of them


@called("maximal")
def prepare_contacts(m, d, me: ti.i32, size: ti.i32):
    """A worker's part of the records. Colours are gone through for one stretch of the list after the other, since a
    colour's contacts lie all over the list."""
    ncon = d.ncon
    if ncon > 0:
        many = size * ((ncon + size * STRETCH - 1) // (size * STRETCH))
        first, behind = share(many, me, size)
        kinds = MOST_ABREAST * ti.min(d.lcp_head[HEAD_COLORS], COLORS)
        for part in range(first, behind):
            begin, end = share(ncon, part, many)
            for kind in range(kinds + 1):
                s = d.lcp_head[HEAD_SINGLES]  # of those that are not side by side, by colour
                low, high = share((ncon - s) // LANES, part, many)
                if kind < kinds:
                    s, low, high = slots_of(m, d, kind, begin, end)
                for k in range(low, high):
                    prepare_abreast(m, d, s + LANES * k)
        if me == 0:
            for s in range(ncon // LANES * LANES, ncon):
                prepare_contact(m, d, s, d.lcp_order[s])
        if d.lcp_bounce > 0.0:
            meet(m, d, me, size)
            first, behind = share(ncon, me, size)
            for s in range(first, behind):
                bounce(m, d, s)


@func
def slots_of(m, d, kind, begin, end):
    """(first slot of a colour's manifolds of one size, which LANES of these are in the stretch from contact `begin` to
    `end`, from and to): those whose first begins there."""
    first, rows = d.lcp_head[HEAD_FIRST + kind], kind % MOST_ABREAST + 1
    n = d.lcp_head[HEAD_SIZES + kind] // LANES
    low = first_from(d.lcp_order, first, LANES * rows, n, begin)
    return first, rows * low, rows * first_from(d.lcp_order, first, LANES * rows, n, end)


@func
def prepare_abreast(m, d, s):
    """The records of the contacts in LANES slots from s on, a multiple of LANES: LLVM computes their numbers as
    vectors, as all is read before anything is written."""
    for i in ti.static(range(LANES)):
        wb1, wb2 = bodies_of(m, d, d.lcp_order[s + i])
        d.lcp_pair[PAIR_SIZE * (s + i)] = wb1
        d.lcp_pair[PAIR_SIZE * (s + i) + 1] = wb2
    x = [numbers_of(m, d, d.lcp_order[s + i]) for i in ti.static(range(LANES))]
    for part in ti.static(range(SIZE // AT_ONCE)):
        for e in ti.static(range(AT_ONCE * part, AT_ONCE * (part + 1))):
            for i in ti.static(range(LANES)):
                d.lcp_rec[SIZE * s + LANES * e + i] = x[i][e]
