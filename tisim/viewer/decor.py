"""What a window draws besides geoms: what its options ask for, what a mouse holds, a user's geoms, labels."""

import numpy as np

from tisim.data import asleep
from tisim.enums import mjtLabel, mjtVisFlag
from tisim.mjcf import rotations
from tisim.queries.motion import contact_force
from tisim.viewer import added, perturb
from tisim.viewer.few import SPHERE, Few
from tisim.viewer.scene import Look

PULLED = np.array([1.0, 0.25, 0.05, 1.0])  # colour of the hand's arrow
STOUT = 0.03  # its radius, of its length, at least
HAND = 2.0  # length of the axes to which a body is turned, by that of frames
LABELS = 400  # texts beyond these are not drawn


def has(opt, flag):
    """Whether a visual flag of an MjvOption is set, by its name without mjVIS_."""
    return bool(opt.flags[int(mjtVisFlag[f"mjVIS_{flag}"])])


def look_of(m, opt, color="geom", chains=False):
    """The Look of a window's MjvOption; color  where it does not ask for islands."""
    look = Look.of(opt, m, strict=False)
    look.color, look.chains = look.color if has(opt, "ISLAND") else color, chains
    return look


def of(m, d, opt, world=0, pert=None, user=None):
    """Records of the hand of an MjvPerturb and of an MjvScene's geoms, as Scene.write takes them."""
    out = Few()
    if pert is not None and perturb.selected(m, pert):
        _hand(out, m, d, pert, world, has(opt, "PERTOBJ"), has(opt, "SELECT"))
    if user is not None and user.ngeom:
        out.parts.append(added.of(user.geoms[: user.ngeom], "user_scn").part)
    return out.arrays()


def _places(d, world):
    """Places in d.contact of the contacts of a world."""
    n = int(d.count("ncon"))
    return np.flatnonzero(np.asarray(d.contact.worldid)[:n] == world) if d.nworld > 1 else np.arange(n)


def _hand(out, m, d, pert, world, shown, point):
    size = float(m.stat.meansize)
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
        out.frames(perturb.of_body(d, "xipos", world, pert.select), turn, m, HAND)


def _there(m, d, world, kind):
    """Ids of the bodies but the world, or of the joints, geoms or sites, that were not removed."""
    short = "jnt" if kind == "joint" else kind
    bodies = np.arange(m.nbody) if kind == "body" else np.asarray(getattr(m, f"{short}_bodyid"))
    there = asleep.body_present(m, d)[world][bodies] if m.comes_and_goes else np.ones(len(bodies), bool)
    return np.flatnonzero(there & (bodies > 0) if kind == "body" else there).tolist()


def labels(m, d, opt, world=0, user=None):
    """Texts and where they stand in the world: [(place (3,), text)], at most LABELS of them."""
    which, found = int(opt.label), []
    names = {mjtLabel.mjLABEL_BODY: ("body", "xipos"), mjtLabel.mjLABEL_JOINT: ("jnt", "xanchor"),
             mjtLabel.mjLABEL_GEOM: ("geom", "geom_xpos"), mjtLabel.mjLABEL_SITE: ("site", "site_xpos")}  # fmt: skip
    if which in names:
        kind, array = names[which]
        kind = "joint" if kind == "jnt" else kind
        at = np.asarray(perturb.of_world(d, array, world), float).reshape(-1, 3)
        there = _there(m, d, world, kind)[:LABELS]
        found = [(at[i], m.id2name(kind, i) or f"{kind} {i}") for i in there]
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
