"""Checks of a whole Data that hold after every step and forward(); run with TISIM_DEBUG=1 and by the tests."""

import numpy as np

from tisim.enums import mjtCone, mjtJoint
from tisim.errors import Error
from tisim.model import lcp

from . import asleep
from .arrays import DATA

UNIT = 1e-5  # by which a unit quaternion or a frame may be off, in either precision
CONTACT_DIMS = (1, 3, 4, 6)
NAMES = dict(tree="trees", con="contacts", row="rows")


def validate(m, d):
    """Raises Error naming the first broken rule.

    Every number is finite and every quaternion of unit length; pairs and contacts exist and are in order, world by
    world; the lists that lead from one thing to others (bodies to contacts, trees and islands to contacts and rows)
    hold each of them once, where the ranges say; islands are the connected components of trees that constraints touch;
    sleeping islands are cycles of trees, sleepers do not move, and what is awake stands in the lists of what is.
    """
    lists = () if lcp.chosen(m) else (_contacts, _addresses, _rows, _islands)  # the second dynamics has none of these
    for check in (_finite, _quaternions, _sleep, _pairs, *lists):
        check(m, d)


def require(ok, rule):
    if not np.all(ok):
        raise Error(f"validate: {rule}")


def _finite(m, d):
    """Everything users see; of a list its filled part."""
    for name, array in DATA.items():
        if array.dtype == "i" or array.hidden:
            continue
        values = np.asarray(getattr(d, name)) if array.is_list else d.host(name)  # efc_ vectors are made when read
        require(np.isfinite(values), f"{name} is finite")


def _quaternions(m, d):
    def unit(q):
        return np.abs(np.linalg.norm(q, axis=-1) - 1) < UNIT

    require(unit(d.host("xquat")), "xquat is of unit length")
    kind, adr = np.asarray(m.jnt_type), np.asarray(m.jnt_qposadr)
    free, ball = adr[kind == mjtJoint.mjJNT_FREE] + 3, adr[kind == mjtJoint.mjJNT_BALL]
    place = np.concatenate([free, ball])[:, None] + np.arange(4)
    tree = np.asarray(m.body_treeid)[np.asarray(m.jnt_bodyid)]
    owner = np.concatenate([tree[kind == mjtJoint.mjJNT_FREE], tree[kind == mjtJoint.mjJNT_BALL]])
    awake = d.host("tree_asleep")[:, owner] < 0  # a sleeper's are as the user left them
    require(unit(d.host("qpos")[:, place]) | ~awake, "quaternions in qpos are of unit length")


def _pairs(m, d):
    """Candidate pairs: their order, their collider's lists, their slots."""
    n = d.count("ncpair")
    first, second, listed, kind, slot, ncon = (
        d.host(f"cpair_{name}")[:n].astype(np.int64) for name in ("geom1", "geom2", "listed", "kind", "slot", "ncon")
    )
    require((first >= 0) & (first < d.nworld * m.ngeom) & (second >= 0) & (second < m.ngeom), "geoms of pairs exist")
    step = np.diff(first * m.ngeom + second)
    require((step > 0) | (step == 0) & (listed[1:] >= 0), "pairs are sorted by world and geoms, each listed once")
    live = _live(m, d)
    binned = d.host("cpair_bin")[: (kind[live] >= 0).sum()]
    require(np.sort(binned) == live[kind[live] >= 0], "the pairs of all colliders are the pairs")
    require(np.diff(kind[binned]) >= 0, "pairs are listed by collider")
    require(ncon >= 0, "every pair was computed")
    order = np.flatnonzero(ncon)[np.argsort(slot[ncon > 0], kind="stable")]
    end = slot[order] + ncon[order]
    require((slot[order][1:] >= end[:-1]) & (end[-1:] <= d.capacity("nslotmax")), "pairs have slots of their own")


def _contacts(m, d):
    """The contact list: its order, its numbers, where its pairs and rows point."""
    n, npair = d.count("ncon"), d.count("ncpair")
    geom, world = d.host("contact_geom")[:n].astype(np.int64), d.host("contact_worldid")[:n]
    require((geom >= 0) & (geom < m.ngeom), "contact geoms exist")
    require((world >= 0) & (world < d.nworld), "contact worlds exist")
    require(np.diff((world * m.ngeom + geom[:, 0]) * m.ngeom + geom[:, 1]) >= 0, "contacts are sorted")
    live = _live(m, d)
    first, second, number = (d.host(f"cpair_{name}")[live] for name in ("geom1", "geom2", "ncon"))
    require(d.host("cpair_ncon")[:npair].sum() == number.sum(), "pairs of sleepers have no contacts")
    require(number.sum() == n, "contacts are those of their pairs")
    require(np.repeat(first, number) == world * m.ngeom + geom[:, 0], "contacts are those of their pairs")
    require(np.repeat(second, number) == geom[:, 1], "contacts are those of their pairs")
    frame = d.host("contact_frame")[:n].reshape(n, 3, 3)
    require(np.abs(frame @ frame.transpose(0, 2, 1) - np.eye(3)) < UNIT, "contact frames are orthonormal")
    dim, exclude = d.host("contact_dim")[:n], d.host("contact_exclude")[:n]
    require(np.isin(dim, CONTACT_DIMS), "contact_dim is 1, 3, 4 or 6")
    rows = np.where(exclude == 0, dim if m.opt.cone == mjtCone.mjCONE_ELLIPTIC else np.maximum(1, 2 * (dim - 1)), 0)
    address, start = d.host("contact_efc_address")[:n], d.count("nrow") + np.cumsum(rows) - rows
    require(address == np.where(rows > 0, start, -1), "rows of contacts tile")
    require(d.count("nefc") == d.count("nrow") + rows.sum(), "nefc counts all rows")


