"""Bodies: poses, inertia given or taken from geoms, alignment of free joints, and MuJoCo's checks of a body."""

import numpy as np

from tisim.enums import mjtJoint, mjtSameFrame

from .. import rotations
from ..format.defaults import merge
from ..numbers import EPS, MINVAL
from ..scene.items import Item, apply_frames, column, first, poses, setting, user_data
from .geoms import in_inertia_group

# inverses of larger trees, which constants of the reference pose are made of, would not fit in memory
MAX_TREE = 5000

_INERTIAL = dict(pos=[0.0] * 3, mass=0.0, diaginertia=[0.0] * 3, fullinertia=None, quat=[1.0, 0.0, 0.0, 0.0], alt=None)


def body_tree(world):
    """(parent, weldid) of the bodies: int32 arrays; weldid is 0 for static bodies."""
    parent = np.array([max(item.body, 0) for item in world.bodies], np.int32)
    jointed = {item.body for item in world.joints}
    weld = [0] * len(parent)
    for i, p in enumerate(parent[1:].tolist(), 1):
        weld[i] = i if i in jointed else weld[p]
    return parent, np.array(weld, np.int32)


def given_inertia(world):
    """(nbody,) bool: which bodies have an `inertial` element."""
    given = np.zeros(len(world.bodies), bool)
    given[list(world.inertials)] = True
    return given


def inferred(world):
    """(nbody,) bool: which bodies take their inertia from geoms, by compiler/inertiafromgeom."""
    rule = setting(world.bodies, "inertiafromgeom", int)
    infer = np.where(rule == 2, ~given_inertia(world), rule == 1)
    infer[0] = False
    return infer


def compile_bodies(world, width, infer, geoms, geom_mass, geom_inertia):
    """Arrays body_* that the file gives: pose, inertia, mocap, gravcomp, user.

    infer  from `inferred`;  geoms  arrays geom_*, in body coordinates;  geom_mass (ngeom,), geom_inertia (ngeom, 3).
    """
    items = world.bodies[1:]
    n = len(items) + 1
    pos, quat = np.zeros((n, 3)), np.tile(rotations.IDENTITY, (n, 1))
    pos[1:], quat[1:] = poses(items)
    mass, inertia = np.zeros(n), np.zeros((n, 3))
    ipos, iquat = np.zeros((n, 3)), np.tile(rotations.IDENTITY, (n, 1))

    explicit = np.array(sorted(world.inertials), int)
    if len(explicit):
        given = [_inertial(world, i) for i in explicit]
        mass[explicit] = column(given, "mass")
        ipos[explicit], iquat[explicit] = poses(given)
        inertia[explicit] = column(given, "diaginertia", 3)
        rows = [k for k, item in enumerate(given) if item.attrib["fullinertia"] is not None]
        if rows:
            full = _symmetric(np.array([given[k].attrib["fullinertia"] for k in rows]))
            inertia[explicit[rows]], iquat[explicit[rows]] = rotations.principal_axes(full)
            bad = inertia[explicit[rows]].min(1) < EPS
            first([given[k] for k in rows], bad, "'fullinertia' must be positive definite")

    missing = ~given_inertia(world)
    # a body that nothing gives an inertial frame gets the numbers of its own frame, as in MuJoCo
    ipos[missing], iquat[missing] = pos[missing], quat[missing]
    if infer.any():
        _from_geoms(world, infer, geoms, geom_mass, geom_inertia, mass, ipos, iquat, inertia)
    _check_inertia(world, mass, inertia)
    apply_frames(items, pos[1:], quat[1:])
    mocap = np.zeros(n, bool)
    mocap[1:] = column(items, "mocap", dtype=bool)
    gravcomp = np.zeros(n)
    gravcomp[1:] = column(items, "gravcomp")
    user = user_data([Item({"user": []}, None, world.bodies[0].space), *items], width, "body")
    return dict(
        body_pos=pos, body_quat=quat, body_ipos=ipos, body_iquat=iquat, body_mass=mass, body_inertia=inertia,
        body_mocapid=np.where(mocap, np.cumsum(mocap) - 1, -1).astype(np.int32), body_gravcomp=gravcomp, body_user=user,
        body_plugin=np.full(n, -1, np.int32),
    )  # fmt: skip


