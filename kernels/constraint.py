"""Rows of friction loss and joint limits, and what the solver needs of each contact.

Contacts have no stored Jacobian: the solver works on their relative twist (kernels/spatial.py). Seed 000, "Constraint
model" and "Parameters"; rows are ordered as in MuJoCo: friction loss, limits, contacts.
"""

from tisim.kernels.cone import load_friction, to_contact
from tisim.kernels.constants import BALL, DSBL_REFSAFE, ELLIPTIC, FRICTION_DOF, LIMIT_JOINT, NCON, NEFC, NROW
from tisim.kernels.rotation import quat_to_rotvec
from tisim.kernels.spatial import relative_twist
from tisim.kernels.types import FP, MINVAL, SERIAL, F, I, kernel, ld3, st3, st6, ti, vec3, vec4

MINIMP = 0.0001  # mjMINIMP, mjMAXIMP: impedance stays inside
MAXIMP = 0.9999


vec5 = ti.types.vector(5, FP)


@ti.func
def ld5(a: ti.template(), i):
    return vec5(a[5 * i], a[5 * i + 1], a[5 * i + 2], a[5 * i + 3], a[5 * i + 4])


@ti.func
def stiffness_damping_impedance(pos, ref0, ref1, imp, timestep, disableflags):
    """K [1/s2], B [1/s] of the reference acceleration and the impedance at distance pos from the margin."""
    r0 = ref0
    r1 = ref1
    if (r0 > 0.0) != (r1 > 0.0):  # mixed formats: the default, as MuJoCo does
        r0 = 0.02
        r1 = 1.0
    if r0 > 0.0 and (disableflags & DSBL_REFSAFE) == 0:
        r0 = ti.max(r0, 2.0 * timestep)
    dmin = ti.min(ti.max(imp[0], MINIMP), MAXIMP)
    dmax = ti.min(ti.max(imp[1], MINIMP), MAXIMP)
    width = ti.max(imp[2], 0.0)
    mid = ti.min(ti.max(imp[3], MINIMP), MAXIMP)
    power = ti.max(imp[4], 1.0)
    d = 0.5 * (dmin + dmax)
    if dmin != dmax and width > MINVAL:
        x = ti.min(ti.abs(pos) / width, 1.0)
        y = x
        if power != 1.0 and x < 1.0 and x > 0.0:
            if x <= mid:
                y = ti.pow(x / mid, power) * mid
            else:
                y = 1.0 - ti.pow((1.0 - x) / (1.0 - mid), power) * (1.0 - mid)
        d = dmin + y * (dmax - dmin)
    k = -r0 / ti.max(MINVAL, dmax * dmax)
    b = -r1 / ti.max(MINVAL, dmax)
    if r0 > 0.0:
        k = 1.0 / ti.max(MINVAL, dmax * dmax * r0 * r0 * r1 * r1)
        b = 2.0 / ti.max(MINVAL, dmax * r0)
    return vec3(k, b, d)


@ti.func
def finish_row(r, kind, id, pos, margin, diag, floss, kbi, vel, row_int: ti.template(), row_f: ti.template()):
    """Everything of row r but its Jacobian; layout in tisim/arrays.py."""
    row_int[6 * r] = kind
    row_int[6 * r + 1] = id
    o = 13 * r
    row_f[o + 3] = ti.max(MINVAL, (1.0 - kbi[2]) * diag / kbi[2])
    row_f[o + 4] = -kbi[1] * vel - kbi[0] * kbi[2] * (pos - margin)
    row_f[o + 5] = floss
    row_f[o + 6] = pos
    row_f[o + 7] = margin
    row_f[o + 8] = diag
    row_f[o + 9] = kbi[0]
    row_f[o + 10] = kbi[1]
    row_f[o + 11] = kbi[2]
    row_f[o + 12] = vel


@kernel
def friction_rows(
    nworld: ti.i32, nv: ti.i32, nfriction: ti.i32, timestep: FP, disableflags: ti.i32,
    friction_dof: I, dof_frictionloss: F, dof_solref: F, dof_solimp: F, dof_invweight0: F, qvel: F,
    row_int: I, row_f: F, counts: I,
):  # fmt: skip
    """Friction loss of dofs; parallel over (world, dof with friction loss)."""
    ti.loop_config(serialize=SERIAL)
    for r in range(nworld * nfriction):
        w = r // nfriction
        i = friction_dof[r % nfriction]
        kbi = stiffness_damping_impedance(
            FP(0.0), dof_solref[2 * i], dof_solref[2 * i + 1], ld5(dof_solimp, i), timestep, disableflags
        )
        kbi[0] = 0.0
        finish_row(
            r, FRICTION_DOF, i, FP(0.0), FP(0.0), dof_invweight0[i], dof_frictionloss[i], kbi, qvel[w * nv + i],
            row_int, row_f,
        )  # fmt: skip
        row_int[6 * r + 2] = 1
        row_int[6 * r + 3] = w * nv + i
        row_f[13 * r] = 1.0
    ti.loop_config(serialize=True)
    for _ in range(1):
        counts[NROW] = nworld * nfriction


