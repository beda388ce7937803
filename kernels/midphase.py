"""Pairs with geoms in trees of boxes (tisim/midphase.py): static ones, and those of bodies with many geoms."""

from tisim.kernels.boxes import GROW, SKIN, boxes_meet
from tisim.kernels.broadphase import passes, put_candidate
from tisim.kernels.constants import NMID, NPAIR
from tisim.kernels.types import *


@ti.func
def after(k):
    """Number of the node that follows when the subtree of node k is done; 0: none."""
    while k & 1:
        k >>= 1
    return ti.select(k > 0, k + 1, 0)


@ti.func
def meets(n, lo, hi, extra, mid_box: ti.template()):
    """Whether the box of node n, grown by extra, meets a box."""
    return (
        mid_box[6 * n] - extra <= hi[0] and lo[0] <= mid_box[6 * n + 3] + extra
        and mid_box[6 * n + 1] - extra <= hi[1] and lo[1] <= mid_box[6 * n + 4] + extra
        and mid_box[6 * n + 2] - extra <= hi[2] and lo[2] <= mid_box[6 * n + 5] + extra
    )  # fmt: skip


@ti.func
def leaf_from(node, base, nleaf, lo, hi, extra, mid_box: ti.template()):
    """Number of the first leaf, from a node on in the order of its tree, whose box meets a box; 0: none."""
    k = node
    found = False
    while k > 0 and not found:
        if not meets(base + k, lo, hi, extra, mid_box):
            k = after(k)
        elif k < nleaf:
            k = 2 * k
        else:
            found = True
    return k


@kernel
def search_static(
    nworld: ti.i32, ngeom: ti.i32, nitem: ti.i32, nbox: ti.i32, ngroup: ti.i32, nlisted: ti.i32, nexclude: ti.i32,
    npairmax: ti.i32, filterparent: ti.i32, override: ti.i32, o_margin: FP, box_item: I, item_fatlo: F, item_fathi: F,
    mid_box: F, mid_geom: I, mid_adr: I, mid_leaf: I,
    item_ball: F, geom_reach: F, geom_margin: F, geom_type: I, geom_filter: I,
    exclude_body1: I, exclude_body2: I, listed_geom1: I, listed_geom2: I,
    counts: I, cand_geom1: I, cand_geom2: I, cand_listed: I,
):  # fmt: skip
    """Candidate pairs of moving and static geoms, parallel over moving geoms."""
    base = mid_adr[ngroup]
    nleaf = mid_leaf[ngroup]
    ti.loop_config(serialize=SERIAL)
    for t in range(nworld * nbox):
        w = t // nbox
        g = box_item[t % nbox]
        if g < ngeom:
            lo = ld3(item_fatlo, w * nitem + g)
            hi = ld3(item_fathi, w * nitem + g)
            extra = ti.select(override, o_margin, FP(0.0))
            k = leaf_from(1, base, nleaf, lo, hi, extra, mid_box)
            while k > 0:
                h = mid_geom[base + k]
                if passes(
                    w * nitem + g, w * nitem + h, g, h, filterparent, nexclude, nlisted, override, o_margin, item_ball,
                    geom_reach, geom_margin, geom_filter, exclude_body1, exclude_body2, listed_geom1, listed_geom2,
                ):  # fmt: skip
                    at = ti.atomic_add(counts[NPAIR], 1)
                    put_candidate(at, w, g, h, ngeom, npairmax, geom_type, cand_geom1, cand_geom2, cand_listed)
                k = leaf_from(after(k), base, nleaf, lo, hi, extra, mid_box)


@kernel
def search_groups(
    ngeom: ti.i32, nitem: ti.i32, nbody: ti.i32, nlisted: ti.i32, nexclude: ti.i32, npairmax: ti.i32,
    filterparent: ti.i32, override: ti.i32, o_margin: FP, item_fatlo: F, item_fathi: F, mid_box: F, mid_geom: I,
    mid_adr: I, mid_leaf: I, mid_body: I, mid_item1: I, mid_item2: I, xpos: F, xmat: F,
    item_ball: F, geom_reach: F, geom_margin: F, geom_type: I, geom_filter: I, sweep_scale: F,
    exclude_body1: I, exclude_body2: I, listed_geom1: I, listed_geom2: I,
    counts: I, cand_geom1: I, cand_geom2: I, cand_listed: I,
):  # fmt: skip
    """Candidate pairs of bodies with many geoms and what the sweep found near them, parallel over all it found."""
    skin = sweep_scale[SKIN]
    n = ti.min(counts[NMID], npairmax)
    ti.loop_config(serialize=SERIAL)
    for t in range(n):
        w = mid_item1[t] // nitem
        a = mid_item1[t] - w * nitem
        b = mid_item2[t] - w * nitem
        if a < ngeom and b < ngeom:
            continue
        if a < ngeom or (b >= ngeom and mid_leaf[b - ngeom] > mid_leaf[a - ngeom]):
            a, b = b, a
        # a is the body whose tree is walked; b is a geom, or the body with fewer geoms, taken one by one
        first = 0
        count = 1
        if b >= ngeom:
            first = mid_adr[b - ngeom] + mid_leaf[b - ngeom]
            count = mid_leaf[b - ngeom]
        base = mid_adr[a - ngeom]
        nleaf = mid_leaf[a - ngeom]
        frame = w * nbody + mid_body[a - ngeom]
        R = ldm(xmat, frame).transpose()
        x = ld3(xpos, frame)
        extra = ti.select(override, o_margin, FP(0.0)) + skin
        for s in range(count):
            h = b
            near = True
            if b >= ngeom:
                h = mid_geom[first + s]
                near = h >= 0
                if near:
                    near = boxes_meet(w * nitem + a, w * nitem + h, item_fatlo, item_fathi)
            if near:
                j = w * nitem + h
                center = R @ (0.5 * (ld3(item_fatlo, j) + ld3(item_fathi, j)) - x)
                half = ti.abs(R) @ (0.5 * (ld3(item_fathi, j) - ld3(item_fatlo, j))) * GROW
                k = leaf_from(1, base, nleaf, center - half, center + half, extra, mid_box)
                while k > 0:
                    g = mid_geom[base + k]
                    if boxes_meet(w * nitem + g, j, item_fatlo, item_fathi):
                        if passes(
                            w * nitem + g, j, g, h, filterparent, nexclude, nlisted, override, o_margin, item_ball,
                            geom_reach, geom_margin, geom_filter, exclude_body1, exclude_body2, listed_geom1,
                            listed_geom2,
                        ):  # fmt: skip
                            at = ti.atomic_add(counts[NPAIR], 1)
                            put_candidate(at, w, g, h, ngeom, npairmax, geom_type, cand_geom1, cand_geom2, cand_listed)
                    k = leaf_from(after(k), base, nleaf, center - half, center + half, extra, mid_box)
