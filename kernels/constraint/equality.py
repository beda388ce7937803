"""Makers of rows: equality constraints, in the order of the model whatever their types.

`equality_places` says where the rows of each acting equality stand, the makers behind it fill those of one type. Which
dofs enter is a table of the model (tisim/model/tables/equality.py). Seed 000, "Equality"; seed 001, "equality".
"""

from ..constants import (
    EQ_JOINT,
    EQ_WELD,
    EQUALITY,
    OBJ_SITE,
    TASK_EQ_JOINT,
    TASK_EQ_POSE,
    TASK_EQ_TENDON,
    TASK_EQUALITY,
)
from ..rotation import conj_quat, mul_quat
from ..sleep.awake import task_at, task_count
from ..spatial import cross, head, tail
from ..types import FP, SERIAL, func, kernel, narrow, store, ti, vec3, vec4, vec6
from .places import place_rows
from .row import finish_row, fits, start_row
from .tendon_entries import is_dense, is_in_jacobian


@kernel
def pose_sizes(m, d):
    """eq_size of connect and weld: all dofs, or none if no row has an entry that is not 0. MuJoCo leaves such rows out
    if its matrices are dense, and lists them if they are sparse. Parallel over (world, connect or weld)."""
    dense = is_dense(m)
    n_task = task_count(m, d, TASK_EQ_POSE, m.neqpose)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        t = task_at(m, d, TASK_EQ_POSE, place)
        w = t // m.neqpose
        e = m.eq_pose[t % m.neqpose]
        moves = ti.cast(not dense, ti.i32)
        if moves == 0:
            b1, b2, p1, p2, q1, q2 = ends_of(m, d, w, e)
            arm1 = narrow(p1 - d.subtree_com[w * m.nbody + m.body_rootid[b1]])
            arm2 = narrow(p2 - d.subtree_com[w * m.nbody + m.body_rootid[b2]])
            for x in range(m.eq_Jadr[e], m.eq_Jadr[e] + m.eq_Jnum[e]):
                turn, shift = relative_motion(m, d, w * m.nv + m.eq_Jdof[x], m.eq_side[x], arm1, arm2)
                most = ti.abs(shift).max()
                if m.eq_type[e] == EQ_WELD:
                    most = ti.max(most, ti.abs(turn).max())
                if most > 0.0:
                    moves = 1
        d.eq_size[w * m.neq + e] = moves * m.eq_Jnum[e]


@kernel
def tendon_sizes(m, d):
    """eq_size of tendons: the dofs that move one of them at this pose. Parallel over (world, equality of tendons)."""
    n_task = task_count(m, d, TASK_EQ_TENDON, m.neqtendon)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        t = task_at(m, d, TASK_EQ_TENDON, place)
        w = t // m.neqtendon
        e = m.eq_tendon[t % m.neqtendon]
        slope = tendon_target(m, d, w, e)[1]
        num = 0
        for x in range(m.eq_Jadr[e], m.eq_Jadr[e] + m.eq_Jnum[e]):
            num += tendon_pair_entry(m, d, w, e, m.eq_Jdof[x], slope)[1]
        d.eq_size[w * m.neq + e] = num


@kernel
def equality_places(m, d):
    """First row and first entry of each equality that acts, -1 for the others; serial but on a GPU."""
    n_task = task_count(m, d, TASK_EQUALITY, m.neq)
    place_rows(m, d, n_task, SERIAL, equality_need, d.eq_row, d.eq_adr)


@func
def equality_need(m, d, place):
    k = task_at(m, d, TASK_EQUALITY, place)
    e = k % m.neq
    n = m.eq_nrow[e]
    num = m.eq_Jnum[e]
    acts = n > 0 and d.eq_active[k] != 0
    if acts and m.eq_type[e] != EQ_JOINT:
        num = d.eq_size[k]
    return k, ti.select(acts and num > 0, n, 0), num


