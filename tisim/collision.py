"""Collision: candidate pairs, contacts of each pair, contact list. Order of launches and growth of the lists.

Nothing that a later stage sees depends on the search for pairs: they are sorted by (world, geom1, geom2), and the
contacts of a pair follow its collider's own order.
"""

import numpy as np

from tisim import launch, runtime
from tisim.arrays import COUNTS
from tisim.enums import mjtDisableBit, mjtEnableBit, mjtGeom

SERIAL_GEOMS = 2000  # worlds * geoms below which loops run on one CPU thread; provisional, tuned on a busy machine
LEVEL_BITS = (10, 15)  # least and most bits of the sweep coordinate (15: estimated from body width, not tuned)
ROUND = (int(mjtGeom.mjGEOM_SPHERE), int(mjtGeom.mjGEOM_CAPSULE))
PLANE, BOX = int(mjtGeom.mjGEOM_PLANE), int(mjtGeom.mjGEOM_BOX)


def collide(m, d):
    """Finds all contacts of the present poses: fills the contact list and counts.

    Lists that are too short grow and the stage is done again; raises CapacityError only at a limit the user set.
    Seed 000, "Collision detection".
    """
    disable = int(m.opt.disableflags)
    if disable & (int(mjtDisableBit.mjDSBL_CONTACT) | int(mjtDisableBit.mjDSBL_CONSTRAINT)):
        d.set_counts(npair=0, nslot=0, ncon=0)
        return
    tables = d._info.get("collision")
    if tables is None or any(not np.array_equal(getattr(m, name), old) for name, old in tables["reads"].items()):
        tables = _tables(m, d)
    if not tables["work"]:
        d.set_counts(npair=0, nslot=0, ncon=0)
        return
    while True:
        _launch(m, d, tables)
        npair, nslot, ncon, nentry = _counts(d)
        if max(npair, nentry) > d.capacity("npairmax"):
            d.grow("npairmax", max(npair, nentry))
        elif nslot > d.capacity("nslotmax"):
            d.grow("nslotmax", nslot)
        elif ncon > d.capacity("nconmax"):
            d.grow("nconmax", ncon)
        else:
            return


def _counts(d):
    """Lengths of the lists: on a GPU the one place where the stage waits."""
    counts = d.device("counts")
    view = launch.host_view(counts)
    if view is None:
        view = counts.to_numpy()
    return [int(view[COUNTS[name]]) for name in ("npair", "nslot", "ncon", "nentry")]