def _sleep(m, d):
    """tree_asleep: its values, its cycles, and the lists of what is awake."""
    asleep_of = d.host("tree_asleep").astype(np.int64)
    sleeps, gone = asleep_of >= 0, asleep_of == asleep.GONE
    known = (asleep_of >= asleep.AWAKE) & (asleep_of < m.ntree) | gone
    require(known, "tree_asleep counts from -11 to -1, names a tree, or says that it was removed")
    if not asleep.listed(m):
        return require(~gone, "what was removed is known to the model")
    for world, following in enumerate(asleep_of):
        own = np.flatnonzero(sleeps[world] & ~gone[world])
        require(np.sort(following[own]) == own, "sleeping islands are cycles of sleepers")
    tree = np.asarray(m.dof_treeid)
    require(d.host("qvel")[(sleeps & ~gone)[:, tree]] == 0, "sleepers have no velocity")
    if not d.count("nstale"):
        require(_listed_now(m, d, "tree") == np.flatnonzero(~sleeps), "the trees that are awake are listed")
        rows = [(~sleeps[:, owner]).reshape(-1) for owner in (tree, np.repeat(np.arange(m.ntree), _qposnum(m)))]
        for name, count, row in zip(("dof", "qpos"), ("nvawake", "nqawake"), rows):
            require(d.host(f"awake_{name}").reshape(-1)[: d.count(count)] == np.flatnonzero(row), f"{name} are listed")


def _qposnum(m):
    return np.asarray(m.derived("tree_qposnum"))


def _listed_now(m, d, kind):
    """World-major trees or bodies that the last step went by."""
    if not asleep.listed(m):
        return np.arange(d.nworld * (m.ntree if kind == "tree" else m.nbody))
    count = dict(tree="ntawake", body="nbawake")[kind]
    return d.host(f"awake_{kind}").reshape(-1)[: d.count(count)].astype(np.int64)


def _live(m, d):
    """Pairs that have colliders run: all, or those of which one geom is awake."""
    if not asleep.listed(m):
        return np.arange(d.count("ncpair"))
    return d.host("cpair_live")[: d.count("nlive")].astype(np.int64)


def _tile(adr, number, total, what):
    """Ranges follow each other from 0 to total."""
    end = np.cumsum(number)
    require(adr == end - number, f"{what} tile")
    require((end[-1] if len(end) else 0) == total, f"{what} are all")


def _listed(adr, number, items, owner, what):
    """items[adr[k] : adr[k] + number[k]] are those whose owner is k, in order; an owner of -1 has none."""
    require(number == np.bincount(owner[owner >= 0], minlength=len(number)), f"{what} are counted")
    _tile(adr, number, (owner >= 0).sum(), what)
    expected = np.argsort(owner, kind="stable")[(owner < 0).sum() :]
    require(items[: len(expected)] == expected, f"{what} are listed")


def _in_order(items, adr, number, islands):
    """items with those of these islands sorted, whose lists follow a curve through space."""
    items = items.copy()
    for k in islands:
        items[adr[k] : adr[k] + number[k]].sort()
    return items


