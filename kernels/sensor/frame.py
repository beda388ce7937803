"""Places, velocities and accelerations of what sensors are attached to: bodies, geoms, sites, cameras."""

from ..constants import (
    CAM_FIXED,
    CAM_TARGETBODYCOM,
    CAM_TRACK,
    CAM_TRACKCOM,
    OBJ_BODY,
    OBJ_CAMERA,
    OBJ_GEOM,
    OBJ_SITE,
    OBJ_XBODY,
)
from ..rotation import mul_quat, quat_to_mat, rotate
from ..spatial import cross, head, join, tail
from ..types import MINVAL, SERIAL, func, kernel, mat3, narrow, ti, vec3, vec6


@func
def pose_of(m, d, w, kind, i):
    """Position and orientation of object i of type mjtObj."""
    x = vec3(0.0)
    R = mat3(0.0)
    if kind == OBJ_XBODY:
        x = narrow(d.xpos[w * m.nbody + i])
        R = d.xmat[w * m.nbody + i]
    elif kind == OBJ_BODY:
        x = d.xipos[w * m.nbody + i]
        R = d.ximat[w * m.nbody + i]
    elif kind == OBJ_GEOM:
        x = narrow(d.geom_xpos[w * m.ngeom + i])
        R = narrow(d.geom_xmat[w * m.ngeom + i])
    elif kind == OBJ_SITE:
        x = d.site_xpos[w * m.nsite + i]
        R = d.site_xmat[w * m.nsite + i]
    elif kind == OBJ_CAMERA:
        x = d.cam_xpos[w * m.ncam + i]
        R = d.cam_xmat[w * m.ncam + i]
    return x, R


@func
def body_of(m, kind, i):
    """The body of object i."""
    b = i
    if kind == OBJ_GEOM:
        b = m.geom_bodyid[i]
    elif kind == OBJ_SITE:
        b = m.site_bodyid[i]
    elif kind == OBJ_CAMERA:
        b = m.cam_bodyid[i]
    return b


@func
def quat_of(m, d, w, kind, i):
    """Orientation of object i as a quaternion; of cameras of any mode, as in 3.4.0, that which is fixed to the body."""
    quat = narrow(d.xquat[w * m.nbody + body_of(m, kind, i)])
    if kind == OBJ_BODY:
        quat = mul_quat(quat, m.body_iquat[w, i])
    elif kind == OBJ_GEOM:
        quat = mul_quat(quat, m.geom_quat[w, i])
    elif kind == OBJ_SITE:
        quat = mul_quat(quat, m.site_quat[i])
    elif kind == OBJ_CAMERA:
        quat = mul_quat(quat, m.cam_quat[i])
    return quat


@func
def twist_at(m, d, w, b, x):
    """Angular velocity of body b, and linear velocity of its point at x; 0 of static bodies."""
    v = vec6(0.0)
    if m.body_treeid[b] >= 0:
        v = d.cvel[w * m.nbody + b]
        arm = x - d.subtree_com[w * m.nbody + m.body_rootid[b]]
        v = join(head(v), tail(v) + cross(head(v), arm))
    return v


@func
def acceleration_at(m, d, w, b, x):
    """Angular acceleration of body b, and linear one of its point at x, gravity taken off; 0 of static bodies."""
    a = vec6(0.0)
    if m.body_treeid[b] >= 0:
        a = d.cacc[w * m.nbody + b]
        v = twist_at(m, d, w, b, x)
        arm = x - d.subtree_com[w * m.nbody + m.body_rootid[b]]
        a = join(head(a), tail(a) + cross(head(a), arm) + cross(head(v), tail(v)))
    return a


@kernel
def camera_poses(m, d):
    """cam_xpos and cam_xmat; parallel over (world, camera)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.ncam):
        w = k // m.ncam
        i = k % m.ncam
        e = w * m.nbody + m.cam_bodyid[i]
        mode = m.cam_mode[i]
        x = narrow(d.xpos[e]) + rotate(narrow(d.xquat[e]), m.cam_pos[i])
        R = quat_to_mat(mul_quat(narrow(d.xquat[e]), m.cam_quat[i]))
        if mode == CAM_TRACK or mode == CAM_TRACKCOM:
            x = narrow(d.xpos[e]) + m.cam_pos0[i]
            if mode == CAM_TRACKCOM:
                x = d.subtree_com[e] + m.cam_poscom0[i]
            R = m.cam_mat0[i]
        elif mode != CAM_FIXED and m.cam_targetbodyid[i] >= 0:
            e = w * m.nbody + m.cam_targetbodyid[i]
            target = narrow(d.xpos[e])
            if mode == CAM_TARGETBODYCOM:
                target = d.subtree_com[e]
            R = looking(x, target)
        d.cam_xpos[k] = x
        d.cam_xmat[k] = R


@ti.func
def unit(v):
    """v with length one; x where it vanishes."""
    n = v.norm()
    u = vec3(1.0, 0.0, 0.0)
    if n >= MINVAL:
        u = v / n
    return u


@ti.func
def looking(x, target):
    """Orientation of a camera at x that looks at a target, upright: z points away from it, x is horizontal."""
    back = unit(x - target)
    right = unit(cross(vec3(0.0, 0.0, 1.0), back))
    up = unit(cross(back, right))
    return mat3(right[0], up[0], back[0], right[1], up[1], back[1], right[2], up[2], back[2])
