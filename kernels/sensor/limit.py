"""Sensors of limits of joints and tendons: distance, velocity and force of the row that acts, 0 where none does."""

from ..constants import LIMIT_JOINT, LIMIT_TENDON, OBJ_JOINT
from ..types import FP, SERIAL, func, kernel, ti
from .output import is_awake, place_of


@func
def row_of(m, d, w, s, p):
    """The first row of the limit of sensor s, which is at place p among the limited joints or tendons; -1: none."""
    r = -1
    kind = LIMIT_TENDON
    if p >= 0:
        if m.sensor_objtype[s] == OBJ_JOINT:
            kind = LIMIT_JOINT
            r = d.limit_row[w * m.nlimited + p]
        else:
            r = d.tenlimit_row[w * m.ntendonlimited + p]
    if r >= d.nrow:
        r = -1
    if r >= 0:  # where a tendon's does not act, this is the next row
        if d.row_type[r] != kind or d.row_id[r] != m.sensor_objid[s] or d.row_tree[r] // m.ntree != w:
            r = -1
    return r


@kernel
def limit_positions(m, d):
    """Distances from limits, less the margin; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nlimitpos):
        w = k // m.nlimitpos
        s = m.limitpos_sensor[k % m.nlimitpos]
        if is_awake(m, d, w, s) != 0:
            r = row_of(m, d, w, s, m.limitpos_place[k % m.nlimitpos])
            x = FP(0.0)
            if r >= 0:
                x = d.row_pos[r] - d.row_margin[r]
            d.sensordata[place_of(m, d, w, s)] = x


@kernel
def limit_velocities(m, d):
    """Velocities of these distances; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nlimitvel):
        w = k // m.nlimitvel
        s = m.limitvel_sensor[k % m.nlimitvel]
        if is_awake(m, d, w, s) != 0:
            r = row_of(m, d, w, s, m.limitvel_place[k % m.nlimitvel])
            x = FP(0.0)
            if r >= 0:
                x = d.row_vel[r]
            d.sensordata[place_of(m, d, w, s)] = x


@kernel
def limit_forces(m, d):
    """Forces of limits; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nlimitfrc):
        w = k // m.nlimitfrc
        s = m.limitfrc_sensor[k % m.nlimitfrc]
        if is_awake(m, d, w, s) != 0:
            r = row_of(m, d, w, s, m.limitfrc_place[k % m.nlimitfrc])
            x = FP(0.0)
            if r >= 0:
                x = d.row_force[r]
            d.sensordata[place_of(m, d, w, s)] = x