@func
def has_place(m, d, k, e, num):
    """Whether equality e, the k-th of all worlds, acts and the lists hold its rows, of num entries each."""
    n = m.eq_nrow[e]
    return d.eq_row[k] >= 0 and fits(m, d, d.eq_row[k] + n - 1, d.eq_adr[k] + (n - 1) * num, num)


@func
def local_ends(m, w, e):
    """Bodies (of the model), points and orientations in their frames that connect or weld e makes equal, of both
    objects."""
    data = m.eq_data[w, e]
    b1 = m.eq_obj1id[e]
    b2 = m.eq_obj2id[e]
    p1 = vec3(data[0], data[1], data[2])
    p2 = vec3(data[3], data[4], data[5])
    q1 = vec4(1.0, 0.0, 0.0, 0.0)
    q2 = q1
    if m.eq_type[e] == EQ_WELD:
        p1, p2 = p2, p1
        q1 = vec4(data[6], data[7], data[8], data[9])
    if m.eq_objtype[e] == OBJ_SITE:
        p1 = m.site_pos[b1]
        p2 = m.site_pos[b2]
        q1 = m.site_quat[b1]
        q2 = m.site_quat[b2]
        b1 = m.site_bodyid[b1]
        b2 = m.site_bodyid[b2]
    return b1, b2, p1, p2, q1, q2


@func
def ends_of(m, d, w, e):
    """The same in the world; the points as wide numbers, whose difference is small however far away they are."""
    b1, b2, p1, p2, q1, q2 = local_ends(m, w, e)
    e1 = w * m.nbody + b1
    e2 = w * m.nbody + b2
    x1 = d.xpos[e1] + d.xmat[e1] @ p1
    x2 = d.xpos[e2] + d.xmat[e2] @ p2
    return b1, b2, x1, x2, mul_quat(narrow(d.xquat[e1]), q1), mul_quat(narrow(d.xquat[e2]), q2)


@func
def relative_motion(m, d, i, side, arm1, arm2):
    """Twist by which world-major dof i moves the first object against the second: (angular, linear)."""
    v = d.cdof[i]
    turn = vec3(0.0)
    shift = vec3(0.0)
    if side != 2:
        turn += head(v)
        shift += tail(v) + cross(head(v), arm1)
    if side != 1:
        turn -= head(v)
        shift -= tail(v) + cross(head(v), arm2)
    return turn, shift


@kernel
def pose_rows(m, d):
    """Connect: two points are one. Weld: two frames are, by the vector part of q2* q1 times torquescale, whose rate is
    that of q2* w q1 / 2. Parallel over (world, connect or weld)."""
    n_task = task_count(m, d, TASK_EQ_POSE, m.neqpose)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        t = task_at(m, d, TASK_EQ_POSE, place)
        w = t // m.neqpose
        e = m.eq_pose[t % m.neqpose]
        k = w * m.neq + e
        if has_place(m, d, k, e, m.eq_Jnum[e]):
            r = d.eq_row[k]
            n = m.eq_nrow[e]
            num = m.eq_Jnum[e]
            scale = m.eq_data[w, e][10]
            b1, b2, p1, p2, q1, q2 = ends_of(m, d, w, e)
            back = conj_quat(q2)
            turned = mul_quat(back, q1)
            apart = narrow(p1 - p2)
            gap = vec6(0.0)
            for c in ti.static(range(3)):
                gap[c] = apart[c]
                if n > 3:
                    gap[3 + c] = scale * turned[c + 1]
            for c in range(n):
                start_row(m, d, r + c, EQUALITY, e, d.eq_adr[k] + c * num, num)
            arm1 = narrow(p1 - d.subtree_com[w * m.nbody + m.body_rootid[b1]])
            arm2 = narrow(p2 - d.subtree_com[w * m.nbody + m.body_rootid[b2]])
            for x in range(num):
                i = w * m.nv + m.eq_Jdof[m.eq_Jadr[e] + x]
                turn, shift = relative_motion(m, d, i, m.eq_side[m.eq_Jadr[e] + x], arm1, arm2)
                rate = 0.5 * scale * mul_quat(mul_quat(back, vec4(0.0, turn[0], turn[1], turn[2])), q1)
                motion = vec6(shift[0], shift[1], shift[2], rate[1], rate[2], rate[3])
                for c in ti.static(range(6)):
                    if c < n:
                        a = d.eq_adr[k] + c * num + x
                        d.J_dof[a] = i
                        d.J[a] = motion[c]
            at = gap.norm()
            for c in range(n):
                kind = ti.cast(c > 2, ti.i32)
                pos = FP(0.0)
                for s in ti.static(range(6)):
                    if s == c:
                        pos = gap[s]
                diag = m.body_invweight0[w, b1][kind] + m.body_invweight0[w, b2][kind]
                finish_row(m, d, r + c, pos, FP(0.0), at, diag, m.eq_solref[e], m.eq_solimp[e])
                d.row_pose[r + c] = ti.select(c == 0, k + 1, -1)
            store(d.eq_arm, 2 * k, arm1)
            store(d.eq_arm, 2 * k + 1, arm2)
            d.eq_body[k][0] = ti.select(m.body_treeid[b1] >= 0, w * m.nbody + b1, -1)
            d.eq_body[k][1] = ti.select(m.body_treeid[b2] >= 0, w * m.nbody + b2, -1)
            pose_hessian(m, d, k, r, n, 0.5 * scale, back, q1)


