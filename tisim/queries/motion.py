"""Velocities and accelerations of bodies, geoms, sites and cameras, forces of contacts and on points. Seed 003,
"Contacts" and "Coordinate frames and transformations".

All is as last computed (forward, step).
"""

import numpy as np

from tisim.data import on_demand
from tisim.data.state import ragged_as_objects
from tisim.enums import mjtCone, mjtObj
from tisim.errors import Error, IdError, brief
from tisim.mjcf.rotations import cross
from tisim.model.kinds import as_objtype

from .arguments import element as one
from .arguments import elements, flag, of_worlds, part, shaped, start
from .jacobians import columns

# type of object -> (word, arrays of positions and orientations, the model's array of bodies)
PLACES = {
    mjtObj.mjOBJ_BODY: ("body", "xipos", "ximat", None),
    mjtObj.mjOBJ_XBODY: ("body", "xpos", "xmat", None),
    mjtObj.mjOBJ_GEOM: ("geom", "geom_xpos", "geom_xmat", "geom_bodyid"),
    mjtObj.mjOBJ_SITE: ("site", "site_xpos", "site_xmat", "site_bodyid"),
    mjtObj.mjOBJ_CAMERA: ("camera", "cam_xpos", "cam_xmat", "cam_bodyid"),
}


def object_velocity(m, d, objtype, objid, flg_local=False):
    """Velocity of a body, geom, site or camera, at its centre.

    objtype    mjtObj or a word: BODY is the inertial frame, XBODY ("xbody") the body's own, GEOM, SITE,
               CAMERA.
    objid      id or name, or a sequence of n.  flg_local  True: in the axes of the object, else of the world.
    Returns angular and linear velocity [rad/s, m/s], (6,), with a sequence (n, 6), with several worlds (nworld, ...).
    Raises Error for another type, or what does not exist.
    """
    start(m, d)
    body, pos, mat, many = _objects(m, d, objtype, objid)
    twist = _moved(m, d, "cvel", body, pos)
    return _result(d, twist, mat, flag("flg_local", flg_local), many)


def object_acceleration(m, d, objtype, objid, flg_local=False):
    """Acceleration of a body, geom, site or camera, at its centre, minus gravity: what an accelerometer there shows.

    Arguments as in object_velocity. Returns angular and linear acceleration [rad/s2, m/s2], shaped as there.
    """
    start(m, d)
    body, pos, mat, many = _objects(m, d, objtype, objid)
    on_demand.accelerations(m, d)
    twist = _moved(m, d, "cvel", body, pos)
    rate = _moved(m, d, "cacc", body, pos)
    rate[..., 3:] += cross(twist[..., :3], twist[..., 3:])  # of the point, not of what passes by
    return _result(d, rate, mat, flag("flg_local", flg_local), many)


def contact_force(m, d, contact):
    """Force and torque of contacts on geom 2, in the contact frame: normal, two tangents, then torques about them.

    contact  place in d.contact, or a sequence of n.  Returns (6,), with a sequence (n, 6) [N, N m]; zeros for a contact
    that makes no force (inside the gap). Raises Error for a place beyond the list.
    """
    start(m, d)
    n, many = d.count("ncon"), np.ndim(place := ragged_as_objects(contact)) > 0
    if place.size == 0:
        place = place.astype(int)
    if place.dtype.kind not in "iu" or place.ndim > 1 or (place.size and not -n <= place.min() <= place.max() < n):
        raise IdError(f"contact={brief(contact)}: expected a place in the list of {n} contacts, or a sequence of them")
    place = np.atleast_1d(place).astype(np.int64) % max(n, 1)
    if on_demand.hard(d):
        known = d.host("lcp_pos")[: d.count("nlcp")]
        if n > len(known) or (known[:n] != d.host("contact_pos")[:n]).any():
            raise Error(on_demand.OTHER_POSE)
        out = np.zeros((len(place), 6))
        frame = d.host("contact_frame")[place].reshape(-1, 3, 3).astype(float)
        out[:, :3] = np.einsum("nij,nj->ni", frame, d.host("con_force")[place, :3].astype(float))
        return out if many else out[0]
    first, dim = d.host("contact_efc_address")[place], d.host("contact_dim")[place]
    friction = d.host("contact_friction")[place].astype(float)
    rows = np.append(np.asarray(d.efc_force, float), np.zeros(10))  # a pyramid has ten edges at most
    acts = first >= 0
    out = np.zeros((len(place), 6))
    pyramid = (m.opt.cone == mjtCone.mjCONE_PYRAMIDAL) & (dim > 1)
    edges = rows[np.maximum(first, 0)[:, None] + np.arange(10)]
    for k in range(5):
        here = acts & pyramid & (dim > k + 1)
        out[here, 0] += edges[here, 2 * k] + edges[here, 2 * k + 1]
        out[here, k + 1] = friction[here, k] * (edges[here, 2 * k] - edges[here, 2 * k + 1])
    for k in range(6):
        here = acts & ~pyramid & (dim > k)
        out[here, k] = edges[here, k]
    return out if many else out[0]


