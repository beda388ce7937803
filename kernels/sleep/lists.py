"""Lists of what is awake, by which the loops of a step go (awake.py); made anew when a tree woke or fell asleep.

A tree's bodies, geoms, dofs are stretches of the model's arrays, so all lists follow from that of the trees.
"""

from ..constants import NKIND
from ..smooth.kinematics import BLOCK, block_moment, present_mass
from ..types import func, kernel, ti
from .awake import is_geom_gone

CURSOR = NKIND + 1  # as in collision/candidates.py


@func
def append(m, d, first, num, at, items: ti.template()):
    """Appends num items from `first` to a list of `at` items; returns how many it has now."""
    for i in range(num):
        items[at + i] = first + i
    return at + num


@func
def append_boxes(m, d, w, b, num, at):
    """Appends what the bodies from b on have in the search; returns how many there are now."""
    n = at
    for i in range(b, b + num):
        if m.body_boxat[i] >= 0:
            d.awake_box[n] = w * m.nitem + m.body_boxat[i]
            n += 1
        for g in range(m.body_geomadr[i], m.body_geomadr[i] + m.body_geomnum[i]):
            if m.geom_boxat[g] >= 0:
                d.awake_box[n] = w * m.nitem + m.geom_boxat[g]
                n += 1
    return n


