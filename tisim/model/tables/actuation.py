"""Which dofs each actuator acts on, and which actuators are of which kind: places of sparse moments."""

import numpy as np

from tisim.enums import mjtBias, mjtDyn, mjtGain, mjtJoint, mjtTrn
from tisim.mjcf.tree import NV

from . import gravcomp, tendon
from .declare import Table, declared
from .moving import chains

JOINTS = (mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT)


def _rows(m, *kinds):
    return np.flatnonzero(np.isin(m.actuator_trntype, kinds))


def _joint_entries(m):
    rows = _rows(m, *JOINTS)
    joint = np.asarray(m.actuator_trnid)[rows, 0]
    number = np.asarray(NV)[np.asarray(m.jnt_type)[joint]]
    component = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
    return np.repeat(rows, number), np.repeat(np.asarray(m.jnt_dofadr)[joint], number) + component, component


def _tendon_entries(m):
    rows, e = _rows(m, mjtTrn.mjTRN_TENDON), tendon.entries(m)
    of = np.asarray(m.actuator_trnid)[rows, 0]
    number = e["tendon_Jnum"][of]
    start = np.repeat(e["tendon_Jadr"][of] - (np.cumsum(number) - number), number)
    place = start + np.arange(number.sum())
    return np.repeat(rows, number), e["tendon_Jdof"][place], place


def _site_entries(m):
    """Bit 1: the dof moves the site or crank, bit 2: the reference site or slider. With a reference site dofs that move
    both have no entry."""
    rows = _rows(m, mjtTrn.mjTRN_SITE, mjtTrn.mjTRN_SLIDERCRANK)
    nv, keys, bits = max(1, m.nv), [], []
    for side in range(2):
        site = np.asarray(m.actuator_trnid)[rows, side]
        there = np.flatnonzero(site >= 0)
        at, dof = chains(m, np.asarray(m.site_bodyid)[site[there]])
        keys.append(rows[there[at]] * np.int64(nv) + dof)
        bits.append(np.full(len(at), 1 << side))
    key, place = np.unique(np.concatenate(keys), return_inverse=True)
    sides = np.bincount(place, np.concatenate(bits), len(key)).astype(np.int64)
    row = key // nv
    kept = (sides < 3) | (np.asarray(m.actuator_trntype)[row] == mjtTrn.mjTRN_SLIDERCRANK)
    return row[kept], key[kept] % nv, sides[kept]


def entries(m):
    """Entries of the actuators' moments, dofs of each actuator ascending.

    dict of moment_adr, moment_num (nu,); moment_dof, moment_place, moment_owner (nmoment,). moment_place is the dof's
    number in its joint, the place in ten_J, or the bits of `_site_entries`. Adhesion has no entries here: its moment
    follows from contacts.
    """
    row, dof, place = (np.concatenate(x) for x in zip(_joint_entries(m), _tendon_entries(m), _site_entries(m)))
    order = np.lexsort((dof, row))
    number = np.bincount(row.astype(np.int64), minlength=m.nu)
    return dict(
        moment_adr=np.cumsum(number) - number, moment_num=number, moment_dof=dof[order], moment_place=place[order],
        moment_owner=row[order],
    )  # fmt: skip


def _driven(m):
    """(dofs whose qfrc_actuator is made, first entry of each in drive_entry and the end, these entries, actuators)."""
    e = entries(m)
    order = np.lexsort((e["moment_owner"], e["moment_dof"]))
    dof = e["moment_dof"][order]
    everywhere = len(_rows(m, mjtTrn.mjTRN_BODY)) or gravcomp.acts(m)
    driven = np.arange(m.nv) if everywhere else np.unique(dof)
    adr = np.append(np.searchsorted(dof, driven), len(dof))
    return driven if m.nu else driven[:0], adr, order, e["moment_owner"][order]


def _clamped(m):
    """Dofs at which the sum of the actuators' forces is not the last word."""
    joint, scalar = np.asarray(m.dof_jntid), np.asarray(m.jnt_type) >= mjtJoint.mjJNT_SLIDE
    some = (np.asarray(m.jnt_actgravcomp) != 0) & gravcomp.acts(m)
    return np.flatnonzero((some | (np.asarray(m.jnt_actfrclimited, bool) & scalar))[joint]) if m.nu else joint[:0]


def _shaped(m):
    """Actuators with something that is no number times something: muscles, and what users compute."""
    user = (mjtDyn.mjDYN_MUSCLE, mjtDyn.mjDYN_USER)
    some = np.isin(m.actuator_dyntype, user)
    some |= np.isin(m.actuator_gaintype, (mjtGain.mjGAIN_MUSCLE, mjtGain.mjGAIN_USER))
    return np.flatnonzero(some | np.isin(m.actuator_biastype, (mjtBias.mjBIAS_MUSCLE, mjtBias.mjBIAS_USER)))