def _rows(m, d):
    """Jacobians of rows: their dofs, and the parts of rows that act on each tree."""
    n, total = d.count("nrow"), d.count("nJ")
    require(n <= d.capacity("nrowmax") and total <= d.capacity("nJmax"), "rows and their Jacobians fit")
    adr, number, dof = d.host("row_adr")[:n], d.host("row_num")[:n], d.host("J_dof")[:total]
    _tile(adr, number, total, "Jacobians of rows")
    require(number > 0, "every row acts on a dof")
    require((dof >= 0) & (dof < d.nworld * m.nv), "dofs of rows exist")
    row = np.repeat(np.arange(n), number)
    within = row[1:] == row[:-1]
    require(~within | (np.diff(dof) > 0), "dofs of rows are sorted")
    require(~within | (dof[1:] // max(1, m.nv) == dof[:-1] // max(1, m.nv)), "dofs of rows are of one world")
    if not d.count("nefc"):
        return  # no lists are made
    tree = _trees_of_dofs(m, dof)
    begin = np.flatnonzero(np.concatenate([[True], ~within | (np.diff(tree) != 0)])) if total else np.zeros(0, int)
    flat = {name: d.host(name).reshape(-1) for name in ("tree_segadr", "tree_segnum", "seg_row", "seg_adr", "seg_num")}
    ids = _listed_now(m, d, "tree")
    place = np.full(d.nworld * m.ntree, -1)
    place[ids] = np.arange(len(ids))
    require(place[tree] >= 0, "trees on which rows act are awake")
    owner = place[tree[begin]]
    order = np.argsort(owner, kind="stable")
    require(flat["tree_segnum"][ids] == np.bincount(owner, minlength=len(ids)), "rows of trees are counted")
    _tile(flat["tree_segadr"][ids], flat["tree_segnum"][ids], len(begin), "rows of trees")
    listed = [flat[name][: len(begin)] for name in ("seg_row", "seg_adr", "seg_num")]
    for values, expected in zip(listed, (row[begin], begin, np.diff(np.append(begin, total)))):
        require(values == expected[order], "rows of trees are listed")
    require(d.host("row_tree")[:n] == tree[adr], "rows know their trees")
    single = np.tile(np.asarray(m.derived("tree_free"), bool), d.nworld) & (flat["tree_segnum"] == 0)
    require(d.host("tree_single").reshape(-1)[ids] == single[ids], "single bodies have no rows")


def _addresses(m, d):
    """Contacts of each body."""
    if not d.count("nefc"):
        return  # they are not made
    body = d.host("con_body")[: d.count("ncon")]
    flat = {name: d.host(name).reshape(-1) for name in ("body_conadr", "body_connum", "body_con")}
    ids = _listed_now(m, d, "body")
    place = np.full(d.nworld * m.nbody + 1, -1)  # the last one is that of body -1
    place[ids] = np.arange(len(ids))
    require((place[body] >= 0) == (body >= 0), "bodies that constraints touch are awake")
    adr, number = flat["body_conadr"][ids], flat["body_connum"][ids]
    _listed(adr, number, flat["body_con"], place[body.reshape(-1)], "contacts of bodies")


def _trees_of_dofs(m, dof):
    return dof // max(1, m.nv) * m.ntree + np.asarray(m.dof_treeid)[dof % max(1, m.nv)]


def _islands(m, d):
    """tree_island against a plain graph search over contacts and rows, and what is listed by island."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    body, dof = d.host("con_body")[: d.count("ncon")], d.host("J_dof")[: d.count("nJ")]
    total, touching = d.nworld * m.ntree, _trees_of_dofs(m, dof)
    row = touching[d.host("row_adr")[: d.count("nrow")]]  # the first tree of each row
    tree = np.where(body >= 0, body // m.nbody * m.ntree + np.asarray(m.body_treeid)[body % m.nbody], -1)
    touched = np.zeros(total, bool)
    touched[tree[tree >= 0]] = touched[touching] = True
    also = np.stack([np.repeat(row, d.host("row_num")[: len(row)]), touching], 1)
    pair = np.concatenate([tree[(tree >= 0).all(1)], also])
    label = connected_components(coo_matrix((np.ones(len(pair)), pair.T), (total, total)), directed=False)[1]
    island, count = d.host("tree_island").reshape(-1), d.count("nisland")
    require((island >= 0) == touched, "a tree has an island where a constraint acts on it")
    groups = np.unique(np.stack([label[touched], island[touched]], 1), axis=0)
    names = [len(np.unique(x[touched])) for x in (label, island)]
    require(len(groups) == names[0] == names[1] == count, "islands are connected components")
    if not count:
        return
    first = np.unique(island[touched], return_index=True)
    require(first[0] == np.arange(count), "islands are numbered without gaps")
    require(np.diff(first[1]) > 0, "islands are numbered in the order of their first trees")

    def of_islands(name):
        return d.host(f"island_{name}").reshape(-1)[:count]

    packed = np.flatnonzero((of_islands("shared") > 0) & (of_islands("single") == 1) if m.features().packed else [])
    of_contact = np.where((tree >= 0).any(1), island[tree.max(1)], -1)
    for item, owner in dict(tree=island, con=of_contact, row=island[row]).items():
        items = d.host(f"island_{item}").reshape(-1)
        if item != "row":
            items = _in_order(items, of_islands(f"{item}adr"), of_islands(f"{item}num"), packed)
        _listed(of_islands(f"{item}adr"), of_islands(f"{item}num"), items, owner, f"{NAMES[item]} of islands")
    order = d.host("island_tree").reshape(-1)[: touched.sum()]
    dofs = np.asarray(m.tree_dofnum)[order % m.ntree]
    begin = np.cumsum(dofs) - dofs
    begin = begin - begin[of_islands("treeadr")][island[order]]
    require(d.host("tree_dofstart").reshape(-1)[order] == begin, "dofs of islands tile")
    require(np.bincount(island[order], dofs, count) == of_islands("dofnum"), "dofs of islands are counted")
    shared = of_islands("shared")
    large = shared[shared != 0]
    require((shared == 0).sum() == d.count("nsmall"), "every island is small or large")
    require(np.array_equal(large, 1 + np.arange(d.count("nlarge"))), "large islands are numbered")
