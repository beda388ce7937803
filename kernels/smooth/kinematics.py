"""Poses of bodies, joints, geoms and sites, and the centres of mass of static subtrees."""

from ..constants import BALL, FREE, SLIDE
from ..rotation import at3, at4, axis_angle_to_quat, mul_quat, normalize_quat, quat_to_mat, rotate
from ..sleep.awake import body_at, body_count, is_body_gone, object_at, object_count, world_of
from ..wide import MINVAL, SERIAL, func, kernel, narrow, ti, vec3, vec4

BLOCK = 256  # bodies per partial sum; fixed, so that sums do not depend on the machine


@kernel
def body_poses(m, d):
    """Frames of bodies and joints; parallel over worlds and trees, a static body being a tree. Seed 000, stage 2."""
    n_body = body_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n_body):
        wb = body_at(m, d, k)
        w = world_of(wb, m.nbody)
        b = wb - w * m.nbody
        t = m.body_treeid[b]
        first, n = b, 1  # bodies whose frames this thread makes
        if t >= 0:
            first = m.tree_bodyadr[t]
            n = m.tree_bodynum[t]
        if b == first:
            base_pos, base_quat = static_pose(m, d, w, m.body_parentid[b] if t >= 0 else b)
            for i in range(b, b + n):
                pos, quat = base_pos, base_quat
                if i > b:
                    pos = d.xpos[w * m.nbody + m.body_parentid[i]]
                    quat = d.xquat[w * m.nbody + m.body_parentid[i]]
                if t >= 0:
                    pos, quat = moved_pose(m, d, w, i, pos, quat)
                quat = normalize_quat(quat)
                mat = quat_to_mat(quat)
                e = w * m.nbody + i
                d.xpos[e] = pos
                d.xquat[e] = quat
                d.xmat[e] = narrow(mat)
                d.xipos[e] = narrow(pos + mat @ m.body_place[w, i])
                d.ximat[e] = narrow(quat_to_mat(mul_quat(quat, m.body_turn[w, i])))


@func
def static_pose(m, d, w, b):
    """Position and orientation of static body b."""
    pos = vec3(0.0)
    quat = vec4(1.0, 0.0, 0.0, 0.0)
    up = b
    while up > 0:
        lpos = m.body_pos[w, up]
        lquat = m.body_quat[w, up]
        k = m.body_mocapid[up]
        if k >= 0:
            lpos = d.mocap_pos[w * m.nmocap + k]
            lquat = normalize_quat(d.mocap_quat[w * m.nmocap + k])
        pos = lpos + rotate(lquat, pos)
        quat = mul_quat(lquat, quat)
        up = m.body_parentid[up]
    return pos, quat


@func
def place_of(m, d, w, b):
    """Position and orientation at which its parent and qpos have body b of a tree; what is static may stand elsewhere
    than xpos says."""
    p = m.body_parentid[b]
    pos, quat = d.xpos[w * m.nbody + p], d.xquat[w * m.nbody + p]
    if m.body_treeid[p] < 0:
        pos, quat = static_pose(m, d, w, p)
    pos, quat = moved_pose(m, d, w, b, pos, quat)
    return pos, normalize_quat(quat)


@func
def moved_pose(m, d, w, b, parent_pos, parent_quat):
    """Position and orientation of body b behind its joints, whose anchors and axes are set."""
    pos = parent_pos + rotate(parent_quat, m.body_pos[w, b])
    quat = mul_quat(parent_quat, m.body_quat[w, b])
    for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
        kind = m.jnt_type[j]
        q = w * m.nq + m.jnt_qposadr[j]
        anchor = m.jnt_pos[j]
        axis = m.jnt_axis[j]
        if kind == FREE:
            pos = at3(d.qpos, q)
            quat = normalize_quat(at4(d.qpos, q + 3))
            anchor = pos
        else:
            turn = vec4(1.0, 0.0, 0.0, 0.0)
            if kind == BALL:
                turn = normalize_quat(at4(d.qpos, q))
            elif kind != SLIDE:
                turn = axis_angle_to_quat(axis, d.qpos[q] - m.qpos0[m.jnt_qposadr[j]])
            anchor = pos + rotate(quat, anchor)
            axis = rotate(quat, axis)
            if kind == SLIDE:
                pos = pos + axis * (d.qpos[q] - m.qpos0[m.jnt_qposadr[j]])
            else:
                quat = mul_quat(quat, turn)
                pos = anchor - rotate(quat, m.jnt_pos[j])
        d.xanchor[w * m.njnt + j] = narrow(anchor)
        d.xaxis[w * m.njnt + j] = narrow(axis)
    return pos, quat


@kernel
def geom_poses(m, d):
    """Frames of geoms and sites, centres of mass of static subtrees, partial sums for the world's; parallel over
    worlds and these objects. Seed 000, stages 2 and 3.
    """
    nobj = m.nbody + m.ngeom + m.nsite
    n = object_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        wo = object_at(m, d, k)
        w = world_of(wo, nobj)
        i = wo - w * nobj
        if i >= m.nbody + m.ngeom:
            i -= m.nbody + m.ngeom
            e = w * m.nbody + m.site_bodyid[i]
            quat = d.xquat[e]
            d.site_xpos[w * m.nsite + i] = narrow(d.xpos[e] + rotate(quat, m.site_place[w, i]))
            d.site_xmat[w * m.nsite + i] = narrow(quat_to_mat(mul_quat(quat, m.site_turn[w, i])))
        elif i >= m.nbody:
            i -= m.nbody
            e = w * m.nbody + m.geom_bodyid[i]
            quat = d.xquat[e]
            d.geom_xpos[w * m.ngeom + i] = d.xpos[e] + rotate(quat, m.geom_place[w, i])
            d.geom_xmat[w * m.ngeom + i] = quat_to_mat(mul_quat(quat, m.geom_turn[w, i]))
        else:
            if i % BLOCK == 0:
                d.body_block[w * m.nbody + i // BLOCK] = narrow(block_moment(m, d, w, i))
            if i > 0 and m.body_treeid[i] < 0:
                static_centre(m, d, w, i)


@func
def block_moment(m, d, w, first):
    """Sum of mass times place over the block of bodies from `first` on."""
    s = vec3(0.0)
    for j in range(first, ti.min(first + BLOCK, m.nbody)):
        if not is_body_gone(m, d, w, j):
            s += m.body_mass[w, j] * d.xipos[w * m.nbody + j]
    return s


@func
def present_mass(m, d, w, b):
    """Mass of body b, which is static, and of what hangs on it and was not removed."""
    mass = m.body_subtreemass[w, b]
    if ti.static(m.has.gone):
        present = m.body_mass[w, b]
        missing = False
        for j in range(b + 1, m.nbody):
            if m.body_parentid[j] < b:
                break
            if is_body_gone(m, d, w, j):
                missing = True
            else:
                present += m.body_mass[w, j]
        if missing:
            mass = present
    return mass


@func
def static_centre(m, d, w, b):
    """subtree_com of static body b."""
    com = d.xipos[w * m.nbody + b]
    mass = present_mass(m, d, w, b)
    if mass >= MINVAL:
        com = m.body_mass[w, b] * com
        for j in range(b + 1, m.nbody):  # depth-first order: the subtree is a range
            if m.body_parentid[j] < b:
                break
            if not is_body_gone(m, d, w, j):
                com += m.body_mass[w, j] * d.xipos[w * m.nbody + j]
        com /= mass
    d.subtree_com[w * m.nbody + b] = com
