"""Rows of friction loss and joint limits, and what the solver needs of each contact.

Contacts have no stored Jacobian: the solver works on their relative twist (kernels/spatial.py). Seed 000, "Constraint
model" and "Parameters"; rows are ordered as in MuJoCo: friction loss, limits, contacts.
"""

from ..constants import BALL, DSBL_REFSAFE, ELLIPTIC, FRICTION_DOF, LIMIT_JOINT
from ..rotation import quat_to_rotvec
from ..spatial import relative_twist
from ..types import (
    FP,
    MINVAL,
    SERIAL,
    func,
    kernel,
    ti,
    vec3,
    vec4,
)
from .cone import load_friction, to_contact

MINIMP = 0.0001  # mjMINIMP, mjMAXIMP: impedance stays inside
MAXIMP = 0.9999


vec5 = ti.types.vector(5, FP)


@ti.func
def ld5(a: ti.template(), i):
    return vec5(a[i][0], a[i][1], a[i][2], a[i][3], a[i][4])


@func
def stiffness_damping_impedance(m, d, pos, ref0, ref1, imp):
    """K [1/s2], B [1/s] of the reference acceleration and the impedance at distance pos from the margin."""
    r0 = ref0
    r1 = ref1
    if (r0 > 0.0) != (r1 > 0.0):  # mixed formats: the default, as MuJoCo does
        r0 = 0.02
        r1 = 1.0
    if r0 > 0.0 and m.opt.disableflags & DSBL_REFSAFE == 0:
        r0 = ti.max(r0, 2.0 * m.opt.timestep)
    dmin = ti.min(ti.max(imp[0], MINIMP), MAXIMP)
    dmax = ti.min(ti.max(imp[1], MINIMP), MAXIMP)
    width = ti.max(imp[2], 0.0)
    mid = ti.min(ti.max(imp[3], MINIMP), MAXIMP)
    power = ti.max(imp[4], 1.0)
    delta = 0.5 * (dmin + dmax)
    if dmin != dmax and width > MINVAL:
        x = ti.min(ti.abs(pos) / width, 1.0)
        y = x
        if power != 1.0 and x < 1.0 and x > 0.0:
            if x <= mid:
                y = ti.pow(x / mid, power) * mid
            else:
                y = 1.0 - ti.pow((1.0 - x) / (1.0 - mid), power) * (1.0 - mid)
        delta = dmin + y * (dmax - dmin)
    k = -r0 / ti.max(MINVAL, dmax * dmax)
    b = -r1 / ti.max(MINVAL, dmax)
    if r0 > 0.0:
        k = 1.0 / ti.max(MINVAL, dmax * dmax * r0 * r0 * r1 * r1)
        b = 2.0 / ti.max(MINVAL, dmax * r0)
    return vec3(k, b, delta)


@func
def finish_row(m, d, r, kind, id, pos, margin, diag, floss, kbi, vel):
    """Everything of row r but its Jacobian; layout in tisim/data/arrays.py."""
    d.row_type[r] = kind
    d.row_id[r] = id
    d.row_R[r] = ti.max(MINVAL, (1.0 - kbi[2]) * diag / kbi[2])
    d.row_aref[r] = -kbi[1] * vel - kbi[0] * kbi[2] * (pos - margin)
    d.row_floss[r] = floss
    d.row_pos[r] = pos
    d.row_margin[r] = margin
    d.row_diag[r] = diag
    d.row_K[r] = kbi[0]
    d.row_B[r] = kbi[1]
    d.row_imp[r] = kbi[2]
    d.row_vel[r] = vel


