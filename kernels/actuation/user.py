"""Rates, gains and biases of actuators that a user's functions compute. Seed 000, "Actuation model"."""

from ..constants import BIAS_USER, DSBL_ACTUATION, DYN_USER, GAIN_USER
from ..types import SERIAL, kernel, ti
from .force import is_off


def user_actuators(dyn, gain, bias):
    """The kernel that asks these Taichi functions f(m, d, w, i), each of which may be None."""
    rates, gains, biases = dyn is not None, gain is not None, bias is not None

    @kernel
    def user_actuators(m, d):
        """act_dot, gain and bias of the user's actuators, all rates first; parallel over (world, such actuator)."""
        if ti.static(rates):
            ti.loop_config(serialize=SERIAL)
            for x in range(d.nworld * m.nshaped):
                w = x // m.nshaped
                i = m.shaped_actuator[x % m.nshaped]
                if m.actuator_dyntype[i] == DYN_USER and m.opt.disableflags & DSBL_ACTUATION == 0:
                    rate = dyn(m, d, w, i)
                    if m.actuator_actnum[i] == 1:  # of several the function writes act_dot itself
                        d.act_dot[w * m.na + m.actuator_actadr[i]] = rate
        if ti.static(gains or biases):
            ti.loop_config(serialize=SERIAL)
            for x in range(d.nworld * m.nshaped):
                w = x // m.nshaped
                i = m.shaped_actuator[x % m.nshaped]
                if is_off(m, i) == 0 and m.opt.disableflags & DSBL_ACTUATION == 0:
                    if ti.static(gains):
                        if m.actuator_gaintype[i] == GAIN_USER:
                            d.actuator_gain[w * m.nu + i] = gain(m, d, w, i)
                    if ti.static(biases):
                        if m.actuator_biastype[i] == BIAS_USER:
                            d.actuator_bias[w * m.nu + i] = bias(m, d, w, i)

    return user_actuators
