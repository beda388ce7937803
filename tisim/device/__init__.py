"""Taichi, started; kernels bound by name and launched; memory."""
