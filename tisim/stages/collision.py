"""Collision: candidate pairs, contacts of each pair, contact list. Order of launches and growth of the lists.

Nothing that a later stage sees depends on the search for pairs: they are sorted by (world, geom1, geom2), and the
contacts of a pair follow its collider's own order.
"""

import itertools

import numpy as np

from tisim.data import asleep
from tisim.device import launch, memory, runtime, session
from tisim.device.variant import CHUNK
from tisim.enums import mjtDisableBit, mjtEnableBit
from tisim.errors import UnsupportedError
from tisim.model import callback

from . import colliders, narrowphase, tendon
from .dynamics import fwd_position, parallel, see_state
from .search import FEW_BOXES, SWEEP_FOUND, Members, Pairs, key_bits
from .shrink import COUNTED, Shrinker
from .sorting import Sort

# what is too little to wake CPU threads for: geoms of all worlds for a search, and to have their boxes made; the work
# of the colliders in microseconds (colliders.COST); contacts
SEARCHED, BOXED, COLLIDED, LISTED = 600, 3000, 200, 3000
SURPLUS = 4  # how many times too many slots are counted where there are too few, about
WORKED = 64  # geoms of all worlds from which on convex shapes have many workers, not one
LISTS = ("npairmax", "nentrymax", "nslotmax", "nconmax")
PARTS = ("boxes", "entries", "pairs", "contacts", "list")
# what users may write and the stage is made anew for
READS = "geom_contype geom_conaffinity geom_type geom_dataid pair_geom1 pair_geom2 exclude_signature".split()


def collide(m, d, keep=True):
    """Finds all contacts of the present poses: fills the contact list and counts.

    keep  whether pairs of an earlier search may serve again; they do as long as nothing has moved far and the model is
          the same. The contacts do not depend on it.
    Lists that are too short grow and the stage is done again; raises CapacityError only at a limit the user set.
    Seed 000, "Collision detection".
    """
    stage = of(m, d) if m.has_contacts() else None
    if stage is None or not stage.members.some():
        _lost(d)
        d.set_counts(ncpair=0, nlive=0, nslot=0, ncon=0)
        if see_state(m, d):
            _poses(m, d)
        return
    stage.find(m, d, keep)
    if see_state(m, d):
        _poses(m, d)
        stage.find(m, d, keep)
    while stage.grow(d):
        stage.find(m, d, keep)


def _poses(m, d):
    """What stands before collision in a step, of another state."""
    fwd_position(m, d)
    tendon.tendons(m, d)


def of(m, d):
    """The Stage of a Data; made anew for other geoms, options or colliders than before."""
    stage = d._info.get("collision")
    if stage is None or not stage.serves(m):
        stage = d._info["collision"] = Stage(m, d)
    return stage


def forget(d):
    """Lets the next collision search for pairs again, as after its lists held something else."""
    _lost(d)
    d.program.drop()


def _lost(d):
    if "collision" in d._info:
        d._info["collision"].pairs.of = None


def _refuse_old_drivers():
    from tisim.viewer import vulkan

    if reason := vulkan.loses_pairs():
        raise UnsupportedError(f"arch vulkan: {reason}")


