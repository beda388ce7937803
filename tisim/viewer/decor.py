"""What a window draws besides geoms: contacts, forces, joints, frames, inertia boxes ... as records of simple shapes.

A record is a shape (mjtGeom), place (3,), rotation (3, 3), size (3,) as a geom's, and colour (4,). Sizes and colours
are those of the model's `<visual>`, in mean sizes of its bodies, as in MuJoCo's viewer.
"""

import numpy as np

from tisim.data.asleep import GONE
from tisim.enums import mjtEq, mjtFrame, mjtGeom, mjtJoint, mjtLabel, mjtObj, mjtVisFlag
from tisim.errors import Error
from tisim.mjcf import rotations
from tisim.queries.motion import contact_force
from tisim.viewer import measures, perturb

SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX = (
    int(mjtGeom[f"mjGEOM_{k}"]) for k in ("SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX")
)
ARROWS = {int(mjtGeom[f"mjGEOM_ARROW{k}"]) for k in ("", "1", "2")}
LINE, LABEL, NONE = (int(mjtGeom[f"mjGEOM_{k}"]) for k in ("LINE", "LABEL", "NONE"))
TIP, TIP_WIDE = 6.0, 2.2  # half length and radius of an arrow's head, in radii of its shaft
AXES = np.array([[0.9, 0.1, 0.1, 1], [0.1, 0.75, 0.1, 1], [0.15, 0.2, 0.95, 1]])
FEW = 1e-12
PULLED = np.array([1.0, 0.25, 0.05, 1.0])  # colour of the hand's arrow
STOUT = 0.03  # its radius, of its length, at least
CLEAR = 0.3  # opacity of what moves where that is asked for, as MuJoCo's map.alpha
LABELS = 400  # texts beyond these are not drawn


class Decor:
    """A list of records, to which shapes are added."""

    def __init__(self):
        self._parts = []

    def add(self, kind, pos, mat, size, rgba):
        """n shapes of a kind: pos (n, 3), mat (n, 3, 3), size (3,) or (n, 3), rgba (4,) or (n, 4)."""
        pos = np.reshape(pos, (-1, 3)).astype(float)
        n = len(pos)
        if n:
            mat = np.broadcast_to(np.asarray(mat, float).reshape(-1, 3, 3), (n, 3, 3))
            size, rgba = np.broadcast_to(size, (n, 3)), np.broadcast_to(rgba, (n, 4))
            self._parts.append((np.full(n, kind), pos, mat, size, rgba))

    def rods(self, start, end, radius, rgba, kind=CYLINDER):
        """Cylinders or capsules from start to end, (n, 3) each; radius () or (n,)."""
        start, end = (np.reshape(v, (-1, 3)).astype(float) for v in (start, end))
        length = np.linalg.norm(end - start, axis=1)
        long = length > FEW
        start, end, length = start[long], end[long], length[long]
        radius = np.broadcast_to(radius, long.shape)[long]
        rgba = np.broadcast_to(rgba, (len(long), 4))[long]
        if len(start):
            turn = rotations.matrix(rotations.from_z((end - start) / length[:, None]))
            self.add(kind, 0.5 * (start + end), turn, np.stack([radius, 0.5 * length, 0 * radius], 1), rgba)

    def arrows(self, start, vector, radius, rgba):
        """Arrows from start along vector, (n, 3) each; short ones are thin."""
        start, vector = (np.reshape(v, (-1, 3)).astype(float) for v in (start, vector))
        length = np.linalg.norm(vector, axis=1)
        long = length > FEW
        start, vector, length = start[long], vector[long], length[long]
        radius = np.minimum(np.broadcast_to(radius, long.shape)[long], length / (3 * TIP))
        rgba = np.broadcast_to(rgba, (len(long), 4))[long]
        if len(start):
            along = vector / length[:, None]
            tip = start + along * (length - TIP * radius)[:, None]
            self.rods(start, tip, radius, rgba)
            turn = rotations.matrix(rotations.from_z(along))
            size = radius[:, None] * [TIP_WIDE, TIP_WIDE, TIP]
            self.add(ELLIPSOID, tip, turn, size, rgba)

    def frames(self, pos, mat, length, radius):
        """Three coloured axes at each of n frames."""
        pos, mat = np.reshape(pos, (-1, 3)).astype(float), np.reshape(mat, (-1, 3, 3))
        for k in range(3):
            self.rods(pos, pos + length * mat[:, :, k], radius, AXES[k])

    def records(self):
        """kind (n,), pos (n, 3), mat (n, 3, 3), size (n, 3), rgba (n, 4) of what has a place."""
        if not self._parts:
            return tuple(np.zeros((0, *s)) for s in ((), (3,), (3, 3), (3,), (4,)))
        kind, pos, mat, size, rgba = (np.concatenate(p) for p in zip(*self._parts))
        there = np.isfinite(pos).all(1) & np.isfinite(mat).all((1, 2))
        return kind[there], pos[there], mat[there], size[there], rgba[there]


