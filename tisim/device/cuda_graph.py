"""A fixed sequence of tasks as one CUDA graph: one call of the driver launches them all, each behind the one before.

Functions are those of CUDA's driver API from 11.4 on, section "Graph Management"; a driver that lacks one of them, or
refuses one, launches tasks one by one.
"""

import ctypes
import os
import weakref

NEEDED = """cuGraphCreate cuGraphAddKernelNode cuGraphInstantiateWithFlags cuGraphLaunch cuGraphExecDestroy
    cuGraphDestroy""".split()


class Node(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v1: what one task is launched with; the driver copies the parameters when it is added."""

    _fields_ = [
        ("function", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("params", ctypes.POINTER(ctypes.c_void_p)),
        ("extra", ctypes.c_void_p),
    ]


def missing(driver):
    """Why a driver has no graphs, or None."""
    lacks = [name for name in NEEDED if not hasattr(driver, name)]
    return f"the driver lacks {lacks[0]}" if lacks else None


class Graph:
    """Tasks in order, each given as (function, blocks, threads, params as of cuLaunchKernel).

    call  calls a function of the driver by name and raises RuntimeError where it fails.
    """

    def __init__(self, call, tasks):
        self.call, self.exec = call, ctypes.c_void_p()
        graph, before = ctypes.c_void_p(), None
        call("cuGraphCreate", ctypes.byref(graph), 0)
        try:
            for function, blocks, threads, params in tasks:
                node, given = ctypes.c_void_p(), Node(function, (blocks, 1, 1), (threads, 1, 1), 0, params, None)
                count = ctypes.c_size_t(before is not None)
                behind = None if before is None else ctypes.byref(before)
                call("cuGraphAddKernelNode", ctypes.byref(node), graph, behind, count, ctypes.byref(given))
                before = node
            call("cuGraphInstantiateWithFlags", ctypes.byref(self.exec), graph, ctypes.c_ulonglong(0))
        finally:
            call("cuGraphDestroy", graph)
        weakref.finalize(self, _destroy, call, self.exec, os.getpid()).atexit = False

    def launch(self):
        self.call("cuGraphLaunch", self.exec, None)


def _destroy(call, graph, process):
    """Frees a graph in the process that made it; a fork has no part in the driver."""
    if os.getpid() == process:
        call("cuGraphExecDestroy", graph)
