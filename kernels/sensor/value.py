"""Sensors of what steps compute in any case: numbers of joints, tendons and actuators, centres of mass, time."""

from ..constants import (
    SENS_ACTUATORFRC,
    SENS_ACTUATORPOS,
    SENS_ACTUATORVEL,
    SENS_BALLANGVEL,
    SENS_BALLQUAT,
    SENS_CLOCK,
    SENS_JOINTACTFRC,
    SENS_JOINTPOS,
    SENS_JOINTVEL,
    SENS_SUBTREECOM,
    SENS_TENDONPOS,
    SENS_TENDONVEL,
    TRN_TENDON,
)
from ..rotation import at3, at4, normalize_quat
from ..types import FP, SERIAL, func, kernel, narrow, ti
from .output import is_awake, place_of, put


@kernel
def position_values(m, d):
    """Positions of joints, tendons and actuators, centres of subtrees, time; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nposvalue):
        w = k // m.nposvalue
        s = m.posvalue_sensor[k % m.nposvalue]
        if is_awake(m, d, w, s) != 0:
            kind = m.sensor_type[s]
            i = m.sensor_objid[s]
            if kind == SENS_BALLQUAT:
                put(m, d, w, s, normalize_quat(narrow(at4(d.qpos, w * m.nq + m.jnt_qposadr[i]))))
            elif kind == SENS_SUBTREECOM:
                put(m, d, w, s, d.subtree_com[w * m.nbody + i])
            else:
                x = FP(0.0)
                if kind == SENS_JOINTPOS:
                    x = narrow(d.qpos[w * m.nq + m.jnt_qposadr[i]])
                elif kind == SENS_TENDONPOS:
                    x = d.ten_length[w * m.ntendon + i]
                elif kind == SENS_ACTUATORPOS:
                    x = d.actuator_length[w * m.nu + i]
                elif kind == SENS_CLOCK:
                    x = narrow(d.world_time[w])
                d.sensordata[place_of(m, d, w, s)] = x


@kernel
def velocity_values(m, d):
    """Velocities of joints, tendons and actuators; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nvelvalue):
        w = k // m.nvelvalue
        s = m.velvalue_sensor[k % m.nvelvalue]
        if is_awake(m, d, w, s) != 0:
            kind = m.sensor_type[s]
            i = m.sensor_objid[s]
            if kind == SENS_BALLANGVEL:
                put(m, d, w, s, at3(d.qvel, w * m.nv + m.jnt_dofadr[i]))
            else:
                x = FP(0.0)
                if kind == SENS_JOINTVEL:
                    x = d.qvel[w * m.nv + m.jnt_dofadr[i]]
                elif kind == SENS_TENDONVEL:
                    x = d.ten_velocity[w * m.ntendon + i]
                elif kind == SENS_ACTUATORVEL:
                    x = d.actuator_velocity[w * m.nu + i]
                d.sensordata[place_of(m, d, w, s)] = x


@kernel
def force_values(m, d):
    """Forces of actuators, and of all of them on a joint or tendon; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.naccvalue):
        w = k // m.naccvalue
        s = m.accvalue_sensor[k % m.naccvalue]
        if is_awake(m, d, w, s) != 0:
            kind = m.sensor_type[s]
            i = m.sensor_objid[s]
            x = FP(0.0)
            if kind == SENS_ACTUATORFRC:
                x = d.actuator_force[w * m.nu + i]
            elif kind == SENS_JOINTACTFRC:
                x = d.qfrc_actuator[w * m.nv + m.jnt_dofadr[i]]
            else:
                x = tendon_force(m, d, w, i)
            d.sensordata[place_of(m, d, w, s)] = x


@func
def tendon_force(m, d, w, t):
    """Sum of the forces of the actuators that pull at tendon t."""
    total = FP(0.0)
    for a in range(m.nu):
        if m.actuator_trntype[a] == TRN_TENDON and m.actuator_trnid[a][0] == t:
            total += d.actuator_force[w * m.nu + a]
    return total
