"""Pairs with geoms in trees of boxes (model/tables/midphase.py): static ones, and those of bodies with many geoms."""

from ..types import *
from .boxes import GROW, ball_radius, boxes_meet
from .candidates import passes, put_candidate


@ti.func
def after(k):
    """Number of the node that follows when the subtree of node k is done; 0: none."""
    while k & 1:
        k >>= 1
    return ti.select(k > 0, k + 1, 0)


@func
def meets(m, d, n, lo, hi, extra):
    """Whether the box of node n, grown by extra, meets a box."""
    low = m.mid_box[n, 0]
    high = m.mid_box[n, 1]
    return (
        low[0] - extra <= hi[0]
        and lo[0] <= high[0] + extra
        and low[1] - extra <= hi[1]
        and lo[1] <= high[1] + extra
        and low[2] - extra <= hi[2]
        and lo[2] <= high[2] + extra
    )


@func
def leaf_from(m, d, node, base, nleaf, lo, hi, extra):
    """Number of the first leaf, from a node on in the order of its tree, whose box meets a box; 0: none."""
    k = node
    found = False
    while k > 0 and not found:
        if not meets(m, d, base + k, lo, hi, extra):
            k = after(k)
        elif k < nleaf:
            k = 2 * k
        else:
            found = True
    return k


@kernel
def search_static(m, d):
    """Candidate pairs of moving and static geoms, parallel over moving geoms."""
    base = m.mid_adr[d.ngroup]
    nleaf = m.mid_leaf[d.ngroup]
    ti.loop_config(serialize=SERIAL)
    for t in range(d.nworld * d.nbox):
        w = t // d.nbox
        g = d.box_item[t % d.nbox]
        if g < m.ngeom:
            lo = d.item_fatlo[w * m.nitem + g]
            hi = d.item_fathi[w * m.nitem + g]
            extra = ti.select(d.override, m.opt.o_margin, FP(0.0))
            k = leaf_from(m, d, 1, base, nleaf, lo, hi, extra)
            while k > 0:
                h = m.mid_geom[base + k]
                if passes(m, d, w * m.nitem + g, w * m.nitem + h, g, h):
                    at = ti.atomic_add(d.ncpair, 1)
                    put_candidate(m, d, at, w, g, h)
                k = leaf_from(m, d, after(k), base, nleaf, lo, hi, extra)


@kernel
def search_groups(m, d):
    """Candidate pairs of bodies with many geoms and what the sweep found near them, parallel over all it found."""
    skin = d.sweep_skin
    n = ti.min(d.nmid, d.npairmax)
    ti.loop_config(serialize=SERIAL)
    for t in range(n):
        w = d.mid_item1[t] // m.nitem
        a = d.mid_item1[t] - w * m.nitem
        b = d.mid_item2[t] - w * m.nitem
        if a < m.ngeom and b < m.ngeom:
            continue
        if a < m.ngeom or (b >= m.ngeom and m.mid_leaf[b - m.ngeom] > m.mid_leaf[a - m.ngeom]):
            a, b = b, a
        # a is the body whose tree is walked; b is a geom, or the body with fewer geoms, taken one by one
        first = 0
        count = 1
        if b >= m.ngeom:
            first = m.mid_adr[b - m.ngeom] + m.mid_leaf[b - m.ngeom]
            count = m.mid_leaf[b - m.ngeom]
        base = m.mid_adr[a - m.ngeom]
        nleaf = m.mid_leaf[a - m.ngeom]
        frame = w * m.nbody + m.mid_body[a - m.ngeom]
        R = d.xmat[frame].transpose()
        x = narrow(d.xpos[frame])
        extra = ti.select(d.override, m.opt.o_margin, FP(0.0)) + skin
        if ti.static(m.has.closing):
            extra += ball_radius(m, d, w * m.nitem + a)
        for s in range(count):
            h = b
            near = True
            if b >= m.ngeom:
                h = m.mid_geom[first + s]
                near = h >= 0
                if near:
                    near = boxes_meet(w * m.nitem + a, w * m.nitem + h, d.item_fatlo, d.item_fathi)
            if near:
                j = w * m.nitem + h
                center = R @ (0.5 * (d.item_fatlo[j] + d.item_fathi[j]) - x)
                half = ti.abs(R) @ (0.5 * (d.item_fathi[j] - d.item_fatlo[j])) * GROW
                k = leaf_from(m, d, 1, base, nleaf, center - half, center + half, extra)
                while k > 0:
                    g = m.mid_geom[base + k]
                    if boxes_meet(w * m.nitem + g, j, d.item_fatlo, d.item_fathi):
                        if passes(m, d, w * m.nitem + g, j, g, h):
                            at = ti.atomic_add(d.ncpair, 1)
                            put_candidate(m, d, at, w, g, h)
                    k = leaf_from(m, d, after(k), base, nleaf, center - half, center + half, extra)