def _inertial(world, body):
    node = world.inertials[body]
    attrib = merge(_INERTIAL, node.attrib, node)
    if attrib["fullinertia"] is not None and (attrib["alt"] or "quat" in node.attrib):
        raise node.error("'fullinertia' and an orientation exclude each other")
    if attrib["fullinertia"] is not None and "diaginertia" in node.attrib:
        raise node.error("'fullinertia' and 'diaginertia' exclude each other")
    return Item(attrib, node, world.bodies[body].space, body)


def _symmetric(six):
    """(n, 3, 3) from (n, 6) in MJCF's order xx yy zz xy xz yz."""
    return six[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)


def _from_geoms(world, infer, geoms, geom_mass, geom_inertia, mass, ipos, iquat, inertia):
    """Sets the inertial frames of the bodies in `infer` from their geoms, in place."""
    body = geoms["geom_bodyid"]
    use = infer[body] & in_inertia_group(world.geoms, geoms["geom_group"]) & (geom_mass > EPS)
    body, m = body[use], geom_mass[use]
    pos, quat, i3 = geoms["geom_pos"][use], geoms["geom_quat"][use], geom_inertia[use]
    count = np.bincount(body, minlength=len(mass))
    reset = infer & (count > 0)
    mass[reset] = np.bincount(body, m, len(mass))[reset]

    single = count[body] == 1
    one = body[single]
    ipos[one], iquat[one], inertia[one] = pos[single], quat[single], i3[single]

    many = np.flatnonzero(count > 1)
    if len(many):
        com = np.stack([np.bincount(body, m * pos[:, k], len(mass)) for k in range(3)], 1)
        com[many] /= mass[many, None]
        rest = ~single
        total = np.zeros((len(mass), 3, 3))
        np.add.at(total, body[rest], inertia_about(com[body[rest]], m[rest], pos[rest], quat[rest], i3[rest]))
        ipos[many] = com[many]
        inertia[many], iquat[many] = rotations.principal_axes(total[many])


def inertia_about(point, mass, pos, quat, inertia):
    """Inertia matrices (n, 3, 3) about `point` of masses with principal inertia (n, 3) in frames (pos, quat)."""
    axes, d = rotations.matrix(quat), pos - point
    full = np.einsum("nij,nj,nkj->nik", axes, inertia, axes)
    return full + mass[:, None, None] * (np.sum(d * d, 1)[:, None, None] * np.eye(3) - d[:, :, None] * d[:, None, :])


def _check_inertia(world, mass, inertia):
    bodies = world.bodies
    mass[1:] = np.maximum(mass, setting(bodies, "boundmass"))[1:]
    inertia[1:] = np.maximum(inertia, setting(bodies, "boundinertia")[:, None])[1:]
    first(bodies, (mass < 0) | (inertia < 0).any(1), "mass and inertia cannot be negative")
    odd = (2 * inertia.max(1) > inertia.sum(1)) & (inertia.sum(1) - inertia.max(1) < inertia.max(1))
    balance = setting(bodies, "balanceinertia", bool)
    first(bodies, odd & ~balance, "inertia must satisfy A + B >= C; 'balanceinertia' in the compiler section fixes it")
    inertia[odd] = inertia[odd].mean(1, keepdims=True)


