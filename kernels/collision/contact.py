"""The contact list: how many each pair has, where they go, and their parameters mixed from the two geoms."""

from ..constants import CAPSULE, PLANE
from ..slots import dist_at, normal_at, pos_at
from ..sort import SCAN_BLOCK, scan_block, scan_sums, sum_of_block
from ..types import *

vec5 = ti.types.vector(5, FP)
# places in a row of geom_filter and of geom_contact (tisim/model/tables/geom.py)
WELD, CONDIM, PRIORITY, TYPE = 1, 5, 6, 7
SOLREF, SOLIMP, FRICTION, SOLMIX, GAP = 0, 2, 7, 10, 11
MINMU = 1e-5  # mjMINMU: smallest friction coefficient


@ti.func
def frame_of(direction, hint):
    """Rows: unit normal, hint made orthogonal to it (no hint: y, or z if the normal is near y), their cross product."""
    n = direction * (1.0 / ti.max(direction.norm(), MINVAL))
    y = vec3(0.0, 1.0, 0.0)
    z = vec3(0.0, 0.0, 1.0)
    if hint.dot(hint) >= 0.25:
        y = hint - n.dot(hint) * n
        length = y.norm()
        if length < MINVAL:
            y = vec3(1.0, 0.0, 0.0)
        else:
            y *= 1.0 / length
        z = n.cross(y)
    elif ti.abs(n[1]) < 0.5:
        scale = 1.0 / ti.max(ti.sqrt(n[0] * n[0] + n[2] * n[2]), MINVAL)
        y = vec3(-n[1] * n[0], n[0] * n[0] + n[2] * n[2], -n[1] * n[2]) * scale
        z = vec3(-n[2], 0.0, n[0]) * scale
    else:
        scale = 1.0 / ti.max(ti.sqrt(n[0] * n[0] + n[1] * n[1]), MINVAL)
        y = vec3(-n[2] * n[0], -n[2] * n[1], n[0] * n[0] + n[1] * n[1]) * scale
        z = vec3(n[1], -n[0], 0.0) * scale
    return mat3(n[0], n[1], n[2], y[0], y[1], y[2], z[0], z[1], z[2])


