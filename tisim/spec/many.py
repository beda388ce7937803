"""Many copies of a body at once: at given poses, or scattered without overlap."""

import numpy as np

from tisim.enums import mjtGeom
from tisim.errors import Error, brief
from tisim.mjcf.format.xmltext import Node
from tisim.mjcf.rotations import rotate

from .values import caller

TURNS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
# by which power of a body's scale these grow: (tag, attribute) -> power
POWERS = {
    ("geom", "size"): 1, ("geom", "pos"): 1, ("geom", "fromto"): 1, ("geom", "mass"): 3, ("geom", "shellinertia"): 0,
    ("body", "pos"): 1, ("frame", "pos"): 1, ("joint", "pos"): 1, ("site", "pos"): 1, ("site", "size"): 1,
    ("site", "fromto"): 1, ("camera", "pos"): 1, ("light", "pos"): 1, ("inertial", "pos"): 1, ("inertial", "mass"): 3,
    ("inertial", "diaginertia"): 5, ("inertial", "fullinertia"): 5,
}  # fmt: skip
UNSCALED = (mjtGeom.mjGEOM_MESH, mjtGeom.mjGEOM_HFIELD, mjtGeom.mjGEOM_SDF)  # whose size is that of an asset
MARGIN = 1.0001  # of a cell over the largest body: nothing touches


def add_bodies(spec, template, pos, quat=None, scale=None):
    """Spec.add_bodies, with a scale for each copy."""
    pos = _rows("pos", pos, 3)
    quat = None if quat is None else _rows("quat", quat, 4)
    if quat is not None and (len(quat) != len(pos) or (np.linalg.norm(quat, axis=1) < 1e-10).any()):
        raise Error(f"quat: expected {len(pos)} rotations, as many as positions and none of them zero")
    if not len(pos):
        return []
    node, named = _own(spec, template)
    try:
        nodes = _copies(spec, node, named, pos, quat)
        if scale is not None:
            _scale(spec, node, nodes, scale)
    finally:
        if template._spec is not spec:
            spec._drop(node)  # it came along to bring what it needs
    spec.worldbody._node.children.extend(nodes)
    spec._restructured()
    return [spec._handle(node) for node in nodes]


def _copies(spec, node, named, pos, quat):
    first, where, nodes = _free(spec, node, named), caller(), []
    for k in range(len(pos)):
        copy = _copy(node, lambda name, k=k: named(name) + f"_{first + k}", where)
        copy.attrib["pos"] = pos[k].tolist()
        if quat is not None:
            for name in TURNS:
                copy.attrib.pop(name, None)
            copy.attrib["quat"] = quat[k].tolist()
        nodes.append(copy)
    return nodes


def _rows(name, values, width):
    try:
        rows = np.asarray(values, float)
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.ndim != 2 or rows.shape[1] != width or not np.isfinite(rows).all():
        raise Error(f"{name}: expected numbers of shape (n, {width})")
    return rows


def _own(spec, template):
    """(the template's node in this Spec, function name there -> name of the template)."""
    from .bodies import SpecBody

    if not isinstance(template, SpecBody) or template._node.tag != "body":
        raise Error(f"expected a body of a Spec as template, found {brief(template)}")
    if template._spec is spec:
        return template._node, lambda name: name
    moved = spec._attach(template, spec.worldbody, "", "_")
    return moved._node, lambda name: name[:-1]


def _free(spec, node, named):
    """The first number that no body has behind the template's name."""
    name, k = node.attrib.get("name"), 0
    while name and spec.find("body", f"{named(name)}_{k}") is not None:
        k += 1
    return k


def _copy(node, renamed, where):
    copy = Node(node.tag, dict(node.attrib), *where)
    if copy.attrib.get("name"):
        copy.attrib["name"] = renamed(copy.attrib["name"])
    copy.children = [_copy(child, renamed, where) for child in node.children]
    return copy


def _below(node):
    """A node and all below it, parents first."""
    out = [node]
    for each in out:  # grows while it is read
        out.extend(each.children)
    return out