def check_bodies(world, a):
    """MuJoCo's rules about the joints and masses of a body; raises MjcfError at the body or joint that breaks one."""
    bodies, joints = world.bodies, world.joints
    kind, owner = a["jnt_type"], a["jnt_bodyid"]
    first(
        joints,
        (kind == mjtJoint.mjJNT_FREE) & (a["body_parentid"][owner] != 0),
        "a free joint must be at the top level",
    )
    first(bodies, a["body_dofnum"] > 6, "a body can have at most 6 degrees of freedom")
    large = np.flatnonzero(a["tree_dofnum"] > MAX_TREE)
    if len(large):
        number, node = int(a["tree_dofnum"][large[0]]), bodies[int(a["tree_bodyadr"][large[0]])].node
        message = f"a kinematic tree of {number:,} degrees of freedom: trees of at most {MAX_TREE:,} are supported"
        raise node.unsupported(message, "body")
    ball = kind == mjtJoint.mjJNT_BALL
    turn = ball | (kind == mjtJoint.mjJNT_HINGE)
    before = np.cumsum(ball) - ball
    if len(kind):
        after = turn & (before > before[a["body_jntadr"][owner]])
        first(joints, after, "a ball joint cannot be followed by another rotation in the same body")
    moved = (a["body_mocapid"] >= 0) & ((a["body_dofnum"] > 0) | (a["body_parentid"] != 0))
    first(bodies, moved, "a mocap body must be a child of the world without joints")


def check_masses(world, a):
    """A moving body needs mass and inertia, its own or those of a body welded to it."""
    bodies = world.bodies
    solid = (a["body_mass"] >= MINVAL) & (a["body_inertia"] >= MINVAL).all(1)
    held = np.zeros(len(bodies), bool)
    held[a["body_weldid"][solid]] = True
    first(bodies, (a["body_dofnum"] > 0) & ~held, "mass and inertia of a moving body must be larger than mjMINVAL")


def align_free(world, a):
    """Moves the frame of bodies with an aligned free joint onto their inertial frame.

    Changes body poses, inertial frames and geoms in place; returns (body ids, inverse pos, inverse quat) for what else
    is fixed to those bodies.
    """
    wanted = [
        item.attrib["align"] == 1 or (item.attrib["align"] == 2 and item.compiler["alignfree"] == 1)
        for item in world.joints
    ]
    rows = np.array([
        item.body for item, want in zip(world.joints, wanted) if want and item.attrib["type"] == mjtJoint.mjJNT_FREE
    ], int)  # fmt: skip
    parents = np.zeros(len(world.bodies), bool)
    parents[a["body_parentid"][1:]] = True
    rows = rows[(a["body_jntnum"][rows] == 1) & ~parents[rows]]
    ipos, iquat = a["body_ipos"][rows], a["body_iquat"][rows]
    a["body_pos"][rows], a["body_quat"][rows] = rotations.into_parent(
        a["body_pos"][rows], a["body_quat"][rows], ipos, iquat
    )
    back = rotations.conjugate(iquat)
    shift = -rotations.rotate(back, ipos)
    a["body_ipos"][rows], a["body_iquat"][rows] = 0, rotations.IDENTITY
    return rows, shift, back


def into_aligned(aligned, owner, pos, quat):
    """Re-expresses poses fixed to aligned bodies, in place; quat may be None."""
    rows, shift, back = aligned
    slot = np.full(owner.max(initial=0) + 1, -1)
    inside = rows < len(slot)
    slot[rows[inside]] = np.flatnonzero(inside)
    mine = np.flatnonzero(slot[owner] >= 0) if len(owner) else np.zeros(0, int)
    which = slot[owner[mine]] if len(mine) else mine
    pos[mine] = shift[which] + rotations.rotate(back[which], pos[mine])
    if quat is not None:
        quat[mine] = rotations.mul(back[which], quat[mine])
    return mine, back[which]


def same_frame(pos, quat, ipos, iquat):
    """mjtSameFrame (n,) of frames in a body whose inertial frame is (ipos, iquat)."""

    def near(a, b):
        return np.abs(a - b).max(-1, initial=0) < 1e-6

    def turned(a, b):
        return near(a, b) | near(a, -b)

    upright = turned(quat, rotations.IDENTITY)
    along = turned(quat, iquat)
    choices = [upright & near(pos, 0.0), upright, along & near(pos, ipos), along]
    e = mjtSameFrame
    values = [e.mjSAMEFRAME_BODY, e.mjSAMEFRAME_BODYROT, e.mjSAMEFRAME_INERTIA, e.mjSAMEFRAME_INERTIAROT]
    return np.select(choices, [int(v) for v in values], int(e.mjSAMEFRAME_NONE)).astype(np.uint8)