def has(opt, flag):
    """Whether a visual flag of an MjvOption is set, by its name without mjVIS_."""
    return bool(opt.flags[int(mjtVisFlag[f"mjVIS_{flag}"])])


def of(m, d, opt, world=0, pert=None, user=None, marks=True, chains=False):
    """Decor of a simulation: what the MjvOption asks for, the hand of an MjvPerturb, and an MjvScene's geoms.

    marks  False: without contact points and sites, which the caster's list has of its own.
    chains  True: rods along which forces go from body to body.
    """
    out, size = Decor(), float(m.stat.meansize)
    here = _present(m, d, world)

    for flag, draw in DRAWN.items():
        if has(opt, flag):
            draw(out, m, d, world, size, here)
    if has(opt, "CONTACTPOINT") and marks:
        _contact_points(out, m, d, world, size, here)
    if marks:
        _sites(out, m, d, world, opt, here)
    _frames(out, m, d, world, size, int(opt.frame), here)
    if chains:
        pos, mat, radii, half = measures.chains(m, d, world)
        out.add(CYLINDER, pos, mat, np.stack([radii, half, 0 * radii], 1), measures.ROD)
    if pert is not None and perturb.selected(m, pert):
        _hand(out, m, d, pert, world, size, has(opt, "PERTOBJ"), has(opt, "SELECT"))
    for k in range(user.ngeom if user is not None else 0):
        _user(out, user.geoms[k], k)
    return out


def _present(m, d, world):
    """(nbody,) bool: bodies that were not removed."""
    if not m.ntree:
        return np.ones(m.nbody, bool)
    tree = np.asarray(m.body_treeid)
    asleep = np.asarray(d.tree_asleep).reshape(-1, m.ntree)[world]
    return (tree < 0) | (asleep[np.maximum(tree, 0)] != GONE)


def _places(d, world):
    """Places in d.contact of the contacts of a world."""
    n = int(d.count("ncon"))
    return np.flatnonzero(np.asarray(d.contact.worldid)[:n] == world) if d.nworld > 1 else np.arange(n)


def _contact_points(out, m, d, world, size, here):
    places = _places(d, world)
    frame = np.asarray(d.contact.frame, float).reshape(-1, 3, 3)[places]  # rows: normal, tangents
    turn = frame[:, [1, 2, 0]].transpose(0, 2, 1)
    v = m.vis.scale
    disc = np.array([v.contactwidth, v.contactheight, 0]) * size
    out.add(CYLINDER, np.asarray(d.contact.pos, float).reshape(-1, 3)[places], turn, disc, m.vis.rgba.contactpoint)


def _contact_forces(out, m, d, world, size, here):
    places = _places(d, world)
    force = contact_force(m, d, places).reshape(-1, 6)[:, :3]
    frame = np.asarray(d.contact.frame, float).reshape(-1, 3, 3)[places]
    vector = np.einsum("ij,ijk->ik", force, frame) * float(m.vis.map.force) / max(float(m.stat.meanmass), FEW)
    at = np.asarray(d.contact.pos, float).reshape(-1, 3)[places]
    out.arrows(at, vector, m.vis.scale.forcewidth * size, m.vis.rgba.contactforce)


def _joints(out, m, d, world, size, here):
    if not m.njnt:
        return
    shown = here[np.asarray(m.jnt_bodyid)] & (np.asarray(m.jnt_group) < 3)
    kind = np.asarray(m.jnt_type)
    at = np.asarray(perturb.of_world(d, "xanchor", world), float)
    axis = np.asarray(perturb.of_world(d, "xaxis", world), float)
    long, wide, color = m.vis.scale.jointlength * size, m.vis.scale.jointwidth * size, m.vis.rgba.joint
    turning = shown & ((kind == int(mjtJoint.mjJNT_HINGE)) | (kind == int(mjtJoint.mjJNT_SLIDE)))
    out.arrows(at[turning], long * axis[turning], wide, color)
    body = np.asarray(m.jnt_bodyid)
    turn = np.asarray(perturb.of_world(d, "xmat", world), float).reshape(-1, 3, 3)[body]
    for which, shape in ((mjtJoint.mjJNT_BALL, SPHERE), (mjtJoint.mjJNT_FREE, BOX)):
        these = shown & (kind == int(which))
        out.add(shape, at[these], turn[these], np.full(3, 0.3 * long), color)


