"""The settings of a tisim.Spec: spec.option, spec.compiler, spec.visual, spec.stat, spec.size."""

from tisim.enums import mjtDisableBit, mjtEnableBit
from tisim.errors import Error, brief
from tisim.mjcf.format import settings
from tisim.mjcf.format.settings import COMPILER, OPTION, SIZE, VISUAL

from .element import SpecElement

# mjLROpt; modes are words of the grammar
LENGTHRANGE = dict(mode=1, useexisting=1, uselimit=0, accel=20.0, maxforce=0.0, timeconst=1.0, timestep=0.01,
                   inttotal=10.0, interval=2.0, tolrange=0.05)  # fmt: skip
STATISTIC = dict(meaninertia=None, meanmass=None, meansize=None, extent=None, center=None)


class SpecSettings(SpecElement):
    """A section of settings; reads MuJoCo's default where the specification says nothing."""

    __slots__ = ()

    def _inherited(self):
        tag = self._node.tag
        if tag == "flag":
            enabled = {name.removeprefix("mjENBL_").lower(): 0 for name in mjtEnableBit.__members__}
            return {name: enabled.get(name, 1) for name in self._grammar.attributes}
        tables = dict(compiler=COMPILER, option=OPTION, size=SIZE, lengthrange=LENGTHRANGE, statistic=STATISTIC)
        return tables.get(tag) or VISUAL.get(tag, {})

    def _value(self, name):
        value = super()._value(name)
        return list(value) if isinstance(value, tuple) else value

    def __getattr__(self, name):
        tag = {"LRopt": "lengthrange", "global_": "global"}.get(name, name)
        if tag in self._grammar.children:
            node = next((child for child in self._node.children if child.tag == tag), None)
            return self._spec._handle(node) if node is not None else self._add(tag)
        return super().__getattr__(name)


class SpecOption(SpecSettings):
    """Options of the simulation; disableflags and enableflags are MuJoCo's bits, flag.gravity and so on single ones."""

    __slots__ = ()

    @property
    def disableflags(self):
        """Bits of mjtDisableBit."""
        return int(settings.read_option([self._node])["disableflags"])

    @disableflags.setter
    def disableflags(self, bits):
        self._set_bits(mjtDisableBit, "mjDSBL_", bits, 0)

    @property
    def enableflags(self):
        """Bits of mjtEnableBit."""
        return int(settings.read_option([self._node])["enableflags"])

    @enableflags.setter
    def enableflags(self, bits):
        self._set_bits(mjtEnableBit, "mjENBL_", bits, 1)

    def _set_bits(self, enum, prefix, bits, on):
        known = {name.removeprefix(prefix).lower(): bit for name, bit in enum.__members__.items()}
        known = {name: int(bit) for name, bit in known.items() if name in self._grammar.children["flag"].attributes}
        if not isinstance(bits, int) or bits & ~sum(known.values()):
            raise Error(f"expected bits of {enum.__name__}, found {brief(bits)}")
        for name, bit in known.items():
            self.flag._node.attrib.pop(name, None)
            if bits & bit:
                self.flag._node.attrib[name] = on
        self._spec._changed(self._node)
