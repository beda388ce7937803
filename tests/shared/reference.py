"""The same model in tisim and in MuJoCo 3.4.0, from the same state, with converged solvers."""

import mujoco
import numpy as np

import tisim

STATE = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat", "qacc_warmstart")


class Pair:
    """A model and its data in both engines."""

    def __init__(self, xml, path=None, precision="f64"):
        tisim.init(precision=precision)
        if path is None:
            self.mm, self.m = mujoco.MjModel.from_xml_string(xml), tisim.Model.from_xml_string(xml)
        else:
            self.mm, self.m = mujoco.MjModel.from_xml_path(str(path)), tisim.Model.from_xml_path(str(path))
        self.md, self.d = mujoco.MjData(self.mm), tisim.Data(self.m)
        for opt in (self.mm.opt, self.m.opt):
            opt.iterations, opt.ls_iterations, opt.tolerance, opt.ls_tolerance = 200, 100, 1e-12, 1e-6

    def copy_state(self):
        """MuJoCo's state into tisim."""
        self.d.time = self.md.time
        for name in STATE:
            value = getattr(self.md, name)
            if value.size:
                getattr(self.d, name)[...] = value

    def forward(self):
        """forward() in both, from MuJoCo's state."""
        self.copy_state()
        mujoco.mj_forward(self.mm, self.md)
        tisim.forward(self.m, self.d)

    def states(self, count, steps):
        """forward() in `count` states that lie `steps` MuJoCo steps apart."""
        for k in range(count):
            self.forward()
            yield k
            mujoco.mj_step(self.mm, self.md, steps)

    def error(self, name):
        """Largest difference of a quantity relative to its scale."""
        return error(getattr(self.d, name), getattr(self.md, name))


def error(a, b):
    """Largest difference relative to max(1, largest b); inf where shapes differ."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.size != b.size:
        return np.inf
    return float(np.abs(a.reshape(-1) - b.reshape(-1)).max() / max(1.0, np.abs(b).max())) if b.size else 0.0
