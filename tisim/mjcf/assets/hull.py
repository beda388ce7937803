"""Convex hulls of meshes, in mesh_graph's layout.

The hull is Qhull's (Barber, Dobkin & Huhdanpaa 1996), with MuJoCo's options: the same facets in the same
order.
"""

import numpy as np


def convex_hull(vert, maxhullvert=-1):
    """(face, graph) of the convex hull of vert (n, 3).

    face  (f, 3) int32 triangles, counterclockwise seen from outside;  graph  int32, as in mesh_graph: numvert, numface,
    vert_edgeadr, vert_globalid, edge_localid, face_globalid;  maxhullvert  limit of the number of vertices, -1: none.
    ValueError where the vertices span no volume.
    """
    from scipy.spatial import ConvexHull, QhullError  # here, since it takes a while and few models need it

    options = "Qt" if maxhullvert < 0 else f"Qt TA{maxhullvert - 4}"
    try:
        hull = ConvexHull(vert, qhull_options=options)
    except (QhullError, ValueError) as e:
        reason = str(e).strip().partition("\n")[0]
        raise ValueError(f"no convex hull can be computed: {reason}") from None
    raw = hull.simplices.astype(np.int32)
    face = raw.copy()
    a, b, c = np.moveaxis(vert[raw], 1, 0)
    inward = np.sum(np.cross(b - a, c - a) * hull.equations[:, :3], 1) < 0
    face[inward] = raw[inward][:, [1, 0, 2]]
    return face, _graph(raw, hull.equations, face)


def _graph(raw, planes, face):
    """mesh_graph of a hull.

    raw  (f, 3) facets with their vertices in Qhull's order, which scipy keeps;  planes  (f, 4) their equations.
    A vertex's neighbours stand in the order in which the facets name them.
    """
    used = _vertex_order(raw, planes)
    nvert, nface = len(used), len(raw)
    rank = np.zeros(raw.max() + 1, int)
    rank[used] = np.arange(nvert)
    local = rank[raw]
    pair = np.stack([local[:, [i, j]] for i in range(3) for j in range(3) if i != j], 1).reshape(-1, 2)
    place = np.unique(pair[:, 0] * nvert + pair[:, 1], return_index=True)[1]
    edge = pair[place]
    edge = edge[np.lexsort([place, edge[:, 0]])]
    count = np.bincount(edge[:, 0], minlength=nvert)
    start = np.cumsum(count + 1) - count - 1
    neighbour = np.full(nvert + 3 * nface, -1)
    neighbour[np.arange(len(edge)) + edge[:, 0]] = edge[:, 1]
    return np.concatenate([[nvert, nface], start, used, neighbour, face.ravel()]).astype(np.int32)


def _vertex_order(raw, planes):
    """The vertices of a hull in the order of Qhull's list: of several lowest vertices the first one there is found.

    Qhull builds a hull cone by cone, and moves the vertices of a new cone to the end of its list. The facets of a cone
    follow each other and have its tip as their first vertex. In the end it cuts flat sides into triangles, which share
    one plane and stand last, and moves their vertices to the end.
    """
    if len(raw) == 4:  # no cone was built, and each facet has its vertices in the list's order
        vertex, place = np.unique(raw.ravel(), return_inverse=True)
        place, before = place.reshape(4, 3), np.zeros((4, 4), bool)
        before[place[:, [0, 0, 1]], place[:, [1, 2, 2]]] = True
        return vertex[np.argsort(before.sum(0))]
    cut = np.flatnonzero((planes[1:] == planes[:-1]).all(1))
    cut = cut[0] if len(cut) else len(raw)
    cone = np.concatenate([[0], np.cumsum(raw[1:, 0] != raw[:-1, 0])])
    cone[cut:] = cone[-1] + 1
    last = np.zeros(raw.max() + 1, int)
    np.maximum.at(last, raw.ravel(), np.repeat(cone, 3))
    named = raw.ravel()[last[raw.ravel()] == np.repeat(cone, 3)]
    vertex, place = np.unique(named, return_index=True)
    return vertex[np.argsort(place)]
