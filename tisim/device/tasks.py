"""Times of the tasks of a GPU: a kernel is one task for each of its loops, and Taichi, started with `profile`, records
an event before and behind each."""

import re


def clear():
    """Forgets the tasks launched so far."""
    _program().clear_kernel_profiler()


def taken():
    """[(task, milliseconds, registers of a thread or None)] of all launches since `clear`; waits for the device."""
    program = _program()
    program.sync_kernel_profiler()
    program.update_kernel_profiler()
    records = program.get_kernel_profiler_records()
    return [(short(r.name), r.kernel_time, r.register_per_thread or None) for r in records]


def short(name):
    """kernel.2.range_for of kernel_c82_0_kernel_2_range_for."""
    return re.sub(r"_c\d+_.*?kernel_(\d+)_", r".\1.", name)


def _program():
    from taichi.lang import impl

    return impl.get_runtime().prog
