"""Sensors of places and orientations: frames against frames, the magnetic field, images of sites."""

from ..constants import SENS_FRAMEPOS, SENS_FRAMEQUAT, SENS_FRAMEXAXIS, SENS_FRAMEYAXIS, SENS_FRAMEZAXIS
from ..rotation import conj_quat, mul_quat
from ..types import FP, MINVAL, SERIAL, func, kernel, ti, vec2, vec3
from .frame import pose_of, quat_of
from .output import is_awake, put


@kernel
def poses(m, d):
    """Positions, axes and quaternions of frames, the magnetic field in them; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.npose):
        w = k // m.npose
        s = m.pose_sensor[k % m.npose]
        if is_awake(m, d, w, s) != 0:
            kind = m.sensor_type[s]
            if kind == SENS_FRAMEQUAT:
                orientation(m, d, w, s)
            else:
                x, R = pose_of(m, d, w, m.sensor_objtype[s], m.sensor_objid[s])
                value = vec3(m.opt.magnetic)
                if kind == SENS_FRAMEPOS:
                    value = x
                elif kind == SENS_FRAMEXAXIS:
                    value = vec3(R[0, 0], R[1, 0], R[2, 0])
                elif kind == SENS_FRAMEYAXIS:
                    value = vec3(R[0, 1], R[1, 1], R[2, 1])
                elif kind == SENS_FRAMEZAXIS:
                    value = vec3(R[0, 2], R[1, 2], R[2, 2])
                else:
                    value = R.transpose() @ value
                if m.sensor_refid[s] >= 0:
                    origin, axes = pose_of(m, d, w, m.sensor_reftype[s], m.sensor_refid[s])
                    if kind == SENS_FRAMEPOS:
                        value -= origin
                    value = axes.transpose() @ value
                put(m, d, w, s, value)


@func
def orientation(m, d, w, s):
    """Quaternion of the object of sensor s, in the frame of its reference."""
    quat = quat_of(m, d, w, m.sensor_objtype[s], m.sensor_objid[s])
    if m.sensor_refid[s] >= 0:
        quat = mul_quat(conj_quat(quat_of(m, d, w, m.sensor_reftype[s], m.sensor_refid[s])), quat)
    put(m, d, w, s, quat)


@ti.func
def focal(length, size, pixels):
    """Focal length in pixels; 3.4.0 rounds it to single precision."""
    return ti.cast(ti.cast(length, ti.f32) / ti.cast(size, ti.f32) * ti.cast(pixels, ti.f32), FP)


@kernel
def projections(m, d):
    """Pixel coordinates of sites in the images of cameras; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nprojection):
        w = k // m.nprojection
        s = m.projection_sensor[k % m.nprojection]
        if is_awake(m, d, w, s) != 0:
            i = m.sensor_refid[s]
            c = w * m.ncam + i
            x = d.cam_xmat[c].transpose() @ (d.site_xpos[w * m.nsite + m.sensor_objid[s]] - d.cam_xpos[c])
            width = ti.cast(m.cam_resolution[i][0], FP)
            height = ti.cast(m.cam_resolution[i][1], FP)
            fx = 0.5 / ti.tan(m.cam_fovy[i] * (ti.math.pi / 360.0)) * height
            fy = fx
            if m.cam_sensorsize[i][0] != 0.0 and m.cam_sensorsize[i][1] != 0.0:
                fx = focal(m.cam_intrinsic[i][0], m.cam_sensorsize[i][0], width)
                fy = focal(m.cam_intrinsic[i][1], m.cam_sensorsize[i][1], height)
            depth = x[2]
            if ti.abs(depth) < MINVAL:
                depth = ti.select(depth < 0.0, -MINVAL, MINVAL)
            pixel = vec2(0.5 * width * x[2] - fx * x[0], 0.5 * height * x[2] + fy * x[1])
            put(m, d, w, s, pixel / depth)