@kernel
def write_contacts(m, d):
    """Address of each pair's contacts, their total, and all their fields, mixed as in SEMANTICS.md; parallel over
    pairs.
    """
    n = ti.min(d.ncpair, d.npairmax)
    nblock = (n + SCAN_BLOCK - 1) // SCAN_BLOCK
    ti.loop_config(serialize=SERIAL or SHORT)
    for b in range(nblock):
        for p in range(b * SCAN_BLOCK, ti.min((b + 1) * SCAN_BLOCK, n)):
            d.cpair_adr[p] = ti.max(0, d.cpair_ncon[p])
        d.scan_sum[b] = sum_of_block(d.cpair_adr, b, n)
    ti.loop_config(serialize=True)
    for _ in range(1):
        d.ncon = scan_sums(d.scan_sum, nblock)
    ti.loop_config(serialize=SERIAL or SHORT)
    for b in range(nblock):
        scan_block(d.cpair_adr, b, n, d.scan_sum[b])
    ti.loop_config(serialize=SERIAL)
    for p in range(n):
        ncon = d.cpair_ncon[p]
        if ncon > 0 and d.cpair_adr[p] + ncon <= d.nconmax:
            i1 = d.cpair_geom1[p]
            g1 = i1 % m.ngeom
            w = i1 // m.ngeom
            g2 = d.cpair_geom2[p]
            k = d.cpair_listed[p]
            # weight of geom 1: by priority, else by solmix
            mix = 0.5
            same = m.geom_filter[g1][PRIORITY] == m.geom_filter[g2][PRIORITY]
            if same:
                m1 = m.geom_contact[g1][SOLMIX]
                m2 = m.geom_contact[g2][SOLMIX]
                if m1 >= MINVAL and m2 >= MINVAL:
                    mix = m1 / (m1 + m2)
                elif m1 >= MINVAL:
                    mix = 1.0
                elif m2 >= MINVAL:
                    mix = 0.0
            else:
                mix = ti.select(m.geom_filter[g1][PRIORITY] > m.geom_filter[g2][PRIORITY], 1.0, 0.0)
            gap = ti.max(m.geom_contact[g1][GAP], m.geom_contact[g2][GAP])
            dim = ti.max(m.geom_filter[g1][CONDIM], m.geom_filter[g2][CONDIM])
            if not same:
                dim = ti.select(mix > 0.5, m.geom_filter[g1][CONDIM], m.geom_filter[g2][CONDIM])
            direct = same and (m.geom_contact[g1][SOLREF] <= 0.0 or m.geom_contact[g2][SOLREF] <= 0.0)
            hint = vec3(0.0, 0.0, 0.0)
            if m.geom_filter[g1][TYPE] == PLANE and m.geom_filter[g2][TYPE] == CAPSULE:
                i2 = i1 - g1 + g2  # on a plane the tangent follows the capsule
                hint = vec3(d.geom_xmat[i2][0, 2], d.geom_xmat[i2][1, 2], d.geom_xmat[i2][2, 2])
            still = m.geom_filter[g1][WELD] == 0 and m.geom_filter[g2][WELD] == 0
            mu = vec3(0.0, 0.0, 0.0)
            for j in ti.static(range(3)):
                mu1 = m.geom_contact[g1][FRICTION + j]
                mu2 = m.geom_contact[g2][FRICTION + j]
                mu[j] = ti.select(same, ti.max(mu1, mu2), ti.select(mix > 0.5, mu1, mu2))
            friction = vec5(mu[0], mu[0], mu[1], mu[2], mu[2])
            solimp = vec5(0.0, 0.0, 0.0, 0.0, 0.0)
            for j in ti.static(range(5)):
                solimp[j] = mix * m.geom_contact[g1][SOLIMP + j] + (1.0 - mix) * m.geom_contact[g2][SOLIMP + j]
            solref = vec2(0.0, 0.0)
            solreffriction = vec2(0.0, 0.0)
            for j in ti.static(range(2)):
                ref1 = m.geom_contact[g1][SOLREF + j]
                ref2 = m.geom_contact[g2][SOLREF + j]
                solref[j] = ti.select(direct, ti.min(ref1, ref2), mix * ref1 + (1.0 - mix) * ref2)
            if k >= 0:
                gap = m.pair_gap[k]
                dim = m.pair_dim[k]
                for j in ti.static(range(5)):
                    friction[j] = m.pair_friction[k][j]
                    solimp[j] = m.pair_solimp[k][j]
                for j in ti.static(range(2)):
                    solref[j] = m.pair_solref[k][j]
                    solreffriction[j] = m.pair_solreffriction[k][j]
            if d.override:
                for j in ti.static(range(5)):
                    friction[j] = d.override_friction[j]
                    solimp[j] = d.override_solimp[j]
                for j in ti.static(range(2)):
                    solref[j] = d.override_solref[j]
                    solreffriction[j] = d.override_solref[j]
            friction = ti.max(friction, MINMU)
            includemargin = d.cpair_margin[p] - gap
            first_slot = d.cpair_slot[p]
            for s in range(ncon):
                c = d.cpair_adr[p] + s
                dist = dist_at(m, d, first_slot + s)
                d.contact_dist[c] = dist
                d.contact_pos[c] = pos_at(m, d, first_slot + s)
                frame = frame_of(normal_at(m, d, first_slot + s), hint)
                for r in ti.static(range(3)):
                    d.contact_frame[c, r] = vec3(frame[r, 0], frame[r, 1], frame[r, 2])
                d.contact_includemargin[c] = includemargin
                d.contact_dim[c] = dim
                d.contact_geom[c][0] = g1
                d.contact_geom[c][1] = g2
                d.contact_worldid[c] = w
                d.contact_exclude[c] = ti.select(still, 2, ti.select(dist >= includemargin, 1, 0))
                for j in ti.static(range(5)):
                    d.contact_friction[c][j] = friction[j]
                    d.contact_solimp[c][j] = solimp[j]
                for j in ti.static(range(2)):
                    d.contact_solref[c][j] = solref[j]
                    d.contact_solreffriction[c][j] = solreffriction[j]