def _coms(out, m, d, world, size, here):
    roots = np.flatnonzero((np.asarray(m.body_rootid) == np.arange(m.nbody)) & here)
    at = np.asarray(perturb.of_world(d, "subtree_com", world), float)[roots[roots > 0]]
    out.add(SPHERE, at, np.eye(3), np.full(3, m.vis.scale.com * size), m.vis.rgba.com)


def _inertias(out, m, d, world, size, here):
    mass = np.asarray(m.body_mass, float)
    these = np.flatnonzero((mass > FEW) & here)
    inertia = np.asarray(m.body_inertia, float).reshape(-1, 3)[these]
    half = np.sqrt(np.maximum(1.5 * (inertia.sum(1, keepdims=True) - 2 * inertia) / mass[these, None], 0))
    at, turn = (np.asarray(perturb.of_world(d, k, world), float)[these] for k in ("xipos", "ximat"))
    out.add(BOX, at, turn, half, m.vis.rgba.inertia)


def _tendons(out, m, d, world, size, here):
    if not m.ntendon:
        return
    points = np.asarray(perturb.of_world(d, "wrap_xpos", world), float).reshape(-1, 3)
    kinds = np.asarray(perturb.of_world(d, "wrap_obj", world)).reshape(-1)
    first, count = (np.asarray(perturb.of_world(d, f"ten_wrap{k}", world)) for k in ("adr", "num"))
    for t in np.flatnonzero((count > 1) & (np.asarray(m.tendon_group) < 3)):
        k = np.arange(first[t], first[t] + count[t] - 1)
        k = k[(kinds[k] != -2) & (kinds[k + 1] != -2)]  # -2: a pulley, where the path is cut
        out.rods(points[k], points[k + 1], float(m.tendon_width[t]), np.asarray(m.tendon_rgba)[t], CAPSULE)


def _equalities(out, m, d, world, size, here):
    """The two points of each connect or weld between bodies, and what is between them."""
    if not m.neq:
        return
    kind, on = np.asarray(m.eq_type), np.asarray(perturb.of_world(d, "eq_active", world)).astype(bool)
    weld = kind == int(mjtEq.mjEQ_WELD)
    these = np.flatnonzero(on & (weld | (kind == int(mjtEq.mjEQ_CONNECT))))
    xpos, xmat = (np.asarray(perturb.of_world(d, k, world), float) for k in ("xpos", "xmat"))
    first, second = np.asarray(m.eq_obj1id)[these], np.asarray(m.eq_obj2id)[these]
    data = np.asarray(m.eq_data, float).reshape(m.neq, -1)[these]
    if not len(these):
        return
    bodies = (np.asarray(m.eq_objtype)[these] == int(mjtObj.mjOBJ_BODY))[:, None]
    own = np.where(weld[these, None], data[:, 3:6], data[:, :3])
    other = np.where(weld[these, None], data[:, :3], data[:, 3:6])
    ends = []
    sites = np.asarray(perturb.of_world(d, "site_xpos", world), float).reshape(-1, 3)
    for which, local in ((first, own), (second, other)):
        at = xpos[np.minimum(which, m.nbody - 1)]
        at = at + np.einsum("ijk,ik->ij", xmat.reshape(-1, 3, 3)[np.minimum(which, m.nbody - 1)], local)
        ends.append(np.where(bodies, at, sites[np.minimum(which, m.nsite - 1)]) if m.nsite else at)
    wide = m.vis.scale.constraint * size
    for end in ends:
        out.add(SPHERE, end, np.eye(3), np.full(3, wide), m.vis.rgba.constraint)
    out.rods(*ends, 0.5 * wide, m.vis.rgba.constraint)


DRAWN = dict(CONTACTFORCE=_contact_forces, JOINT=_joints, COM=_coms, INERTIA=_inertias, TENDON=_tendons,
             CONSTRAINT=_equalities)  # fmt: skip


def _sites(out, m, d, world, opt, here):
    if not m.nsite:
        return
    shown = np.asarray(opt.sitegroup, bool)[np.asarray(m.site_group)] & here[np.asarray(m.site_bodyid)]
    kind, size = np.asarray(m.site_type), np.array(m.site_size, float).reshape(-1, 3)
    at, turn = (np.asarray(perturb.of_world(d, f"site_{k}", world), float) for k in ("xpos", "xmat"))
    for k in np.unique(kind[shown]):
        these = shown & (kind == k)
        full = size[these][:, [0, 0, 0]] if k == SPHERE else size[these]
        out.add(int(k), at[these], turn[these], full, np.asarray(m.site_rgba).reshape(-1, 4)[these])