def apply_ft(m, d, force, torque, point, body):
    """Joint forces of a force and torque that act on a body at a point: d.qfrc_applied += apply_ft(...) applies them.

    force, torque, point  (3,), with several worlds also (nworld, 3) [N, N m, m], world frame; a force or torque of None
    is zero;  body  id or name.  Returns (nv,), with several worlds (nworld, nv) [N, N m].
    """
    start(m, d)
    zero = np.zeros(3)
    force = of_worlds(d, "force", zero if force is None else force, 3)
    torque = of_worlds(d, "torque", zero if torque is None else torque, 3)
    dofs, jacp, jacr = columns(m, d, of_worlds(d, "point", point, 3), one(m, "body", body))
    out = np.zeros((d.nworld, m.nv))
    out[:, dofs] = np.einsum("wki,wi->wk", jacp, force) + np.einsum("wki,wi->wk", jacr, torque)
    return shaped(d, out)


def rne_post_constraint(m, d):
    """Accelerations of bodies and the forces on and between them: computes and returns d.cacc, d.cfrc_int, d.cfrc_ext.

    Reading one of these arrays does the same. Each is (nbody, 6), with several worlds (nworld, nbody, 6), rotation
    first, about the centre of mass of each body's tree [rad/s2, m/s2; N m, N].
    """
    start(m, d)
    on_demand.forces(m, d)
    return tuple(shaped(d, d.host(name).astype(float)) for name in on_demand.POST_CONSTRAINT)


def _objects(m, d, objtype, objid):
    """(bodies (n,), positions (nworld, n, 3), orientations (nworld, n, 3, 3), whether several were asked for)."""
    kind = mjtObj.mjOBJ_XBODY if isinstance(objtype, str) and objtype == "xbody" else as_objtype(objtype)
    if kind not in PLACES:
        raise Error(f"objtype={brief(objtype)}: expected a body, xbody, geom, site or camera")
    word, pos, mat, owner = PLACES[kind]
    if kind == mjtObj.mjOBJ_CAMERA:
        on_demand.cameras(m, d)
    ids, many = elements(m, word, objid)
    body = ids if owner is None else np.asarray(getattr(m, owner))[ids].astype(np.int64)
    pos, mat = (part(d, name, ids) for name in (pos, mat))
    return body, pos, mat.reshape(d.nworld, -1, 3, 3), many


def _moved(m, d, name, body, pos):
    """Twists (cvel) or accelerations (cacc) of bodies, taken at points of theirs; 0 of what is static."""
    twist = np.where((np.asarray(m.body_weldid)[body] > 0)[:, None], part(d, name, body), 0.0)
    arm = pos - part(d, "subtree_com", np.asarray(m.body_rootid)[body])
    twist[..., 3:] += cross(twist[..., :3], arm)
    return twist


def _result(d, twist, mat, local, many):
    if local:
        twist = np.einsum("wnji,wnkj->wnki", mat, twist.reshape(*twist.shape[:2], 2, 3)).reshape(twist.shape)
    return shaped(d, twist if many else twist[:, 0])
