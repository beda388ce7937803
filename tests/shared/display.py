"""A display that nobody looks at (Xvfb), its pixels, and a click on the cross of the window that it shows."""

import contextlib
import ctypes
import os
import shutil
import subprocess

import numpy as np

WIDTH, HEIGHT = 800, 480


def missing():
    """What has to be installed for one, None if nothing."""
    if shutil.which("Xvfb") is None:
        return "Xvfb is not installed: apt-get install -y xvfb"
    try:
        ctypes.CDLL("libX11.so.6")
    except OSError:
        return "libX11 is not installed: apt-get install -y libx11-6"
    return None


def hand():
    """The program that moves mouse and keys, None if it is not installed."""
    return shutil.which("xdotool")


@contextlib.contextmanager
def display(folder):
    """Starts one that keeps its pixels in this folder; yields its name, as for DISPLAY."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", str(folder),
               "-nolisten", "tcp", "-noreset"]  # fmt: skip
    server = subprocess.Popen(command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as told:
            yield ":" + told.readline().strip()
    finally:
        server.terminate()
        server.wait(120)


def pixels(folder):
    """(height, width, 3) uint8: what a display with this folder shows. Its file is an X window dump."""
    data = (folder / "Xvfb_screen0").read_bytes()
    head = np.frombuffer(data, ">u4", 25)
    start, row, colours = int(head[0]) + 12 * int(head[19]), int(head[12]), int(head[5])
    rows = np.frombuffer(data, np.uint8, row * colours, start).reshape(colours, row)
    return rows[:, : 4 * int(head[4])].reshape(colours, -1, 4)[:, :, 2::-1]


class _Message(ctypes.Structure):
    """XClientMessageEvent, as long as an XEvent."""

    _fields_ = [
        ("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("sent", ctypes.c_int), ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong), ("message", ctypes.c_ulong), ("format", ctypes.c_int), ("data", ctypes.c_long * 5),
        ("rest", ctypes.c_long * 12),
    ]  # fmt: skip


def close_windows(name):
    """Asks every window of a display to close, as a click on its cross does; returns their number, hidden ones too."""
    x = ctypes.CDLL("libX11.so.6")
    for function, result in (("XOpenDisplay", ctypes.c_void_p), ("XDefaultRootWindow", ctypes.c_ulong),
                             ("XInternAtom", ctypes.c_ulong)):  # fmt: skip
        getattr(x, function).restype = result
    d = ctypes.c_void_p(x.XOpenDisplay(name.encode()))
    root, parent, n = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint()
    children = ctypes.POINTER(ctypes.c_ulong)()
    top = ctypes.c_ulong(x.XDefaultRootWindow(d))
    x.XQueryTree(d, top, *map(ctypes.byref, (root, parent, children, n)))
    protocols, delete = (x.XInternAtom(d, word, 0) for word in (b"WM_PROTOCOLS", b"WM_DELETE_WINDOW"))
    for window in children[: n.value]:
        event = _Message(type=33, window=window, message=protocols, format=32)
        event.data[0] = delete
        x.XSendEvent(d, ctypes.c_ulong(window), 0, ctypes.c_long(0), ctypes.byref(event))
    x.XCloseDisplay(d)
    return n.value
