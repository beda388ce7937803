"""Poses of bodies, joints, geoms and sites, and the centres of mass of static subtrees."""

from ..constants import BALL, FREE, SLIDE
from ..rotation import at3, at4, axis_angle_to_quat, mul_quat, normalize_quat, quat_to_mat, rotate
from ..types import MINVAL, kernel, ti, vec3, vec4

BLOCK = 256  # bodies per partial sum; fixed, so that sums do not depend on the machine


@kernel
def body_poses(m, d):
    """Frames of bodies and joints; parallel over worlds and trees, a static body being a tree. Seed 000, stage 2."""
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wb in range(d.nworld * m.nbody):
        w = wb // m.nbody
        b = wb - w * m.nbody
        tree = m.body_treeid[b]
        n = 1
        static = b  # the body itself, or the parent of the tree's root
        if tree >= 0:
            static = m.body_parentid[b]
            n = 0
            if m.tree_bodyadr[tree] == b:
                n = m.tree_bodynum[tree]
        if n > 0:
            spos = vec3(0.0, 0.0, 0.0)
            squat = vec4(1.0, 0.0, 0.0, 0.0)
            up = static
            while up > 0:
                lpos = m.body_pos[up]
                lquat = m.body_quat[up]
                k = m.body_mocapid[up]
                if k >= 0:
                    lpos = d.mocap_pos[w * m.nmocap + k]
                    lquat = normalize_quat(d.mocap_quat[w * m.nmocap + k])
                spos = lpos + rotate(lquat, spos)
                squat = mul_quat(lquat, squat)
                up = m.body_parentid[up]
            for i in range(b, b + n):
                e = w * m.nbody + i
                pos = spos
                quat = squat
                if tree >= 0:
                    if i > b:
                        pos = d.xpos[w * m.nbody + m.body_parentid[i]]
                        quat = d.xquat[w * m.nbody + m.body_parentid[i]]
                    pos = pos + rotate(quat, m.body_pos[i])
                    quat = mul_quat(quat, m.body_quat[i])
                    for j in range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i]):
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
                        d.xanchor[w * m.njnt + j] = anchor
                        d.xaxis[w * m.njnt + j] = axis
                quat = normalize_quat(quat)
                mat = quat_to_mat(quat)
                d.xpos[e] = pos
                d.xquat[e] = quat
                d.xmat[e] = mat
                d.xipos[e] = pos + mat @ m.body_ipos[i]
                d.ximat[e] = quat_to_mat(mul_quat(quat, m.body_iquat[i]))


@kernel
def geom_poses(m, d):
    """Frames of geoms and sites, centres of mass of static subtrees, partial sums for the world's; parallel over
    worlds and these objects. Seed 000, stages 2 and 3.
    """
    nobj = m.nbody + m.ngeom + m.nsite
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wo in range(d.nworld * nobj):
        w = wo // nobj
        i = wo - w * nobj
        if i >= m.nbody + m.ngeom:
            i -= m.nbody + m.ngeom
            e = w * m.nbody + m.site_bodyid[i]
            quat = d.xquat[e]
            d.site_xpos[w * m.nsite + i] = d.xpos[e] + rotate(quat, m.site_pos[i])
            d.site_xmat[w * m.nsite + i] = quat_to_mat(mul_quat(quat, m.site_quat[i]))
        elif i >= m.nbody:
            i -= m.nbody
            e = w * m.nbody + m.geom_bodyid[i]
            quat = d.xquat[e]
            d.geom_xpos[w * m.ngeom + i] = d.xpos[e] + rotate(quat, m.geom_pos[i])
            d.geom_xmat[w * m.ngeom + i] = quat_to_mat(mul_quat(quat, m.geom_quat[i]))
        else:
            if i % BLOCK == 0:
                s = vec3(0.0, 0.0, 0.0)
                for j in range(i, ti.min(i + BLOCK, m.nbody)):
                    s += m.body_mass[j] * d.xipos[w * m.nbody + j]
                d.body_block[w * m.nbody + i // BLOCK] = s
            if i > 0 and m.body_treeid[i] < 0:
                com = d.xipos[w * m.nbody + i]
                if m.body_subtreemass[i] >= MINVAL:
                    com = m.body_mass[i] * com
                    for j in range(i + 1, m.nbody):  # depth-first order: the subtree is a range
                        if m.body_parentid[j] < i:
                            break
                        com += m.body_mass[j] * d.xipos[w * m.nbody + j]
                    com /= m.body_subtreemass[i]
                d.subtree_com[w * m.nbody + i] = com
