"""The contact list: how many each pair has, where they go, and their parameters mixed from the two geoms."""

from tisim.kernels.broadphase import NPAIR
from tisim.kernels.slots import dist_at, normal_at, pos_at
from tisim.kernels.sort import SCAN_BLOCK, scan_block, scan_sums, sum_of_block
from tisim.kernels.types import *

NCON = 2  # place in counts, as in tisim.arrays.COUNTS
vec5 = ti.types.vector(5, FP)
MINMU = 1e-5  # mjMINMU: smallest friction coefficient


@ti.func
def frame_of(direction, hint):
    """Rows: unit normal, hint made orthogonal to it (no hint: y, or z if the normal is near y), their cross product."""
    normal = direction / ti.max(direction.norm(), MINVAL)
    y = hint
    if y.dot(y) < 0.25:
        y = vec3(0.0, 1.0, 0.0)
        if ti.abs(normal[1]) >= 0.5:
            y = vec3(0.0, 0.0, 1.0)
    y = y - normal.dot(y) * normal
    length = y.norm()
    if length < MINVAL:
        y = vec3(1.0, 0.0, 0.0)
    else:
        y = y / length
    z = normal.cross(y)
    return mat3(normal[0], normal[1], normal[2], y[0], y[1], y[2], z[0], z[1], z[2])


