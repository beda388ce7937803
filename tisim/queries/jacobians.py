"""Jacobians of points, axes and centres of mass, dense, for one body at a time. Seed 003, "Jacobians".

Columns come from the motion axes cdof, twists about the centre of mass of the body's tree: a point at an offset r from
there moves with linear + angular x r. Only the dofs of the body's chain have columns other than zero. All is as the
poses and velocities were last computed (forward, step).
"""

import numpy as np

from tisim.data import varied
from tisim.enums import mjtJoint
from tisim.mjcf.numbers import MINVAL
from tisim.mjcf.rotations import cross

from .arguments import element, of_worlds, part, shaped, start


def jac(m, d, point, body):
    """Jacobians of a point that is fixed to a body.

    point  (3,), with several worlds also (nworld, 3) [m], world frame;  body  id or name.
    Returns jacp and jacr, (3, nv) each, with several worlds (nworld, 3, nv): jacp @ qvel is the velocity of the point
    [m/s], jacr @ qvel the angular velocity of the body [rad/s], world frame. Raises Error for a body that does not
    exist, or a point that is none.
    """
    start(m, d)
    return _both(d, *columns(m, d, of_worlds(d, "point", point, 3), element(m, "body", body)))


def jac_body(m, d, body):
    """`jac` of the origin of a body's frame, xpos. body: id or name."""
    start(m, d)
    i = element(m, "body", body)
    return _both(d, *columns(m, d, part(d, "xpos", i), i))


def jac_body_com(m, d, body):
    """`jac` of a body's centre of mass, xipos. body: id or name."""
    start(m, d)
    i = element(m, "body", body)
    return _both(d, *columns(m, d, part(d, "xipos", i), i))


def jac_geom(m, d, geom):
    """`jac` of a geom's centre, geom_xpos. geom: id or name."""
    start(m, d)
    i = element(m, "geom", geom)
    return _both(d, *columns(m, d, part(d, "geom_xpos", i), int(m.geom_bodyid[i])))


def jac_site(m, d, site):
    """`jac` of a site, site_xpos. site: id or name."""
    start(m, d)
    i = element(m, "site", site)
    return _both(d, *columns(m, d, part(d, "site_xpos", i), int(m.site_bodyid[i])))


def jac_point_axis(m, d, point, axis, body):
    """Jacobians of a point and of an axis that are fixed to a body.

    point, axis  (3,), with several worlds also (nworld, 3) [m, -], world frame;  body  id or name.
    Returns (3, nv) each, with several worlds (nworld, 3, nv): times qvel, the velocities of the point and of the axis.
    """
    start(m, d)
    axis = of_worlds(d, "axis", axis, 3)
    dofs, jacp, jacr = columns(m, d, of_worlds(d, "point", point, 3), element(m, "body", body))
    return _both(d, dofs, jacp, cross(jacr, axis[:, None]))


def jac_dot(m, d, point, body):
    """Time derivatives of the Jacobians that `jac` returns, at the present velocity.

    point  (3,), with several worlds also (nworld, 3) [m], world frame;  body  id or name.
    Returns two arrays (3, nv), with several worlds (nworld, 3, nv): jacp_dot @ qvel is what the point's acceleration
    [m/s2] has besides jacp @ qacc.
    """
    start(m, d)
    i = element(m, "body", body)
    point = of_worlds(d, "point", point, 3)
    dofs, arm = chain(m, i), _arm(m, d, point, i)[:, None]
    axes, rates = (part(d, name, dofs) for name in ("cdof", "cdof_dot"))
    owner = np.asarray(m.dof_bodyid)[dofs]
    joint = np.asarray(m.dof_jntid)[dofs]
    kind = np.asarray(m.jnt_type)[joint]
    turns = kind == mjtJoint.mjJNT_BALL
    turns |= (kind == mjtJoint.mjJNT_FREE) & (dofs >= np.asarray(m.jnt_dofadr)[joint] + 3)
    # axes that turn with their body move at its velocity; cdof_dot takes them at that of the parent
    moved = part(d, "cvel", owner)
    spin, shift = moved[..., :3], moved[..., 3:]
    carried = np.concatenate(
        [cross(spin, axes[..., :3]), cross(spin, axes[..., 3:]) + cross(shift, axes[..., :3])], axis=-1
    )
    rates = np.where(turns[:, None], carried, rates)
    own = part(d, "cvel", i)[:, None]
    speed = own[..., 3:] + cross(own[..., :3], arm)
    jacp = rates[..., 3:] + cross(rates[..., :3], arm) + cross(axes[..., :3], speed)
    return _both(d, dofs, jacp, rates[..., :3])


