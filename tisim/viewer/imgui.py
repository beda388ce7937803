"""Functions of ImGui 1.84 and GLFW 3.4 inside Taichi 1.7.4's library, found by its own symbol table (Linux wheels).

What GGUI does not pass on is compiled in and named there: the mouse wheel, more keys, plots, text anywhere, "is the
mouse over a panel", no imgui.ini. Names and versions are checked before anything is called; where one is missing,
`load` returns None, `why` says what, and the window does without.
"""

import ctypes
import os
import struct

import numpy as np

IMGUI, GLFW = "1.84", "3.4."  # versions whose structures are known
OFF = "TISIM_IMGUI"  # environment variable; 0 does without
_f, _p, _i, _s, _b = ctypes.c_float, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_bool
INI, PLATFORM_NAME, PLATFORM_DATA = 24, 8 * 26, 8 * 28  # bytes in ImGuiIO of 1.84
MOVES_ITSELF, DEFAULT_OPEN, ANY_WINDOW = 64, 32, 4  # ImGui's AlwaysAutoResize, DefaultOpen, AnyWindow
ONCE = 4  # ImGuiCond_FirstUseEver
STICKY_KEYS = 0x33002  # of GLFW: a key counts as held until it was asked for, however short the press
ANCHOR = "PyInit_taichi_python"  # a name whose address the dynamic linker tells


class Vec2(ctypes.Structure):
    """ImVec2."""

    _fields_ = [("x", _f), ("y", _f)]


FUNCTIONS = {  # name: (its symbol, result, arguments)
    "GetVersion": ("_ZN5ImGui10GetVersionEv", _s),
    "GetIO": ("_ZN5ImGui5GetIOEv", _p),
    "Begin": ("_ZN5ImGui5BeginEPKcPbi", _b, _s, _p, _i),
    "End": ("_ZN5ImGui3EndEv", None),
    "SetNextWindowPos": ("_ZN5ImGui16SetNextWindowPosERK6ImVec2iS2_", None, _p, _i, _p),
    "PushItemWidth": ("_ZN5ImGui13PushItemWidthEf", None, _f),
    "PopItemWidth": ("_ZN5ImGui12PopItemWidthEv", None),
    "SameLine": ("_ZN5ImGui8SameLineEff", None, _f, _f),
    "CollapsingHeader": ("_ZN5ImGui16CollapsingHeaderEPKci", _b, _s, _i),
    "PlotLines": ("_ZN5ImGui9PlotLinesEPKcPKfiiS1_ff6ImVec2i", None, _s, _p, _i, _i, _s, _f, _f, Vec2, _i),
    "IsWindowHovered": ("_ZN5ImGui15IsWindowHoveredEi", _b, _i),
    "IsAnyItemActive": ("_ZN5ImGui15IsAnyItemActiveEv", _b),
    "GetBackgroundDrawList": ("_ZN5ImGui21GetBackgroundDrawListEv", _p),
    "CalcTextSize": ("_ZN5ImGui12CalcTextSizeEPKcS1_bf", Vec2, _s, _p, _b, _f),
    "AddText": ("_ZN10ImDrawList7AddTextERK6ImVec2jPKcS4_", None, _p, _p, ctypes.c_uint32, _s, _p),
    "AddRectFilled": ("_ZN10ImDrawList13AddRectFilledERK6ImVec2S2_jfi", None, _p, _p, _p, ctypes.c_uint32, _f, _i),
    "ImplScroll": ("_Z29ImGui_ImplGlfw_ScrollCallbackP10GLFWwindowdd", None, _p, ctypes.c_double, ctypes.c_double),
    "glfwGetVersionString": ("glfwGetVersionString", _s),
    "glfwSetScrollCallback": ("glfwSetScrollCallback", _p, _p, _p),
    "glfwGetKey": ("glfwGetKey", _i, _p, _i),
    "glfwSetInputMode": ("glfwSetInputMode", None, _p, _i, _i),
}
FILLING = {  # as above, what full screen needs: where one is missing the window does without that alone
    "glfwGetPrimaryMonitor": ("glfwGetPrimaryMonitor", _p),
    "glfwGetVideoMode": ("glfwGetVideoMode", _p, _p),
    "glfwGetWindowPos": ("glfwGetWindowPos", None, _p, _p, _p),
    "glfwGetWindowSize": ("glfwGetWindowSize", None, _p, _p, _p),
    "glfwSetWindowMonitor": ("glfwSetWindowMonitor", None, _p, _p, _i, _i, _i, _i, _i),
}
why = ""  # why `load` returned None
_found = False  # what `load` found: False before it looked


