"""Concave meshes as convex parts: shapes collide as their convex hulls, so a bowl that shall hold something needs them.

Method: collision-aware concavity and tree search (Wei, Liu, Ling, Su, 2022), by the library CoACD, the extra
`tisim[decompose]`. Parts are kept in the cache, found by a hash of the mesh and of all settings.
"""

import hashlib
import importlib.metadata
import os

import numpy as np

from tisim.device import cache
from tisim.device.damaged import DAMAGED
from tisim.enums import mjtGeom
from tisim.errors import Error, brief
from tisim.mjcf.rotations import rotate

CONCAVITY = 0.05  # of a mesh whose largest extent is 2: CoACD's default
SHOWN_GROUP, HIDDEN_GROUP = 2, 3  # of geoms, as MuJoCo's models have it: what is seen, what collides


def decompose(spec, meshes=None, threshold=CONCAVITY, maxhulls=-1, seed=0, show=None):
    """Spec.decompose."""
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0.01 <= threshold <= 1:
        raise Error(f"threshold={brief(threshold)}: expected 0.01 (close) to 1 (rough)")
    if isinstance(maxhulls, bool) or not isinstance(maxhulls, int) or not (maxhulls == -1 or maxhulls > 0):
        raise Error(f"maxhulls={brief(maxhulls)}: expected a positive number, or -1 for as many as it takes")
    m = spec.compile()
    users = _colliding(spec)
    names = sorted(users) if meshes is None else [meshes] if isinstance(meshes, str) else list(meshes)
    parts = {}
    for k, name in enumerate(names):
        if name not in users:
            spec.mesh(name)  # Error with the near names where there is none
            raise Error(f"mesh '{name}': no geom that collides uses it")
        if show:
            show(k, len(names), name)
        parts[name] = convex_parts(*triangles(m, name), threshold, maxhulls, seed)
    for name, found in parts.items():
        if len(found) > 1:
            _replace(spec, name, users[name], found)
    return {name: len(found) for name, found in parts.items()}


def triangles(m, name):
    """(vertices (n, 3), faces (f, 3)) of a mesh in the coordinates of its file, scaled."""
    k = m.name2id("mesh", name)
    first, count = int(m.mesh_vertadr[k]), int(m.mesh_vertnum[k])
    vertices = np.asarray(m.mesh_vert, float)[first : first + count]
    vertices = rotate(np.asarray(m.mesh_quat[k], float), vertices) + np.asarray(m.mesh_pos[k], float)
    first, count = int(m.mesh_faceadr[k]), int(m.mesh_facenum[k])
    return vertices, np.asarray(m.mesh_face, np.int32)[first : first + count]


def convex_parts(vertices, faces, threshold=CONCAVITY, maxhulls=-1, seed=0):
    """[vertices (n, 3)] of convex parts, by CoACD or as it was found before. Raises Error where CoACD is not there."""
    try:
        version = importlib.metadata.version("coacd")
        import coacd
    except ImportError:
        raise Error("convex decomposition needs CoACD: pip install coacd (the extra tisim[decompose])") from None
    h = hashlib.sha256(repr((version, threshold, maxhulls, seed)).encode())
    for array in (vertices, faces):
        h.update(np.ascontiguousarray(array).tobytes() + repr(array.shape).encode())
    path = cache.folder() / "decompose" / f"{h.hexdigest()[:32]}.npz"
    try:
        with np.load(path, allow_pickle=False) as kept:
            return [kept[name] for name in sorted(kept.files)]
    except (OSError, *DAMAGED):  # made anew
        pass
    coacd.set_log_level("error")
    found = coacd.run_coacd(coacd.Mesh(vertices, faces), threshold=threshold, max_convex_hull=maxhulls, seed=seed)
    parts = [np.asarray(v, float) for v, _ in found]
    if not parts:
        raise Error("CoACD found no parts in a mesh: is it closed?")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        own = path.with_suffix(f".{os.getpid()}")
        with open(own, "wb") as f:
            np.savez(f, **{f"part_{k:04d}": v for k, v in enumerate(parts)})
        own.replace(path)
    except OSError:  # a cache that cannot be written is none
        pass
    return parts


def _colliding(spec):
    """dict mesh name -> geoms that collide as this mesh."""
    users = {}
    for geom in spec.geoms:
        if geom.type == mjtGeom.mjGEOM_MESH and geom.meshname and (geom.contype or geom.conaffinity):
            users.setdefault(geom.meshname, []).append(geom)
    return users


def _replace(spec, name, geoms, parts):
    """Each geom of a mesh is seen as before and keeps its mass; beside it stand geoms of the parts, which collide."""
    words = [f"{name}_part{k}" for k in range(len(parts))]
    for word, vertices in zip(words, parts):
        spec.add_mesh(name=word, uservert=vertices.ravel(), inertia="convex")
    for geom in geoms:
        holder = spec._handle(spec._parent(geom._node))
        kept = {
            key: value for key, value in geom._node.attrib.items() if key not in ("name", "mesh", "mass", "density")
        }
        for k, word in enumerate(words):
            label = dict(name=f"{geom.name}_part{k}") if geom.name else {}
            part = holder.add_geom(**label)
            part._node.attrib.update(kept)
            part.update(meshname=word, mass=0, group=HIDDEN_GROUP)
        geom.update(contype=0, conaffinity=0, group=SHOWN_GROUP)
