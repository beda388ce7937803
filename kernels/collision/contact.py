"""The contact list: how many each pair has, where they go, and what a contact holds."""

from ..constants import CAPSULE, FILTER_WELD, PLANE
from ..sleep.awake import pair_at, pair_count
from ..slots import dist_at, normal_at, pos_at
from ..sort import SCAN_BLOCK, block_length, scan_block, scan_sums, start_of, sum_of_block
from ..types import *
from .closing import keep_closing, margin_now
from .mix import contact_params


@ti.func
def frame_of(direction, hint):
    """Rows: unit normal, hint made orthogonal to it (no hint: y, or z if the normal is near y), their cross product."""
    n = direction * (1.0 / ti.max(direction.norm(), MINVAL))
    y = hint - n.dot(hint) * n
    z = n.cross(y)
    if hint.dot(hint) >= 0.25:
        length = y.norm()
        if length < MINVAL:
            y = vec3(1.0, 0.0, 0.0)
        else:
            y *= 1.0 / length
        z = n.cross(y)
    elif ti.abs(n[1]) < 0.5:
        scale = 1.0 / ti.max(ti.sqrt(n[0] * n[0] + n[2] * n[2]), MINVAL)
        y = ti.Vector([-n[1] * n[0], n[0] * n[0] + n[2] * n[2], -n[1] * n[2]]) * scale
        z = ti.Vector([-n[2], 0.0, n[0]]) * scale
    else:
        scale = 1.0 / ti.max(ti.sqrt(n[0] * n[0] + n[1] * n[1]), MINVAL)
        y = ti.Vector([-n[2] * n[0], -n[2] * n[1], n[0] * n[0] + n[1] * n[1]]) * scale
        z = ti.Vector([n[1], -n[0], 0.0]) * scale
    return ti.Matrix([[n[0], n[1], n[2]], [y[0], y[1], y[2]], [z[0], z[1], z[2]]])


@func
def tangent_hint(m, d, i2, g1, g2):
    """A direction that the first tangent of a contact follows: on a plane, the axis of a capsule; else zero, none."""
    hint = vec3(0.0, 0.0, 0.0)
    if m.geom_type[g1] == PLANE and m.geom_type[g2] == CAPSULE:
        hint = vec3(d.geom_xmat[i2][0, 2], d.geom_xmat[i2][1, 2], d.geom_xmat[i2][2, 2])
    return hint


@func
def write_pair(m, d, p, adr):
    """Writes the contacts of pair p, whose slots are full, from an address on."""
    i1 = d.cpair_geom1[p]
    w = i1 // m.ngeom
    g1 = i1 - w * m.ngeom
    g2 = d.cpair_geom2[p]
    hint = tangent_hint(m, d, i1 - g1 + g2, g1, g2)
    still = m.geom_filter[g1][FILTER_WELD] == 0 and m.geom_filter[g2][FILTER_WELD] == 0
    params = contact_params(m, d, w, g1, g2, d.cpair_listed[p])
    includemargin = margin_now(m, d, p) - params.gap
    for s in range(d.cpair_ncon[p]):
        c = adr + s
        slot = d.cpair_slot[p] + s
        dist = dist_at(m, d, slot)
        d.contact_dist[c] = dist
        d.contact_pos[c] = pos_at(m, d, slot)
        frame = frame_of(normal_at(m, d, slot), hint)
        for r in ti.static(range(3)):
            d.contact_frame[c, r] = vec3(frame[r, 0], frame[r, 1], frame[r, 2])
        d.contact_includemargin[c] = includemargin
        d.contact_dim[c] = params.dim
        d.contact_geom[c] = ti.Vector([g1, g2])
        d.contact_worldid[c] = w
        d.contact_exclude[c] = ti.select(still, 2, ti.select(dist >= includemargin, 1, 0))
        d.contact_friction[c] = params.friction
        d.contact_solimp[c] = params.solimp
        d.contact_solref[c] = params.solref
        d.contact_solreffriction[c] = params.solreffriction


@kernel
def write_contacts(m, d):
    """Address of each pair's contacts, their total, and all their fields; parallel over pairs."""
    n = pair_count(m, d)
    if ti.static(GPU):
        if ti.static(m.has.closing):
            ti.loop_config(serialize=SERIAL)
            for k in range(n):
                keep_closing(m, d, pair_at(m, d, k))
        length = ti.max(SCAN_BLOCK, block_length(n, 8))
        nblock = n // length + 1
        ti.loop_config(serialize=SERIAL)
        for b in range(nblock):
            total = 0
            for k in range(b * length, ti.min((b + 1) * length, n)):
                total += ti.max(0, d.cpair_ncon[pair_at(m, d, k)])
            d.scan_sum[b] = total
        ti.loop_config(serialize=SERIAL)
        for b in range(nblock):
            at = start_of(d.scan_sum, b)
            for k in range(b * length, ti.min((b + 1) * length, n)):
                d.cpair_adr[k] = at
                at += ti.max(0, d.cpair_ncon[pair_at(m, d, k)])
            if b == nblock - 1:
                d.ncon = at
    else:
        nblock = (n + SCAN_BLOCK - 1) // SCAN_BLOCK
        ti.loop_config(serialize=SERIAL or SHORT)
        for b in range(nblock):
            for k in range(b * SCAN_BLOCK, ti.min((b + 1) * SCAN_BLOCK, n)):
                if ti.static(m.has.closing):
                    keep_closing(m, d, pair_at(m, d, k))
                d.cpair_adr[k] = ti.max(0, d.cpair_ncon[pair_at(m, d, k)])
            d.scan_sum[b] = sum_of_block(d.cpair_adr, b, n)
        ti.loop_config(serialize=True)
        for _ in range(1):
            d.ncon = scan_sums(d.scan_sum, nblock)
        ti.loop_config(serialize=SERIAL or SHORT)
        for b in range(nblock):
            scan_block(d.cpair_adr, b, n, d.scan_sum[b])
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        p = pair_at(m, d, k)
        adr = d.cpair_adr[k]
        ncon = d.cpair_ncon[p]
        if ncon > 0 and adr + ncon <= d.nconmax:
            write_pair(m, d, p, adr)
