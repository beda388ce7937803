"""What a model can need of the kernels: they are compiled without the rest, which is most of the solver's code."""

from typing import NamedTuple

import numpy as np

from tisim.device import session
from tisim.enums import mjtCone, mjtEnableBit, mjtSolver

from . import lcp

# numbers of what makes constraint rows that are no contacts
ROWS = (
    "neq", "neqpose", "neqjoint", "neqtendon", "nfriction", "ntendonfriction", "nlimited", "ntendonlimited",
)  # fmt: skip
TREES = ((False, False), (True, False), (True, True))  # `jointed` and `rows`
PACKED = 500  # free bodies from which on laying them out pays


class Features(NamedTuple):
    """Constants of a kernel's variant, read in kernels as `ti.static(m.has.jointed)`.

    jointed   some tree is more than one free body on which only contacts act.
    rows      there can be constraint rows that are no contacts.
    elliptic  friction cones are elliptic, else pyramidal.
    torsion   contacts can have torques: a dimension above 3.
    dense     Hessians in dofs can be needed: those of free bodies only where they get no sparse factor.
    heavy     some tendon has armature.
    sleep     loops go over lists of what is awake: trees at rest fall asleep, or some can be removed.
    gone      trees can be removed (tisim.remove), which the second dynamics does not do.
    maximal   bodies of trees have poses of their own: the second dynamics, where not all are free.
    loops     connects or welds of the second dynamics.
    accelerated  its sweeps are steps of a search (m.lcp.accelerate).
    direct    small islands are solved by pivots (m.lcp.direct).
    closing   contacts are listed that close within a step: the second dynamics, but for m.lcp.gap = 0.
    packed    there can be a pile of many free bodies, which the solver lays out in memory as its lists have them.
    varied    names of the fields that differ between worlds (Data.vary), sorted.
    """

    jointed: bool
    rows: bool
    elliptic: bool
    torsion: bool
    dense: bool = False
    heavy: bool = False
    sleep: bool = False
    gone: bool = False
    maximal: bool = False
    loops: bool = False
    accelerated: bool = False
    direct: bool = False
    closing: bool = False
    packed: bool = False
    varied: tuple = ()

    @property
    def dims(self):
        """Components of a contact's force, at most."""
        return 6 if self.torsion else 3

    @property
    def row(self):
        """Numbers of a contact that lie side by side, one for each component of its force: whole vectors of four."""
        return -(-self.dims // 4) * 4

    @property
    def pulled(self):
        """Whether gravity differs between worlds."""
        return "opt.gravity" in self.varied

    @property
    def weighed(self):
        """Whether the mean inertia, by which solvers scale what is left, differs between worlds."""
        return "stat.meaninertia" in self.varied


def dense_bodies():
    """Whether islands of free bodies can get dense factors: on a GPU, which makes no sparse ones."""
    return session.arch != "cpu"


def packed(m, torsion):
    """Whether some island of a model may be packed: a pile of many bodies, whose contacts have no torques, on a CPU."""
    many = int((m.derived("tree_free") == 1).sum()) >= PACKED
    newton = int(m.opt.solver) == int(mjtSolver.mjSOL_NEWTON) and not m.opt.noslip_iterations
    return session.arch == "cpu" and many and newton and not torsion


def features(m):
    """The Features of a model as it is now; users may change options and arrays at any time."""
    gone = m.comes_and_goes and not lcp.chosen(m)
    sleep = gone or bool(int(m.opt.enableflags) & int(mjtEnableBit.mjENBL_SLEEP))
    options = (
        int(m.opt.cone),
        int(m.opt.solver),
        int(m.opt.noslip_iterations),
        lcp.chosen(m),
        m.lcp.accelerate,
        m.lcp.gap == 0,
        m.lcp.direct > 0,
    )
    key = (m.edits, options, sleep, gone, dense_bodies())
    last = m._derived.get("features")
    if last is None or last[0] != key:
        dims = np.concatenate([np.asarray(m.geom_condim), np.asarray(m.pair_dim)])
        rows = any(m.scalar(name) for name in ROWS)
        jointed = rows or bool((m.derived("tree_free") == 0).any())
        last = m._derived["features"] = key, Features(
            heavy=bool(m.scalar("nheavytendon")),
            jointed=jointed,
            dense=jointed or dense_bodies(),
            rows=rows,
            elliptic=int(m.opt.cone) == int(mjtCone.mjCONE_ELLIPTIC),
            torsion=bool((dims > 3).any()),
            sleep=sleep,
            gone=gone,
            maximal=lcp.chosen(m) and lcp.jointed(m),
            loops=lcp.chosen(m) and lcp.loops(m),
            accelerated=lcp.chosen(m) and m.lcp.accelerate,
            direct=lcp.chosen(m) and m.lcp.direct > 0,
            closing=lcp.chosen(m) and m.lcp.gap != 0,
            packed=packed(m, bool((dims > 3).any())),
        )  # fmt: skip
    return last[1]


def every():
    """All Features that a model can have, but for heavy tendons and bodies that come and go, whose kernels are made on
    demand: the solver's, which are the largest, would ship twice for what next to no model has.
    """
    kinds = [(jointed, rows, torsion, False) for jointed, rows in TREES for torsion in (False, True)]
    kinds += [(jointed, rows, False, True) for jointed, rows in TREES]
    return [
        Features(jointed, rows, elliptic, torsion, dense=jointed, sleep=sleep, packed=packed)
        for jointed, rows, torsion, packed in kinds
        for elliptic in (False, True)
        for sleep in (False, True)
    ]


EVERYTHING = Features(
    jointed=True, rows=True, elliptic=True, torsion=True, dense=True, heavy=True, sleep=True, gone=True
)