def _launch(m, d, t):
    """One attempt, from boxes to contacts."""
    k = runtime.kernels
    bp, sort, contact = k("broadphase"), k("sort"), k("contact")
    override = bool(int(m.opt.enableflags) & int(mjtEnableBit.mjENBL_OVERRIDE))
    if override:
        values = np.concatenate([m.opt.o_solref, m.opt.o_solimp, m.opt.o_friction])
        launch.upload(d.device("override_param"), values.astype(runtime.numpy_float()))
    scalars = dict(
        t["scalars"], override=int(override), o_margin=float(m.opt.o_margin),
        filterparent=int(not int(m.opt.disableflags) & int(mjtDisableBit.mjDSBL_FILTERPARENT)),
    )  # fmt: skip
    narrow = k("narrowphase").narrowphase(t["kinds"])
    if not t["wide"]:
        stages = [
            bp.enter_geoms, bp.sort_entries, bp.search_pairs, bp.sort_pairs, bp.order_pairs, narrow,
            contact.write_contacts,
        ]  # fmt: skip
        half = {name: -(-t["scalars"][name + "bits"] // t["digit"]) for name in ("entry", "geom", "worldgeom")}
        launch.run(
            m, d, stages, parallel=t["parallel"], entryhalf=half["entry"] % 2,
            pairhalf=(half["geom"] + half["worldgeom"]) % 2, **scalars,
        )  # fmt: skip
        return

    def run(*kernels, **more):
        launch.run(m, d, kernels, **scalars, **more)

    def radix(count, bits, half):
        """Sorts the list of this count by that many low bits of its keys; returns the half that holds the result."""
        npass = -(-bits // t["digit"])
        nbit = -(-bits // npass)
        for i in range(npass):
            run(sort.radix_pass, icount=COUNTS[count], shift=i * nbit, nbit=nbit, half=half)
            half = 1 - half
        return half

    run(bp.enter_geoms)
    half = radix("nentry", scalars["entrybits"], 0)
    run(bp.search_pairs, bp.key_by_geom2, entryhalf=half)
    half = radix("npair", scalars["geombits"], 0)
    run(bp.key_by_geom1, half=half)
    half = radix("npair", scalars["worldgeombits"], half)
    run(bp.order_pairs, narrow, contact.write_contacts, pairhalf=half)


def _tables(m, d):
    """What does not change between steps: geoms by role, excluded and listed pairs, sizes of keys; kept in d."""
    gtype = np.asarray(m.geom_type)
    body = np.asarray(m.geom_bodyid)
    can = (np.asarray(m.geom_contype) != 0) | (np.asarray(m.geom_conaffinity) != 0)
    col = np.flatnonzero(can & (gtype != PLANE))
    plane = np.flatnonzero(can & (gtype == PLANE))
    moving = np.asarray(m.body_weldid)[body[col]] != 0
    move = col[moving] if moving.any() else col
    pair1, pair2 = np.asarray(m.pair_geom1, int), np.asarray(m.pair_geom2, int)
    listed = np.unique(np.sort(np.stack([pair1, pair2], 1), 1), axis=0).reshape(-1, 2)
    signature = np.sort(np.asarray(m.exclude_signature).astype(np.int64) & 0xFFFFFFFF)
    ncol, total = len(col), len(col) * d.nworld
    wide = runtime.arch != "cpu"  # one thread per block of the sort, else one block in all
    stripbit = max(0, min(10, int(np.ceil(np.log2(max(1.0, ncol**0.5))))))
    worldbit = int(d.nworld - 1).bit_length()
    stripbit = min(stripbit, max(0, 31 - LEVEL_BITS[0] - worldbit))
    levelbit = max(1, min(LEVEL_BITS[1], max(LEVEL_BITS[0], 22 - stripbit - worldbit), 31 - stripbit - worldbit))
    digit = 8 if wide else 11
    nblock = max(1, min(1024, total // 256)) if wide else 1
    d._bound.clear()
    for name, values in dict(
        col_geom=col, plane_geom=plane, move_geom=move, listed_geom1=listed[:, 0], listed_geom2=listed[:, 1],
        exclude_body1=signature >> 16, exclude_body2=signature & 0xFFFF, sweep_axis=np.zeros(2, int),
        sort_count=np.zeros(nblock << digit, int), bin_adr=np.zeros(16, int),
    ).items():  # fmt: skip
        if name in d._device:
            launch.delete_array(d._device[name])
        d._device[name] = launch.new_array(False, len(values))
        launch.upload(d._device[name], np.ascontiguousarray(values, np.int32))
    for name, size in dict(sweep_sample=96, sweep_scale=12, override_param=12).items():
        if name not in d._device:
            d._device[name] = launch.new_array(True, size)
    movers = int(moving.sum())
    geombit = max(1, int(m.ngeom - 1).bit_length())
    tables = dict(
        reads={name: np.array(getattr(m, name)) for name in ("geom_contype", "geom_conaffinity")},
        work=(movers > 0 and (ncol > 1 or len(plane) > 0)) or len(pair1) > 0, wide=wide, digit=digit,
        parallel=total >= SERIAL_GEOMS, kinds=_kinds(gtype, can, pair1, pair2),
        scalars=dict(
            ncol=ncol, nmove=len(move), nplane=len(plane), nlisted=len(listed), nexclude=len(signature),
            nstripbit=stripbit, nlevelbit=levelbit, nsortblock=nblock, digit=digit,
            entrybits=worldbit + stripbit + levelbit, geombits=geombit,
            worldgeombits=max(1, int(m.ngeom * d.nworld - 1).bit_length()),
        ),
    )  # fmt: skip
    d._info["collision"] = tables
    return tables


def _kinds(gtype, can, pair1, pair2):
    """Kinds of pairs (kernels/broadphase.py, kind_of) this model can have, so that no other collider is compiled."""
    some = np.unique(gtype[can])
    pairs = {(min(a, b), max(a, b)) for a in some for b in some}
    pairs |= {(min(a, b), max(a, b)) for a, b in zip(gtype[pair1], gtype[pair2])}

    def needed(t1, t2):
        plane, round1, round2 = t1 == PLANE, t1 in ROUND, t2 in ROUND
        return (plane and round2, round1 and round2, plane and t2 == BOX, round1 and t2 == BOX, t1 == t2 == BOX)

    return tuple(kind for kind in range(5) if any(needed(*p)[kind] for p in pairs))