@ti.func
def ball_angle(q):
    """Rotation vector of a ball joint's quaternion, normalised first."""
    return quat_to_rotvec(q / ti.max(MINVAL, q.norm()))


@kernel
def limit_rows(
    nworld: ti.i32, nq: ti.i32, nv: ti.i32, nlimited: ti.i32, timestep: FP, disableflags: ti.i32,
    limited_joint: I, jnt_type: I, jnt_qposadr: I, jnt_dofadr: I, jnt_range: F, jnt_margin: F, jnt_solref: F,
    jnt_solimp: F, dof_invweight0: F, qpos: F, qvel: F,
    limit_row: I, row_int: I, row_f: F, counts: I,
):  # fmt: skip
    """Active joint limits: count, scan, fill; parallel over (world, limited joint)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(nworld * nlimited):
        w = k // nlimited
        j = limited_joint[k % nlimited]
        lo = jnt_range[2 * j]
        hi = jnt_range[2 * j + 1]
        q = w * nq + jnt_qposadr[j]
        n = 0
        if jnt_type[j] == BALL:
            a = ball_angle(vec4_at(qpos, q)).norm()
            n = ti.cast(ti.max(lo, hi) - a < jnt_margin[j], ti.i32)
        else:
            n = ti.cast(qpos[q] - lo < jnt_margin[j], ti.i32) + ti.cast(hi - qpos[q] < jnt_margin[j], ti.i32)
        limit_row[k] = n
    ti.loop_config(serialize=True)
    for _ in range(1):
        s = counts[NROW]
        for k in range(nworld * nlimited):
            n = limit_row[k]
            limit_row[k] = s
            s += n
        counts[NROW] = s
    ti.loop_config(serialize=SERIAL)
    for k in range(nworld * nlimited):
        w = k // nlimited
        j = limited_joint[k % nlimited]
        r = limit_row[k]
        q = w * nq + jnt_qposadr[j]
        i = jnt_dofadr[j]
        for side in range(2):
            pos = FP(0.0)
            axis = vec3(0.0)
            ball = jnt_type[j] == BALL
            if ball:
                axis = ball_angle(vec4_at(qpos, q))
                a = axis.norm()
                pos = ti.max(jnt_range[2 * j], jnt_range[2 * j + 1]) - a
                axis = -axis / ti.max(MINVAL, a)
            else:
                sign = ti.cast(1 - 2 * side, FP)
                axis[0] = sign
                pos = sign * (qpos[q] - jnt_range[2 * j + side])
            if pos < jnt_margin[j] and not (ball and side == 1):
                vel = FP(0.0)
                num = ti.select(ball, 3, 1)
                row_int[6 * r + 2] = num
                for c in ti.static(range(3)):
                    if c < num:
                        row_int[6 * r + 3 + c] = w * nv + i + c
                        row_f[13 * r + c] = axis[c]
                        vel += axis[c] * qvel[w * nv + i + c]
                kbi = stiffness_damping_impedance(
                    pos - jnt_margin[j], jnt_solref[2 * j], jnt_solref[2 * j + 1], ld5(jnt_solimp, j), timestep,
                    disableflags,
                )  # fmt: skip
                finish_row(
                    r, LIMIT_JOINT, j, pos, jnt_margin[j], dof_invweight0[i], FP(0.0), kbi, vel, row_int, row_f
                )
                r += 1


@ti.func
def vec4_at(a: ti.template(), i):
    return vec4(a[i], a[i + 1], a[i + 2], a[i + 3])


@kernel
def contact_terms(
    nbody: ti.i32, cone: ti.i32, impratio: FP, timestep: FP, disableflags: ti.i32,
    geom_bodyid: I, body_treeid: I, body_rootid: I, body_invweight0: F, subtree_com: F, cvel: F,
    contact_geom: I, contact_worldid: I, contact_pos: F, contact_frame: F, contact_dist: F,
    contact_includemargin: F, contact_friction: F, contact_solref: F, contact_solreffriction: F, contact_solimp: F,
    contact_dim: I, contact_exclude: I, counts: I,
    con_body: I, con_arm: F, con_par: F, con_acc: F, contact_mu: F,
):  # fmt: skip
    """Bodies, lever arms, regularisation and reference acceleration of each contact; parallel over contacts."""
    n = counts[NCON]
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        w = contact_worldid[c]
        tran = FP(0.0)
        for side in ti.static(range(2)):
            b = geom_bodyid[contact_geom[2 * c + side]]
            tran += body_invweight0[2 * b]
            st3(con_arm, 2 * c + side, ld3(contact_pos, c) - ld3(subtree_com, w * nbody + body_rootid[b]))
            con_body[2 * c + side] = ti.select(body_treeid[b] >= 0 and contact_exclude[c] == 0, w * nbody + b, -1)
        fri = load_friction(c, contact_friction)
        dim = contact_dim[c]
        pos = contact_dist[c] - contact_includemargin[c]
        imp = ld5(contact_solimp, c)
        kbi = stiffness_damping_impedance(
            pos, contact_solref[2 * c], contact_solref[2 * c + 1], imp, timestep, disableflags
        )
        diag = tran
        mu = fri[1] / ti.sqrt(ti.max(MINVAL, impratio))
        if cone != ELLIPTIC and dim > 1:
            diag = tran + fri[1] * fri[1] * tran
        R = ti.max(MINVAL, (1.0 - kbi[2]) * diag / kbi[2])
        if cone != ELLIPTIC and dim > 1:
            R = ti.max(MINVAL, 2.0 * mu * mu * R)
        damping = kbi[1]
        if cone == ELLIPTIC and (contact_solreffriction[2 * c] != 0.0 or contact_solreffriction[2 * c + 1] != 0.0):
            kf = stiffness_damping_impedance(
                FP(0.0), contact_solreffriction[2 * c], contact_solreffriction[2 * c + 1], imp, timestep, disableflags
            )
            damping = kf[1]
        v = to_contact(c, relative_twist(c, con_body, con_arm, cvel), dim, contact_frame)
        a = -damping * v
        a[0] = -kbi[1] * v[0] - kbi[0] * kbi[2] * pos
        contact_mu[c] = mu
        con_par[7 * c] = 1.0 / R
        con_par[7 * c + 1] = mu
        for k in ti.static(range(5)):
            con_par[7 * c + 2 + k] = fri[k + 1]
        st6(con_acc, 3 * c, a)


@kernel
def contact_lists(
    nworld: ti.i32, nbody: ti.i32, cone: ti.i32, contact_dim: I, contact_exclude: I, con_body: I,
    counts: I, contact_efc_address: I, body_conadr: I, body_connum: I, body_con: I,
):  # fmt: skip
    """First row of each contact, and the contacts of each body in list order; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = counts[NCON]
        row = counts[NROW]
        for b in range(nworld * nbody):
            body_connum[b] = 0
        for c in range(n):
            contact_efc_address[c] = -1
            if contact_exclude[c] == 0:
                contact_efc_address[c] = row
                dim = contact_dim[c]
                row += ti.select(cone == ELLIPTIC or dim == 1, dim, 2 * (dim - 1))
                for side in range(2):
                    b = con_body[2 * c + side]
                    if b >= 0:
                        body_connum[b] = body_connum[b] + 1
        counts[NEFC] = row
        s = 0
        for b in range(nworld * nbody):
            body_conadr[b] = s
            s += body_connum[b]
            body_connum[b] = 0
        for c in range(n):
            for side in range(2):
                b = con_body[2 * c + side]
                if b >= 0:
                    body_con[body_conadr[b] + body_connum[b]] = 2 * c + side
                    body_connum[b] = body_connum[b] + 1


@kernel
def row_lists(nworld: ti.i32, ntree: ti.i32, nv: ti.i32, dof_treeid: I, row_int: I, counts: I,
              tree_rowadr: I, tree_rownum: I, tree_row: I):  # fmt: skip
    """The rows of each tree in list order; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = counts[NROW]
        for t in range(nworld * ntree):
            tree_rownum[t] = 0
        for r in range(n):
            i = row_int[6 * r + 3]
            t = i // nv * ntree + dof_treeid[i % nv]
            tree_rownum[t] = tree_rownum[t] + 1
        s = 0
        for t in range(nworld * ntree):
            tree_rowadr[t] = s
            s += tree_rownum[t]
            tree_rownum[t] = 0
        for r in range(n):
            i = row_int[6 * r + 3]
            t = i // nv * ntree + dof_treeid[i % nv]
            tree_row[tree_rowadr[t] + tree_rownum[t]] = r
            tree_rownum[t] = tree_rownum[t] + 1


