"""Taichi kernels, one file per stage; imported by tisim.device.runtime once Taichi runs (never before)."""