def _scale(spec, node, copies, scale):
    """Scales copies of a node about their origins; densities stay."""
    values = []  # (place below the body, attribute, numbers, power)
    for place, part in enumerate(_below(node)):
        if part.tag == "replicate":
            raise Error("a replicate in a template cannot be scaled")
        if part.tag == "geom" and spec._handle(part).type in UNSCALED:
            raise Error("a mesh has the size of its asset and cannot be scaled: give several templates")
        for (tag, name), power in POWERS.items():
            if tag != part.tag or not power or (place == 0 and name == "pos"):
                continue
            numbers = part.attrib.get(name)
            if numbers is None and (tag, name) in (("geom", "size"), ("geom", "fromto"), ("geom", "mass")):
                numbers = getattr(spec._handle(part), name)  # of the default class
            if numbers is not None and np.size(numbers):
                values.append((place, name, np.array(numbers, float), power))
    for copy, s in zip(copies, scale):
        parts = _below(copy)
        for place, name, numbers, power in values:
            parts[place].attrib[name] = (numbers * s**power).tolist()


def scatter(spec, template, n, low, high, seed=0, turn=True, size=(1.0, 1.0)):
    """Spec.scatter."""
    templates = list(template) if isinstance(template, (list, tuple)) else [template]
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise Error(f"n={brief(n)}: expected a number of bodies")
    low, high = _rows("low, high", [low, high], 3)
    smallest, largest = _rows("size", [size], 2)[0]
    if not 0 < smallest <= largest:
        raise Error(f"size={brief(size)}: expected two factors, the smaller one first")
    rng = np.random.default_rng(seed)
    radii = np.array([radius(t) for t in templates])
    which = rng.integers(len(templates), size=n)
    scale = rng.uniform(smallest, largest, n)
    r = radii[which] * scale
    cell = 2 * MARGIN * radii.max() * largest
    counts = np.maximum(np.floor((high - low) / cell), 0).astype(np.int64)
    if counts.prod() < n:
        raise Error(
            f"{n} bodies of radius up to {radii.max() * largest:.4g} m do not fit: there is room for "
            f"{counts.prod()} between {low.tolist()} and {high.tolist()}"
        )
    places = np.sort(rng.choice(counts.prod(), n, replace=False))
    pitch = (high - low) / counts
    at = np.stack(np.unravel_index(places, counts[::-1])[::-1], axis=1)  # x first, then y, then upwards
    slack = 0.5 * pitch - MARGIN * r[:, None]
    pos = low + (at + 0.5) * pitch + rng.uniform(-1, 1, (n, 3)) * slack
    quat = rng.normal(size=(n, 4)) if turn else None
    bodies = [None] * n
    for k, one in enumerate(templates):
        here = np.flatnonzero(which == k)
        of = None if quat is None else quat[here] / np.linalg.norm(quat[here], axis=1)[:, None]
        factors = None if largest == smallest == 1 else scale[here]
        for i, body in zip(here, add_bodies(spec, one, pos[here], of, factors)):
            bodies[i] = body
    return bodies


def radius(template):
    """Radius [m] of a sphere about a body's origin that holds it and all below it, as it stands in the model."""
    from .bodies import SpecBody

    if not isinstance(template, SpecBody) or template._node.tag != "body":
        raise Error(f"expected a body of a Spec as template, found {brief(template)}")
    spec = template._spec
    place = next(i for i, node in enumerate(spec._all()["body"]) if node is template._node)
    m = spec.compile()
    if m.nbody != len(spec._all()["body"]):
        raise Error("a template's specification may not hold replicates or attached models: the body cannot be told")
    reach = np.zeros(m.nbody)
    for g, body in enumerate(np.asarray(m.geom_bodyid)):
        reach[body] = max(reach[body], _geom_reach(m, g))
    for b in range(m.nbody - 1, 0, -1):
        above = int(m.body_parentid[b])
        reach[above] = max(reach[above], np.linalg.norm(m.body_pos[b]) + reach[b])
    if not reach[place]:
        raise Error(f"{brief(template)} has no geoms: nothing is known of its size")
    return float(reach[place])


def _geom_reach(m, g):
    """How far a geom reaches from its body's origin [m]; at most, where it is none of a mesh."""
    if m.geom_type[g] != mjtGeom.mjGEOM_MESH:
        return np.linalg.norm(m.geom_pos[g]) + m.geom_rbound[g]
    first = m.mesh_vertadr[m.geom_dataid[g]]
    vertices = np.asarray(m.mesh_vert)[first : first + m.mesh_vertnum[m.geom_dataid[g]]]
    return np.linalg.norm(m.geom_pos[g] + rotate(np.asarray(m.geom_quat[g], float), vertices), axis=1).max()