@func
def pose_hessian(m, d, k, r, n, scale, back, q1):
    """eq_hess, eq_hess_rot and eq_turn of the connect or weld whose n rows begin at r: the cost of a row is always a
    quadratic."""
    turns = ti.Matrix.zero(FP, 3, 3)  # by columns: rates of the last three rows for turns about the axes
    for c in ti.static(range(3)):
        d.eq_hess[k][c] = 1.0 / d.row_R[r + c]
        d.eq_hess[k][3 + c] = 0.0
        if n > 3:
            axis = vec4(0.0, float(c == 0), float(c == 1), float(c == 2))
            rate = scale * mul_quat(mul_quat(back, axis), q1)
            for s in ti.static(range(3)):
                turns[s, c] = rate[1 + s] / ti.sqrt(d.row_R[r + 3 + s])
                d.eq_turn[k][s, c] = rate[1 + s]
    hess = turns.transpose() @ turns
    for c in ti.static(range(3)):
        d.eq_hess_rot[k][c] = hess[c, c]
    for c, s in ti.static(((0, 1), (0, 2), (1, 2))):
        d.eq_hess_rot[k][c + s + 2] = hess[c, s]


@func
def polynomial(m, d, w, e, x):
    """Value and derivative at x of the polynomial of equality e of world w."""
    y = m.eq_data[w, e][4]
    slope = 4.0 * m.eq_data[w, e][4]
    for c in ti.static(range(1, 5)):
        y = y * x + m.eq_data[w, e][4 - c]
    for c in ti.static(range(1, 4)):
        slope = slope * x + (4.0 - c) * m.eq_data[w, e][4 - c]
    return y, slope


