"""What users read of tendons and actuators and the engine keeps otherwise: made on the host when it is read.

Jacobians of tendons are sparse rows whose places are tables of the model (tisim/model/tables), paths have their points
element by element, and adhesion has no stored moment. Shapes as in mujoco for one world, with a leading world axis for
several.
"""

import numpy as np

from tisim.enums import mjtWrap
from tisim.model.tables.moving import last_dof

from .matrices import shaped


def ten_J(m, d):
    """(ntendon, nv): derivatives of tendon lengths by the dofs; always a matrix, whatever m.opt.jacobian says."""
    out = np.zeros((d.nworld, m.ntendon, m.nv))
    rows = np.repeat(np.arange(m.ntendon), m.derived("tendon_Jnum"))
    out[:, rows, m.derived("tendon_Jdof")] = d.host("ten_J")
    return shaped(d, out)


def wraps(m, d):
    """dict of ten_wrapadr, ten_wrapnum (ntendon,), wrap_obj (nwrap, 2) and wrap_xpos (nwrap, 6): points of the paths.

    A path's points follow each other from wrapadr on in the flat lists: -1 for a site, -2 for a pulley, or the geom
    that it touches.
    """
    kind, ids = np.asarray(m.wrap_type), np.asarray(m.wrap_objid)
    touch, where = d.host("wrap_touch"), d.host("wrap_point")
    site, pulley = kind == mjtWrap.mjWRAP_SITE, kind == mjtWrap.mjWRAP_PULLEY
    geom = (kind == mjtWrap.mjWRAP_SPHERE) | (kind == mjtWrap.mjWRAP_CYLINDER)
    owner = np.repeat(np.arange(m.ntendon), np.asarray(m.tendon_num))
    adr, num = np.zeros((2, d.nworld, m.ntendon), np.int32)
    obj, xpos = np.full((d.nworld, 2 * m.nwrap), 0, np.int32), np.zeros((d.nworld, 2 * m.nwrap, 3))
    for w in range(d.nworld):
        points = np.where(geom, 2 * (touch[w] > 0), (site | pulley).astype(int))
        element = np.repeat(np.arange(m.nwrap), points)
        second = np.append(False, element[1:] == element[:-1])
        obj[w, : len(element)] = np.where(geom, ids, np.where(pulley, -2, -1))[element]
        place = np.zeros((m.nwrap, 2, 3))
        place[site, 0] = d.host("site_xpos")[w][ids[site]]
        place[geom] = where[w].reshape(-1, 2, 3)[geom]
        xpos[w, : len(element)] = place[element, second.astype(int)]
        num[w] = np.bincount(owner, points, m.ntendon)
        adr[w] = np.cumsum(num[w]) - num[w]
    out = dict(ten_wrapadr=adr, ten_wrapnum=num, wrap_obj=obj.reshape(d.nworld, -1, 2))
    out["wrap_xpos"] = xpos.reshape(d.nworld, -1, 6)
    return {name: shaped(d, values) for name, values in out.items()}


def moments(m, d):
    """dict of actuator_moment (n,), moment_rownnz, moment_rowadr (nu,), moment_colind (n,): sparse rows, as in mujoco.

    The row of an adhesion actuator has room for all dofs, the others for those that they can act on.
    """
    number = np.array(m.derived("moment_num"), np.int64)
    adhesion = np.asarray(m.derived("adhesion"))
    room = number.copy()
    room[adhesion] = m.nv
    start = np.cumsum(room) - room
    value, column = np.zeros((d.nworld, room.sum())), np.zeros((d.nworld, room.sum()), np.int32)
    place = np.repeat(start - (np.cumsum(number) - number), number) + np.arange(number.sum())
    value[:, place], column[:, place] = d.host("moment"), m.derived("moment_dof")
    rownnz = np.tile(number, (d.nworld, 1)).astype(np.int32)
    if len(adhesion):
        dense = _adhesion(m, d)
        for w, k in np.ndindex(d.nworld, len(adhesion)):
            dof = np.flatnonzero(dense[w, k])
            row = slice(start[adhesion[k]], start[adhesion[k]] + len(dof))
            value[w, row], column[w, row], rownnz[w, adhesion[k]] = dense[w, k, dof], dof, len(dof)
    out = dict(actuator_moment=value, moment_rownnz=rownnz, moment_colind=column)
    out["moment_rowadr"] = np.tile(start.astype(np.int32), (d.nworld, 1))
    return {name: shaped(d, values) for name, values in out.items()}


def moment_rows(m, d):
    """(nu, nv): the same as a matrix."""
    flat = {name: np.reshape(values, (d.nworld, -1)) for name, values in moments(m, d).items()}
    out = np.zeros((d.nworld, m.nu, m.nv))
    for w, i in np.ndindex(d.nworld, m.nu):
        row = slice(flat["moment_rowadr"][w, i], flat["moment_rowadr"][w, i] + flat["moment_rownnz"][w, i])
        out[w, i, flat["moment_colind"][w, row]] = flat["actuator_moment"][w, row]
    return shaped(d, out)


def _adhesion(m, d):
    """(nworld, adhesion actuators, nv): what brings bodies together, the mean over their contacts."""
    stuck, start = np.asarray(m.derived("adhesion")), np.asarray(m.derived("body_adhadr"))
    body = np.repeat(np.arange(m.nbody), np.diff(start))
    out, number = np.zeros((d.nworld, len(stuck), m.nv)), np.zeros((d.nworld, len(stuck)))
    n, cdof = d.count("ncon"), d.host("cdof").reshape(-1, 6)
    geom, world = d.host("contact_geom")[:n], d.host("contact_worldid")[:n]
    position, normal = d.host("contact_pos")[:n], d.host("contact_frame")[:n].reshape(n, 9)[:, :3]
    centre, of = d.host("subtree_com").reshape(-1, 3), np.asarray(m.geom_bodyid)
    for c in np.flatnonzero(d.host("contact_exclude")[:n] <= 1):
        w, sides = world[c], of[geom[c]]
        mine = np.flatnonzero((body[:, None] == sides).any(1))
        number[w, mine] += 1
        for side, b in enumerate(sides if len(mine) else ()):
            dof = int(last_dof(m, b))
            arm = position[c] - centre[w * m.nbody + m.body_rootid[b]]
            while dof >= 0:
                axis = cdof[w * m.nv + dof]
                out[w, mine, dof] += (1 - 2 * side) * normal[c] @ (axis[3:] + np.cross(axis[:3], arm))
                dof = int(m.dof_parentid[dof])
    return out / np.maximum(number, 1)[..., None]


def _part(make, name):
    def part(m, d):
        return make(m, d)[name]

    part.__doc__ = f"As mjData's {name}: of {make.__name__} in tisim/data/moments.py."
    return part


# what a Data has of these, by name
MADE = {"ten_J": ten_J, "_moment_rows": moment_rows}
MADE |= {name: _part(wraps, name) for name in ("ten_wrapadr", "ten_wrapnum", "wrap_obj", "wrap_xpos")}
MADE |= {name: _part(moments, name) for name in ("actuator_moment", "moment_rownnz", "moment_rowadr", "moment_colind")}
