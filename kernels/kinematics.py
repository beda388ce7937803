"""Poses of bodies, joints, geoms and sites, and the centres of mass of static subtrees."""

from tisim.kernels.constants import BALL, FREE, SLIDE
from tisim.kernels.rotation import at3, at4, axis_angle_to_quat, mul_quat, normalize_quat, quat_to_mat, rotate
from tisim.kernels.types import MINVAL, F, I, kernel, ld3, ld4, st3, st4, stm, ti, vec3, vec4

BLOCK = 256  # bodies per partial sum; fixed, so that sums do not depend on the machine


@kernel
def body_poses(
    nworld: ti.i32, nbody: ti.i32, nq: ti.i32, njnt: ti.i32, nmocap: ti.i32,
    qpos: F, mocap_pos: F, mocap_quat: F, qpos0: F,
    body_parentid: I, body_treeid: I, body_mocapid: I, body_jntnum: I, body_jntadr: I, tree_bodyadr: I, tree_bodynum: I,
    body_pos: F, body_quat: F, body_ipos: F, body_iquat: F, jnt_type: I, jnt_qposadr: I, jnt_pos: F, jnt_axis: F,
    xpos: F, xquat: F, xmat: F, xipos: F, ximat: F, xanchor: F, xaxis: F,
):  # fmt: skip
    """Frames of bodies and joints; parallel over worlds and trees, a static body being a tree. Seed 000, stage 2."""
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wb in range(nworld * nbody):
        w = wb // nbody
        b = wb - w * nbody
        tree = body_treeid[b]
        n = 1
        static = b  # the body itself, or the parent of the tree's root
        if tree >= 0:
            static = body_parentid[b]
            n = 0
            if tree_bodyadr[tree] == b:
                n = tree_bodynum[tree]
        if n > 0:
            spos = vec3(0.0, 0.0, 0.0)
            squat = vec4(1.0, 0.0, 0.0, 0.0)
            up = static
            while up > 0:
                lpos = ld3(body_pos, up)
                lquat = ld4(body_quat, up)
                k = body_mocapid[up]
                if k >= 0:
                    lpos = ld3(mocap_pos, w * nmocap + k)
                    lquat = normalize_quat(ld4(mocap_quat, w * nmocap + k))
                spos = lpos + rotate(lquat, spos)
                squat = mul_quat(lquat, squat)
                up = body_parentid[up]
            for i in range(b, b + n):
                e = w * nbody + i
                pos = spos
                quat = squat
                if tree >= 0:
                    if i > b:
                        pos = ld3(xpos, w * nbody + body_parentid[i])
                        quat = ld4(xquat, w * nbody + body_parentid[i])
                    pos = pos + rotate(quat, ld3(body_pos, i))
                    quat = mul_quat(quat, ld4(body_quat, i))
                    for j in range(body_jntadr[i], body_jntadr[i] + body_jntnum[i]):
                        kind = jnt_type[j]
                        q = w * nq + jnt_qposadr[j]
                        anchor = ld3(jnt_pos, j)
                        axis = ld3(jnt_axis, j)
                        if kind == FREE:
                            pos = at3(qpos, q)
                            quat = normalize_quat(at4(qpos, q + 3))
                            anchor = pos
                        else:
                            turn = vec4(1.0, 0.0, 0.0, 0.0)
                            if kind == BALL:
                                turn = normalize_quat(at4(qpos, q))
                            elif kind != SLIDE:
                                turn = axis_angle_to_quat(axis, qpos[q] - qpos0[jnt_qposadr[j]])
                            anchor = pos + rotate(quat, anchor)
                            axis = rotate(quat, axis)
                            if kind == SLIDE:
                                pos = pos + axis * (qpos[q] - qpos0[jnt_qposadr[j]])
                            else:
                                quat = mul_quat(quat, turn)
                                pos = anchor - rotate(quat, ld3(jnt_pos, j))
                        st3(xanchor, w * njnt + j, anchor)
                        st3(xaxis, w * njnt + j, axis)
                quat = normalize_quat(quat)
                mat = quat_to_mat(quat)
                st3(xpos, e, pos)
                st4(xquat, e, quat)
                stm(xmat, e, mat)
                st3(xipos, e, pos + mat @ ld3(body_ipos, i))
                stm(ximat, e, quat_to_mat(mul_quat(quat, ld4(body_iquat, i))))


@kernel
def geom_poses(
    nworld: ti.i32, nbody: ti.i32, ngeom: ti.i32, nsite: ti.i32, xpos: F, xquat: F, xipos: F,
    body_parentid: I, body_treeid: I, body_mass: F, body_subtreemass: F,
    geom_bodyid: I, geom_pos: F, geom_quat: F, site_bodyid: I, site_pos: F, site_quat: F,
    geom_xpos: F, geom_xmat: F, site_xpos: F, site_xmat: F, subtree_com: F, body_block: F,
):  # fmt: skip
    """Frames of geoms and sites, centres of mass of static subtrees, partial sums for the world's; parallel over
    worlds and these objects. Seed 000, stages 2 and 3.
    """
    nobj = nbody + ngeom + nsite
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wo in range(nworld * nobj):
        w = wo // nobj
        i = wo - w * nobj
        if i >= nbody + ngeom:
            i -= nbody + ngeom
            e = w * nbody + site_bodyid[i]
            quat = ld4(xquat, e)
            st3(site_xpos, w * nsite + i, ld3(xpos, e) + rotate(quat, ld3(site_pos, i)))
            stm(site_xmat, w * nsite + i, quat_to_mat(mul_quat(quat, ld4(site_quat, i))))
        elif i >= nbody:
            i -= nbody
            e = w * nbody + geom_bodyid[i]
            quat = ld4(xquat, e)
            st3(geom_xpos, w * ngeom + i, ld3(xpos, e) + rotate(quat, ld3(geom_pos, i)))
            stm(geom_xmat, w * ngeom + i, quat_to_mat(mul_quat(quat, ld4(geom_quat, i))))
        else:
            if i % BLOCK == 0:
                s = vec3(0.0, 0.0, 0.0)
                for j in range(i, ti.min(i + BLOCK, nbody)):
                    s += body_mass[j] * ld3(xipos, w * nbody + j)
                st3(body_block, w * nbody + i // BLOCK, s)
            if i > 0 and body_treeid[i] < 0:
                com = ld3(xipos, w * nbody + i)
                if body_subtreemass[i] >= MINVAL:
                    com = body_mass[i] * com
                    for j in range(i + 1, nbody):  # depth-first order: the subtree is a range
                        if body_parentid[j] < i:
                            break
                        com += body_mass[j] * ld3(xipos, w * nbody + j)
                    com /= body_subtreemass[i]
                st3(subtree_com, w * nbody + i, com)
