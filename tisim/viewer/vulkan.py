"""Whether a window can be drawn here; asked before Taichi, which ends the process when Vulkan is missing."""

import ctypes
import os
import struct
import sys

from tisim.errors import Error

PACKAGES = "apt-get install -y mesa-vulkan-drivers libvulkan1"
MESA, SOFTWARE = 0x10005, 4  # its vendor number, the type of device
RIGHT = 1 << 22 | 4 << 12  # Vulkan 1.4, which it has since version 25, the first that was seen to be right
_devices, _told = None, []


class _InstanceInfo(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int), ("next", ctypes.c_void_p), ("flags", ctypes.c_uint32), ("app", ctypes.c_void_p),
        ("nlayer", ctypes.c_uint32), ("layers", ctypes.c_void_p), ("nextension", ctypes.c_uint32),
        ("extensions", ctypes.c_void_p),
    ]  # fmt: skip


def _ask():
    """Names of the Vulkan devices, or a sentence saying what is missing."""
    try:
        lib = ctypes.CDLL("libvulkan.so.1")
    except OSError:
        return "the Vulkan loader libvulkan.so.1 is not installed"
    info, instance = _InstanceInfo(type=1), ctypes.c_void_p()
    if lib.vkCreateInstance(ctypes.byref(info), None, ctypes.byref(instance)) != 0:
        return "no Vulkan driver is installed"
    count = ctypes.c_uint32(0)
    lib.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)
    handles = (ctypes.c_void_p * max(1, count.value))()
    lib.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), handles)
    names = []
    for i in range(count.value):
        properties = ctypes.create_string_buffer(4096)  # VkPhysicalDeviceProperties; the name is at byte 20
        lib.vkGetPhysicalDeviceProperties(ctypes.c_void_p(handles[i]), properties)
        _told.append(struct.unpack_from("5I", properties.raw))  # versions of Vulkan and driver, vendor, device, type
        names.append(properties.raw[20 : 20 + 256].split(b"\0")[0].decode(errors="replace"))
    lib.vkDestroyInstance(instance, None)
    return names or "no Vulkan device was found"


def devices():
    """Names of the Vulkan devices, or a sentence saying what is missing (str)."""
    global _devices
    if _devices is None:
        _devices = _ask() if sys.platform.startswith("linux") else ["(not probed on this system)"]
    return _devices


def loses_pairs():
    """Why kernels are not to search for pairs of bodies by Vulkan here; None: they may.

    By Mesa 22.3 in software, which was looked at, atomic additions of what a thread of the search found add nothing.
    """
    devices()
    old = [vendor == MESA and kind == SOFTWARE and version < RIGHT for version, _, vendor, _, kind in _told]
    if not old or not all(old):
        return None
    return "Mesa before version 25 in software loses pairs of bodies that touch; pictures are right"


def missing():
    """What is missing for the window, with the command that installs it; None if nothing is."""
    found = devices()
    if isinstance(found, str):
        return f"the window needs Vulkan, and {found}; on Debian or Ubuntu: {PACKAGES}"
    from taichi._lib import core

    if not core.GGUI_AVAILABLE:
        return "this build of Taichi has no GGUI; install taichi==1.7.4 from PyPI"
    return None


def require(display=False):
    """Raises Error if GGUI cannot draw here, or with `display` if no window can be opened."""
    reason = missing()
    if reason:
        raise Error(reason)
    reason = _no_display() if display and sys.platform.startswith("linux") else None
    if reason:
        raise Error(
            f"{reason}, so no window can be opened; `tisim view --web --pictures` "
            "shows it in a browser, `tisim render` and `tisim run --film` draw to files"
        )


def _no_display():
    """Why no window can be shown, None if one can; Taichi ends the process where its library cannot open one."""
    name = os.environ.get("DISPLAY")
    if not name:
        return None if os.environ.get("WAYLAND_DISPLAY") else "no display here (DISPLAY is not set)"
    try:
        x = ctypes.CDLL("libX11.so.6")
    except OSError:
        return "the library libX11.so.6 is not installed (apt-get install -y libx11-6)"
    x.XOpenDisplay.restype = ctypes.c_void_p
    found = x.XOpenDisplay(None)
    if not found:
        return f"no display here (DISPLAY is {name}, which cannot be opened)"
    x.XCloseDisplay(ctypes.c_void_p(found))
    return None
