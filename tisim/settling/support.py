"""Contacts of a whole scene, sleepers included: who rests on whom, and how deep things are inside each other."""

import copy
import csv

import numpy as np

from tisim import pipeline
from tisim.data import given, varied
from tisim.device.whole_file import whole
from tisim.model import lcp
from tisim.queries.arguments import number
from tisim.queries.motion import contact_force
from tisim.stages.sleep import wake

OVERLAP = 0.02  # of the radius of the smaller geom: what is deeper at the start was hardly meant so


def evaluated(m, d, forces=False):
    """A copy of a Data in which nothing sleeps, behind a forward(): it lists all contacts. The Data stays as it is.

    forces  of the contacts will be asked for, which the second dynamics knows of those that a step began with.
    """
    probe = copy.copy(d)
    if m.ntree:
        wake(m, probe)
    if forces and lcp.chosen(m):
        pipeline.step(m, probe)
    else:
        pipeline.forward(m, probe)
    return probe


class Columns:
    """Arrays of one length, by the names in COLUMNS; those in BODIES are ids of bodies, which a file has with names."""

    COLUMNS, BODIES = (), ()

    def __init__(self, m, *columns):
        self.model = m
        for name, values in zip(self.COLUMNS, columns):
            setattr(self, name, values)

    def __len__(self):
        return len(self.world)

    def __repr__(self):
        return f"<tisim {type(self).__name__}: {len(self)} rows>"

    def rows(self, which):
        """The same with some of the rows."""
        return type(self)(self.model, *(getattr(self, name)[which] for name in self.COLUMNS))

    def to_csv(self, path):
        """Writes all rows, columns of several numbers as name_x, name_y, name_z. Raises Error where that fails."""
        head, columns = [], []
        for name in self.COLUMNS:
            values = np.asarray(getattr(self, name))
            if values.ndim == 2:
                head += [f"{name}_{axis}" for axis in "xyz"]
                columns += list(values.T)
                continue
            head.append(name)
            columns.append(values)
            if name in self.BODIES:
                head.append(f"{name}_name")
                columns.append(np.array([self.model.id2name("body", int(b)) or "" for b in values], object))
        with whole(path) as part, open(part, "w", newline="", encoding="utf-8") as f:
            out = csv.writer(f)
            out.writerow(head)
            out.writerows(zip(*(column.tolist() for column in columns)))


class Support(Columns):
    """Who rests on whom: arrays of one length, a row for each pair of bodies in contact that press on each other.

    world  of each pair;  below, above  ids of the bodies: the upper one is pushed up, against gravity, by the lower;
    lift  how much [N];  force  how much the two press on each other, friction included [N];  contacts  between them.
    Rows are sorted by world, then by below, then by above.
    """

    COLUMNS = ("world", "below", "above", "lift", "force", "contacts")
    BODIES = ("below", "above")

    def under(self, body, world=0):
        """Ids of the bodies that a body, by id or name, rests on."""
        return self.below[(self.above == _body(self.model, body)) & (self.world == world)]

    def on(self, body, world=0):
        """Ids of the bodies that rest on a body, by id or name."""
        return self.above[(self.below == _body(self.model, body)) & (self.world == world)]


class Forces(Columns):
    """Contacts that press: arrays of one length, a row for each of them.

    world, body1, body2, geom1, geom2  ids;  pos (n, 3) [m];  normal (n, 3) from geom 1 to geom 2;  dist  negative where
    they are inside each other [m];  force (n, 3) on geom 2, in the frame of the world [N].
    """

    COLUMNS = ("world", "body1", "body2", "geom1", "geom2", "pos", "normal", "dist", "force")
    BODIES = ("body1", "body2")


def _body(m, body):
    return m.name2id("body", body) if isinstance(body, str) else int(body)


def support(m, d):
    """Who rests on whom in the present state, by contact forces: a Support. Sleepers count; the Data stays as it is.

    Forces are those that the state asks for, so they are exact where it is at rest. In a scene without gravity up is z.
    """
    given.check(m, d)
    varied.refuse(d, "support", "opt.gravity")
    return of_contacts(forces(m, evaluated(m, d, forces=True)))


