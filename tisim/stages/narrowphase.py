"""The colliders, as seen from outside the kernels: which ones a model needs, their memory, the user's filter."""

import numpy as np

from tisim.device import memory, runtime, session
from tisim.model.tables import midphase

from . import colliders
from .colliders import (
    BOX_BOX,
    CONVEX,
    FIRST_USER,
    HEIGHT_FIELD,
    PLANE_BOX,
    PLANE_CONVEX,
    PLANE_ROUND,
    ROUND_BOX,
    ROUND_ROUND,
)

WORKERS = (8192, 32)  # pieces of scratch memory for convex shapes, 10 kB each: on a GPU, on a CPU
WORKER_NUMBERS = 1 << 26  # numbers in all of them together, at most
# sets of kinds for which the kernel of the colliders is made: few, so that machine code for all of them can ship
FAMILIES = ((PLANE_ROUND, ROUND_ROUND), (PLANE_BOX, BOX_BOX), (PLANE_ROUND, ROUND_ROUND, PLANE_BOX, ROUND_BOX, BOX_BOX),
            tuple(range(FIRST_USER)))  # fmt: skip
MAX_POLYGON = 150  # corners of a mesh's face that count, mjMAX_POLYVERT
MAX_ITERATIONS = 1000  # larger ccd_iterations mean no more: memory and time stay bounded


def kinds_of(m):
    """Kinds of pairs (tisim/stages/colliders.py) that a model can have, so that no other collider is compiled."""
    gtype = np.asarray(m.geom_type)
    some = np.flatnonzero(np.bincount(gtype[midphase.can_collide(m)], minlength=1))
    pairs = {(min(a, b), max(a, b)) for a in some for b in some}
    pairs |= {(min(a, b), max(a, b)) for a, b in zip(gtype[m.pair_geom1], gtype[m.pair_geom2])}
    return tuple(sorted({colliders.kind_of(int(a), int(b)) for a, b in pairs} - {-1}))


def _family(kinds):
    """The first of FAMILIES that has all kinds of tisim's own, and users' kinds besides."""
    users = tuple(kind for kind in kinds if kind >= FIRST_USER)
    return next(family for family in FAMILIES if set(kinds) <= {*family, *users}) + users


def kernels_of(m, d, kinds, multiccd, parallel):
    """(kernels that these kinds of pairs need, scalars that they ask for); convex shapes get scratch memory."""
    k = runtime.kernels
    users = tuple((kind, *user) for kind, user in colliders.users().items() if kind in kinds)
    kernels = [k("collision.narrowphase").narrowphase.of(_family(kinds), users)]
    if PLANE_CONVEX in kinds and m.nmesh:
        kernels.append(k("collision.collide_plane_convex").plane_mesh)
    if CONVEX in kinds:
        kernels.append(k("collision.collide_convex").convex.of(*multiccd))
    if HEIGHT_FIELD in kinds:
        kernels.append(k("collision.collide_hfield").hfield)
    return kernels, ccd_scratch(m, d, multiccd, parallel) if {CONVEX, HEIGHT_FIELD} & set(kinds) else {}


def ccd_scratch(m, d, multiccd, parallel):
    """Makes scratch memory of GJK and EPA, one piece per worker; returns the scalars that their kernels ask for.

    multiccd  whether several contacts are sought, by MuJoCo's rules, by those of the second dynamics.
    parallel  whether they run in parallel; else one worker, thus one piece of memory, does all.
    """
    convex = runtime.module("convex.sizes")
    niter = max(1, min(int(m.opt.ccd_iterations), MAX_ITERATIONS))
    npoly = convex.CAP_CORNERS if multiccd[1] else 0
    if any(multiccd) and m.nmesh:
        npoly = max(4, npoly, min(MAX_POLYGON, int(max(m.mesh_polyvertnum.max(), m.mesh_polymapnum.max()))))
    size_f, size_i = convex.scratch_size(niter, npoly)
    nworker = 1
    if parallel:
        nworker = max(32, min(WORKERS[session.arch == "cpu"], WORKER_NUMBERS // (size_f + size_i)))
    d.scratch("ccd_f", size_f * nworker)
    d.scratch("ccd_i", size_i * nworker)
    return dict(niter=niter, nccd=nworker, nccd_f=size_f, nccd_i=size_i, npoly=npoly)


def work(d):
    """How long the colliders of the listed pairs take on one CPU thread, in microseconds."""
    first = memory.host_view(d.device("bin_adr"))
    return float(np.diff(first[: colliders.NKIND + 1]) @ colliders.COST)


def apply_filter(m, d):
    """Takes the contacts of the pairs away that the user's contact_filter refuses; listed pairs are not asked about."""
    npair = d.count("ncpair")
    if npair > d.room("npairmax") or d.count("nslot") > d.room("nslotmax"):
        return  # the stage is done again with longer lists
    ncon, first, second, listed = (d.host(f"cpair_{name}")[:npair] for name in ("ncon", "geom1", "geom2", "listed"))
    asked = np.flatnonzero((ncon > 0) & (listed < 0))
    slots = memory.download(d.device("con_slot"))  # the user may ask for rays or distances, which need the same scratch
    refused = colliders.filter_contacts(m, d, first[asked] % m.ngeom, second[asked], first[asked] // m.ngeom)
    memory.upload(d.device("con_slot"), slots)
    if refused.any():
        whole = d.host("cpair_ncon")
        whole[asked[refused]] = 0
        memory.upload(d.device("cpair_ncon"), whole)
