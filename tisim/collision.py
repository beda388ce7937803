"""Collision: candidate pairs, contacts of each pair, contact list. Order of launches and growth of the lists.

Nothing that a later stage sees depends on the search for pairs: they are sorted by (world, geom1, geom2), and the
contacts of a pair follow its collider's own order.
"""

import itertools
import types

import numpy as np

from tisim import colliders, launch, memory, midphase, runtime, session
from tisim.arrays import COUNTS
from tisim.colliders import CONVEX, HEIGHT_FIELD, PLANE, PLANE_CONVEX
from tisim.enums import mjtDisableBit, mjtEnableBit

# what is too little to wake CPU threads for: geoms of all worlds for a search, and to have their boxes made; the work
# of the colliders in microseconds (colliders.COST); contacts
SEARCHED, BOXED, COLLIDED, LISTED = 600, 3000, 200, 3000
LEVEL_BITS = (10, 15)  # least and most bits of the sweep coordinate (15: estimated from body width, not tuned)
SKINS = (0.025, 0.1, 0.2)  # by how much a search enlarges boxes, relative to their mean extent: least, first, most
SHORT_LIFE, LONG_LIFE = 6, 40  # steps that its pairs serve, below and above which the next skin is larger or smaller
REST = 16  # searches without a skin, where things move so fast that not even the largest one pays
WORKERS = (8192, 256)  # pieces of scratch memory for convex shapes, 10 kB each: on a GPU, on a CPU
WORKED = 64  # geoms of all worlds from which on there are so many pieces, not one
WORKER_NUMBERS = 1 << 26  # numbers in all of them together, at most
MAX_POLYGON = 150  # corners of a mesh's face that count, mjMAX_POLYVERT
MAX_ITERATIONS = 1000  # larger ccd_iterations mean no more: memory and time stay bounded


def collide(m, d, keep=True):
    """Finds all contacts of the present poses: fills the contact list and counts.

    keep  whether pairs of an earlier search may serve again; they do as long as nothing has moved far and the model is
          the same. The contacts do not depend on it.
    Lists that are too short grow and the stage is done again; raises CapacityError only at a limit the user set.
    Seed 000, "Collision detection".
    """
    disable = int(m.opt.disableflags)
    if disable & (int(mjtDisableBit.mjDSBL_CONTACT) | int(mjtDisableBit.mjDSBL_CONSTRAINT)):
        d.set_counts(ncpair=0, nslot=0, ncon=0)
        forget(d)
        return
    t = tables(m, d)
    if not t["work"]:
        d.set_counts(ncpair=0, nslot=0, ncon=0)
        return
    while True:
        t["plan"] = _plan(m, d, t)
        attempt(m, d, t, ("boxes",))
        if not (keep and _kept(m, d, t)):
            skin = t["skin"].next(t["age"]) if keep else 0.0
            t.update(age=0, last_age=t["age"] if keep else 0, relative_skin=skin, of=None)
            attempt(m, d, t, ("entries", "pairs"))
            t["of"] = _conditions(m, d, t)
            t["busy"]["contacts"] = _work(d, t) > COLLIDED
        attempt(m, d, t, ("contacts", "list"))
        npair, nslot, ncon, nentry, nmid = _counts(d)
        if max(npair, nentry, nmid) > d.capacity("npairmax"):
            d.grow("npairmax", max(npair, nentry, nmid))
        elif nslot > d.capacity("nslotmax"):
            d.grow("nslotmax", nslot)
        elif ncon > d.capacity("nconmax"):
            d.grow("nconmax", ncon)
        else:
            t["age"] += 1
            t["busy"]["list"] = ncon > LISTED
            return


def _work(d, t):
    """How long the colliders of the listed pairs take on one CPU thread, in microseconds."""
    if t["wide"]:
        return 0.0
    first = memory.host_view(d.device("bin_adr"))
    return float(np.diff(first[: colliders.NKIND + 1]) @ colliders.COST)


class _Skin:
    """Chooses by how much a search enlarges boxes, from how long the pairs of the last ones served."""

    def __init__(self):
        self.skin = SKINS[1]
        self.lives = (0, 0, 0)  # steps that the pairs of the last three searches served; 0: there were none
        self.rest = 0  # searches until a skin is tried again

    def next(self, age):
        """Relative skin of a search, when the pairs of the one before have served `age` times."""
        if self.rest:
            self.rest -= 1
            return 0.0
        self.lives = (*self.lives[1:], age)
        if self.skin == SKINS[-1] and self.lives == (1, 1, 1):
            self.rest = REST
        elif 0 < min(self.lives[1:]) and max(self.lives[1:]) < SHORT_LIFE:
            self.skin = min(SKINS[-1], 2 * self.skin)
        elif age > LONG_LIFE:
            self.skin = max(SKINS[0], 0.5 * self.skin)
        return self.skin