@func
def weigh_present(m, d):
    """Where trees were removed or added: masses of worlds, and sums over blocks that hold nothing awake."""
    changed = ti.min(1, d.nchanged)
    ti.loop_config(serialize=True)
    for k in range(changed * d.nworld):
        d.nchanged = 0
        d.present_mass[k] = present_mass(m, d, k, 0)
    ti.loop_config(serialize=True)
    for k in range(changed * d.nworld * ((m.nbody + BLOCK - 1) // BLOCK)):
        nblock = (m.nbody + BLOCK - 1) // BLOCK
        w = k // nblock
        block = k - w * nblock
        d.body_block[w * m.nbody + block] = block_moment(m, d, w, block * BLOCK)


@ti.dataclass
class Ends:
    """How long each list is so far."""

    body: ti.i32
    obj: ti.i32
    dof: ti.i32
    q: ti.i32
    box: ti.i32
    limited: ti.i32
    lossy: ti.i32


@kernel
def list_awake(m, d):
    """All lists but that of pairs, serial; nothing where they are as they were."""
    stale = ti.min(1, d.nstale)
    ti.loop_config(serialize=True)
    for _ in range(stale):
        d.nstale = 0
        d.nlivestale = 1
        d.nlcpstale = 1
        list_trees(m, d)
    ti.loop_config(serialize=True)
    for _ in range(stale):
        ends = Ends(body=0, obj=0, dof=0, q=0, box=0, limited=0, lossy=0)
        for w in range(d.nworld):
            append_always(m, d, w, ends)
        last_block = -1
        for k in range(d.ntawake):
            last_block = append_tree(m, d, d.awake_tree[k], last_block, ends)
        d.nbawake = ends.body
        d.noawake = ends.obj
        d.nvawake = ends.dof
        d.nqawake = ends.q
        d.nlawake = ends.limited
        d.nfawake = ends.lossy
        d.nboxawake = ends.box
    if ti.static(m.has.gone):
        weigh_present(m, d)


@func
def list_trees(m, d):
    """awake_tree; those that sleep lose what the step had in which they fell asleep."""
    tree = 0
    for wt in range(d.nworld * m.ntree):
        d.tree_woken[wt] = 0
        if d.tree_asleep[wt] < 0:
            d.awake_tree[tree] = wt
            tree += 1
        else:
            d.tree_island[wt] = -1
            d.tree_segnum[wt] = 0
            w = wt // m.ntree
            first = w * m.nbody + m.tree_bodyadr[wt - w * m.ntree]
            for b in range(first, first + m.tree_bodynum[wt - w * m.ntree]):
                d.body_connum[b] = 0
    d.ntawake = tree


@func
def append_always(m, d, w, ends: ti.template()):
    """Appends what has no joints of its own and moves all the same, or has to follow what is below it."""
    first = w * (m.nbody + m.ngeom + m.nsite)
    for k in range(m.nalways):
        b = m.always_body[k]
        ends.body = append(m, d, w * m.nbody + b, 1, ends.body, d.awake_body)
        ends.obj = append(m, d, first + b, 1, ends.obj, d.awake_object)
        if m.always_moves[k] == 1:
            ends.obj = append(m, d, first + b // BLOCK * BLOCK, 1, ends.obj, d.awake_object)
            append_shapes(m, d, w, m.body_geomadr[b], m.body_geomnum[b], m.body_siteadr[b], m.body_sitenum[b], ends)
            ends.box = append_boxes(m, d, w, b, 1, ends.box)


@func
def append_tree(m, d, wt, last_block, ends: ti.template()):
    """Appends what belongs to world-major tree wt. Sums over fixed blocks of bodies are made by the object of the first
    one: returns the last block that has been appended, `last_block` before."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    b, num = m.tree_bodyadr[t], m.tree_bodynum[t]
    first = w * (m.nbody + m.ngeom + m.nsite)
    nblock = (m.nbody + BLOCK - 1) // BLOCK
    for block in range(b // BLOCK, (b + num - 1) // BLOCK + 1):
        if w * nblock + block > last_block:
            last_block = w * nblock + block
            ends.obj = append(m, d, first + block * BLOCK, 1, ends.obj, d.awake_object)
    ends.body = append(m, d, w * m.nbody + b, num, ends.body, d.awake_body)
    append_shapes(m, d, w, m.tree_geomadr[t], m.tree_geomnum[t], m.tree_siteadr[t], m.tree_sitenum[t], ends)
    ends.dof = append(m, d, w * m.nv + m.tree_dofadr[t], m.tree_dofnum[t], ends.dof, d.awake_dof)
    ends.q = append(m, d, w * m.nq + m.tree_qposadr[t], m.tree_qposnum[t], ends.q, d.awake_qpos)
    limited = w * m.nlimited + m.tree_limitedadr[t]
    ends.limited = append(m, d, limited, m.tree_limitednum[t], ends.limited, d.awake_limited)
    lossy = w * m.nfriction + m.tree_lossyadr[t]
    ends.lossy = append(m, d, lossy, m.tree_lossynum[t], ends.lossy, d.awake_lossy)
    ends.box = append_boxes(m, d, w, b, num, ends.box)
    return last_block


@func
def append_shapes(m, d, w, geom, geoms, site, sites, ends: ti.template()):
    """Appends the objects of geoms and sites, so many from the first of each on."""
    first = w * (m.nbody + m.ngeom + m.nsite) + m.nbody
    ends.obj = append(m, d, first + geom, geoms, ends.obj, d.awake_object)
    ends.obj = append(m, d, first + m.ngeom + site, sites, ends.obj, d.awake_object)


@func
def geom_awake(m, d, w, g):
    """Whether geom g of world w belongs to a tree that is awake."""
    t = m.geom_treeid[g]
    awake = False
    if t >= 0:
        awake = d.tree_asleep[w * m.ntree + t] < 0
    return awake


@kernel
def list_live_pairs(m, d):
    """Pairs of which one geom is awake, and none removed, in their order and by collider; others have no contacts.
    Serial.

    Seed 003: a sleeping island is to collision what a static body is.
    """
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = ti.min(d.ncpair, d.npairmax)
        live = 0
        for k in range(NKIND + 1):
            d.bin_adr[k] = 0
        for p in range(n):
            i = d.cpair_geom1[p]
            w = i // m.ngeom
            awake = geom_awake(m, d, w, i - w * m.ngeom)
            if not awake:
                awake = geom_awake(m, d, w, d.cpair_geom2[p])
            if ti.static(m.has.gone):
                awake = awake and not is_geom_gone(m, d, w, i - w * m.ngeom)
                awake = awake and not is_geom_gone(m, d, w, d.cpair_geom2[p])
            d.cpair_ncon[p] = 0
            if awake:
                d.cpair_live[live] = p
                live += 1
                if d.cpair_kind[p] >= 0:
                    d.bin_adr[d.cpair_kind[p]] = d.bin_adr[d.cpair_kind[p]] + 1
        at = 0
        for k in range(NKIND + 1):
            x = d.bin_adr[k]
            d.bin_adr[k] = at
            d.bin_adr[CURSOR + k] = at
            at += x
        for k in range(live):
            p = d.cpair_live[k]
            if d.cpair_kind[p] >= 0:
                to = d.bin_adr[CURSOR + d.cpair_kind[p]]
                d.cpair_bin[to] = p
                d.bin_adr[CURSOR + d.cpair_kind[p]] = to + 1
        d.nlive = live
        d.nlivestale = 0