def forces(m, probe):
    """Forces of the contacts of an evaluated Data."""
    contact = probe.contact
    wrench = contact_force(m, probe, np.arange(len(contact)))
    acts = wrench[:, 0] > 0
    frame = np.asarray(contact.frame, float).reshape(-1, 3, 3)[acts]
    geom = np.asarray(contact.geom).reshape(-1, 2)[acts].astype(np.int64)
    body = np.asarray(m.geom_bodyid)[geom].reshape(-1, 2).astype(np.int64)
    columns = (
        np.asarray(contact.worldid)[acts], *body.T, *geom.T, np.asarray(contact.pos, float).reshape(-1, 3)[acts],
        frame[:, 0], np.asarray(contact.dist, float)[acts], np.einsum("ck,cki->ci", wrench[acts, :3], frame),
    )  # fmt: skip
    return Forces(m, *columns)


def of_contacts(found):
    """Support that follows from Forces."""
    m = found.model
    body, force = np.column_stack([found.body1, found.body2]), found.force.copy()
    swapped = body[:, 0] > body[:, 1]
    force[swapped] = -force[swapped]
    keys = np.column_stack([found.world, np.sort(body, axis=1)])
    pairs, place, contacts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    total = np.zeros((len(pairs), 3))
    np.add.at(total, place.reshape(-1), force)
    gravity = np.asarray(m.opt.gravity, float)
    up = -gravity / np.linalg.norm(gravity) if gravity.any() else np.array([0.0, 0.0, 1.0])
    lift = total @ up
    below, above = np.where(lift >= 0, pairs[:, 1:].T, pairs[:, :0:-1].T)
    order = np.lexsort((above, below, pairs[:, 0]))
    columns = (pairs[:, 0], below, above, np.abs(lift), np.linalg.norm(total, axis=1), contacts)
    return Support(m, *columns).rows(order)


class Overlaps(Columns):
    """Pairs of bodies inside each other: arrays of one length, deepest first.

    world, body1, body2, geom1, geom2  ids: the geoms are those that are deepest;  depth [m].
    """

    COLUMNS = ("world", "body1", "body2", "geom1", "geom2", "depth")
    BODIES = ("body1", "body2")

    def __str__(self):
        """One line: how many pairs, how deep the deepest is and of what."""
        if not len(self):
            return "no bodies overlap"
        a, b = (self.model.id2name("body", k[0]) or f"number {k[0]}" for k in (self.body1, self.body2))
        pairs = "pair of bodies overlaps" if len(self) == 1 else "pairs of bodies overlap"
        return f"{len(self)} {pairs}, up to {self.depth[0] * 1e3:.3g} mm deep: worst are {a} and {b}"


def overlaps(m, d, depth=None):
    """Pairs of bodies that are inside each other in the present state: Overlaps. The Data stays as it is.

    depth  how deep at least [m]; None: 2 % of the radius of the smaller geom, which no contact at rest reaches.
    Geoms that cannot collide do not count, nor those of one body.
    """
    given.check(m, d)
    depth = None if depth is None else number("depth", depth)
    return inside(m, evaluated(m, d), depth)


def inside(m, probe, depth=None):
    """Overlaps of the contacts of an evaluated Data."""
    geom = np.asarray(probe.contact.geom).reshape(-1, 2).astype(np.int64)
    deep = -np.asarray(probe.contact.dist, float)
    radius = np.where(np.asarray(m.geom_rbound) > 0, m.geom_rbound, np.inf)  # planes have none
    least = OVERLAP * radius[geom].min(axis=1) if depth is None else depth
    here = np.flatnonzero(deep > least)
    here = here[np.argsort(-deep[here], kind="stable")]
    body = np.sort(np.asarray(m.geom_bodyid)[geom[here]], axis=1).astype(np.int64).reshape(-1, 2)
    world = np.asarray(probe.contact.worldid)[here]
    _, first = np.unique(np.column_stack([world, body]), axis=0, return_index=True)
    first = np.sort(first)
    return Overlaps(m, world, *body.T, *geom[here].T, deep[here]).rows(first)
