"""The kernel that runs the colliders, made for the kinds of pairs a model can have: no other collider is compiled.

Convex pairs, height fields and meshes on planes need more arrays: their pairs are only marked here, and have kernels
of their own.
"""

import importlib
import types

from tisim.kernels.boxes import TODO, near
from tisim.kernels.constants import (
    BOX_BOX,
    NKIND,
    NSLOT,
    PLANE_BOX,
    PLANE_CONVEX,
    PLANE_CYLINDER,
    PLANE_ROUND,
    ROUND_BOX,
    ROUND_ROUND,
    SPHERE_CYLINDER,
)
from tisim.kernels.types import *
from tisim.kernels.user_collider import adapted

# file and function by kind (tisim/colliders.py)
FUNCTIONS = {
    PLANE_ROUND: ("collide_primitive", "plane_round"), ROUND_ROUND: ("collide_primitive", "round_round"),
    PLANE_BOX: ("collide_primitive", "plane_box"), ROUND_BOX: ("collide_round_box", "round_box"),
    BOX_BOX: ("collide_box_box", "box_box"), PLANE_CYLINDER: ("collide_plane_convex", "plane_cylinder"),
    PLANE_CONVEX: ("collide_plane_convex", "plane_convex"),
    SPHERE_CYLINDER: ("collide_sphere_cylinder", "sphere_cylinder"),
}  # fmt: skip
QUICK = (ROUND_ROUND, ROUND_BOX)  # these colliders refuse a pair sooner than the test of its boxes
SLICE = 128  # pairs in a slice on a CPU; on a GPU one of each kind
BLOCK = 32  # slots that a slice takes at a time on a CPU, at least; on a GPU those of a pair
KINDS, COLLIDERS = (), {}  # set by narrowphase()
_made = {}


def _narrowphase(
    ngeom: ti.i32, nitem: ti.i32, nslotmax: ti.i32, kind_slots: I, bin_adr: I, cpair_bin: I, cpair_geom1: I,
    cpair_geom2: I, cpair_listed: I, cpair_margin: F, cpair_slot: I, geom_xpos: F, geom_xmat: F, geom_type: I,
    geom_size: F, geom_reach: F, item_boxlo: F, item_boxhi: F, counts: I, con_slot: F,
    cpair_ncon: I,
):  # fmt: skip
    """Contacts of every pair that is near enough now, parallel over slices of the list, each with its share of every
    kind: threads are woken once, and a loop of one kind stays small, since one loop for all is slower by half. A slice
    takes slots in blocks, as it needs them; their order does not show. Where too few are left, pairs take as many as
    they can need and are not done: the count tells how many slots to make.
    """
    ti.loop_config(serialize=True)
    for _ in range(1):
        counts[NSLOT] = 0
    size = ti.static(SLICE if SHORT else 1)
    nslice = ti.select(SERIAL, 1, (bin_adr[NKIND] + size - 1) // size)
    ti.loop_config(serialize=SERIAL)
    for u in range(nslice * SPREAD):
        if u % SPREAD != 0:
            continue
        slot = 0
        end_slot = 0
        for kind in ti.static(KINDS):
            end = bin_adr[kind + 1]
            share = (end - bin_adr[kind] + nslice - 1) // nslice
            first = ti.min(bin_adr[kind] + u // SPREAD * share, end)
            need = kind_slots[kind]
            for t in range(first, ti.min(first + share, end)):
                p = cpair_bin[t]
                i1 = cpair_geom1[p]
                g1 = i1 % ngeom
                g2 = cpair_geom2[p]
                i2 = i1 - g1 + g2
                margin = cpair_margin[p]
                item = i1 // ngeom * nitem
                yes = cpair_listed[p] >= 0  # a pair that the model lists passes always
                if not yes:
                    yes = near(
                        ti.static(kind not in QUICK), i1, i2, g1, g2, item + g1, item + g2, margin, geom_type,
                        geom_xpos, geom_xmat, geom_reach, item_boxlo, item_boxhi,
                    )  # fmt: skip
                ncon = 0
                if yes:
                    if slot + need > end_slot:
                        block = ti.max(need, ti.static(BLOCK if SHORT else 0))
                        slot = ti.atomic_add(counts[NSLOT], block)
                        end_slot = slot + block
                    fits = end_slot <= nslotmax
                    if fits:
                        ncon = TODO
                        if ti.static(kind in COLLIDERS):
                            ncon = COLLIDERS[kind](
                                slot, margin, i1, i2, g1, g2, geom_xpos, geom_xmat, geom_type, geom_size, con_slot
                            )
                    cpair_slot[p] = slot
                    slot += ti.select(fits and ncon != TODO, ncon, need)
                cpair_ncon[p] = ncon


def narrowphase(kinds, users):
    """The kernel with the colliders of these kinds (tisim/colliders.py).

    users  dict kind -> (Taichi function, contacts) of the colliders that users registered.
    """
    key = kinds, tuple(users.get(kind) for kind in kinds)
    if key not in _made:
        colliders = {}
        for kind in kinds:
            if kind in users:
                colliders[kind] = adapted(*users[kind])
            elif kind in FUNCTIONS:
                file, name = FUNCTIONS[kind]
                colliders[kind] = getattr(importlib.import_module(f"tisim.kernels.{file}"), name)
        scope = dict(globals(), KINDS=kinds, COLLIDERS=colliders)
        func = types.FunctionType(_narrowphase.__code__, scope, "narrowphase")
        func.__annotations__ = _narrowphase.__annotations__
        func.__qualname__ = func.__name__
        func.__doc__ = _narrowphase.__doc__
        _made[key] = kernel(func)
    return _made[key]