@kernel
def friction_rows(m, d):
    """Friction loss of dofs; parallel over (world, dof with friction loss)."""
    ti.loop_config(serialize=SERIAL)
    for r in range(d.nworld * m.nfriction):
        w = r // m.nfriction
        i = m.friction_dof[r % m.nfriction]
        kbi = stiffness_damping_impedance(m, d, FP(0.0), m.dof_solref[i][0], m.dof_solref[i][1], m.dof_solimp[i])
        kbi[0] = 0.0
        finish_row(
            m,
            d,
            r,
            FRICTION_DOF,
            i,
            FP(0.0),
            FP(0.0),
            m.dof_invweight0[i],
            m.dof_frictionloss[i],
            kbi,
            d.qvel[w * m.nv + i],
        )
        d.row_num[r] = 1
        d.row_dof[r][0] = w * m.nv + i
        d.row_J[r][0] = 1.0
    ti.loop_config(serialize=True)
    for _ in range(1):
        d.nrow = d.nworld * m.nfriction


@ti.func
def ball_angle(q):
    """Rotation vector of a ball joint's quaternion, normalised first."""
    return quat_to_rotvec(q / ti.max(MINVAL, q.norm()))


@kernel
def limit_rows(m, d):
    """Active joint limits: count, scan, fill; parallel over (world, limited joint)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nlimited):
        w = k // m.nlimited
        j = m.limited_joint[k % m.nlimited]
        lo = m.jnt_range[j][0]
        hi = m.jnt_range[j][1]
        q = w * m.nq + m.jnt_qposadr[j]
        n = 0
        if m.jnt_type[j] == BALL:
            a = ball_angle(vec4_at(d.qpos, q)).norm()
            n = ti.cast(ti.max(lo, hi) - a < m.jnt_margin[j], ti.i32)
        else:
            n = ti.cast(d.qpos[q] - lo < m.jnt_margin[j], ti.i32) + ti.cast(hi - d.qpos[q] < m.jnt_margin[j], ti.i32)
        d.limit_row[k] = n
    ti.loop_config(serialize=True)
    for _ in range(1):
        s = d.nrow
        for k in range(d.nworld * m.nlimited):
            n = d.limit_row[k]
            d.limit_row[k] = s
            s += n
        d.nrow = s
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nlimited):
        w = k // m.nlimited
        j = m.limited_joint[k % m.nlimited]
        r = d.limit_row[k]
        q = w * m.nq + m.jnt_qposadr[j]
        i = m.jnt_dofadr[j]
        for side in range(2):
            pos = FP(0.0)
            axis = vec3(0.0)
            ball = m.jnt_type[j] == BALL
            if ball:
                axis = ball_angle(vec4_at(d.qpos, q))
                a = axis.norm()
                pos = ti.max(m.jnt_range[j][0], m.jnt_range[j][1]) - a
                axis = -axis / ti.max(MINVAL, a)
            else:
                sign = ti.cast(1 - 2 * side, FP)
                axis[0] = sign
                pos = sign * (d.qpos[q] - m.jnt_range[j][side])
            if pos < m.jnt_margin[j] and (not (ball and side == 1)):
                vel = FP(0.0)
                num = ti.select(ball, 3, 1)
                d.row_num[r] = num
                for c in ti.static(range(3)):
                    if c < num:
                        d.row_dof[r][c] = w * m.nv + i + c
                        d.row_J[r][c] = axis[c]
                        vel += axis[c] * d.qvel[w * m.nv + i + c]
                kbi = stiffness_damping_impedance(
                    m, d, pos - m.jnt_margin[j], m.jnt_solref[j][0], m.jnt_solref[j][1], m.jnt_solimp[j]
                )
                finish_row(m, d, r, LIMIT_JOINT, j, pos, m.jnt_margin[j], m.dof_invweight0[i], FP(0.0), kbi, vel)
                r += 1


@ti.func
def vec4_at(a: ti.template(), i):
    return vec4(a[i], a[i + 1], a[i + 2], a[i + 3])


@kernel
def contact_terms(m, d):
    """Bodies, lever arms, regularisation and reference acceleration of each contact; parallel over contacts."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        w = d.contact_worldid[c]
        tran = FP(0.0)
        for side in ti.static(range(2)):
            b = m.geom_bodyid[d.contact_geom[c][side]]
            tran += m.body_invweight0[b][0]
            d.con_arm[c, side] = d.contact_pos[c] - d.subtree_com[w * m.nbody + m.body_rootid[b]]
            d.con_body[c][side] = ti.select(m.body_treeid[b] >= 0 and d.contact_exclude[c] == 0, w * m.nbody + b, -1)
        fri = load_friction(m, d, c)
        dim = d.contact_dim[c]
        pos = d.contact_dist[c] - d.contact_includemargin[c]
        imp = d.contact_solimp[c]
        kbi = stiffness_damping_impedance(m, d, pos, d.contact_solref[c][0], d.contact_solref[c][1], imp)
        diag = tran
        mu = fri[1] / ti.sqrt(ti.max(MINVAL, m.opt.impratio))
        if m.opt.cone != ELLIPTIC and dim > 1:
            diag = tran + fri[1] * fri[1] * tran
        R = ti.max(MINVAL, (1.0 - kbi[2]) * diag / kbi[2])
        if m.opt.cone != ELLIPTIC and dim > 1:
            R = ti.max(MINVAL, 2.0 * mu * mu * R)
        damping = kbi[1]
        if m.opt.cone == ELLIPTIC and (d.contact_solreffriction[c][0] != 0.0 or d.contact_solreffriction[c][1] != 0.0):
            kf = stiffness_damping_impedance(
                m, d, FP(0.0), d.contact_solreffriction[c][0], d.contact_solreffriction[c][1], imp
            )
            damping = kf[1]
        v = to_contact(c, relative_twist(m, d, c, d.cvel), dim, d.contact_frame)
        a = -damping * v
        a[0] = -kbi[1] * v[0] - kbi[0] * kbi[2] * pos
        d.contact_mu[c] = mu
        d.con_D[c] = 1.0 / R
        d.con_mu[c] = mu
        for k in ti.static(range(5)):
            d.con_friction[c][k] = fri[k + 1]
        d.con_aref[c] = a