def _pullers(m):
    """(tendons with a limit of the force of their actuators, first of these in puller and the end, the actuators)."""
    rows = _rows(m, mjtTrn.mjTRN_TENDON)
    of = np.asarray(m.actuator_trnid)[rows, 0]
    limited = np.asarray(m.tendon_actfrclimited, bool)
    rows, of = rows[limited[of]], of[limited[of]]
    order = np.argsort(of, kind="stable")
    tendons = np.unique(of)
    return tendons, np.append(np.searchsorted(of[order], tendons), len(of)), rows[order]


def servos(m):
    """(actuators of hinges and slides by joint, first of each joint in it and the end): what dynamics="lcp" makes rows
    of."""
    rows = _rows(m, *JOINTS)
    joint = np.asarray(m.actuator_trnid)[rows, 0]
    scalar = np.asarray(m.jnt_type)[joint] >= mjtJoint.mjJNT_SLIDE
    rows, joint = rows[scalar], joint[scalar]
    return rows[np.argsort(joint, kind="stable")], np.searchsorted(np.sort(joint), np.arange(m.njnt + 1))


def _adhesion(m):
    """(adhesion actuators by body, first of each body in it and the end)."""
    rows = _rows(m, mjtTrn.mjTRN_BODY)
    body = np.asarray(m.actuator_trnid)[rows, 0]
    return rows[np.argsort(body, kind="stable")], np.searchsorted(np.sort(body), np.arange(m.nbody + 1))


def _of(name):
    return lambda m: entries(m)[name]


def _part(make, k):
    return lambda m: make(m)[k]


def _kind(*kinds):
    return lambda m: _rows(m, *kinds)


LIMITS = ("jnt_actgravcomp", "jnt_actfrclimited", "body_gravcomp")
TABLES = declared(
    Table("moment_adr", "i", ("nu",), _of("moment_adr"), (), "first entry of each actuator in moment_dof"),
    Table("moment_num", "i", ("nu",), _of("moment_num"), (), "dofs that it acts on"),
    Table("moment_dof", "i", ("nmoment",), _of("moment_dof"), (), "these dofs, ascending"),
    Table("moment_place", "i", ("nmoment",), _of("moment_place"), (), "which of the transmission's numbers it is"),
    Table("joint_actuator", "i", ("njointact",), _kind(*JOINTS), (), "actuators of joints"),
    Table("tendon_actuator", "i", ("ntendonact",), _kind(mjtTrn.mjTRN_TENDON), (), "actuators of tendons"),
    Table("site_actuator", "i", ("nsiteact",), _kind(mjtTrn.mjTRN_SITE), (), "actuators of sites"),
    Table("crank_actuator", "i", ("ncrankact",), _kind(mjtTrn.mjTRN_SLIDERCRANK), (), "slider-cranks"),
    Table("adhesion", "i", ("nadhesion",), _part(_adhesion, 0), (), "actuators of bodies, by body"),
    Table("body_adhadr", "i", ("nbodyend",), _part(_adhesion, 1), (), "first of each body in adhesion, and the end"),
    Table("servo", "i", ("nservo",), _part(servos, 0), (), "actuators of hinges and slides, by joint"),
    Table("servo_adr", "i", ("nservoadr",), _part(servos, 1), (), "first of each joint in servo, and the end"),
    Table("shaped_actuator", "i", ("nshaped",), _shaped, (), "actuators with a muscle, or something of the user's"),
    Table("force_tendon", "i", ("nforcetendon",), _part(_pullers, 0), ("tendon_actfrclimited",),
          "tendons whose actuators' total force is limited"),
    Table("puller_adr", "i", ("npulleradr",), _part(_pullers, 1), ("tendon_actfrclimited",),
          "first of each of them in puller, and the end"),
    Table("puller", "i", ("npuller",), _part(_pullers, 2), ("tendon_actfrclimited",), "their actuators"),
    Table("driven_dof", "i", ("ndriven",), _part(_driven, 0), ("body_gravcomp",), "dofs on which actuators can act"),
    Table("drive_adr", "i", ("ndriveadr",), _part(_driven, 1), ("body_gravcomp",),
          "first of each of them in drive_entry, and the end"),
    Table("drive_entry", "i", ("nmoment",), _part(_driven, 2), (), "places in moment, by dof"),
    Table("drive_actuator", "i", ("nmoment",), _part(_driven, 3), (), "actuators of these"),
    Table("clamped_dof", "i", ("nclamped",), _clamped, LIMITS,
          "dofs where actuators compensate gravity, or their total force is limited"),
)  # fmt: skip
# numbers that are the length of a table
COUNTED = dict(
    nmoment="moment_dof", njointact="joint_actuator", ntendonact="tendon_actuator", nsiteact="site_actuator",
    ncrankact="crank_actuator", nadhesion="adhesion", nbodyend="body_adhadr", nshaped="shaped_actuator",
    nforcetendon="force_tendon", npulleradr="puller_adr", npuller="puller", ndriven="driven_dof",
    ndriveadr="drive_adr", nclamped="clamped_dof", nservo="servo", nservoadr="servo_adr",
)  # fmt: skip