def jac_subtree_com(m, d, body):
    """Jacobian of the centre of mass of a body and all below it, subtree_com.

    body  id or name.  Returns (3, nv), with several worlds (nworld, 3, nv); zeros for a subtree without mass.
    """
    start(m, d)
    i = element(m, "body", body)
    dofs, lower = subtree_dofs(m, i)
    varied.refuse(d, "jac_subtree_com", "body_mass")
    mass = np.asarray(m.body_subtreemass)
    if mass[i] < MINVAL:
        dofs, lower = dofs[:0], lower[:0]
    axes = part(d, "cdof", dofs)
    arm = part(d, "subtree_com", lower) - part(d, "subtree_com", np.asarray(m.body_rootid)[lower])
    share = mass[lower] / max(mass[i], MINVAL)
    return _spread(d, dofs, share[:, None] * (axes[..., 3:] + cross(axes[..., :3], arm)))


def angmom_mat(m, d, body):
    """Matrix that gives the angular momentum of a body and all below it, about their centre of mass.

    body  id or name.  Returns (3, nv), with several worlds (nworld, 3, nv): times qvel, the momentum [kg m2/s].
    """
    start(m, d)
    i = element(m, "body", body)
    dofs, lower = subtree_dofs(m, i)
    axes, crb = part(d, "cdof", dofs), part(d, "crb", lower)
    turn, shift, moment, mass = axes[..., :3], axes[..., 3:], crb[..., 6:9], crb[..., 9:]
    diagonal, mixed = crb[..., :3], crb[..., 3:6]
    xy, xz, yz = mixed[..., 0], mixed[..., 1], mixed[..., 2]
    tx, ty, tz = turn[..., 0], turn[..., 1], turn[..., 2]
    spin = diagonal * turn + np.stack([xy * ty + xz * tz, xy * tx + yz * tz, xz * tx + yz * ty], axis=-1)
    spin = spin + cross(moment, shift)
    linear = mass * shift + cross(turn, moment)
    arm = part(d, "subtree_com", i)[:, None] - part(d, "subtree_com", np.asarray(m.body_rootid)[lower])
    return _spread(d, dofs, spin - cross(arm, linear))


def chain(m, body):
    """The dofs that move a body, ascending."""
    parent, number, above = (np.asarray(a) for a in (m.body_parentid, m.body_dofnum, m.dof_parentid))
    while body and not number[body]:
        body = int(parent[body])
    i, dofs = int(m.body_dofadr[body]) + int(number[body]) - 1 if body else -1, []
    while i >= 0:
        dofs.append(i)
        i = int(above[i])
    return np.array(dofs[::-1], np.int64)


def subtree_dofs(m, body):
    """(dofs, bodies): the dofs that move a body or one below it, and the root of what each moves of this subtree."""
    parent = np.asarray(m.body_parentid)
    out = np.flatnonzero(parent[body + 1 :] < body)  # depth-first order: a subtree is a range
    last = body + 1 + int(out[0]) if len(out) else m.nbody
    owner = np.asarray(m.dof_bodyid)
    first, end = np.searchsorted(owner, (body, last))
    above = chain(m, body)
    above = above[above < first]
    return (
        np.concatenate([above, np.arange(first, end)]),
        np.concatenate([np.full(len(above), body), owner[first:end]]).astype(np.int64),
    )


def columns(m, d, point, body):
    """(dofs (k,), jacp (nworld, k, 3), jacr (nworld, k, 3)) of points (nworld, 3) that are fixed to a body."""
    dofs = chain(m, body)
    axes = part(d, "cdof", dofs)
    arm = _arm(m, d, point, body)
    return dofs, axes[..., 3:] + cross(axes[..., :3], arm[:, None]), axes[..., :3]


def _arm(m, d, point, body):
    """Points (nworld, 3) from the centre of mass of a body's tree."""
    return point - part(d, "subtree_com", int(m.body_rootid[body]))


def _both(d, dofs, jacp, jacr):
    return _spread(d, dofs, jacp), _spread(d, dofs, jacr)


def _spread(d, dofs, values):
    """Columns (nworld, k, 3) of these dofs as a matrix (3, nv), with several worlds (nworld, 3, nv)."""
    out = np.zeros((d.nworld, 3, d.model.nv))
    out[:, :, dofs] = values.swapaxes(1, 2)
    return shaped(d, out)