@kernel
def contact_lists(m, d):
    """First row of each contact, and the contacts of each body in list order; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = d.ncon
        row = d.nrow
        for b in range(d.nworld * m.nbody):
            d.body_connum[b] = 0
        for c in range(n):
            d.contact_efc_address[c] = -1
            if d.contact_exclude[c] == 0:
                d.contact_efc_address[c] = row
                dim = d.contact_dim[c]
                row += ti.select(m.opt.cone == ELLIPTIC or dim == 1, dim, 2 * (dim - 1))
                for side in range(2):
                    b = d.con_body[c][side]
                    if b >= 0:
                        d.body_connum[b] = d.body_connum[b] + 1
        d.nefc = row
        s = 0
        for b in range(d.nworld * m.nbody):
            d.body_conadr[b] = s
            s += d.body_connum[b]
            d.body_connum[b] = 0
        for c in range(n):
            for side in range(2):
                b = d.con_body[c][side]
                if b >= 0:
                    d.body_con[d.body_conadr[b] + d.body_connum[b]] = 2 * c + side
                    d.body_connum[b] = d.body_connum[b] + 1


@kernel
def row_lists(m, d):
    """The rows of each tree in list order; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = d.nrow
        for t in range(d.nworld * m.ntree):
            d.tree_rownum[t] = 0
        for r in range(n):
            i = d.row_dof[r][0]
            t = i // m.nv * m.ntree + m.dof_treeid[i % m.nv]
            d.tree_rownum[t] = d.tree_rownum[t] + 1
        s = 0
        for t in range(d.nworld * m.ntree):
            d.tree_rowadr[t] = s
            s += d.tree_rownum[t]
            d.tree_rownum[t] = 0
        for r in range(n):
            i = d.row_dof[r][0]
            t = i // m.nv * m.ntree + m.dof_treeid[i % m.nv]
            d.tree_row[d.tree_rowadr[t] + d.tree_rownum[t]] = r
            d.tree_rownum[t] = d.tree_rownum[t] + 1
