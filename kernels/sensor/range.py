"""Sensors of the distance to the nearest geom along the z axis of a site."""

from tisim.device.specialise import specialise

from ..queries.ray import caster
from ..types import SERIAL, SPREAD, kernel, ti, vec3
from .output import place_of

EVERY_GROUP = 63
CAST = None  # set by range_values()
_made = {}


def _range_values(m, d):
    """Distances to what rangefinders see, their own bodies left out, -1: nothing; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for unit in range(d.nworld * m.nrange * SPREAD):
        if unit % SPREAD == 0:
            k = unit // SPREAD
            w = k // m.nrange
            s = m.range_sensor[k % m.nrange]
            site = m.sensor_objid[s]
            i = w * m.nsite + site
            R = d.site_xmat[i]
            x, _ = CAST(m, d, w, d.site_xpos[i], vec3(R[0, 2], R[1, 2], R[2, 2]), EVERY_GROUP, 1, m.site_bodyid[site])
            d.sensordata[place_of(m, d, w, s)] = x


def range_values(kinds):
    """The kernel for geoms of these types (a tuple)."""
    if kinds not in _made:
        _made[kinds] = kernel(specialise(_range_values, "range_values", CAST=caster(kinds)))
    return _made[kinds]
