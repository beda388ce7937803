"""Sensors of energy."""

from ..constants import SENS_E_POTENTIAL
from ..types import SERIAL, kernel, ti
from .output import place_of


@kernel
def energies(m, d):
    """Energies of worlds as sensors; what d.keep_energy does not name is not left in d.energy. Parallel over worlds."""
    ti.loop_config(serialize=SERIAL)
    for w in range(d.nworld):
        for k in range(m.nenergy):
            s = m.energy_sensor[k]
            d.sensordata[place_of(m, d, w, s)] = d.energy[w][ti.select(m.sensor_type[s] == SENS_E_POTENTIAL, 0, 1)]
        for part in ti.static(range(2)):
            if d.keep_energy >> part & 1 == 0:
                d.energy[w][part] = 0.0