@kernel
def joint_rows(m, d):
    """Joint 1 follows a polynomial of joint 2, or is constant, both from their reference; parallel over (world,
    equality of joints)."""
    n_task = task_count(m, d, TASK_EQ_JOINT, m.neqjoint)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        t = task_at(m, d, TASK_EQ_JOINT, place)
        w = t // m.neqjoint
        e = m.eq_joint[t % m.neqjoint]
        k = w * m.neq + e
        if has_place(m, d, k, e, m.eq_Jnum[e]):
            j1 = m.eq_obj1id[e]
            j2 = m.eq_obj2id[e]
            diag = m.dof_invweight0[w, m.jnt_dofadr[j1]]
            y = m.eq_data[w, e][0]
            slope = FP(0.0)
            if j2 >= 0:
                diag += m.dof_invweight0[w, m.jnt_dofadr[j2]]
                a = m.jnt_qposadr[j2]
                y, slope = polynomial(m, d, w, e, narrow(d.qpos[w * m.nq + a]) - narrow(m.qpos0[a]))
            a = m.jnt_qposadr[j1]
            pos = narrow(d.qpos[w * m.nq + a]) - narrow(m.qpos0[a]) - y
            num = m.eq_Jnum[e]
            start_row(m, d, d.eq_row[k], EQUALITY, e, d.eq_adr[k], num)
            for x in range(num):
                d.J_dof[d.eq_adr[k] + x] = w * m.nv + m.eq_Jdof[m.eq_Jadr[e] + x]
                d.J[d.eq_adr[k] + x] = ti.select(m.eq_side[m.eq_Jadr[e] + x] == 1, FP(1.0), -slope)
            finish_row(m, d, d.eq_row[k], pos, FP(0.0), pos, diag, m.eq_solref[e], m.eq_solimp[e])


@func
def tendon_target(m, d, w, e):
    """What the length of the first tendon of equality e shall exceed that in the reference pose by, and its derivative
    for the length of the second."""
    t2 = m.eq_obj2id[e]
    y = m.eq_data[w, e][0]
    slope = FP(0.0)
    if t2 >= 0:
        y, slope = polynomial(m, d, w, e, d.ten_length[w * m.ntendon + t2] - m.tendon_length0[w, t2])
    return y, slope


@func
def tendon_entry(m, d, w, t, i):
    """Entry of local dof i in the Jacobian of tendon t, and 1 if it is one at this pose; 0 if it has none."""
    s = FP(0.0)
    found = 0
    for a in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
        if m.tendon_Jdof[a] == i:
            s = d.ten_J[w * m.ntendonJ + a]
            found = ti.cast(is_in_jacobian(m, d, w, a), ti.i32)
    return s, found


@func
def tendon_pair_entry(m, d, w, e, i, slope):
    """The same of the row of equality e, whose first tendon follows the second by slope."""
    entry, found = tendon_entry(m, d, w, m.eq_obj1id[e], i)
    if m.eq_obj2id[e] >= 0:
        part, also = tendon_entry(m, d, w, m.eq_obj2id[e], i)
        entry -= slope * part
        found = ti.max(found, also)
    if entry == 0.0 and is_dense(m):
        found = 0
    return entry, found


@kernel
def tendon_rows(m, d):
    """The length of a tendon follows a polynomial of that of another; parallel over (world, equality of tendons)."""
    n_task = task_count(m, d, TASK_EQ_TENDON, m.neqtendon)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        t = task_at(m, d, TASK_EQ_TENDON, place)
        w = t // m.neqtendon
        e = m.eq_tendon[t % m.neqtendon]
        k = w * m.neq + e
        num = d.eq_size[k]
        if has_place(m, d, k, e, num):
            t1 = m.eq_obj1id[e]
            diag = m.tendon_invweight0[w, t1]
            if m.eq_obj2id[e] >= 0:
                diag += m.tendon_invweight0[w, m.eq_obj2id[e]]
            y, slope = tendon_target(m, d, w, e)
            pos = d.ten_length[w * m.ntendon + t1] - m.tendon_length0[w, t1] - y
            start_row(m, d, d.eq_row[k], EQUALITY, e, d.eq_adr[k], num)
            at = d.eq_adr[k]
            for x in range(m.eq_Jadr[e], m.eq_Jadr[e] + m.eq_Jnum[e]):
                entry, found = tendon_pair_entry(m, d, w, e, m.eq_Jdof[x], slope)
                if found == 1:
                    d.J_dof[at] = w * m.nv + m.eq_Jdof[x]
                    d.J[at] = entry
                    at += 1
            finish_row(m, d, d.eq_row[k], pos, FP(0.0), pos, diag, m.eq_solref[e], m.eq_solimp[e])
