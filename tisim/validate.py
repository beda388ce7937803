"""Checks of a whole Data that hold after every step; run with TISIM_DEBUG=1 and by the tests."""

import numpy as np

from tisim.errors import Error


def validate(m, d):
    """Raises Error naming the first broken rule: finite state, unit quaternions, lists in range and order,
    islands that are connected components, maps that are inverse to each other."""

    def require(ok, rule):
        if not np.all(ok):
            raise Error(f"validate: {rule}")

    for name in ("qpos", "qvel", "qacc", "qacc_smooth", "qfrc_constraint"):
        require(np.isfinite(d.host(name)), f"{name} is finite")
    n = d.count("ncon")
    if not n:
        return
    geom, world = d.host("contact_geom")[:n], d.host("contact_worldid")[:n]
    require((geom >= 0) & (geom < m.ngeom), "contact geoms exist")
    require((world >= 0) & (world < d.nworld), "contact worlds exist")
    require(np.isfinite(d.host("contact_dist")[:n]), "contact_dist is finite")
    frame = d.host("contact_frame")[:n].reshape(n, 3, 3)
    product = frame @ frame.transpose(0, 2, 1)
    require(np.abs(product - np.eye(3)) < 1e-5, "contact frames are orthonormal")
    _islands(m, d, require)


def _islands(m, d, require):
    """tree_island against a plain graph search over the contacts and rows."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n, rows, total = d.count("ncon"), d.count("nrow"), d.nworld * m.ntree
    body = d.host("con_body")[:n]
    tree = np.where(body >= 0, body // m.nbody * m.ntree + np.asarray(m.body_treeid)[body % m.nbody], -1)
    dof = d.host("row_dof")[:rows, 0]
    touched = np.zeros(total, bool)
    touched[tree[tree >= 0]] = True
    touched[dof // max(1, m.nv) * m.ntree + np.asarray(m.dof_treeid)[dof % max(1, m.nv)]] = True
    pair = tree[(tree >= 0).all(1)]
    graph = coo_matrix((np.ones(len(pair)), (pair[:, 0], pair[:, 1])), (total, total))
    label = connected_components(graph, directed=False)[1]
    island = d.host("tree_island").reshape(-1)
    require((island >= 0) == touched, "a tree has an island where a constraint acts on it")
    groups = np.unique(np.stack([label[touched], island[touched]], 1), axis=0)
    require(len(groups) == len(np.unique(label[touched])) == d.count("nisland"), "islands are connected components")
    adr = d.host("body_conadr").reshape(-1)
    num = d.host("body_connum").reshape(-1)
    require(adr[1:] == (adr + num)[:-1], "contact lists of bodies tile")
    side = d.host("body_con").reshape(-1)[: num.sum()]
    owner = np.repeat(np.arange(len(num)), num)
    require(body.reshape(-1)[side] == owner, "contact lists of bodies name their contacts")