class Stage:
    """What collision keeps of one Data from step to step. A detection is `find`; `run` launches parts of one.

    members   who takes part in the search;  sort  how its lists are sorted;  pairs  how long those it found serve.
    kinds     kinds of pairs the model can have;  multiccd  whether flat faces get several contacts,
              by MuJoCo's rules, by those of the second dynamics.
    parallel  whether loops run in parallel; None: those that pay.
    busy      part -> whether it has enough to do to wake several threads.
    steps     part -> [(kernel, scalars of this launch)], for the options and lengths of lists in `key`.
    scalars   what the kernels ask for besides.
    """

    def __init__(self, m, d):
        if session.arch == "vulkan":
            _refuse_old_drivers()
        self.members, self.pairs, self._shrinker = Members(m), Pairs(), Shrinker()
        total = len(self.members.box) * d.nworld
        self.sort = Sort(d, total)
        self.kinds, self._users = narrowphase.kinds_of(m), colliders.users()
        self.multiccd = _multiccd(m, self.kinds)
        self._edits, self._reads = m.edits, {name: np.array(getattr(m, name)) for name in READS}
        self.parallel, self._awake = None, False
        self.busy = dict.fromkeys(PARTS, total >= SEARCHED) | dict(boxes=total >= BOXED)
        self._total = total
        self._many_workers = total >= WORKED
        self._sizes = self.members.scalars | self.sort.scalars | key_bits(m, d.nworld, self.members.ncol)
        self.key, self.steps, self.scalars = None, {}, {}
        self._launches = {}  # (parts, *whether in parallel) -> [(kernels, whether in parallel, scalars)]
        self.members.upload(d)
        kinds, slots = colliders.tables(any(self.multiccd))
        asleep.stale(d)
        for name, values in dict(type_kind=kinds, kind_slots=slots, bin_adr=np.zeros(64)).items():
            memory.upload(d.device(name), np.ascontiguousarray(values, np.int32))

    def serves(self, m):
        """Whether it still fits the model and the colliders."""
        if self.multiccd != _multiccd(m, self.kinds) or self._users != colliders.users():
            return False
        if self._edits != m.edits:
            if any(not np.array_equal(getattr(m, name), old) for name, old in self._reads.items()):
                return False
            self._edits = m.edits
        return True

    def find(self, m, d, keep):
        """One detection with the lists as long as they are; searches for pairs only where a search is due."""
        self.plan(m, d)
        sleeps, refuses = asleep.listed(m), callback.of(m, "contactfilter")
        self._awake = parallel(m, d)
        if sleeps and not self.sort.wide:
            self._set_busy(d, "boxes", bool(d.exceeds(nboxawake=BOXED)) and self._total >= BOXED)
        ahead = session.arch != "cpu" and keep and not (sleeps or refuses or self.scalars["override"])
        ahead = ahead and self.pairs.of == self._conditions(m, d)
        if ahead:  # a search is seldom due: the host looks once, behind what the pairs at hand give
            self.run(m, d, "boxes", "contacts", "list")
            if not d.exceeds(rarely=True, nout=0) or d.exceeds(rarely=True, nbad=0):
                return
        else:
            self.run(m, d, "boxes", now=False if self._awake and not self.sort.wide else None)
        plain = not (sleeps or refuses or self.scalars["override"])
        alike = plain and keep and self.pairs.alike and self._repeatable(m, d)
        moved = d.exceeds(rarely=not alike, nout=0)
        if moved and alike:
            self.pairs.repeat(d)
            return self.run(m, d, "entries", "pairs", "contacts", "list")
        if session.arch != "cpu" and d.exceeds(nbad=0):
            return
        searched = ()
        if moved or not keep or self.pairs.of != self._conditions(m, d):
            # they are done with the search: threads are woken once
            searched = ("contacts", "list") if plain and self._awake else ()
            with d.program.aside():
                self._search(m, d, keep, *searched)
        if searched:
            return self.run(m, d, *searched, note=True)
        if sleeps and d.exceeds(rarely=True, nlivestale=0):
            with d.program.aside():
                launch.run(m, d, [runtime.kernels("sleep.lists").list_live_pairs], False)
                busy = not self.sort.wide and narrowphase.work(d) > COLLIDED
            self._set_busy(d, "contacts", busy)
        if self.scalars["override"]:
            d.program.spoil()
            self._upload_override(m, d)
        if refuses is None:
            return self.run(m, d, "contacts", "list")
        self.run(m, d, "contacts")
        if callback.is_taichi(refuses):
            launch.run(m, d, [runtime.kernel_of("collision.user_filter.user_filter", refuses)], self._awake)
        else:
            d.program.spoil()
            narrowphase.apply_filter(m, d)
        self.run(m, d, "list")

    def _repeatable(self, m, d):
        """Whether a search may be as the last one was. Where threads are woken for one, Python weighs little."""
        if session.arch != "cpu" or m.capacity_limit or self.pairs.of != self._conditions(m, d):
            return False
        return d._hand is not None or not (self._awake or self.sort.wide)

    def _search(self, m, d, keep, *others):
        """Searches for pairs, and does other parts with them."""
        if self._shrinker.shrink(m, d):
            self.plan(m, d)
        boxes = d.nworld * len(self.members.box)
        quiet, few = boxes // max(1, d.count("nboxawake")) if asleep.listed(m) else 1, False
        if session.arch == "cpu":  # a GPU's host would wait for the count
            pairs = d.count("ncpair")
            quiet = max(quiet, 2 * boxes // max(1, pairs))
            few = len(self.members.box) <= FEW_BOXES and pairs <= boxes
        self.pairs.renew(keep, quiet, few)
        self.run(m, d, "entries", "pairs", *others)
        self.pairs.of = self._conditions(m, d)
        if asleep.listed(m):
            d.set_counts(nlivestale=1)
        else:
            self.busy["contacts"] = not self.sort.wide and narrowphase.work(d) > COLLIDED

    def _set_busy(self, d, part, busy):
        if self.busy[part] != busy:
            d.program.spoil()
            self.busy[part] = busy

    def _conditions(self, m, d):
        """What the pairs of a search depend on besides poses; equal as long as they may serve again."""
        return self.key, m.edits, d.device("cpair_geom1")

    def grow(self, d):
        """Lengthens the first list that was too short; returns whether there was one: contacts are missing then."""
        pairs, entries, slots, contacts = (d.room(name) for name in LISTS)
        # on a GPU the one place where the stage waits
        short = d.exceeds(ncpair=pairs, nentry=min(pairs, entries), nmid=pairs, nslot=slots, ncon=contacts)
        if not short:
            self.pairs.serve(d)
            if not self.sort.wide and self.busy["list"] != bool(d.exceeds(ncon=LISTED)):
                d.program.spoil()
                self.busy["list"] = not self.busy["list"]
            return False
        name = {"nslot": "nslotmax", "ncon": "nconmax"}.get(short[0], "npairmax")
        if short[0] == "nentry" and d.count("nentry") > entries:
            name = "nentrymax"
        needed = max(d.count(n) for n in (COUNTED["npairmax"] if name == "npairmax" else short[:1]))
        if name == "nslotmax":  # pairs without room count as many slots as they can need: two boxes 24, and take 8
            needed = slots + -(-(needed - slots) // SURPLUS)
        d.grow(name, needed)
        return True

    def _upload_override(self, m, d):
        for name in ("solref", "solimp", "friction"):
            values = np.asarray(getattr(m.opt, f"o_{name}"), session.numpy_float())
            memory.upload(d.device(f"override_{name}"), values)

    def run(self, m, d, *parts, note=False, **now):
        """Launches parts of a detection, in the order of PARTS; neighbours on as many threads go together.

        note  only notes that they are to be repeated.  now  as in launch.run.
        """
        search = dict(skin=self.pairs.skin, age=self.pairs.last_age) if "entries" in parts else {}
        key = parts, *map(self._threads, parts)
        if key not in self._launches:
            self._launches[key] = self._launches_of(parts)
        for kernels, many, scalars in self._launches[key]:
            (launch.note if note else launch.run)(m, d, kernels, parallel=many, **now, **scalars, **search)

    def _launches_of(self, parts):
        """[(kernels, whether in parallel, scalars)]."""
        steps = [(self._threads(part), more, kernel) for part in parts for kernel, more in self.steps[part]]
        groups = itertools.groupby(steps, key=lambda step: step[:2])
        return [([k for *_, k in same], parallel, self.scalars | more) for (parallel, more), same in groups]

    def _threads(self, part):
        busy = self.busy[part] or self._awake
        return self.sort.wide or (busy if self.parallel is None else self.parallel)

    def plan(self, m, d):
        """Chooses the kernels of each part, anew for other options or longer lists than before."""
        disable, enable = int(m.opt.disableflags), int(m.opt.enableflags)
        key = (
            disable,
            enable,
            float(m.opt.o_margin),
            int(m.opt.ccd_iterations),
            *map(d.capacity, ("npairmax", "nentrymax")),
        )
        whole = "sweep_found" in d._device  # gone where Ctrl-C came as a list was being lengthened
        if key == self.key and whole:
            return
        nchunk = -(-d.capacity("nentrymax") // CHUNK[session.arch == "cpu"])
        d.scratch("sweep_found", SWEEP_FOUND * nchunk)
        contacts, ccd = narrowphase.kernels_of(m, d, self.kinds, self.multiccd, self._many_workers or self.sort.wide)
        sizes, half = self._sizes, self.sort.half
        self.key, self.steps = None, self._steps(contacts)
        self._launches.clear()
        self.scalars = sizes | ccd | dict(
            override=int(bool(enable & int(mjtEnableBit.mjENBL_OVERRIDE))),
            filterparent=int(not disable & int(mjtDisableBit.mjDSBL_FILTERPARENT)),
            entryhalf=half(sizes["entrybits"]), pairhalf=half(sizes["worldgeombits"], half(sizes["geombits"])),
        )  # fmt: skip
        self.key = key  # last: an interrupt may come between the lines

    def _steps(self, contacts):
        """The kernels of each part; the lists are sorted by one thread in a kernel, or by all in many."""
        k, sizes, sort = runtime.kernels, self._sizes, self.sort
        boxes, bp, list_of = k("collision.boxes"), k("collision.broadphase"), k("collision.candidates")
        search = [bp.search_pairs]
        search += [k("collision.midphase").search_static] if len(self.members.static) else []
        search += [k("collision.midphase").search_groups] if len(self.members.bodies) else []
        entries = _alone(bp.choose_axes, boxes.enlarge_boxes, bp.enter_items)
        if sort.wide:
            middle = sort.half(sizes["geombits"])
            entries += sort.passes("nentry", sizes["entrybits"])
            pairs = _alone(*search, list_of.key_by_geom2) + sort.passes("ncpair", sizes["geombits"])
            pairs += [(list_of.key_by_geom1, dict(half=middle))] + sort.passes("ncpair", sizes["worldgeombits"], middle)
        else:
            entries += _alone(bp.sort_entries)
            pairs = _alone(*search, list_of.sort_pairs)
        return dict(
            boxes=_alone(boxes.update_boxes), entries=entries, pairs=pairs + _alone(list_of.order_pairs),
            contacts=_alone(*contacts), list=_alone(k("collision.contact").write_contacts),
        )  # fmt: skip


def _alone(*kernels):
    """Steps of kernels that ask for no scalars of their own."""
    return [(kernel, {}) for kernel in kernels]


def _multiccd(m, kinds):
    """Whether as by MuJoCo, whether as the second dynamics needs it."""
    multi = bool(int(m.opt.enableflags) & int(mjtEnableBit.mjENBL_MULTICCD))
    return multi, colliders.CONVEX in kinds and m.features().closing