def _frames(out, m, d, world, size, which, here):
    long, wide = m.vis.scale.framelength * size, m.vis.scale.framewidth * size
    if which == int(mjtFrame.mjFRAME_WORLD):
        return out.frames(np.zeros(3), np.eye(3), 2 * long, 2 * wide)
    if which == int(mjtFrame.mjFRAME_CONTACT):
        places = _places(d, world)
        rows = np.asarray(d.contact.frame, float).reshape(-1, 3, 3)[places]
        at = np.asarray(d.contact.pos, float).reshape(-1, 3)[places]
        return out.frames(at, rows.transpose(0, 2, 1), 0.5 * long, 0.5 * wide)
    names = {mjtFrame.mjFRAME_BODY: ("", here), mjtFrame.mjFRAME_GEOM: ("geom_", here[np.asarray(m.geom_bodyid)])}
    names[mjtFrame.mjFRAME_SITE] = ("site_", here[np.asarray(m.site_bodyid)] if m.nsite else np.zeros(0, bool))
    if which in names:
        name, shown = names[which]
        at, turn = (np.asarray(perturb.of_world(d, f"{name}{k}", world), float) for k in ("xpos", "xmat"))
        out.frames(at.reshape(-1, 3)[shown], turn.reshape(-1, 3, 3)[shown], long, wide)


def _hand(out, m, d, pert, world, size, shown, point):
    at = perturb.held_point(m, d, pert, world)
    if point or pert.active:
        out.add(SPHERE, at, np.eye(3), np.full(3, 0.5 * m.vis.scale.selectpoint * size), m.vis.rgba.selectpoint)
    if not (shown and pert.active):
        return
    if pert.active & perturb.PULL:
        pull = pert.refselpos - at
        out.arrows(at, pull, max(0.5 * m.vis.scale.forcewidth * size, STOUT * float(np.linalg.norm(pull))), PULLED)
    else:
        turn = rotations.matrix(np.asarray(pert.refquat)[None])
        out.frames(perturb.of_world(d, "xipos", world)[pert.select], turn, 2 * size, m.vis.scale.framewidth * size)


def _user(out, geom, k):
    kind, size = geom.type, geom.size
    if kind in (NONE, LABEL):
        return
    if kind in ARROWS:
        return out.arrows(geom.pos, geom.mat[:, 2] * size[2], size[0], geom.rgba)
    if kind == LINE:
        return out.rods(geom.pos, geom.pos + geom.mat[:, 2] * size[2], 1e-3 * size[0], geom.rgba)
    if kind not in (SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX):
        name = mjtGeom(kind).name if kind in [int(t) for t in mjtGeom] else kind
        raise Error(f"user_scn.geoms[{k}].type {name}: drawn are spheres, capsules, ellipsoids, cylinders, boxes, "
                    "arrows and lines")  # fmt: skip
    out.add(kind, geom.pos, geom.mat, size[[0, 0, 0]] if kind == SPHERE else size, geom.rgba)


def labels(m, d, opt, world=0, user=None):
    """Texts and where they stand in the world: [(place (3,), text)], at most LABELS of them."""
    which, found = int(opt.label), []
    names = {mjtLabel.mjLABEL_BODY: ("body", "xipos"), mjtLabel.mjLABEL_JOINT: ("jnt", "xanchor"),
             mjtLabel.mjLABEL_GEOM: ("geom", "geom_xpos"), mjtLabel.mjLABEL_SITE: ("site", "site_xpos")}  # fmt: skip
    if which in names:
        kind, array = names[which]
        kind = "joint" if kind == "jnt" else kind
        at = np.asarray(perturb.of_world(d, array, world), float).reshape(-1, 3)
        first = 1 if kind == "body" else 0
        found = [(at[i], m.id2name(kind, i) or f"{kind} {i}") for i in range(first, min(len(at), LABELS + first))]
    elif which == mjtLabel.mjLABEL_TENDON and m.ntendon:
        points = np.asarray(perturb.of_world(d, "wrap_xpos", world), float).reshape(-1, 3)
        first, count = (np.asarray(perturb.of_world(d, f"ten_wrap{k}", world)) for k in ("adr", "num"))
        found = [(points[first[t]:first[t] + 2].mean(0), m.id2name("tendon", t) or f"tendon {t}")
                 for t in range(min(m.ntendon, LABELS)) if count[t] > 1]  # fmt: skip
    elif which == mjtLabel.mjLABEL_CONTACTFORCE:
        places = _places(d, world)[:LABELS]
        at = np.asarray(d.contact.pos, float).reshape(-1, 3)[places]
        force = contact_force(m, d, places).reshape(-1, 6)[:, 0]
        found = [(p, f"{f:.3g} N") for p, f in zip(at, force) if f > 0]
    for k in range(user.ngeom if user is not None else 0):
        if user.geoms[k].label:
            found.append((user.geoms[k].pos.copy(), user.geoms[k].label))
    return found
