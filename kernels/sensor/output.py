"""What all families of sensors share: who is asleep, and where values go."""

from ..constants import DATATYPE_POSITIVE
from ..sleep.awake import is_gone
from ..types import FP, SERIAL, func, kernel, ti


@func
def is_tree_awake(m, d, wt):
    """Whether a tree is awake, or fell asleep in this step."""
    return d.tree_asleep[wt] < 0 or d.tree_slept[wt] != 0


@func
def is_awake(m, d, w, s):
    """1 unless all that sensor s is about sleeps, so that its value stays as it is; of two static objects, as in 3.4.0,
    unless anything sleeps. Seed 003, "Sleeping sensors".
    """
    awake = 1
    if ti.static(m.has.sleep):
        first = m.sensor_treeadr[s]
        num = m.sensor_treenum[s]
        awake = ti.cast(num <= 0, ti.i32)
        for e in range(first, first + num):
            if is_tree_awake(m, d, w * m.ntree + m.sensor_tree[e]):
                awake = 1
        if num < 0:
            for wt in range(w * m.ntree, (w + 1) * m.ntree):
                if not (is_tree_awake(m, d, wt) or is_gone(m, d, wt)):
                    awake = 0
    return awake


@func
def place_of(m, d, w, s):
    """Where the numbers of sensor s begin in sensordata."""
    return w * m.nsensordata + m.sensor_adr[s]


@func
def put(m, d, w, s, value):
    """Writes a vector, as the first numbers of sensor s."""
    a = place_of(m, d, w, s)
    for c in ti.static(range(value.n)):
        d.sensordata[a + c] = value[c]


@kernel
def clear_user(m, d):
    """User's sensors of stage d.sensorstage are 0 until the user says more; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nuservalue):
        s = m.uservalue_sensor[k % m.nuservalue]
        if m.sensor_needstage[s] == d.sensorstage:
            a = place_of(m, d, k // m.nuservalue, s)
            for c in range(m.sensor_dim[s]):
                d.sensordata[a + c] = 0.0


@kernel
def cut_off(m, d):
    """Values of stage d.sensorstage within their cutoffs; parallel over (world, sensor with a cutoff)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.ncut):
        s = m.cut_sensor[k % m.ncut]
        if m.sensor_needstage[s] == d.sensorstage:
            a = place_of(m, d, k // m.ncut, s)
            most = m.sensor_cutoff[s]
            for c in range(m.sensor_dim[s]):
                x = d.sensordata[a + c]
                if x > most:
                    x = most
                elif x < -most and m.sensor_datatype[s] != DATATYPE_POSITIVE:
                    x = -most
                d.sensordata[a + c] = ti.cast(x, FP)


@kernel
def silence(m, d):
    """Sensors of stage d.sensorstage that name a removed tree are 0; parallel over (world, sensor and tree)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.nbound):
        w = k // m.nbound
        s = m.bound_sensor[k - w * m.nbound]
        if m.sensor_needstage[s] == d.sensorstage and is_gone(m, d, w * m.ntree + m.bound_tree[k - w * m.nbound]):
            a = place_of(m, d, w, s)
            for c in range(m.sensor_dim[s]):
                d.sensordata[a + c] = 0.0