def addresses(path, names):
    """Address in a file of each of these names that its symbol table has; {} for what is no 64-bit ELF file."""
    data = np.memmap(path, np.uint8, "r")
    if bytes(data[:6]) != b"\x7fELF\x02\x01":
        return {}
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * i) for i in range(count)]
    for head in heads:
        if head[1] != 2:  # SHT_SYMTAB
            continue
        symbols = data[head[4] : head[4] + head[5]].view(
            [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
        )
        strings = heads[head[6]]
        text = bytes(data[strings[4] : strings[4] + strings[5]])
        order = np.argsort(symbols["name"], kind="stable")
        found = {}
        for name in names:
            at = text.find(b"\0" + name.encode() + b"\0") + 1
            k = np.searchsorted(symbols["name"], at, sorter=order) if at else len(order)
            if k < len(order) and symbols["name"][order[k]] == at and symbols["value"][order[k]]:
                found[name] = int(symbols["value"][order[k]])
        return found
    return {}


def _load():
    """Functions by name, or a sentence saying why there are none."""
    if os.environ.get(OFF) == "0":
        return f"{OFF}=0 is set"
    from taichi._lib import core

    try:
        library = ctypes.PyDLL(core.__file__)
        where = addresses(core.__file__, [*(f[0] for f in (FUNCTIONS | FILLING).values()), ANCHOR])
        base = ctypes.cast(getattr(library, ANCHOR), ctypes.c_void_p).value - where.pop(ANCHOR, 0)
    except (OSError, AttributeError, ValueError, struct.error) as error:
        return f"Taichi's library cannot be read ({error})"
    lost = [name for name, (symbol, *_) in FUNCTIONS.items() if symbol not in where]
    if lost:
        return f"Taichi's library does not name {', '.join(lost[:3])}" + (" and others" if len(lost) > 3 else "")
    wanted = FUNCTIONS | (FILLING if all(f[0] in where for f in FILLING.values()) else {})
    functions = {name: ctypes.PYFUNCTYPE(*types)(base + where[symbol]) for name, (symbol, *types) in wanted.items()}
    for name, version in (("GetVersion", IMGUI), ("glfwGetVersionString", GLFW)):
        told = functions[name]().decode(errors="replace")
        if not told.startswith(version):
            return f"Taichi's library holds another version: {told.split()[0]} instead of {version.rstrip('.')}"
    return functions


def load():
    """Functions by name, or None; then `why` is a sentence."""
    global _found, why
    if _found is False:
        found = _load()
        _found, why = (None, found) if isinstance(found, str) else (found, "")
    return _found


def _text_at(address, offset, expected):
    """Whether a char pointer in a structure points to this text."""
    pointer = ctypes.c_void_p.from_address(address + offset).value
    return bool(pointer) and ctypes.string_at(pointer, len(expected) + 1) == expected + b"\0"


class Direct:
    """ImGui and GLFW of the window that is open. Made once it is; `Direct.of()` gives None where it cannot be."""

    def __init__(self, functions, window):
        self._f, self._window, self._callback = functions, window, None
        self._before = (0, 0, 0, 0)  # place and size of the window that fills the screen

    @classmethod
    def of(cls):
        """For the window that was just opened; None, and `why` says so, where it is not as expected."""
        global why
        functions = load()
        if not functions:
            return None
        io = functions["GetIO"]()
        data = ctypes.c_uint64.from_address(io + PLATFORM_DATA).value
        if not _text_at(io, PLATFORM_NAME, b"imgui_impl_glfw") or not data or not _text_at(io, INI, b"imgui.ini"):
            why = "the window of Taichi's library is not laid out as ImGui 1.84 has it"
            return None
        ctypes.c_void_p.from_address(io + INI).value = None  # ImGui writes no imgui.ini
        window = ctypes.c_uint64.from_address(data).value
        functions["glfwSetInputMode"](window, STICKY_KEYS, 1)
        return cls(functions, window)

    def on_scroll(self, function):
        """Calls function(notches) at each turn of the wheel, away from the user: > 0."""

        def both(window, dx, dy):
            self._f["ImplScroll"](window, dx, dy)
            function(dy)

        self._callback = ctypes.CFUNCTYPE(None, _p, ctypes.c_double, ctypes.c_double)(both)
        self._f["glfwSetScrollCallback"](self._window, ctypes.cast(self._callback, _p))

    def key_down(self, code):
        """Whether a key is held, by GLFW's number."""
        return self._f["glfwGetKey"](self._window, code) == 1

    @property
    def fills(self):
        """Whether the window can fill the screen."""
        return all(name in self._f for name in FILLING)

    def fill(self, on):
        """Fills the first screen, or puts the window back; returns whether that was done."""
        if not self.fills:
            return False
        f, place = self._f, (_i * 4)()
        if not on:
            f["glfwSetWindowMonitor"](self._window, None, *self._before, 0)
            return True
        screen = f["glfwGetPrimaryMonitor"]()
        mode = f["glfwGetVideoMode"](screen) if screen else None
        if not mode:
            return False
        x, y, width, height = (ctypes.addressof(place) + k * ctypes.sizeof(_i) for k in range(4))
        f["glfwGetWindowPos"](self._window, x, y)
        f["glfwGetWindowSize"](self._window, width, height)
        self._before = tuple(place)
        width, height, *_, rate = (_i * 6).from_address(mode)  # of GLFWvidmode, the colours' bits between them
        f["glfwSetWindowMonitor"](self._window, screen, 0, 0, width, height, rate)
        return True

    def mouse_taken(self):
        """Whether the mouse is over a panel or holds one of its items."""
        return self._f["IsWindowHovered"](ANY_WINDOW) or self._f["IsAnyItemActive"]()

    def item_active(self):
        """Whether an item of a panel is held or written into."""
        return self._f["IsAnyItemActive"]()

    def begin(self, name, x, y, right=False):
        """Begins a panel as large as what is in it, at first at a pixel: of its left, or `right`, upper corner."""
        at, pivot = Vec2(x, y), Vec2(1.0 if right else 0.0, 0.0)
        self._f["SetNextWindowPos"](ctypes.addressof(at), ONCE, ctypes.addressof(pivot))
        self._f["Begin"](name.encode(), None, MOVES_ITSELF)

    def end(self):
        """Ends a panel."""
        self._f["End"]()

    def header(self, name, opened):
        """A line that opens and closes what follows; whether it is open."""
        return self._f["CollapsingHeader"](name.encode(), DEFAULT_OPEN if opened else 0)

    def same_line(self, offset):
        """The next item stands in the line of the last, at this pixel of the panel."""
        self._f["SameLine"](offset, -1.0)

    def narrow(self, width):
        """Sliders are so wide from now on [pixel]; None: as before."""
        if width is None:
            self._f["PopItemWidth"]()
        else:
            self._f["PushItemWidth"](width)

    def plot(self, name, values, low, high, width, height):
        """A curve: values (n,)."""
        v = np.ascontiguousarray(values, np.float32)
        self._f["PlotLines"](name.encode(), v.ctypes.data, len(v), 0, None, low, high, Vec2(width, height), 4)

    def label(self, x, y, lines, color=0xFF202020, paper=0xC0FFFFFF):
        """Lines of text at a pixel, on paper, under the panels; colours as 0xAABBGGRR."""
        f = self._f
        sizes = [f["CalcTextSize"](line.encode(), None, False, -1.0) for line in lines]
        canvas, step = f["GetBackgroundDrawList"](), max(s.y for s in sizes)
        low, high = Vec2(x - 3, y - 2), Vec2(x + 3 + max(s.x for s in sizes), y + 2 + step * len(lines))
        f["AddRectFilled"](canvas, ctypes.addressof(low), ctypes.addressof(high), paper, 3.0, 0)
        for k, line in enumerate(lines):
            at = Vec2(x, y + step * k)
            f["AddText"](canvas, ctypes.addressof(at), color, line.encode(), None)
