"""Sensors of velocities, accelerations and forces of frames, and of the momentum of subtrees."""

from ..constants import (
    SENS_ACCELEROMETER,
    SENS_FORCE,
    SENS_FRAMEANGACC,
    SENS_FRAMEANGVEL,
    SENS_GYRO,
    SENS_SUBTREELINVEL,
    SENS_VELOCIMETER,
)
from ..spatial import cross, head, join, tail
from ..types import SERIAL, func, kernel, ti, vec3
from .frame import acceleration_at, body_of, pose_of, twist_at
from .output import is_awake, put


@kernel
def velocities(m, d):
    """Linear and angular velocities of frames; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nvelocity):
        w = k // m.nvelocity
        s = m.velocity_sensor[k % m.nvelocity]
        if is_awake(m, d, w, s) != 0:
            kind = m.sensor_type[s]
            x, R = pose_of(m, d, w, m.sensor_objtype[s], m.sensor_objid[s])
            v = twist_at(m, d, w, body_of(m, m.sensor_objtype[s], m.sensor_objid[s]), x)
            if m.sensor_refid[s] >= 0:
                v = relative_twist(m, d, w, s, x, v)
            value = tail(v)
            if kind == SENS_GYRO or kind == SENS_FRAMEANGVEL:
                value = head(v)
            if kind == SENS_GYRO or kind == SENS_VELOCIMETER:
                value = R.transpose() @ value
            put(m, d, w, s, value)


@func
def relative_twist(m, d, w, s, x, v):
    """The twist v at x as seen by the reference of sensor s, which moves and turns, in its frame."""
    origin, axes = pose_of(m, d, w, m.sensor_reftype[s], m.sensor_refid[s])
    u = twist_at(m, d, w, body_of(m, m.sensor_reftype[s], m.sensor_refid[s]), origin)
    turn = head(v) - head(u)
    move = tail(v) - tail(u) + cross(x - origin, head(u))
    return join(axes.transpose() @ turn, axes.transpose() @ move)


@kernel
def accelerations(m, d):
    """Linear and angular accelerations of frames; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nacceleration):
        w = k // m.nacceleration
        s = m.acceleration_sensor[k % m.nacceleration]
        if is_awake(m, d, w, s) != 0:
            x, R = pose_of(m, d, w, m.sensor_objtype[s], m.sensor_objid[s])
            a = acceleration_at(m, d, w, body_of(m, m.sensor_objtype[s], m.sensor_objid[s]), x)
            value = tail(a)
            if m.sensor_type[s] == SENS_FRAMEANGACC:
                value = head(a)
            elif m.sensor_type[s] == SENS_ACCELEROMETER:
                value = R.transpose() @ value
            put(m, d, w, s, value)


@kernel
def wrenches(m, d):
    """Force and torque of a body's parent on it, at a site and in its frame; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nwrench):
        w = k // m.nwrench
        s = m.wrench_sensor[k % m.nwrench]
        if is_awake(m, d, w, s) != 0:
            i = w * m.nsite + m.sensor_objid[s]
            b = m.site_bodyid[m.sensor_objid[s]]
            f = d.cfrc_int[w * m.nbody + b]
            value = tail(f)
            if m.sensor_type[s] != SENS_FORCE:
                arm = d.site_xpos[i] - d.subtree_com[w * m.nbody + m.body_rootid[b]]
                value = head(f) - cross(arm, tail(f))
            put(m, d, w, s, d.site_xmat[i].transpose() @ value)


@kernel
def momenta(m, d):
    """Velocity of the centre of mass of a subtree, angular momentum about it; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nmomentum):
        w = k // m.nmomentum
        s = m.momentum_sensor[k % m.nmomentum]
        if is_awake(m, d, w, s) != 0:
            b = w * m.nbody + m.sensor_objid[s]
            value = vec3(0.0)
            if m.sensor_type[s] == SENS_SUBTREELINVEL:
                value = d.subtree_linvel[b]
            else:
                value = d.subtree_angmom[b]
            put(m, d, w, s, value)