@kernel
def write_contacts(
    ngeom: ti.i32, npairmax: ti.i32, nconmax: ti.i32, override: ti.i32, counts: I,
    cpair_geom1: I, cpair_geom2: I, cpair_listed: I, cpair_margin: F, cpair_slot: I, cpair_ncon: I,
    con_slot: F, geom_xmat: F, geom_type: I, geom_bodyid: I, body_weldid: I,
    geom_condim: I, geom_priority: I, geom_solmix: F, geom_gap: F, geom_solref: F, geom_solimp: F, geom_friction: F,
    pair_dim: I, pair_gap: F, pair_solref: F, pair_solreffriction: F, pair_solimp: F, pair_friction: F,
    override_param: F, cpair_adr: I, scan_sum: I,
    contact_dist: F, contact_pos: F, contact_frame: F, contact_includemargin: F, contact_friction: F,
    contact_solref: F, contact_solreffriction: F, contact_solimp: F, contact_dim: I, contact_geom: I,
    contact_exclude: I, contact_worldid: I,
):  # fmt: skip
    """Address of each pair's contacts, their total, and all their fields, mixed as in SEMANTICS.md; parallel over
    pairs.
    """
    n = ti.min(counts[NPAIR], npairmax)
    nblock = (n + SCAN_BLOCK - 1) // SCAN_BLOCK
    ti.loop_config(serialize=SERIAL or SHORT)
    for b in range(nblock):
        for p in range(b * SCAN_BLOCK, ti.min((b + 1) * SCAN_BLOCK, n)):
            cpair_adr[p] = ti.max(0, cpair_ncon[p])
        scan_sum[b] = sum_of_block(cpair_adr, b, n)
    ti.loop_config(serialize=True)
    for _ in range(1):
        counts[NCON] = scan_sums(scan_sum, nblock)
    ti.loop_config(serialize=SERIAL or SHORT)
    for b in range(nblock):
        scan_block(cpair_adr, b, n, scan_sum[b])
    ti.loop_config(serialize=SERIAL)
    for p in range(n):
        ncon = cpair_ncon[p]
        if ncon > 0 and cpair_adr[p] + ncon <= nconmax:
            i1 = cpair_geom1[p]
            g1 = i1 % ngeom
            w = i1 // ngeom
            g2 = cpair_geom2[p]
            k = cpair_listed[p]
            # weight of geom 1: by priority, else by solmix
            mix = 0.5
            same = geom_priority[g1] == geom_priority[g2]
            if same:
                m1 = geom_solmix[g1]
                m2 = geom_solmix[g2]
                if m1 >= MINVAL and m2 >= MINVAL:
                    mix = m1 / (m1 + m2)
                elif m1 >= MINVAL:
                    mix = 1.0
                elif m2 >= MINVAL:
                    mix = 0.0
            else:
                mix = ti.select(geom_priority[g1] > geom_priority[g2], 1.0, 0.0)
            gap = ti.max(geom_gap[g1], geom_gap[g2])
            dim = ti.max(geom_condim[g1], geom_condim[g2])
            if not same:
                dim = ti.select(mix > 0.5, geom_condim[g1], geom_condim[g2])
            direct = same and (geom_solref[2 * g1] <= 0.0 or geom_solref[2 * g2] <= 0.0)
            if k >= 0:
                gap = pair_gap[k]
                dim = pair_dim[k]
            includemargin = cpair_margin[p] - gap
            hint = vec3(0.0, 0.0, 0.0)
            if geom_type[g1] == 0 and geom_type[g2] == 3:  # on a plane the tangent follows the capsule
                i2 = i1 - g1 + g2
                hint = vec3(geom_xmat[9 * i2 + 2], geom_xmat[9 * i2 + 5], geom_xmat[9 * i2 + 8])
            still = body_weldid[geom_bodyid[g1]] == 0 and body_weldid[geom_bodyid[g2]] == 0
            mu = vec3(0.0, 0.0, 0.0)
            for j in ti.static(range(3)):
                f1 = geom_friction[3 * g1 + j]
                f2 = geom_friction[3 * g2 + j]
                mu[j] = ti.max(f1, f2) if same else ti.select(mix > 0.5, f1, f2)
            friction = vec5(mu[0], mu[0], mu[1], mu[2], mu[2])
            solimp = vec5(0.0, 0.0, 0.0, 0.0, 0.0)
            for j in ti.static(range(5)):
                solimp[j] = mix * geom_solimp[5 * g1 + j] + (1.0 - mix) * geom_solimp[5 * g2 + j]
                if k >= 0:
                    friction[j] = pair_friction[5 * k + j]
                    solimp[j] = pair_solimp[5 * k + j]
                if override:
                    friction[j] = override_param[7 + j]
                    solimp[j] = override_param[2 + j]
                friction[j] = ti.max(friction[j], MINMU)
            solref = vec2(0.0, 0.0)
            solreffriction = vec2(0.0, 0.0)
            for j in ti.static(range(2)):
                solref[j] = mix * geom_solref[2 * g1 + j] + (1.0 - mix) * geom_solref[2 * g2 + j]
                if direct:
                    solref[j] = ti.min(geom_solref[2 * g1 + j], geom_solref[2 * g2 + j])
                if k >= 0:
                    solref[j] = pair_solref[2 * k + j]
                    solreffriction[j] = pair_solreffriction[2 * k + j]
                if override:
                    solref[j] = override_param[j]
                    solreffriction[j] = override_param[j]
            first_slot = cpair_slot[p]
            for s in range(ncon):
                c = cpair_adr[p] + s
                dist = dist_at(first_slot + s, con_slot)
                contact_dist[c] = dist
                st3(contact_pos, c, pos_at(first_slot + s, con_slot))
                stm(contact_frame, c, frame_of(normal_at(first_slot + s, con_slot), hint))
                contact_includemargin[c] = includemargin
                contact_dim[c] = dim
                contact_geom[2 * c] = g1
                contact_geom[2 * c + 1] = g2
                contact_worldid[c] = w
                contact_exclude[c] = ti.select(still, 2, ti.select(dist >= includemargin, 1, 0))
                for j in ti.static(range(5)):
                    contact_friction[5 * c + j] = friction[j]
                    contact_solimp[5 * c + j] = solimp[j]
                for j in ti.static(range(2)):
                    contact_solref[2 * c + j] = solref[j]
                    contact_solreffriction[2 * c + j] = solreffriction[j]
