"""What a visitor of a page does, as lists of a name and values; each acts on Controls."""

import math

from tisim.viewer import keys
from tisim.viewer.panels import FLAGS, SLIDERS

BUTTONS = ("left", "right", "middle")
FARTHEST = 100.0  # of places, in sizes of the picture
# of each event the types of its values
KINDS = dict(
    key=(str, bool), wheel=(float,), press=(str, float, float, float, bool), release=(str,), drag=(float, float, bool),
    hold=(bool, bool), ctrl=(int, float), equality=(int, bool), flag=(str, bool), group=(int, bool), site=(int, bool),
    frame=(int,),
)  # fmt: skip
TEXTS = dict(key=set(keys.ACTIONS), press=set(BUTTONS), release=set(BUTTONS), flag={flag for flag, _ in FLAGS})


def checked(given):
    """Events of what a visitor sent, as tuples. Raises ValueError for what is none."""
    if not isinstance(given, list):
        raise ValueError("expected a list of events")
    return [_one(event) for event in given]


def _one(event):
    if not (isinstance(event, list) and event and isinstance(event[0], str) and event[0] in KINDS):
        raise ValueError(f"expected a list that begins with one of {', '.join(KINDS)}")
    name, *values = event
    types = KINDS[name]
    if len(values) != len(types):
        raise ValueError(f"{name}: expected {len(types)} values")
    return (name, *(_value(name, value, kind) for value, kind in zip(values, types)))


def _value(name, value, kind):
    if kind is float and type(value) in (int, float) and math.isfinite(value):
        return float(value)
    if type(value) is not kind or kind is float:
        raise ValueError(f"{name}: expected {kind.__name__}")
    if kind is str and value not in TEXTS[name]:
        raise ValueError(f"{name}: {value[:20]!r} is none")
    return value


class Actor:
    """Lets events act on Controls."""

    def __init__(self, controls):
        self.controls, self._held = controls, (False, False)

    def act(self, event, elapsed):
        """One event; elapsed  since the last picture [s]."""
        getattr(self, f"_{event[0]}")(*event[1:], **(dict(elapsed=elapsed) if event[0] == "press" else {}))

    def go_on(self, elapsed):
        """What keys do that are held; returns whether any is."""
        self.controls.hold(*self._held, elapsed)
        return self._held[0] != self._held[1]

    def _key(self, name, shift):
        self.controls.key(name, shift)

    def _wheel(self, notches):
        self.controls.wheel(max(-20.0, min(notches, 20.0)))

    def _press(self, button, x, y, now, ctrl, elapsed):
        self.controls.press(button, _place(x), _place(y), now, ctrl, elapsed)

    def _release(self, button):
        self.controls.release(button)

    def _drag(self, x, y, shift):
        self.controls.drag(_place(x), _place(y), shift)

    def _hold(self, up, down):
        self._held = up, down

    def _ctrl(self, i, value):
        if 0 <= i < min(self.controls.m.nu, SLIDERS):
            self.controls.set_ctrl(i, value)

    def _equality(self, i, on):
        if 0 <= i < min(self.controls.m.neq, SLIDERS):
            self.controls.set_eq_active(i, on)

    def _flag(self, flag, on):
        self.controls.flag(flag, on)

    def _group(self, group, on):
        if 0 <= group < 6:
            self.controls.opt.geomgroup[group] = on

    def _site(self, group, on):
        if 0 <= group < 6:
            self.controls.opt.sitegroup[group] = on

    def _frame(self, frame):
        if self.controls.clock.frames > 1:
            self.controls.clock.go(frame)


def _place(x):
    return max(-FARTHEST, min(x, FARTHEST))