def forget(d):
    """Lets the next collision search for pairs again."""
    d._info.get("collision", {})["of"] = None


def _conditions(m, d, t):
    """What the pairs of a search depend on besides poses; equal as long as they may serve again."""
    return t["plan"].key, m.edits, d.device("cpair_geom1")


def _kept(m, d, t):
    return t["of"] is not None and not d.count("nout") and t["of"] == _conditions(m, d, t)


def tables(m, d):
    """What does not change between steps, kept in d; made anew for other geoms, options or colliders than before."""
    t = d._info.get("collision")
    if t is None or t["multiccd"] != _multiccd(m) or t["users"] != colliders.users() or (
        t["edits"] != m.edits and any(not np.array_equal(getattr(m, name), old) for name, old in t["reads"].items())
    ):  # fmt: skip
        t = d._info["collision"] = _tables(m, d)
    t["edits"] = m.edits
    return t


def _multiccd(m):
    return bool(int(m.opt.enableflags) & int(mjtEnableBit.mjENBL_MULTICCD))


def _counts(d):
    """Lengths of the lists: on a GPU the one place where the stage waits."""
    counts = d.counts_on_host()
    return [int(counts[COUNTS[name]]) for name in ("ncpair", "nslot", "ncon", "nentry", "nmid")]


def _plan(m, d, t):
    """Kernels of each part and the scalars they ask for; made anew for other options or longer lists than before."""
    key = (
        int(m.opt.disableflags), int(m.opt.enableflags), float(m.opt.o_margin), int(m.opt.ccd_iterations),
        d.capacity("npairmax"),
    )  # fmt: skip
    plan = t["plan"]
    if plan is None or plan.key != key:
        k = runtime.kernels
        boxes, bp, contact = k("boxes"), k("broadphase"), k("contact")
        nfound = 2 * bp.FOUND * -(-d.capacity("npairmax") // launch.CHUNK[not t["wide"]])
        d.scratch("sweep_found", nfound)
        narrow, sizes = narrowphase(m, d, t["kinds"], t["multiccd"], t["worked"] or t["wide"])
        half = {name: -(-t["scalars"][name + "bits"] // t["digit"]) for name in ("entry", "geom", "worldgeom")}
        override = bool(key[1] & int(mjtEnableBit.mjENBL_OVERRIDE))
        search = [bp.search_pairs]
        search += [k("midphase").search_static] if t["static"] else []
        search += [k("midphase").search_groups] if t["groups"] else []
        plan = types.SimpleNamespace(
            key=key, override=override, boxes=[boxes.update_boxes],
            enter=[bp.choose_axes, boxes.enlarge_boxes, bp.enter_items], search=search, contacts=narrow,
            list=[contact.write_contacts],
            scalars=dict(
                t["scalars"], **sizes, override=int(override), o_margin=key[2], entryhalf=half["entry"] % 2,
                pairhalf=(half["geom"] + half["worldgeom"]) % 2,
                filterparent=int(not key[0] & int(mjtDisableBit.mjDSBL_FILTERPARENT)),
            ),
        )  # fmt: skip
    return plan


def attempt(m, d, t, parts):
    """One attempt at parts of the stage: "boxes"; of a search sorted "entries" and "pairs"; "contacts"; "list"."""
    plan = t["plan"]
    bp, sort = runtime.kernels("broadphase"), runtime.kernels("sort")
    scalars = dict(plan.scalars, skin=t["relative_skin"], age=t["last_age"])
    if plan.override:
        values = np.concatenate([m.opt.o_solref, m.opt.o_solimp, m.opt.o_friction])
        memory.upload(d.device("override_param"), values.astype(session.numpy_float()))

    def run(part, *kernels):
        if kernels:
            parallel = t["wide"] or (t["busy"][part] if t["parallel"] is None else t["parallel"])
            launch.run(m, d, kernels, parallel=parallel, **scalars)

    if m.contact_filter is not None and "contacts" in parts:
        run("contacts", *plan.contacts)
        _filter(m, d)
        parts = [part for part in parts if part != "contacts"]
    if not t["wide"]:
        stages = dict(
            boxes=plan.boxes, entries=[*plan.enter, bp.sort_entries],
            pairs=[*plan.search, bp.sort_pairs, bp.order_pairs], contacts=plan.contacts, list=plan.list,
        )  # fmt: skip
        for _, same in itertools.groupby(parts, key=t["busy"].get):
            same = list(same)
            run(same[0], *(kernel for part in same for kernel in stages[part]))
        return

    def radix(count, bits, half):
        """Sorts the list of this count by that many low bits of its keys; returns the half that holds the result."""
        npass = -(-bits // t["digit"])
        nbit = -(-bits // npass)
        for i in range(npass):
            launch.run(
                m, d, [sort.radix_pass], **scalars, icount=COUNTS[count], shift=i * nbit, nbit=nbit, half=half
            )
            half = 1 - half
        return half

    if "boxes" in parts:
        run("boxes", *plan.boxes)
    if "entries" in parts:
        run("entries", *plan.enter)
        d._info["entryhalf"] = radix("nentry", scalars["entrybits"], 0)
    if "pairs" in parts:
        scalars["entryhalf"] = d._info["entryhalf"]
        run("pairs", *plan.search, bp.key_by_geom2)
        first = radix("ncpair", scalars["geombits"], 0)
        launch.run(m, d, [bp.key_by_geom1], **scalars, half=first)
        scalars["pairhalf"] = radix("ncpair", scalars["worldgeombits"], first)
        run("pairs", bp.order_pairs)
    run("list", *(kernel for part in parts if part in ("contacts", "list") for kernel in getattr(plan, part)))


def _filter(m, d):
    """Takes the contacts of the pairs away that the user's contact_filter refuses; listed pairs are not asked about."""
    npair, nslot = _counts(d)[:2]
    if npair > d.capacity("npairmax") or nslot > d.capacity("nslotmax"):
        return  # the stage is done again with longer lists
    ncon, first, second, listed = (d.host(f"cpair_{name}")[:npair] for name in ("ncon", "geom1", "geom2", "listed"))
    asked = np.flatnonzero((ncon > 0) & (listed < 0))
    refused = colliders.filter_contacts(m, d, first[asked] % m.ngeom, second[asked], first[asked] // m.ngeom)
    if refused.any():
        whole = d.host("cpair_ncon")
        whole[asked[refused]] = 0
        memory.upload(d.device("cpair_ncon"), whole)


def narrowphase(m, d, kinds, multiccd, parallel):
    """(kernels that these kinds of pairs need, scalars that they ask for); convex shapes get scratch memory."""
    k = runtime.kernels
    kernels = [k("narrowphase").narrowphase(kinds, colliders.users())]
    if PLANE_CONVEX in kinds and m.nmesh:
        kernels.append(k("collide_plane_convex").plane_mesh)
    if CONVEX in kinds:
        kernels.append(k("collide_convex").convex(multiccd))
    if HEIGHT_FIELD in kinds:
        kernels.append(k("collide_hfield").hfield)
    return kernels, ccd_scratch(m, d, multiccd, parallel) if {CONVEX, HEIGHT_FIELD} & set(kinds) else {}


def ccd_scratch(m, d, multiccd, parallel):
    """Makes scratch memory of GJK and EPA, one piece per worker; returns the scalars that their kernels ask for.

    parallel  whether they run in parallel; else one worker, thus one piece of memory, does all.
    """
    ccd = runtime.kernels("ccd")
    niter = max(1, min(int(m.opt.ccd_iterations), MAX_ITERATIONS))
    npoly = 0
    if multiccd and m.nmesh:
        npoly = max(4, min(MAX_POLYGON, int(max(m.mesh_polyvertnum.max(), m.mesh_polymapnum.max()))))
    size_f, size_i = ccd.scratch_size(niter, npoly)
    nworker = 1
    if parallel:
        nworker = max(32, min(WORKERS[session.arch == "cpu"], WORKER_NUMBERS // (size_f + size_i)))
    d.scratch("ccd_f", size_f * nworker)
    d.scratch("ccd_i", size_i * nworker)
    return dict(niter=niter, nccd=nworker, nccd_f=size_f, nccd_i=size_i, npoly=npoly)


def _tables(m, d):
    """The tables, made anew: geoms by role, excluded and listed pairs, sizes of keys; uploads the arrays among them."""
    gtype = np.asarray(m.geom_type)
    can = midphase.can_collide(m)
    single, bodies, members, static = midphase.sort_out(m)
    box = np.concatenate([single, m.ngeom + np.arange(len(bodies)), members])
    plane = np.flatnonzero(can & (gtype == PLANE))
    pair1, pair2 = np.asarray(m.pair_geom1, int), np.asarray(m.pair_geom2, int)
    listed = np.unique(np.sort(np.stack([pair1, pair2], 1), 1), axis=0).reshape(-1, 2)
    signature = np.sort(np.asarray(m.exclude_signature).astype(np.int64) & 0xFFFFFFFF)
    ncol, total = len(single) + len(bodies), len(box) * d.nworld
    wide = session.arch != "cpu"  # one thread per block of the sort, else one block in all
    stripbit = max(0, min(10, int(np.ceil(np.log2(max(1.0, ncol**0.5))))))
    worldbit = int(d.nworld - 1).bit_length()
    stripbit = min(stripbit, max(0, 31 - LEVEL_BITS[0] - worldbit))
    rowbit = min(stripbit // 2 + 1, max(0, 31 - LEVEL_BITS[0] - worldbit - stripbit))
    cellbit = worldbit + stripbit + rowbit
    levelbit = max(1, min(LEVEL_BITS[1], max(LEVEL_BITS[0], 22 - cellbit), 31 - cellbit))
    digit = 8 if wide else 11
    nblock = max(1, min(1024, total // 256)) if wide else 1
    kinds, slots = colliders.tables(_multiccd(m))
    for name, values in dict(
        box_item=box, plane_geom=plane, static_geom=static, listed_geom1=listed[:, 0], listed_geom2=listed[:, 1],
        exclude_body1=signature >> 16, exclude_body2=signature & 0xFFFF,
    ).items():  # fmt: skip
        memory.upload(d.scratch(name, len(values)), np.ascontiguousarray(values, np.int32))
    for name, values in dict(type_kind=kinds, kind_slots=slots, bin_adr=np.zeros(64)).items():
        memory.upload(d.device(name), np.ascontiguousarray(values, np.int32))
    # their length follows from the geoms that can collide
    d.drop("item_boxlo", "item_boxhi", "item_fatlo", "item_fathi", "item_from", "item_ball")
    d.scratch("sort_count", nblock << digit)
    d.scratch("plane_from", d.nworld * len(plane))
    d.scratch("group_from", d.nworld * len(bodies))
    geombit = max(1, int(m.ngeom - 1).bit_length())
    return dict(
        reads={name: np.array(getattr(m, name)) for name in ("geom_contype", "geom_conaffinity")},
        work=(len(box) > 0 and len(box) + len(plane) + len(static) > 1) or len(pair1) > 0, wide=wide, digit=digit,
        static=len(static) > 0, groups=len(bodies) > 0, multiccd=_multiccd(m), users=colliders.users(),
        skin=_Skin(), relative_skin=0.0, age=0, last_age=0, of=None, plan=None, parallel=None, worked=total >= WORKED,
        kinds=_kinds(gtype, can, pair1, pair2),
        busy=dict(
            boxes=total >= BOXED, entries=total >= SEARCHED, pairs=total >= SEARCHED, contacts=total >= SEARCHED,
            list=total >= SEARCHED,
        ),
        scalars=dict(
            nbox=len(box), ncol=ncol, ngroup=len(bodies), nplane=len(plane), nstatic=len(static), nlisted=len(listed),
            nexclude=len(signature), nstripbit=stripbit, nrowbit=rowbit, nlevelbit=levelbit, nsortblock=nblock,
            digit=digit, entrybits=cellbit + levelbit, geombits=geombit,
            worldgeombits=max(1, int(m.ngeom * d.nworld - 1).bit_length()),
        ),
    )  # fmt: skip


def _kinds(gtype, can, pair1, pair2):
    """Kinds of pairs (tisim/colliders.py) this model can have, so that no other collider is compiled."""
    some = np.unique(gtype[can])
    pairs = {(min(a, b), max(a, b)) for a in some for b in some}
    pairs |= {(min(a, b), max(a, b)) for a, b in zip(gtype[pair1], gtype[pair2])}
    return tuple(sorted({colliders.kind_of(int(a), int(b)) for a, b in pairs} - {-1}))
