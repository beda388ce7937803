"""The kernel that runs the colliders, made for the kinds of pairs a model can have: no other collider is compiled.

Convex pairs, height fields and meshes on planes need more arrays: their pairs are only marked here, and have kernels
of their own.
"""

import importlib

from tisim.device.specialise import specialise

from ..constants import (
    BOX_BOX,
    NKIND,
    PLANE_BOX,
    PLANE_CONVEX,
    PLANE_CYLINDER,
    PLANE_ROUND,
    ROUND_BOX,
    ROUND_ROUND,
    SPHERE_CYLINDER,
)
from ..types import *
from .boxes import TODO, near
from .closing import margin_now
from .user_collider import adapted

# file and function by kind (tisim/stages/colliders.py)
FUNCTIONS = {
    PLANE_ROUND: ("collide_primitive", "plane_round"),
    ROUND_ROUND: ("collide_primitive", "round_round"),
    PLANE_BOX: ("collide_primitive", "plane_box"),
    ROUND_BOX: ("collide_round_box", "round_box"),
    BOX_BOX: ("collide_box_box", "box_box"),
    PLANE_CYLINDER: ("collide_plane_convex", "plane_cylinder"),
    PLANE_CONVEX: ("collide_plane_convex", "plane_convex"),
    SPHERE_CYLINDER: ("collide_sphere_cylinder", "sphere_cylinder"),
}
QUICK = (ROUND_ROUND, ROUND_BOX)  # these colliders refuse a pair sooner than the test of its boxes
SLICE = 128  # pairs in a slice on a CPU; on a GPU one of each kind
BLOCK = 64  # slots that a slice takes at a time on a CPU, at least; on a GPU those of a pair
KINDS, COLLIDERS = (), {}  # set by narrowphase()
_made = {}


def _narrowphase(m, d):
    """Contacts of every pair that is near enough now, parallel over slices of the list, each with its share of every
    kind: threads are woken once, and a loop of one kind stays small, since one loop for all is slower by half. A slice
    takes slots in blocks, as it needs them; their order does not show. Where too few are left, pairs take as many as
    they can need and are not done: the count tells how many slots to make.
    """
    if ti.static(not GPU):  # there update_boxes has done it
        ti.loop_config(serialize=True)
        for _ in range(1):
            d.nslot = 0
    size = ti.static(SLICE if SHORT else 1)
    nslice = ti.select(SERIAL, 1, (d.bin_adr[NKIND] + size - 1) // size)
    if ti.static(GPU):
        nslice = ti.select(d.nbad > 0, 0, nslice)  # no contacts of a bad state, of which the host does not know yet
    ti.loop_config(serialize=SERIAL)
    for u in range(nslice * SPREAD):
        if u % SPREAD != 0:
            continue
        slot = 0
        end_slot = 0
        for kind in ti.static(KINDS):
            end = d.bin_adr[kind + 1]
            share = (end - d.bin_adr[kind] + nslice - 1) // nslice
            first = ti.min(d.bin_adr[kind] + u // SPREAD * share, end)
            need = d.kind_slots[kind]
            for t in range(first, ti.min(first + share, end)):
                p = d.cpair_bin[t]
                i1 = d.cpair_geom1[p]
                g1 = i1 % m.ngeom
                g2 = d.cpair_geom2[p]
                i2 = i1 - g1 + g2
                margin = margin_now(m, d, p)
                item = i1 // m.ngeom * m.nitem
                yes = d.cpair_listed[p] >= 0  # a pair that the model lists passes always
                if not yes:
                    yes = near(m, d, ti.static(kind not in QUICK), i1, i2, g1, g2, item, margin)
                ncon = 0
                if yes:
                    if slot + need > end_slot:
                        block = ti.max(need, ti.static(BLOCK if SHORT else 0))
                        slot = ti.atomic_add(d.nslot, block)
                        end_slot = slot + block
                    fits = end_slot <= d.nslotmax
                    if fits:
                        ncon = TODO
                        if ti.static(kind in COLLIDERS):
                            ncon = COLLIDERS[kind](m, d, slot, margin, i1, i2, g1, g2)
                    d.cpair_slot[p] = slot
                    slot += ti.select(fits and ncon != TODO, ncon, need)
                d.cpair_ncon[p] = ncon


def colliders_of(kinds, users):
    """dict kind -> collider, for those of these kinds (tisim/stages/colliders.py) that have one of their own.

    users  (kind, Taichi function, contacts) of the colliders that users registered.
    """
    colliders, users = {}, {kind: user for kind, *user in users}
    for kind in kinds:
        if kind in users:
            colliders[kind] = adapted(*users[kind])
        elif kind in FUNCTIONS:
            file, name = FUNCTIONS[kind]
            colliders[kind] = getattr(importlib.import_module(f"tisim.kernels.collision.{file}"), name)
    return colliders


def narrowphase(kinds, users):
    """The kernel with the colliders of these kinds; users  as of colliders_of."""
    key = kinds, users
    if key not in _made:
        names = dict(KINDS=kinds, COLLIDERS=colliders_of(kinds, users))
        _made[key] = kernel(specialise(_narrowphase, "narrowphase", **names))
    return _made[key]
