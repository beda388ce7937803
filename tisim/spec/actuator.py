"""SpecActuator: an actuator of a tisim.Spec."""

import numpy as np

from tisim.enums import mjtTrn
from tisim.errors import Error, brief
from tisim.mjcf.format.actuator_defaults import SHORTCUTS, TRANSMISSIONS, apply
from tisim.mjcf.format.grammar import GRAMMAR

from .element import OrderedElement, SpecElement
from .values import readable

ACTUATORS = GRAMMAR.children["actuator"].children
GENERAL = ACTUATORS["general"]


class SpecActuator(OrderedElement):
    """An actuator: `general` until one of set_to_motor(), set_to_position(), ... makes it a shortcut.

    target and trntype say what it acts on, as do joint, tendon, site, body, cranksite and jointinparent.
    """

    __slots__ = ()
    _ORDER = ("trntype", "target")

    def __getattr__(self, name):
        if name not in self._grammar.attributes and name in GENERAL.attributes:
            return readable(GENERAL.attributes[name], self._value(name), lambda values: setattr(self, name, values))
        return super().__getattr__(name)

    def _value(self, name):
        record = self._record()
        return record[name] if name in record else self._node.attrib.get(name)

    def _attribute(self, name):
        if name not in self._grammar.attributes and name in GENERAL.attributes:
            self._to_general()
        return super()._attribute(name)

    def _record(self):
        """All general parameters: those of the class with the element's own applied."""
        node = self._node
        return apply(self._spec._class_of(node)["general"], node.tag, node.attrib, node)

    def _to_general(self):
        """Writes a shortcut out as the general actuator that it stands for."""
        node = self._node
        if node.attrib.get("inheritrange"):
            raise Error(f"'{node.tag}' with 'inheritrange' has no general form; set its ranges instead")
        record = self._record()
        attrib = {name: value for name, value in record.items() if name in GENERAL.attributes}
        keep = {name: value for name, value in node.attrib.items() if name in GENERAL.attributes}
        node.tag, node.attrib = "general", {**attrib, **keep}
        for name in ("slidersite", "refsite"):
            if not node.attrib.get(name):
                node.attrib.pop(name, None)
        if node.attrib.get("lengthrange") == [0.0, 0.0]:
            del node.attrib["lengthrange"]
        object.__setattr__(self, "_grammar", GENERAL)
        self._spec._restructured()

    @property
    def trntype(self):
        """What the target is, an mjtTrn; mjTRN_UNDEFINED before it is set."""
        name = self._transmission()
        return mjtTrn(TRANSMISSIONS[name]) if name else mjtTrn.mjTRN_UNDEFINED

    @trntype.setter
    def trntype(self, value):
        word = value.lower() if isinstance(value, str) else None
        for name, kind in TRANSMISSIONS.items():
            if word in (name, kind.name[6:].lower()) or (isinstance(value, (int, np.integer)) and value == kind):
                break
        else:
            raise Error(f"expected an mjtTrn or one of {', '.join(TRANSMISSIONS)}, found {brief(value)}")
        target = self.target
        for other in TRANSMISSIONS:
            self._node.attrib.pop(other, None)
        self._set(self._attribute(name), target)

    @property
    def target(self):
        """Name of the joint, tendon, site or body that it acts on; write a name or an element."""
        name = self._transmission()
        return self._node.attrib[name] if name else ""

    @target.setter
    def target(self, value):
        name = self._transmission()
        if name is None and isinstance(value, SpecElement):
            name = {"freejoint": "joint", "fixed": "tendon", "spatial": "tendon"}.get(value._node.tag, value._node.tag)
        self._set(self._attribute(name or "joint"), value)

    def _transmission(self):
        return next((name for name in TRANSMISSIONS if name in self._node.attrib), None)

    def _shortcut(self, tag, **values):
        """Makes the actuator a shortcut with these parameters; those below 0 keep their default."""
        node, grammar = self._node, ACTUATORS[tag]
        if lost := [name for name in node.attrib if name not in grammar.attributes and name not in _PARAMETERS]:
            raise Error(f"actuator '{tag}' has no attribute '{lost[0]}'; take it away first")
        before = node.tag, node.attrib, self._grammar
        node.tag, node.attrib = tag, {k: v for k, v in node.attrib.items() if k in grammar.attributes}
        object.__setattr__(self, "_grammar", grammar)
        try:
            for name, value in values.items():
                self._set(name, value)
        except Error:
            node.tag, node.attrib = before[:2]
            object.__setattr__(self, "_grammar", before[2])
            raise
        self._spec._restructured()

    def set_to_motor(self):
        """Force is ctrl."""
        self._shortcut("motor")

    def set_to_position(self, kp, kv=-1, dampratio=-1, timeconst=-1, inheritrange=0):
        """Position servo: force kp (ctrl - length) - kv velocity. timeconst [s] filters ctrl."""
        self._shortcut("position", kp=kp, **_given(kv=kv, dampratio=dampratio, timeconst=timeconst),
                       **({"inheritrange": inheritrange} if inheritrange else {}))  # fmt: skip

    def set_to_intvelocity(self, kp, kv=-1, dampratio=-1, timeconst=-1, inheritrange=0):
        """Position servo whose set point is the integral of ctrl."""
        if timeconst != -1:
            raise Error("'intvelocity' has no attribute 'timeconst'")
        self._shortcut("intvelocity", kp=kp, **_given(kv=kv, dampratio=dampratio),
                       **({"inheritrange": inheritrange} if inheritrange else {}))  # fmt: skip

    def set_to_velocity(self, kv):
        """Velocity servo: force kv (ctrl - velocity)."""
        self._shortcut("velocity", kv=kv)

    def set_to_damper(self, kv):
        """Damper: force -kv velocity ctrl."""
        self._shortcut("damper", kv=kv)

    def set_to_cylinder(self, timeconst, bias, area, diameter=-1):
        """Pneumatic or hydraulic cylinder. timeconst [s], area [m^2] or diameter [m], bias one or three numbers."""
        bias = [bias, 0, 0] if isinstance(bias, (int, float)) else bias
        self._shortcut("cylinder", timeconst=timeconst, bias=bias, area=area, **_given(diameter=diameter))

    def set_to_muscle(self, timeconst=-1, tausmooth=-1, range=(-1, -1), force=-1, scale=-1, lmin=-1, lmax=-1, vmax=-1,
                      fpmax=-1, fvmax=-1):  # fmt: skip
        """Muscle; see MuJoCo's manual for the parameters."""
        pair = [timeconst, timeconst] if isinstance(timeconst, (int, float)) else timeconst
        values = {
            name: v
            for name, v in (("timeconst", pair), ("range", range))
            if str(list(v) if isinstance(v, tuple) else v) != "[-1, -1]"
        }
        values |= _given(tausmooth=tausmooth, force=force, scale=scale, lmin=lmin, lmax=lmax, vmax=vmax, fpmax=fpmax,
                         fvmax=fvmax)  # fmt: skip
        self._shortcut("muscle", **values)

    def set_to_adhesion(self, gain):
        """Adhesion of a body's contacts."""
        self._shortcut("adhesion", gain=gain)


# what set_to_... replaces
_PARAMETERS = ("dyntype", "gaintype", "biastype", "dynprm", "gainprm", "biasprm", "actdim", "actearly", "actlimited",
               *{name for tag in SHORTCUTS if tag != "general"
                 for name in ACTUATORS[tag].attributes if name not in GENERAL.attributes})  # fmt: skip


def _given(**values):
    """The values that are not below 0, which stands for the default."""
    return {name: value for name, value in values.items() if not (isinstance(value, (int, float)) and value < 0)}
